"""Futures of the writer's thread, awaited by coroutines.

The event loop is woken up once for all that a commit has done. `asyncio.wrap_future` wakes the loop once per future, with a
write to its socket each time: a tenth of the cost of an answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class _Wakeups:
    """What is done and not yet told to the coroutines of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._done: deque[tuple[asyncio.Future[Any], Future[Any]]] = deque()
        self._is_called = False
        self._lock = threading.Lock()

    def note(self, waiting: asyncio.Future[Any], done: Future[Any]) -> None:
        """Tell the coroutine soon; called from any thread."""
        with self._lock:
            self._done.append((waiting, done))
            if self._is_called:
                return
            self._is_called = True
        # A loop that is closed has nobody left who waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        with self._lock:
            told, self._done = self._done, deque()
            self._is_called = False
        for waiting, done in told:
            if waiting.done():
                continue  # its coroutine was cancelled
            if done.cancelled():
                waiting.cancel()
            elif (error := done.exception()) is not None:
                waiting.set_exception(error)
            else:
                waiting.set_result(done.result())


_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Wakeups] = WeakKeyDictionary()


async def await_done(future: Future[T]) -> T:
    """The result of a future that another thread completes.

    A coroutine that is cancelled cancels the future where it is still queued.
    """
    loop = asyncio.get_running_loop()
    wakeups = _loops.get(loop)
    if wakeups is None:
        wakeups = _loops[loop] = _Wakeups(loop)
    waiting: asyncio.Future[T] = loop.create_future()
    future.add_done_callback(lambda done: wakeups.note(waiting, done))
    try:
        return await waiting
    except asyncio.CancelledError:
        future.cancel()
        raise
