"""A lake that version 0.1.0 wrote is opened by this version.

Nothing is lost, and nothing is reported differently.
"""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import StoreError
from schemas.settings import Settings
from schemas.tables import TABLES
from tests.fresh import copy_home
from tests.warehouse.first_form import read_said, unpack_first_home
from warehouse.lake import Lake, open_lake
from warehouse.lake.form import FORM
from warehouse.lake.reading import LakeReader, run_checks
from warehouse.lake.reading.queries import read_queries

ROOT = Path(__file__).parents[3]
SAID = read_said()
DIES_HALF_WAY = """
import os, sys
from pathlib import Path
from schemas.settings import Settings
from warehouse.lake import upgrade
from warehouse.lake.store import open_lake

whole = upgrade.list_missing_definitions

def half(connection):
    found = whole(connection)
    if not found:
        return found
    def give():
        yield from found[: len(found) // 2]
        os._exit(9)
    return give()

upgrade.list_missing_definitions = half
open_lake(Settings(home=Path(sys.argv[1])))
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    return unpack_first_home(tmp_path)


@pytest.fixture(scope="module")
def brought_up_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its closed home after this version's first writer; copied."""
    settings = unpack_first_home(tmp_path_factory.mktemp("first"))
    open_lake(settings).close()
    return settings.home


@pytest.fixture
def brought_up(brought_up_home: Path, tmp_path: Path) -> Settings:
    settings = Settings(home=tmp_path / "brought up")
    copy_home(brought_up_home, settings)
    return settings


@pytest.fixture(scope="module")
def lake(brought_up_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    settings = Settings(home=tmp_path_factory.mktemp("first") / "home")
    copy_home(brought_up_home, settings)
    with open_lake(settings) as lake:
        yield lake


def test_every_table_of_the_lake_keeps_its_rows_and_the_checks_pass(lake: Lake) -> None:
    counts = {
        name: lake.query(f'select count(*) from "{name}"').item()
        for name in (*TABLES, "bank")
        if name in SAID["lake_rows"]
    }
    assert counts == SAID["lake_rows"]
    assert sum(counts.values()) > 5_000
    assert [result.name for result in run_checks(lake) if not result.is_passed] == []


@pytest.mark.parametrize("name", ["leaderboard", "monthly_trend", "sessions_left_out"])
def test_what_was_published_says_what_it_said_value_by_value(lake: Lake, name: str) -> None:
    rows = lake.run_named(name).to_dicts()
    assert len(rows) == len(SAID[name])
    for row, said in zip(rows, SAID[name], strict=True):
        assert {key: as_json(row[key]) for key in said} == {
            key: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            for key, value in said.items()
        }


def test_its_views_are_those_of_this_version(lake: Lake) -> None:
    views = set(
        lake.query("select view_name from duckdb_views() where database_name = 'exam' and not internal")[
            "view_name"
        ]
    )
    assert views == {*read_queries("marts"), *read_queries("staging")}


def test_opening_again_changes_nothing(brought_up: Settings) -> None:
    with open_lake(brought_up) as lake:
        first = lake.query("select max(snapshot_id) from ducklake_snapshots('exam')").item()
    with open_lake(brought_up) as lake:
        assert lake.query("select max(snapshot_id) from ducklake_snapshots('exam')").item() == first


def test_a_reader_alone_reads_it(settings: Settings) -> None:
    with LakeReader(settings) as reader:
        models = [record["model"] for record in reader.run_named("leaderboard").as_records()]
    assert models == [row["model"] for row in SAID["leaderboard"]]


def test_what_the_contract_has_grown_by_since_is_added_by_the_next_writer(brought_up: Settings) -> None:
    with open_lake(brought_up) as lake:
        lake.connection.execute("DROP VIEW current_standings")
        lake.connection.execute("DROP TABLE edition_standings")
    with open_lake(brought_up) as lake:
        assert lake.query("SELECT count(*) FROM edition_standings").item() == 0
        assert lake.query("SELECT count(*) FROM current_standings").item() == 0


def test_a_kill_while_definitions_are_added_leaves_the_lake_as_it_was(
    brought_up: Settings, warm_python: str
) -> None:
    with open_lake(brought_up) as lake:
        for name in ("leaderboards", "current_standings"):
            lake.connection.execute(f"DROP VIEW {name}")
    died = subprocess.run([warm_python, "-c", DIES_HALF_WAY, str(brought_up.home)], cwd=ROOT, check=False)
    assert died.returncode == 9
    assert not list_views(brought_up) & {"leaderboards", "current_standings"}

    with open_lake(brought_up) as lake:
        assert lake.run_named("leaderboard").height == len(SAID["leaderboard"])


def test_a_lake_of_another_form_is_refused_by_every_door_and_left_as_it_is(
    brought_up: Settings, tmp_path: Path
) -> None:
    doors: tuple[Callable[[Settings], Any], ...] = (
        open_lake,
        LakeReader,
        lambda settings: open_lake(settings, read_only=True),
    )
    for number, (comment, named) in enumerate(
        (
            ("One row per landing. [lake form 99]", "its rows have form 99"),
            ("One row per landing. [form 4]", "no form that this version knows"),
            ("One row per landing.", "no form that this version knows"),
        )
    ):
        settings = Settings(home=tmp_path / f"form {number}")
        copy_home(brought_up.home, settings)
        with open_lake(settings) as lake:
            lake.connection.execute(f"COMMENT ON TABLE landings IS '{comment}'")
        for door in doors:
            with pytest.raises(StoreError, match=rf"{named}.*reads form {FORM}.*before the first release"):
                door(settings)
            assert read_form_comment(settings) == comment


def read_form_comment(settings: Settings) -> str:
    with closing(sqlite3.connect(settings.home / "lake" / "catalog.sqlite")) as catalog:
        rows = catalog.execute(
            "select value from ducklake_tag where end_snapshot is null and value like 'One row per landing%'"
        ).fetchall()
    return str(rows[0][0])


def list_views(settings: Settings) -> set[str]:
    with closing(sqlite3.connect(settings.home / "lake" / "catalog.sqlite")) as catalog:
        rows = catalog.execute("select view_name from ducklake_view where end_snapshot is null").fetchall()
    return {str(name) for (name,) in rows}


def as_json(value: object) -> object:
    return value.isoformat() if isinstance(value, date | datetime) else value
