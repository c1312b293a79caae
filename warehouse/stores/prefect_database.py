"""An empty Prefect database, kept beside the installed packages.

Making one by Prefect's migrations costs 3 CPU seconds.

It holds the tables of one version of Prefect and no row of anybody's, so that each new PROCTOR_HOME may begin with a copy.
Where it cannot be kept or read, Prefect makes its database as always.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path

from warehouse.stores.kept_files import copy_kept, keep_file

DATABASE = "prefect.db"


def copy_empty_database(home: Path) -> bool:
    """Begin the database of a Prefect home with the kept one.

    Returns False where there is no kept one, and True where nothing is left to do.
    """
    own = home / DATABASE
    return own.exists() or copy_kept(_name_kept(), own)


def keep_empty_database(home: Path) -> None:
    """Keep a copy of a new home's database without its rows, for later homes.

    Where no copy can be kept, nothing is done.
    """
    with suppress(sqlite3.Error):
        keep_file(_name_kept(), partial(_copy_tables, home / DATABASE))


def _copy_tables(database: Path, target: Path) -> None:
    """Copy a database without its rows."""
    with (
        closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as own,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
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


def _name_kept() -> str:
    return f"prefect-{version('prefect')}.db"
