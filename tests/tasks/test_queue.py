"""Workers on two hosts take the sessions and judgements of a run, whoever of them is killed.

Nothing is lost, nothing is paid for twice but what was in flight at a kill, and the tables are those of one process alone.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import RunningServer
from schemas.settings import Settings
from tasks.running.sharing import count_sharers
from tests.paid_calls import count_calls
from tests.tasks.queue_worker import start_process
from tests.tasks.shared_run import (
    RUN,
    make_answerable_bank,
    make_values,
    plan_shared_run,
    read_tables,
    start_models,
)
from tests.tasks.test_shared_runs import share_on_postgresql
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.leases.jobs import list_jobs
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger

pytestmark = [pytest.mark.slow, pytest.mark.service]

# Two candidates sit each of the repeats; each is a session.
CANDIDATES = 2
# Calls that a process has in flight at most: those of one that is killed are made again.
IN_FLIGHT = 2
MEASURED_S = 30.0
WORKERS = {
    "w1": ("conduct", "host-1"),
    "w2": ("help", "host-1"),
    "w3": ("help", "host-2"),
    "w4": ("help", "host-2"),
}


class Workers:
    """The processes that share a run, and which were killed."""

    def __init__(
        self, values: list[dict[str, Any]], server: RunningServer, names: list[str], conducts: str = "conduct"
    ) -> None:
        self._values = {
            name: values[0 if WORKERS[name][1] == "host-1" else 1] | {"simulated_url": server.url}
            for name in names
        }
        self._conducts = conducts
        self.killed: list[str] = []
        self.processes: dict[str, ForkServerProcess] = {}

    def start(self, name: str, what: str | None = None) -> None:
        usual, host = WORKERS[name]
        what = what or (self._conducts if usual == "conduct" else usual)
        self.processes[name] = start_process(self._values[name], what, name, host)

    def kill(self, name: str) -> None:
        """`kill -9`, and the same worker again, as a service of its host would start it."""
        self.processes[name].kill()
        self.processes[name].join()
        self.killed.append(name)
        self.start(name)

    def stop(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.join()


@contextmanager
def working(workers: Workers) -> Iterator[None]:
    try:
        yield
    finally:
        workers.stop()


def kill_at_random(
    workers: Workers, server: RunningServer, names: list[str], calls: int, *, kills: int, luck: random.Random
) -> None:
    """Kill one of them so often, over the whole of the work, and wait for its end."""
    before = sum(server.state.answered.values())
    for number in range(kills):
        wanted = before + (number + luck.random()) * calls / kills * 0.95
        while sum(server.state.answered.values()) < wanted:
            assert workers.processes["w1"].exitcode in (None, -9), "who conducts has failed"
            time.sleep(0.005)
        workers.kill(luck.choice(names))
    workers.processes["w1"].join(600)
    assert workers.processes["w1"].exitcode == 0


def check_kills(postgresql: PostgresqlServer, tmp_path: Path, *, repeats: int, size: int, kills: int) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", str(time.time_ns() % 100_000)))
    print(f"seed {seed}")
    luck, names = random.Random(seed), list(WORKERS)
    bank = make_answerable_bank(size)
    alone = make_values(tmp_path / "alone", size, repeats=repeats)
    plan_shared_run(Settings(**alone), bank)
    with start_models(bank) as server:
        by_one = Workers([alone], server, ["w1"])
        with working(by_one):
            by_one.start("w1")
            by_one.processes["w1"].join()
            assert by_one.processes["w1"].exitcode == 0
        calls = len(server.state.repeats)
    values = [one | {"repeats": repeats} for one in share_on_postgresql(postgresql, tmp_path, size)[:2]]
    plan_shared_run(Settings(**values[0]), bank)
    with start_models(bank) as server:
        workers = Workers(values, server, names)
        with working(workers):
            for name in names:
                workers.start(name)
            kill_at_random(workers, server, names, calls, kills=kills, luck=luck)
        again = sum(server.state.repeats.values()) - len(server.state.repeats)
        print(f"killed {workers.killed}; asked again {again}")
        assert len(server.state.repeats) == calls
        assert again <= IN_FLIGHT * kills
    found, wanted_tables = read_tables(Settings(**values[0])), read_tables(Settings(**alone))
    assert len(found["responses"]) == len(found["judgements"]) == CANDIDATES * repeats * size
    for table, rows in wanted_tables.items():
        assert found[table] == rows, table
    with open_ledger(Settings(**values[0]).ledger_address) as ledger, ledger.read() as connection:
        assert count_calls(connection, RUN) == {"started": 0, "done": calls, "failed": 0}


def test_a_worker_of_four_on_two_hosts_is_killed_and_the_run_ends_as_by_one_process(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_kills(postgresql, tmp_path, repeats=2, size=6, kills=1)


@pytest.mark.long
def test_forty_kills_of_four_workers_on_two_hosts_in_six_thousand_answers(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_kills(postgresql, tmp_path, repeats=10, size=300, kills=40)


def measure_rate(postgresql: PostgresqlServer, folder: Path, names: list[str]) -> float:
    """Answers a second of so many workers, once each of them sits; a reply takes a second.

    Each worker has two calls in flight.
    """
    folder.mkdir()
    size, repeats = 6, 60
    bank = make_answerable_bank(size)
    values = [one | {"repeats": repeats} for one in share_on_postgresql(postgresql, folder, size)[:2]]
    plan_shared_run(Settings(**values[0]), bank)
    with start_models(bank, latency_ms=1000, latency_spread=0.0) as server:
        workers = Workers(values, server, names)
        with working(workers), open_ledger(Settings(**values[0]).ledger_address) as ledger:
            for name in names[1:]:
                workers.start(name)
            while count_sharers(ledger) < len(names):
                time.sleep(0.1)
            workers.start(names[0], "sit")
            while count_sitting(ledger) < len(names):
                time.sleep(0.1)
            began, before = time.monotonic(), sum(server.state.answered.values())
            time.sleep(MEASURED_S)
            answered = sum(server.state.answered.values()) - before
            took_s = time.monotonic() - began
            assert count_sitting(ledger) == len(names), "there was not enough to do for all"
    return answered / took_s


def count_sitting(ledger: Ledger) -> int:
    with ledger.read() as connection:
        return len({job.holder for job in list_jobs(connection, "sit", RUN)} - {None})


@pytest.mark.long
def test_two_workers_are_nearly_twice_as_fast_as_one_and_four_nearly_four_times(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    rates = {
        len(names): measure_rate(postgresql, tmp_path / str(len(names)), names)
        for names in (["w1"], ["w1", "w3"], ["w1", "w2", "w3", "w4"])
    }
    print(rates)
    assert rates[2] / rates[1] >= 1.8
    assert rates[4] / rates[1] >= 3.4
