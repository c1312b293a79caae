"""The review gate between decisions.

No process waits, everything may be restarted, and what follows starts by itself.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psutil
import pytest

from deployments.flow_runs.deploying import read_deployments
from tests.deployments.demo.kit import fill_workbook
from tests.e2e.conftest import Home

pytestmark = [pytest.mark.prefect, pytest.mark.long, pytest.mark.xdist_group("own-server")]

PAPERS = (
    "一、判断题\n1. 赤道是地球上最长的纬线。（√）\n2. 长江注入南海。（×）\n",
    "一、判断题\n1. 地球绕太阳公转。（√）\n2. 月球自己发光。（×）\n",
)
ANNOTATORS = ("chen", "dai")


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


def await_version(home: Home, count: int, limit_s: float) -> float:
    """Seconds until the bank has that many versions; fails after `limit_s`."""
    started = time.monotonic()
    while count_versions(home) < count:
        assert time.monotonic() - started < limit_s, (home.path / "prefect" / "worker.log").read_text()[
            -2000:
        ]
        time.sleep(1)
    return time.monotonic() - started


def run_sweep(home: Home) -> None:
    """The run that the deployment's schedule makes: its own parameters, no batch named."""
    state: dict[str, Any] = json.loads((home.path / "prefect" / "server.json").read_text())
    address = f"http://127.0.0.1:{state['port']}/api/deployments"
    headers = {"Content-Type": "application/json"}
    if state["auth"]:
        import base64

        headers["Authorization"] = "Basic " + base64.b64encode(state["auth"].encode()).decode()
    with urlopen(Request(f"{address}/name/sweep/sweep", headers=headers)) as reply:
        deployment = json.load(reply)
    assert deployment["schedules"][0]["schedule"]["cron"] == "30 4 * * *"
    body = json.dumps({"state": {"type": "SCHEDULED"}}).encode()
    with urlopen(
        Request(f"{address}/{deployment['id']}/create_flow_run", data=body, headers=headers, method="POST")
    ) as reply:
        assert reply.status in (200, 201)


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
        batch, workbooks = hand_out(home, work, 0)
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
        assert await_version(home, 1, 60) < 60
        signed = (
            "select flow_run_id is not null as is_signed from landings where table_name = 'bank_versions'"
        )
        assert home.read_json("sql", signed) == [{"is_signed": True}]
        runs = {run["flow"]: run for run in reversed(home.read_json("runs", "list")["runs"])}
        gate = runs["review_gate"]
        assert (gate["started_by"], gate["deployment"]) == ("event", "review-complete")
        assert (runs["ingest"]["started_by"], runs["ingest"]["state"]) == ("command", "completed")
        assert "augment_accepted finished" in home.run("logs", gate["name"]).stdout

        # The event of the second batch is lost: nothing starts, until the sweep finds it complete.
        batch, workbooks = hand_out(home, work, 1)
        for path in workbooks:
            fill_workbook(path, [])
        done = json.loads(
            home.run("review", "import", "--no-continue", *map(str, workbooks), "--json").stdout
        )
        assert (done["complete_batches"], done["continued"]) == ([batch], [])
        home.run("down")
        home.run("up")
        time.sleep(10)
        assert count_versions(home) == 1
        run_sweep(home)
        await_version(home, 2, 120)
        statuses = {one["batch_id"]: one["status"] for one in home.read_json("review", "status")["batches"]}
        assert set(statuses.values()) == {"closed"}
    finally:
        home.run("down", exit_code=None)


def hand_out(home: Home, work: Path, number: int) -> tuple[str, list[Path]]:
    """Ingest a paper and export what it gives to read."""
    paper = work / f"paper-{number}.txt"
    paper.write_text(PAPERS[number], encoding="utf-8")
    ingested = home.read_json("ingest", str(paper))
    found = home.read_json("review", "export", str(work / f"workbooks-{number}"))["workbooks"]
    assert len(found) == len(ANNOTATORS)
    return ingested["batch_id"], [Path(one) for one in found]
