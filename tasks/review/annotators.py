"""Who reviews: the active annotators of the ledger, their disciplines and levels, and how much they can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from schemas.errors import UsageError
from schemas.settings import Settings
from warehouse.ledger import review, review_people
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from sqlalchemy import Connection

NO_DISCIPLINE = "(no discipline)"
ALL_DISCIPLINES = "*"
Level = Literal["novice", "regular", "expert"]
LEVELS: tuple[Level, ...] = ("novice", "regular", "expert")


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who reviews.

    Attributes:
        user_id: the name used everywhere.
        disciplines: what they review; null means all, and questions whose discipline is not known.
        language: of what is written to them; null means that of their questions.
        email: where reminders go; null means none by e-mail.
        daily_quota: questions per day of the window; null means the setting.
        due_days: days of their window; null means the setting.
        levels: `novice`, `regular` or `expert` by discipline, `*` for all others; regular where nothing is said. No
            question is left to novices alone, and disputes go to experts first.
    """

    user_id: str
    disciplines: tuple[str, ...] | None = None
    language: str | None = None
    email: str | None = field(default=None, repr=False)
    daily_quota: int | None = None
    due_days: int | None = None
    levels: Mapping[str, Level] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Annotator:
        """The annotator in a row of `review.read_annotators`."""
        return cls(
            row["user_id"],
            None if row["disciplines"] is None else tuple(row["disciplines"]),
            row["language"],
            row["email"],
            row["daily_quota"],
            row["due_days"],
            row["levels"] or {},
        )

    def can_review(self, discipline: str) -> bool:
        """Whether questions of the discipline may be given to this annotator."""
        return self.disciplines is None or discipline in self.disciplines

    def find_level(self, discipline: str) -> Level:
        """How experienced they are in the discipline."""
        return self.levels.get(discipline, self.levels.get(ALL_DISCIPLINES, "regular"))

    def is_novice(self, discipline: str) -> bool:
        """Whether somebody with more experience is to read the same questions of the discipline."""
        return self.find_level(discipline) == "novice"

    def count_days(self, settings: Settings) -> int:
        """Days of their window."""
        return self.due_days or settings.review_due_days

    def compute_capacity(self, settings: Settings) -> int:
        """Questions that they can hold at once: daily quota × days of the window."""
        return (self.daily_quota or settings.review_daily_quota) * self.count_days(settings)


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
        return [Annotator.from_row(row) for row in review_people.read_annotators(connection)]
    if unknown := review.read_unknown_users(connection, {annotator.user_id for annotator in annotators}):
        raise UsageError(
            f"These annotators are not active users: {', '.join(sorted(unknown))}. Register them first, or correct "
            "their names."
        )
    return sorted(annotators, key=lambda annotator: annotator.user_id)
