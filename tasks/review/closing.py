"""Closing a review batch: the gate is applied once, and its frames are what is landed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from schemas.errors import GateError
from schemas.tables import get_table
from tasks.questions.identity import name_passage
from tasks.review.assigning import read_gold_rows
from tasks.review.batch import read_assignments, read_batch, read_decisions
from tasks.review.decisions import Decision, Outcome
from tasks.review.overview import read_outcomes
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning, messages


@dataclass(frozen=True)
class ClosedBatch:
    """What a closed batch lands: the rows of each table, and the counts of outcomes."""

    batch_id: str
    assignments: pl.DataFrame = field(repr=False)
    reviews: pl.DataFrame = field(repr=False)
    decisions: pl.DataFrame = field(repr=False)
    gold: pl.DataFrame = field(repr=False)
    messages: pl.DataFrame = field(repr=False)
    outcomes: Mapping[str, int]


def close_batch(ledger: Ledger, batch_id: str, now: str, *, early: bool = False) -> ClosedBatch:
    """Apply the gate and close the batch; closing it again gives the same frames.

    What is not settled when the deadline has passed stays out as `undecided`; `early` does not wait for the deadline.

    Raises:
        UsageError: there is no such batch.
        GateError: decisions are missing and the deadline has not passed.
    """
    with ledger.write() as connection:
        batch = read_batch(connection, batch_id, lock=True)
        outcomes = read_outcomes(connection, batch)
        open_count = sum(not outcome.is_settled for outcome in outcomes)
        if not batch.is_closed:
            if open_count and now <= batch.due_at and not early:
                raise GateError(
                    f"Review batch {batch_id} is not complete: {open_count} of {len(outcomes)} questions are not "
                    f"settled and it is due at {batch.due_at}. Wait for the decisions (`proctor review status`)."
                )
            assigning.update_batch(connection, batch_id, status="closed", closed_at=now)
        closed_at = batch.closed_at or now
        assignments = read_assignments(connection, batch_id, with_gold=False)
        gold = read_gold_rows(connection, batch_id)
        planted = {row["question_uuid"] for row in gold}
        decisions = [one for one in read_decisions(connection, batch_id) if one.question_uuid not in planted]
        written = messages.read_messages(connection, batch_id)
    return ClosedBatch(
        batch_id=batch_id,
        assignments=_frame(
            "review_assignments",
            [one.as_row(batch_id) | {"discipline": one.discipline} for one in assignments],
        ),
        reviews=_frame("reviews", [_build_review_row(batch_id, one) for one in decisions]),
        decisions=_frame(
            "review_decisions", [_build_outcome_row(batch_id, one, closed_at) for one in outcomes]
        ),
        gold=_frame("gold_reviews", gold),
        messages=_frame(
            "review_messages", [one.as_values() for one in written if one.question_uuid not in planted]
        ),
        outcomes=dict(sorted(Counter(map(_name_outcome, outcomes)).items())),
    )


def _name_outcome(outcome: Outcome) -> str:
    """The outcome in the words of `review_decisions`."""
    return outcome.state if outcome.is_settled else "undecided"


def _build_review_row(batch_id: str, decision: Decision) -> dict[str, Any]:
    row = decision.as_row(batch_id)
    edited = row["edited_fields"]
    return row | {
        "edited_fields": None if edited is None else json.dumps(edited, ensure_ascii=False, sort_keys=True)
    }


def _build_outcome_row(batch_id: str, outcome: Outcome, closed_at: str) -> dict[str, Any]:
    item = outcome.item
    return {
        "batch_id": batch_id,
        "question_uuid": item.question_uuid,
        "revision": outcome.revision,
        "lineage_uuid": item.lineage_uuid,
        "document_id": item.document_id,
        "outcome": _name_outcome(outcome),
        "reject_reason": outcome.reject_reason,
        "accept_count": outcome.accept_count,
        "reject_count": outcome.reject_count,
        "was_edited": outcome.was_edited,
        "read_passage": name_passage(item.content.material)
        if outcome.content.material != item.content.material
        else None,
        "was_adjudicated": outcome.was_adjudicated,
        **outcome.content.as_row(),
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
