"""A review batch in the ledger: what is in it, who decides on what, and what was decided."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from schemas.errors import UsageError
from schemas.ledger.review import ReviewBatch
from tasks.review.decisions import Decision, Item
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.review import assigning


@dataclass(frozen=True, slots=True)
class Assignment:
    """A question given to an annotator, as `reviewer` or `adjudicator`."""

    question_uuid: str
    annotator: str
    role: str
    assigned_at: str
    due_at: str
    discipline: str | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Assignment:
        """The assignment in a row of `review_assignments`, with its question's discipline."""
        return cls(**{name: row[name] for name in cls.__slots__})

    def as_row(self, batch_id: str) -> dict[str, Any]:
        """The row of the ledger table `review_assignments`; the discipline is its question's."""
        named = {name: getattr(self, name) for name in self.__slots__ if name != "discipline"}
        return {"batch_id": batch_id, **named}


def list_batches(ledger: Ledger) -> list[ReviewBatch]:
    """Every batch, oldest first."""
    with ledger.read() as connection:
        return assigning.read_batches(connection)


def list_open_batches(ledger: Ledger) -> list[ReviewBatch]:
    """Every batch that still takes decisions, oldest first."""
    return [batch for batch in list_batches(ledger) if not batch.is_closed]


def read_batch(connection: Connection, batch_id: str, *, lock: bool = False) -> ReviewBatch:
    """The batch; `lock` keeps others from changing it until the transaction ends.

    Raises:
        UsageError: there is no such batch.
    """
    found = assigning.read_batch(connection, batch_id, lock=lock)
    if found is None:
        raise UsageError(
            f"There is no review batch {batch_id!r}. See `proctor review status` for those there are."
        )
    return found


def read_items(
    connection: Connection, batch_id: str, question_uuids: Collection[str] | None = None
) -> list[Item]:
    """Questions of the batch that are to be reviewed, by UUID, or these of them."""
    return [
        Item.from_row(row)
        for row in assigning.read_items(connection, batch_id, question_uuids=question_uuids)
    ]


def read_given_items(
    connection: Connection, batch_id: str, annotator: str, question_uuids: Collection[str] | None = None
) -> dict[str, Item]:
    """What somebody is to decide on in the batch, with a known decision or not, or these of it."""
    rows = assigning.read_items(connection, batch_id, annotator, question_uuids, with_gold=True)
    return {row["question_uuid"]: Item.from_row(row) for row in rows}


def read_assignments(
    connection: Connection,
    batch_id: str,
    annotator: str | None = None,
    role: str | None = None,
    question_uuids: Collection[str] | None = None,
    *,
    with_gold: bool = True,
) -> list[Assignment]:
    """Assignments of the batch, planted ones too, by question and annotator, or these of them."""
    rows = assigning.read_assignments(
        connection, batch_id, annotator, role, question_uuids, with_gold=with_gold
    )
    return [Assignment.from_row(row) for row in rows]


def read_decisions(
    connection: Connection,
    batch_id: str,
    annotator: str | None = None,
    question_uuids: Collection[str] | None = None,
) -> list[Decision]:
    """Decisions of the batch, by question and annotator; `question_uuids` takes only these."""
    rows = assigning.read_decisions(connection, batch_id, annotator, question_uuids)
    return [Decision.from_row(row) for row in rows]
