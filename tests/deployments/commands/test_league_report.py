"""`proctor import league` and `proctor league report`, in process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deployments.cli import app
from schemas.settings import load_settings
from tests.deployments.conftest import copy_new_home

SCORES = "league_run,round,asker,judge,answerer,rank\n" + "".join(
    f"{run},{number},{asker},{judge},{answerer},{rank}\n"
    for run in (1, 2)
    for number, asker in enumerate("abcd", 1)
    for judge in "abcd"
    for rank, answerer in enumerate((one for one in "abcd" if one not in (asker, judge)), 1)
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PROCTOR_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    load_settings.cache_clear()
    copy_new_home(tmp_path / "home")
    (tmp_path / "scores.csv").write_text(SCORES)
    return tmp_path / "home"


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, [*arguments, "--json"])
    return done.exit_code, done.stdout


def test_scores_are_imported_and_reported(home: Path) -> None:
    code, text = run(
        "import", "league", "scores.csv", "--league", "summer", "--domain", "mathematics", "--family", "X=a,b"
    )
    imported = json.loads(text)
    assert (code, imported["scores"], imported["candidates"]) == (0, {"scores.csv": 2 * 4 * 9}, list("abcd"))

    code, text = run("league", "report", "summer", "--resamples", "100", "--repeats", "1")

    reported = json.loads(text)
    assert code == 0
    assert reported["scores"] == {"mathematics, full": 72}
    assert reported["has_questions"] is False
    assert reported["rows"]["league_scores"] == 4
    page = Path(reported["report"])
    assert page == home / "reports" / "league-summer.html"
    assert page.exists() and page.with_suffix(".csv").exists()
    code, text = run("sql", "league_ranking")
    assert [row["model"] for row in json.loads(text)] == list("abcd")
    assert json.loads(run("sql", "league_families")[1])[0]["family"] == "X"
    code, text = run("league", "report", "summer", "--out", "scores.csv")
    assert (code, "scores.csv is a file" in json.loads(text)["error"]) == (2, True)


def test_a_file_that_is_wrong_is_one_sentence_and_lands_nothing(home: Path) -> None:
    Path("wrong.csv").write_text("judge,answerer,score\na,a,1\n")
    code, text = run("import", "league", "wrong.csv", "--league", "summer", "--domain", "law")
    assert code == 2
    assert json.loads(text)["error"].startswith("wrong.csv, row 1: a judges itself.")
    code, text = run("league", "report", "summer")
    assert (code, "There is no league 'summer'" in text) == (2, True)


def test_a_family_that_is_not_written_as_one_is_refused(home: Path) -> None:
    for families in (["X"], ["X="], ["=a"], ["X=a", "Y=a"]):
        named = [word for family in families for word in ("--family", family)]
        code, text = run("import", "league", "scores.csv", "--league", "s", "--domain", "law", *named)
        assert (code, "--family" in json.loads(text)["error"]) == (2, True), families
