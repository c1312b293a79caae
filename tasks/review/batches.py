"""A review batch from its first decision to its close: progress, adjudication, and the frames that are landed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from schemas.errors import GateError, UsageError
from schemas.questions import CONTENT
from schemas.tables import get_table
from tasks.questions.draws import draw_share
from tasks.review.assignment import NO_DISCIPLINE, Annotator, read_annotators
from tasks.review.decisions import is_settled, read_gate_input
from tasks.review.gate import Outcome, compute_outcomes
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger

ADJUDICATION_DAYS = 7


@dataclass(frozen=True)
class AnnotatorProgress:
    """How far one annotator is."""

    annotator: str
    role: str
    assigned_count: int
    decided_count: int
    due_at: str


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is: questions by state (`accepted rejected waiting disputed`), and who still owes decisions."""

    batch_id: str
    status: str
    created_at: str
    due_at: str
    is_overdue: bool
    question_count: int
    states: Mapping[str, int]
    annotators: Sequence[AnnotatorProgress]


@dataclass(frozen=True)
class AdjudicationSummary:
    """Disputes that were given to an adjudicator, and how many have nobody left to settle them, by discipline."""

    batch_id: str
    assigned_count: int
    unassigned: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ClosedBatch:
    """What a closed batch lands: rows of `review_assignments`, `reviews` and `review_decisions`, and the counts."""

    batch_id: str
    assignments: pl.DataFrame = field(repr=False)
    reviews: pl.DataFrame = field(repr=False)
    decisions: pl.DataFrame = field(repr=False)
    outcomes: Mapping[str, int]
    undecided_uuids: Sequence[str]


def list_batches(ledger: Ledger) -> list[dict[str, Any]]:
    """Every batch, oldest first: batch_id, status, review_count, created_at, due_at, closed_at, question_count."""
    with ledger.read() as connection:
        return review.read_batches(connection)


def read_progress(ledger: Ledger, batch_id: str, now: str) -> BatchProgress:
    """How far the batch is; raises UsageError for an unknown one."""
    with ledger.read() as connection:
        batch = _find_batch(connection, batch_id)
        items, decisions = read_gate_input(connection, batch_id)
        assignments = review.read_assignments(connection, batch_id)
    decided = {(decision.question_uuid, decision.annotator) for decision in decisions}
    people: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in assignments:
        people.setdefault((row["annotator"], row["role"]), []).append(row)
    outcomes = compute_outcomes(items, decisions, batch["review_count"])
    return BatchProgress(
        batch_id=batch_id,
        status=batch["status"],
        created_at=batch["created_at"],
        due_at=batch["due_at"],
        is_overdue=batch["status"] != "closed" and batch["due_at"] < now,
        question_count=len(items),
        states=dict(sorted(Counter(outcome.state for outcome in outcomes).items())),
        annotators=[
            AnnotatorProgress(
                annotator=annotator,
                role=role,
                assigned_count=len(rows),
                decided_count=sum((row["question_uuid"], annotator) in decided for row in rows),
                due_at=max(row["due_at"] for row in rows),
            )
            for (annotator, role), rows in sorted(people.items())
        ],
    )


def is_complete(ledger: Ledger, batch_id: str) -> bool:
    """Whether every question of the batch is settled, disputes included; a closed batch is complete."""
    with ledger.read() as connection:
        batch = _find_batch(connection, batch_id)
        return batch["status"] == "closed" or is_settled(connection, batch_id, batch["review_count"])


def is_ready_to_close(ledger: Ledger, batch_id: str, now: str) -> bool:
    """Whether the batch can be closed: complete, or its deadline has passed."""
    with ledger.read() as connection:
        batch = _find_batch(connection, batch_id)
    return batch["due_at"] < now or is_complete(ledger, batch_id)


def assign_adjudicators(
    ledger: Ledger,
    batch_id: str,
    now: str,
    adjudicators: Sequence[Annotator] | None = None,
    *,
    due_days: int = ADJUDICATION_DAYS,
) -> AdjudicationSummary:
    """Give every dispute that has no adjudicator to somebody of the discipline who did not review it.

    The least loaded is taken; the batch's deadline moves so that there is time. Running it again changes nothing.

    Args:
        ledger: the ledger.
        batch_id: the batch.
        now: the present moment as ISO text in UTC.
        adjudicators: who may settle disputes; null takes all active annotators.
        due_days: days an adjudicator has.
    """
    people = read_annotators(ledger) if adjudicators is None else list(adjudicators)
    due_at = (datetime.fromisoformat(now) + timedelta(days=due_days)).isoformat(timespec="microseconds")
    rows: list[dict[str, Any]] = []
    unassigned: Counter[str] = Counter()
    with ledger.write() as connection:
        batch = review.lock_batch(connection, batch_id)
        if batch is None:
            raise _unknown_batch(batch_id)
        if batch["status"] == "closed":
            return AdjudicationSummary(batch_id, 0)
        unknown = review.read_unknown_users(connection, {person.user_id for person in people})
        if unknown:
            raise UsageError(
                f"These adjudicators are not active users: {', '.join(sorted(unknown))}. Register them first."
            )
        given: dict[str, set[str]] = {}
        settled_by: set[str] = set()
        for row in review.read_assignments(connection, batch_id):
            given.setdefault(row["question_uuid"], set()).add(row["annotator"])
            if row["role"] == "adjudicator":
                settled_by.add(row["question_uuid"])
        loads = review.count_open_work(connection)
        for outcome in compute_outcomes(*read_gate_input(connection, batch_id), batch["review_count"]):
            question_uuid = outcome.item.question_uuid
            if outcome.state != "disputed" or question_uuid in settled_by:
                continue
            discipline = outcome.item.content.get("discipline") or NO_DISCIPLINE
            free = [
                person.user_id
                for person in people
                if person.can_review(discipline) and person.user_id not in given[question_uuid]
            ]
            if not free:
                unassigned[discipline] += 1
                continue
            name = min(free, key=lambda user_id: (loads.get(user_id, 0), user_id))
            loads[name] = loads.get(name, 0) + 1
            rows.append(
                {
                    "batch_id": batch_id,
                    "question_uuid": question_uuid,
                    "annotator": name,
                    "role": "adjudicator",
                    "assigned_at": now,
                    "due_at": due_at,
                }
            )
        review.insert_assignments(connection, rows)
        if rows:
            review.update_batch(connection, batch_id, status="open", due_at=max(batch["due_at"], due_at))
    return AdjudicationSummary(batch_id, len(rows), dict(sorted(unassigned.items())))


