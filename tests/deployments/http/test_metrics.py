"""Metrics of calls by route, of runs from the ledger; for this host, or with the token."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from starlette.testclient import TestClient

from deployments.http import check_free, render_run_metrics, write_run_metrics
from deployments.http.call_metrics import CallMetrics
from deployments.http.metrics import open_metrics_server
from deployments.http.server import AccessLines
from schemas.errors import UsageError
from schemas.ledger.engine import FlowSchedule
from schemas.settings import Settings
from tasks.running import ServerLines
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.runs.flow_runs import (
    StartedRun,
    begin_flow_run,
    end_flow_run,
    write_flow_schedules,
)


def read_samples(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """(name, values of the labels in the order of their names) → value."""
    return {
        (sample.name, tuple(sample.labels[label] for label in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def ask(port: int, path: str = "/metrics", token: str = "") -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_calls_are_counted_by_route_and_strangers_make_no_new_lines(registry: CollectorRegistry) -> None:
    app = FastAPI()

    @app.get("/sessions/{session_id}/next")
    def read_next(session_id: str) -> dict[str, str]:
        return {}

    client = TestClient(CallMetrics("exam API", registry).count(app))
    for name in ("secret-1", "secret-2"):
        client.get(f"/sessions/{name}/next")
    for number in range(20):
        client.get(f"/nowhere/{number}")
    client.request("BREW", "/nowhere")
    server = open_metrics_server(Settings(), registry, "127.0.0.1", 0)
    try:
        status, text = ask(server.server_port)
        assert (status, ask(server.server_port, "/other")[0]) == (200, 404)
    finally:
        server.shutdown()
        server.server_close()
    found = read_samples(text)
    calls = {
        labels: value for (name, labels), value in found.items() if name == "proctor_http_requests_total"
    }
    assert calls == {
        ("GET", "/sessions/{session_id}/next", "exam API", "200"): 2.0,
        ("GET", "other", "exam API", "404"): 20.0,
        ("other", "other", "exam API", "404"): 1.0,
    }
    assert found["proctor_http_request_seconds_count", ("/sessions/{session_id}/next", "exam API")] == 2.0
    assert found["proctor_http_requests_in_flight", ("exam API",)] == 0.0
    assert "secret" not in text


def test_metrics_are_this_hosts_alone_or_for_whoever_shows_the_token(registry: CollectorRegistry) -> None:
    with pytest.raises(UsageError, match="PROCTOR_METRICS_TOKEN"):
        open_metrics_server(Settings(), registry, "0.0.0.0", 0)
    server = open_metrics_server(Settings(metrics_token=SecretStr("a-token")), registry, "127.0.0.1", 0)
    try:
        port = server.server_port
        assert [ask(port)[0], ask(port, token="another")[0], ask(port, token="a-token")[0]] == [401, 401, 200]
        with pytest.raises(UsageError, match="Name another port"):
            open_metrics_server(Settings(), registry, "127.0.0.1", port)
    finally:
        server.shutdown()
        server.server_close()
    check_free("Metrics", "127.0.0.1", port)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    settings = make_settings(tmp_path / "home")
    with open_ledger(settings.ledger_address) as opened:
        models = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
        publish(opened, settings, models, make_bank())
        yield opened


def test_runs_are_numbers_of_the_ledger_and_a_missed_one_is_among_them(
    ledger: Ledger, tmp_path: Path
) -> None:

    with ledger.write() as connection:
        run = StartedRun("1", "seal", "seal-1", "seal", "schedule")
        begin_flow_run(connection, run, host="here", process_id=1)
        end_flow_run(connection, "1", "completed")
        deployed_at = "2020-01-01T00:00:00.000000+00:00"
        drift = FlowSchedule(
            deployment="drift", flow="drift", cron="0 6 15 * *", timezone="UTC", deployed_at=deployed_at
        )
        write_flow_schedules(connection, [drift])
    found = read_samples(render_run_metrics(Settings(home=tmp_path / "home"), ledger))
    assert found["proctor_flow_runs_total", ("seal", "completed")] == 1.0
    # What never failed is 0 and not absent: else its first failure would be no increase.
    assert found["proctor_flow_runs_total", ("monthly", "failed")] == 0.0
    assert found["proctor_flow_runs_total", ("seal", "crashed")] == 0.0
    assert ("proctor_missed_run_due_timestamp_seconds", ("drift",)) in found
    questions = {
        labels[0]: value for (name, labels), value in found.items() if name == "proctor_run_questions"
    }
    assert questions == {"alpha": 6.0, "rho": 6.0}
    write_run_metrics(Settings(home=tmp_path / "home"), ledger, tmp_path / "proctor.prom")
    assert read_samples((tmp_path / "proctor.prom").read_text()).keys() == found.keys()


def test_a_servers_lines_are_json_on_request_and_never_quote_what_an_error_said() -> None:
    lines: list[str] = []
    AccessLines(lines.append, as_json=True).write(
        {"path": "/sessions/s/next\n", "method": "GET", "state": {}}, 200, 3.4
    )
    logger = logging.getLogger("proctor.test_lines")
    logger.addHandler(ServerLines(lines.append, as_json=True))
    try:
        raise ValueError("机密 QZXW")
    except ValueError:
        logger.exception("Reading failed")
    first, second = (json.loads(line) for line in lines)
    assert {name: first[name] for name in ("part", "method", "path", "status", "ms")} == {
        "part": "proctor.access", "method": "GET", "path": "/sessions/s/next?", "status": 200, "ms": 3,
    }  # fmt: skip
    assert (second["level"], second["event"], second["error"]) == ("error", "Reading failed", "ValueError")
    assert "QZXW" not in lines[1]
