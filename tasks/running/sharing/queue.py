"""Jobs of a run that any process of the installation takes.

Whoever conducts the run puts them there, and works on them too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final, Self, TypeVar

from schemas.ledger.engine import Job
from warehouse.ledger.engine.leases.jobs import (
    defer_jobs,
    end_jobs,
    give_back_jobs,
    is_held,
    list_holders,
    list_jobs,
    take_jobs,
    withdraw_jobs,
)
from warehouse.ledger.engine.leases.presence import Presence
from warehouse.ledger.engine.leases.processes import WORKER
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.writer import name_job_row

T = TypeVar("T")

# What the lanes of jobs begin with whose calls go into batches: one process collects them, and nobody helps.
IN_BATCHES = "batches "
# A job is tried so often, by whichever processes.
MOST_TRIES = 2
# Where `proctor worker` says to the runs that it starts which worker they are on.
WORKER_VARIABLE: Final = "PROCTOR_WORKER"
# The pool of our workers; those of other kinds are named `proctor-KIND`.
WORK_POOL: Final = "proctor"


def count_sharers(ledger: Ledger) -> int:
    """Processes that share a run now: this one, and one for every other worker."""
    own = os.environ.get(WORKER_VARIABLE, "")
    with ledger.read() as connection:
        return 1 + sum(job.name != own and is_held(connection, job) for job in list_jobs(connection, WORKER))


class JobQueue:
    """Jobs of one kind of a run that several processes share: each is one process's at a time.

    A context manager. At its end what is still held waits again; where this process conducts, what waits is withdrawn: nobody
    works on for a run that was stopped. Who helps leaves the last try of a job to who conducts.

    Args:
        is_conducting: whether this process puts the jobs there, and waits for their end.
    """

    def __init__(self, ledger: Ledger, kind: str, run_id: str, *, is_conducting: bool = False) -> None:
        self._ledger = ledger
        self._kind = kind
        self._run_id = run_id
        self._is_conducting = is_conducting
        self._most_tries = MOST_TRIES if is_conducting else MOST_TRIES - 1
        self._presence = Presence(ledger)

    def __enter__(self) -> Self:
        self._withdraw()
        return self

    def __exit__(self, *_: object) -> None:
        self._presence.close()
        self._withdraw()

    async def defer(
        self, lanes: Mapping[str, str], details: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Put jobs there, in this order, each with its lane; those that are there stay as they are.

        `details` are what other processes begin them with, by name.
        """
        worker, told = os.environ.get(WORKER_VARIABLE, ""), details or {}
        waiting = [
            Job(
                kind=self._kind, name=name, run_id=self._run_id, lane=lane, place=place,
                details=dict(told[name]) if name in told else None, deferred_by=worker,
            )
            for place, (name, lane) in enumerate(lanes.items())
        ]  # fmt: skip
        await self._run(lambda connection, **_: defer_jobs(connection, waiting))

    async def take(
        self, most: int, lane: str, *, names: Collection[str] | None = None, is_asked: bool = False
    ) -> list[Job]:
        """Take so many jobs of a lane that wait or whose holder is gone, and did not fail too often.

        With `names` only of these; `is_asked`: however often they failed.
        """
        most_tries = None if is_asked else self._most_tries
        return await self._run(
            take_jobs, holder=self._presence.holder, most=most, run_id=self._run_id, lane=lane, names=names,
            most_tries=most_tries,
        )  # fmt: skip

    async def list_left(self) -> list[Job]:
        """All jobs of the run that are not done, held or not."""
        return await self._run(list_jobs, run_id=self._run_id)

    async def list_holders(self) -> dict[str, str | None]:
        """Who holds each job of the run that is not done, by its name; null: it waits."""
        return await self._run(list_holders, run_id=self._run_id)

    async def end(self, names: Collection[str]) -> None:
        """Remove jobs that are done."""
        await self._run(end_jobs, names=names, holder=self._presence.holder)

    async def give_back(self, names: Collection[str], problem: str | None = None, *, tries: int = 1) -> None:
        """Let jobs wait again; `problem` says why that was a try that failed, or so many."""
        holder = self._presence.holder
        await self._run(give_back_jobs, names=names, holder=holder, problem=problem, tries=tries)

    def holds(self, job: Job) -> bool:
        """Whether a job that was taken is still ours.

        A process that was stopped for a whole lease may have lost it.
        """
        return self._presence.has(job.holder)

    def _withdraw(self) -> None:
        if self._is_conducting:
            # By the writer: what it was given before would still be put there, or taken.
            withdraw = partial(withdraw_jobs, kind=self._kind, run_id=self._run_id)
            self._ledger.writer.run(withdraw, name_job_row(self._kind, ""))

    async def _run(self, operation: Callable[..., T], **chosen: Any) -> T:
        row = name_job_row(self._kind, min(chosen.get("names") or (), default=""))
        return await self._ledger.writer.run_async(partial(operation, kind=self._kind, **chosen), row)