def close_batch(ledger: Ledger, batch_id: str, now: str) -> ClosedBatch:
    """Apply the gate and close the batch; closing it again gives the same frames.

    What is not settled when the deadline has passed stays out as `undecided`.

    Raises:
        UsageError: there is no such batch.
        GateError: decisions are missing and the deadline has not passed.
    """
    with ledger.write() as connection:
        batch = review.lock_batch(connection, batch_id)
        if batch is None:
            raise _unknown_batch(batch_id)
        outcomes = compute_outcomes(*read_gate_input(connection, batch_id), batch["review_count"])
        open_count = sum(outcome.state in ("waiting", "disputed") for outcome in outcomes)
        if batch["status"] != "closed":
            if open_count and now <= batch["due_at"]:
                raise GateError(
                    f"Review batch {batch_id} is not complete: {open_count} of {len(outcomes)} questions are not "
                    f"settled and it is due at {batch['due_at']}. Wait for the decisions (`proctor review status`)."
                )
            review.update_batch(connection, batch_id, status="closed", closed_at=now)
        closed_at = batch["closed_at"] or now
        assignments = review.read_assignments(connection, batch_id)
        decisions = review.read_decisions(connection, batch_id)
    rows = [_build_decision_row(batch_id, outcome, closed_at) for outcome in outcomes]
    return ClosedBatch(
        batch_id=batch_id,
        assignments=_frame("review_assignments", assignments),
        reviews=_frame("reviews", [_build_review_row(row) for row in decisions]),
        decisions=_frame("review_decisions", rows),
        outcomes=dict(sorted(Counter(str(row["outcome"]) for row in rows).items())),
        undecided_uuids=[str(row["question_uuid"]) for row in rows if row["outcome"] == "undecided"],
    )


def draw_review_sample(variants: pl.DataFrame, share: float, salt: str) -> pl.DataFrame:
    """A repeatable sample of `share` of the variants that a model wrote, at least one where there are any.

    Args:
        variants: rows of the lake table `variants`.
        share: part of them, 0 to 1; 0.05 is usual.
        salt: what the draw depends on beside the questions, for example the batch they come from.
    """
    written = variants.filter(pl.col("generator") != "template")
    uuids = written["question_uuid"].to_list()
    return written[draw_share(range(written.height), share, salt, name=uuids.__getitem__)]


def _find_batch(connection: Any, batch_id: str) -> dict[str, Any]:
    batch = review.read_batch(connection, batch_id)
    if batch is None:
        raise _unknown_batch(batch_id)
    return batch


def _unknown_batch(batch_id: str) -> UsageError:
    return UsageError(
        f"There is no review batch {batch_id!r}. See `proctor review status` for those there are."
    )


def _build_review_row(row: Mapping[str, Any]) -> dict[str, Any]:
    edited = row["edited_fields"]
    return {
        **row,
        "edited_fields": None if edited is None else json.dumps(edited, ensure_ascii=False, sort_keys=True),
    }


def _build_decision_row(batch_id: str, outcome: Outcome, closed_at: str) -> dict[str, Any]:
    item = outcome.item
    return {
        "batch_id": batch_id,
        "question_uuid": item.question_uuid,
        "revision": outcome.revision,
        "lineage_uuid": item.lineage_uuid,
        "document_id": item.document_id,
        "outcome": outcome.state if outcome.state in ("accepted", "rejected") else "undecided",
        "reject_reason": outcome.reject_reason,
        "accept_count": outcome.accept_count,
        "reject_count": outcome.reject_count,
        "was_edited": outcome.was_edited,
        "was_adjudicated": outcome.was_adjudicated,
        **{column.name: outcome.content.get(column.name) for column in CONTENT},
        "decided_at": closed_at,
    }


def _frame(table_name: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A frame of the table's own columns; the ledger's ISO texts become timestamps."""
    table = get_table(table_name)
    times = {column.name for column in table.own_columns if column.type == "timestamp"}
    names = [column.name for column in table.own_columns]
    return table.frame(
        [
            {
                name: datetime.fromisoformat(row[name]) if name in times and row[name] else row[name]
                for name in names
            }
            for row in rows
        ]
    )
