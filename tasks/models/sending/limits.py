"""How fast, and how many at once: one limiter per provider and process.

A limiter is shared by every thread and event loop of the process, so that concurrent sessions keep one limit together.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from tasks.models.picture_parts import MOST_PICTURE_TOKENS, part_pictures
from tasks.models.registry import RegisteredModel

# A bucket holds this many seconds of its rate: a start after a pause is quick, without a burst that endpoints refuse.
BURST_S = 1.0
# A Chinese character has three bytes, an English word five or six: about a token each.
_BYTES_PER_TOKEN = 3
# What the first reply is taken for, and over how many replies the mean goes.
_FIRST_REPLY = 500
_REMEMBERED = 50
_limiters: dict[_Shared, Limiter] = {}
_limiters_lock = threading.Lock()


class _Shared(NamedTuple):
    """Models that share their limits: those of a provider, or one model alone."""

    provider: str
    model: str | None
    per_minute: float | None
    concurrency: int


class TokenBucket:
    """Gives out moments to send at, no more than `per_minute` of them per minute.

    Beyond that, a burst of one second's worth is allowed. Callers are served in the order in which they asked. `clock`
    and `sleep` can be replaced to test the timing exactly.
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
    """At most `count` holders at once, in order, across threads and event loops."""

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


class ReplyLengths:
    """How many tokens calls take, by earlier replies: a limit is kept before they are counted."""

    def __init__(self) -> None:
        self._mean: float | None = None

    def expect(self, body: Mapping[str, Any]) -> int:
        """The tokens of a request and of its reply, before either was counted."""
        plain, pictures = part_pictures(body["messages"])
        sent = len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN
        most = body.get("max_completion_tokens") or body.get("max_tokens") or math.inf
        returned = int(min(most, _FIRST_REPLY if self._mean is None else math.ceil(self._mean)))
        return max(1, sent + pictures * MOST_PICTURE_TOKENS // 2 + returned)

    def note(self, output_tokens: int) -> None:
        """A reply had so many tokens."""
        self._mean = (
            output_tokens if self._mean is None else self._mean + (output_tokens - self._mean) / _REMEMBERED
        )


class Limiter:
    """The limits of one provider."""

    def __init__(self, per_minute: float | None, concurrency: int) -> None:
        self.bucket = TokenBucket(per_minute)
        self.slots = Slots(concurrency)
        self.lengths = ReplyLengths()


class OwnPace:
    """The pace of a process alone at its provider: `paces.Pace` for one process."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter

    def expect_tokens(self, body: Mapping[str, Any]) -> int:
        """None are counted: whoever sits by itself keeps its provider's limits of tokens by itself."""
        return 0

    async def acquire(self, tokens: int = 0) -> None:
        """Wait for this caller's moment."""
        await self._limiter.bucket.acquire()

    def settle(self, expected: int, input_tokens: int | None, output_tokens: int | None) -> None:
        """Nothing was set aside."""

    async def pause(self, seconds: float) -> None:
        """Let nobody of this process send for so long: the provider said so (Retry-After)."""
        self._limiter.bucket.pause(seconds)


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
