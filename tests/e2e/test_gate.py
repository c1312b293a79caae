"""The review gate between decisions.

No process waits, everything may be restarted, and what follows starts by itself. An event that is lost is
swept up: tests/e2e/test_schedule_long.py.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from deployments.flow_runs.deploying import read_deployments
from tests.deployments.demo.kit import fill_workbook
from tests.e2e.conftest import Home

pytestmark = [pytest.mark.prefect, pytest.mark.long, pytest.mark.xdist_group("own-server")]

PAPER = "一、判断题\n1. 赤道是地球上最长的纬线。（√）\n2. 长江注入南海。（×）\n"
ANNOTATORS = ("chen", "dai")
PATIENCE_S = 900


def list_processes(home: Home) -> list[str]:
    """Every process that works for this home."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("PROCTOR_HOME") == str(home.path):
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def count_versions(home: Home) -> int:
    return len(home.read_json("bank")["versions"])


def await_version(home: Home, count: int) -> None:
    """Wait until the bank has that many versions; fails where nothing comes of it."""
    started = time.monotonic()
    while count_versions(home) < count:
        assert time.monotonic() - started < PATIENCE_S, (home.path / "prefect" / "worker.log").read_text()[
            -2000:
        ]
        time.sleep(1)


def test_the_gate_waits_without_a_process_and_continues_by_itself(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    home = Home(tmp_path / "home", work, {"PROCTOR_BUDGET_USD": "100"})
    home.run("init")
    for name in ANNOTATORS:
        home.run("exam", "user", "add", name, "--role", "annotator")
    try:
        state = home.read_json("up")
        assert state["worker_pid"] is not None
        assert home.read_json("deploy")["deployed"] == [one.name for one in read_deployments()]
        assert home.read_json("up") == state, "a second `up` starts nothing"
        batch, workbooks = hand_out(home, work)
        home.run("down")
        assert list_processes(home) == [], "the batch waits, and nothing waits for it"

        local = replace(home, variables={**home.variables, "PROCTOR_NO_SERVER": "true"})
        fill_workbook(workbooks[0], [])
        done = json.loads(local.run("review", "import", str(workbooks[0]), "--json").stdout)
        assert done["complete_batches"] == []
        assert list_processes(home) == []

        # Everything starts anew; the last decision starts what follows, by an event.
        home.run("up")
        fill_workbook(workbooks[1], [])
        done = json.loads(home.run("review", "import", str(workbooks[1]), "--json").stdout)
        assert done["continued"] == [{"by": "event", "batch_id": batch}]
        await_version(home, 1)
        signed = (
            "select flow_run_id is not null as is_signed from landings where table_name = 'bank_versions'"
        )
        assert home.read_json("sql", signed) == [{"is_signed": True}]
        runs = {run["flow"]: run for run in reversed(home.read_json("runs", "list")["runs"])}
        gate = runs["review_gate"]
        assert (gate["started_by"], gate["deployment"]) == ("event", "review-complete")
        assert (runs["ingest"]["started_by"], runs["ingest"]["state"]) == ("command", "completed")
        assert "augment_accepted finished" in home.run("logs", gate["name"]).stdout

        statuses = {one["batch_id"]: one["status"] for one in home.read_json("review", "status")["batches"]}
        assert set(statuses.values()) == {"closed"}
    finally:
        home.run("down", exit_code=None)


def hand_out(home: Home, work: Path) -> tuple[str, list[Path]]:
    """Ingest a paper and export what it gives to read."""
    paper = work / "paper.txt"
    paper.write_text(PAPER, encoding="utf-8")
    ingested = home.read_json("ingest", str(paper))
    found = home.read_json("review", "export", str(work / "workbooks"))["workbooks"]
    assert len(found) == len(ANNOTATORS)
    return ingested["batch_id"], [Path(one) for one in found]
