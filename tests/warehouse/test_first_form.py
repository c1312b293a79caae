"""A lake that the first form wrote is opened by this version: nothing is lost, and nothing is said differently."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import StoreError
from schemas.settings import Settings
from schemas.tables import TABLES
from tasks.editions.gates import GATES
from tasks.editions.publish import Revision, publish_run
from tests.warehouse.first_form import read_said, unpack_first_home
from warehouse.lake import Lake, LakeReader, open_lake, run_checks
from warehouse.lake.migrations import FORM
from warehouse.lake.queries import read_queries

ROOT = Path(__file__).parents[2]
SAID = read_said()
DIES_HALF_WAY = """
import os, sys
from pathlib import Path
from schemas.settings import Settings
from warehouse.lake import upgrade
from warehouse.lake.store import open_lake

whole = upgrade.list_updates

def half(form):
    yield from whole(form)[:4]
    os._exit(9)

upgrade.list_updates = half
open_lake(Settings(home=Path(sys.argv[1])))
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    return unpack_first_home(tmp_path)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with open_lake(unpack_first_home(tmp_path_factory.mktemp("first"))) as lake:
        yield lake


@pytest.fixture(scope="module")
def published_home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The first form's home after its runs were published; its two ratings open no gate."""
    settings = unpack_first_home(tmp_path_factory.mktemp("published"))
    asked = Revision(overridden=tuple(GATES), reason="The first form published without gates.")
    with open_lake(settings) as lake:
        for run_id in lake.read("unpublished_runs")["run_id"]:
            publish_run(lake, settings, str(run_id), settings.disciplines, asked)
    return settings


def test_once_published_the_leaderboard_says_what_it_said_value_by_value(published_home: Settings) -> None:
    with open_lake(published_home, read_only=True) as lake:
        found = {
            name: lake.run_named(name).to_dicts()
            for name in ("leaderboard", "monthly_trend", "sessions_left_out")
        }
    for name, rows in found.items():
        assert len(rows) == len(SAID[name])
        for row, said in zip(rows, SAID[name], strict=True):
            assert {key: as_json(row[key]) for key in said} == {
                key: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
                for key, value in said.items()
            }


def test_nothing_is_published_by_opening_a_home(lake: Lake) -> None:
    assert lake.run_named("leaderboard").is_empty()
    assert lake.read("unpublished_runs")["run_id"].to_list() == ["sim-2026-10", "sim-2026-11"]


def test_every_table_of_the_lake_keeps_its_rows_and_the_checks_pass(lake: Lake) -> None:
    counts = {
        name: lake.query(f'select count(*) from "{name}"').item()
        for name in (*TABLES, "bank")
        if name in SAID["lake_rows"]
    }
    assert counts == SAID["lake_rows"]
    assert [result.name for result in run_checks(lake) if not result.is_passed] == []


def test_units_of_judgements_name_the_version_of_the_prompt_in_every_table(lake: Lake) -> None:
    rows = lake.query(
        """
        select table_name, unit, landing_unit from landings where table_name = 'judgements' or unit like '%/%/%'
        union all
        select table_name, unit, landing_unit from quarantine where table_name = 'judgements'
        """
    ).rows()
    judged = lake.query("select distinct session_id, judge from judgements").rows()

    units = {f"{session_id}/{judge}/prompt-1" for session_id, judge in judged}
    assert {unit for table, unit, _ in rows if table == "judgements"} == units
    assert {unit for table, unit, _ in rows if table == "llm_calls"} == {
        unit for unit in units if "/second-judge/" not in unit
    }
    assert [row for row in rows if row[2] != f"{row[0]}/{row[1]}"] == []
    assert set(lake.query("select landing_unit from judgements")["landing_unit"]) == units
    calls = lake.query("select distinct landing_unit from llm_calls where purpose = 'judge'")["landing_unit"]
    assert set(calls) == {unit for unit in units if "/second-judge/" not in unit}


def test_added_columns_have_their_values_on_old_rows(lake: Lake) -> None:
    assert lake.query("select distinct prompt_version, occasion from calibration").rows() == [("1", "first")]
    labels = lake.query(
        "select is_human, parse_status, prompt_version, raw from error_labels order by is_human"
    )
    assert labels.rows() == [(False, "parsed", "1", None), (True, "parsed", None, None)]
    entry = lake.query("select accessed_at, http_status from access_log order by access_id limit 1").row(0)
    assert (entry[0].year, entry[1]) == (2026, 200)


