"""The only way to LLMs, each through its provider (tasks/models/providers).

A ledger records what was paid for. A call is known by the hash of what it asks. A `started` row is committed before it
is sent, and its reply before it is used or together with that, so that after a kill only calls then in flight are sent again. A call that
another living process has under way is waited for, and its reply replayed. Keys and question text stay out of logs and
errors.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from schemas.errors import BudgetError, MislabelledError, ProctorError
from schemas.settings import Settings
from tasks.models.budget import Budget, SharedBudget, close_provider_budget, open_provider_budget
from tasks.models.picture_parts import SentPicture, attach_pictures
from tasks.models.providers import Endpoint
from tasks.models.registry import RegisteredModel, close_registry
from tasks.models.replies import QUOTA_CODES, SIMULATED_FINGERPRINT, Failure, compute_status
from tasks.models.sending import (
    BACKOFF_S,
    MOST_ATTEMPTS,
    Endpoints,
    Flight,
    Pace,
    Pauses,
    Sender,
    Sent,
    describe_done,
    estimate_worst_cost,
    get_limiter,
    reserve_in_all,
)
from warehouse.ledger.engine.leases.presence import Presence
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.statements import Later
from warehouse.ledger.engine.writer import LockedRow, Operation, name_call_row
from warehouse.ledger.money.calls import (
    FinishedCall,
    FoundCall,
    NewCall,
    add_extra_usd,
    begin_call,
    find_call,
    finish_call,
    start_call,
)

# How often a call that another process has under way is looked at.
WAIT_S = 0.5
EXAM_PURPOSE = "exam"
# The HTTP statuses by which an endpoint says that it does not take what it is asked.
_NOT_TAKEN = ("400", "413", "422")

CallStatus = Literal["answered", "empty", "refused", "truncated", "error"]


class CallFailed(ProctorError):
    """A call did not succeed after all its attempts.

    It stays in the ledger as failed; the next command sends it again.

    Attributes:
        error: a short class such as `429`, `timeout`, `cut_stream`, `malformed`.
        attempts: HTTP attempts made.
    """

    def __init__(self, message: str, *, call_key: str, error: str, attempts: int) -> None:
        super().__init__(message)
        self.call_key = call_key
        self.error = error
        self.attempts = attempts

    @property
    def is_not_taken(self) -> bool:
        """Whether the endpoint does not take what it was asked, as by its length, nor will again."""
        status, _, code = self.error.partition(" ")
        # An account without money takes nothing, whatever is asked.
        return status in _NOT_TAKEN and code not in QUOTA_CODES


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
        pictures: what goes with the last message, which names each by its mark.
        is_kept_by_caller: whether who asks writes the reply to the ledger, with what is made of it (`CallReply.unkept`).
    """

    purpose: str
    messages: list[dict[str, str]]
    run_id: str | None = None
    unit: str | None = None
    repeat: int = 1
    salt: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    pictures: tuple[SentPicture, ...] = ()
    is_kept_by_caller: bool = False


@dataclass(frozen=True)
class CallReply:
    """What came back; `cost_usd` is that of this reply, paid once, also when it is replayed.

    `unkept` is what the ledger does not have of the call yet, for who asked to keep it.
    """

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
    fingerprint: str | None = None
    unkept: FinishedCall | None = None


class CallPending(CallFailed):
    """A call is, or is to be, in a batch; its reply is there when the batch has ended."""

    def __init__(self, model: RegisteredModel, call_key: str) -> None:
        super().__init__(
            f"A call of {model.name!r} at {model.provider!r} is in a batch; run the command again when the batch has ended "
            "(`proctor models batches`).",
            call_key=call_key,
            error="in_batch",
            attempts=0,
        )


