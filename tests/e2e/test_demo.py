"""`make demo` as a newcomer meets it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from deployments.demo import WITHOUT_ROWS, count_rows, read_row_counts
from schemas.settings import Settings
from schemas.tables import TABLES
from tests.e2e.conftest import ANSWERS, Demo
from warehouse.lake import open_lake
from warehouse.lake.reading.queries import list_queries

pytestmark = pytest.mark.prefect


def look(demo: Demo, query: str) -> pl.DataFrame:
    with open_lake(Settings(home=demo.home.path), read_only=True) as lake:
        return lake.query(query)


def read_contents(home: Path) -> dict[str, str]:
    """A hash over every row of every table."""
    contents = {}
    with open_lake(Settings(home=home), read_only=True) as lake, lake.read_transaction():
        for name in TABLES:
            frame = lake.query(f"select * from {name} order by all")
            contents[name] = f"{frame.height} {hashlib.sha256(frame.write_json().encode()).hexdigest()}"
    return contents


def read_files(folder: Path) -> dict[str, str]:
    """A hash of every file, by its path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def expect(rows: list[dict[str, object]]) -> list[object]:
    """Rows to compare with; floats to 12 digits, for DuckDB adds them up in any order."""
    return [
        {
            name: pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in rows
    ]


@pytest.mark.makes_demo
def test_the_demo_examines_every_candidate_in_both_months(demo: Demo) -> None:
    rows = look(
        demo,
        "select month, count(distinct model) as candidates, count(*) as responses from responses group by all order by all",
    ).to_dicts()
    # the reference sits the sets of both groups: 6 × 90 and 180, where sets have 30 questions
    assert rows == [
        {"month": "2026-10", "candidates": 7, "responses": ANSWERS},
        {"month": "2026-11", "candidates": 7, "responses": ANSWERS},
    ]


def test_the_leaderboard_printed_is_the_one_in_the_lake(demo: Demo) -> None:
    asked = demo.home.read_json("sql", "leaderboard")
    assert asked == expect(demo.result["leaderboard"])
    assert len(asked) == 7
    assert all(row["is_simulated"] for row in asked)
    best = asked[0]
    assert f"{best['score']:.2f}" in demo.result["text"]
    assert "SIMULATED" in demo.result["text"]


def test_the_report_is_a_folder_of_pages_that_load_nothing_from_outside(demo: Demo) -> None:
    first = Path(demo.result["report"])
    page = first.read_text(encoding="utf-8")
    assert "sim-summit-1" in page
    assert "2026-10" in page
    costs = first.with_name("cost.html").read_text(encoding="utf-8")
    assert all(word in costs for word in ("考试作答", "评判", "联赛互评")), "what calls were for, in Chinese"
    for path in first.parent.glob("*.html"):
        loaded = re.findall(r"""(?:src|href)\s*=\s*["'](https?:|//)""", path.read_text(encoding="utf-8"))
        assert loaded == [], path.name


def test_a_second_demo_in_a_home_that_was_moved_pays_for_nothing_and_changes_no_row(
    demo: Demo, tmp_path: Path
) -> None:
    # Nor does it need the server of the first, which would only be told of flows that find nothing to do.
    home = demo.home.copy(tmp_path / "home", PROCTOR_NO_SERVER="true")
    before = read_contents(home.path)
    again = home.read_json("demo")
    assert again["new_calls"] == 0
    assert again["leaderboard"] == expect(demo.result["leaderboard"])
    assert again["text"] == demo.result["text"]
    assert read_contents(home.path) == before


def test_an_analyst_who_queries_meanwhile_is_never_refused_and_sees_whole_landings(demo: Demo) -> None:
    assert demo.reader.errors == []
    assert demo.reader.query_count > 20
    assert all(counted == landed for counted, landed in demo.reader.seen)
    counts = [counted for counted, _ in demo.reader.seen]
    assert counts == sorted(counts)
    assert counts[-1] == 2 * ANSWERS


@pytest.mark.long
def test_a_backup_restores_to_the_same_tables(demo: Demo, tmp_path: Path) -> None:
    demo.home.run("backup", str(tmp_path / "copy"))
    restored = replace(demo.home, path=tmp_path / "restored")
    restored.run("restore", str(tmp_path / "copy"))
    assert read_contents(restored.path) == read_contents(demo.home.path)
    assert restored.read_json("exam", "sessions") == demo.home.read_json("exam", "sessions")
    # The editions, bit for bit: rows with their hashes and proofs are in the tables above, the files are these.
    published = read_files(demo.home.path / "public")
    assert read_files(restored.path / "public") == published
    editions = demo.home.read_json("sql", "editions_published")
    assert len({name for name in published if name.startswith("editions/")}) >= len(editions) > 0
    assert restored.read_json("sql", "editions_published") == editions
    restored.run("exam", "verify")


def test_some_questions_were_rejected_and_some_edited(demo: Demo) -> None:
    rows = look(
        demo, "select outcome, was_edited, count(*) as n from review_decisions group by all order by all"
    )
    counts = {(row["outcome"], row["was_edited"]): row["n"] for row in rows.to_dicts()}
    assert counts["rejected", False] >= 5
    assert counts["accepted", True] >= 5
    bank = look(demo, "select discipline, count(distinct lineage_uuid) as n from bank group by all")
    assert bank.filter(pl.col("n") >= 15).height >= 10


# Stars that lie two apart are some three of 720 in a demo: in one of twenty there are none. One apart are two hundred.
FAR_APART = {"disputed_responses"}


@pytest.mark.long
def test_after_everything_each_analysis_has_a_row_or_its_reason_and_nothing_is_paid_twice(
    demo: Demo, tmp_path: Path
) -> None:
    home = demo.home.copy(tmp_path / "home")
    result = home.read_json("demo", "--everything", "--keep-server")
    page = read_row_counts()
    before_rows = count_rows(Settings(home=demo.home.path)).row_counts
    assert {name for name, count in before_rows.items() if count} | FAR_APART == {
        name for name, (first, _) in page.items() if first
    }
    counts: dict[str, int] = {}
    reasons: dict[str, str] = {}
    with open_lake(Settings(home=home.path), read_only=True) as lake:
        for query in list_queries(("analyses",)):
            values = {"least_distance": 1} if query.name in FAR_APART else {}
            counts[query.name] = lake.run_named(query.name, values).height
            reasons[query.name] = query.no_rows
        last_day = lake.query("select max(scored_on) as day from external_scores")["day"][0]
        kinds = {
            table: lake.query(f"select bool_and(is_simulated) as simulated from {table}")["simulated"][0]
            for table in ("runs", "judgements", "editions", "gscores", "replays", "error_samples")
        }
    empty = {name for name, count in counts.items() if not count}
    assert empty == set(WITHOUT_ROWS), "a query without a row is in the list, and none with rows is"
    assert empty == {name for name, (_, last) in page.items() if not last}, "the page of the papers' tables"
    told = {name: why for name, why in result["analyses_without_rows"].items() if name not in FAR_APART}
    assert told == {name: reasons[name] for name in sorted(empty)}
    assert result["analyses_with_rows"] == len(counts) - len(result["analyses_without_rows"])
    assert all(kinds.values()), kinds
    assert str(last_day) < "2026-11-01", "a day that is yet to come is refused, whenever the demo is run"
    asked = home.run("sql", "exposure_left", "--json")
    assert json.loads(asked.stdout) == []
    assert json.loads(asked.stderr)["no_rows"]["because"] == reasons["exposure_left"]

    before = read_contents(home.path)
    again = home.read_json("demo", "--everything", "--keep-server")
    assert again["new_calls"] == 0
    after = read_contents(home.path)
    assert {name for name, content in before.items() if after[name] != content} == set()
