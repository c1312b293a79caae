"""The lake with its catalog in PostgreSQL, on a server of the test's own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from schemas.errors import StoreError
from schemas.settings import GivenSettings, Settings
from tests.warehouse.lake_writer import (
    find_faults,
    fork_context,
    land_version,
    merge_until,
    read_acknowledged,
    run_writer,
)
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Lake, open_lake
from warehouse.lake.files import NewFiles
from warehouse.lake.upkeep import backup_lake, compact_lake, merge_small_files, purge_files, restore_lake
from warehouse.stores.homes import adopt_stores
from warehouse.stores.installation import make_id, write_home_id

pytestmark = pytest.mark.service

WRITERS, LANDINGS = 3, 6
_WAITING = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.fixture(scope="module")
def server(postgresql: PostgresqlServer) -> str:
    """The start of a DSN."""
    return f"host={postgresql.folder} user=postgres"


@pytest.fixture
def catalog(postgresql: PostgresqlServer) -> str:
    return postgresql.new_catalog()


def test_a_catalog_on_a_server_that_may_only_be_read_is_named_at_once(
    server: str, catalog: str, tmp_path: Path
) -> None:
    """Ten tries took three quarters of a minute, and then nothing was said of the reason."""
    settings = Settings(home=tmp_path, lake_catalog=catalog)
    open_lake(settings).close()
    with psycopg.connect(f"{server} dbname=postgres", autocommit=True) as administrator:
        name = catalog.rpartition("=")[2]
        administrator.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with open_lake(settings) as lake, pytest.raises(StoreError, match=r"try 1\).*may be written to"):
        lake.land("sessions", "a", session_frame(1))


def test_a_lake_in_postgresql_lands_reads_compacts_and_reopens(catalog: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, lake_catalog=catalog)
    with open_lake(settings) as lake:
        lake.land("sessions", "a", session_frame(3))
        lake.land("sessions", "a", session_frame(2, answered_count=4))
        assert lake.land("sessions", "a", session_frame(2, answered_count=4)).is_unchanged
        lake.land("sessions", "b", session_frame(1, first=9, repeat=0))
        compact_lake(lake, keep_days=0)
    with open_lake(settings, read_only=True) as reader:
        rows = reader.query("SELECT landing_unit, answered_count FROM sessions").rows()
        assert rows == [("a", 4), ("a", 4)]
        assert reader.query("SELECT rule FROM quarantine").item() == "range: repeat"
        assert reader.query("SELECT count(*) FROM leaderboards").item() == 0
    assert not (tmp_path / "lake" / "catalog.sqlite").exists()


def test_a_merge_that_is_killed_leaves_every_row_and_can_be_done_again(catalog: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"home": tmp_path, "lake_catalog": catalog}
    content = "SELECT * FROM sessions ORDER BY ALL"
    with ExitStack() as stack:
        lake = stack.enter_context(open_lake(Settings(**given)))
        for number in range(3):
            land_version(lake, f"s-{number}", number)
        rows = lake.query(content)
        reader = stack.enter_context(open_lake(Settings(**given), read_only=True))
        stack.enter_context(reader.read_transaction())
        assert reader.query("SELECT count(*) FROM landings").item() == 6
        for moment in (2, 1):
            merging = fork_context().Process(target=merge_until, args=(given, moment))
            merging.start()
            merging.join()
            assert merging.exitcode == -signal.SIGKILL
            assert lake.query(content).equals(rows)
        merge_small_files(lake, "2026-01")
        assert lake.query(content).equals(rows)
        assert reader.query(content).equals(rows)
        assert merge_small_files(lake, "2026-01") == 0


@pytest.mark.long
def test_writers_need_no_lock(catalog: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", lake_catalog=catalog)
    open_lake(settings).close()
    writers = [
        fork_context().Process(
            target=run_writer,
            args=(
                {"home": settings.home, "lake_catalog": catalog},
                f"w{n}",
                LANDINGS,
                str(tmp_path / f"w{n}.acknowledged"),
            ),
        )
        for n in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    acknowledged = read_acknowledged(tmp_path)
    assert len(acknowledged) == WRITERS * LANDINGS * 2 // 3
    with open_lake(settings, read_only=True) as reader:
        assert find_faults(reader, acknowledged) == []
    assert list(tmp_path.rglob("*.lock")) == []


def test_a_unit_that_several_land_at_once_is_there_once(catalog: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", lake_catalog=catalog)
    open_lake(settings).close()
    values = {"home": settings.home, "lake_catalog": catalog}
    writers = [
        fork_context().Process(
            target=run_writer, args=(values, "same", 3, str(tmp_path / f"{n}.acknowledged"))
        )
        for n in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    with open_lake(settings, read_only=True) as reader:
        for table in ("sessions", "allocations"):
            assert reader.query(
                f"""
                SELECT landing_unit, count(*) FROM {table} GROUP BY landing_unit
                EXCEPT
                SELECT unit, row_count FROM landings WHERE table_name = '{table}'
                """
            ).is_empty()
        assert reader.query("SELECT count(*) FROM landings").item() == 4


def test_a_backup_moves_between_postgresql_and_the_embedded_lake_wherever_the_variables_of_the_process_point(
    catalog: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = Settings(home=tmp_path / "served", lake_catalog=catalog)
    embedded = GivenSettings(home=tmp_path / "embedded")
    write_home_id(Settings(home=tmp_path / "shared"), make_id())
    # As every process of the server form has it: the lake of the backup has no home that these name.
    monkeypatch.setenv("PROCTOR_SHARED", str(tmp_path / "shared"))
    monkeypatch.setenv("PROCTOR_LAKE_DATA", str(tmp_path / "elsewhere"))
    with open_lake(served) as lake:
        lake.land("sessions", "a", session_frame(3))
        content = lake.query("SELECT * FROM sessions ORDER BY ALL")
        assert backup_lake(lake, tmp_path / "backup")["row_count"] == 3

    assert restore_lake(embedded, tmp_path / "backup") == {"row_count": 3}

    with open_lake(embedded) as lake:
        assert lake.query("SELECT * FROM sessions ORDER BY ALL").equals(content)
        assert lake.land("sessions", "a", session_frame(3)).is_unchanged


def test_a_server_that_does_not_answer_is_reported_without_its_password(tmp_path: Path) -> None:
    dsn = "postgres:host=127.0.0.1 port=1 user=someone password=sesame dbname=lake connect_timeout=2"
    with pytest.raises(StoreError, match="PROCTOR_LAKE_CATALOG") as failure:
        open_lake(Settings(home=tmp_path, lake_catalog=dsn))
    assert "sesame" not in str(failure.value)
    assert "sesame" not in repr(failure.value.__cause__)


def test_two_hosts_with_a_catalog_in_common_and_a_folder_each_are_not_one_lake(
    catalog: str, tmp_path: Path
) -> None:
    first, second = (
        Settings.model_validate(
            {"home": tmp_path / name, "lake_catalog": catalog, "lake_data": str(tmp_path / name / "data")}
        )
        for name in ("first", "second")
    )
    write_home_id(second, adopt_stores(first))
    open_lake(first).close()
    with pytest.raises(StoreError, match="its mark and its newest file are missing"):
        open_lake(second)
    # The whole folder under another name, as another host may mount it, is the same lake.
    (tmp_path / "mounted").symlink_to(first.data_address)
    with open_lake(second.model_copy(update={"lake_data": str(tmp_path / "mounted")})) as lake:
        lake.land("sessions", "one", session_frame(3))
    with open_lake(first, read_only=True) as lake:
        assert lake.units("sessions") == {"one"}


def test_nothing_of_a_merge_that_was_killed_stays_when_a_text_is_erased(catalog: str, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, lake_catalog=catalog)
    folder = tmp_path / "lake" / "data" / "main" / "sessions"
    with open_lake(settings) as lake:
        for number in range(3):
            lake.land("sessions", f"s-{number}", session_frame(3, first=10 * number))
        lake.land("sessions", "s-1", session_frame(3, first=10))
        before = set(folder.rglob("*.parquet"))
        merging = fork_context().Process(target=merge_until, args=(settings.model_dump(), 1))
        merging.start()
        merging.join()
        assert merging.exitcode == -signal.SIGKILL
        left = set(folder.rglob("*.parquet")) - before
        assert left
        lake.land("sessions", "s-1", session_frame(1, first=90))
        purge_files(lake, ["sessions"])
        assert not any(path.exists() for path in left)
        assert lake.query("SELECT count(*) FROM sessions").item() == 7


def test_files_that_are_being_written_stay_whatever_their_age_when_a_text_is_erased_or_files_are_compacted(
    catalog: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path, lake_catalog=catalog)
    flush = NewFiles.flush
    with open_lake(settings) as lake, open_lake(settings) as other, ThreadPoolExecutor(1) as removing:
        for number in range(3):
            lake.land("sessions", f"s-{number}", session_frame(3, first=10 * number))
        removals: list[Future[Any]] = []
        asked: list[Callable[[Lake], object]] = []

        def purge(lake: Lake) -> object:
            return purge_files(lake, ["responses"])

        def remove_and_flush(self: NewFiles) -> list[Path]:
            if not removals:
                for path in tmp_path.rglob("*.parquet"):
                    os.utime(path, (0, 0))  # As a host sees them whose clock is far ahead.
                removals.append(removing.submit(asked[-1], other))
                with psycopg.connect(catalog.removeprefix("postgres:"), autocommit=True) as server:
                    while server.execute(_WAITING).fetchone() == (0,):
                        assert wait_for(removals, timeout=0.1).not_done
            return flush(self)

        for is_merged, remove, count in ((False, purge, 12), (True, purge, 12), (False, compact_lake, 15)):
            asked.append(remove)
            removals.clear()
            with monkeypatch.context() as patch:
                patch.setattr(NewFiles, "flush", remove_and_flush)
                if is_merged:
                    assert merge_small_files(lake, "2026-02") > 0
                else:
                    lake.land("sessions", f"s-{count}", session_frame(3, first=10 * count))
            removals[0].result()
            assert lake.query("SELECT count(DISTINCT session_id) FROM sessions").item() == count
