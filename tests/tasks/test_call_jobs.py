"""Workers on two hosts make calls of a league and of a look at the judges.

Whoever of them is killed: nothing is lost, nothing is paid for twice but what was in flight at a kill, and the tables are those of one process alone.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from deployments.home import create_home
from deployments.model_server import RunningServer, start_model_server
from schemas.settings import Settings
from tasks.judging.calibration import draw_anchors
from tasks.league import claim_league
from tasks.models import CALL
from tasks.models.registry import read_registry
from tasks.running.sharing import CONDUCTED
from tests.e2e.exam_form import write_variables
from tests.paid_calls import count_calls
from tests.tasks.league.world import build_profile, make_profile, make_rules, write_registry
from tests.tasks.shared_run import (
    PASSING,
    RUN,
    make_answerable_bank,
    make_values,
    plan_shared_run,
    start_models,
)
from tests.tasks.test_queue import IN_FLIGHT, Workers, kill_at_random, working
from tests.tasks.test_shared_runs import share_on_postgresql
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warm import WarmProcess
from warehouse.lake import open_lake
from warehouse.ledger.engine.leases.jobs import list_jobs
from warehouse.ledger.engine.opening import open_ledger

pytestmark = [pytest.mark.slow, pytest.mark.service]

FOUR = ("sim-a1", "sim-b1", "sim-c1", "sim-d1")
LEAGUE = tuple(f"league_{name}" for name in ("rounds", "questions", "answers", "evaluations", "rankings"))
DRIFT = ("anchor_judgements", "judge_drift")
NAMES = ["w1", "w2", "w3"]


def read_rows(settings: Settings, tables: tuple[str, ...], purpose: str) -> dict[str, list[str]]:
    """Every row of the tables and of the calls for a purpose.

    What differs from one execution to the next is left out.
    """
    found = {}
    with open_lake(settings, read_only=True) as lake:
        for table in (*tables, "llm_calls"):
            where = f" WHERE starts_with(purpose, '{purpose}')" if table == "llm_calls" else ""
            frame = lake.query(f"SELECT * FROM {table}{where}")
            kept = [name for name in frame.columns if name not in PASSING and not name.endswith("_at")]
            found[table] = sorted(json.dumps(row, default=str) for row in frame.select(kept).to_dicts())
    return found


def check_kills(
    values: list[dict[str, Any]], server: RunningServer, what: str, account: str, calls: int, kills: int
) -> None:
    """Let two workers help whoever conducts, kill one of them so often, and count what was paid."""
    seed = int(os.environ.get("PROCTOR_TEST_SEED", str(time.time_ns() % 100_000)))
    luck, workers = random.Random(seed), Workers(values, server, NAMES, what)
    sent = sum(server.state.repeats.values())
    settings = Settings(**values[0])
    with working(workers), open_ledger(settings.ledger_address) as ledger:
        for name in NAMES:
            workers.start(name)
        kill_at_random(workers, server, NAMES, calls, kills=kills, luck=luck)
        again = sum(server.state.repeats.values()) - sent - calls
        print(f"seed {seed}: killed {workers.killed}; asked again {again}")
        assert 0 <= again <= IN_FLIGHT * kills
        with ledger.read() as connection:
            assert list_jobs(connection, CALL) == []
            assert count_calls(connection, account) == {"started": 0, "done": calls, "failed": 0}


def play_alone(values: dict[str, Any], server: RunningServer, what: str) -> int:
    """The same by one process on a ledger that is a file; returns how many calls it made."""
    workers, before = Workers([values], server, ["w1"], what), sum(server.state.repeats.values())
    with working(workers):
        workers.start("w1")
        workers.processes["w1"].join()
        assert workers.processes["w1"].exitcode == 0
    return sum(server.state.repeats.values()) - before


def start_candidates(latency_ms: int) -> RunningServer:
    profile = build_profile()
    for model in profile["models"].values():
        model.update(latency_ms=latency_ms, latency_spread=0.5)
    return start_model_server(make_profile(profile))


def claim(values: dict[str, Any], *, run_count: int) -> Settings:
    """A league that is claimed and not begun; letters are drawn alike everywhere."""
    settings = Settings(**values)
    write_registry(settings.registry_path, FOUR)
    key = settings.secrets_path / "league"
    key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    key.write_text("5" * 64, encoding="ascii")
    key.chmod(0o600)
    with open_ledger(settings.ledger_address), open_lake(settings) as lake:
        rules = make_rules(FOUR, ("mathematics", "programming"), run_count=run_count)
        claim_league(lake, settings, read_registry(settings.registry_path), "one", rules)
    return settings


def check_league(postgresql: PostgresqlServer, folder: Path, *, run_count: int, kills: int) -> None:
    alone = claim(values := make_values(folder / "alone", 6), run_count=run_count)
    with start_candidates(5) as server:
        calls = play_alone(values, server, "league")
    shared = share_on_postgresql(postgresql, folder, 6)[:2]
    settings = claim(shared[0], run_count=run_count)
    with start_candidates(100) as server:
        check_kills(shared, server, "league", "league/one", calls, kills)
    assert read_rows(settings, LEAGUE, "league") == read_rows(alone, LEAGUE, "league")


def check_drift(postgresql: PostgresqlServer, folder: Path, *, size: int, kills: int) -> None:
    bank, account = make_answerable_bank(size), "drift/autumn/2026-12"
    alone, shared = make_values(folder / "alone", size), share_on_postgresql(postgresql, folder, size)[:2]
    with start_models(bank, latency_ms=100) as server:
        for values in (alone, shared[0]):
            settings = Settings(**values)
            plan_shared_run(settings, bank)
            play_alone(values, server, "conduct")
            with open_lake(settings) as lake:
                draw_anchors(lake, RUN, "autumn", size=4 * size)
            if values is alone:
                calls = play_alone(values, server, "drift")
        check_kills(shared, server, "drift", account, calls, kills)
    assert read_rows(settings, DRIFT, "drift") == read_rows(Settings(**alone), DRIFT, "drift")


def test_a_worker_of_three_is_killed_and_the_league_ends_as_by_one_process(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_league(postgresql, tmp_path, run_count=1, kills=1)


@pytest.mark.long
def test_a_worker_of_three_is_killed_and_the_judges_are_watched_as_by_one_process(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_drift(postgresql, tmp_path, size=6, kills=1)


@pytest.mark.long
def test_twenty_kills_of_three_processes_in_a_league(postgresql: PostgresqlServer, tmp_path: Path) -> None:
    check_league(postgresql, tmp_path, run_count=3, kills=20)


@pytest.mark.long
def test_twenty_kills_of_three_processes_that_watch_the_judges(
    postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    check_drift(postgresql, tmp_path, size=16, kills=20)


@pytest.mark.long
def test_a_worker_conducts_the_league_of_a_command_that_was_killed(
    postgresql: PostgresqlServer, tmp_path: Path, warm: Path
) -> None:
    values = share_on_postgresql(postgresql, tmp_path, 6)[0]
    settings = claim(values, run_count=1)
    create_home(settings)
    with start_candidates(100) as server:
        others = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
        environment = others | write_variables(values | {"no_server": "true", "budget_usd": 5.0})
        environment |= {"PROCTOR_SIMULATED_URL": server.url, "PROCTOR_QUIET": "1"}
        proctor = str(warm / "proctor")
        command = WarmProcess([proctor, "league", "run", "one"], env=environment)
        while sum(server.state.answered.values()) < 10:
            assert command.poll() is None, "the league ended before it could be killed"
            time.sleep(0.005)
        command.kill()
        command.wait()
        subprocess.run([proctor, "worker", "--only-jobs", "--name", "w2"], env=environment, check=True)
    with open_lake(settings, read_only=True) as lake:
        assert lake.query("SELECT count(*) FROM league_rounds").item() == len(FOUR) * 2
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert list_jobs(connection, CONDUCTED) == list_jobs(connection, CALL) == []
