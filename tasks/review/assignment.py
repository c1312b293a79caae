"""Giving questions to annotators: by discipline, in equal shares, within their capacity (SPEC: expert review gate)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.review.annotators import Annotator, find_annotators
from tasks.review.batch import Assignment, ReviewBatch, read_assignments, read_batch
from tasks.review.item import Item
from tasks.review.plan import plan_assignments
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True)
class AssignmentSummary:
    """What was assigned. `batch_id` is null when every question is in several batches already."""

    batch_id: str | None
    is_new: bool
    question_count: int
    assignment_count: int
    already_assigned_count: int
    due_at: str | None
    loads: Mapping[str, int] = field(default_factory=dict)


def assign_batch(
    ledger: Ledger,
    batch_id: str | None,
    questions: pl.DataFrame,
    annotators: Sequence[Annotator] | None,
    settings: Settings,
    now: str,
    *,
    again: bool = False,
) -> AssignmentSummary:
    """Open a review batch with those of `questions` that are in no batch yet; running it again changes nothing.

    Args:
        ledger: the ledger.
        batch_id: name of the batch; null derives it from the month of `now` and the questions.
        questions: rows of the lake table `questions` or `variants`; of a question found twice the first counts.
        annotators: who reviews; null takes the active annotators of the ledger.
        settings: reviews per question, daily quota, days of the window.
        now: the present moment as ISO text in UTC.
        again: take questions of closed batches as well (those left undecided, or doubted since); who decided on one
            before is not given it again.

    Raises:
        GateError: a discipline has too few annotators, or the work exceeds what they can do in the window.
        UsageError: an annotator is unknown, or the batch exists with other questions.
    """
    items = _read_items(questions)
    with ledger.write() as connection:
        review.lock_assigning(connection)
        people = find_annotators(connection, annotators)
        if not people:
            raise GateError(
                "There are no annotators to assign questions to. Add them with "
                "`proctor exam user add NAME --role annotator --discipline History`."
            )
        taken = _read_taken(connection, again=again)
        fresh = [item for item in items if item.question_uuid not in taken]
        if not fresh:
            return _summarise_existing(connection, {taken[item.question_uuid] for item in items}, len(items))
        name = batch_id or _find_free_name(connection, compute_batch_id(fresh, now))
        if review.read_batch(connection, name) is not None:
            raise UsageError(
                f"Review batch {name!r} exists already and does not hold {len(fresh)} of the {len(items)} questions. "
                "Give the new ones a batch of their own."
            )
        plan = plan_assignments(
            fresh,
            people,
            settings,
            loads=review.count_open_work(connection),
            past=review.read_past_decisions(connection, [item.question_uuid for item in fresh]),
            salt=name,
        )
        due_at = compute_due(now, settings.review_due_days)
        assignments = [
            Assignment(question_uuid, annotator, "reviewer", now, due_at)
            for question_uuid, names in sorted(plan.items())
            for annotator in names
        ]
        review.insert_batch(
            connection,
            ReviewBatch(name, "open", settings.review_count, now, due_at).as_row(),
            [item.as_row(name) for item in fresh],
            [assignment.as_row(name) for assignment in assignments],
        )
    return AssignmentSummary(
        batch_id=name,
        is_new=True,
        question_count=len(fresh),
        assignment_count=len(assignments),
        already_assigned_count=len(items) - len(fresh),
        due_at=due_at,
        loads=_count_loads(assignments),
    )


def compute_batch_id(items: Sequence[Item], now: str) -> str:
    """`YYYY-MM-` and eight hexadecimal digits of a hash over the questions: the same questions, the same name."""
    names = sorted(f"{item.question_uuid}#{item.revision}" for item in items)
    return f"{now[:7]}-{hashlib.sha256(chr(10).join(names).encode()).hexdigest()[:8]}"


def compute_due(now: str, days: int) -> str:
    """The moment `days` after `now`, as the ledger writes moments."""
    return (datetime.fromisoformat(now) + timedelta(days=days)).isoformat(timespec="microseconds")


def _read_items(questions: pl.DataFrame) -> list[Item]:
    """One item per question, the first of the frame; a stable order makes the result repeatable."""
    first: dict[str, Item] = {}
    for row in questions.iter_rows(named=True):
        if row["question_uuid"] not in first:
            first[row["question_uuid"]] = Item.from_question(row)
    return list(first.values())


def _read_taken(connection: Connection, *, again: bool) -> dict[str, str]:
    """Questions that are not to be assigned, with their batch; `again` leaves out those of closed batches."""
    taken = review.read_batched_questions(connection)
    if not again:
        return taken
    closed = {row["batch_id"] for row in review.read_batches(connection) if row["status"] == "closed"}
    return {uuid: name for uuid, name in taken.items() if name not in closed}


def _find_free_name(connection: Connection, name: str) -> str:
    """The name, with a number added where a closed batch of the same questions has it already."""
    taken = {row["batch_id"] for row in review.read_batches(connection)}
    return next(
        one
        for number in range(1, len(taken) + 2)
        if (one := name if number == 1 else f"{name}-{number}") not in taken
    )


def _summarise_existing(
    connection: Connection, batch_ids: set[str], question_count: int
) -> AssignmentSummary:
    name = next(iter(batch_ids)) if len(batch_ids) == 1 else None
    assignments = [] if name is None else read_assignments(connection, name, role="reviewer")
    return AssignmentSummary(
        batch_id=name,
        is_new=False,
        question_count=len({assignment.question_uuid for assignment in assignments}),
        assignment_count=len(assignments),
        already_assigned_count=question_count,
        due_at=None if name is None else read_batch(connection, name).due_at,
        loads=_count_loads(assignments),
    )


def _count_loads(assignments: Iterable[Assignment]) -> dict[str, int]:
    """Questions per annotator."""
    return dict(sorted(Counter(assignment.annotator for assignment in assignments).items()))
