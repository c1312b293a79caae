"""The outermost layer of a server: limits what is read, and lets no fault carry content."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.errors import StoreError

LARGEST_BODY_BYTES: Final = 1_000_000
# Of all bodies that are being read or worked on at once; memory takes several times as much.
MOST_HELD_BYTES: Final = 128_000_000
_RETRY_AFTER_S: Final = 2


_RETRY_HEADERS = {"Retry-After": str(_RETRY_AFTER_S)}


class Guard:
    """Refuses bad requests and hides the content of faults.

    Large bodies are refused with 413, the character zero in an address with 400. Any fault is answered with 500
    (503 for the ledger), and only its class is logged.

    Args:
        name: whose log lines these are.
        read_limit: the most bytes of a request to a path; default `LARGEST_BODY_BYTES` for all.
        advice: the sentence after the limit, where a request was too large.
        draw_fault: the page of a fault with its status, for who reads pages; null where a code is read.
    """

    def __init__(
        self,
        app: ASGIApp,
        name: str = "proctor.web",
        read_limit: Callable[[str], int] = lambda _path: LARGEST_BODY_BYTES,
        advice: str = "Send less.",
        draw_fault: Callable[[Scope, int], Response | None] = lambda _scope, _status: None,
    ) -> None:
        self._app = app
        self._log = logging.getLogger(name)
        self._read_limit = read_limit
        self._advice = advice
        self._draw_fault = draw_fault
        self._held_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_started = False
        body_bytes = 0
        most_bytes = self._read_limit(scope["path"])
        too_large = f"The request is larger than {most_bytes:,} bytes. {self._advice}"

        async def receive_limited() -> Message:
            nonlocal body_bytes
            message = await receive()
            count = len(message.get("body", b""))
            body_bytes += count
            self._held_bytes += count
            if body_bytes > most_bytes:
                raise HTTPException(413, too_large)
            if self._held_bytes > MOST_HELD_BYTES:
                raise HTTPException(
                    503, "The server reads too much at once. Send the same call again.", _RETRY_HEADERS
                )
            return message

        async def send_noted(message: Message) -> None:
            nonlocal is_started
            is_started = is_started or message["type"] == "http.response.start"
            await send(message)

        if has_zero(scope["path"]) or b"%00" in scope["query_string"]:
            await _reply(send, 400, "malformed", "The address holds the character zero. Take it out.")
            return
        if _read_length(scope) > most_bytes:
            # What says itself that it is too large is not read at all.
            await _reply(send, 413, "body_too_large", too_large)
            return
        try:
            await self._app(scope, receive_limited, send_noted)
        except Exception as error:
            self._log.error("%s answered with a fault: %s", scope["method"], type(error).__name__)
            if is_started:
                return  # half a reply cannot be taken back; the connection ends
            status = 503 if isinstance(error, StoreError) else 500
            if page := self._draw_fault(scope, status):
                page.headers.update(_RETRY_HEADERS if status == 503 else {})
                await page(scope, receive, send)
            elif status == 503:
                await _reply(send, 503, "store_unavailable", "The ledger cannot be written now. Try again.")
            else:
                await _reply(
                    send, 500, "internal", "The server failed. Nothing of this request was kept. Try again."
                )
        finally:
            self._held_bytes -= body_bytes


def has_zero(value: object) -> bool:
    """Whether a text in it holds the character zero, which PostgreSQL and DuckDB do not take."""
    if isinstance(value, Mapping):
        return any(has_zero(part) for pair in value.items() for part in pair)
    if isinstance(value, list | tuple):
        return any(map(has_zero, value))
    return isinstance(value, str) and "\0" in value


def _read_length(scope: Scope) -> int:
    """The length that the request names; 0 without a number."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


async def _reply(send: Send, status: int, code: str, message: str) -> None:
    body = json.dumps({"code": code, "message": message}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if status == 503:
        headers.append((b"retry-after", str(_RETRY_AFTER_S).encode()))
    if status == 413:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
