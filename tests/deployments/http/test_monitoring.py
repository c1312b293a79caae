"""Alert rules and dashboard ask for metrics that there are, and say what they should."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from deployments.http import list_run_metrics
from deployments.http.call_metrics import CallMetrics
from deployments.http.metrics import open_metrics_server, register_run_metrics
from schemas.settings import Settings
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.money.budgets import Limit, insert_limit

MONITORING = Path(__file__).parents[3] / "deployments/server/monitoring"
# Classes that Grafana's makers generate from its schemas; Grafana itself is in no package registry.
CLASSES = "grafana-foundation-sdk==1769699998!10.1.0"
READ_AND_WRITTEN = """
import json, sys
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
register_default_plugins()
print(JSONEncoder().encode(Dashboard.from_json(json.load(open(sys.argv[1])))))
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    settings = make_settings(tmp_path / "home")
    with open_ledger(settings.ledger_address) as opened:
        publish(
            opened,
            settings,
            make_registry(make_model("alpha"), make_model("rho", roles=("reference",))),
            make_bank(),
        )
        yield opened


def list_asked() -> dict[str, list[str]]:
    """What the dashboard and the rules ask Prometheus, by the name of panel or alert."""
    dashboard = json.loads((MONITORING / "grafana.json").read_text("utf-8"))
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text("utf-8"))
    panels = {one["title"]: [target["expr"] for target in one["targets"]] for one in dashboard["panels"]}
    return panels | {one["alert"]: [one["expr"]] for group in rules["groups"] for one in group["rules"]}


def test_dashboard_and_alerts_ask_for_metrics_that_there_are(ledger: Ledger, tmp_path: Path) -> None:
    registry = register_run_metrics(Settings(home=tmp_path / "home"), ledger)
    CallMetrics("exam API", registry)
    known = {
        name
        for family in registry.collect()
        for name in (
            {"counter": [f"{family.name}_total"], "histogram": [f"{family.name}_bucket"]}.get(
                family.type, [family.name]
            )
        )
    }
    asked = {name: set(re.findall(r"proctor_\w+", " ".join(texts))) for name, texts in list_asked().items()}
    assert {name: sorted(names - known) for name, names in asked.items() if names - known} == {}
    # And the other way: what nobody looks at need not be measured.
    assert known - set().union(*asked.values()) == set()


def test_what_a_run_may_still_spend_is_told_where_it_has_a_limit(ledger: Ledger, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    (run_id,) = {
        one["labels"]["run"]
        for one in list_run_metrics(settings, ledger)
        if one["name"] == "proctor_run_questions"
    }

    def read_left() -> list[float]:
        return [
            one["value"]
            for one in list_run_metrics(settings, ledger)
            if one["name"] == "proctor_run_budget_left_usd"
        ]

    assert read_left() == []
    with ledger.write() as connection:
        insert_limit(connection, run_id, Limit(12.5, "more", "cora", "2026-11-01T00:00:00.000000+00:00"))
    assert read_left() == [12.5]


@pytest.mark.long
def test_the_rules_are_heard_when_they_should_be_and_not_before() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian: prometheus); the alert rules were not tried.")
    for words in (("check", "rules", "alerts.yaml"), ("test", "rules", "alerts.test.yaml")):
        done = subprocess.run([promtool, *words], cwd=MONITORING, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_grafanas_classes_know_all_that_the_dashboard_says(tmp_path: Path) -> None:
    """What they do not know is lost where they read the dashboard and write it again.

    Grafana ignores it.
    """
    installed = tmp_path / "classes"
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(installed), CLASSES],
        check=True,
    )

    def find_lost(dashboard: dict[str, Any]) -> list[str]:
        (tmp_path / "dashboard.json").write_text(json.dumps(dashboard), "utf-8")
        written = subprocess.run(
            [sys.executable, "-c", READ_AND_WRITTEN, str(tmp_path / "dashboard.json")],
            env={"PYTHONPATH": str(installed)}, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        return list(iter_lost(dashboard, json.loads(written)))

    dashboard = json.loads((MONITORING / "grafana.json").read_text("utf-8"))
    assert find_lost(dashboard) == []
    dashboard["panels"][1]["targets"][0]["legend"] = "{{run}}"
    assert find_lost(dashboard) == ["panels 1 targets 0 legend"]


def iter_lost(said: Any, kept: Any, place: str = "") -> Iterator[str]:
    """The places of what is said and not kept."""
    if isinstance(said, dict | list) and type(said) is type(kept):
        for name, value in said.items() if isinstance(said, dict) else enumerate(said):
            is_there = name in kept if isinstance(kept, dict) else name < len(kept)
            yield from iter_lost(value, kept[name] if is_there else None, f"{place} {name}".strip())
    elif said != kept:
        yield place


@pytest.mark.long
def test_a_real_prometheus_answers_every_panel(ledger: Ledger, tmp_path: Path) -> None:
    """It reads the metrics of a run that is open, as the settings in the documentation say."""
    prometheus = shutil.which("prometheus")
    if prometheus is None:
        pytest.skip("Prometheus is not installed (Debian: prometheus); no panel was asked for.")
    registry = register_run_metrics(Settings(home=tmp_path / "home", backups=tmp_path / "kept"), ledger)
    CallMetrics("exam API", registry)
    server = open_metrics_server(Settings(), registry, "127.0.0.1", 0)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    told = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(MONITORING / "alerts.yaml")],
        "scrape_configs": [
            {"job_name": "proctor", "static_configs": [{"targets": [f"127.0.0.1:{server.server_port}"]}]}
        ],
    }
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(told), "utf-8")
    process = subprocess.Popen(
        [prometheus, f"--config.file={tmp_path / 'prometheus.yml'}", f"--storage.tsdb.path={tmp_path / 'data'}",
         f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    )  # fmt: skip

    def ask(expression: str) -> list[dict[str, Any]]:
        query = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}") as reply:
            return list(json.load(reply)["data"]["result"])

    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                if ask("proctor_ledger_read_seconds"):
                    break
            except urllib.error.URLError:
                pass
            time.sleep(0.2)
        found = {name: [ask(text) for text in texts] for name, texts in list_asked().items()}
    finally:
        process.terminate()
        process.wait()
        server.shutdown()
        server.server_close()
    assert {one["metric"]["candidate"] for one in found["Questions done"][0]} == {"alpha", "rho"}
    assert [one["value"][1] for one in found["Questions done"][0]] == ["0", "0"]
    assert found["ProctorSilent"] == [[]]
    ((waiting, hours),) = zip(*found["Sessions that wait"], strict=True)
    assert int(waiting["value"][1]) > 0 and float(hours["value"][1]) >= 0
    assert {one["metric"]["place"] for one in found["Free on disk"][0]} >= {"home"}
    assert float(found["Size of stores"][0][0]["value"][1]) > 0
    # A folder of backups is set, and there is none: the alert waits for its hour.
    assert [one["value"][1] for one in found["ProctorBackupOld"][0]] == ["1"]
