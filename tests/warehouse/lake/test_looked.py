"""What was read of files is known by their bytes; every other file is read."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.settings import Settings
from schemas.tables import get_table
from tests.benchmarks.history_rows import History
from tests.fresh import copy_home, open_new_lake
from tests.warehouse.lake.kit import connect_duckdb
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Batch, Lake, open_lake, share_lake
from warehouse.lake.reading import list_checks, run_check
from warehouse.lake.upkeep import (
    Looked,
    check_landings,
    count_offending,
    integrity,
    look_at_rows,
    maintenance,
    merge_small_files,
)

MONTHS = ("2025-01", "2025-02")
TABLES = ("sessions", "allocations", "responses", "judgements")
CHECK = "every_judgement_has_a_response"
COUNTING = "landings_count_their_rows"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two months, landed as stages land them."""
    home = tmp_path_factory.mktemp("looked") / "home"
    history = History(2, 20)
    with open_new_lake(Settings(home=home)) as lake:
        for number, month in enumerate(MONTHS):
            land(lake, history, number, month)
    return home


def land(lake: Lake, history: History, number: int, month: str) -> None:
    frames, batches = history.list_frames(number, month), []
    for table in TABLES:
        names = [column.name for column in get_table(table).own_columns]
        empty = get_table(table).frame([]).select(names)
        rows = pl.concat(
            [empty, frames[table].select(set(names) & set(frames[table].columns))], how="diagonal"
        )
        batches.append(Batch(table, f"{table} of {month}", rows))
    lake.land_together(batches)


