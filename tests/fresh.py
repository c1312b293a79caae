"""A new lake for a test, made by copying.

One is made per worker as a user's first writer makes it, which takes most of a second.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

import duckdb
import pytest

from schemas.settings import Settings
from warehouse.lake import Lake, open_lake, store


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
def copying_new_lakes() -> Iterator[None]:
    """Give a copy of a lake to anything that opens one for writing where there is none yet.

    The caller finds the copy as if it had made the lake itself.

    For tests of what is above the store; the store's own tests, and every command in a process of its own, make theirs.
    """
    attach = store._attach_for_writing

    def attach_copy(settings: Settings, lock_timeout_s: float) -> duckdb.DuckDBPyConnection:
        folder = settings.home / "lake"
        is_elsewhere = settings.lake_catalog is not None or settings.lake_data is not None
        if not (is_elsewhere or folder.exists() or settings.home == Path(_FOLDER.name)):
            template = _make_template()
            settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = Path(tempfile.mkdtemp(dir=settings.home)) / "lake"
            _copy_lake(template, draft, settings)
            # Another thread may have been first.
            with suppress(OSError):
                draft.rename(folder)
            shutil.rmtree(draft.parent)
        return attach(settings, lock_timeout_s)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_attach_for_writing", attach_copy)
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
    # Kept until the process ends: the object removes its folder when it is collected.
    folder = Path(_FOLDER.name)
    open_lake(Settings(home=folder)).close()
    return folder / "lake"


_FOLDER = tempfile.TemporaryDirectory(prefix="proctor-lake-")
