"""What happened to a run, in order and in words: from the audit log, never with contents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from schemas.errors import UsageError
from tasks.texts import read_texts
from warehouse.ledger.exam import sittings
from warehouse.ledger.trust import access

if TYPE_CHECKING:
    from sqlalchemy import Row

    from warehouse.ledger.engine.ledger import Connection

_ANSWERS: Final = ("submit", "submit_and_next")
# Part of what another sentence tells.
_UNTOLD: Final = frozenset({"plan_seed", "sign_head"})
_LONGEST_TIME: Final = 19

# What makes one sentence of two steps that follow each other.
_ALIKE: Final = ("action", "by", "session_id", "code", "target", "address")


@dataclass(frozen=True)
class StorySentence:
    """One sentence of a story.

    Attributes:
        number: its entry in the chain.
        at: when, in UTC.
        action: what was done or tried.
        by: who; null for the exam itself, and for strangers.
        session_id: the session that it is about.
        code: how, or the word for the refusal.
        target: whom or what it was done to.
        address: where the caller was; null for this machine.
        count: how many times in a row.
        sentence: the same in words.
    """

    number: int | None
    at: str
    action: str
    by: str | None
    session_id: str | None
    code: str | None
    target: str | None
    address: str | None
    count: int
    sentence: str


@dataclass(frozen=True)
class SessionTold:
    """How far a session has come by the log: answers, questions asked for, renewals."""

    session_id: str
    status: str
    answer_count: int
    question_count: int
    next_count: int
    renewal_count: int
    sentence: str


@dataclass(frozen=True)
class Story:
    """A run: what happened, and where its sessions stand."""

    run_id: str
    events: tuple[StorySentence, ...]
    sessions: tuple[SessionTold, ...]


Language = Literal["en", "zh"]
_WORDING: Final[dict[str, Any]] = read_texts("tasks.exam.log", "story.yaml")
NAMES: Final[dict[str, dict[str, str]]] = _WORDING["names"]
SENTENCES: Final[dict[str, dict[str, str]]] = _WORDING["sentences"]


def tell_run(connection: Connection, run_id: str, language: Language = "en") -> Story:
    """The story of a run; raises UsageError for an unknown one."""
    sittings.require_run(connection, run_id)
    rows = sittings.list_sessions(connection, run_id=run_id)
    reasons = {row.session_id: row.close_reason for row in rows}
    counts = access.count_steps(connection, run_id)
    events: list[StorySentence] = []
    for row in access.read_run_entries(connection, run_id):
        if row.action in _UNTOLD:
            continue
        told = _tell(row, reasons, len(rows), language)
        if events and all(getattr(events[-1], name) == getattr(told, name) for name in _ALIKE):
            told = _repeat(events.pop())
        events.append(told)
    sessions = []
    for session in rows:
        steps = counts.get(session.session_id, {})
        answered = sum(steps.get(action, 0) for action in _ANSWERS)
        sentence = SENTENCES[language]["session"].format(
            session=session.session_id,
            status=NAMES[language].get(f"is_{session.status}", session.status),
            answered=answered,
            questions=session.question_count,
        )
        sessions.append(
            SessionTold(
                session.session_id,
                session.status,
                answered,
                session.question_count,
                steps.get("next", 0),
                steps.get("renew", 0),
                sentence,
            )
        )
    return Story(run_id, tuple(events), tuple(sessions))


def _tell(
    row: Row[Any], reasons: dict[str, str | None], session_count: int, language: Language
) -> StorySentence:
    words = SENTENCES[language]
    kind: str = "refused" if row.http_status != 200 else row.action
    if kind == "close" and row.code is not None:
        kind = "close_unfinished"
    token, _, issuer = (row.target or "").partition(" ")
    if kind == "open" and issuer:
        kind = "open_issued"
    sentence = words.get(kind, words["other"]).format(
        by=row.user_id or NAMES[language]["nobody"],
        action=NAMES[language].get(row.action, row.action),
        code=row.code or "",
        session=row.session_id or NAMES[language]["no_session"],
        reason=reasons.get(row.session_id) or "",
        target=row.target or "",
        token=token,
        issuer=issuer,
        count=session_count,
    )
    if row.address:
        sentence += words["from"].format(address=row.address)
    return StorySentence(
        row.number,
        row.accessed_at,
        row.action,
        row.user_id,
        row.session_id,
        row.code,
        row.target,
        row.address,
        1,
        f"{row.accessed_at[:_LONGEST_TIME]}Z  {sentence}",
    )


def _repeat(first: StorySentence) -> StorySentence:
    """The first of several alike, with their number."""
    count = first.count + 1
    plain = first.sentence if first.count == 1 else first.sentence.rsplit("  ×", 1)[0]
    return replace(first, count=count, sentence=f"{plain}  ×{count}")


def read_language(text: str) -> Literal["en", "zh"]:
    """The language that is asked for; raises UsageError for one that there is not."""
    if text == "en":
        return "en"
    if text == "zh":
        return "zh"
    raise UsageError(f"There is no language {text!r} here. Use en or zh.")
