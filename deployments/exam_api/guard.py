"""The outermost layer of the API: limits what is read, and lets no fault carry content into a log or a reply."""

from __future__ import annotations

import json
import logging
from typing import Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.errors import StoreError

LARGEST_BODY_BYTES: Final = 1_000_000
# A response and its reasoning at their longest, every character escaped; longer responses are cut, not refused.
LARGEST_ANSWER_BYTES: Final = 32_000_000

_log = logging.getLogger("proctor.exam_api")


class Guard:
    """Refuses large bodies with 413, answers any fault with 500 (503 for the ledger) and logs its class only."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_started = False
        body_bytes = 0
        most_bytes = LARGEST_ANSWER_BYTES if scope["path"].endswith("/answers") else LARGEST_BODY_BYTES

        async def receive_limited() -> Message:
            nonlocal body_bytes
            message = await receive()
            body_bytes += len(message.get("body", b""))
            if body_bytes > most_bytes:
                raise HTTPException(
                    413,
                    f"The request is larger than {most_bytes:,} bytes. Send less: a response is kept up to 1,000,000 characters.",
                )
            return message

        async def send_noted(message: Message) -> None:
            nonlocal is_started
            is_started = is_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive_limited, send_noted)
        except Exception as error:
            _log.error("%s answered with a fault: %s", scope["method"], type(error).__name__)
            if is_started:
                return  # half a reply cannot be taken back; the connection ends
            if isinstance(error, StoreError):
                await _reply(send, 503, "store_unavailable", "The ledger cannot be written now. Try again.")
            else:
                await _reply(
                    send, 500, "internal", "The server failed. Nothing of this request was kept. Try again."
                )


async def _reply(send: Send, status: int, code: str, message: str) -> None:
    body = json.dumps({"code": code, "message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
