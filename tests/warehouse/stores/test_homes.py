"""Stores that know each other: one id in ledger, lake and home.

What is missing, foreign, damaged or too old is refused by name.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from schemas.errors import StoreError
from schemas.settings import Settings
from tests.fresh import open_new_lake
from tests.warehouse.ledger.postgresql import start_postgresql
from tests.warehouse.sample_rows import session_frame
from warehouse.lake import Lake, open_lake
from warehouse.lake.upkeep import backup_lake, restore_lake
from warehouse.ledger.engine.installation import read_ledger_id
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users
from warehouse.stores.files import read_acknowledged_commit
from warehouse.stores.homes import adopt_stores, check_stores, joining_stores, list_store_faults
from warehouse.stores.installation import expecting, id_path, read_home_id
from warehouse.stores.shared_files import KEYS

ROOT = Path(__file__).parents[3]


def make_stores(home: Path) -> Settings:
    """A home whose lake holds one file, given its id."""
    settings = Settings(home=home)
    with open_new_lake(settings) as lake:
        land(lake)
    open_ledger(settings.ledger_address).close()
    check_stores(settings)
    return settings


def land(lake: Lake, number: int = 0) -> None:
    lake.land("sessions", f"unit-{number}", session_frame(1, first=number))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return make_stores(tmp_path_factory.mktemp("made") / "home")


@pytest.fixture
def settings(made: Settings, tmp_path: Path) -> Settings:
    """A copy of its own of a home with its stores."""
    shutil.copytree(made.home, tmp_path / "home")
    return Settings(home=tmp_path / "home")


@pytest.fixture
def stranger(made: Settings, tmp_path: Path) -> Settings:
    """The same home with the id of another installation."""
    shutil.copytree(made.home, tmp_path / "stranger")
    settings = Settings(home=tmp_path / "stranger")
    other = "00000000-0000-4000-8000-000000000000"
    for path, statement in (
        (settings.home / "ledger.sqlite", "UPDATE installation SET installation_id = ?"),
        (settings.home / "ledger.exam.sqlite", "UPDATE exam_installation SET installation_id = ?"),
        (
            settings.home / "lake" / "catalog.sqlite",
            "UPDATE ducklake_metadata SET value = ? WHERE key = 'proctor_installation'",
        ),
    ):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement, (other,))
            connection.commit()
    id_path(settings).write_text(other)
    check_stores(settings)
    return settings


def ledger_of(settings: Settings) -> Path:
    return settings.home / "ledger.sqlite"


def exam_of(settings: Settings) -> Path:
    return settings.home / "ledger.exam.sqlite"


def catalog_of(settings: Settings) -> Path:
    return settings.home / "lake" / "catalog.sqlite"


def data_file_of(settings: Settings) -> Path:
    return next((settings.home / "lake" / "data" / "main" / "sessions").rglob("*.parquet"))


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def write_notes(path: Path) -> None:
    path.write_text("notes" * 500)


def test_ledger_lake_and_home_have_one_id_and_keep_it(settings: Settings) -> None:
    installation_id = read_home_id(settings)
    assert installation_id is not None
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert read_ledger_id(connection) == installation_id
    with closing(sqlite3.connect(catalog_of(settings))) as catalog:
        rows = catalog.execute("SELECT value FROM ducklake_metadata WHERE key = 'proctor_installation'")
        assert rows.fetchall() == [(installation_id,)]
    assert adopt_stores(settings) == installation_id
    assert id_path(settings).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("given", [(), ("installation",), ("ledger",), ("ledger", "catalog")])
def test_a_home_of_an_earlier_version_is_given_an_id_once_and_a_kill_in_between_is_made_good(
    settings: Settings, given: tuple[str, ...]
) -> None:
    before = read_home_id(settings)
    id_path(settings).unlink()
    if "catalog" not in given:
        with closing(sqlite3.connect(catalog_of(settings))) as connection:
            connection.execute("DELETE FROM ducklake_metadata WHERE key = 'proctor_installation'")
            connection.commit()
    if "ledger" not in given:
        for path, table in ((ledger_of(settings), "installation"), (exam_of(settings), "exam_installation")):
            if table in given:
                continue
            with closing(sqlite3.connect(path)) as connection:
                connection.execute(f"DELETE FROM {table}")
                connection.commit()
            path.with_name(f"{path.name}-mark").unlink()

    check_stores(settings)

    after = read_home_id(settings)
    assert after is not None and (after == before) is bool(given)
    check_stores(settings)
    assert read_home_id(settings) == after


def test_a_home_whose_making_was_killed_before_its_lake_had_a_table_is_made_by_the_same_command(
    tmp_path: Path,
) -> None:
    settings = Settings(home=tmp_path / "home")
    open_ledger(settings.ledger_address).close()
    catalog_of(settings).parent.mkdir()
    with closing(sqlite3.connect(catalog_of(settings))) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(StoreError, match="Run `proctor init` again"):
        open_lake(settings, read_only=True)

    # As `proctor init` does.
    check_stores(settings)
    open_lake(settings).close()
    check_stores(settings)

    assert read_home_id(settings) is not None
    assert list_store_faults(settings) == []


FAULTS: dict[str, tuple[Callable[[Settings], Path], Callable[[Path], None], str]] = {
    "no ledger": (ledger_of, Path.unlink, "is missing"),
    "no exam file of the ledger": (exam_of, Path.unlink, "is missing"),
    "half an exam file of the ledger": (exam_of, cut_in_half, "is damaged"),
    "no catalog": (catalog_of, Path.unlink, "is missing"),
    "no data file": (data_file_of, Path.unlink, "is missing: rows of sessions are in it"),
    "half a ledger": (ledger_of, cut_in_half, "is damaged"),
    "half a catalog": (catalog_of, cut_in_half, "is damaged"),
    "half a data file": (data_file_of, cut_in_half, "is damaged"),
    "an empty ledger": (ledger_of, lambda path: os.truncate(path, 0), "belongs to no installation"),
    "an empty catalog": (catalog_of, lambda path: os.truncate(path, 0), "belongs to no installation"),
    "notes for a ledger": (ledger_of, write_notes, "is damaged"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_store_that_is_missing_or_damaged_is_refused_by_name_and_never_made_again(
    settings: Settings, name: str
) -> None:
    place, spoil, finding = FAULTS[name]
    path = place(settings)
    spoil(path)
    left = path.stat().st_size if path.exists() else None

    with pytest.raises(StoreError) as refusal:
        check_stores(settings)

    assert str(path) in str(refusal.value)
    assert finding in str(refusal.value)
    assert "proctor restore" in str(refusal.value)
    assert [fault.path for fault in list_store_faults(settings, is_thorough=True)] == [str(path)]
    if path.suffix != ".parquet":
        opening = (
            (lambda: open_ledger(settings.ledger_address))
            if "ledger" in name
            else lambda: open_lake(settings)
        )
        with pytest.raises(StoreError, match=finding):
            opening()
    assert (path.stat().st_size if path.exists() else None) == left


@pytest.mark.parametrize("place", [ledger_of, exam_of, catalog_of])
def test_a_store_of_another_installation_is_refused(
    settings: Settings, stranger: Settings, place: Callable[[Settings], Path]
) -> None:
    shutil.copyfile(place(stranger), place(settings))

    with pytest.raises(StoreError, match="it belongs to installation 00000000"):
        check_stores(settings)


@pytest.mark.parametrize("place", [ledger_of, exam_of, catalog_of])
def test_a_store_that_lost_what_was_acknowledged_is_refused(
    settings: Settings, place: Callable[[Settings], Path], tmp_path: Path
) -> None:
    """The file alone, without the log that holds the last commits.

    This is what is left when somebody removes the log.
    """
    path, kept = place(settings), tmp_path / "kept.sqlite"
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        shutil.copyfile(path, kept)
        with ledger.write() as connection:
            users.add_user(connection, user_id="ada", role="admin")
        land(lake, 1)
    check_stores(settings)
    shutil.copyfile(kept, path)

    with pytest.raises(StoreError, match=r"lacks what was acknowledged last .*its write-ahead log"):
        check_stores(settings)


WRITER = """
import os, signal, sys
from pathlib import Path
from schemas.settings import Settings
from warehouse.ledger.trust import users
from warehouse.ledger.engine.opening import open_ledger
ledger = open_ledger(Settings(home=Path(sys.argv[1])).ledger_address)
ledger.writer.run(lambda connection: users.add_user(connection, user_id="ada", role="admin"))
print("acknowledged", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_log_that_is_removed_after_a_kill_is_missed(settings: Settings, warm_python: str) -> None:
    killed = subprocess.run(
        [warm_python, "-c", WRITER, str(settings.home)], cwd=ROOT, capture_output=True, text=True
    )
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, "acknowledged\n"), killed.stderr
    log = settings.home / "ledger.sqlite-wal"
    kept = log.read_bytes()
    log.unlink()

    with pytest.raises(StoreError, match=r"ledger\.sqlite-wal was removed"):
        open_ledger(settings.ledger_address)

    # SQLite made an empty log and an index of it to look inside; the one that was put aside comes back.
    (settings.home / "ledger.sqlite-shm").unlink(missing_ok=True)
    log.write_bytes(kept)
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert connection.exec_driver_sql("SELECT user_id FROM users").scalars().all() == ["ada"]


