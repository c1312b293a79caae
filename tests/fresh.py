"""A new lake or ledger for a test, made by copying.

A lake is made once for all workers, as a user's first writer makes it: that takes most of a second. A ledger is made
once in each: 11 CPU ms and two waits for the disk.
"""

from __future__ import annotations

import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock

import duckdb
import pytest
from filelock import FileLock

from schemas.settings import Settings
from tests.shared import find_shared_folder
from warehouse.lake import Lake, open_lake, store
from warehouse.ledger.engine.copies import files
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.sides import name_exam_file


def make_once(name: str, make: Callable[[Path], None]) -> Path:
    """The folder `name`, which one worker makes for all; it is copied, and nothing in it opened.

    `make` is given the folder, and closes what it opens there: while it runs no lake is shared, which would stay open.
    """
    made = find_shared_folder() / name
    done = made.with_name(f"{name}.done")
    with FileLock(made.with_name(f"{name}.lock")):
        if not done.exists():
            # Of one who was killed while making it.
            shutil.rmtree(made, ignore_errors=True)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(store, "is_shared", lambda: False)
                make(made)
            done.touch()
    return made


def open_new_lake(settings: Settings) -> Lake:
    """Open for writing a lake that is not there yet, with every table and view and no row."""
    _copy_lake(_make_template(), settings.home / "lake", settings)
    return open_lake(settings)


def copy_home(closed: Path, settings: Settings) -> None:
    """Copy a home of which nobody has a store open into that of `settings`.

    Whoever makes one for many tests makes it once, closes it, and copies.
    """
    home = settings.home
    shutil.copytree(closed, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.lock", "lake"))
    _copy_lake(closed / "lake", home / "lake", settings)


@contextmanager
def copying_new_stores() -> Iterator[None]:
    """Give a copy to anything that opens a lake or a ledger in a file that is not there yet.

    The caller finds the copy as if it had made the store itself.

    For tests of what is above the store; the store's own tests, and every command in a process of its own, make theirs.
    """
    attach = store._attach_for_writing

    def attach_copy(settings: Settings, lock_timeout_s: float) -> duckdb.DuckDBPyConnection:
        folder = settings.home / "lake"
        is_elsewhere = settings.lake_catalog is not None or settings.lake_data is not None
        if not (is_elsewhere or folder.exists() or settings.home == find_shared_folder() / _NEW_LAKE):
            template = _make_template()
            settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(dir=settings.home)) / "lake"
            _copy_lake(template, draft, settings)
            # Another thread may have been first.
            with suppress(OSError):
                draft.rename(folder)
            shutil.rmtree(draft.parent)
        return attach(settings, lock_timeout_s)

    create, is_copying = files.create_files, Lock()

    def create_copy(path: Path, form: str) -> bool:
        exam = name_exam_file(path)
        if path.parent == _LEDGERS:
            return create(path, form)
        templates = _make_ledger_template()
        with is_copying:
            # Whoever opens one has made an empty file for its owner alone.
            if exam.exists() or (path.exists() and path.stat().st_size):
                return create(path, form)
            path.parent.mkdir(parents=True, exist_ok=True)
            pair = secrets.randbelow(2**31 - 1) + 1
            for template, copy in zip(templates, (exam, path), strict=True):
                _copy_ledger_file(template, copy, pair)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_attach_for_writing", attach_copy)
        patch.setattr(files, "create_files", create_copy)
        yield


def _copy_lake(closed: Path, folder: Path, settings: Settings) -> None:
    """Copy a lake that nobody has open; its files are then those of `settings`."""
    shutil.copytree(closed, folder, ignore=shutil.ignore_patterns("*.lock"))
    location = f"{Path(settings.data_address).resolve()}/"
    # Python's own SQLite: nobody has this file open yet. The product's way, a process for each change, costs a tenth of a new lake.
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as catalog, catalog:
        catalog.execute("UPDATE ducklake_metadata SET value = ? WHERE key = 'data_path'", [location])


@cache
def _make_template() -> Path:
    return make_once(_NEW_LAKE, _make_new_lake) / "lake"


def _make_new_lake(home: Path) -> None:
    """A new lake without the comments of its columns.

    Whoever attaches a lake reads all of them: they are a quarter of what that takes, and no test of a copy asks for one.
    """
    open_lake(Settings(home=home)).close()
    with closing(sqlite3.connect(home / "lake" / "catalog.sqlite")) as catalog, catalog:
        catalog.execute("DELETE FROM ducklake_column_tag")


def _copy_ledger_file(closed: Path, copy: Path, pair: int) -> None:
    """Copy a file of a ledger that nobody has open, as the one of another pair."""
    content = bytearray(closed.read_bytes())
    # Where SQLite keeps `PRAGMA user_version` (https://sqlite.org/fileformat.html, 1.3).
    content[60:64] = pair.to_bytes(4, "big")
    copy.touch(0o600)
    copy.write_bytes(content)


@cache
def _make_ledger_template() -> tuple[Path, Path]:
    """The closed files of the exam's side and of the ledger."""
    path = _LEDGERS / "ledger.sqlite"
    open_ledger(f"sqlite:///{path}").close()
    return name_exam_file(path), path


_NEW_LAKE = "new-lake"
# Kept until the process ends: the object removes its folder when it is collected.
_FOLDER = tempfile.TemporaryDirectory(prefix="proctor-stores-")
_LEDGERS = Path(_FOLDER.name, "ledgers")
