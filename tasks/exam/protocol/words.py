"""What the exam protocol takes and gives: leases, questions put, answers, receipts, states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.errors import ExamError
from schemas.vocabulary import ANSWER_STATUSES
from tasks.questions.question import BareQuestion

# A response longer than this is no answer to an exam question; it would only fill the ledger.
LONGEST_RESPONSE = 1_000_000


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to sit a session for a while; every call renews it.

    Attributes:
        session_id: the session.
        generation: grows with every opening; a holder of an older one is refused.
        secret: shown by whoever resumes.
        expires_at: Unix time at which it ends without a call.
        prompt_style: style of the session.
        question_count: questions allocated.
        answered_count: questions answered when it was opened.
    """

    session_id: str
    generation: int
    secret: str = field(repr=False)
    expires_at: float
    prompt_style: str
    question_count: int
    answered_count: int


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it is put: its position and bare content. No identifier leaves the exam.

    Attributes:
        seq: position in the session, from 1.
        question_count: questions in the session.
        prompt_style: how it is to be put to the candidate.
        content: what is asked.
        is_repeat: whether it was handed out before and is still pending.
    """

    seq: int
    question_count: int
    prompt_style: str
    content: BareQuestion
    is_repeat: bool

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Put:
        """The question in a reply of the exam API."""
        return cls(**{**body, "content": BareQuestion.from_row(body["content"])})

    def as_body(self) -> dict[str, Any]:
        """Plain values, as the exam API sends them."""
        return {
            "seq": self.seq,
            "question_count": self.question_count,
            "prompt_style": self.prompt_style,
            "content": self.content.as_row(),
            "is_repeat": self.is_repeat,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back for a question. Only `response` is needed; the rest is the account of the call, where known."""

    response: str = field(repr=False)
    reasoning: str | None = field(default=None, repr=False)
    answer_status: str = "answered"
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None
    attempts: int | None = None
    error: str | None = None
    prompt_version: str = "own"
    call_key: str | None = None

    def checked(self) -> dict[str, Any]:
        """The answer as a ledger row; blank text is an empty answer whatever was claimed.

        Raises ExamError 422 for a status that is not in the vocabulary or a response beyond all measure.
        """
        if self.answer_status not in ANSWER_STATUSES:
            raise ExamError(
                422, "invalid_answer", f"answer_status must be one of {', '.join(ANSWER_STATUSES)}."
            )
        if len(self.response) > LONGEST_RESPONSE or len(self.reasoning or "") > LONGEST_RESPONSE:
            raise ExamError(
                422, "invalid_answer", f"A response may have at most {LONGEST_RESPONSE:,} characters."
            )
        status = self.answer_status
        if status == "answered" and not self.response.strip():
            status = "empty"
        return {
            "response": _storable(self.response),
            "reasoning": None if self.reasoning is None else _storable(self.reasoning),
            "answer_status": status,
            "finish_reason": _short(self.finish_reason, 40),
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "latency_ms": self.latency_ms,
            "attempts": self.attempts,
            "error": _short(self.error, 200),
            "prompt_version": _short(self.prompt_version, 60) or "own",
            "call_key": _short(self.call_key, 64),
        }


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer is durable.

    Attributes:
        seq: its position.
        answered_count: answers of the session so far.
        question_count: questions of the session.
        is_closed: whether this was the last one.
    """

    seq: int
    answered_count: int
    question_count: int
    is_closed: bool


@dataclass(frozen=True, slots=True)
class Quota:
    """Questions allocated, handed out but unanswered, and answered; `limit` on those handed out, null for none."""

    allocated: int
    pending: int
    completed: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """Where a session stands. `candidate` counts all sessions of its user; `organisation` is shown to examiners only."""

    session_id: str
    status: str
    prompt_style: str
    session: Quota
    candidate: Quota
    organisation: Quota | None
    opened_at: str | None
    closed_at: str | None


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of a list of sessions. Candidates are shown neither run nor set."""

    session_id: str
    status: str
    prompt_style: str
    question_count: int
    answered_count: int
    run_id: str | None = None
    model: str | None = None
    organisation: str | None = None
    repeat: int | None = None
    is_reference: bool | None = None


def _storable(text: str) -> str:
    """Both engines must take it: no NUL, no half of a surrogate pair."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _short(text: str | None, length: int) -> str | None:
    return None if text is None else _storable(text)[:length]
