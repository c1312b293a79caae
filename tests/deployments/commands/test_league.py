"""`proctor league`: from the plan to an entrant and people's decisions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deployments.model_server import start_model_server
from schemas.settings import Settings
from tests.deployments.conftest import copy_new_home
from tests.deployments.test_cli import invoke
from tests.tasks.league.world import ENTRANT, build_profile, make_profile, write_registry
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user

THREE = "sim-a1,sim-b1,sim-c1"
ADDRESS: dict[str, str] = {}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose simulated candidates answer."""
    home = tmp_path_factory.mktemp("league") / "home"
    settings = Settings(home=home)
    copy_new_home(home)
    write_registry(settings.registry_path)
    with open_ledger(settings.ledger_address) as ledger, ledger.write() as connection:
        add_user(connection, user_id="eve", role="annotator")
    content = build_profile(memorised=0.5, detection=1.0)
    with start_model_server(make_profile(content)) as server:
        ADDRESS["PROCTOR_SIMULATED_URL"] = server.url
        yield home


def read(home: Path, *arguments: str) -> Any:
    return json.loads(invoke(home, *arguments, "--json", **ADDRESS).stdout)


def test_a_league_goes_from_its_plan_to_its_people_and_its_entrant(home: Path, tmp_path: Path) -> None:
    chosen = ("--candidates", THREE, "--domain", "law", "--runs", "2", "--season", "2026-Q4", "--published")
    plan = read(home, "league", "plan", *chosen)
    assert [(row["model"], row["asking_calls"], row["judging_calls"]) for row in plan] == [
        (name, 2, 2) for name in THREE.split(",")
    ]
    assert read(home, "league", "status") == []

    played = read(home, "league", "run", "autumn", *chosen, "--no-server")
    # Each of six rounds: a question, two answers, the asker's judgement of both; one answer alone is not ranked.
    assert (played["rounds"], played["finished_rounds"], played["calls"]["sent"]) == (6, 6, 6 * 4)
    again = read(home, "league", "run", "autumn", "--no-server")
    assert (again["new_rounds"], again["calls"]) == (0, {})
    [status] = read(home, "league", "status", "autumn")
    assert (status["round_count"], status["finished_count"], status["waiting_question_count"]) == (6, 6, 6)

    workbook = tmp_path / "work.xlsx"
    exported = read(home, "league", "validate", "export", "autumn", str(workbook), "--user", "eve")
    assert exported["questions"] == 6
    imported = read(home, "league", "validate", "import", "autumn", str(workbook), "--user", "eve")
    assert imported["left_empty"] == 6 + exported["flagged_answers"]

    [entrant] = read(home, "league", "enter", "autumn", "--candidate", ENTRANT, "--matches", "3")
    assert (entrant["domain"], entrant["match_count"], entrant["candidate_count"]) == ("law", 3, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "--candidates", "sim-a1,sim-b1"), "3 to 26 candidates"),
        (("plan", "--candidates", THREE, "--domain", "alchemy"), "no domain 'alchemy'"),
        (("plan", "--candidates", THREE, "--domain", "law,law"), "one name"),
        (("plan", "--candidates", THREE, "--language", "fr"), "'fr' is unknown"),
        (("plan", "--candidates", THREE, "--benchmark", "nowhere.txt"), "does not exist"),
        (("run", "nothing"), "is not claimed yet"),
        (("status", "nothing"), "no league 'nothing'"),
        (("season", "--season", "autumn"), "is no season"),
        (("enter", "nothing", "--candidate", ENTRANT), "no league 'nothing'"),
        (("validate", "export", "nothing", "work.xlsx", "--user", "eve"), "no league 'nothing'"),
        (("validate", "export", "nothing", "work.txt", "--user", "eve"), "name a file .xlsx"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(home: Path, arguments: tuple[str, ...], message: str) -> None:
    result = invoke(home, "league", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
