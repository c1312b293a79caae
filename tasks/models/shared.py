"""Calls that any worker makes: each is a job of its run until its reply is in the ledger.

Whoever needs the replies makes calls too. A call is paid for once, by its `started` row, whoever makes it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, fields
from types import TracebackType
from typing import Any, Final, Self

from schemas.errors import BudgetError, RegistryError
from schemas.ledger.engine import Job
from schemas.settings import Settings
from tasks.models.budget import open_budget
from tasks.models.client import CallFailed, CallReply, CallRequest, ModelClient, compute_call_key
from tasks.models.registry import RegisteredModel, Registry, check_callable, read_registry
from tasks.running.claiming import POLL_S
from tasks.running.sharing import Crew, JobQueue, Turns
from warehouse.ledger.engine.ledger import Ledger

# Kind of the jobs.
CALL: Final = "call"
# What such a job is begun with.
_DETAILS: Final = {"model", "request", "budget_usd"}
# Calls worth asking for at once, for each that this process may have in flight: the others are workers'.
_SHARES: Final = 8
# A worker waits so long for further calls: those of a round follow from each other.
_PATIENCE_S: Final = 5.0


class SharedClient(ModelClient):
    """A client whose calls are jobs of the run, taken by this process and by every worker.

    Where the ledger is a file it makes them all itself, as it does those with pictures.

    Args:
        run_id: what the calls are for, and paid for. Of two processes with a client of one run each takes away what the other has
            put there, which makes those calls itself.
        budget_usd: what the run may cost; null for no limit.
        options: further ones of ModelClient.
    """

    def __init__(
        self, ledger: Ledger, settings: Settings, run_id: str, budget_usd: float | None, **options: Any
    ) -> None:
        super().__init__(ledger, settings, budget=open_budget(ledger, budget_usd, run_id), **options)
        self._budget_usd = budget_usd
        self._places: dict[str, int] = {}
        self._turns: Turns | None = None
        if settings.ledger_url is not None:
            self._turns = Turns(JobQueue(ledger, CALL, run_id, is_conducting=True), self._places)

    @property
    def breadth(self) -> int:
        """How many calls of a model are worth asking for at once."""
        return super().breadth * (1 if self._turns is None else _SHARES)

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        if self._turns is not None:
            await self._turns.__aenter__()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _value: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._turns is not None:
            await self._turns.__aexit__()
        await super().__aexit__(_type, _value, _trace)

    async def _complete(
        self, key: str, model: RegisteredModel, request: CallRequest, parameters: dict[str, Any]
    ) -> CallReply:
        if self._turns is None or request.pictures:
            return await super()._complete(key, model, request, parameters)
        self._places[model.lane] = model.max_concurrency or self._settings.call_concurrency
        details = {"model": model.name, "request": asdict(request), "budget_usd": self._budget_usd}
        async with self._turns.take(key, model.lane, details):
            return await super()._complete(key, model, request, parameters)


def help_with_calls(ledger: Ledger, settings: Settings, run_id: str) -> dict[str, int]:
    """Make what calls wait of the run, until none does; returns counts.

    Raises BudgetError where the run may not cost more, RegistryError where other calls would be made here.
    """
    return {"calls": asyncio.run(_make_calls(ledger, settings, run_id))}


async def _make_calls(ledger: Ledger, settings: Settings, run_id: str) -> int:
    registry = read_registry(settings.registry_path)
    made = 0
    with JobQueue(ledger, CALL, run_id) as jobs:
        waiting = await jobs.list_left()
        if not waiting:
            return 0
        budget = open_budget(ledger, _read_details(waiting[0])["budget_usd"], run_id)
        async with ModelClient(ledger, settings, budget=budget) as client:

            async def make(job: Job) -> bool:
                nonlocal made
                model, request = _read_call(job, registry)
                # Who needs the reply makes a call that failed here, and reports it; where nobody does, nothing is left of it.
                with suppress(CallFailed):
                    await client.complete(model, request)
                made += 1
                return True

            places = _list_places(registry, settings)
            # Of what cannot be asked here others may ask, and the calls of other models may fare alike: this host leaves them all.
            crew = Crew(jobs, make, places, ends_by=(BudgetError, RegistryError))
            quiet_since = time.monotonic()
            while time.monotonic() - quiet_since < _PATIENCE_S:
                before = made
                await crew.work()
                if made > before:
                    quiet_since = time.monotonic()
                await asyncio.sleep(POLL_S)
    return made


def _list_places(registry: Registry, settings: Settings) -> dict[str, int]:
    """The lanes of which every model can be called from here.

    A host without a key takes no call whose try it would use up.
    """
    places: Counter[str] = Counter()
    closed: set[str] = set()
    for model in registry.models.values():
        places[model.lane] = model.max_concurrency or settings.call_concurrency
        try:
            check_callable([model])
        except RegistryError:
            closed.add(model.lane)
    return {lane: count for lane, count in places.items() if lane not in closed}


def _read_call(job: Job, registry: Registry) -> tuple[RegisteredModel, CallRequest]:
    """The model and what is asked of it.

    Raises RegistryError where another call would be made here.
    """
    told = _read_details(job)
    model, request = registry.get(told["model"]), CallRequest(**{**told["request"], "pictures": ()})
    if compute_call_key(model, request, {**model.parameters, **request.parameters}) != job.name:
        raise RegistryError(
            f"{model.name} is registered otherwise on this host than where its calls come from. Give both the same registry."
        )
    return model, request


def _read_details(job: Job) -> dict[str, Any]:
    """What the job is begun with, as this version puts it there.

    Raises RegistryError where another version did: its fields may change what is asked.
    """
    told = job.details or {}
    asked = told.get("request") or {}
    if told.keys() != _DETAILS or asked.keys() != {one.name for one in fields(CallRequest)}:
        raise RegistryError(
            "The calls of this run were put there by another version of Proctor, and are left to its workers. "
            "Bring this host to the version of the others."
        )
    return told
