"""Ordinary company: other commands begin and end beside a long one on the same home.

Neither the others nor the long one is affected.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest

from schemas.settings import Settings
from tests.e2e.company import COMMANDS, Company, LockWatch, keep_company, start, watching_locks
from tests.e2e.conftest import Demo, Home
from tests.e2e.test_server_backup import Servers
from tests.warehouse.ledger.postgresql import start_postgresql
from tests.warehouse.object_store import start_object_store
from warehouse.lake import open_lake

pytestmark = pytest.mark.prefect

MONTH = "2026-12"
CANDIDATES = ("sim-cirrus-mini", "sim-dune-4")


@dataclass
class Long:
    """What a long command, begun again while the company is there, came to.

    Attributes:
        seen: looks that found one of its stores open and locked.
        lock_faults: what `LockWatch` found.
        faults: how it failed.
        repeated: calls that had to be sent again after a death.
    """

    seen: int = 0
    lock_faults: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    repeated: int = 0

    def take(self, watch: LockWatch) -> None:
        self.seen += watch.seen
        self.lock_faults |= watch.faults


@contextmanager
def simulated(home: Home) -> Iterator[Home]:
    """The simulated models of a home's bank, beside it."""
    from tasks.exam.month import read_current_bank
    from tests.deployments.demo.kit import running_models

    settings = Settings(home=home.path)
    with open_lake(settings, read_only=True) as lake:
        bank = read_current_bank(lake)
    with running_models(settings, bank) as url:
        yield replace(home, variables={**home.variables, "PROCTOR_SIMULATED_URL": url})


@pytest.fixture
def busy(demo: Demo, tmp_path: Path) -> Iterator[Home]:
    """A copy of the demo's home and its models.

    Further months can be run in it, one call at a time.
    """
    small = {"PROCTOR_SET_SIZE": "20", "PROCTOR_REPEATS": "1", "PROCTOR_CALL_CONCURRENCY": "1"}
    with simulated(demo.home.copy(tmp_path / "home", **small)) as home:
        yield home


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "paper.txt"
    path.write_text(
        "一、判断题\n1. 水在标准大气压下于一百摄氏度沸腾。（√）\n2. 月球自己发光。（×）\n", "utf-8"
    )
    return path


@contextmanager
def visited(company: Callable[[], Company]) -> Iterator[tuple[threading.Thread, list[Company]]]:
    """The company comes while the block runs, and has left at its end."""
    found: list[Company] = []
    guest = threading.Thread(target=lambda: found.append(company()))
    try:
        yield guest, found
    finally:
        if guest.ident is not None:
            guest.join()


def run_beside(
    home: Home, company: Callable[[], Company], folder: Path, *rounds: Sequence[str]
) -> tuple[Long, Company]:
    """Run a command, and the last one of `rounds` again and again until the company has left.

    `{n}` is the round.
    """
    found = Long()
    log = folder / "long.log"
    with visited(company) as (guest, companies):
        number = 0
        while number < len(rounds) or guest.is_alive():
            arguments = [part.format(n=number) for part in rounds[min(number, len(rounds) - 1)]]
            number += 1
            output = folder / f"long-{number}.json"
            process = start(home, *arguments, log=log, output=output)
            with watching_locks(process.pid, home.path) as watch:
                if guest.ident is None:
                    wait_for_ledger(home, process)
                    guest.start()
                process.wait(timeout=3600)
            found.take(watch)
            # 3: a quality gate, which few answers may shut.
            if process.returncode not in (0, 3):
                found.faults.append(
                    f"{arguments} ended with {process.returncode}: {log.read_text()[-800:]} {output.read_text()[-400:]}"
                )
                break
            printed = json.loads(output.read_text())
            calls = (printed.get("calls", {}), printed.get("judge_calls", {}))
            found.repeated += sum(one.get("repeated", 0) for one in calls)
    return found, companies[0]


def wait_for_ledger(home: Home, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 300
    while not (home.path / "ledger.sqlite").exists() and "PROCTOR_LEDGER_URL" not in home.variables:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def monthly(number: int = 0) -> list[str]:
    return ["monthly", "--month", MONTH, "--repetition", "r{n}", "--candidates", ",".join(CANDIDATES), "--yes", "--no-server",
            "--json"]  # fmt: skip


def check(long: Long, company: Company, commands: Sequence[str], *, has_locks: bool = True) -> None:
    print(f"\n{company.counts.total()} commands {dict(company.counts)}; locks seen {long.seen} times")
    for fault in [*long.faults, *sorted(long.lock_faults), *company.faults]:
        print("FAULT", fault)
    assert (long.faults, long.lock_faults, company.faults) == ([], set(), [])
    assert long.repeated == 0
    assert long.seen > 0 or not has_locks
    assert company.counts.total() == len(commands)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["months", "two months at once", "demo", "exam serve", "web", "worker"])
def test_fifty_commands_beside_each_long_one(kind: str, busy: Home, tmp_path: Path, paper: Path) -> None:
    if kind == "demo":
        busy = replace(busy, path=tmp_path / "new", variables={})
    long, company = keep_beside(kind, busy, tmp_path, paper)
    check(long, company, COMMANDS)


