"""Practice sessions with public questions, sat by the rules of the exam.

They count for nothing and are kept nowhere. They live in the server's memory alone: no ledger row, no exposure, no claim on
the bank. Order, leases, one answer for each question and the refusals are those of an exam, so that a client can be tried
out. When the server stops, or when a finished session is opened again, practice begins with the first question.
"""

from __future__ import annotations

import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from schemas.errors import ExamError
from schemas.settings import LONGEST_RESPONSE
from tasks.exam.answers import extract_answer
from tasks.exam.protocol import Answer, Lease, Put, Receipt, choose_lease_secret, hash_secret
from tasks.questions import QuestionContent

# What stands for a session's id in addresses; the exam's own ids never look so.
PRACTICE: Final = "practice"
STYLE: Final = "zero_shot"
# People whose practice is remembered at once; who came longest ago makes room.
MOST_SEATS: Final = 1_000
# Types whose answers are compared without a judge.
_MARKED: Final = frozenset({"true_false", "multiple_choice"})


@dataclass(frozen=True)
class PracticeOutcome:
    """How a practice question was answered.

    Attributes:
        is_correct: whether the answer is right; null where only a judge could say.
        read_as: what was read out of the response; null where nothing was.
    """

    is_correct: bool | None
    read_as: str | None
    answer: str
    explanation: str | None


@dataclass
class _Seat:
    generation: int
    lease_hash: str
    expires_at: float
    answered_count: int = 0
    is_delivered: bool = False


class PracticeRoom:
    """The practice sessions of a server, one for each candidate; safe from several threads.

    Args:
        lease_s: seconds that a lease lasts without a call.
        clock: seconds since 1970; tests inject one.
    """

    def __init__(
        self, lease_s: float, clock: Callable[[], float] = time.time, longest_response: int = LONGEST_RESPONSE
    ) -> None:
        self._longest_response = longest_response
        self._lease_s = lease_s
        self._clock = clock
        self._questions = read_questions()
        self._seats: OrderedDict[str, _Seat] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, user_id: str, lease_secret: str | None) -> Lease:
        """Open the candidate's practice, or resume it; ExamError 403 while held, 422 weak secret."""
        with self._lock:
            now = self._clock()
            seat = self._seats.get(user_id)
            is_held = seat is not None and seat.expires_at > now and not self._is_over(seat)
            secret = choose_lease_secret(
                lease_secret, seat.lease_hash if seat is not None and is_held else None
            )
            generation = 1 if seat is None else seat.generation + 1
            opened = _Seat(generation, hash_secret(secret), now + self._lease_s)
            if seat is not None and not self._is_over(seat):
                opened.answered_count, opened.is_delivered = seat.answered_count, seat.is_delivered
            self._seats[user_id] = opened
            self._seats.move_to_end(user_id)
            while len(self._seats) > MOST_SEATS:
                self._seats.popitem(last=False)
            return self._describe(opened, secret)

    def renew(self, user_id: str, lease: Lease) -> Lease:
        """Let the lease last; raises ExamError as every call of a holder does."""
        with self._lock:
            return self._describe(self._hold(user_id, lease), lease.secret)

    def ask(self, user_id: str, lease: Lease) -> Put | None:
        """The next question, or the pending one again; null when all are answered."""
        with self._lock:
            return self._put(self._hold(user_id, lease))

    def answer(
        self, user_id: str, lease: Lease, seq: int, answer: Answer, *, wants_next: bool
    ) -> tuple[Receipt, Put | None, PracticeOutcome]:
        """Take an answer and say how good it is; ExamError 409, 422, and those of a holder."""
        row = answer.checked(self._longest_response)
        with self._lock:
            seat = self._hold(user_id, lease)
            if seq <= seat.answered_count:
                raise ExamError(
                    409, "already_answered", "This question has an answer, and the first one stays."
                )
            if seq != seat.answered_count + 1 or not seat.is_delivered:
                raise ExamError(
                    409, "not_delivered", "This question has not been handed out yet. Ask for the next one."
                )
            seat.answered_count, seat.is_delivered = seq, False
            receipt = Receipt(seq, seq, len(self._questions), self._is_over(seat))
            put = self._put(seat) if wants_next else None
        return receipt, put, mark_answer(self._questions[seq - 1], str(row["response"]))

    def _hold(self, user_id: str, lease: Lease) -> _Seat:
        seat = self._seats.get(user_id)
        if (
            seat is None
            or seat.generation != lease.generation
            or not hmac.compare_digest(seat.lease_hash, hash_secret(lease.secret))
        ):
            raise ExamError(
                403, "lease_lost", "The session is not held by this lease: it was opened again or released."
            )
        if seat.expires_at <= self._clock():
            raise ExamError(
                403, "lease_expired", "The lease has expired. Open the session again with the lease secret."
            )
        seat.expires_at = self._clock() + self._lease_s
        return seat

    def _put(self, seat: _Seat) -> Put | None:
        if self._is_over(seat):
            return None
        is_repeat, seat.is_delivered = seat.is_delivered, True
        seq = seat.answered_count + 1
        return Put(seq, len(self._questions), STYLE, self._questions[seq - 1].bare, is_repeat)

    def _is_over(self, seat: _Seat) -> bool:
        return seat.answered_count == len(self._questions)

    def _describe(self, seat: _Seat, secret: str) -> Lease:
        return Lease(
            PRACTICE,
            seat.generation,
            secret,
            seat.expires_at,
            STYLE,
            len(self._questions),
            seat.answered_count,
            lease_s=self._lease_s,
        )


@cache
def read_questions() -> tuple[QuestionContent, ...]:
    """The public questions, in the order in which they are put."""
    rows = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))
    return tuple(QuestionContent.from_row(row) for row in rows)


def mark_answer(question: QuestionContent, response: str) -> PracticeOutcome:
    """How a response to a public question is; only true/false and choices are compared."""
    key = "".join(question.answer) if question.question_type == "multiple_choice" else question.answer[0]
    read_as = extract_answer(question.bare, response)
    # A judge reads the whole response, which may well be right where no label could be read with confidence; of a blank one there
    # is nothing to read.
    is_marked = question.question_type in _MARKED and (read_as is not None or not response.strip())
    is_correct = read_as == key if is_marked else None
    return PracticeOutcome(is_correct, read_as, key, question.explanation)
