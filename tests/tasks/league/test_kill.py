"""`kill -9` in mid-round: no paid call is repeated, and no half round is left."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tasks.league.conftest import MakeWorld, World
from tests.tasks.league.world import make_rules, play

FOUR = ("sim-a1", "sim-b1", "sim-c1", "sim-d1")
CALLS = 4 * 8 * 2
PROCTOR = str(Path(sys.executable).with_name("proctor"))
TABLES = ("questions", "answers", "evaluations", "rankings", "originality", "flags")


def check_whole_rounds(world: World, domains: int) -> int:
    """Check that rounds are whole; returns how many there are.

    Every row of a round belongs to a finished one, and a finished one has all of its rows.
    """
    rounds = set(world.lake.query("SELECT landing_unit FROM league_rounds")["landing_unit"])
    for name in TABLES:
        units = set(world.lake.query(f"SELECT landing_unit FROM league_{name}")["landing_unit"])
        assert units <= rounds, name
        if name in ("questions", "answers", "evaluations", "rankings"):
            assert units == rounds, name
    counts = world.lake.query("SELECT count(*) FROM league_evaluations GROUP BY landing_unit").to_series()
    assert set(counts) <= {9 * domains}
    return len(rounds) * domains


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("turn", range(10))
def test_a_killed_league_repeats_no_paid_call_and_leaves_no_half_round(
    make_world: MakeWorld, turn: int
) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", time.time_ns() % 1_000_000)) + turn
    slow = {"latency_ms": 25, "latency_spread": 0.4}
    world = make_world(lambda profile: [model.update(slow) for model in profile["models"].values()])
    killed_after = random.Random(seed).randrange(3, CALLS - 8)
    print(f"seed {seed}: killed after {killed_after} of {CALLS} replies")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
        "PROCTOR_HOME": str(world.settings.home),
        "PROCTOR_QUIET": "1",
    }
    command = [
        PROCTOR, "league", "run", "one", "--candidates", ",".join(FOUR), "--domain", "mathematics,programming",
        "--runs", "1", "--no-server", "--json",
    ]  # fmt: skip
    state = world.server.state
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 120
    while sum(state.served.values()) < killed_after:
        assert process.poll() is None, "the league ended before it could be killed"
        assert time.monotonic() < deadline, "the league never got that far"
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = check_whole_rounds(world, 2)
    done = world.ledger.read()
    with done as connection:
        from tests.paid_calls import count_calls

        before = count_calls(connection, "league/one")
    assert before["done"] < CALLS

    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result["new_rounds"] == 8 - kept
    assert check_whole_rounds(world, 2) == 8
    # Only calls that were in flight when it died may have been sent twice, and they are reported.
    repeated = [count for count in state.repeats.values() if count > 1]
    assert len(repeated) <= before["started"]
    assert result["calls"].get("repeated", 0) == before["started"]
    assert sum(state.requests.values()) == CALLS + len(repeated)
    landed = world.lake.query("SELECT count(*), count(*) FILTER (WHERE status = 'done') FROM llm_calls").row(
        0
    )
    assert landed == (CALLS, CALLS)


@pytest.mark.long
def test_a_league_that_dies_while_it_lands_has_the_round_whole_or_not_at_all(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world()
    from warehouse.lake import landing

    insert = landing._insert

    def fail(connection: object, table: str, path: Path) -> None:
        insert(connection, table, path)  # type: ignore[arg-type]
        if table == "league_evaluations":
            raise KeyboardInterrupt

    monkeypatch.setattr(landing, "_insert", fail)
    with pytest.raises(KeyboardInterrupt):
        play(world.ledger, world.lake, world.settings, "one", make_rules(FOUR))
    assert check_whole_rounds(world, 1) == 0
    monkeypatch.setattr(landing, "_insert", insert)
    sent = sum(world.server.state.requests.values())
    summary = play(world.ledger, world.lake, world.settings, "one")
    assert summary.is_complete
    assert (summary.calls["replayed"], sum(world.server.state.requests.values())) == (sent, 32)
    assert check_whole_rounds(world, 1) == 4