@pytest.mark.long
@pytest.mark.service
@pytest.mark.parametrize("kind", ["months", "exam serve", "web", "worker"])
def test_fifty_commands_beside_each_long_one_on_servers(
    kind: str, demo: Demo, busy: Home, tmp_path: Path, paper: Path
) -> None:
    with start_postgresql() as postgresql, start_object_store() as store:
        home = Servers(postgresql, store).move(busy, tmp_path / f"moved-{kind.split()[0]}")
        demo.home.run("backup", str(tmp_path / "backup"))
        home.run("restore", str(tmp_path / "backup"))
        if kind == "exam serve":
            # On a server the exam API has a role of its own, which sees no review and no judgement.
            role = home.read_json("exam", "database", "--role", "proctor_exam")
            home = replace(home, variables={**home.variables, "PROCTOR_EXAM_DATABASE_URL": role["url"]})
        long, company = keep_beside(kind, home, tmp_path, paper)
        check(long, company, COMMANDS, has_locks=False)


def keep_beside(kind: str, home: Home, folder: Path, paper: Path) -> tuple[Long, Company]:
    def company() -> Company:
        return keep_company(home, COMMANDS, folder, paper)

    if kind == "months":
        return run_beside(home, company, folder, monthly())
    if kind == "two months at once":
        # The company of the first is the second, which has company itself.
        other = folder / "other"
        other.mkdir()
        both: list[Long] = []

        def second() -> Company:
            arguments = monthly()
            arguments[4] = "s{n}"
            long, found = run_beside(home, company, other, arguments)
            both.append(long)
            return found

        long, found = run_beside(home, second, folder, monthly())
        long.faults += both[0].faults
        long.lock_faults |= both[0].lock_faults
        long.repeated += both[0].repeated
        return long, found
    if kind == "demo":
        return run_beside(home, company, folder, ["demo", "--no-server", "--json"])
    if kind == "worker":
        return keep_beside_worker(home, company, folder)
    return keep_beside_server(kind, home, company, folder)


def keep_beside_server(
    kind: str, home: Home, company: Callable[[], Company], folder: Path
) -> tuple[Long, Company]:
    """A server that answers all the while."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    found, log = Long(), folder / "server.log"
    process = start(home, *kind.split(), "--port", str(port), log=log)
    ended = threading.Event()
    refused: list[str] = []
    page = "/health" if kind == "exam serve" else "/sign-in"

    def ask() -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            while not ended.wait(0.05):
                with suppress(httpx.TransportError):
                    reply = client.get(page)
                    if reply.status_code >= 500:
                        refused.append(f"{page} answered {reply.status_code}")

    asking = threading.Thread(target=ask)
    try:
        wait_for_port(port, process, log)
        asking.start()
        with watching_locks(process.pid, home.path) as watch:
            done = company()
        found.take(watch)
        if process.poll() is not None:
            found.faults.append(f"{kind} ended with {process.returncode}: {log.read_text()[-800:]}")
        words = [line for line in log.read_text().splitlines() if "Traceback" in line or "cannot be" in line]
        found.faults += [*sorted(set(refused)), *words]
    finally:
        ended.set()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=120)
    return found, done


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 300
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert process.poll() is None, log.read_text()[-800:]
        assert time.monotonic() < deadline
        time.sleep(0.1)


def keep_beside_worker(home: Home, company: Callable[[], Company], folder: Path) -> tuple[Long, Company]:
    """The worker of `proctor up`, beside company.

    Runs of the nightly checks and of the sweep are made for it while there is company.
    """
    from deployments.flow_runs.server import read_state

    found = Long()
    local = replace(home, variables={**home.variables, "PROCTOR_BUDGET_USD": "100"})
    with ExitStack() as stack:
        local.run("up")
        stack.callback(local.run, "down", exit_code=None)
        local.run("deploy")
        state = read_state(Settings(home=home.path))
        assert state is not None
        name, _, password = state.auth.partition(":")
        client = stack.enter_context(httpx.Client(base_url=state.api_url, auth=(name, password), timeout=60))
        ended = threading.Event()
        made: list[str] = []

        def make_runs() -> None:
            while not ended.wait(10):
                for flow in ("sweep", "checks"):
                    deployment = client.get(f"/deployments/name/{flow}/{flow}")
                    if deployment.status_code == 503:  # Prefect's own database is busy.
                        continue
                    address = f"/deployments/{deployment.raise_for_status().json()['id']}/create_flow_run"
                    reply = client.post(address, json={"state": {"type": "SCHEDULED"}})
                    if reply.status_code != 503:
                        made.append(reply.raise_for_status().json()["id"])

        making = threading.Thread(target=make_runs)
        making.start()
        assert state.worker_pid is not None
        with watching_locks(state.worker_pid, home.path) as watch:
            try:
                done = company()
            finally:
                ended.set()
                making.join()
        found.take(watch)
        deadline = time.monotonic() + 600
        asked = {"flow_runs": {"id": {"any_": made}}, "limit": 200}
        while True:
            states = [one["state_name"] for one in client.post("/flow_runs/filter", json=asked).json()]
            if not {"Scheduled", "Late", "Pending", "Running", "AwaitingConcurrencySlot"} & set(states):
                break
            assert time.monotonic() < deadline, states
            time.sleep(1)
        # A run that finds another of its kind under way is cancelled: one does what all would do.
        found.faults += [state for state in states if state not in ("Completed", "Cancelled")]
        assert "Completed" in states
    (folder / "states").write_text(json.dumps(states))
    return found, done
