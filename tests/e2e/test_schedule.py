"""A server with a worker.

Deployments are registered, and the last decision of a batch starts what follows by itself.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from deployments.flow_runs.deploying import read_deployments
from tests.deployments.demo.kit import fill_workbook
from tests.e2e.conftest import Demo, Home

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("own-server")]

PAPER = """一、判断题
1. 赤道是地球上最长的纬线。（√）
2. 长江注入南海。（×）

二、简答题
3. 简述昼夜交替的成因。
答案：地球自转使各地交替面向和背向太阳。
"""


def test_the_last_decision_starts_the_rest_on_the_worker(
    demo: Demo, home_without_server: Home, tmp_path: Path
) -> None:
    home = demo.home.copy(tmp_path / "home", PROCTOR_BUDGET_USD="100")
    # The server that the tests before this one have left running, and the bank as the demo left it.
    shutil.rmtree(home.path / "prefect")
    shutil.copytree(home_without_server.path / "prefect", home.path / "prefect")
    paper = tmp_path / "science-final.txt"
    paper.write_text(PAPER, encoding="utf-8")
    before = home.read_json("bank")["versions"]
    try:
        state = home.read_json("up")
        assert state["worker_pid"] is not None
        deployed = home.read_json("deploy")["deployed"]
        assert deployed == [one.name for one in read_deployments()]
        assert home.read_json("up") == state, "a second `up` starts nothing"

        ingested = home.read_json("ingest", str(paper))
        assert ingested["assigned_questions"] == 3
        workbooks = home.read_json("review", "export", str(tmp_path / "workbooks"))["workbooks"]
        for workbook in workbooks:
            fill_workbook(Path(workbook), [])
        imported = json.loads(home.run("review", "import", *workbooks, "--json").stdout)
        assert imported["complete_batches"] == [ingested["batch_id"]]
        assert imported["continued"] == [{"by": "event", "batch_id": ingested["batch_id"]}]

        deadline = time.monotonic() + 600
        while (versions := home.read_json("bank")["versions"]) == before and time.monotonic() < deadline:
            time.sleep(2)
        assert len(versions) == len(before) + 1, (home.path / "prefect" / "worker.log").read_text()[-2000:]
        assert versions[-1]["lineage_count"] == before[-1]["lineage_count"] + 3
        newest = (
            "select flow_run_id is not null as is_signed from landings where table_name = 'bank_versions'"
        )
        assert home.read_json("sql", f"{newest} order by landed_at desc limit 1") == [{"is_signed": True}]
        newest_first = home.read_json("runs", "list")["runs"]
        runs = {run["flow"]: run for run in reversed(newest_first)}
        assert (runs["review_gate"]["started_by"], runs["review_gate"]["deployment"]) == (
            "event",
            "review-complete",
        )
        assert (runs["ingest"]["started_by"], runs["ingest"]["state"]) == ("command", "completed")
        assert "augment_accepted finished" in home.run("logs", runs["review_gate"]["name"]).stdout
    finally:
        stopped = home.read_json("down")["stopped"]
    assert len(stopped) == 2
    assert home.read_json("status")["server"] == "none"
