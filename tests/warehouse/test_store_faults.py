"""Disks and files that fail under running work.

Nothing acknowledged is lost, and each fault is one clear error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from schemas.errors import StoreError, is_interruption
from schemas.settings import Settings
from tests.warehouse.stores.test_homes import land, make_stores
from warehouse.lake import open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users
from warehouse.stores.homes import check_stores

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return make_stores(tmp_path_factory.mktemp("made") / "home")


@pytest.fixture
def settings(made: Settings, tmp_path: Path) -> Settings:
    shutil.copytree(made.home, tmp_path / "home")
    return Settings(home=tmp_path / "home")


@pytest.fixture
def ledger(settings: Settings) -> Iterator[Ledger]:
    with open_ledger(settings.ledger_address) as opened:
        yield opened


def add(ledger: Ledger, user_id: str) -> None:
    ledger.writer.run(lambda connection: users.add_user(connection, user_id=user_id, role="admin"))


def list_users(ledger: Ledger) -> list[str]:
    with ledger.read() as connection:
        return [row.user_id for row in users.list_users(connection)]


def move_away(path: Path) -> None:
    path.rename(path.with_suffix(".away"))


def replace_by_a_copy(path: Path) -> None:
    shutil.copyfile(path, path.with_suffix(".copy"))
    path.with_suffix(".copy").rename(path)


@pytest.mark.parametrize("name", ["ledger.sqlite", "ledger.sqlite-wal"])
@pytest.mark.parametrize("spoil", [move_away, replace_by_a_copy])
def test_a_running_ledger_acknowledges_nothing_once_its_file_is_gone(
    settings: Settings, ledger: Ledger, name: str, spoil: Callable[[Path], None]
) -> None:
    add(ledger, "before")
    path = settings.home / name
    spoil(path)

    with pytest.raises(StoreError, match=f"{path} (is missing|was replaced) while it was in use"):
        add(ledger, "after")
    with pytest.raises(StoreError, match="cannot be relied on"), ledger.write() as connection:
        users.add_user(connection, user_id="after", role="admin")
    with pytest.raises(StoreError, match="cannot be relied on"):
        list_users(ledger)


def test_a_ledger_that_is_put_back_is_used_again(settings: Settings, ledger: Ledger) -> None:
    path = settings.home / "ledger.sqlite"
    add(ledger, "before")
    path.rename(settings.home / "aside")
    with pytest.raises(StoreError):
        add(ledger, "meanwhile")
    (settings.home / "aside").rename(path)

    add(ledger, "after")

    assert list_users(ledger) == ["after", "before"]


def test_a_ledger_whose_only_connection_a_signal_broke_off_is_used_again(
    ledger: Ledger, settings: Settings
) -> None:
    # SQLAlchemy closes the connection, and SQLite takes the write-ahead log away with the last one.
    def interrupt(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement == "COMMIT":
            event.remove(ledger.engine, "after_cursor_execute", interrupt)
            raise KeyboardInterrupt

    event.listen(ledger.engine, "after_cursor_execute", interrupt)
    with pytest.raises(BaseException) as found, ledger.write() as connection:
        users.add_user(connection, user_id="first", role="admin")
    assert is_interruption(found.value)
    # So that the new log gets another inode than the former.
    for number in range(8):
        (settings.home / f"between-{number}").touch()
    with ledger.write() as connection:
        users.add_user(connection, user_id="second", role="admin")

    assert list_users(ledger) == ["first", "second"]


def test_nothing_is_landed_in_a_catalog_that_was_replaced(settings: Settings) -> None:
    path = settings.home / "lake" / "catalog.sqlite"
    with open_lake(settings) as lake:
        replace_by_a_copy(path)
        with pytest.raises(StoreError, match=f"{path} was replaced while the lake was open"):
            land(lake, 1)


class Recorded:
    """A connection that notes its statements in `events`; all else is the real one's."""

    def __init__(self, connection: Any, events: list[str]) -> None:
        self._connection, self._events = connection, events

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *parameters: Any) -> Any:
        if sql in ("BEGIN", "COMMIT"):
            self._events.append(sql)
        return self._connection.execute(sql, *parameters)


def test_new_files_and_their_folders_are_on_the_disk_before_the_catalog_names_them(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    flush = os.fsync

    def note(descriptor: int) -> None:
        flush(descriptor)
        events.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))

    monkeypatch.setattr("warehouse.lake.files.data_files.os.fsync", note)
    data = settings.home / "lake" / "data"
    before = set(data.rglob("*"))
    with open_lake(settings) as lake:
        lake.connection = Recorded(lake.connection, events)  # type: ignore[assignment]
        land(lake, 1)

    added = {path for path in data.rglob("*.parquet") if path not in before}
    assert {path.relative_to(data).parts[1] for path in added} == {"sessions", "landings"}
    begun, committed = events.index("BEGIN"), events.index("COMMIT")
    flushed = set(events[begun + 1 : committed])
    assert {str(path) for path in added} <= flushed
    assert {str(path.parent) for path in added} <= flushed
    assert str(data) in flushed
    assert not any(event.endswith(".parquet") for event in events[committed:])


