"""Who reviews: the active annotators of the ledger and their disciplines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection

NO_DISCIPLINE = "(no discipline)"


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who reviews; `disciplines` null means all, and questions whose discipline is not known."""

    user_id: str
    disciplines: tuple[str, ...] | None = None

    def can_review(self, discipline: str) -> bool:
        """Whether questions of the discipline may be given to this annotator."""
        return self.disciplines is None or discipline in self.disciplines


def read_annotators(ledger: Ledger) -> list[Annotator]:
    """The active annotators of the ledger."""
    with ledger.read() as connection:
        return find_annotators(connection, None)


def find_annotators(connection: Connection, annotators: Sequence[Annotator] | None) -> list[Annotator]:
    """The annotators asked for, by id; null asks for all active ones of the ledger.

    Raises:
        UsageError: one of those asked for is no active user.
    """
    if annotators is None:
        return [
            Annotator(row["user_id"], None if row["disciplines"] is None else tuple(row["disciplines"]))
            for row in review.read_annotators(connection)
        ]
    if unknown := review.read_unknown_users(connection, {annotator.user_id for annotator in annotators}):
        raise UsageError(
            f"These annotators are not active users: {', '.join(sorted(unknown))}. Register them first, or correct "
            "their names."
        )
    return sorted(annotators, key=lambda annotator: annotator.user_id)
