"""How far review is, by batch, state, discipline and annotator, and who owes decisions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from schemas.ledger.review import ReviewBatch
from schemas.settings import Settings
from tasks.review.assigning import NO_DISCIPLINE, Annotator, read_everybody
from tasks.review.batch import (
    Assignment,
    list_batches,
    read_assignments,
    read_batch,
    read_decisions,
    read_items,
)
from tasks.review.decisions import Outcome, compute_outcomes
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.review import assigning, coordination
from warehouse.ledger.review import people as review_people

_MOST_LOOKED_AT = 100
Row = Mapping[str, Any]


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
    """Questions by state (`accepted rejected waiting disputed`), and who still owes decisions."""

    batch_id: str
    status: str
    created_at: str
    due_at: str
    is_overdue: bool
    question_count: int
    states: Mapping[str, int]
    annotators: Sequence[AnnotatorProgress]


@dataclass(frozen=True, slots=True)
class Workload:
    """What somebody has to do in the batches that are open.

    Attributes:
        annotator: who.
        open_count: questions given to them that wait for a decision.
        overdue_count: of these, past their due moment.
        due_at: the earliest due moment of what is open; null without any.
        quota: questions per day that they are to do at most.
        capacity: questions that they can hold at once.
        decided_today_count: decisions since the day began (UTC).
        needed_per_day: decisions per day that finish what is open in time; null where nothing is, or it is too late.
    """

    annotator: str
    open_count: int
    overdue_count: int
    due_at: str | None
    quota: int
    capacity: int
    decided_today_count: int
    needed_per_day: float | None

    @property
    def is_behind(self) -> bool:
        """Whether something is overdue, or no longer to be done in time at the daily quota.

        A day that has begun counts whole: who was given as much as the days hold is not behind a minute later.
        """
        if self.overdue_count or not self.needed_per_day:
            return self.overdue_count > 0
        return self.open_count > self.quota * math.ceil(self.open_count / self.needed_per_day)


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """A batch's work given out, decided and overdue (adjudications too), and its disputes."""

    batch_id: str
    status: str
    created_at: str
    due_at: str
    assigned_count: int
    decided_count: int
    overdue_count: int
    dispute_count: int


@dataclass(frozen=True, slots=True)
class WorkShare:
    """A discipline's or annotator's part of a batch's work; `due_at` null where none waits."""

    name: str
    role: str
    assigned_count: int
    decided_count: int
    overdue_count: int
    due_at: str | None


@dataclass(frozen=True, slots=True)
class BatchDetail:
    """A batch in detail.

    Attributes:
        batch_id, status, due_at: the batch.
        states: questions by state of the gate (`accepted rejected waiting disputed`).
        disciplines: its work by discipline.
        annotators: its work by annotator and role.
    """

    batch_id: str
    status: str
    due_at: str
    states: dict[str, int]
    disciplines: Sequence[WorkShare]
    annotators: Sequence[WorkShare]

    @property
    def unsettled_count(self) -> int:
        """Questions on which something is still waited for."""
        return self.states["waiting"] + self.states["disputed"]


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
    """Whether the batch is closed, or every question of it settled, disputes included."""
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
    if assigning.read_pending(connection, batch.batch_id, "reviewer", 1):
        return False
    # An adjudication may no longer be needed: the reviewers have come to agree since.
    owed = assigning.read_pending(connection, batch.batch_id, "adjudicator", _MOST_LOOKED_AT)
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


def list_workloads(
    ledger: Ledger, settings: Settings, now: str, batch_id: str | None = None
) -> list[Workload]:
    """What everybody active or with open work has to do, in all open batches or one, by name."""
    with ledger.read() as connection:
        people = read_everybody(connection)
        active = {row["user_id"] for row in review_people.read_annotators(connection)}
        counts = [
            row
            for row in review_people.count_undecided(connection, now)
            if batch_id in (None, row["batch_id"])
        ]
        today = review_people.count_decided_since(connection, f"{now[:10]}T00:00:00.000000+00:00")
    of_person: dict[str, list[dict[str, Any]]] = {}
    for row in counts:
        of_person.setdefault(row["annotator"], []).append(row)
    return [
        _sum_up(
            people.get(name) or Annotator(name), of_person.get(name, []), today.get(name, 0), settings, now
        )
        for name in sorted(active | {row["annotator"] for row in counts if row["open_count"]})
    ]


def _sum_up(
    person: Annotator, rows: Sequence[Mapping[str, Any]], today: int, settings: Settings, now: str
) -> Workload:
    open_count = sum(row["open_count"] for row in rows)
    due_at = min((row["due_at"] for row in rows if row["due_at"]), default=None)
    needed = None
    if due_at is not None and due_at > now:
        left = datetime.fromisoformat(due_at) - datetime.fromisoformat(now)
        needed = open_count / max(1.0, left.total_seconds() / 86_400)
    return Workload(
        annotator=person.user_id,
        open_count=open_count,
        overdue_count=sum(row["overdue_count"] for row in rows),
        due_at=due_at,
        quota=person.daily_quota or settings.review_daily_quota,
        capacity=person.compute_capacity(settings),
        decided_today_count=today,
        needed_per_day=needed,
    )


def list_batch_summaries(ledger: Ledger, now: str) -> list[BatchSummary]:
    """Every batch, the newest first."""
    with ledger.read() as connection:
        return [BatchSummary(**row) for row in coordination.count_batch_work(connection, now)]


def read_batch_detail(ledger: Ledger, batch_id: str, now: str) -> BatchDetail:
    """One batch by discipline and annotator; raises UsageError for an unknown one."""
    with ledger.read() as connection:
        batch = read_batch(connection, batch_id)
        rows = coordination.count_work_of_batch(connection, batch_id, now)
        states = dict.fromkeys(("accepted", "rejected", "waiting", "disputed"), 0)
        # The gate says where one of those decided on alike stands: it reads no more of them than that.
        alike = dict(coordination.count_alike(connection, batch_id))
        for outcome in read_outcomes(connection, batch, list(alike)):
            states[outcome.state] += alike[outcome.item.question_uuid]
        for outcome in read_outcomes(connection, batch, coordination.list_unlike(connection, batch_id)):
            states[outcome.state] += 1
    return BatchDetail(
        batch_id=batch_id,
        status=batch.status,
        due_at=batch.due_at,
        states=states,
        disciplines=_sum_by(rows, lambda row: (row["discipline"] or NO_DISCIPLINE, "")),
        annotators=_sum_by(rows, lambda row: (row["annotator"], row["role"])),
    )


def _sum_by(rows: Iterable[Row], name_of: Callable[[Row], tuple[str, str]]) -> list[WorkShare]:
    """The counts added up by name and role, in their order."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(name_of(row), []).append(row)
    return [
        WorkShare(
            name,
            role,
            sum(row["assigned_count"] for row in group),
            sum(row["decided_count"] for row in group),
            sum(row["overdue_count"] for row in group),
            min((row["due_at"] for row in group if row["due_at"]), default=None),
        )
        for (name, role), group in sorted(groups.items())
    ]