@pytest.mark.long
def test_a_restored_home_is_the_same_installation(settings: Settings, tmp_path: Path) -> None:
    from tasks.operations.backups import backup_home, restore_home

    backup_home(settings, tmp_path / "backup")
    restored = Settings(home=tmp_path / "restored")
    restore_home(restored, tmp_path / "backup")

    check_stores(restored)
    assert read_home_id(restored) == read_home_id(settings)


@pytest.mark.long
def test_a_lake_that_is_put_back_is_not_measured_by_the_mark_of_the_one_before(
    settings: Settings, tmp_path: Path
) -> None:
    with open_lake(settings) as lake:
        backup_lake(lake, tmp_path / "backup")
        land(lake, 1)
    marked = read_acknowledged_commit(catalog_of(settings))
    catalog_of(settings).unlink()
    shutil.rmtree(settings.home / "lake" / "data")
    restore_lake(settings, tmp_path / "backup")

    check_stores(settings)
    assert marked is not None
    assert (read_acknowledged_commit(catalog_of(settings)) or 0) < marked


def test_data_files_without_a_catalog_are_no_new_lake(tmp_path: Path) -> None:
    """Even in a home of an earlier version, which has no id yet."""
    settings = Settings(home=tmp_path / "home")
    with open_new_lake(settings) as lake:
        land(lake)
    for path in (settings.home / "lake").glob("catalog.sqlite*"):
        path.unlink()

    with pytest.raises(StoreError, match=r"catalog\.sqlite is missing, although there are data files"):
        check_stores(settings)


