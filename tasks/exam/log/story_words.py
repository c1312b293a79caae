"""The sentences of a run's story, in English and Chinese."""

from __future__ import annotations

from typing import Final, Literal

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
