"""Strangers at the door: callers without our token, and what they add to the audit log.

A stranger's refusal never enters the chain of a session, whatever session it names. The first of a minute are entries; the
others are counted, and one entry a minute says how many there were: whoever knocks all day fills no disk.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from fastapi.concurrency import run_in_threadpool

from tasks.exam.protocol import ExamProtocol
from warehouse.ledger.engine.logs.chain import CALLER, Caller

ENTRIES_PER_ADDRESS: Final = 10
ENTRIES_PER_MINUTE: Final = 30
_MINUTE_S: Final = 60.0


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
        # A proxy may pass on any text as an address; the log keeps so much of it.
        name = (address or "")[:64]
        CALLER.set(Caller(address=name or None))
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
            # Of many addresses, and by nobody's call.
            CALLER.set(Caller())
            await self._write("strangers", 429, f"{count} more refusals")

    async def _write(
        self, action: str, status: int, code: str, user_id: str | None = None, target: str | None = None
    ) -> None:
        await note_attempt(self._read_protocol(), action, user_id, None, status, code, target)

    def _finish_soon(self) -> None:
        task = asyncio.get_running_loop().create_task(self.finish())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
