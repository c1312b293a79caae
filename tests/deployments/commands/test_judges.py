"""`calibrate drift errors contamination` as typed, one after the other on one judged run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from schemas.settings import Settings
from tests.deployments.test_cli import invoke
from tests.tasks.judging.calibration.rated_run import PEOPLE, RUN, fill_workbook, open_rated_run
from tests.tasks.judging.test_addresses import make_key
from tests.tasks.judging.test_unparsed import QUESTIONS, open_room
from tests.tasks.models.simulation import start_server
from warehouse.ledger.trust.users import add_user

WOBBLY = {"kind": "judge", "agreement": 0.5, "leniency": -1.0, "wobble": 0.2}


@pytest.fixture(scope="module")
def rated_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("rated") / "home"
    with open_rated_run(home):
        pass
    return home


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A home with a judged simulated run, and the address of its judges and a candidate."""
    folder = tmp_path_factory.mktemp("simulated")
    with pytest.MonkeyPatch.context() as patch, open_room(folder, patch, first_judge=WOBBLY) as room:
        room.judge()
        with room.ledger.write() as connection:
            add_user(connection, user_id="ann", role="annotator")
    with start_server(
        make_key(), models={"first-judge": WOBBLY, "next-judge": {"kind": "judge", "agreement": 1.0}}
    ) as server:
        yield folder / "home", server.url


def run(home: Path, *arguments: str, code: int = 0, url: str = "") -> Any:
    variables = {
        "PROCTOR_NO_SERVER": "true",
        "PROCTOR_JUDGE_RATINGS_GATE": "100",
        "PROCTOR_JUDGES": '["first-judge"]',
    }
    if url:
        variables["PROCTOR_SIMULATED_URL"] = url
    else:
        del variables["PROCTOR_JUDGES"]
    done = invoke(home, *arguments, "--json", **variables)
    assert done.exit_code == code, f"{arguments}: {done.stdout}{done.stderr}"
    return json.loads(done.stdout) if done.stdout.strip() else None


def test_a_judge_is_calibrated_by_commands_alone(rated_home: Path, tmp_path: Path) -> None:
    home = rated_home
    assert "Nothing was drawn" in run(home, "calibrate", "report", code=2)["error"]
    drawn = run(home, "calibrate", "draw", RUN, "--raters", ",".join(PEOPLE), "--size", "120")
    assert (drawn["responses"], drawn["candidates"], drawn["disciplines"]) == (120, 6, 10)
    for name in PEOPLE:
        path = tmp_path / f"{name}.xlsx"
        assert run(home, "calibrate", "export", str(path), "--user", name)["responses"] == 80
        fill_workbook(path, lambda _key, row: row % 4)
        assert run(home, "calibrate", "import", str(path), "--user", name)["new"] == 80
    status = run(home, "calibrate", "status")
    assert status["rated_by_two"] == 120
    assert status["settled"] + status["in_dispute"] == 120
    # Too few are settled: the gate says so, and what was computed is kept.
    done = invoke(home, "calibrate", "report", PROCTOR_NO_SERVER="true", PROCTOR_JUDGE_RATINGS_GATE="100")
    assert done.exit_code == 3
    assert "No judge was compared with people on 100 responses" in " ".join(done.stderr.split())
    found = run(home, "sql", "judge_groups", "--param", "kind=all")
    assert {row["judge"] for row in found} == {"judge-a", "judge-b"}
    assert max(row["pair_count"] for row in found) <= status["settled"]


def test_marks_in_a_file_are_compared(rated_home: Path, tmp_path: Path) -> None:
    path = tmp_path / "marks.csv"
    path.write_text("one,two\n1,1\n2,2.5\n3,3\n,1\n")
    found = run(rated_home, "calibrate", "marks", str(path), "--columns", "one,two")
    assert (found["pair_count"], found["left_out"], found["step"]) == (3, 1, 0.5)
    assert found["agreement"]["value"] == pytest.approx(2 / 3)
    run(rated_home, "calibrate", "marks", str(path), "--columns", "one,three", code=2)


def test_a_judge_is_watched_by_commands_alone(simulated: tuple[Path, str]) -> None:
    home, url = simulated
    run(home, "drift", "run", "--month", "2026-10", code=2, url=url)
    assert run(home, "drift", "draw", "run-1", "--size", str(QUESTIONS), url=url)["responses"] == QUESTIONS
    first = run(home, "drift", "run", "--month", "2026-10", url=url)
    assert (first["anchor_judgements"], first["watched_judges"]) == (3 * QUESTIONS, ["first-judge"])
    assert run(home, "drift", "run", "--month", "2026-10", url=url)["anchor_judgements"] == 0
    run(home, "drift", "run", "--month", "2026-11", url=url)
    (check,) = run(home, "drift", "report", url=url)["checks"]
    assert (check["month"], check["is_alarm"]) == ("2026-11", False)


def test_failures_are_labelled_by_commands_alone(simulated: tuple[Path, str], tmp_path: Path) -> None:
    home, url = simulated
    drawn = run(home, "errors", "draw", "run-1", "--per-model", "5", url=url)
    assert (drawn["sample_id"], drawn["responses"]) == ("run-1", 5)
    # Who sits the exam is not shown reference answers, nor what others wrote.
    registry = Settings(home=home).registry_path
    registry.write_text(
        registry.read_text("utf-8")
        + "  sitter: {provider: simulated, organisation: Own, roles: [candidate]}\n"
    )
    refused = run(home, "errors", "prelabel", "--model", "sitter", code=2, url=url)["error"]
    assert "model 'sitter' is a candidate, and would read the questions and answers" in refused
    assert run(home, "errors", "prelabel", "--model", "next-judge", url=url)["labelled"] == 5
    path = tmp_path / "failures.xlsx"
    assert run(home, "errors", "export", str(path), url=url)["responses"] == 5
    workbook = load_workbook(path)
    for row in range(2, 7):
        workbook["answers"].cell(row, 5).value = "misunderstanding"
    workbook.save(path)
    assert run(home, "errors", "import", str(path), "--user", "ann", url=url)["new"] == 5
    found = run(home, "errors", "report", url=url)
    assert found["labelled_by_people"] == 5
    assert [(row["error_class"], row["error_share"]) for row in found["shares"]] == [
        ("misunderstanding", 100.0)
    ]


def test_a_judge_is_tried_and_a_replay_reported(simulated: tuple[Path, str], tmp_path: Path) -> None:
    home, url = simulated
    tried = run(home, "calibrate", "selftest", "--judge", "next-judge", url=url)
    assert {row["address"] for row in tried["addresses"]} >= {"plain", "order", "reply"}
    path = tmp_path / "public.csv"
    path.write_text("question\n" + "\n".join(f"第{n}届大会于{1500 + n}年召开。" for n in range(200, 220)))
    arguments = ("contamination", "run", "--models", "next-judge", "--set", str(path), "--name", "r1")
    assert run(home, *arguments, url=url)["completions"] == 60
    assert run(home, *arguments, url=url)["completions"] == 0
    (share,) = run(home, "contamination", "report", "--name", "r1", url=url)["shares"]
    assert (share["question_count"], share["is_flagged"]) == (20, False)
    run(home, "contamination", "report", "--name", "r9", code=2, url=url)
    run(home, "contamination", "run", "--models", "next-judge", "--set", "nowhere.csv", code=2, url=url)