@pytest.mark.long
def test_compacted_files_are_flushed_before_they_are_named(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from warehouse.lake.upkeep import compact_lake

    flushed: set[str] = set()
    flush = os.fsync

    def note(descriptor: int) -> None:
        flush(descriptor)
        flushed.add(str(Path(f"/proc/self/fd/{descriptor}").readlink()))

    monkeypatch.setattr("warehouse.lake.files.data_files.os.fsync", note)
    data = settings.home / "lake" / "data"
    with open_lake(settings) as lake:
        for number in (1, 2, 3):
            land(lake, number)
        before = set(data.rglob("*.parquet"))
        assert compact_lake(lake)["merged_count"] > 0
        merged = set(data.rglob("*.parquet")) - before
        assert merged
        assert {str(path) for path in merged} <= flushed
        assert lake.query("SELECT count(*) FROM sessions").item() == 4
    check_stores(settings)


def test_who_waits_for_a_locked_ledger_is_served(ledger: Ledger, settings: Settings) -> None:
    with open_ledger(settings.ledger_address) as other:
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with other.write() as connection:
                users.add_user(connection, user_id="holder", role="admin")
                held.set()
                time.sleep(0.3)
                done.set()

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait()
        add(ledger, "waiter")
        assert done.is_set()
        holder.join()
    assert list_users(ledger) == ["holder", "waiter"]


FILL = """
import resource, signal, sys
from pathlib import Path
from schemas.errors import StoreError, is_interruption
from schemas.settings import Settings
from tests.warehouse.stores.test_homes import land
from warehouse.lake.store import open_lake
from warehouse.ledger.trust import users
from warehouse.ledger.engine.opening import open_ledger

settings, limit = Settings(home=Path(sys.argv[1])), int(sys.argv[2])
ledger, lake = open_ledger(settings.ledger_address), open_lake(settings)
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
else:
    hog = open(settings.home / "hog", "wb", buffering=0)
    try:
        while True:
            hog.write(bytes(4096))
    except OSError:
        hog.close()
number = 0
try:
    while number < 2000:
        name = f"user-{number:05d}"
        ledger.writer.run(
            lambda connection: users.add_user(connection, user_id=name, role="admin", password_hash="x" * 4000)
        )
        number += 1
except StoreError as error:
    print(number, error)
try:
    land(lake, 1)
except StoreError as error:
    print("lake", error)
# No orderly end, which would want room for a checkpoint.
sys.stdout.flush()
import os
os._exit(0)
"""


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[bool]:
    """A small disk in memory at `folder`; false where this user may mount none."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    )
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_loses_nothing_that_was_acknowledged(
    made: Settings, tmp_path: Path, warm_python: str
) -> None:
    """A real full disk, where one may be mounted.

    Otherwise it is a real limit on the size of files, by which writes fail alike.
    """
    with mounted(tmp_path / "disk", "6m") as is_disk:
        home = tmp_path / ("disk" if is_disk else ".") / "home"
        shutil.copytree(made.home, home)
        limit = 0 if is_disk else 1_000_000
        done = subprocess.run(
            [warm_python, "-c", FILL, str(home), str(limit)], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        said = done.stdout.splitlines()
        count = int(said[0].split()[0])
        assert "The ledger could not commit: its disk" in said[0]
        if is_disk:
            assert said[1].startswith("lake ")
            assert "Check free" in said[1]
        (home / "hog").unlink(missing_ok=True)

        settings = Settings(home=home)
        check_stores(settings)
        with open_ledger(settings.ledger_address) as ledger:
            assert list_users(ledger) == [f"user-{number:05d}" for number in range(count)]
            add(ledger, "user-after")
        with open_lake(settings) as lake:
            landed = 1 if is_disk else lake.query("SELECT count(*) FROM sessions").item()
            assert lake.query("SELECT count(*) FROM sessions").item() == landed
            land(lake, 2)


def test_a_disk_that_may_only_be_read_is_one_clear_error(made: Settings, tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "20m") as is_disk:
        home = tmp_path / "disk" / "home"
        shutil.copytree(made.home, home)
        settings = Settings(home=home)
        with open_ledger(settings.ledger_address) as ledger:
            add(ledger, "ada")
        if is_disk:
            subprocess.run(["mount", "-o", "remount,ro", str(tmp_path / "disk")], check=True)
        else:
            for path in (home / "ledger.sqlite", home):
                path.chmod(path.stat().st_mode & ~0o222)
        try:
            with (
                pytest.raises(StoreError, match=r"ledger .*(cannot be opened|may only be read)"),
                open_ledger(settings.ledger_address) as ledger,
            ):
                add(ledger, "bob")
            with pytest.raises(StoreError, match=r"lake|Landing"), open_lake(settings) as lake:
                land(lake, 1)
        finally:
            if is_disk:
                subprocess.run(["mount", "-o", "remount,rw", str(tmp_path / "disk")], check=True)
            else:
                for path in (home, home / "ledger.sqlite"):
                    path.chmod(path.stat().st_mode | 0o200)
        with open_ledger(settings.ledger_address) as ledger:
            assert list_users(ledger) == ["ada"]
            add(ledger, "bob")
        with open_lake(settings) as lake:
            assert lake.query("SELECT count(*) FROM sessions").item() == 1


def test_a_new_home_on_a_full_disk_is_told_which_store_has_no_room(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "600k") as is_disk:
        if not is_disk:
            pytest.skip("only root may mount a small disk")
        settings = Settings(home=tmp_path / "disk" / "home")
        settings.home.mkdir()
        said = rf"ledger at {settings.home}/ledger.sqlite cannot be opened: its disk (is full|takes)"
        with pytest.raises(StoreError, match=said):
            open_ledger(settings.ledger_address)
        (settings.home / "ledger.sqlite").unlink(missing_ok=True)
        with pytest.raises(StoreError, match=r"lake's disk takes or gives nothing more \(.*catalog"):
            open_lake(settings)
