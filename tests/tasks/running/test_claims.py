"""A claim holds over processes and connections, is renewed, and outlives nobody."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from uuid import uuid4

import pytest

from schemas.errors import StoreError
from schemas.ledger.engine import Job
from tasks.running.claiming import claim_work
from tests.warehouse.test_lake_postgres import server as postgres
from tests.warm import ROOT, WarmProcess
from warehouse.ledger.engine.leases import presence
from warehouse.ledger.engine.leases.jobs import hold_job, list_jobs, read_job
from warehouse.ledger.engine.leases.processes import (
    WORKER,
    close_lease,
    count_live_processes,
    name_host,
    open_lease,
)
from warehouse.ledger.engine.ledger import Connection
from warehouse.ledger.engine.opening import open_ledger

__all__ = ["postgres"]

HOLDER = """
import sys, time
from tasks.running.claiming import claim_work
from warehouse.ledger.engine.opening import open_ledger
with open_ledger(sys.argv[1]) as ledger, claim_work(ledger, "judge", "run-1", what="judging run-1"):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'ledger.sqlite'}"


def test_another_connection_is_refused_while_a_claim_is_held_and_not_after_it(url: str) -> None:
    with open_ledger(url) as first, open_ledger(url) as second:
        with claim_work(first, "judge", "run-1", what="judging run-1"):
            with (
                pytest.raises(
                    StoreError, match=rf"Process {os.getpid()} on .* is judging run-1\. Wait for it"
                ),
                claim_work(second, "judge", "run-1", what="judging run-1"),
            ):
                raise AssertionError("two hold it")
            with claim_work(second, "judge", "run-2", what="judging run-2"):
                pass
        with claim_work(second, "judge", "run-1", what="judging run-1"):
            pass


@pytest.mark.service
def test_two_hosts_share_claims_on_postgresql(postgres: str) -> None:
    host = postgres.split()[0].removeprefix("host=")
    address = f"postgresql://postgres@/postgres?host={host}"
    with open_ledger(address) as first, open_ledger(address) as second:
        with (
            claim_work(first, "judge", "run-1", what="judging run-1"),
            pytest.raises(StoreError, match="is judging run-1"),
            claim_work(second, "judge", "run-1", what="judging run-1"),
        ):
            raise AssertionError("two hold it")
        with claim_work(second, "judge", "run-1", what="judging run-1"):
            pass


def test_what_raises_lets_go_of_its_claim(url: str) -> None:
    with open_ledger(url) as ledger:
        with pytest.raises(KeyboardInterrupt), claim_work(ledger, "judge", "run-1", what="judging"):
            raise KeyboardInterrupt
        with ledger.read() as connection:
            assert read_job(connection, "judge", "run-1") is None


def test_the_claim_of_a_process_that_was_killed_here_is_taken_over_at_once(
    url: str, warm_python: str
) -> None:
    with open_ledger(url) as ledger:
        child = WarmProcess([warm_python, "-c", HOLDER, url], stdout=subprocess.PIPE, cwd=ROOT)
        try:
            assert child.stdout is not None
            assert child.stdout.readline().strip() == "held"
            with (
                pytest.raises(StoreError, match=f"Process {child.find_number()} on"),
                claim_work(ledger, "judge", "run-1", what="judging run-1"),
            ):
                raise AssertionError("two hold it")
        finally:
            child.kill()
            child.communicate()
        with claim_work(ledger, "judge", "run-1", what="judging run-1"):
            pass


def test_a_claim_is_renewed_while_the_work_goes_on_and_expires_when_it_is_not(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "LEASE_S", 0.6)
    with open_ledger(url) as first, open_ledger(url) as second:
        with claim_work(first, "judge", "run-1", what="judging"):
            time.sleep(1.5)
            with pytest.raises(StoreError), claim_work(second, "judge", "run-1", what="judging"):
                raise AssertionError("two hold it")
        # Another host's claim, which nobody renews.
        monkeypatch.setattr(presence, "renew_lease", lambda *_, **__: True)
        monkeypatch.setattr(presence, "LEASE_S", 0.2)
        with claim_work(first, "judge", "run-1", what="judging"):
            time.sleep(0.4)
            with claim_work(second, "judge", "run-1", what="judging"):
                pass


def test_who_was_taken_for_dead_is_told_and_goes_on_under_another_name(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "LEASE_S", 0.6)
    with open_ledger(url) as ledger, presence.Presence(ledger) as own:
        first = own.holder
        with ledger.write() as connection:
            assert hold_job(connection, Job(kind="judge", name="run-1"), first) is None
            close_lease(connection, first)
        while own.has(first):
            time.sleep(0.02)
        assert own.holder != first
        with pytest.raises(StoreError, match="has taken over judging"):  # noqa: SIM117 - what raises is its end
            with claim_work(ledger, "judge", "run-1", what="judging"):
                with ledger.write() as connection:
                    close_lease(connection, read_holder(connection))
                # As long as it takes to renew what is there no more.
                time.sleep(0.6)
        with ledger.read() as connection:
            assert read_holder(connection) == ""


def read_holder(connection: Connection) -> str:
    """Who holds the one job."""
    (job,) = list_jobs(connection, "judge")
    return job.holder or ""


def test_a_process_counts_once_whatever_it_holds_and_a_worker_that_waits_does_not(url: str) -> None:
    with open_ledger(url) as ledger:
        with ledger.write() as connection:
            # As if it were another process.
            open_lease(connection, "worker", host="far", process_id=1, lease_s=90.0)
            hold_job(connection, Job(kind=WORKER, name="w1"), "worker")
        with claim_work(ledger, "judge", "run-1", what="judging"), ledger.write() as connection:
            assert count_live_processes(connection) == {name_host(): 1}
            for number in (2, 2, 3):
                open_lease(connection, str(uuid4()), host="far", process_id=number, lease_s=90.0)
            assert count_live_processes(connection) == {name_host(): 1, "far": 2}
