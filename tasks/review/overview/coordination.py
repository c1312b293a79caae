"""How far the review is, by batch, discipline and annotator.

It is for those who give the work out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.review.assigning import NO_DISCIPLINE
from tasks.review.batch import read_batch
from tasks.review.overview.progress import read_outcomes
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import coordination

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BatchSummary:
    """A batch and its work.

    It counts what is given out, decided and overdue (reviews and adjudications), and the disputes given out.
    """

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
    """Part of a batch's work: that of a discipline, or of an annotator in a role.

    `due_at` is None when none waits.
    """

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
