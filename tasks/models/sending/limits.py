"""How fast, and how many at once: one limiter per provider and process.

A limiter is shared by every thread and event loop of the process, so that concurrent sessions keep one limit together.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import NamedTuple

from tasks.models.registry import RegisteredModel

# A bucket holds this many seconds of its rate: a start after a pause is quick, without a burst that endpoints refuse.
BURST_S = 1.0


class TokenBucket:
    """Gives out moments to send at, no more than `per_minute` of them per minute.

    Beyond that, a burst of one second's worth is allowed.

    Callers are served in the order in which they asked. `clock` and `sleep` can be replaced to test the timing exactly.
    """

    def __init__(
        self,
        per_minute: float | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._interval = 0.0 if per_minute is None else 60.0 / per_minute
        self._slack = max(0.0, BURST_S - self._interval)
        self._next = float("-inf")
        self._paused_until = float("-inf")
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()

    async def acquire(self) -> None:
        """Wait for this caller's moment; a pause that begins meanwhile is waited for too."""
        delay = self._reserve()
        while delay > 0:
            await self._sleep(delay)
            delay = self._paused_until - self._clock()

    def pause(self, seconds: float) -> None:
        """Let nobody send for so long: the provider said so (Retry-After)."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _reserve(self) -> float:
        """Seconds until this caller's moment. The moment is taken at once, so that the order holds."""
        with self._lock:
            now = self._clock()
            moment = max(now - self._slack, self._next)
            self._next = moment + self._interval
            return max(moment, self._paused_until) - now


class Slots:
    """At most `count` holders at once, across threads and event loops.

    They are served in the order in which they asked.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()
        self._waiters: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            loop = asyncio.get_running_loop()
            future: asyncio.Future[None] = loop.create_future()
            self._waiters.append((loop, future))
        try:
            await future
        except asyncio.CancelledError:
            with self._lock:
                try:
                    self._waiters.remove((loop, future))
                    raise
                except ValueError:
                    pass  # release() has already chosen this waiter: the slot passes to the next
            self._release()
            raise

    async def __aexit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        with self._lock:
            while self._waiters:
                loop, future = self._waiters.popleft()
                if loop.is_closed():
                    continue  # its event loop ended while it waited
                loop.call_soon_threadsafe(_wake, future)
                return
            self._free += 1


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Limiter:
    """The two limits of one provider."""

    def __init__(self, per_minute: float | None, concurrency: int) -> None:
        self.bucket = TokenBucket(per_minute)
        self.slots = Slots(concurrency)


class OwnPace:
    """The pace of a process that shares its provider with no other process.

    It is for one process what `paces.Pace` is for the whole installation.
    """

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    async def acquire(self) -> None:
        """Wait for this caller's moment."""
        await self._limiter.bucket.acquire()

    async def pause(self, seconds: float) -> None:
        """Let nobody of this process send for so long: the provider said so (Retry-After)."""
        self._limiter.bucket.pause(seconds)


class _Shared(NamedTuple):
    """Models that share their limits: those of a provider, or one model alone."""

    provider: str
    model: str | None
    per_minute: float | None
    concurrency: int


_limiters: dict[_Shared, Limiter] = {}
_limiters_lock = threading.Lock()


def get_limiter(model: RegisteredModel, default_concurrency: int) -> Limiter:
    """The limiter of the model's provider, or of the model alone where it has limits of its own."""
    concurrency = model.max_concurrency or default_concurrency
    key = _Shared(
        model.provider,
        model.name if model.has_own_limits else None,
        model.requests_per_minute,
        concurrency,
    )
    with _limiters_lock:
        limiter = _limiters.get(key)
        if limiter is None:
            limiter = _limiters[key] = Limiter(model.requests_per_minute, concurrency)
        return limiter
