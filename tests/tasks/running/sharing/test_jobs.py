"""Jobs wait, are taken by one process at a time, and come back from who is gone.

Whoever conducts the run withdraws what waits at its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.flow_runs.server import do_jobs
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.running.sharing import MOST_TRIES, JobQueue
from warehouse.ledger.engine.leases.jobs import (
    end_jobs,
    free_jobs,
    give_back_jobs,
    list_jobs,
    list_waiting,
    take_jobs,
)
from warehouse.ledger.engine.leases.processes import open_lease, renew_lease
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        yield opened


def list_names(ledger: Ledger) -> dict[str, str | None]:
    with ledger.read() as connection:
        return {job.name: job.problem for job in list_jobs(connection, "sit", "r")}


async def take(jobs: JobQueue, most: int, lane: str) -> list[str]:
    taken = await jobs.take(most, lane)
    assert all(map(jobs.holds, taken))
    return [job.name for job in taken]


def open_leases(ledger: Ledger, *holders: str) -> None:
    with ledger.write() as connection:
        for number, holder in enumerate(holders):
            open_lease(connection, holder, host="host", process_id=number, lease_s=90.0)


def find_waiting(ledger: Ledger, worker: str) -> list[tuple[str, str]]:
    with ledger.read() as connection:
        return list_waiting(connection, worker=worker, closed_lanes="batches ", most_tries=MOST_TRIES)


def test_jobs_are_taken_once_in_their_order_and_lane_and_those_that_failed_last(ledger: Ledger) -> None:
    async def work() -> None:
        with (
            JobQueue(ledger, "sit", "r", is_conducting=True) as conducting,
            JobQueue(ledger, "sit", "r") as helping,
        ):
            await conducting.defer({"b": "x", "a": "x", "c": "y"})
            await conducting.defer({"a": "x", "d": "x"})
            assert find_waiting(ledger, "host-2") == [("sit", "r")]
            assert await take(conducting, 1, "x") == ["b"]
            taken = await helping.take(9, "x")
            assert [job.name for job in taken] == ["a", "d"]
            assert (await take(conducting, 9, "x"), await take(conducting, 9, "y")) == ([], ["c"])
            assert helping.holds(taken[0])
            assert not conducting.holds(taken[0])
            await helping.end(["d"])
            await helping.give_back(["a"], "The model does not answer.")
            await conducting.defer({"e": "x"})
            await conducting.give_back(["b"])
            # Who helps leaves the last try to who conducts.
            assert await take(helping, 9, "x") == ["b", "e"]
            await helping.give_back(["b", "e"])
            assert await take(conducting, 9, "x") == ["b", "e", "a"]
            await conducting.give_back(["a"], "The model does not answer.")
            # It has failed as often as it is tried, and is there to be reported.
            assert await take(conducting, 9, "x") == []
            assert list_names(ledger) == dict.fromkeys("bce") | {"a": "The model does not answer."}

    asyncio.run(work())
    assert list_names(ledger) == {}, "what waits is withdrawn by who conducts, and what was held waited again"


def test_who_goes_on_in_another_way_than_one_that_was_killed_finds_its_jobs(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_leases(ledger, "killed")

    async def work() -> list[str]:
        with JobQueue(ledger, "sit", "r") as jobs:
            await jobs.defer({"a": "batches x", "b": "batches x"})
            with ledger.write() as connection:
                take_jobs(connection, "killed", "sit", 1, run_id="r")
            await jobs.defer({"a": "x", "b": "x"})
            assert await take(jobs, 9, "x") == ["b"]
            # What is held stays as its holder has it, and is moved when that is gone.
            with ledger.write() as connection:
                monkeypatch.setattr("warehouse.ledger.engine.leases.processes.is_dead", lambda *_: True)
                free_jobs(connection)
            await jobs.defer({"a": "x", "b": "x"})
            return await take(jobs, 9, "x")

    assert "a" in asyncio.run(work())


def test_who_was_stopped_for_too_long_ends_nothing_of_who_has_its_job_now(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped, later = "a", "b"
    open_leases(ledger, stopped)

    async def defer() -> None:
        with JobQueue(ledger, "sit", "r") as jobs:
            await jobs.defer({"s": "x"})

    asyncio.run(defer())
    with ledger.write() as connection:
        assert [job.name for job in take_jobs(connection, stopped, "sit", 1)] == ["s"]
        assert free_jobs(connection) == 0
        assert take_jobs(connection, later, "sit", 1) == []
        with monkeypatch.context() as patch:
            patch.setattr("warehouse.ledger.engine.leases.processes.is_dead", lambda *_: True)
            assert free_jobs(connection) == 1
    open_leases(ledger, later)
    with ledger.write() as connection:
        assert not renew_lease(connection, stopped, lease_s=90.0)
        assert [job.name for job in take_jobs(connection, later, "sit", 1)] == ["s"]
        end_jobs(connection, "sit", ["s"], stopped)
        give_back_jobs(connection, "sit", ["s"], stopped, problem="no")
        (job,) = list_jobs(connection, "sit", "r")
        assert (job.holder, job.tries, job.problem) == (later, 0, None)


def test_a_worker_leaves_to_its_own_run_what_that_put_there_and_to_one_process_what_goes_into_batches(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        with JobQueue(ledger, "sit", "r", is_conducting=True) as jobs:
            monkeypatch.setenv("PROCTOR_WORKER", "host-1")
            await jobs.defer({"a": "x"})
            assert (find_waiting(ledger, "host-1"), find_waiting(ledger, "host-2")) == ([], [("sit", "r")])
        with JobQueue(ledger, "sit", "r", is_conducting=True) as jobs:
            await jobs.defer({"a": "batches x"})
            assert find_waiting(ledger, "host-2") == []

    asyncio.run(work())


def test_nobody_helps_where_the_ledger_is_a_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="ledger is a file"):
        do_jobs(Settings(home=tmp_path))
