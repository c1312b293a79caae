"""`kill -9` in the middle of judging and replaying: no call is paid for twice.

The same holds for two processes that judge at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.model_server import RunningServer
from schemas.settings import Settings
from tests.fresh import open_new_lake
from tests.paid_calls import count_calls
from tests.tasks.judging.test_unparsed import QUESTIONS, REGISTRY, land_session
from tests.tasks.models.simulation import start_server
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warm import ROOT, WarmProcess
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger

pytestmark = pytest.mark.slow

IN_FLIGHT, SERVED = 4, 5
REPLAYED = 40
SLOW = {"latency_ms": 60, "latency_spread": 0.3}
JUDGE = {"kind": "judge", "latency_ms": 200}


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with start_server(models={"sim": SLOW, "first-judge": JUDGE}) as started:
        yield started


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An installation with a session that was sat and not judged."""
    settings = Settings(home=tmp_path / "home", judges=("first-judge",))
    with open_new_lake(settings) as lake:
        settings.registry_path.write_text(REGISTRY, "utf-8")
        land_session(lake)
    return settings


def start(
    server: RunningServer, settings: Settings, *words: str, ledger_url: str | None = None
) -> WarmProcess:
    python, what, *rest = words
    variables = {**os.environ, "PROCTOR_SIMULATED_URL": server.url, "PROCTOR_QUIET": "1"}
    if ledger_url is not None:
        variables["PROCTOR_LEDGER_URL"] = ledger_url
    return WarmProcess(
        [python, "-m", "tests.tasks.killed_payer", what, str(settings.home), *rest],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process: WarmProcess) -> dict[str, int]:
    output, faults = process.communicate(timeout=120)
    assert process.returncode == 0, faults[-2_000:]
    return dict(json.loads(output.splitlines()[-1]))


def kill_after(process: WarmProcess, server: RunningServer, model: str, served: int) -> None:
    deadline = time.monotonic() + 120
    while server.state.served[model] < served:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline, "it never got that far"
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def check_nothing_paid_twice(
    server: RunningServer, settings: Settings, run_id: str, model: str, calls: int, words: tuple[str, ...]
) -> None:
    """Kill the work after some replies, and do it again.

    What the model was asked is then compared with what is in the ledger.
    """
    kill_after(start(server, settings, *words), server, model, SERVED)
    asked = server.state.requests[model]
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        before = count_calls(connection, run_id)
    assert SERVED - IN_FLIGHT <= before["done"] < calls
    assert before["started"] <= IN_FLIGHT
    counts = finish(start(server, settings, *words))
    assert counts.get("replayed", 0) == before["done"]
    assert counts["sent"] == server.state.requests[model] - asked == calls - before["done"]
    # Only calls in flight when it died may have been sent twice, and they are reported.
    repeated = [count for count in server.state.repeats.values() if count > 1]
    assert counts.get("repeated", 0) == before["started"]
    assert len(repeated) <= before["started"]
    assert set(repeated) <= {2}
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert count_calls(connection, run_id) == {"started": 0, "done": calls, "failed": 0}
    # Once more: it is all there, and nobody is asked.
    assert finish(start(server, settings, *words)).get("sent", 0) == 0


def test_killed_judging_repeats_no_paid_call(
    server: RunningServer, settings: Settings, warm_python: str
) -> None:
    words = (warm_python, "judge")
    check_nothing_paid_twice(server, settings, "run-1", "first-judge", QUESTIONS, words)
    with open_lake(settings) as lake:
        assert lake.query("select count(*) from judgements").item() == QUESTIONS


@pytest.mark.long
def test_killed_replaying_repeats_no_paid_call(
    server: RunningServer, settings: Settings, tmp_path: Path, warm_python: str
) -> None:
    path = tmp_path / "public.csv"
    lines = [f"q{number},第{number}次会议于{1700 + number}年召开。" for number in range(100, 100 + REPLAYED)]
    path.write_text("\n".join(["item_id,question", *lines]), "utf-8")
    words = (warm_python, "replay", str(path))
    check_nothing_paid_twice(server, settings, "contamination/r1", "sim", 3 * REPLAYED, words)
    with open_lake(settings) as lake:
        assert lake.query("select count(*) from replays").item() == 3 * REPLAYED


@pytest.mark.long
@pytest.mark.service
def test_of_two_that_judge_one_run_at_once_on_postgresql_each_call_is_paid_once(
    server: RunningServer, settings: Settings, postgresql: PostgresqlServer, warm_python: str
) -> None:
    check_two_judging(server, settings, postgresql.new_ledger_url(), warm_python)


@pytest.mark.long
def test_of_two_that_judge_one_run_at_once_on_sqlite_each_call_is_paid_once(
    server: RunningServer, settings: Settings, warm_python: str
) -> None:
    check_two_judging(server, settings, settings.ledger_address, warm_python)


def check_two_judging(server: RunningServer, settings: Settings, ledger_url: str, warm_python: str) -> None:
    open_ledger(ledger_url).close()
    processes = [start(server, settings, warm_python, "judge", ledger_url=ledger_url) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in processes]
    # The later one waits for the session that the other judges, or finds it judged.
    assert [process.returncode for process in processes] == [0, 0], told
    assert server.state.requests["first-judge"] == QUESTIONS
    assert set(server.state.repeats.values()) == {1}
    with open_ledger(ledger_url) as ledger, ledger.read() as connection:
        assert count_calls(connection, "run-1") == {"started": 0, "done": QUESTIONS, "failed": 0}
    with open_lake(settings) as lake:
        assert lake.query("select count(*) from judgements").item() == QUESTIONS
