"""Schedules on a real server, and the month twice at once.

They fire, a failure is reported, a lost event is swept, and a missed run is noticed.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from deployments.flow_runs.deploying import read_deployments
from deployments.flow_runs.server import read_state
from schemas.settings import Settings
from tasks.exam.month import read_current_bank
from tests.deployments.demo.kit import fill_workbook, running_models
from tests.e2e.conftest import BIN, Demo, Home
from warehouse.lake import open_lake

PAPER = """一、判断题
1. 赤道是地球上最长的纬线。（√）
2. 长江注入南海。（×）

二、简答题
3. 简述昼夜交替的成因。
答案：地球自转使各地交替面向和背向太阳。
"""

pytestmark = [pytest.mark.prefect, pytest.mark.long, pytest.mark.xdist_group("own-server")]

MONTH = "2027-02"
CANDIDATES = "sim-cirrus-mini,sim-dune-4"
# What a server gives anew whenever something is registered.
FRESH = {
    "id",
    "created",
    "updated",
    "deployment_id",
    "last_polled",
    "status",
    "work_queue_id",
    "storage_configuration",
}


class Server:
    """The Prefect server of a home, over HTTP."""

    def __init__(self, home: Home) -> None:
        state = read_state(Settings(home=home.path))
        assert state is not None
        self._api = state.api_url
        name, _, password = state.auth.partition(":")
        self._auth = (name, password)

    def list(self, what: str) -> list[dict[str, Any]]:
        answer = httpx.post(f"{self._api}/{what}/filter", json={}, auth=self._auth)
        answer.raise_for_status()
        return list(answer.json())

    def find(self, deployment: str) -> dict[str, Any]:
        return next(one for one in self.list("deployments") if one["name"] == deployment)

    def reschedule(self, deployment: str, cron: str) -> None:
        found = self.find(deployment)
        path = f"{self._api}/deployments/{found['id']}/schedules/{found['schedules'][0]['id']}"
        body = {"schedule": {"cron": cron, "timezone": "UTC"}}
        httpx.patch(path, json=body, auth=self._auth).raise_for_status()

    def start(self, deployment: str, **parameters: Any) -> None:
        path = f"{self._api}/deployments/{self.find(deployment)['id']}/create_flow_run"
        body = {"parameters": parameters, "state": {"type": "SCHEDULED"}}
        httpx.post(path, json=body, auth=self._auth).raise_for_status()

    def describe(self) -> Any:
        """Everything that is deployed, without what is fresh each time."""
        ids = {one["id"]: one["name"] for one in self.list("deployments")}
        found = {what: self.list(what) for what in ("deployments", "automations", "work_pools")}
        return sort_plain(strip(found, ids))


def strip(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        kept = {name: strip(one, ids) for name, one in value.items() if name not in FRESH}
        return kept | ({"of": ids.get(value["deployment_id"])} if "deployment_id" in value else {})
    return [strip(one, ids) for one in value] if isinstance(value, list) else value


def sort_plain(found: dict[str, Any]) -> dict[str, Any]:
    return {what: sorted(rows, key=lambda row: str(row["name"])) for what, rows in found.items()}


def wait_for(what: str, find: Callable[[], Any], home: Home, seconds: float = 240.0) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := find():
            return found
        time.sleep(2)
    log = (home.path / "prefect" / "worker.log").read_text(errors="replace")
    raise AssertionError(f"{what} within {seconds:g} s\n{log[-3000:]}")


@pytest.fixture
def home(demo: Demo, tmp_path: Path) -> Iterator[Home]:
    """A home with a server and a worker of its own.

    Its settings stand in a proctor.toml elsewhere.
    """
    toml = tmp_path / "settings" / "proctor.toml"
    toml.parent.mkdir()
    program = f"command:tee -a {tmp_path / 'told.jsonl'}"
    toml.write_text(f"budget_usd = 100\nnotify = [{json.dumps(program)}]\n")
    home = demo.home.copy(tmp_path / "home", PROCTOR_CONFIG=str(toml))
    shutil.rmtree(home.path / "prefect")
    home.run("up", "--ui")
    try:
        yield home
    finally:
        home.run("down", exit_code=None)


def list_runs(home: Home, flow: str) -> list[dict[str, Any]]:
    return list(home.read_json("runs", "list", "--flow", flow)["runs"])


def test_a_schedule_fires_a_failure_is_told_a_lost_event_is_swept_and_a_missed_run_is_noticed(
    home: Home, tmp_path: Path
) -> None:
    shown = home.read_json("up", "--ui")
    page = httpx.get(shown["page"], follow_redirects=True)
    assert (page.status_code, "Prefect" in page.text) == (200, True)
    state = read_state(Settings(home=home.path))
    assert state is not None
    assert shown["password"] == state.auth

    assert home.read_json("deploy")["deployed"] == [one.name for one in read_deployments()]
    server = Server(home)
    first = server.describe()
    listened = [one["name"].partition("__")[0] for one in first["automations"]]
    assert listened == ["reading-requested", "review-complete"]
    home.run("deploy")
    assert server.describe() == first, "deploying twice changes nothing"

    # Prefect would cancel the second, and nothing would list it
    under_way = home.read_json("runs", "start", "erase", "--on-worker")["flow_run_id"]
    refused = home.run("runs", "start", "erase", "--on-worker", exit_code=3)
    assert "erase is under way" in refused.stderr and under_way in refused.stderr

    # A copy of the hourly schedule that is due every minute
    server.reschedule("seal", "* * * * *")
    fired = wait_for(
        "the schedule fires",
        lambda: [
            run for run in list_runs(home, "seal") if run["started_by"] == "schedule" and run["ended_at"]
        ],
        home,
    )
    assert (fired[0]["state"], fired[0]["deployment"]) == ("completed", "seal")
    assert fired[0]["due_at"][17:19] == "00"
    server.reschedule("seal", "5 * * * *")

    server.start("publish", run_id="no-such-run")
    told = tmp_path / "told.jsonl"
    wait_for("the failure is told", lambda: told.exists() and told.read_text(), home)
    notice = json.loads(told.read_text().splitlines()[0])
    assert (notice["run"], notice["ending"]) == ("publish-no-such-run", "Failed")
    assert {run["state"] for run in list_runs(home, "publish") if run["deployment"] == "publish"} == {
        "failed"
    }

    # The last decision of a batch comes in, and nobody hears of it
    paper = tmp_path / "science-final.txt"
    paper.write_text(PAPER, encoding="utf-8")
    batch_id = home.read_json("ingest", str(paper))["batch_id"]
    before = home.read_json("bank")["versions"]
    for workbook in home.read_json("review", "export", str(tmp_path / "workbooks"))["workbooks"]:
        fill_workbook(Path(workbook), [])
        home.run("review", "import", workbook, "--no-continue")
    assert home.read_json("bank")["versions"] == before
    server.start("sweep")
    wait_for("the lost event is swept", lambda: len(home.read_json("bank")["versions"]) > len(before), home)
    assert batch_id not in str(home.read_json("status")["open_review_batches"])

    # Every run was missed for an hour, the worker being gone
    assert home.read_json("runs", "list")["missed"] == []
    home.run("down")
    with closing(sqlite3.connect(home.path / "ledger.sqlite")) as ledger, ledger:
        ledger.execute(
            "update flow_schedules set cron = '* * * * *', deployed_at = '2026-01-01T00:00:00+00:00' where deployment = 'report' or deployment = 'drift'"
        )
    (missed,) = home.read_json("runs", "list")["missed"]
    assert missed["remedy"] == "proctor runs start drift"
    examined = json.loads(home.run("doctor", "--json", exit_code=1).stdout)["findings"]
    (finding,) = [one for one in examined if one["what"] == "schedule of drift"]
    assert (finding["is_fine"], finding["fix"]) == (False, "proctor runs start drift")
    failed = home.run("runs", "start", "checks", "--no-server", exit_code=1)
    assert "drift did not run at" in failed.stderr
    home.run("runs", "start", "drift", "--no-server")
    assert home.read_json("runs", "list")["missed"] == []
    home.run("runs", "start", "checks", "--no-server")


def test_two_monthly_runs_at_once_double_nothing_and_one_without_answers_has_failed(
    demo: Demo, tmp_path: Path
) -> None:
    home = demo.home.copy(
        tmp_path / "home", PROCTOR_SET_SIZE="20", PROCTOR_REPEATS="1", PROCTOR_CALL_CONCURRENCY="4"
    )
    settings = Settings(home=home.path)
    with open_lake(settings, read_only=True) as lake:
        bank = read_current_bank(lake)
    command = ["monthly", "--month", MONTH, "--candidates", CANDIDATES, "--yes", "--no-server", "--json"]

    # Nobody answers: the run is planned, and no question of it answered
    nowhere = replace(home, variables={**home.variables, "PROCTOR_SIMULATED_URL": "http://127.0.0.1:9/v1"})
    nowhere.run(*command, exit_code=1, timeout=600)
    (failed,) = list_runs(home, "monthly")[:1]
    assert (failed["name"], failed["state"]) == (f"monthly-{MONTH}", "failed")

    with running_models(settings, bank) as url:
        served = replace(home, variables={**home.variables, "PROCTOR_SIMULATED_URL": url})
        both = [
            subprocess.Popen(
                [str(BIN / "proctor"), *command], env=served.environment(), cwd=home.work, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for _ in range(2)
        ]  # fmt: skip
        ended = [one.communicate(timeout=900) for one in both]
    assert [one.returncode for one in both] == [0, 0], ended
    results = [json.loads(output) for output, _ in ended]
    run_id = results[0]["run_id"]
    assert results[1]["run_id"] == run_id
    with open_lake(settings, read_only=True) as lake:
        allocated = lake.query(
            "select session_id, seq from allocations where run_id = $run", {"run": run_id}
        ).rows()
        responses = lake.query(
            "select session_id, seq from responses where run_id = $run", {"run": run_id}
        ).rows()
        judged = lake.query(
            "select session_id, seq, judge from judgements where run_id = $run", {"run": run_id}
        ).rows()
        editions = lake.query("select edition_id from editions where run_id = $run", {"run": run_id}).rows()
    assert len(set(allocated)) == len(allocated) > 100
    assert Counter(responses) == Counter(allocated)
    assert max(Counter(judged).values()) == 1
    assert len(editions) == 1
    assert sum(result["answers"] for result in results) == len(allocated)
    assert sorted(result["is_published_now"] for result in results) in ([False, True], [True, True])
