"""Calls through a provider's batches, for tests.

As a process of its own, it can be killed at a named moment. `python -m tests.tasks.models.batch_work ADDRESS
URL MOMENT` submits, or collects, and dies there.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.settings import Settings
from tasks.models.batches import batching
from tasks.models.batches import collection as batch_collection
from tasks.models.batches.batching import BatchClient
from tasks.models.batches.collection import Collected, collect_batches
from tasks.models.budget.reservations import open_budget
from tasks.models.client import CallReply, CallRequest
from tasks.models.providers.openai_batches import OpenAIBatches
from tasks.models.registry.file import BatchTerms
from tasks.models.registry.models import RegisteredModel, Registry
from tests.tasks.models.simulation import make_model, make_request
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

CALLS = 12
BUDGET_USD = 1.0
# Where a process is killed, in the order of a batch's life.
MOMENTS = (
    "gathering",
    "before_upload",
    "after_upload",
    "before_create",
    "after_create",
    "looking",
    "reading",
    "booking",
    "before_end",
    "before_delete",
)


@dataclass
class Round:
    """What one command came to."""

    collected: Collected
    outcomes: list[CallReply | BaseException]
    counts: dict[str, int]
    pending: int
    submitted: int
    problems: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str | None]:
        return [one.text if isinstance(one, CallReply) else None for one in self.outcomes]


def make_batched(name: str = "sim", **changes: Any) -> RegisteredModel:
    """A simulated model that takes batches, of any size, at half the price."""
    return make_model(name, **({"batch": BatchTerms(least_requests=1)} | changes))


def make_requests(count: int = CALLS) -> list[CallRequest]:
    return [make_request(number) for number in range(count)]


def work(
    ledger: Ledger,
    url: str,
    requests: Sequence[CallRequest] | None = None,
    model: RegisteredModel | None = None,
    *,
    budget_usd: float | None = BUDGET_USD,
    looked_for_s: float = 0.0,
    others: Sequence[RegisteredModel] = (),
) -> Round:
    """Collect, ask for everything, submit what is not known: what a command does with `--batch`."""
    os.environ["PROCTOR_SIMULATED_URL"] = url
    settings = Settings(home=Path("unused"), budget_usd=budget_usd)
    chosen = model or make_batched()
    asked = make_requests() if requests is None else requests

    async def run() -> Round:
        registry = Registry({one.name: one for one in (chosen, *others)})
        collected = await collect_batches(ledger, settings, registry, looked_for_s=looked_for_s)
        async with BatchClient(ledger, settings, budget=open_budget(ledger, budget_usd, "run-1")) as client:
            while True:
                outcomes = await asyncio.gather(
                    *(client.complete(chosen, request) for request in asked), return_exceptions=True
                )
                if not await client.submit():
                    break
            return Round(
                collected,
                list(outcomes),
                dict(client.counts),
                len(client.pending),
                client.submitted,
                client.problems,
            )

    return asyncio.run(run())


def _die(*_: object, **__: object) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def _then_die(function: Callable[..., Any]) -> Callable[..., Any]:
    async def done(*words: Any, **options: Any) -> Any:
        await function(*words, **options)
        _die()

    return done


def arm(moment: str) -> None:
    """Let this process die at the moment."""
    submitting: Any = batching
    collecting: Any = batch_collection
    provider: Any = OpenAIBatches
    if moment == "gathering":
        gather = submitting.gather_calls

        def gather_twice(*words: Any) -> Any:
            submitting.gather_calls = _die
            return gather(*words)

        submitting.CALLS_PER_TRANSACTION = CALLS // 2
        submitting.gather_calls = gather_twice
    elif moment == "before_upload":
        provider.upload_requests = _die
    elif moment == "after_upload":
        provider.upload_requests = _then_die(provider.upload_requests)
    elif moment == "before_create":
        provider.create_batch = _die
    elif moment == "after_create":
        provider.create_batch = _then_die(provider.create_batch)
    elif moment == "looking":
        provider.look_at_batch = _then_die(provider.look_at_batch)
    elif moment == "reading":
        provider.read_results = _then_die(provider.read_results)
    elif moment == "booking":
        finish = collecting.finish_batch_calls

        def finish_once(*words: Any) -> Any:
            collecting.finish_batch_calls = _die
            return finish(*words)

        collecting.CALLS_PER_TRANSACTION = CALLS // 2
        collecting.finish_batch_calls = finish_once
    elif moment == "before_end":
        collecting.end_batch = _die
    elif moment == "before_delete":
        provider.delete_files = _die


if __name__ == "__main__":
    address, url, moment = sys.argv[1:]
    arm(moment)
    with open_ledger(address) as opened:
        work(opened, url)
        work(opened, url)
    raise SystemExit("it was to be killed")
