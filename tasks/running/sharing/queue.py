"""Jobs of a run that any process of the installation takes.

Whoever conducts the run puts them there, and works on them too.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self, TypeVar

from schemas.ledger.engine import Job
from tasks.running.claiming import LEASE_S, make_worker
from warehouse.ledger.engine.leases.jobs import (
    defer_jobs,
    end_jobs,
    free_jobs,
    give_back_jobs,
    is_held,
    list_jobs,
    list_names,
    make_job,
    renew_jobs,
    take_jobs,
    withdraw_jobs,
)
from warehouse.ledger.engine.leases.renewal import Renewal
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.writer import Operation, name_job_row

T = TypeVar("T")

# What the lanes of jobs begin with whose calls go into batches: one process collects them, and nobody helps.
IN_BATCHES = "batches "
# Kind of the job that a worker holds while it lives.
WORKER = "worker"
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
    """Jobs of one kind that several processes share: each is one process's at a time.

    A context manager. At its end what is still held waits again; where this process conducts, what waits is withdrawn: nobody
    works on for a run that was stopped.

    Args:
        run_id: the run that other workers may help with; null for pieces that only processes with the same task take.
        is_conducting: whether this process puts the jobs there, and waits for their end.
    """

    def __init__(
        self, ledger: Ledger, kind: str, run_id: str | None = None, *, is_conducting: bool = False
    ) -> None:
        self._ledger = ledger
        self._kind = kind
        self._run_id = run_id
        self._is_conducting = is_conducting
        self._worker = make_worker()
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._renewal = Renewal(f"jobs-{kind}", self._renew, LEASE_S)

    def __enter__(self) -> Self:
        self._withdraw()
        return self

    def __exit__(self, *_: object) -> None:
        self._renewal.end()
        with self._ledger.write() as connection:
            give_back_jobs(connection, self._kind, sorted(self._held), self._worker.holder)
        self._withdraw()

    def take_named(self, names: Sequence[str]) -> set[str]:
        """Put these jobs there and take those that no living process has."""
        with self._ledger.write() as connection:
            defer_jobs(connection, [make_job(self._kind, name) for name in names])
            free_jobs(connection, self._kind)
            taken = take_jobs(connection, self._worker, self._kind, len(names), names=names)
        return set(self._note(taken))

    def end_named(self, names: Collection[str]) -> None:
        """Remove jobs that are done."""
        if names:
            self._forget(names)
            with self._ledger.write() as connection:
                end_jobs(connection, self._kind, names, self._worker.holder)

    async def defer(
        self, lanes: Mapping[str, str], details: Mapping[str, Mapping[str, Any]] | None = None
    ) -> None:
        """Put jobs there, in this order, each with its lane; those that are there stay as they are.

        `details` are what other processes begin them with, by name.
        """
        worker, told = os.environ.get(WORKER_VARIABLE, ""), details or {}
        waiting = [
            make_job(
                self._kind, name, self._run_id, lane=lane, place=place, details=told.get(name),
                deferred_by=worker,
            )
            for place, (name, lane) in enumerate(lanes.items())
        ]  # fmt: skip
        await self._run(lambda connection: defer_jobs(connection, waiting))

    async def take(
        self,
        most: int,
        lane: str,
        *,
        names: Collection[str] | None = None,
        most_tries: int | None = MOST_TRIES,
    ) -> list[Job]:
        """Take so many jobs of a lane that wait or whose holder is gone, and did not fail so often.

        With `names` only of these.
        """
        take_waiting = partial(
            take_jobs, worker=self._worker, kind=self._kind, most=most, run_id=self._run_id, lane=lane,
            names=names, most_tries=most_tries,
        )  # fmt: skip

        def take(connection: Connection) -> list[Job]:
            taken = take_waiting(connection)
            if not taken and free_jobs(connection, self._kind):
                taken = take_waiting(connection)
            return taken

        taken = await self._run(take)
        self._note(taken)
        return taken

    async def list_left(self) -> list[Job]:
        """All jobs of the run that are not done, held or not."""
        return await self._run(lambda connection: list_jobs(connection, self._kind, self._run_id))

    async def list_names(self) -> set[str]:
        """The names of all jobs of the run that are not done."""
        return await self._run(lambda connection: list_names(connection, self._kind, self._run_id))

    async def end(self, names: Sequence[str]) -> None:
        """Remove jobs that are done."""
        self._forget(names)
        await self._run(
            lambda connection: end_jobs(connection, self._kind, names, self._worker.holder), names
        )

    async def give_back(self, names: Sequence[str], problem: str | None = None, *, tries: int = 1) -> None:
        """Let jobs wait again; `problem` says why that was a try that failed, or so many."""
        self._forget(names)
        await self._run(
            lambda connection: give_back_jobs(
                connection, self._kind, names, self._worker.holder, problem=problem, tries=tries
            ),
            names,
        )

    def holds(self, name: str) -> bool:
        """Whether a job is still ours.

        A process that was stopped for a whole lease may have lost it.
        """
        return name in self._held and not self._renewal.is_lost

    def _withdraw(self) -> None:
        if self._is_conducting and self._run_id is not None:
            with self._ledger.write() as connection:
                withdraw_jobs(connection, self._kind, self._run_id)

    async def _run(self, operation: Operation[T], names: Collection[str] = ()) -> T:
        row = name_job_row(self._kind, min(names, default=""))
        return await self._ledger.writer.run_async(operation, row)

    def _note(self, taken: Sequence[Job]) -> list[str]:
        names = [job.name for job in taken]
        with self._lock:
            self._held.update(names)
        return names

    def _forget(self, names: Collection[str]) -> None:
        with self._lock:
            self._held.difference_update(names)

    def _renew(self) -> bool:
        with self._lock:
            before = set(self._held)
        if before:
            with self._ledger.write() as connection:
                kept = renew_jobs(connection, self._worker)
            with self._lock:
                self._held -= before - {name for _, name in kept}
        return True
