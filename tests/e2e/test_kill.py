"""`kill -9` in the middle of an exam, then the same command again."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from schemas.settings import Settings
from tests.e2e.conftest import BIN, Demo, Home
from warehouse.lake import open_lake

pytestmark = pytest.mark.prefect

MONTH = "2026-12"
CANDIDATES = ("sim-cirrus-mini", "sim-dune-4")
# What may differ between two runs that gave the same answers.
NOT_COMPARED = {
    "latency_ms", "attempts", "extra_usd", "opened_at", "closed_at", "deadline_at", "planned_at", "started_at", "allocated_at", "judged_at",
    "attempt", "flow_run_id", "landed_at", "content_hash",
}  # fmt: skip


@pytest.fixture(scope="module")
def planned(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with a published run of a known seed, and the simulated models that answer it."""
    from tasks.exam.month import preview_month, publish_month, read_current_bank
    from tasks.exam.plan import RunWishes
    from tests.deployments.demo.kit import running_models
    from tests.tasks.exam.world import make_chance
    from warehouse.ledger.engine.opening import open_ledger

    folder = tmp_path_factory.mktemp("planned") / "home"
    settings = Settings(home=folder, set_size=20, repeats=1, prompt_styles=("zero_shot", "few_shot"))
    home = demo.home.copy(folder, PROCTOR_SET_SIZE="20", PROCTOR_REPEATS="1", PROCTOR_CALL_CONCURRENCY="2")
    with ExitStack() as models:
        with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
            plan = preview_month(
                ledger,
                lake,
                settings,
                RunWishes(MONTH, CANDIDATES, run_id="killed-run"),
                chance=make_chance("a-known-seed"),
            )
            assert plan is not None
            url = models.enter_context(running_models(settings, read_current_bank(lake)))
            with pytest.MonkeyPatch.context() as patched:
                patched.setenv("PROCTOR_SIMULATED_URL", url)
                publish_month(ledger, settings, plan)
        yield replace(home, variables={**home.variables, "PROCTOR_SIMULATED_URL": url})


def read_tables(home: Path, run_id: str) -> dict[str, pl.DataFrame]:
    with open_lake(Settings(home=home), read_only=True) as lake:
        tables = {
            name: lake.query(f"select * from {name} where run_id = $run_id order by all", {"run_id": run_id})
            for name in ("runs", "sessions", "allocations", "responses", "judgements", "llm_calls")
        }
    return {
        name: frame.drop([column for column in frame.columns if column in NOT_COMPARED]).sort(by=pl.all())
        if name not in ("responses", "allocations")
        else frame.drop([column for column in frame.columns if column in NOT_COMPARED]).sort(
            "session_id", "seq"
        )
        for name, frame in tables.items()
    }


def count_answers(home: Path) -> int:
    with closing(sqlite3.connect(f"file:{home / 'ledger.exam.sqlite'}?mode=ro", uri=True)) as connection:
        query = "select count(*) from responses join sessions using (session_id) where run_id = 'killed-run'"
        return int(connection.execute(query).fetchone()[0])


def start(home: Home, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(BIN / "proctor"), *arguments],
        env=home.environment(),
        cwd=home.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.mark.long
def test_a_killed_evaluate_flow_goes_on_to_the_same_tables(planned: Home, tmp_path: Path) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"PROCTOR_TEST_SEED={seed}")
    chance = random.Random(seed)
    undisturbed = planned.copy(tmp_path / "undisturbed")
    undisturbed.run("exam", "sit", "killed-run")
    again = undisturbed.read_json("exam", "sit", "killed-run")
    assert (again["answers"], again["calls"], again["landed_rows"]) == (0, {}, {}), "twice is not once"
    undisturbed.run("judge", "--run", "killed-run")
    expected = read_tables(undisturbed.path, "killed-run")
    total = expected["responses"].height
    assert total == expected["allocations"].height > 100

    killed = planned.copy(tmp_path / "killed")
    target = chance.randint(total // 6, total // 2)
    process = start(killed, "exam", "sit", "killed-run")
    deadline = time.monotonic() + 180
    while count_answers(killed.path) < target and time.monotonic() < deadline:
        assert process.poll() is None, "the flow ended before it could be killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    answered = count_answers(killed.path)
    assert target <= answered < total

    result = json.loads(killed.run("exam", "sit", "killed-run", "--json").stdout)
    assert result["answers"] == total - answered, "an answered question was asked again, or one was skipped"
    killed.run("judge", "--run", "killed-run")
    found = read_tables(killed.path, "killed-run")
    for name, frame in expected.items():
        assert found[name].equals(frame), f"{name} differs (PROCTOR_TEST_SEED={seed})"


def list_findings(home: Home) -> set[tuple[str, str]]:
    """What `doctor --all` finds that is not fine, and what it says to do."""
    done = home.run("doctor", "--all", "--json", exit_code=None)
    findings = json.loads(done.stdout)["findings"]
    return {(one["what"], one["fix"] or "") for one in findings if not one["is_fine"]}


def kill_once(home: Home, command: tuple[str, ...], after_s: float) -> None:
    process = start(home, *command)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after_s)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.long
@pytest.mark.hunt
def test_each_command_killed_at_any_moment_is_done_by_the_same_command_and_the_doctor_finds_nothing(
    planned: Home, tmp_path: Path
) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", time.time_ns() % 1_000_000))
    print(f"PROCTOR_TEST_SEED={seed}")
    chance = random.Random(seed)
    home = planned.copy(tmp_path / "hunted", PROCTOR_OBJECTION_DAYS="0", PROCTOR_NO_SERVER="true")
    home.run("exam", "user", "add", "boss", "--role", "admin")
    kept, restored = tmp_path / "backup", replace(home, path=tmp_path / "restored")
    before = list_findings(home)
    erasing = ("--month", "2026-10", "--reason", "it was asked for", "--as", "boss", "--yes")
    # Each with how it ends when all was done before: 2 says that, and what to do instead.
    for at, done_before, *words in (
        (home, 0, "exam", "sit", "killed-run"),
        (home, 0, "judge", "--run", "killed-run"),
        (home, 0, "publish", "killed-run"),
        (home, 0, "archive", "--yes"),
        (home, 2, "erase", *erasing),
        (home, 0, "compact"),
        (home, 2, "backup", str(kept)),
        (restored, 2, "restore", str(kept)),
    ):
        command = tuple(words)
        for longest_s in (3.0, 8.0):
            kill_once(at, command, chance.uniform(0.5, longest_s))
        again = at.run(*command, exit_code=None)
        assert again.returncode in (0, done_before), f"{command}\n{again.stdout}\n{again.stderr}"
        if command[0] == "backup" and at.run("backup", str(kept), "--verify", exit_code=None).returncode:
            shutil.rmtree(kept)
            at.run(*command)
        at.run(*command, exit_code=done_before)
        found = list_findings(at)
        assert found <= before, f"{command} (PROCTOR_TEST_SEED={seed}): {found - before}"
