"""What has become of batches.

They are looked up at their providers, and their results are booked as the replies of their calls. Any process
may collect, each batch one at a time; what one has begun, the next one finishes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from schemas.errors import ProctorError, StoreError
from schemas.ledger.money import CallBatch
from schemas.settings import Settings
from tasks.models.providers import FINAL_STATUSES, BatchLine, ProviderBatch
from tasks.models.registry import RegisteredModel, Registry
from tasks.models.replies import SIMULATED_FINGERPRINT, Failure
from tasks.models.sending import Endpoints, describe_done
from tasks.running.claiming import claim_work
from warehouse.ledger.engine.leases.clock import read_time
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.money.batches import (
    end_batch,
    finish_batch_calls,
    list_call_batches,
    list_sent_calls,
    move_batch,
    note_status,
    read_batch,
)
from warehouse.ledger.money.calls import FinishedCall

T = TypeVar("T")

# Kind of the claims: one process at a time submits, collects or cancels a batch.
CLAIM = "batch"
# How long a batch is looked for of which nobody knows whether the provider took it: a list may lag behind.
LOOKED_FOR_S = 120.0
# And one that the provider did take: a wrong address hides it, or the key of another account. Results are kept for four weeks.
TAKEN_LOOKED_FOR_S = 7 * 86_400.0
CALLS_PER_TRANSACTION = 500
_NOT_THERE = (404, 405, 501)
# Of a batch that may yet show itself, and of results that did not come whole.
_WAITED_FOR = ("under_way", "cut_results")


@dataclass
class Collected:
    """What collecting came to.

    Attributes:
        open_batches: batches that may still answer.
        counts: `ended` (batches), `done`, `failed` (calls), `lost` (calls of batches that could not be found, booked at their most).
        problems: what kept a batch from being collected, in sentences.
    """

    open_batches: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


async def collect_batches(
    ledger: Ledger, settings: Settings, registry: Registry, *, looked_for_s: float | None = None
) -> Collected:
    """Look at every batch that may still answer, and book the results of those that have ended.

    A batch that cannot be asked about now stays as it is, with a sentence in `problems`.
    """
    collected = Collected()
    batches = _list_open(ledger)
    if not batches:
        return collected
    collection = _Collection(
        ledger,
        Endpoints(settings.call_timeout_s),
        collected,
        LOOKED_FOR_S if looked_for_s is None else looked_for_s,
        settings.longest_reply,
    )
    try:
        for batch in batches:
            try:
                with claim_work(ledger, CLAIM, batch.batch_id, what=f"at work on {batch.batch_id}"):
                    await collection.advance(batch.batch_id, registry)
            except ProctorError as error:
                collected.problems.append(str(error))
    finally:
        await collection.endpoints.close()
    collected.open_batches = len(_list_open(ledger))
    return collected


async def cancel_open_batch(ledger: Ledger, settings: Settings, registry: Registry, batch_id: str) -> str:
    """Ask the provider to stop a batch; returns what the provider says.

    What is done by then is collected, and paid for. Raises StoreError for a batch that is unknown, ended or not
    created, and for a provider that does not do it.
    """
    with ledger.read() as connection:
        batch = read_batch(connection, batch_id)
    if batch is None or batch.state != "created" or batch.provider_batch_id is None:
        state = "unknown" if batch is None else batch.state
        raise StoreError(f"Batch {batch_id} is {state}: only one that was created can be cancelled.")
    endpoints = Endpoints(settings.call_timeout_s)
    try:
        endpoint = endpoints.open_for_batches(registry.get(batch.model))
        found = await endpoint.cancel_batch(batch.provider_batch_id)
    finally:
        await endpoints.close()
    if isinstance(found, Failure):
        raise StoreError(f"{batch.provider!r} did not cancel {batch_id}: {found.error}.")
    with ledger.write() as connection:
        note_status(connection, batch_id, found.status)
    return found.status


def drop_batch(ledger: Ledger, batch: CallBatch) -> None:
    """Give up a batch that was never created: its calls are anyone's, its money is free."""
    _finish_rest(ledger, batch, "batch_dropped", is_billed=False)
    with ledger.write() as connection:
        end_batch(connection, batch, "dropped")