def test_views_of_the_first_form_are_gone(lake: Lake) -> None:
    views = set(
        lake.query("select view_name from duckdb_views() where database_name = 'exam' and not internal")[
            "view_name"
        ]
    )
    assert views == {*read_queries("marts"), *read_queries("staging")}


def test_opening_again_changes_nothing(settings: Settings) -> None:
    with open_lake(settings) as lake:
        first = lake.query("select max(snapshot_id) from ducklake_snapshots('exam')").item()
    with open_lake(settings) as lake:
        assert lake.query("select max(snapshot_id) from ducklake_snapshots('exam')").item() == first


def test_a_reader_brings_the_lake_up_to_date_before_it_reads(settings: Settings) -> None:
    with LakeReader(settings) as reader:
        assert reader.run_named("leaderboard").rows == []
    with open_lake(settings, read_only=True) as lake:
        assert lake.read("unpublished_runs")["run_id"].to_list() == ["sim-2026-10", "sim-2026-11"]
        assert lake.query("select count(*) from judgements").item() == SAID["lake_rows"]["judgements"]


def test_a_reader_of_the_published_home_says_what_the_first_form_said(published_home: Settings) -> None:
    with LakeReader(published_home) as reader:
        models = [record["model"] for record in reader.run_named("leaderboard").as_records()]
    assert models == [row["model"] for row in SAID["leaderboard"]]


@pytest.mark.parametrize("door", [LakeReader, lambda settings: open_lake(settings, read_only=True)])
def test_a_lake_made_before_there_were_editions_is_brought_up_to_date_by_a_reader(
    tmp_path: Path, door: Callable[[Settings], Any]
) -> None:
    settings = Settings(home=tmp_path)
    with open_lake(settings) as lake:
        for name in ("current_standings", "leaderboards", "current_editions"):
            lake.connection.execute(f"DROP VIEW {name}")
        for name in ("editions", "edition_sessions", "edition_standings"):
            lake.connection.execute(f"DROP TABLE {name}")
        # What is a view now was a table then.
        lake.connection.execute("CREATE TABLE whole_bank AS SELECT *, '1' AS landing_unit FROM bank")
        lake.connection.execute("DROP VIEW bank")
        lake.connection.execute("ALTER TABLE whole_bank RENAME TO bank")
        # What is a table now was computed then.
        lake.connection.execute("CREATE VIEW edition_sessions AS SELECT * FROM sessions")
        lake.connection.execute("COMMENT ON TABLE landings IS 'One row per landing: as it was. [form 2]'")

    with door(settings) as reader:
        reader.query("SELECT edition_id, is_reference FROM edition_sessions JOIN editions USING (edition_id)")
        assert len(reader.run_named("leaderboard", {}).columns) > 40
    assert f"[form {FORM}]" in read_form_comment(settings)


def test_a_kill_in_the_middle_leaves_the_first_form_whole(settings: Settings) -> None:
    died = subprocess.run([sys.executable, "-c", DIES_HALF_WAY, str(settings.home)], cwd=ROOT, check=False)
    assert died.returncode == 9
    assert "[form" not in read_form_comment(settings)

    with open_lake(settings) as lake:
        assert f"[form {FORM}]" in read_form_comment(settings)
        assert (
            lake.query("select count(*) from judgements where landing_unit like '%/prompt-1'").item()
            == (SAID["lake_rows"]["judgements"])
        )
        assert (
            lake.query("select count(*) from judgements where landing_unit like '%/prompt-1/%'").item() == 0
        )


def test_a_lake_of_a_newer_version_is_refused(settings: Settings) -> None:
    with open_lake(settings) as lake:
        lake.connection.execute("COMMENT ON TABLE landings IS 'Something new. [form 99]'")
    with pytest.raises(StoreError, match="newer version of Proctor"):
        open_lake(settings)


def read_form_comment(settings: Settings) -> str:
    with closing(sqlite3.connect(settings.home / "lake" / "catalog.sqlite")) as catalog:
        rows = catalog.execute(
            "select value from ducklake_tag where end_snapshot is null and value like 'One row per landing:%'"
        ).fetchall()
    return str(rows[0][0])


def as_json(value: object) -> object:
    return value.isoformat() if isinstance(value, date | datetime) else value