def test_a_query_names_the_data_file_that_it_misses(settings: Settings) -> None:
    path = data_file_of(settings)
    path.unlink()
    with open_lake(settings, read_only=True) as lake, pytest.raises(StoreError) as refusal:
        lake.query("SELECT * FROM sessions")
    assert str(path) in str(refusal.value)
    assert "proctor restore" in str(refusal.value)


@pytest.mark.service
def test_a_second_home_shares_a_ledger_on_a_server_only_when_it_is_told_to(tmp_path: Path) -> None:
    with start_postgresql() as server:
        url = server.new_ledger_url()
        first, second = (Settings(home=tmp_path / name, ledger_url=url) for name in ("first", "second"))
        for settings in (first, second):
            open_new_lake(settings).close()
        installation_id = adopt_stores(first)

        with pytest.raises(StoreError, match="proctor init --join"):
            check_stores(second)
        with joining_stores(second):
            assert adopt_stores(second, may_join=True) == installation_id
        check_stores(second)

        for other in (server.new_ledger_url(), server.url("postgres")):
            elsewhere = Settings(home=first.home, ledger_url=other)
            with expecting(elsewhere), pytest.raises(StoreError, match="belongs to no installation"):
                open_ledger(other)


@pytest.mark.service
@pytest.mark.long
def test_two_homes_share_ledger_and_catalog_on_a_server_and_no_third_is_taken_for_one(tmp_path: Path) -> None:
    from deployments.home import create_home

    with start_postgresql() as server:
        url, catalog = server.new_ledger_url(), server.new_ledger_url().split("/")[3].split("?")[0]
        folder = url.partition("host=")[2]
        first, second = (
            Settings(
                home=tmp_path / name,
                ledger_url=url,
                lake_catalog=f"postgres:host={folder} user=postgres dbname={catalog}",
                lake_data=str(tmp_path / "data"),
            )
            for name in ("first", "second")
        )
        create_home(first)
        with pytest.raises(StoreError, match="proctor init --join"):
            create_home(second)
        # What hosts have alike is brought to the second one, as `host bundle` does: keys, registry and archive.
        for name in ("models.yaml", "archive", *(f"secrets/{key}" for key in KEYS)):
            if (first.home / name).is_dir():
                shutil.copytree(first.home / name, second.home / name, dirs_exist_ok=True)
            else:
                (second.home / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(first.home / name, second.home / name)
        create_home(second, joins=True)
        assert read_home_id(second) == read_home_id(first)
        open_lake(second, read_only=True).close()

        id_path(second).write_text("00000000-0000-4000-8000-000000000000")
        for read_only in (True, False):
            with pytest.raises(StoreError, match="The catalog in PostgreSQL is not the one of this home"):
                open_lake(second, read_only)
