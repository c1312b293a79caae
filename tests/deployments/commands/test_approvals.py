"""The commands of requests: a schedule asks, two people decide, and the next run plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from typer.testing import CliRunner, Result

from deployments.auth import hash_password
from schemas.errors import GateError
from schemas.settings import Settings, load_settings
from tasks.running.flow_runs.record import list_run_states
from tests.fresh import open_new_lake
from tests.tasks.exam.test_month import REGISTRY
from tests.tasks.exam.world import make_bank
from tests.warehouse.bank_rows import land_bank_rows
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import users

PASSWORD = "correct horse battery"
MONTH = "2026-11"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    settings = Settings(home=folder)
    with open_new_lake(settings) as lake:
        land_bank_rows(lake, make_bank())
    (folder / "models.yaml").write_text(REGISTRY)
    stored = hash_password(PASSWORD)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        for name, role in (("eve", "examiner"), ("otto", "admin"), ("ann", "analyst")):
            users.add_user(connection, user_id=name, role=role, password_hash=stored)
    monkeypatch.setenv("PROCTOR_HOME", str(folder))
    monkeypatch.setenv("PROCTOR_TWO_PERSONS", '["plan"]')
    monkeypatch.setenv("PROCTOR_SET_SIZE", "6")
    monkeypatch.setenv("PROCTOR_DISCIPLINES", '["Engineering", "Law", "History"]')
    load_settings.cache_clear()
    return folder


def run(*arguments: str, password: str = PASSWORD) -> Result:
    from deployments.cli import app

    return CliRunner().invoke(app, list(arguments), input=f"{password}\n")


def evaluate(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The flow as a schedule runs it, without its sittings."""
    import flows.evaluate as flow
    from deployments.flow_runs import run_flow

    sat = {"sessions": 0, "answers": 0, "calls": {}, "open_sessions": []}
    monkeypatch.setattr(flow, "sit_run", lambda *_: sat)
    found: dict[str, Any] = run_flow("evaluate", without_server=True, month=MONTH)
    return found


def test_a_schedule_asks_two_people_decide_and_the_next_run_plans(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its run has failed, so that whoever is told of failures hears that somebody must agree.
    for _ in range(2):
        with pytest.raises(GateError, match="proctor approvals approve 1 --as USER"):
            evaluate(monkeypatch)
    with open_ledger(Settings(home=home).ledger_address) as ledger:
        assert [run.state for run in list_run_states(ledger, most=9)] == ["failed", "failed"]

    shown = json.loads(run("approvals", "list", "--json").stdout)
    assert [(row["what"], row["target"], row["state"]) for row in shown] == [("plan", MONTH, "asked")]
    parameters = json.loads(run("approvals", "show", "1", "--json").stdout)["parameters"]
    assert parameters["candidates"] == ["alpha", "beta"]
    assert run("approvals", "show", "2").exit_code == 2

    for name, password in (("eve", "another one"), ("nobody", PASSWORD), ("ann", PASSWORD)):
        assert run("approvals", "approve", "1", "--as", name, password=password).exit_code == 1
    first = run("approvals", "approve", "1", "--as", "eve")
    assert (first.exit_code, "eve answers for request 1 now" in first.stdout) == (0, True)
    assert "is eve's own" in run("approvals", "approve", "1", "--as", "eve").stderr
    assert "is approved" in run("approvals", "approve", "1", "--as", "otto").stdout
    assert evaluate(monkeypatch)["run_id"] == MONTH
    assert json.loads(run("approvals", "list", "--json").stdout) == []
    assert [row["state"] for row in json.loads(run("approvals", "list", "--all", "--json").stdout)] == [
        "used"
    ]
    assert "is used already" in run("approvals", "refuse", "1", "--as", "otto").stderr

    with open_ledger(Settings(home=home).ledger_address) as ledger, ledger.read() as connection:
        tried = [
            row
            for row in connection.execute(select(access_log).order_by(access_log.c.number))
            if row.action == "approve_request"
        ]
    assert [row.code for row in tried] == [
        "password_wrong",
        "password_wrong",
        "permission_missing",
        "own_request",
        None,
    ]
    public = [json.loads(line) for line in (home / "public/log.jsonl").read_text().splitlines()]
    assert [line["body"]["approved_by"] for line in public if line["kind"] == "approve"] == ["otto"]


def test_a_command_that_waits_ends_with_three_and_says_how_it_goes_on(home: Path) -> None:
    done = run("evaluate", "--month", MONTH, "--yes", "--no-server")
    assert (done.exit_code, "proctor approvals approve 1 --as USER" in done.stderr) == (3, True)
    assert "is refused" in run("approvals", "refuse", "1", "--as", "otto").stdout
    again = run("evaluate", "--month", MONTH, "--yes", "--no-server", "--json")
    assert (again.exit_code, "is request 2" in json.loads(again.stdout)["error"]) == (3, True)
