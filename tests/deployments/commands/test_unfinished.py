"""`proctor exam close`, `proctor judge --unparsed`, `proctor unparsed` as a user runs them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner, Result

from deployments.cli import app
from schemas.settings import load_settings
from tests.tasks.exam.world import make_bank, make_model, make_registry, make_settings, publish
from tests.tasks.judging.test_unparsed import MUTE, QUESTIONS, REGISTRY, land_session
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in [name for name in os.environ if name.startswith(("PROCTOR_", "PREFECT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PROCTOR_NO_SERVER", "true")
    monkeypatch.chdir(tmp_path)
    load_settings.cache_clear()
    yield tmp_path
    load_settings.cache_clear()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def run_json(*arguments: str) -> Any:
    done = run(*arguments, "--json")
    assert done.exception is None, done.output
    return json.loads(done.stdout)


def test_a_run_is_closed_as_it_stands_and_says_what_that_leaves(home: Path) -> None:
    settings = make_settings(home / "home")
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings):
        plan = publish(ledger, settings, registry, make_bank(), candidates=[], outside=["alpha"])
    session_id = plan.sessions[0].session_id

    assert run_json("exam", "close", session_id, "--reason", "gone") == {
        "session_ids": [session_id],
        "unanswered_count": 6,
        "error_count": 0,
        "run_ids": [],
    }
    done = run("exam", "close", plan.run_id, "--reason", "a rehearsal")
    assert done.exit_code == 0
    assert "Closed 1 session; unanswered, with 0 points: 6 questions" in done.stdout
    assert f"Run {plan.run_id} is closed." in done.stdout
    shown = run_json("exam", "sessions", "--run", plan.run_id)
    assert sorted(row["close_reason"] for row in shown) == ["a rehearsal", "gone"]
    refused = run("exam", "close", "nothing", "--reason", "x")
    assert (refused.exit_code, "no run and no session 'nothing'" in refused.stderr) == (2, True)


def test_what_no_judge_could_be_read_of_is_asked_again_and_then_given_to_a_person(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_settings(home / "home")
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        add_user(connection, user_id="eve", role="annotator")
    with open_lake(settings) as lake:
        land_session(lake)
    settings.registry_path.write_text(REGISTRY, "utf-8")
    with start_server(b"", models={"first-judge": MUTE, "next-judge": MUTE}) as server:
        monkeypatch.setenv("PROCTOR_SIMULATED_URL", server.url)
        judged = run_json("judge")
        assert (judged["unresolved_responses"], judged["overdue_sessions"]) == (QUESTIONS, 0)
        again = run("judge", "--unparsed")
        assert again.exit_code == 0
        assert "proctor unparsed export" in again.output
        assert server.state.requests["first-judge"] == 6 * QUESTIONS

    assert run_json("unparsed", "export", "unparsed.xlsx", "--run", "run-1")["responses"] == QUESTIONS
    workbook = load_workbook("unparsed.xlsx")
    for row in workbook["answers"].iter_rows(min_row=2):
        row[4].value, row[5].value = 1, "half of it"
    workbook.save("unparsed.xlsx")
    given = run_json("unparsed", "import", "unparsed.xlsx", "--user", "eve")
    assert given == {"judged": QUESTIONS, "left_empty": 0, "not_waiting": 0}
    resolved = run_json("sql", "resolved_judgements")
    assert {(row["counted_judge"], row["stars"], row["reason"]) for row in resolved} == {
        ("person:eve", 1, "half of it")
    }
    refused = run("unparsed", "export", "unparsed.txt")
    assert (refused.exit_code, "name a file .xlsx" in refused.stderr) == (2, True)
