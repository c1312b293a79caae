"""What the exam protocol takes and gives: leases, questions put, answers, receipts, states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from schemas.errors import ExamError
from schemas.settings import LONGEST_RESPONSE
from schemas.vocabulary import GIVEN_STATUSES
from tasks.questions import BareQuestion
from tasks.texts import cut_text, make_storable

# What a line of a list says to examiners alone.
FOR_EXAMINERS: Final = frozenset({"run_id", "model", "organisation", "repeat", "is_reference"})
# Characters that the ledger keeps of each.
_LONGEST: Final = {"finish_reason": 40, "error": 200, "prompt_version": 60, "call_key": 64, "signature": 88}
_NUMBERS: Final = ("cost_usd", "latency_ms")


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to sit a session for a while; every call renews it.

    Attributes:
        generation: grows with every opening; a holder of an older one is refused.
        secret: shown by whoever resumes.
        expires_at: Unix time at which it ends without a call.
        answered_count: questions answered when it was opened.
        deadline_at: moment (UTC, ISO text) after which nothing is taken; null for none.
        question_s: seconds in which a question must be answered once it is handed out; null for no limit.
        lease_s: seconds that it lasts from each call; null where that is not known.
    """

    session_id: str
    generation: int
    secret: str = field(repr=False)
    expires_at: float
    prompt_style: str
    question_count: int
    answered_count: int
    deadline_at: str | None = None
    question_s: float | None = None
    lease_s: float | None = None

    @classmethod
    def from_body(cls, body: Mapping[str, Any], secret: str) -> Lease:
        """The lease in a reply of the exam API; what else the reply tells candidates is left out."""
        told = {item.name: body[item.name] for item in fields(cls) if item.name in body}
        return cls(**{**told, "secret": secret})


@dataclass(frozen=True, slots=True)
class Put:
    """A question as it is put: its position and bare content. No identifier leaves the exam.

    Attributes:
        seq: position in the session, from 1.
        prompt_style: how it is to be put to the candidate.
        is_repeat: whether it was handed out before and is still pending.
        answer_by: moment (UTC, ISO text) up to which it may be answered; null for no limit.
    """

    seq: int
    question_count: int
    prompt_style: str
    content: BareQuestion
    is_repeat: bool
    answer_by: str | None = None

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Put:
        """The question in a reply of the exam API."""
        told = {item.name: body[item.name] for item in fields(cls) if item.name in body}
        return cls(**{**told, "content": BareQuestion.from_row(body["content"])})

    def as_body(self) -> dict[str, Any]:
        """Plain values, as the exam API sends them."""
        told = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**told, "content": self.content.as_row()}


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back for a question: `response`, and the account of the call where known."""

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
    signature: str | None = None

    def fitted(self, most: int = LONGEST_RESPONSE) -> Answer:
        """The answer as a ledger keeps it: at most `most` characters of response, and of reasoning.

        Cuts of these two are marked; the short texts are cut to their columns.
        """
        response, of_response = cut_text(make_storable(self.response), most)
        reasoning = None if self.reasoning is None else cut_text(make_storable(self.reasoning), most)[0]
        is_cut_answer = of_response is not None and self.answer_status == "answered"
        short = {
            name: make_storable(text)[:length]
            for name, length in _LONGEST.items()
            if (text := getattr(self, name)) is not None
        }
        # SQLite gives back 0.0 for -0.0, and the audit log has the digest of the answer as it was given.
        numbers = {name: number + 0.0 for name in _NUMBERS if (number := getattr(self, name)) is not None}
        return replace(
            self,
            response=response,
            reasoning=reasoning,
            answer_status="truncated" if is_cut_answer else self.answer_status,
            **{**short, "prompt_version": short["prompt_version"] or "own", **numbers},
        )

    def checked(self, most: int = LONGEST_RESPONSE) -> dict[str, Any]:
        """The answer as a ledger row, cut; ExamError 422 for a status that no candidate can give."""
        if self.answer_status not in GIVEN_STATUSES:
            raise ExamError(
                422,
                "invalid_answer",
                f"answer_status must be one of {', '.join(GIVEN_STATUSES)}. Where your model failed, ask it again and send its "
                "answer; without one, send an empty response.",
            )
        kept = self.fitted(most)
        is_empty = kept.answer_status == "answered" and not kept.response.strip()
        row = {item.name: getattr(kept, item.name) for item in fields(kept)}
        return row | {"answer_status": "empty"} if is_empty else row


@dataclass(frozen=True, slots=True)
class Receipt:
    """An answer is durable.

    Attributes:
        answer_sha256: SHA-256 of the response as it is kept.
        head: hash of its entry in the audit log, which was then the log's head.
        signature: the installation's, over session, position, answer, entry and head; null where nobody asked for it.
        entry: number of its entry in the audit log.
    """

    seq: int
    answered_count: int
    question_count: int
    is_closed: bool
    # Evidence: two receipts of one answer are the same whatever the log's number was.
    session_id: str = field(default="", compare=False)
    answer_sha256: str = field(default="", compare=False)
    head: str = field(default="", compare=False)
    signature: str | None = field(default=None, compare=False)
    entry: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Quota:
    """Questions allocated, pending, answered; `limit` (None: no limit) on those handed out."""

    allocated: int
    pending: int
    completed: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """Where a session stands; `candidate` counts its user's, `organisation` for examiners."""

    session_id: str
    status: str
    prompt_style: str
    session: Quota
    candidate: Quota
    organisation: Quota | None
    opened_at: str | None
    closed_at: str | None
    deadline_at: str | None = None
    question_s: float | None = None


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of a list of sessions. Candidates are shown neither run nor set."""

    session_id: str
    status: str
    prompt_style: str
    question_count: int
    answered_count: int
    deadline_at: str | None = None
    run_id: str | None = None
    model: str | None = None
    organisation: str | None = None
    repeat: int | None = None
    is_reference: bool | None = None
