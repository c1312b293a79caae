"""Commits of an embedded ledger: counted, and acknowledged only where the files are still those that were opened.

Each file of a ledger counts its commits in a table of its own, and beside it lies a mark with the last one that somebody was told
of (`warehouse/store_files.py`). A connection that has both files counts in both: which of them a transaction changed cannot be
asked, and a count too many is no false alarm.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, event

from schemas.errors import StoreError
from warehouse.store_files import FileWatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.exc import DBAPIError

# What is kept with a connection to SQLite.
_WATCHED: Final = "files"
_CHANGES: Final = "changes"
# What SQLite says, and what it means here.
_REFUSALS: Final = {
    "disk is full": "its disk is full",
    "disk i/o error": "its disk takes nothing more, or fails",
    "readonly database": "its file or its disk may only be read",
    "malformed": "its file is damaged (`proctor doctor` says more)",
    "not a database": "its file is damaged (`proctor doctor` says more)",
}


class WatchedFile(NamedTuple):
    """A file of a ledger: under which name a connection has it, its table that counts, and whether it lies where it was."""

    schema: str
    table: str
    watch: FileWatch


def watch_files(engine: Engine, files: Sequence[WatchedFile]) -> None:
    """Every connection of the engine looks at the files that the first one opened; the pool keeps that one open."""

    def begin(connection: Any, record: Any) -> None:
        for file in files:
            # Only what reads has the write-ahead log open.
            connection.execute(f"SELECT 1 FROM {file.schema}.sqlite_master LIMIT 1").fetchall()
            file.watch.begin()
        record.info[_WATCHED] = tuple(files)

    def end(_engine: Engine) -> None:
        for file in files:
            file.watch.close()

    event.listen(engine, "connect", begin)
    event.listen(engine, "engine_disposed", end)


def check_files(connection: Connection) -> None:
    """Raise StoreError when the files of an embedded ledger are no longer those that were opened."""
    for file in connection.info.get(_WATCHED, ()):
        file.watch.check()


def commit(connection: Connection) -> None:
    """COMMIT, and return only when it lies where everybody else finds it.

    Raises StoreError when the files of an embedded ledger were deleted or replaced: what this transaction wrote is lost with
    them, and nobody may be told otherwise.
    """
    check_files(connection)
    try:
        counted = _count_commit(connection)
    except sqlite3.Error as error:
        cause = _name_refusal(error) or f"it failed ({type(error).__name__})"
        raise StoreError(
            f"The ledger could not commit: {cause}. Nothing of this was written; mend that, then run the command again."
        ) from None
    connection.exec_driver_sql("COMMIT")
    check_files(connection)
    for watch, count in counted:
        watch.acknowledge(count)


def roll_back(connection: Connection) -> None:
    """Undo a transaction; one that is over already has nothing to undo."""
    if connection.connection.dbapi_connection is None or not _is_in_transaction(connection):
        return
    connection.exec_driver_sql("ROLLBACK")


def explain_refusal(error: DBAPIError) -> str | None:
    """Why an embedded ledger takes nothing, where waiting mends nothing; null for anything else."""
    return _name_refusal(error.orig)


def _name_refusal(error: BaseException | None) -> str | None:
    words = str(error).lower()
    return next((cause for said, cause in _REFUSALS.items() if said in words), None)


def _count_commit(connection: Connection) -> list[tuple[FileWatch, int]]:
    """Count a transaction within itself; nothing where it wrote nothing, or no file has such a table, or an installation yet.

    By the driver's own connection: this is the hot path, and SQLAlchemy would cost more than SQLite.
    """
    files: tuple[WatchedFile, ...] = connection.info.get(_WATCHED, ())
    if not files:
        return []
    driver: sqlite3.Connection = connection.connection.dbapi_connection  # type: ignore[assignment]
    if driver.total_changes == connection.info.get(_CHANGES, 0):
        # What only read costs no write to the disk.
        return []
    counted: list[tuple[FileWatch, int]] = []
    for schema, table, watch in files:
        if not watch.counts_commits:
            # The first form had no such table.
            listed = f"SELECT 1 FROM {schema}.sqlite_master WHERE name = ?"
            watch.counts_commits = driver.execute(listed, (table,)).fetchone() is not None
        if watch.counts_commits:
            counting = f"UPDATE {schema}.{table} SET commit_count = commit_count + 1 RETURNING commit_count"
            counted += [(watch, row[0]) for row in driver.execute(counting).fetchall()]
    connection.info[_CHANGES] = driver.total_changes
    return counted


def _is_in_transaction(connection: Connection) -> bool:
    """Whether SQLite has a transaction open; PostgreSQL takes a ROLLBACK at any time."""
    return bool(getattr(connection.connection.dbapi_connection, "in_transaction", True))