@pytest.fixture
def closed_home(made: Path, tmp_path: Path) -> Path:
    copy_home(made, Settings(home=tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def home(closed_home: Path) -> Iterator[Path]:
    """Attached once for all looks of a test."""
    with share_lake():
        yield closed_home


def look(
    home: Path, *, is_trusted: bool = True, checks: Iterable[str] = ()
) -> tuple[int, list[str], dict[str, int]]:
    """Rows read, landings that changed, and how many rows offend against each of `checks`."""
    read: list[int] = []
    with open_lake(Settings(home=home), read_only=True) as lake:
        looked = Looked(lake, is_trusted=is_trusted)
        found = check_landings(lake, read.append, looked)
        offending = {name: count_offending(lake, name, looked) for name in checks}
        looked.save()
    assert not found.unreadable
    return sum(read), found.changed, {name: count for name, count in offending.items() if count}


def find_file(home: Path, table: str, month: str) -> Path:
    (path,) = (home / "lake" / "data" / "main" / table / f"month={month}").glob("*.parquet")
    return path


def test_rows_are_read_once_and_then_those_of_new_files(home: Path) -> None:
    with open_lake(Settings(home=home), read_only=True) as lake:
        every = sum(int(lake.query(f"SELECT count(*) FROM {table}").item()) for table in TABLES)
    assert look(home, checks=list_checks()) == (every, [], {})
    assert look(home, checks=list_checks()) == (0, [], {})
    assert look(home, is_trusted=False) == (every, [], {})
    history = History(2, 20)
    with open_lake(Settings(home=home)) as lake:
        land(lake, history, 2, "2025-03")
        new = sum(
            int(lake.query(f"SELECT count(*) FROM {table} WHERE month = '2025-03'").item())
            for table in TABLES
        )
    # Also of sessions, which are not split by month.
    assert look(home) == (new, [], {})
    assert look(home) == (0, [], {})


def test_rows_that_were_looked_at_for_the_next_look_are_not_read_by_it_and_what_changed_is_said(
    home: Path,
) -> None:
    def look_ahead() -> None:
        with open_lake(Settings(home=home)) as lake:
            look_at_rows(lake)

    look_ahead()
    assert not (home / "doctor").exists(), "a first look is somebody's own"
    look(home)
    with open_lake(Settings(home=home)) as lake:
        kept = Looked(lake)
        kept.keep("another's", "", 1)
        kept.save(is_part=True)
        land(lake, History(2, 20), 2, "2025-03")
        changed = "UPDATE judgements SET stars = 3 - stars WHERE month = '2025-03'"
        with lake.transaction() as connection:
            connection.execute(changed)
    look_ahead()
    with open_lake(Settings(home=home)) as lake:
        assert Looked(lake).find_saved("another's", "") == 1
    assert look(home)[1] == ["judgements/judgements of 2025-03"]
    with open_lake(Settings(home=home)) as lake, lake.transaction() as connection:
        connection.execute(changed)
    look_ahead()
    assert look(home) == (0, [], {})


def test_a_file_that_lands_during_a_look_is_left_to_the_next(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = integrity._check_table
    months = ["2025-03"]

    def land_first(lake: Lake, *rest: Any) -> Any:
        for month in months[:1]:
            months.clear()
            land(lake, History(2, 20), 2, month)
        return check(lake, *rest)

    monkeypatch.setattr(integrity, "_check_table", land_first)
    with open_lake(Settings(home=home)) as lake:
        looked = Looked(lake)
        assert check_landings(lake, looked=looked).changed == []
        assert not months
        assert looked._kept.keys().isdisjoint({"units sessions/", "places units sessions/"})
        looked.save()
    assert look(home, checks=list_checks())[1:] == ([], {})


def test_what_lands_between_the_files_and_the_landings_is_no_change(home: Path) -> None:
    with open_lake(Settings(home=home)) as lake:
        looked = Looked(lake)
        land(lake, History(2, 20), 2, "2025-03")
        found = check_landings(lake, looked=looked)
        assert (found.changed, looked.is_counted) == ([], True)
        # What was changed past Proctor is, however often it is looked at.
        with lake.transaction() as connection:
            connection.execute("UPDATE judgements SET stars = 3 - stars WHERE month = '2025-03'")
        land(lake, History(2, 20), 3, "2025-04")
        assert check_landings(lake, looked=looked).changed == ["judgements/judgements of 2025-03"]


def test_a_file_whose_footer_was_changed_is_named_until_it_is_put_back(home: Path) -> None:
    """Its rows are as they were landed; by its footer filters pass over some of them."""
    changed = find_file(home, "responses", MONTHS[0])
    whole = changed.read_bytes()

    def list_changed(*, is_trusted: bool = True) -> list[str]:
        assert look(home, is_trusted=is_trusted)[1] == []
        with open_lake(Settings(home=home), read_only=True) as lake:
            looked = Looked(lake, is_trusted=is_trusted)
            check_landings(lake, lambda _: None, looked)
            looked.save()
            return looked.list_changed()

    assert list_changed() == []
    assert b"DuckDB version" in whole
    changed.write_bytes(whole.replace(b"DuckDB version", b"DuckDB Version"))
    named = [f"main/responses/month={MONTHS[0]}/{changed.name}"]
    assert list_changed() == list_changed() == list_changed(is_trusted=False) == named
    changed.write_bytes(whole)
    assert list_changed() == []


def test_rows_of_an_old_unit_in_a_new_file_are_found(home: Path) -> None:
    """Each file is as it was landed: a copy of a unit, and then a row added to it."""
    for table, rows in (("sessions", ""), ("responses", "LIMIT 1")):
        look(home)
        with open_lake(Settings(home=home)) as lake, lake.transaction() as connection:
            own = f"SELECT * FROM {table} WHERE landing_unit = '{table} of {MONTHS[0]}' {rows}"
            connection.execute(f"INSERT INTO {table} {own}")
        found = look(home)[1]
        assert f"{table}/{table} of {MONTHS[0]}" in found
        assert look(home, is_trusted=False)[1] == found


@pytest.mark.parametrize("table", ["responses", pytest.param("sessions", marks=pytest.mark.long)])
def test_a_unit_that_is_landed_again_after_its_landing_was_lost_is_found(home: Path, table: str) -> None:
    with open_lake(Settings(home=home)) as lake, lake.transaction() as connection:
        connection.execute(f"DELETE FROM landings WHERE unit = '{table} of {MONTHS[0]}'")
    look(home)
    with open_lake(Settings(home=home)) as lake:
        land(lake, History(2, 20), 0, MONTHS[0])
    assert look(home)[1] == look(home, is_trusted=False)[1] == [f"{table}/{table} of {MONTHS[0]}"]


@pytest.mark.parametrize("table", ["responses", pytest.param("sessions", marks=pytest.mark.long)])
def test_a_file_that_the_catalog_names_twice_is_found(closed_home: Path, table: str) -> None:
    """Its bytes are those of before, and each of its rows is there twice."""
    look(closed_home)
    with closing(sqlite3.connect(closed_home / "lake" / "catalog.sqlite")) as catalog, catalog:
        (number,) = catalog.execute(
            "SELECT min(f.data_file_id) FROM ducklake_data_file AS f "
            "JOIN ducklake_table AS t USING (table_id) WHERE t.table_name = ?",
            (table,),
        ).fetchone()
        for named in ("ducklake_data_file", "ducklake_file_partition_value"):
            names = [row[1] for row in catalog.execute(f"PRAGMA table_info({named})")]
            values = ", ".join("data_file_id + 900000" if name == "data_file_id" else name for name in names)
            catalog.execute(f"INSERT INTO {named} SELECT {values} FROM {named} WHERE data_file_id = {number}")
    assert (
        look(closed_home)[1] == look(closed_home, is_trusted=False)[1] == [f"{table}/{table} of {MONTHS[0]}"]
    )


def test_a_landing_that_comes_late_into_an_old_month_is_read_alone(home: Path) -> None:
    look(home)
    with open_lake(Settings(home=home)) as lake:
        names = ", ".join(column.name for column in get_table("judgements").own_columns)
        late = lake.query(f"SELECT {names} FROM judgements WHERE month = '{MONTHS[0]}' AND judge = 'judge-a'")
        lake.land("judgements", "late", late.with_columns(judge=pl.lit("judge-c")))
    assert look(home) == (late.height, [], {})
    with open_lake(Settings(home=home)) as lake, lake.transaction() as connection:
        connection.execute("DELETE FROM judgements WHERE landing_unit = 'late' AND session_id LIKE '%zero%'")
    assert look(home)[1] == ["judgements/late"]


def test_a_file_that_is_changed_after_it_was_looked_at_is_found(home: Path) -> None:
    assert look(home)[1:] == ([], {})
    path = find_file(home, "judgements", MONTHS[0])
    status = path.stat()
    with connect_duckdb() as connection:
        columns = connection.execute(
            "SELECT name, field_id FROM parquet_schema($path) WHERE field_id IS NOT NULL", {"path": str(path)}
        ).fetchall()
        connection.execute(
            f"COPY (SELECT * REPLACE (3 - stars AS stars) FROM read_parquet('{path}', hive_partitioning => false)) "
            f"TO '{path}.new' (FORMAT parquet, FIELD_IDS {{{', '.join(f'{name}: {number}' for name, number in columns)}}})"
        )
    Path(f"{path}.new").replace(path)
    # Also one whose length and times say nothing.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    for _ in range(2):
        read, found, _ = look(home)
        assert found == [f"judgements/judgements of {MONTHS[0]}"]
        assert read > 0


@pytest.fixture
def merged(home: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The rows of three small files, merged beside a large one; the last came after a look."""
    with open_lake(Settings(home=home)) as lake:
        for number, count in enumerate((900, 5, 4)):
            lake.land("sessions", f"unit {number}", session_frame(count, first=1000 * number))
    assert look(home)[1] == []
    with open_lake(Settings(home=home)) as lake:
        lake.land("sessions", "unit 3", session_frame(3, first=3000))
        sizes = {path.stat().st_size for path in (home / "lake/data/main/sessions").glob("*.parquet")}
        monkeypatch.setattr(maintenance, "_SMALL_BYTES", max(sizes))
        assert merge_small_files(lake, "2025-02") == 2
        return int(lake.query("SELECT count(*) FROM sessions WHERE landing_unit <> 'unit 0'").item())


def test_of_merged_files_only_those_are_read_that_came_of_it(home: Path, merged: int) -> None:
    assert look(home) == (merged, [], {})
    assert look(home) == (0, [], {})


@pytest.mark.parametrize("unit", ["unit 0", pytest.param("unit 1", marks=pytest.mark.long), "unit 3"])
def test_a_row_that_is_gone_since_files_were_merged_is_found(home: Path, merged: int, unit: str) -> None:
    with open_lake(Settings(home=home)) as lake, lake.transaction() as connection:
        connection.execute(
            f"DELETE FROM sessions WHERE session_id = (SELECT min(session_id) FROM sessions WHERE landing_unit = '{unit}')"
        )
    assert look(home)[1] == look(home)[1] == [f"sessions/{unit}"]


@pytest.mark.parametrize("rows_read", [60_000, pytest.param(0, marks=pytest.mark.long)])
def test_a_unit_of_which_a_part_was_merged_is_read_whole(
    home: Path, merged: int, rows_read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other rows lie in a file that is as it was; read in one statement, or unit by unit."""
    monkeypatch.setattr(integrity, "_ROWS_READ", rows_read)
    assert look(home)[1] == []
    with open_lake(Settings(home=home)) as lake:
        with lake.transaction() as connection:
            connection.execute(
                "INSERT INTO sessions SELECT * FROM sessions WHERE landing_unit = 'unit 0' LIMIT 1"
            )
        assert merge_small_files(lake, "2025-02") == 1
    assert look(home)[1] == ["sessions/unit 0"]


def test_a_changed_landing_is_found_although_no_row_changed(home: Path) -> None:
    look(home)
    with open_lake(Settings(home=home)) as lake, lake.transaction() as connection:
        connection.execute("UPDATE landings SET rows_hash = 'other' WHERE unit = 'responses of 2025-02'")
    assert look(home)[1] == ["responses/responses of 2025-02"]


# Each look is after the changes of one line.
COUNTED_OTHERWISE = (
    (
        "UPDATE landings SET row_count = row_count + 1 WHERE table_name = 'sessions' AND unit LIKE '%01'",
        "UPDATE landings SET row_count = -1, rows_hash = NULL WHERE table_name = 'responses' AND unit LIKE '%01'",
    ),
    (
        "DELETE FROM landings WHERE table_name = 'responses'",
        "INSERT INTO landings SELECT * REPLACE (0 AS row_count) FROM landings WHERE table_name = 'judgements' LIMIT 1",
    ),
    (
        "UPDATE landings SET table_name = 'of another version' WHERE table_name = 'sessions' AND unit LIKE '%02'",
        "INSERT INTO sets BY NAME SELECT 'never landed' AS landing_unit, 'one' AS set_id",
    ),
)


def test_a_unit_that_its_landing_counts_otherwise_is_found_at_the_next_look(home: Path) -> None:
    found = look(home, checks=[COUNTING])[2]
    assert found == {}
    count = 0
    for changes in COUNTED_OTHERWISE:
        for change in changes:
            with open_lake(Settings(home=home)) as lake:
                with lake.transaction() as connection:
                    connection.execute(change)
                before, count = count, len(run_check(lake, COUNTING).offending)
            assert count not in (before, 0), change
        found = look(home, checks=[COUNTING])[2]
        assert found == {COUNTING: count}, changes
    assert look(home, checks=[COUNTING])[2] == found


def test_a_check_that_fails_is_made_again_until_it_passes(home: Path) -> None:
    assert look(home, checks=list_checks())[2] == {}
    with open_lake(Settings(home=home)) as lake, lake.transaction() as connection:
        connection.execute("DELETE FROM responses WHERE month = '2025-01' AND seq = 1")
    with open_lake(Settings(home=home), read_only=True) as lake:
        whole = {name: len(run_check(lake, name).offending) for name in list_checks()}
    found = {name: count for name, count in whole.items() if count}
    assert found[CHECK] == 12
    for _ in range(2):
        assert look(home, checks=list_checks())[2] == found


@pytest.mark.parametrize(
    "content", [b"no", *(pytest.param(one, marks=pytest.mark.long) for one in (b"", None))]
)
def test_what_was_kept_counts_in_a_copy_of_the_home_and_may_be_anything(
    home: Path, tmp_path: Path, content: bytes | None
) -> None:
    first = look(home)
    assert look(Path(shutil.copytree(home, tmp_path / "copy"))) == (0, [], {})
    kept = home / "doctor" / "looked"
    assert kept.stat().st_mode & 0o777 == 0o600
    if content is None:
        shutil.rmtree(kept.parent)
    else:
        kept.write_bytes(content)
    assert look(home) == first
