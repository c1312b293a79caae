"""Who reviews: the active annotators of the ledger, and how much each can take of what."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.vocabulary import LANGUAGES, check_discipline
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.review import assigning, people

NO_DISCIPLINE = "(no discipline)"
ALL_DISCIPLINES = "*"
Level = Literal["novice", "regular", "expert"]
LEVELS: tuple[Level, ...] = ("novice", "regular", "expert")


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who reviews.

    Attributes:
        user_id: the name used everywhere.
        disciplines: what they review; null means all, and questions whose discipline is not known; empty that they review nothing yet.
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
        disciplines = None if row["disciplines"] is None else tuple(row["disciplines"])
        named = {name: row[name] for name in cls.__slots__}
        return cls(**named | {"disciplines": disciplines, "levels": row["levels"] or {}})

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


def read_everybody(connection: Connection) -> dict[str, Annotator]:
    """Every annotator of the ledger by name, those who left too."""
    rows = people.read_annotators(connection, with_inactive=True)
    return {row["user_id"]: Annotator.from_row(row) for row in rows}


def find_annotators(connection: Connection, annotators: Sequence[Annotator] | None) -> list[Annotator]:
    """The annotators asked for, by id.

    Null asks for all active ones of the ledger that review anything.

    Raises:
        UsageError: one of those asked for is no active user.
    """
    if annotators is None:
        rows = people.read_annotators(connection)
        return [Annotator.from_row(row) for row in rows if row["disciplines"] != []]
    if unknown := assigning.read_unknown_users(connection, {annotator.user_id for annotator in annotators}):
        raise UsageError(
            f"These annotators are not active users: {', '.join(sorted(unknown))}. Register them first, or correct "
            "their names."
        )
    return sorted(annotators, key=lambda annotator: annotator.user_id)


def write_annotator(
    ledger: Ledger,
    user_id: str,
    *,
    levels: Mapping[str, str] | None = None,
    language: str | None = None,
    email: str | None = None,
    daily_quota: int | None = None,
    due_days: int | None = None,
) -> Annotator:
    """Set what is given of an annotator and leave the rest; returns them as they are then.

    A quota or window of 0 gives back the setting; a level of `regular` is that of who has none.

    Raises:
        UsageError: nobody has that name, or a value is none that can be set.
    """
    _check_profile(levels or {}, language, email)
    with ledger.write() as connection:
        before = read_everybody(connection).get(user_id)
        if before is None:
            raise UsageError(
                f"There is no annotator {user_id!r}. Add them with `proctor exam user add {user_id} --role annotator`."
            )
        profile = {
            "language": language or before.language,
            "email": email or before.email,
            "daily_quota": before.daily_quota if daily_quota is None else daily_quota or None,
            "due_days": before.due_days if due_days is None else due_days or None,
            "levels": {**before.levels, **(levels or {})},
        }
        if any((levels, language, email, daily_quota is not None, due_days is not None)):
            people.write_profile(connection, user_id, profile)
        return Annotator.from_row({"user_id": user_id, "disciplines": before.disciplines, **profile})


def _check_profile(levels: Mapping[str, str], language: str | None, email: str | None) -> None:
    for discipline, level in levels.items():
        if discipline != ALL_DISCIPLINES:
            check_discipline(discipline)
        if level not in LEVELS:
            raise UsageError(f"Level {level!r} is not one of {', '.join(LEVELS)}.")
    if language is not None and language not in LANGUAGES:
        raise UsageError(f"Language {language!r} is not one of {', '.join(LANGUAGES)}.")
    if email is not None and not re.fullmatch(r"[^@\s<>,;]+@[^@\s<>,;]+", email):
        raise UsageError(f"{email!r} is no e-mail address.")


def read_daily_quota(ledger: Ledger, settings: Settings, annotator: str) -> int:
    """Questions per day of an annotator's window: their own where one is set, else the setting."""
    with ledger.read() as connection:
        rows = people.read_annotators(connection)
    own = next((row["daily_quota"] for row in rows if row["user_id"] == annotator), None)
    return own or settings.review_daily_quota
