"""Calls to the exam API over HTTP; each may be sent again while the server is away or busy."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from schemas.errors import ExamError, ProctorError, UsageError
from tasks.exam.protocol import Lease
from warehouse.stores.away import EXAM, note_away, note_back

if TYPE_CHECKING:
    import aiohttp

PATIENCE_S: Final = 30.0
# Who was refused for so long says so: a database that is locked for a moment is worth no word.
_NOTED_AFTER_S: Final = 5.0
_FIRST_WAIT_S: Final = 0.1
_LONGEST_WAIT_S: Final = 2.0
# A server that asks for a longer pause is asked again after this one.
_LONGEST_WISH_S: Final = 300.0
_BUSY: Final = frozenset({408, 425, 429})
_ADVICE: Final = (
    "Start it with `proctor exam serve`, and run this command again: it continues where it stopped."
)


class DoorError(ProctorError):
    """The exam API cannot be reached, or answers what is not its protocol."""


class HttpCaller:
    """The exam API at an address; an async context manager. UsageError for what is no address.

    Args:
        url: address of the API.
        patience_s: how long a server that does not answer, or is busy, is tried again before DoorError.
        longest_wait_s: longest pause between two tries where the server asks for none.
        advice: what to do when it does not answer.
    """

    def __init__(
        self,
        url: str,
        *,
        patience_s: float = PATIENCE_S,
        longest_wait_s: float = _LONGEST_WAIT_S,
        advice: str = _ADVICE,
    ) -> None:
        _check_address(url)
        self._url = url.rstrip("/")
        self._patience_s = patience_s
        self._longest_wait_s = longest_wait_s
        self._advice = advice
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        import aiohttp

        # Idle connections are let go before the server does, which keeps them for five seconds: no call meets one that is
        # being closed, and is then sent twice.
        connector = aiohttp.TCPConnector(limit=256, keepalive_timeout=3)
        self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=60))
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def call(
        self,
        method: str,
        path: str,
        token: str | None,
        lease: Lease | None = None,
        json: Mapping[str, Any] | None = None,
        *,
        as_bytes: bool = False,
    ) -> Any:
        """The JSON that the API replies; its bytes where they are asked for.

        429, 5xx and lost connections are tried again with growing, jittered pauses, or after the pause that the server asks for.
        Raises ExamError for a refusal, DoorError when patience is at its end.
        """
        import aiohttp

        if self._session is None:
            raise DoorError("The door to the exam API is closed; enter it with `async with`.")
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if lease is not None:
            headers["X-Lease-Secret"] = lease.secret
            headers["X-Lease-Generation"] = str(lease.generation)
        loop = asyncio.get_running_loop()
        began = loop.time()
        give_up_at = began + self._patience_s
        wait_s = _FIRST_WAIT_S
        while True:
            wished_s = 0.0
            try:
                async with self._session.request(
                    method, self._url + path, headers=headers, json=json, allow_redirects=False
                ) as reply:
                    if 300 <= reply.status < 400:
                        # Followed, an answer would become a question, without its token.
                        raise DoorError(f"{self._url} sends callers to another address. Name that one.")
                    if reply.status < 500 and reply.status not in _BUSY:
                        note_back(EXAM)
                        if as_bytes and reply.status < 400:
                            return await reply.read()
                        return _parse_reply(reply.status, await reply.json())
                    wished_s = _read_wish(reply.headers.get("Retry-After"))
            except (aiohttp.ClientError, TimeoutError, ValueError) as error:
                reason = type(error).__name__
            else:
                reason = f"status {reply.status}"
            pause_s = max(wait_s * random.uniform(0.7, 1.0), wished_s * random.uniform(1.0, 1.1))
            if loop.time() + pause_s > give_up_at:
                raise DoorError(f"The exam API at {self._url} does not answer ({reason}). {self._advice}")
            if loop.time() - began > _NOTED_AFTER_S:
                note_away(EXAM, self._patience_s)
            await asyncio.sleep(pause_s)
            wait_s = min(self._longest_wait_s, wait_s * 2)


def _check_address(url: str) -> None:
    """Pass for an address that can be called; UsageError, which repeats no secret, otherwise."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or "@" in url or not url.isprintable() or " " in url:
        raise UsageError(
            "The address of the exam API is https:// (or http://) and a host, without a name and a password. Correct --url, in house "
            "PROCTOR_EXAM_URL."
        )


def _read_wish(text: str | None) -> float:
    """The pause that a server asks for, in seconds; 0 without one, or for a date."""
    try:
        return min(_LONGEST_WISH_S, max(0.0, float(text or 0)))
    except ValueError:
        return 0.0


def _parse_reply(status: int, body: Any) -> Any:
    if status < 400:
        return body
    if isinstance(body, dict) and isinstance(body.get("code"), str) and isinstance(body.get("message"), str):
        raise ExamError(status, body["code"], body["message"])
    raise DoorError(
        f"The address of the exam API answers {status} in a way that is not the API's. Check PROCTOR_EXAM_URL."
    )
