"""When a call may be sent: by this process's limits, then by those that all keep together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from tasks.models.registry import RegisteredModel
from tasks.models.sending.limits import BURST_S, Limiter
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.writer import name_pace_row
from warehouse.ledger.money.paces import pause_provider, read_pauses, shift_moments, take_moment

# How old may be what a process knows of pauses that another was asked for.
FRESH_S = 0.5
# How far ahead tokens may be spoken for: longer than what all callers of an installation ask for at once.
_MOST_AHEAD_S = 1_800.0
_MOST_AT_ONCE = 300


class Pauses:
    """The pauses that providers asked any process for, as of at most half a second ago."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._looked_at = float("-inf")
        self._until: dict[str, float] = {}

    async def read_left(self, name: str) -> float:
        """Seconds that a provider's pause still lasts; 0 or less for none."""
        age_s = time.monotonic() - self._looked_at
        if age_s > FRESH_S / 2:
            self._looked_at = time.monotonic()  # one looks, the others of this process use what was known
            if age_s > FRESH_S:
                found: dict[str, float] = await self._ledger.writer.run_async(read_pauses)
                self._note(found)
            else:
                # Asked for with what is committed next anyway, and known for the calls after this one.
                looking: Future[dict[str, float]] = self._ledger.writer.submit(read_pauses, is_awaited=False)
                looking.add_done_callback(self._take)
        return self._until.get(name, 0.0) - time.monotonic()

    async def begin(self, name: str, seconds: float) -> None:
        """Let nobody ask a provider for so long, in this process and in all others."""
        self._note({name: seconds})
        await self._ledger.writer.run_async(
            lambda connection: pause_provider(connection, name, seconds), name_pace_row(name)
        )

    def _take(self, looking: Future[dict[str, float]]) -> None:
        if looking.cancelled() or looking.exception() is not None:
            self._looked_at = float("-inf")
        else:
            self._note(looking.result())

    def _note(self, left: dict[str, float]) -> None:
        now = time.monotonic()
        for name, seconds in left.items():
            self._until[name] = max(self._until.get(name, 0.0), now + seconds)


class Pace:
    """The moments of one provider, or of one model with limits of its own."""

    def __init__(self, ledger: Ledger, limiter: Limiter, pauses: Pauses, model: RegisteredModel) -> None:
        self._ledger = ledger
        self._limiter = limiter
        self._pauses = pauses
        self._name = f"{model.provider}/{model.name}" if model.has_own_limits else model.provider
        rate = model.requests_per_minute
        self._interval_s = 0.0 if rate is None else 60.0 / rate
        self._token_s = 0.0 if model.tokens_per_minute is None else 60.0 / model.tokens_per_minute

    @property
    def _tokens(self) -> str:
        return f"{self._name} tokens"

    def expect_tokens(self, body: Mapping[str, Any]) -> int:
        """About how many tokens a call will take; 0 where nobody counts them."""
        return self._limiter.lengths.expect(body) if self._token_s else 0

    async def acquire(self, tokens: int = 0) -> None:
        """Wait for this caller's moment, of a call of about so many tokens, and for new pauses."""
        await self._limiter.bucket.acquire()
        if tokens:
            delay = await self._take_tokens(tokens)
            await asyncio.sleep(max(0.0, delay))
        if self._interval_s:
            slack_s = max(0.0, BURST_S - self._interval_s)
            delay = await self._ledger.writer.run_async(
                lambda connection: take_moment(
                    connection, self._name, interval_s=self._interval_s, slack_s=slack_s
                ),
                name_pace_row(self._name),
            )
            await asyncio.sleep(max(0.0, delay))
        left = await self._pauses.read_left(self._name)
        while left > 0:
            await asyncio.sleep(left)
            left = await self._pauses.read_left(self._name)

    async def _take_tokens(self, tokens: int) -> float:
        """Seconds until so many tokens may be asked for."""
        interval_s = tokens * self._token_s
        return await self._ledger.writer.run_async(
            lambda connection: take_moment(
                connection,
                self._tokens,
                interval_s=interval_s,
                slack_s=BURST_S,
                # All that ask at once may have to wait long, where each takes long.
                most_ahead_s=max(_MOST_AHEAD_S, _MOST_AT_ONCE * interval_s),
            ),
            name_pace_row(self._tokens),
        )

    def settle(self, expected: int, input_tokens: int | None, output_tokens: int | None) -> None:
        """Put what a call took in the place of what was expected of it; null is not known."""
        if not expected:
            return
        if output_tokens:  # one that was refused says nothing of replies
            self._limiter.lengths.note(output_tokens)
        if input_tokens is None or output_tokens is None:
            return
        seconds = (input_tokens + output_tokens - expected) * self._token_s
        # Not waited for: who sends next finds it done, or a moment later.
        self._ledger.writer.submit(
            lambda connection: shift_moments(connection, self._tokens, seconds),
            name_pace_row(self._tokens),
            is_awaited=False,
        )

    async def pause(self, seconds: float) -> None:
        """Let nobody send for so long: the provider said so (Retry-After)."""
        self._limiter.bucket.pause(seconds)
        await self._pauses.begin(self._name, seconds)
