"""Whose workbook a file is: what an annotator has to do in a batch, and the identity that its workbook carries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.review.channels.workbook import layout
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger


@dataclass(frozen=True)
class Identity:
    """What the hidden sheet says: batch, annotator, role, and every question with its revision and digest."""

    batch_id: str
    annotator: str
    role: str
    checksum: str
    questions: Sequence[tuple[str, int, str]] = field(repr=False)


def read_work(
    ledger: Ledger, batch_id: str, annotator: str, role: str
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """What is assigned to somebody (items with what an adjudicator is to see), and what they decided so far."""
    with ledger.read() as connection:
        items = {row["question_uuid"]: row for row in review.read_items(connection, batch_id)}
        assigned = review.read_assignments(connection, batch_id, annotator, role)
        decisions = review.read_decisions(connection, batch_id)
    mine = {row["question_uuid"]: row for row in decisions if row["annotator"] == annotator}
    others: dict[str, list[dict[str, Any]]] = {}
    for row in decisions:
        if row["annotator"] != annotator:
            others.setdefault(row["question_uuid"], []).append(row)
    rows = {}
    for assignment in assigned:
        item = items[assignment["question_uuid"]]
        so_far = _render_decisions(others.get(item["question_uuid"], [])) if role == "adjudicator" else None
        rows[item["question_uuid"]] = {**item, "decisions_so_far": so_far}
    return rows, mine


def identify_workbook(
    batch_id: str, annotator: str, role: str, rows: Mapping[str, Mapping[str, Any]]
) -> Identity:
    """The identity of a workbook with these rows."""
    questions = [(uuid, int(item["revision"]), compute_digest(item)) for uuid, item in sorted(rows.items())]
    return Identity(
        batch_id, annotator, role, compute_checksum(batch_id, annotator, role, questions), questions
    )


def compute_digest(item: Mapping[str, Any]) -> str:
    """A hash of what the row shows, without its number and without others' decisions, which may come later."""
    cells = layout.render_shown_cells(0, item)
    text = json.dumps([item["batch_id"], cells], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def compute_checksum(
    batch_id: str, annotator: str, role: str, questions: Sequence[tuple[str, int, str]]
) -> str:
    """A hash over the whole identity: an altered hidden sheet does not match its own."""
    text = json.dumps([layout.FORMAT_VERSION, batch_id, annotator, role, list(questions)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _render_decisions(decisions: Sequence[Mapping[str, Any]]) -> str:
    """Earlier decisions without names: an adjudicator weighs reasons, not people."""
    lines = []
    for place, row in enumerate(decisions, start=1):
        line = f"{place}. {row['decision']}"
        if row["reject_reason"]:
            line += f" ({row['reject_reason']})"
        if row["comment"]:
            line += f": {row['comment']}"
        for name, value in sorted((row["edited_fields"] or {}).items()):
            shown = layout.render_options(value) if name == "options" else value
            line += (
                f"\n   {name} → {shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)}"
            )
        lines.append(line)
    return "\n".join(lines)