def discount(model: RegisteredModel) -> RegisteredModel:
    """The model at the prices of its batches."""
    share = 1.0 if model.batch is None else model.batch.price_share
    return replace(
        model,
        input_price_usd=None if model.input_price_usd is None else model.input_price_usd * share,
        output_price_usd=None if model.output_price_usd is None else model.output_price_usd * share,
        cached_input_price_usd=None
        if model.cached_input_price_usd is None
        else model.cached_input_price_usd * share,
    )


class _Collection:
    """One look at all batches."""

    def __init__(
        self,
        ledger: Ledger,
        endpoints: Endpoints,
        collected: Collected,
        looked_for_s: float,
        longest_reply: int,
    ) -> None:
        self.endpoints = endpoints
        self._ledger = ledger
        self._collected = collected
        self._looked_for_s = looked_for_s
        self._longest_reply = longest_reply

    async def advance(self, batch_id: str, registry: Registry) -> None:
        """Bring one batch as far as it has got. Nobody else is at work on it."""
        with self._ledger.read() as connection:
            batch = read_batch(connection, batch_id)
        if batch is None or batch.state not in ("gathering", "creating", "created"):
            return
        if batch.state == "gathering":
            # Its process died before the batch was created: nothing of it can be billed.
            drop_batch(self._ledger, batch)
            return
        model = registry.get(batch.model)
        endpoint = self.endpoints.open_for_batches(model)
        found: ProviderBatch | Failure | None
        if batch.provider_batch_id is None:
            found = await endpoint.find_batch(batch_id, datetime.fromisoformat(batch.changed_at))
        else:
            found = await endpoint.look_at_batch(batch.provider_batch_id)
        if found is None or isinstance(found, Failure):
            self._miss(batch, model, found)
            return
        with self._ledger.write() as connection:
            if batch.provider_batch_id is None:
                move_batch(
                    connection, batch_id, "creating", "created", provider_batch_id=found.provider_batch_id
                )
            note_status(connection, batch_id, found.status)
        if found.status not in FINAL_STATUSES:
            return
        results = await endpoint.read_results(found, self._longest_reply)
        if isinstance(results, Failure):
            self._miss(batch, model, results)
            return
        self._book(batch, model, results.lines, found)
        if not results.is_whole:
            self._collected.problems.append(
                f"The results of {batch.batch_id} are too large: what comes after the first lines is not read, and the calls that it "
                "answers are booked as failed. Make smaller batches of this model, or limit its replies."
            )
        await endpoint.delete_files([batch.file_id, found.output_file_id, found.error_file_id])

    def _miss(self, batch: CallBatch, model: RegisteredModel, failure: Failure | None) -> None:
        """Report what was not said; what is not there is looked for a while, then given up."""
        is_taken = batch.provider_batch_id is not None
        # A provider without a list, or one that has forgotten the batch or what came of it.
        is_away = failure is None or failure.status_code in _NOT_THERE
        if failure is not None and (is_taken or not is_away):
            self._report(batch, model, failure)
        if is_away:
            self._give_up(batch, TAKEN_LOOKED_FOR_S if is_taken else self._looked_for_s)

    def _report(self, batch: CallBatch, model: RegisteredModel, failure: Failure) -> None:
        advice = (
            "It is asked again by the next command."
            if failure.error in _WAITED_FOR
            else failure.advise(model)
        )
        self._collected.problems.append(
            f"{batch.provider!r} said nothing of {batch.batch_id}: {failure.error}. {advice}"
        )

    def _give_up(self, batch: CallBatch, looked_for_s: float) -> None:
        """Count a batch as billed that was not found in so many seconds."""
        until = datetime.fromisoformat(batch.changed_at).timestamp() + looked_for_s
        with self._ledger.read() as connection:
            if not read_time(connection).has_passed(write_moment(until), since=batch.changed_at):
                return
        count = _finish_rest(self._ledger, batch, "batch_lost", is_billed=True)
        with self._ledger.write() as connection:
            end_batch(connection, batch, "lost")
        self._collected.counts["lost"] += count
        self._collected.problems.append(
            f"{batch.batch_id} was sent to {batch.provider!r}, which does not show it or its results: its {count} calls are booked at the most "
            "that they may have cost, and may be asked for again."
        )

    def _book(
        self, batch: CallBatch, model: RegisteredModel, lines: Sequence[BatchLine], found: ProviderBatch
    ) -> None:
        cheaper = discount(model)
        with self._ledger.read() as connection:
            sent = list_sent_calls(connection, batch.batch_id)
        wanted = [line for line in lines if line.call_key in sent]
        if not model.is_simulated and any(_is_simulation(line) for line in wanted):
            self._collected.problems.append(
                f"Model {model.name!r} is registered as real, but {model.provider!r} answers as a simulation: simulated answers "
                "must never enter a leaderboard. Correct the registry."
            )
        for some in _split(wanted):
            outcomes = [_read_outcome(batch, cheaper, line, sent[line.call_key]) for line in some]
            with self._ledger.write() as connection:
                finish_batch_calls(connection, batch, outcomes)
            for call, _ in outcomes:
                self._collected.counts[call.status] += 1
        if found.status == "failed" and not wanted:
            # The provider refused the batch as a whole before any of it was worked on.
            rest = _finish_rest(self._ledger, batch, "batch_failed", is_billed=False)
            self._collected.problems.append(
                f"{batch.provider!r} refused {batch.batch_id} as a whole: {found.error or 'no reason given'}."
            )
        else:
            # A line that is not there may have been worked on, and billed.
            rest = _finish_rest(self._ledger, batch, "missing", is_billed=True)
        if rest:
            self._collected.counts["failed"] += rest
        with self._ledger.write() as connection:
            end_batch(connection, batch, "ended")
        self._collected.counts["ended"] += 1


