"""What the API refuses: one form for all errors, without a word of what was sent.

Strangers at the door: callers whose token is not one of ours.

This module also decides what they may write into the audit log.

A stranger's refusal never enters the chain of a session, whatever session it names. The first of a minute are entries; the
others are counted, and one entry a minute says how many there were: whoever knocks all day fills no disk.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from deployments.exam_api import bodies
from schemas.errors import ExamError
from tasks.exam.protocol import ExamProtocol
from warehouse.ledger.engine.logs.chain import CALLER, Caller

_FIELDS = frozenset(
    name
    for body in (
        bodies.TokenRequest,
        bodies.KeyRequest,
        bodies.IssueRequest,
        bodies.OpenRequest,
        bodies.AnswerRequest,
        bodies.UserRequest,
        bodies.UserChange,
    )
    for name in body.model_fields
) | {"session_id", "user_id", "run_id", "x-lease-secret", "x-lease-generation"}


# Seconds after which a password that had no place is sent again.
BUSY_RETRY_S = "3"
ENTRIES_PER_ADDRESS: Final = 10
ENTRIES_PER_MINUTE: Final = 30
_MINUTE_S: Final = 60.0


async def refuse(_request: Request, error: Exception) -> JSONResponse:
    """A refusal of the protocol in the API's form."""
    assert isinstance(error, ExamError)
    reply = _error(error.status, error.code, str(error))
    if error.code == "busy":
        reply.headers["Retry-After"] = BUSY_RETRY_S
    return reply


async def refuse_usage(_request: Request, error: Exception) -> JSONResponse:
    """What the ledger refuses as a wrong request: a name that is taken."""
    return _error(409, "not_possible", "This is not possible as things stand: the name is taken or unknown.")


async def refuse_form(request: Request, error: Exception) -> JSONResponse:
    """Name the fields that are wrong; never repeat what was sent."""
    assert isinstance(error, RequestValidationError)
    places = sorted({".".join(str(part) for part in item["loc"][:2]) for item in error.errors()})
    known = [place for place in places if place.split(".")[-1] in _FIELDS] or ["the request"]
    # Into no session's story: the token was looked at, and not yet whether the session is theirs.
    named = name_session(request.path_params.get("session_id"))
    await note_refusal(request, "malformed", 422, "request_invalid", named)
    return _error(
        422, "request_invalid", f"Missing or malformed: {', '.join(known)}. /openapi.json has the form."
    )


async def refuse_http(_request: Request, error: Exception) -> JSONResponse:
    """A request that is none of the API: no such address, method or body."""
    assert isinstance(error, HTTPException)
    words = {
        400: "request_unreadable",
        404: "not_found",
        405: "method_not_allowed",
        413: "body_too_large",
        503: "busy",
    }
    code = words.get(error.status_code, "refused")
    message = "The address, the method or the body is not one that the API takes."
    reply = _error(error.status_code, code, error.detail if error.status_code in (413, 503) else message)
    for name, value in (error.headers or {}).items():
        reply.headers[name] = value
    return reply


def name_session(given: object) -> str | None:
    """What is given as a session's id, where it has the form of one; None otherwise.

    The reason: strangers choose no words of the log.
    """
    is_named = isinstance(given, str) and 0 < len(given) <= 80 and given.replace("-", "").isalnum()
    return str(given) if is_named else None


async def note_refusal(
    request: Request, action: str, status: int, code: str, target: str | None = None
) -> None:
    """Write a refusal that the protocol did not see into the audit log.

    Such refusals are of strangers, and are limited by the measure for strangers.
    """
    strangers: StrangerLog = request.app.state.strangers
    user_id = request.scope.get("state", {}).get("user_id")
    address = request.client.host[:64] if request.client else None
    CALLER.set(Caller(address=address))
    await strangers.note(address, action, status, code, user_id, target)


async def note_attempt(
    protocol: ExamProtocol,
    action: str,
    user_id: str | None,
    session_id: str | None,
    status: int,
    code: str | None,
    target: str | None = None,
) -> None:
    """Write an attempt that the protocol did not see into the audit log."""
    await run_in_threadpool(
        lambda: protocol.log_attempt(
            action, user_id=user_id, session_id=session_id, status=status, code=code, target=target
        )
    )


def _error(status: int, code: str, message: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"code": code, "message": message}, status_code=status, headers=headers)


class StrangerLog:
    """What strangers write into the audit log of one server.

    Args:
        read_protocol: whose log it is.
        clock: seconds of a clock that never goes back.
    """

    def __init__(
        self, read_protocol: Callable[[], ExamProtocol], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read_protocol = read_protocol
        self._clock = clock
        self._began = clock()
        self._by_address: Counter[str] = Counter()
        self._written = 0
        self._left_out = 0
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def note(
        self,
        address: str | None,
        action: str,
        status: int,
        code: str,
        user_id: str | None = None,
        target: str | None = None,
    ) -> None:
        """Write a refusal, or count it.

        `user_id` where a token of ours, alive or not, says who calls; `target` what was tried on: a known user, a session.
        """
        if self._clock() - self._began >= _MINUTE_S:
            await self.finish()
        name = address or ""
        if self._written >= ENTRIES_PER_MINUTE or self._by_address[name] >= ENTRIES_PER_ADDRESS:
            self._left_out += 1
            if self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(_MINUTE_S, self._finish_soon)
            return
        self._by_address[name] += 1
        self._written += 1
        await self._write(action, status, code, user_id, target)

    async def finish(self) -> None:
        """Write how many were only counted, and begin another minute."""
        count, self._left_out = self._left_out, 0
        self._began, self._written = self._clock(), 0
        self._by_address.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if count:
            await self._write("strangers", 429, f"{count} more refusals")

    async def _write(
        self, action: str, status: int, code: str, user_id: str | None = None, target: str | None = None
    ) -> None:
        protocol = self._read_protocol()
        await run_in_threadpool(
            lambda: protocol.log_attempt(
                action, user_id=user_id, session_id=None, status=status, code=code, target=target
            )
        )

    def _finish_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self.finish())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
