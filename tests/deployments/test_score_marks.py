"""What is to be known of an edition stands wherever a score of it stands, in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from fastapi.testclient import TestClient
from lxml import html
from typer.testing import CliRunner

from deployments.auth import Sessions
from deployments.cli import app
from deployments.web import create_app
from schemas.settings import Settings
from schemas.tables import TABLES
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.report import describe_marks
from tests.fresh import open_new_lake
from tests.hunts import some
from tests.tasks.editions.kit import Revision, describe_public, publish_run
from tests.tasks.editions.season import land_frames
from tests.tasks.exam.world import make_settings
from tests.tasks.report.synthetic import build_season
from tests.warehouse.lake.kit import connect_trial
from warehouse.lake import open_lake
from warehouse.lake.reading.queries import read_queries, write_nulls

RUN, MARKS = "run-2025-07", "overridden judge_controls, provisional, simulated"
# What a reader of the terminal, and of a page in either language, must meet.
ENGLISH = (
    "SIMULATED",
    "PROVISIONAL",
    "PUBLISHED WITH A GATE SHUT",
    "the judge has not shown that it can judge",
)
CHINESE = ("模拟数据", "暂定结果", "带着未过的门槛发布", "裁判未能证明自己会评判")
# Columns that hold S, or are made of it.
SCORES = re.compile(r"(?:.*_)?score|difference|change|gain|points")
PUBLISHED = {name for name in TABLES if name.startswith("edition_")}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Two simulated months without a calibration; the last was published over a shut gate."""
    settings = make_settings(tmp_path_factory.mktemp("marked") / "home", judge_ratings_gate=100)
    frames = build_season(repeats=1, is_simulated=True, is_calibrated=False)
    spoiled = pl.when((pl.col("run_id") == RUN) & (pl.col("kind") == "nonsense")).then(3).otherwise("stars")
    frames["judge_controls"] = frames["judge_controls"].with_columns(stars=spoiled.cast(pl.Int64))
    with open_new_lake(settings) as lake:
        land_frames(lake, frames)
        publish_run(lake, settings, "run-2025-06", EXAMINED_DISCIPLINES)
        forced = Revision(reason="the year must end", overridden=("judge_controls",))
        publish_run(lake, settings, RUN, EXAMINED_DISCIPLINES, forced)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_HOME", str(settings.home))
        yield settings


def ask(*words: str) -> str:
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def find_score_queries() -> dict[str, list[str]]:
    """The analyses that show published S, or what is made of it, with their columns."""
    marts = read_queries("marts")

    def reads(body: str, seen: frozenset[str] = frozenset()) -> bool:
        words = set(re.findall(r"\b[a-z_]+\b", body))
        return bool(words & PUBLISHED) or any(
            reads(marts[name].body, seen | {name}) for name in words & set(marts) - seen
        )

    with connect_trial() as connection:
        columns = {
            name: [
                str(one) for one, *_ in connection.execute(f"DESCRIBE {write_nulls(query.body)}").fetchall()
            ]
            for name, query in read_queries("analyses").items()
            if reads(query.body)
        }
    return {name: found for name, found in columns.items() if any(map(SCORES.fullmatch, found))}


@pytest.mark.hunt
def test_every_analysis_that_shows_a_score_marks_its_rows(home: Settings) -> None:
    columns = find_score_queries()
    assert len(columns) > 20
    assert [name for name, found in columns.items() if "marks" not in found] == []
    names = some([*columns], 8, kind=lambda name: name == "leaderboard")
    with open_lake(home, read_only=True) as lake:
        found = {name: lake.run_named(name) for name in names}
    assert {
        name: rows["marks"].unique().to_list()
        for name, rows in found.items()
        if not set(rows["marks"]) <= {MARKS, "provisional, simulated"}
    } == {}
    assert set(found["leaderboard"]["marks"]) == {MARKS}


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_table_has_them_above_it_at_80_columns_and_in_a_pipe(
    home: Settings, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
) -> None:
    monkeypatch.setattr(
        "deployments.command_line.printing.output._find_width", lambda _: 80 if is_terminal else None
    )
    told = ask("sql", "leaderboard")
    assert [word for word in ENGLISH if word not in told.partition("rank")[0]] == []
    mixed = ask("sql", "leaderboard_history")
    assert "of 36 rows)" in mixed
    # What all rows have is said once, whatever else some of them have.
    assert [line.count("rows)") for line in mixed.splitlines() if line.startswith("SIMULATED")] == [0]
    assert ask("sql", "judge_control_answers").startswith(("month", "run_id", "judge"))


