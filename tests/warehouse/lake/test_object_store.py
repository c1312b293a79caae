"""The lake with its files in an S3-compatible object store and its catalog in PostgreSQL.

Both are on this machine.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from schemas.errors import StoreError
from schemas.settings import Settings
from tests.warehouse.lake_writer import find_faults, fork_context, read_acknowledged, run_writer
from tests.warehouse.ledger.postgresql import PostgresqlServer
from tests.warehouse.object_store import BUCKET, SECRET, ObjectStore, start_object_store
from tests.warehouse.sample_rows import session_frame
from warehouse.backup import BackupTarget
from warehouse.lake import Lake, open_lake
from warehouse.lake.upkeep import backup_lake, compact_lake, restore_lake

pytestmark = pytest.mark.service

LANDINGS = 4


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with start_object_store() as started:
        yield started


@pytest.fixture
def values(store: ObjectStore, postgresql: PostgresqlServer, tmp_path: Path) -> dict[str, object]:
    """Settings of a lake of the test's own, as a process of its own gets them."""
    prefix = f"s3://{BUCKET}/{tmp_path.name}"
    return {"home": tmp_path / "home", "lake_catalog": postgresql.new_catalog(), "lake_data": prefix}


@pytest.mark.long
def test_processes_land_at_once_and_one_that_is_killed_leaves_nothing_partial(
    values: dict[str, object], store: ObjectStore, tmp_path: Path
) -> None:
    settings = Settings.model_validate(values)
    open_lake(settings).close()
    names = ["a", "b", "killed"]
    writers = [
        fork_context().Process(
            target=run_writer,
            args=(values, name, LANDINGS, str(tmp_path / f"{name}.acknowledged"), store.variables),
        )
        for name in names
    ]
    for writer in writers:
        writer.start()
    killed = writers[-1]
    acknowledged = tmp_path / "killed.acknowledged"
    while killed.is_alive() and not (acknowledged.exists() and acknowledged.read_text()):
        time.sleep(0.002)
    assert killed.pid is not None
    assert killed.exitcode is None, "it ended before it could be killed"
    os.kill(killed.pid, signal.SIGKILL)
    for writer in writers:
        writer.join()

    assert [writer.exitcode for writer in writers[:-1]] == [0, 0]
    landed = read_acknowledged(tmp_path)
    assert len(landed) >= 2 * LANDINGS * 2 // 3 + 1
    with open_lake(settings) as lake:
        assert find_faults(lake, landed) == []
        compact_lake(lake, keep_days=0)
        assert find_faults(lake, landed) == []
    assert not list((tmp_path / "home").rglob("*.parquet")), "the files belong in the store"


@pytest.mark.long
def test_a_backup_moves_between_the_store_and_an_embedded_lake(
    values: dict[str, object], store: ObjectStore, postgresql: PostgresqlServer, tmp_path: Path
) -> None:
    settings = Settings.model_validate(values)
    with open_lake(settings) as lake:
        lake.land("sessions", "unit", session_frame(20))
        backup_lake(lake, tmp_path / "backup")
    embedded = Settings(home=tmp_path / "embedded")
    restore_lake(embedded, tmp_path / "backup")
    elsewhere = Settings.model_validate(
        values
        | {"lake_catalog": postgresql.new_catalog(), "lake_data": f"s3://{BUCKET}/{tmp_path.name}-elsewhere"}
    )
    restore_lake(elsewhere, tmp_path / "backup")
    for found in (embedded, elsewhere):
        with open_lake(found, read_only=True) as lake:
            assert lake.query("SELECT count(*) FROM sessions").item() == 20
    assert any(key.endswith(".parquet") for key in store.list_keys(f"{tmp_path.name}-elsewhere/"))


class Compacting(BackupTarget):
    """A backup's folder that is compacted under it.

    After the first file every other one of the lake is merged and removed.
    """

    def __init__(self, folder: Path, lake: Lake) -> None:
        super().__init__(folder)
        self.lake = lake
        self.merged_count = 0

    def add_fetched(self, name: str, size: int, fetch: Callable[[Path], None]) -> None:
        super().add_fetched(name, size, fetch)
        if not self.merged_count:
            compact_lake(self.lake, keep_days=0)
            self.merged_count = int(compact_lake(self.lake, keep_days=0)["merged_count"]) + 1


@pytest.mark.long
def test_a_backup_begins_again_where_a_maintenance_removed_its_files_meanwhile(
    values: dict[str, object], store: ObjectStore, tmp_path: Path
) -> None:
    settings = Settings.model_validate(values)
    with open_lake(settings) as lake:
        for number in range(6):
            lake.land("sessions", f"unit-{number}", session_frame(2, first=2 * number))
        before = set(store.list_keys(f"{tmp_path.name}/"))
        target = Compacting(tmp_path / "backup", lake)
        backup_lake(lake, tmp_path / "backup" / "lake", target)
        gone = before - set(store.list_keys(f"{tmp_path.name}/"))
    assert (target.merged_count > 0, bool(gone)) == (True, True)
    restored = Settings(home=tmp_path / "restored")
    restore_lake(restored, tmp_path / "backup" / "lake")
    with open_lake(restored, read_only=True) as lake:
        assert lake.query("SELECT count(*), count(DISTINCT session_id) FROM sessions").row(0) == (12, 12)


def test_while_the_store_is_away_nothing_is_acknowledged_and_nothing_is_lost(
    values: dict[str, object], store: ObjectStore
) -> None:
    settings = Settings.model_validate(values)
    with open_lake(settings) as lake:
        lake.land("sessions", "before", session_frame(300))
        store.stop()
        try:
            with pytest.raises(StoreError) as told:
                lake.land("sessions", "meanwhile", session_frame(300, first=300))
            with pytest.raises(StoreError) as asked, open_lake(settings, read_only=True) as reader:
                reader.query("SELECT sum(answered_count) FROM sessions")
        finally:
            store.start()
    assert "does not answer" in str(asked.value)
    for error in (told, asked):
        assert SECRET not in str(error.value)
        assert "PROCTOR_LAKE_DATA" in str(error.value)
    with open_lake(settings) as lake:
        assert lake.query("SELECT count(*) FROM sessions").item() == 300
        lake.land("sessions", "meanwhile", session_frame(300, first=300))
        assert lake.query("SELECT count(*) FROM sessions").item() == 600


def test_no_query_is_shown_the_credentials_of_the_stores(values: dict[str, object]) -> None:
    password = "QZXW 'pass' \\word"
    address = str(values["lake_catalog"]).removeprefix("postgres:")
    settings = Settings.model_validate(
        values | {"lake_catalog": f"postgres:{make_conninfo(address, password=password)}"}
    )
    with open_lake(settings) as lake:
        lake.land("sessions", "unit", session_frame(3))
    with open_lake(settings, read_only=True) as lake:
        assert lake.query("SELECT count(*) FROM sessions").item() == 3
        for function in ("duckdb_settings", "duckdb_databases", "duckdb_secrets"):
            assert "QZXW" not in lake.query(f"FROM {function}()").write_json(), function


def test_a_bucket_that_is_not_there_is_one_sentence_without_the_credentials(
    values: dict[str, object],
) -> None:
    settings = Settings.model_validate(values | {"lake_data": "s3://no-such-bucket/lake"})
    with pytest.raises(StoreError) as told, open_lake(settings) as lake:
        lake.land("sessions", "unit", session_frame(300))
    assert SECRET not in str(told.value)
    assert "no-such-bucket" in str(told.value)
