"""An empty Prefect database, kept beside the installed packages.

Making one by Prefect's migrations costs 3 CPU seconds.

It holds the tables of one version of Prefect and no row of anybody's, so that each new PROCTOR_HOME may begin with a copy.
Where it cannot be kept or read, Prefect makes its database as always.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing, suppress
from importlib.metadata import version
from pathlib import Path

DATABASE = "prefect.db"


def copy_empty_database(home: Path) -> bool:
    """Begin the database of a Prefect home with the kept one.

    Returns False where there is no kept one, and True where nothing is left to do.
    """
    own = home / DATABASE
    if own.exists():
        return True
    draft = home / f"{DATABASE}.{os.getpid()}.draft"
    try:
        shutil.copyfile(_kept_path(), draft)
        draft.replace(own)
    except OSError:
        draft.unlink(missing_ok=True)
        return False
    return True


def keep_empty_database(home: Path) -> None:
    """Keep a copy of a new home's database without its rows, for later homes.

    Where no copy can be kept, nothing is done.
    """
    kept = _kept_path()
    draft = kept.with_name(f"{kept.name}.{os.getpid()}.draft")
    with suppress(OSError, sqlite3.Error):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with (
            closing(sqlite3.connect(f"file:{home / DATABASE}?mode=ro", uri=True)) as own,
            closing(sqlite3.connect(draft, isolation_level=None)) as copy,
        ):
            own.backup(copy)
            tables = [
                str(name)
                for (name,) in copy.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                )
            ]
            copy.execute("PRAGMA foreign_keys = OFF")
            for table in tables:
                # The version of the tables is what stays.
                if table != "alembic_version":
                    copy.execute(f'DELETE FROM "{table}"')
            copy.execute("PRAGMA journal_mode = DELETE")
            copy.execute("VACUUM")
        draft.replace(kept)
    with suppress(OSError):
        draft.unlink(missing_ok=True)


def _kept_path() -> Path:
    return Path(sys.prefix) / "share" / "proctor" / f"prefect-{version('prefect')}.db"