class ModelClient:
    """Sends calls within the limits of their providers and the budget of the run.

    It is an async context manager. `counts` tells what was done: `sent` (calls), `replayed` (found done in the ledger),
    `awaited` (under way in another process), `repeated` (in flight when an earlier process was killed, so perhaps billed
    twice), `retried` (attempts beyond the first), `failed`. `pending` holds the keys of calls that are in batches under
    way.
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
        self.pending: set[str] = set()
        self._ledger = ledger
        self._settings = settings
        self._endpoints = Endpoints(settings.call_timeout_s, simulated_url)
        self._sender = Sender(
            self.counts,
            timeout_s=settings.call_timeout_s,
            budget=budget,
            most_attempts=most_attempts,
            backoff_s=backoff_s,
        )
        self._presence = Presence(ledger)
        self._pauses = Pauses(ledger)
        self._in_flight: dict[str, asyncio.Future[CallReply]] = {}
        self._flights: dict[asyncio.Task[Any] | None, Flight] = {}
        self._is_left = False
        self._of_providers: dict[str, SharedBudget | None] = {}
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        # A session's calls make cycles, and each full search for them would go through everything that is loaded.
        gc.freeze()
        await asyncio.to_thread(close_registry, self._ledger, self._settings)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        gc.unfreeze()
        try:
            if _value is None or isinstance(_value, Exception):
                await self._leave()
        finally:
            await self.close()

    async def _leave(self) -> None:
        """Wait for what is on its way, which would be paid for twice; nothing else is sent."""
        self._is_left = True
        for task, flight in self._flights.items():
            flight.is_last = True
            if task is not None and not flight.is_sent:
                task.cancel()
        if self._in_flight:
            await asyncio.wait([*self._in_flight.values()])

    @property
    def archive(self) -> Path:
        """Where the bytes of pictures are that go with requests."""
        return self._settings.archive_dir

    @property
    def breadth(self) -> int:
        """How many calls of a model are worth asking for at once."""
        return self._settings.call_concurrency

    async def close(self) -> None:
        """Close all endpoints; what is still under way may then be sent by others."""
        await self._endpoints.close()
        await asyncio.to_thread(self._presence.close)

    async def complete(self, model: RegisteredModel, request: CallRequest) -> CallReply:
        """The model's reply: from the ledger where it was paid for before, else from its endpoint.

        Empty, refused and truncated replies are values. Raises CallFailed after the last attempt, BudgetError before a
        call that the budget may not bear, RegistryError for a missing key or address.
        """
        parameters = {**model.parameters, **request.parameters}
        key = compute_call_key(model, request, parameters)
        twin = self._in_flight.get(key)
        if twin is not None:
            return replace(await asyncio.shield(twin), unkept=None)
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
            self._flights.pop(asyncio.current_task(), None)

    async def find_provider_budget(self, model: RegisteredModel) -> SharedBudget | None:
        """What a model's provider may be paid for all that is asked of it; None for no limit."""
        if model.provider_budget_usd is None:
            if model.provider not in self._of_providers:
                self._of_providers[model.provider] = None
                self._ledger.writer.submit(*close_provider_budget(model))
            return None
        async with self._opening:
            if model.provider not in self._of_providers:
                self._of_providers[model.provider] = await asyncio.to_thread(
                    open_provider_budget, self._ledger, model
                )
        return self._of_providers[model.provider]

    async def _complete(
        self, key: str, model: RegisteredModel, request: CallRequest, parameters: dict[str, Any]
    ) -> CallReply:
        endpoint = self._endpoints.open(model)
        # Before anything is noted of the call: what fails here was never begun.
        await self.find_provider_budget(model)
        if self._is_left:
            # Who asked is no more: another call of the same work failed.
            raise asyncio.CancelledError
        limiter = get_limiter(model, self._settings.call_concurrency)
        holder = self._presence.holder
        call = NewCall(key, request.purpose, request.run_id, request.unit, model.provider, model.name, holder)
        body = build_body(model, request, parameters)
        has_waited = False
        self._flights[asyncio.current_task()] = flight = self._make_flight(key, model)
        while True:
            async with limiter.slots:
                try:
                    found = await self._start(call, model, body, flight)
                    if found is not None and found.status == "done":
                        self.counts["replayed"] += 1
                        return _replay(key, found)
                    if found is not None and found.is_batched:
                        self.pending.add(key)
                        raise CallPending(model, key)
                    if found is None or not found.is_held:
                        self.counts["repeated"] += found is not None and found.status == "started"
                        pace = Pace(self._ledger, limiter, self._pauses, model)
                        # An answer to the exam is kept as far as one that a candidate sends itself: both are on one board.
                        is_exam = request.purpose == EXAM_PURPOSE
                        longest = self._settings.longest_response if is_exam else self._settings.longest_reply
                        sent = await self._send(key, endpoint, pace, model, body, longest, flight)
                        return await self._record(key, model, sent, is_kept=not request.is_kept_by_caller)
                except asyncio.CancelledError:
                    # One that is cancelled in flight stays `started`: it may be billed, and is reported when it is repeated.
                    # Who is cancelled does not wait.
                    if not flight.is_sent:
                        stopped = FinishedCall(key, "failed", error="cancelled", holder=holder)
                        self._ledger.writer.submit(*_finish(stopped))
                    raise
            self.counts["awaited"] += not has_waited
            has_waited = True
            await asyncio.sleep(WAIT_S)

    def _make_flight(self, key: str, model: RegisteredModel) -> Flight:
        def book(usd: float) -> None:
            self._ledger.writer.submit(
                lambda connection: add_extra_usd(connection, key, usd), name_call_row(key)
            )

        return Flight(book=book, provider_budget=self._of_providers.get(model.provider))

    async def _begin(
        self, call: NewCall, model: RegisteredModel, body: dict[str, Any], flight: Flight
    ) -> bool:
        """Begin a call that nobody knows, and set aside what it may cost; false where it is known."""
        run, row = self._ledger.writer.run_async, name_call_row(call.call_key)

        def begin(connection: Connection) -> bool | Later[bool]:
            return begin_call(connection, call)

        budgets = self._sender.list_budgets(flight)
        worst = estimate_worst_cost(model, body) if budgets else 0.0
        if not worst:
            return await run(begin, row, is_of_ledger=True)
        beginning = asyncio.ensure_future(run(begin, row))
        reserving = asyncio.ensure_future(reserve_in_all(budgets, worst))
        try:
            is_new = await beginning
            if is_new:
                await reserving
                flight.is_reserved = True
            return is_new
        except BudgetError:
            await run(*_finish(FinishedCall(call.call_key, "failed", error="budget", holder=call.holder)))
            raise
        finally:
            if not flight.is_reserved:
                reserving.cancel()
                reserving.add_done_callback(partial(_give_back, budgets, worst))

    async def _start(
        self, call: NewCall, model: RegisteredModel, body: dict[str, Any], flight: Flight
    ) -> FoundCall | None:
        """Begin the call, unless it is done or another living process makes it (`is_held`)."""
        if await self._begin(call, model, body, flight):
            return None

        def start(connection: Connection) -> FoundCall | None:
            return start_call(connection, call, price_lost=lambda: estimate_worst_cost(model, body))

        return await self._ledger.writer.run_async(start, name_call_row(call.call_key))

    async def _send(
        self,
        key: str,
        endpoint: Endpoint,
        pace: Pace,
        model: RegisteredModel,
        body: dict[str, Any],
        longest: int,
        flight: Flight,
    ) -> Sent:
        holder = self._presence.holder
        try:
            return await self._sender.send(endpoint, pace, model, body, flight, longest)
        except BudgetError:
            if not flight.is_sent:
                refused = FinishedCall(key, "failed", error="budget", holder=holder)
                await self._ledger.writer.run_async(*_finish(refused))
            raise

    async def _record(self, key: str, model: RegisteredModel, sent: Sent, *, is_kept: bool) -> CallReply:
        outcome, attempts, latency_ms = sent
        run, holder = self._ledger.writer.run_async, self._presence.holder

        def fail(error: str) -> FinishedCall:
            return FinishedCall(key, "failed", attempts, latency_ms=latency_ms, error=error, holder=holder)

        if isinstance(outcome, Failure):
            self.counts["failed"] += 1
            await run(*_finish(fail(outcome.error[:200])))
            raise CallFailed(
                f"{model.name!r} at {model.provider!r} gave no reply after {attempts} attempt(s): {outcome.error}. "
                f"{outcome.advise(model)}",
                call_key=key,
                error=outcome.error,
                attempts=attempts,
            )
        if outcome.fingerprint == SIMULATED_FINGERPRINT and not model.is_simulated:
            await run(*_finish(fail("mislabelled")))
            raise MislabelledError(
                f"Model {model.name!r} is registered as real, but {model.provider!r} answers as a simulation. Add it again with "
                "`proctor models add … --simulated --again` (`is_simulated: true` on its provider), or correct its address: simulated "
                "answers must never enter a leaderboard."
            )
        done = describe_done(key, model, outcome, attempts, latency_ms)
        reply = CallReply(
            call_key=key,
            text=outcome.text,
            reasoning=outcome.reasoning,
            finish_reason=outcome.finish_reason,
            status=compute_status(outcome),
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            cost_usd=done.cost_usd,
            latency_ms=latency_ms,
            attempts=attempts,
            fingerprint=outcome.fingerprint,
            unkept=None if is_kept else done,
        )
        if not is_kept or await run(*_finish(done)):
            return reply
        # Another process took the call for a dead one's and was answered first: its reply is the one in use.
        self.counts["replayed"] += 1
        first = await run(lambda connection: find_call(connection, key), name_call_row(key))
        return reply if first is None else _replay(key, first)


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
    if request.pictures:
        identity["pictures"] = [[picture.mark, picture.sha256] for picture in request.pictures]
    text = json.dumps(identity, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def build_body(model: RegisteredModel, request: CallRequest, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the request, as it is sent."""
    messages = attach_pictures(request.messages, request.pictures) if request.pictures else request.messages
    body = {"model": model.endpoint_model, "messages": messages, **parameters}
    if model.is_simulated and "seed" not in body:
        body["seed"] = _compute_seed(request)
    return body


def _compute_seed(request: CallRequest) -> int:
    """Repeats and salts draw again from a simulated model, as they would from a real one."""
    digest = hashlib.sha256(f"{request.repeat}/{request.salt}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _finish(call: FinishedCall) -> tuple[Operation[bool], LockedRow]:
    """The operation that writes what came of a call, and the row that it locks."""
    return lambda connection: finish_call(connection, call), name_call_row(call.call_key)


def _give_back(budgets: Sequence[Budget], amount_usd: float, reserving: asyncio.Future[None]) -> None:
    """Give back what was set aside for a call that is not sent."""
    if not reserving.cancelled() and reserving.exception() is None:
        for budget in budgets:
            budget.settle(amount_usd, 0.0)


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
        fingerprint=reply.get("fingerprint"),
    )