def _read_outcome(
    batch: CallBatch, model: RegisteredModel, line: BatchLine, worst_usd: float
) -> tuple[FinishedCall, float]:
    """What the ledger keeps of a line, at the batch's prices, and its cost beyond its reply."""
    outcome = line.outcome
    if isinstance(outcome, Failure):
        return _fail(batch, line.call_key, outcome.error), worst_usd if outcome.is_bill_unknown else 0.0
    done = describe_done(line.call_key, model, outcome, 1, None)
    unknown_usd = worst_usd if done.cost_usd is None else 0.0
    if _is_simulation(line) and not model.is_simulated:
        return _fail(batch, line.call_key, "mislabelled"), (done.cost_usd or 0.0) + unknown_usd
    return replace(done, holder=batch.batch_id), unknown_usd


def _finish_rest(ledger: Ledger, batch: CallBatch, error: str, *, is_billed: bool) -> int:
    """End the calls of which there is no result; returns how many."""
    with ledger.read() as connection:
        sent = list_sent_calls(connection, batch.batch_id)
    for some in _split(sorted(sent)):
        outcomes = [(_fail(batch, key, error), sent[key] if is_billed else 0.0) for key in some]
        with ledger.write() as connection:
            finish_batch_calls(connection, batch, outcomes)
    return len(sent)


def _fail(batch: CallBatch, key: str, error: str) -> FinishedCall:
    return FinishedCall(key, "failed", 1, error=error[:200], holder=batch.batch_id)


def _is_simulation(line: BatchLine) -> bool:
    return not isinstance(line.outcome, Failure) and line.outcome.fingerprint == SIMULATED_FINGERPRINT


def _split(items: Sequence[T]) -> Iterable[Sequence[T]]:
    return (
        items[start : start + CALLS_PER_TRANSACTION] for start in range(0, len(items), CALLS_PER_TRANSACTION)
    )


def _list_open(ledger: Ledger) -> list[CallBatch]:
    with ledger.read() as connection:
        return list_call_batches(connection, only_open=True)
