"""How far a review batch is: questions by state, who still owes decisions, and whether anything is waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.review.batch import (
    Assignment,
    ReviewBatch,
    list_batches,
    read_assignments,
    read_batch,
    read_decisions,
    read_items,
)
from tasks.review.gate import Outcome, compute_outcomes
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection

_MOST_LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """How far one annotator is."""

    annotator: str
    role: str
    assigned_count: int
    decided_count: int
    due_at: str


@dataclass(frozen=True, slots=True)
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


def list_progress(ledger: Ledger, now: str) -> list[BatchProgress]:
    """How far every batch is, the oldest first."""
    return [read_progress(ledger, batch.batch_id, now) for batch in list_batches(ledger)]


def read_progress(ledger: Ledger, batch_id: str, now: str) -> BatchProgress:
    """How far the batch is; raises UsageError for an unknown one."""
    with ledger.read() as connection:
        batch = read_batch(connection, batch_id)
        items = read_items(connection, batch_id)
        decisions = read_decisions(connection, batch_id)
        assignments = read_assignments(connection, batch_id)
    decided = {(decision.question_uuid, decision.annotator) for decision in decisions}
    people: dict[tuple[str, str], list[Assignment]] = {}
    for assignment in assignments:
        people.setdefault((assignment.annotator, assignment.role), []).append(assignment)
    outcomes = compute_outcomes(items, decisions, batch.review_count)
    return BatchProgress(
        batch_id=batch_id,
        status=batch.status,
        created_at=batch.created_at,
        due_at=batch.due_at,
        is_overdue=not batch.is_closed and batch.due_at < now,
        question_count=len(items),
        states=dict(sorted(Counter(outcome.state for outcome in outcomes).items())),
        annotators=[
            AnnotatorProgress(
                annotator=annotator,
                role=role,
                assigned_count=len(given),
                decided_count=sum((one.question_uuid, annotator) in decided for one in given),
                due_at=max(one.due_at for one in given),
            )
            for (annotator, role), given in sorted(people.items())
        ],
    )


def is_complete(ledger: Ledger, batch_id: str) -> bool:
    """Whether every question of the batch is settled, disputes included; a closed batch is complete."""
    with ledger.read() as connection:
        batch = read_batch(connection, batch_id)
        return batch.is_closed or is_settled(connection, batch)


def is_ready_to_close(ledger: Ledger, batch_id: str, now: str) -> bool:
    """Whether the batch can be closed: complete, or its deadline has passed."""
    with ledger.read() as connection:
        batch = read_batch(connection, batch_id)
    return batch.due_at < now or is_complete(ledger, batch_id)


def is_settled(connection: Connection, batch: ReviewBatch) -> bool:
    """Whether nothing is waited for: every review is in and no dispute is left."""
    # To look for one that is missing is cheap; the gate reads every question of the batch.
    if review.read_pending(connection, batch.batch_id, "reviewer", 1):
        return False
    # An adjudication may no longer be needed: the reviewers have come to agree since.
    owed = review.read_pending(connection, batch.batch_id, "adjudicator", _MOST_LOOKED_AT)
    if not all(outcome.is_settled for outcome in read_outcomes(connection, batch, owed)):
        return False
    return all(outcome.is_settled for outcome in read_outcomes(connection, batch))


def read_outcomes(
    connection: Connection, batch: ReviewBatch, question_uuids: Collection[str] | None = None
) -> list[Outcome]:
    """Where every question of the batch stands, by UUID; `question_uuids` takes only these."""
    items = read_items(connection, batch.batch_id, question_uuids)
    decisions = read_decisions(connection, batch.batch_id, question_uuids=question_uuids)
    return compute_outcomes(items, decisions, batch.review_count)
