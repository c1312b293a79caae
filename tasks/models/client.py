"""The one door to LLMs: `openai.AsyncOpenAI` against any compatible endpoint, with a ledger of what was paid for.

A call is known by the hash of what it asks. A `started` row is committed before it is sent and its reply before it is
used, so that after a kill only calls then in flight are sent again. Keys and question text stay out of logs and errors.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from schemas.errors import BudgetError, ProctorError, RegistryError
from schemas.settings import Settings
from tasks.models.budget import Budget, compute_cost, compute_worst_cost
from tasks.models.limits import Limiter, get_limiter
from tasks.models.registry import SIMULATED_URL, RegisteredModel, read_key
from tasks.models.replies import SIMULATED_FINGERPRINT, ParsedReply, compute_status
from tasks.models.transport import Failure, send_request
from warehouse.ledger.calls import FinishedCall, FoundCall, NewCall, finish_call, start_call
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CallStatus = Literal["answered", "empty", "refused", "truncated", "error"]

MOST_ATTEMPTS = 6
BACKOFF_S = 0.5
MOST_BACKOFF_S = 60.0
# A provider that asks for a longer pause than this is given up for now; the next command tries again.
MOST_RETRY_AFTER_S = 600.0


class CallFailed(ProctorError):
    """A call did not succeed after all its attempts. It stays in the ledger as failed; the next command sends it again.

    Attributes:
        call_key: the call.
        error: a short class such as `429`, `timeout`, `cut_stream`, `malformed`.
        attempts: HTTP attempts made.
    """

    def __init__(self, message: str, *, call_key: str, error: str, attempts: int) -> None:
        super().__init__(message)
        self.call_key = call_key
        self.error = error
        self.attempts = attempts


@dataclass(frozen=True)
class CallRequest:
    """What is asked of a model.

    Attributes:
        purpose: what the call is for (`exam`, `judge`, …).
        messages: chat messages, each with `role` and `content`.
        run_id: the run; null outside runs, then the month takes its place in the key.
        unit: session, session and judge, or batch: what the call is landed with.
        repeat: independent repeat, from 1: the same question may be paid for once per repeat.
        salt: makes a further call of the same request (a judge asked again after an unparseable reply).
        parameters: over the registered parameters of the model.
    """

    purpose: str
    messages: list[dict[str, str]]
    run_id: str | None = None
    unit: str | None = None
    repeat: int = 1
    salt: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CallReply:
    """What came back. `cost_usd` is the cost of this reply, also when it is replayed: it was paid once."""

    call_key: str
    text: str
    reasoning: str | None
    finish_reason: str | None
    status: CallStatus
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    latency_ms: float | None
    attempts: int
    error: str | None
    is_replayed: bool
    fingerprint: str | None = None


class ModelClient:
    """Sends calls within the limits of their providers and the budget of the run; an async context manager.

    `counts` tells what was done: `sent` (calls), `replayed` (found done in the ledger), `repeated` (in flight when an
    earlier process was killed, so perhaps billed twice), `retried` (attempts beyond the first), `failed`.
    """

    def __init__(
        self,
        ledger: Ledger,
        settings: Settings,
        *,
        budget: Budget | None = None,
        simulated_url: str | None = None,
        most_attempts: int = MOST_ATTEMPTS,
        backoff_s: float = BACKOFF_S,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._ledger = ledger
        self._settings = settings
        self._budget = budget
        self._simulated_url = simulated_url or os.environ.get("PROCTOR_SIMULATED_URL")
        self._most_attempts = most_attempts
        self._backoff_s = backoff_s
        self._endpoints: dict[tuple[str, str | None], AsyncOpenAI] = {}
        self._in_flight: dict[str, asyncio.Future[CallReply]] = {}

    async def __aenter__(self) -> ModelClient:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections to all endpoints."""
        endpoints, self._endpoints = self._endpoints, {}
        for endpoint in endpoints.values():
            await endpoint.close()

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        """The model's reply: from the ledger where it was paid for before, else from its endpoint.

        Empty, refused and truncated replies are values. Raises CallFailed after the last attempt, BudgetError before a
        call that the budget may not bear, RegistryError for a missing key or address.
        """
        parameters = {**model.parameters, **request.parameters}
        key = compute_call_key(model, request, parameters)
        twin = self._in_flight.get(key)
        if twin is not None:
            return replace(await asyncio.shield(twin), is_replayed=True)
        future: asyncio.Future[CallReply] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = future
        try:
            reply = await self._complete(key, model, request, parameters)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                future.cancel()
            else:
                future.set_exception(error)
                future.exception()  # a call without a twin leaves nobody to fetch it
            raise
        else:
            future.set_result(reply)
            return reply
        finally:
            del self._in_flight[key]

    async def _complete(
        self, key: str, model: RegisteredModel, request: CallRequest, parameters: dict[str, Any]
    ) -> CallReply:
        endpoint = self._open_endpoint(model)
        limiter = get_limiter(model, self._settings.call_concurrency)
        call = NewCall(key, request.purpose, request.run_id, request.unit, model.provider, model.name)
        async with limiter.slots:
            found = await self._ledger.writer.run_async(lambda connection: start_call(connection, call))
            if found is not None and found.status == "done":
                self.counts["replayed"] += 1
                return _replay(key, found)
            self.counts["repeated"] += found is not None and found.status == "started"
            flight = _Flight()
            try:
                outcome, attempts, latency_ms = await self._attempt(
                    endpoint, limiter, model, request, parameters, flight
                )
            except (BudgetError, asyncio.CancelledError) as error:
                # One that is cancelled in flight stays `started`: it may be billed, and is reported when it is repeated.
                if not flight.is_sent:
                    word = "budget" if isinstance(error, BudgetError) else "cancelled"
                    self._ledger.writer.submit(_finish(FinishedCall(key, "failed", error=word)))
                raise
            return await self._record(key, model, outcome, attempts, latency_ms)

    async def _attempt(
        self,
        endpoint: AsyncOpenAI,
        limiter: Limiter,
        model: RegisteredModel,
        request: CallRequest,
        parameters: dict[str, Any],
        flight: _Flight,
    ) -> tuple[ParsedReply | Failure, int, float]:
        """Send until there is a reply or a failure for good; what came, the attempts made, the last one's wall time."""
        body = {"model": model.endpoint_model, "messages": request.messages, **parameters}
        if model.is_simulated and "seed" not in body:
            body["seed"] = _compute_seed(request)
        budget = self._budget
        worst = 0.0 if budget is None else compute_worst_cost(model, request.messages, parameters)
        self.counts["sent"] += 1
        attempt = 0
        while True:
            attempt += 1
            if budget is not None:
                await budget.reserve(worst)
            spent = 0.0
            try:
                await limiter.bucket.acquire()
                spent = worst  # until the bill is known
                begun = time.perf_counter()
                flight.is_sent = True
                outcome = await send_request(endpoint, body, self._settings.call_timeout_s)
                flight.is_sent = False
                latency_ms = (time.perf_counter() - begun) * 1000
                spent = _compute_spent(model, outcome, worst)
            finally:
                if budget is not None:
                    budget.settle(worst, spent)
            if isinstance(outcome, ParsedReply):
                return outcome, attempt, latency_ms
            delay = self._compute_delay(outcome, attempt)
            if outcome.status_code == 429 and outcome.retry_after_s is not None:
                limiter.bucket.pause(min(outcome.retry_after_s, MOST_RETRY_AFTER_S))
            if delay is None:
                return outcome, attempt, latency_ms
            self.counts["retried"] += 1
            await asyncio.sleep(delay)

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

    async def _record(
        self,
        key: str,
        model: RegisteredModel,
        outcome: ParsedReply | Failure,
        attempts: int,
        latency_ms: float,
    ) -> CallReply:
        run = self._ledger.writer.run_async
        if isinstance(outcome, Failure):
            self.counts["failed"] += 1
            await run(
                _finish(
                    FinishedCall(key, "failed", attempts, latency_ms=latency_ms, error=outcome.error[:200])
                )
            )
            raise CallFailed(
                f"{model.name!r} at {model.provider!r} gave no reply after {attempts} attempt(s): {outcome.error}. "
                f"{outcome.advise(model)}",
                call_key=key,
                error=outcome.error,
                attempts=attempts,
            )
        if outcome.fingerprint == SIMULATED_FINGERPRINT and not model.is_simulated:
            await run(
                _finish(FinishedCall(key, "failed", attempts, latency_ms=latency_ms, error="mislabelled"))
            )
            raise RegistryError(
                f"Model {model.name!r} is registered as real, but {model.provider!r} answers as a simulation. "
                "Set `is_simulated: true` on the provider, or correct its base_url: simulated answers must never "
                "enter a leaderboard."
            )
        status = compute_status(outcome)
        cost_usd = compute_cost(model, outcome.input_tokens, outcome.output_tokens)
        stored = {
            "text": outcome.text,
            "reasoning": outcome.reasoning,
            "finish_reason": outcome.finish_reason,
            "status": status,
            "fingerprint": outcome.fingerprint,
        }
        await run(
            _finish(
                FinishedCall(
                    key,
                    "done",
                    attempts,
                    stored,
                    outcome.input_tokens,
                    outcome.output_tokens,
                    cost_usd,
                    latency_ms,
                )
            )
        )
        return CallReply(
            call_key=key,
            text=outcome.text,
            reasoning=outcome.reasoning,
            finish_reason=outcome.finish_reason,
            status=status,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            cost_usd=cost_usd,
            latency_ms=latency_ms,
            attempts=attempts,
            error=None,
            is_replayed=False,
            fingerprint=outcome.fingerprint,
        )

    def _open_endpoint(self, model: RegisteredModel) -> AsyncOpenAI:
        place = (model.base_url, model.key_variable)
        endpoint = self._endpoints.get(place)
        if endpoint is not None:
            return endpoint
        url = self._simulated_url if model.base_url == SIMULATED_URL else model.base_url
        if url is None:
            raise RegistryError(
                f"Model {model.name!r} is simulated, but no simulated model server is known. Start one with "
                "`python -m deployments.model_server` and set PROCTOR_SIMULATED_URL to its address."
            )
        key = read_key(model)
        from openai import AsyncOpenAI, DefaultAioHttpClient

        # At DEBUG the library logs whole requests, that is, questions.
        logging.getLogger("openai").setLevel(logging.WARNING)
        endpoint = AsyncOpenAI(
            api_key=key,
            base_url=url,
            max_retries=0,
            timeout=self._settings.call_timeout_s,
            http_client=DefaultAioHttpClient(),
        )
        self._endpoints[place] = endpoint
        return endpoint


