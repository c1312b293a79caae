"""What happened to a run, in order and in words: from the audit log, never with contents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from schemas.errors import UsageError
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
NAMES: Final[dict[str, dict[str, str]]] = {
    "en": {
        "nobody": "Somebody unknown",
        "no_session": "no session",
        "open": "opening the session",
        "renew": "renewing the lease",
        "next": "asking for a question",
        "submit": "answering",
        "submit_and_next": "answering",
        "pending": "asking what is pending",
        "status": "asking for the state",
        "release": "releasing the session",
        "token": "asking for a token",
        "is_planned": "planned",
        "is_open": "open",
        "is_closed": "closed",
    },
    "zh": {
        "nobody": "未知者",
        "no_session": "无场次",
        "open": "打开场次",
        "renew": "续租",
        "next": "取题",
        "submit": "作答",
        "submit_and_next": "作答",
        "pending": "查询未答题",
        "status": "查询状态",
        "release": "释放场次",
        "token": "申请令牌",
        "is_planned": "已计划",
        "is_open": "进行中",
        "is_closed": "已结束",
    },
}
SENTENCES: Final[dict[str, dict[str, str]]] = {
    "en": {
        "plan_run": "{by} planned the run: {count} sessions.",
        "open": "{by} opened session {session} (token {token}).",
        "open_issued": "{by} opened session {session} with token {token}, which {issuer} issued.",
        "release": "{by} released session {session}: its lease ended.",
        "issue_token": "{by} issued a token for session {session}: {target}.",
        "token": "{by} got a token ({target}).",
        "close": "Session {session} was closed by its last answer.",
        "close_unfinished": "{by} closed session {session} unfinished ({code}): {reason}.",
        "close_run": "{by} closed the run.",
        "raise_budget": "{by} set another limit for the run's budget.",
        "refused": "{by} was refused, {action}, session {session}: {code}.",
        "other": "{by}: {action} ({target}), session {session}.",
        "from": " From {address}.",
        "session": "Session {session} is {status}: {answered} of {questions} questions answered.",
    },
    "zh": {
        "plan_run": "{by} 计划了本次运行：共 {count} 个场次。",
        "open": "{by} 打开了场次 {session}（令牌 {token}）。",
        "open_issued": "{by} 用 {issuer} 签发的令牌 {token} 打开了场次 {session}。",
        "release": "{by} 释放了场次 {session}：租约终止。",
        "issue_token": "{by} 为场次 {session} 签发了令牌：{target}。",
        "token": "{by} 取得了令牌（{target}）。",
        "close": "场次 {session} 在最后一题作答后结束。",
        "close_unfinished": "{by} 在未完成时关闭了场次 {session}（{code}）：{reason}。",
        "close_run": "{by} 结束了本次运行。",
        "raise_budget": "{by} 重新设定了本次运行的预算上限。",
        "refused": "{by} 被拒绝，{action}，场次 {session}：{code}。",
        "other": "{by}：{action}（{target}），场次 {session}。",
        "from": "来自 {address}。",
        "session": "场次 {session}，{status}：{questions} 题中已答 {answered} 题。",
    },
}


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
