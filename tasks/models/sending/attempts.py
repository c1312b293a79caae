"""One call's attempts until a reply or a failure for good: within limits, with pauses."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from schemas.errors import BudgetError, ProctorError
from tasks.models.budget import Budget, compute_cost, compute_worst_cost
from tasks.models.providers import Endpoint
from tasks.models.registry import RegisteredModel
from tasks.models.replies import PROVIDER_FAULT, Failure, ParsedReply, compute_status, keep_reply
from tasks.models.sending.limits import OwnPace
from tasks.models.sending.paces import Pace
from warehouse.ledger.money.calls import FinishedCall

MOST_ATTEMPTS = 6
BACKOFF_S = 0.5
MOST_BACKOFF_S = 60.0
# A provider that asks for a longer pause than this is given up for now; the next command tries again.
MOST_RETRY_AFTER_S = 600.0


class Sent(NamedTuple):
    """What came of a call, the attempts that were made, and the wall time of the last one."""

    outcome: ParsedReply | Failure
    attempts: int
    latency_ms: float


def _book_nothing(_usd: float) -> None:
    pass


@dataclass
class Flight:
    """Whether a request is on its way at this moment.

    `book` is given the most that each attempt without a bill may have cost. `provider_budget` bears it beside the budget of the work.
    `is_reserved`: what the first attempt may cost is set aside already. `is_last`: there is to be no further one.
    """

    is_sent: bool = False
    is_reserved: bool = False
    is_last: bool = False
    provider_budget: Budget | None = None
    book: Callable[[float], None] = field(default=_book_nothing)


class Sender:
    """Sends calls, each as often as it takes; `counts` has what was `sent` and `retried`."""

    def __init__(
        self,
        counts: Counter[str],
        *,
        timeout_s: float,
        budget: Budget | None,
        most_attempts: int = MOST_ATTEMPTS,
        backoff_s: float = BACKOFF_S,
    ) -> None:
        self._counts = counts
        self._timeout_s = timeout_s
        self._budget = budget
        self._most_attempts = most_attempts
        self._backoff_s = backoff_s

    async def send(
        self,
        endpoint: Endpoint,
        pace: Pace | OwnPace,
        model: RegisteredModel,
        body: dict[str, Any],
        flight: Flight,
        longest_reply: int,
    ) -> Sent:
        """Send until a reply, kept up to so many characters, or a lasting failure; BudgetError."""
        budgets = self.list_budgets(flight)
        worst = compute_worst_cost(model, body["messages"], body) if budgets else 0.0
        self._counts["sent"] += 1
        attempt = 0
        while True:
            attempt += 1
            expected = pace.expect_tokens(body)
            if not (attempt == 1 and flight.is_reserved):
                await reserve_in_all(budgets, worst)
            spent = 0.0
            outcome: ParsedReply | Failure | None = None
            try:
                await pace.acquire(expected)
                spent = worst  # until the bill is known
                begun = time.perf_counter()
                flight.is_sent = True
                outcome = await self._send_once(endpoint, body, longest_reply)
                flight.is_sent = False
                latency_ms = (time.perf_counter() - begun) * 1000
                spent = _compute_spent(model, outcome, worst)
                if _is_bill_unknown(model, outcome):
                    flight.book(estimate_worst_cost(model, body))
            finally:
                for budget in budgets:
                    budget.settle(worst, spent)
                # What was never sent took nothing; what was cut off in flight counts as expected.
                pace.settle(expected, *_count_tokens(outcome, is_sent=flight.is_sent))
            if isinstance(outcome, ParsedReply):
                return Sent(outcome, attempt, latency_ms)
            delay = self._compute_delay(outcome, attempt)
            if outcome.status_code == 429 and outcome.retry_after_s is not None:
                await pace.pause(min(outcome.retry_after_s, MOST_RETRY_AFTER_S))
            if delay is None or flight.is_last:
                return Sent(outcome, attempt, latency_ms)
            self._counts["retried"] += 1
            await asyncio.sleep(delay)

    def list_budgets(self, flight: Flight) -> list[Budget]:
        """The budgets that bear a call."""
        return [one for one in (self._budget, flight.provider_budget) if one is not None]

    async def _send_once(
        self, endpoint: Endpoint, body: dict[str, Any], longest_reply: int
    ) -> ParsedReply | Failure:
        """One attempt within the time limit, its text and reasoning each cut to what is kept."""
        try:
            async with asyncio.timeout(self._timeout_s):
                outcome = await endpoint.send(body)
        except TimeoutError:
            return Failure("timeout", True, is_bill_unknown=True)
        except ProctorError:
            raise
        except Exception as error:  # Of a provider's package; its words may hold a text
            return Failure(f"{PROVIDER_FAULT} {type(error).__name__}", False, is_bill_unknown=True)
        if not isinstance(outcome, ParsedReply | Failure):
            return Failure(f"{PROVIDER_FAULT} {type(outcome).__name__}", False, is_bill_unknown=True)
        return keep_reply(outcome, longest_reply)

    def _compute_delay(self, failure: Failure, attempt: int) -> float | None:
        """Seconds before the next attempt; null when there is to be none."""
        if not failure.is_retryable or attempt >= self._most_attempts:
            return None
        wished = failure.retry_after_s or 0.0
        if wished > MOST_RETRY_AFTER_S:
            return None
        backoff = min(MOST_BACKOFF_S, self._backoff_s * 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.5)
        # Jitter above the wish as well: all who were refused together must not come back together.
        return max(backoff, wished * random.uniform(1.0, 1.1))


async def reserve_in_all(budgets: Sequence[Budget], amount_usd: float) -> None:
    """Set the amount aside in each budget or in none; BudgetError where one has no room."""
    reserved: list[Budget] = []
    try:
        for budget in budgets:
            await budget.reserve(amount_usd)
            reserved.append(budget)
    except BaseException:
        for budget in reserved:
            budget.settle(amount_usd, 0.0)
        raise


def estimate_worst_cost(model: RegisteredModel, body: Mapping[str, Any]) -> float:
    """The most that an attempt can cost, in USD; 0 where a price or limit of tokens is unknown."""
    try:
        return compute_worst_cost(model, body["messages"], body)
    except BudgetError:
        return 0.0


def describe_done(
    key: str, model: RegisteredModel, outcome: ParsedReply, attempts: int, latency_ms: float | None
) -> FinishedCall:
    """What the ledger keeps of a reply, at the model's prices."""
    stored: dict[str, Any] = {
        "text": outcome.text,
        "reasoning": outcome.reasoning,
        "finish_reason": outcome.finish_reason,
        "status": compute_status(outcome),
        "fingerprint": outcome.fingerprint,
    }
    if outcome.whole is not None:
        stored["whole"] = outcome.whole
    if outcome.answered_by is not None:
        stored["answered_by"] = outcome.answered_by
    if outcome.cached_tokens:
        stored["cached_tokens"] = outcome.cached_tokens
    if model.is_simulated:
        stored["is_simulated"] = True
    return FinishedCall(
        key,
        "done",
        attempts,
        stored,
        outcome.input_tokens,
        outcome.output_tokens,
        compute_reply_cost(model, outcome),
        latency_ms,
    )


def compute_reply_cost(model: RegisteredModel, reply: ParsedReply) -> float | None:
    """What a reply cost at the model's prices, in USD; null where a price or a count is unknown."""
    return compute_cost(model, reply.input_tokens, reply.output_tokens, reply.cached_tokens)


def _count_tokens(outcome: ParsedReply | Failure | None, *, is_sent: bool) -> tuple[int | None, int | None]:
    """The tokens that an attempt took; null where nobody knows."""
    if isinstance(outcome, ParsedReply):
        return outcome.input_tokens, outcome.output_tokens
    is_unknown = is_sent if outcome is None else outcome.is_bill_unknown
    return (None, None) if is_unknown else (0, 0)


def _compute_spent(model: RegisteredModel, outcome: ParsedReply | Failure, worst: float) -> float:
    if isinstance(outcome, Failure):
        return worst if outcome.is_bill_unknown else 0.0
    cost = compute_reply_cost(model, outcome)
    return worst if cost is None else cost


def _is_bill_unknown(model: RegisteredModel, outcome: ParsedReply | Failure) -> bool:
    if isinstance(outcome, Failure):
        return outcome.is_bill_unknown
    return compute_reply_cost(model, outcome) is None