@dataclass
class _Flight:
    """Whether a request is on its way at this moment."""

    is_sent: bool = False


def compute_call_key(model: RegisteredModel, request: CallRequest, parameters: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of everything that makes this call this call."""
    identity = {
        "purpose": request.purpose,
        "run": request.run_id or datetime.now(UTC).strftime("%Y-%m"),
        "endpoint": model.provider,
        "model": model.endpoint_model,
        "messages": request.messages,
        "parameters": parameters,
        "repeat": request.repeat,
        "salt": request.salt,
    }
    text = json.dumps(identity, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _compute_seed(request: CallRequest) -> int:
    """Repeats and salts draw anew from a simulated model, as they would from a real one."""
    digest = hashlib.sha256(f"{request.repeat}/{request.salt}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _compute_spent(model: RegisteredModel, outcome: ParsedReply | Failure, worst: float) -> float:
    if isinstance(outcome, Failure):
        return worst if outcome.is_bill_unknown else 0.0
    cost = compute_cost(model, outcome.input_tokens, outcome.output_tokens)
    return worst if cost is None else cost


def _finish(call: FinishedCall) -> Any:
    return lambda connection: finish_call(connection, call)


def _replay(key: str, found: FoundCall) -> CallReply:
    reply = found.reply or {}
    return CallReply(
        call_key=key,
        text=reply.get("text", ""),
        reasoning=reply.get("reasoning"),
        finish_reason=reply.get("finish_reason"),
        status=reply.get("status", "answered"),
        input_tokens=found.input_tokens,
        output_tokens=found.output_tokens,
        cost_usd=found.cost_usd,
        latency_ms=found.latency_ms,
        attempts=found.attempts,
        error=None,
        is_replayed=True,
        fingerprint=reply.get("fingerprint"),
    )
