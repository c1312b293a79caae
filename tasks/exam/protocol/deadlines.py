"""When a session and a question must be finished.

A deadline is set once, stored with the session, and the same for every process. A session that is not finished by its deadline is
closed by the next flow (tasks.exam.closed.closing); what is then unanswered counts 0 stars. A limit for each question holds for
outside candidates only: in house, the limit of a call takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from schemas.errors import ExamError
from schemas.settings import Settings
from warehouse.ledger.engine.moments import write_moment

if TYPE_CHECKING:
    from warehouse.ledger.engine.leases.clock import Clock
    from warehouse.ledger.exam.seats import Seat

_DAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that a session may take from its planning, and a question from its delivery."""

    session_s: float
    question_s: float

    @classmethod
    def from_settings(cls, settings: Settings) -> Deadlines:
        """The deadlines that this installation sets."""
        return cls(settings.session_days * _DAY_S, settings.question_s)


def read_answer_by(delivered_at: str | None, question_s: float | None) -> str | None:
    """The moment up to which a question may be answered; null without a limit."""
    if delivered_at is None or question_s is None:
        return None
    return write_moment(datetime.fromisoformat(delivered_at).timestamp() + question_s)


def check_deadline(seat: Seat, clock: Clock) -> None:
    """Pass before the session's deadline; ExamError 403, or ClockError where nothing shows."""
    if seat.deadline_at is not None and clock.has_passed(seat.deadline_at, since=seat.planned_at):
        raise ExamError(
            403,
            "deadline_passed",
            f"The deadline of this session was {seat.deadline_at}. Nothing more is taken; given answers stay, and "
            "unanswered questions count 0.",
        )
