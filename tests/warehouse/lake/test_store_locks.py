"""Locks of SQLite belong to a process.

Nothing of ours that ends, in this process or beside it, may take them or the log they keep.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from schemas.settings import Settings
from tests.fresh import open_new_lake
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Lake, catalog_door, open_lake
from warehouse.lake.attach import (
    catalog_path,
    read_definition_digest,
    read_stored_comment,
    remember_data_path,
    write_definition_digest,
)
from warehouse.lake.files import find_file_faults
from warehouse.lake.upkeep import backup_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_exam_database, open_ledger
from warehouse.ledger.trust.users import add_user, list_users
from warehouse.stores.homes import check_stores, list_store_faults

OTHER = """
import sys
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import list_users
with open_ledger(sys.argv[1]) as ledger, ledger.read() as connection:
    print(len(list_users(connection)))
"""


def list_locks(*paths: Path) -> set[str]:
    """Which of these files this process holds a lock on, and those of their shared memory."""
    names = {path.stat().st_ino: path.name for path in paths if path.exists()}
    found = set()
    for line in Path("/proc/locks").read_text("ascii").splitlines():
        fields = line.split()
        if "->" not in fields and fields[1] == "POSIX" and int(fields[4]) == os.getpid():
            found.add(names.get(int(fields[5].rpartition(":")[2]), ""))
    return found - {""}


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    with open_ledger(settings.ledger_address) as opened:
        yield opened


def test_a_ledger_keeps_its_locks_while_others_of_its_process_open_and_close_it(
    settings: Settings, ledger: Ledger, warm_python: str
) -> None:
    files = [settings.home / name for name in ("ledger.sqlite", "ledger.exam.sqlite")]
    with ledger.write() as connection:
        add_user(connection, user_id="first", role="admin")
    held = list_locks(*files)
    assert held == {path.name for path in files}

    open_ledger(settings.ledger_address).close()
    open_exam_database(f"sqlite:///{files[1]}").close()
    list_store_faults(settings, is_thorough=True)
    assert list_locks(*files) == held

    # A process that ends beside is not the last, and the log stays where it is.
    other = [warm_python, "-c", OTHER, settings.ledger_address]
    assert subprocess.run(other, capture_output=True, text=True, check=True).stdout.strip() == "1"
    assert all(Path(f"{path}-wal").exists() for path in files)
    with ledger.write() as connection:
        add_user(connection, user_id="second", role="admin")
    assert subprocess.run(other, capture_output=True, text=True, check=True).stdout.strip() == "2"


def test_a_new_ledger_is_its_owners_alone_and_comes_to_its_name_without_a_descriptor_of_ours(
    settings: Settings, ledger: Ledger
) -> None:
    path = settings.home / "ledger.sqlite"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in settings.home.iterdir() if one.name.endswith(".new")] == []


MAKER = """
import sys
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust.users import add_user
for number in range(5):
    with open_ledger(sys.argv[1]) as ledger, ledger.write() as connection:
        add_user(connection, user_id=f"{sys.argv[2]}-{number}", role="admin")
"""


def test_processes_that_make_one_ledger_at_once_lose_nothing(settings: Settings, warm_python: str) -> None:
    makers = [
        subprocess.Popen([warm_python, "-c", MAKER, settings.ledger_address, f"maker-{number}"])
        for number in range(3)
    ]
    assert [maker.wait() for maker in makers] == [0, 0, 0]
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert len(list_users(connection)) == 15


def ask_in_every_way(settings: Settings, lake: Lake, folder: Path) -> None:
    check_stores(settings)
    list_store_faults(settings, is_thorough=True)
    find_file_faults(settings)
    read_stored_comment(settings, "landings")
    write_definition_digest(settings, read_definition_digest(settings) or "mark")
    remember_data_path(settings)
    open_lake(settings, read_only=True).close()
    open_lake(settings).close()
    backup_lake(lake, folder / "backup")


def test_a_catalog_that_is_asked_beside_a_transaction_keeps_its_log(
    settings: Settings, tmp_path: Path
) -> None:
    path = catalog_path(settings.catalog_address)
    with open_new_lake(settings) as lake, open_lake(settings) as other:
        lake.land("sessions", "before", session_frame(1, first=1))
        lake.connection.execute("BEGIN")
        lake.connection.execute("SELECT count(*) FROM sessions").fetchall()
        held = list_locks(path, Path(f"{path}-shm"))
        log = Path(f"{path}-wal").stat().st_ino
        assert held == {path.name, f"{path.name}-shm"}

        ask_in_every_way(settings, other, tmp_path)

        assert list_locks(path, Path(f"{path}-shm")) == held
        assert Path(f"{path}-wal").stat().st_ino == log
        lake.connection.execute("COMMIT")
        lake.land("sessions", "after", session_frame(1, first=2))
    with open_lake(settings, read_only=True) as lake:
        assert lake.units("sessions") == {"before", "after"}


def test_pythons_sqlite_takes_the_log_from_under_a_transaction_of_duckdbs(settings: Settings) -> None:
    """Why catalogs have a door of their own: where this no longer holds, it may go."""
    path = catalog_path(settings.catalog_address)
    with open_new_lake(settings) as lake:
        lake.connection.execute("BEGIN")
        lake.connection.execute("SELECT count(*) FROM sessions").fetchall()
        assert Path(f"{path}-wal").exists()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("SELECT count(*) FROM ducklake_metadata").fetchone()
        assert not Path(f"{path}-wal").exists()
        lake.connection.execute("ROLLBACK")


@pytest.mark.parametrize("uses_duckdb", [False, True])
def test_a_catalog_answers_alike_whichever_sqlite_is_asked(
    uses_duckdb: bool, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_new_lake(settings).close()
    path = catalog_path(settings.catalog_address)
    monkeypatch.setattr(catalog_door._DOOR, "uses_duckdb", uses_duckdb)
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"no database" * 1000)

    asked = [
        "SELECT max(snapshot_id) FROM ducklake_snapshot",
        "SELECT x FROM no_such",
        "PRAGMA quick_check(1)",
    ]
    assert [None if value is None else str(value) for value in catalog_door.ask_catalog(path, asked)] == [
        "1", None, "ok",
    ]  # fmt: skip
    with pytest.raises(sqlite3.DatabaseError, match=r"^file is not a database$"):
        catalog_door.ask_catalog(broken, ["SELECT x FROM y"])
    with pytest.raises(sqlite3.DatabaseError, match="unable to open database file"):
        catalog_door.ask_catalog(tmp_path / "none.sqlite", ["SELECT 1"])
    assert not (tmp_path / "none.sqlite").exists()
    with pytest.raises(sqlite3.Error, match="no such table"):
        catalog_door.change_catalog(path, "DELETE FROM no_such")
    monkeypatch.setattr(catalog_door, "_CHILD", "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(sqlite3.Error, match="ended with -9"):
        catalog_door.change_catalog(path, "DELETE FROM no_such")