def test_files_and_json_have_them_in_every_row(home: Settings, tmp_path: Path) -> None:
    rows = json.loads(ask("sql", "leaderboard", "--json"))
    assert {row["marks"] for row in rows} == {MARKS}
    read = csv.DictReader(io.StringIO(ask("sql", "leaderboard", "--format", "csv")))
    assert {row["marks"] for row in read} == {MARKS}
    for name in ("a.parquet", "a.xlsx"):
        ask("sql", "leaderboard", "--output", str(tmp_path / name))
    assert set(pl.read_parquet(tmp_path / "a.parquet")["marks"]) == {MARKS}
    head, *body = openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0].iter_rows(values_only=True)
    assert {row[head.index("marks")] for row in body} == {MARKS}


def test_a_verdict_an_export_a_citation_and_the_public_file_have_them(home: Settings) -> None:
    board = json.loads(ask("export", "leaderboard"))
    assert (board["edition"]["is_provisional"], board["edition"]["is_simulated"]) == (True, True)
    assert board["edition"]["overridden_gates"] == ["judge_controls"]
    for form in ("text", "bibtex", "cff"):
        cited = ask("export", "citation", "--format", form)
        assert [word for word in ("simulated", "provisional", "judge") if word not in cited] == []
    names = [row["model"] for row in board["styles"]["zero_shot"]][:2]
    told = ask("verdict", *names)
    assert [
        word
        for word in ("Provisional", "shut gate: the judge has not shown that it can judge", "Simulated")
        if word not in told
    ] == []
    with open_lake(home, read_only=True) as lake:
        head = lake.query("SELECT * FROM editions WHERE run_id = $run", {"run": RUN}).row(0, named=True)
        scores = lake.query("SELECT * FROM edition_scores WHERE run_id = $run", {"run": RUN})
    said = describe_public(head, scores)
    assert (said["is_simulated"], said["provisional"], said["overridden"]) == (
        True,
        ["uncalibrated"],
        ["judge_controls"],
    )


def test_every_page_of_the_report_and_every_table_of_its_data_has_them(
    home: Settings, tmp_path: Path
) -> None:
    # Prefect takes seconds to import: not while tests are collected.
    from tasks.report import render_reports

    render_reports.fn(str(tmp_path))
    pages = sorted(tmp_path.glob("*.html"))
    assert len(pages) > 10
    for path in pages:
        shown = html.document_fromstring(path.read_text("utf-8"))
        for language, words in (("en", ENGLISH), ("zh", CHINESE)):
            notes = [node for node in shown.iter() if node.get("role") == "note"]
            told = " ".join(
                "".join(map(str, node.itertext()))
                for note in notes
                for node in note.iter()
                if node.get("lang") == language
            )
            assert [word for word in words if word not in told] == [], path.name
    for path in (tmp_path / "leaderboard.csv", *sorted((tmp_path / "data").glob("*.csv"))):
        table = pl.read_csv(path)
        if {"score", "difference", "discipline_score", "standing_score"} & set(table.columns):
            assert "marks" in table.columns, path.name
            assert set(table["marks"]) <= {MARKS, "provisional, simulated"}, path.name


def test_results_runs_and_answers_on_the_server_have_them(home: Settings) -> None:
    app_of_desk = create_app(home)
    with TestClient(app_of_desk) as client:
        from warehouse.ledger.trust import users

        with app_of_desk.state.ledger.write() as connection:
            users.add_user(connection, user_id="anna", role="analyst")
        sessions: Sessions = app_of_desk.state.sessions
        cookie = sessions.start("anna")
        model = describe_first_model(home)
        for language, words in (("en", ENGLISH[:3]), ("zh", CHINESE[:3])):
            headers = {"cookie": f"proctor_session={cookie}", "accept-language": language}
            for path in ("/results", f"/runs/{RUN}", "/runs", f"/runs/{RUN}/answers?model={model}"):
                page = client.get(path, headers=headers)
                assert page.status_code == 200, path
                assert [word for word in words if word not in page.text] == [], path
        # S stands there with its interval and the questions that it rests on, and how it is attested.
        results = client.get("/results", headers={"cookie": f"proctor_session={cookie}"}).text
        for row in json.loads(ask("sql", "leaderboard", "--json")):
            interval = f"{row['score_low']:.1f}–{row['score_high']:.1f}"
            assert (
                f'<td class="number">{interval}</td><td class="number">{row["question_count"]}</td>'
                in results
            )
        assert "Attested: " in results


def describe_first_model(home: Settings) -> str:
    with open_lake(home, read_only=True) as lake:
        rows = lake.query("SELECT min(model) AS model FROM responses WHERE run_id = $run", {"run": RUN})
    return str(rows["model"][0])


def test_marks_are_told_by_kind_with_every_gate_in_one() -> None:
    assert describe_marks(None, "en") == []
    kinds = describe_marks("overridden keys, overridden later, provisional", "en")
    assert [kind for kind, *_ in kinds] == ["provisional", "gates"]
    assert kinds[1][2] == "the judge differs from too many keys, later."
