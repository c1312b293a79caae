"""Commits of an embedded ledger: how they are counted and acknowledged.

A commit is acknowledged only where the files are still those that were opened. Each file of a ledger counts its commits in a
table of its own, and beside it lies a mark with the last one that somebody was told of (`warehouse/stores/files.py`). A
connection that has both files counts in both: which of them a transaction changed cannot be asked, and a count too many is no
false alarm.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError, OperationalError

from schemas.errors import StoreAway, StoreError
from warehouse.ledger.engine.statements import send_statement
from warehouse.stores.away import LEDGER, is_postgresql_away, quote_refusal, until_there
from warehouse.stores.files import FileWatch

# The name of a connection to PostgreSQL and the number of its last transaction, kept with it.
_COUNT: Final = "count"
# By the server's clock, as `now_text` writes moments: hosts whose own is wrong share the table.
_AT: Final = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')"""
_COUNT_ON_SERVER: Final = f"""
    INSERT INTO commit_counts (connection, commit_count, counted_at)
    VALUES (%s, %s, {_AT.format("clock_timestamp()")})
    ON CONFLICT (connection) DO UPDATE SET commit_count = excluded.commit_count, counted_at = excluded.counted_at
"""
# Counts of connections that ended long ago; nobody waits here for another one who does the same.
_FORGET: Final = f"""
    DELETE FROM commit_counts WHERE connection IN (
        SELECT connection FROM commit_counts
        WHERE counted_at < {_AT.format("(clock_timestamp() - interval '7 days')")} LIMIT 100 FOR UPDATE SKIP LOCKED
    )
"""
_ASK_FIRST: Final = """
    INSERT INTO commit_counts (connection, commit_count, counted_at) VALUES (%s, 0, '') ON CONFLICT DO NOTHING
"""
_ASK: Final = "SELECT commit_count FROM commit_counts WHERE connection = %s FOR UPDATE"
_UNKNOWN: Final = (
    "The ledger's server (PostgreSQL) went away before it answered the last COMMIT: it is not known whether that was kept. Look, or ask "
    "again, when the server is back."
)
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
# SQLSTATEs of a PostgreSQL that answers, and takes nothing (its appendix A).
_REFUSAL_STATES: Final = {
    "25006": "its server (PostgreSQL) may only be read (default_transaction_read_only is on, or it is a replica)",
    "53100": "the disk of its server (PostgreSQL) is full",
    "XX001": "a file of its server (PostgreSQL) is damaged",
    "XX002": "an index of its server (PostgreSQL) is damaged",
}


class WatchedFile(NamedTuple):
    """A watched file of a ledger: its name in a connection, its table of commits, its place."""

    schema: str
    table: str
    watch: FileWatch


class WatchedConnection(sqlite3.Connection):
    """A connection that says itself when it is closed.

    SQLAlchemy does not where a signal broke it off as it was opened. One that is gone unclosed is known by a weak reference, of which
    Python's own has none.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.watches: list[FileWatch] = []

    def close(self) -> None:
        """Close it; before that its files are no longer held by it."""
        for watch in self.watches:
            watch.end(self)
        super().close()


def watch_files(engine: Engine, files: Sequence[WatchedFile]) -> None:
    """Hold every connection to the files that the first one opened, which the pool keeps open."""

    def begin(connection: Any, record: Any) -> None:
        for file in files:
            # Only what reads has the write-ahead log open.
            connection.execute(f"SELECT 1 FROM {file.schema}.sqlite_master LIMIT 1").fetchall()
            connection.watches.append(file.watch)
            file.watch.begin(connection)
        record.info[_WATCHED] = tuple(files)

    def end(_engine: Engine) -> None:
        for file in files:
            file.watch.close()

    event.listen(engine, "connect", begin)
    event.listen(engine, "engine_disposed", end)


def check_files(connection: Connection) -> None:
    """Raise StoreError when an embedded ledger's files are no longer those that were opened."""
    for file in connection.info.get(_WATCHED, ()):
        file.watch.check()


def mark_transaction(connection: Connection) -> None:
    """Count the transaction within itself: after a crash the server's own number may return."""
    if connection.dialect.name != "postgresql":
        return
    info = connection.info
    name, count = info.get(_COUNT, (None, 0))
    if name is None:
        name = str(uuid4())
        connection.exec_driver_sql(_FORGET)
    info[_COUNT] = (name, count + 1)
    send_statement(connection, _COUNT_ON_SERVER, (name, count + 1))


def is_away(error: BaseException) -> bool:
    """Whether an error of SQLAlchemy says that PostgreSQL does not answer."""
    driver_error = getattr(error, "orig", None)
    if driver_error is None or isinstance(driver_error, sqlite3.Error):
        return False
    return bool(getattr(error, "connection_invalidated", False)) or is_postgresql_away(driver_error)


def raise_if_away(error: BaseException) -> None:
    """Raise StoreAway for SQLAlchemy's error that PostgreSQL does not answer; others pass."""
    if is_away(error):
        raise StoreAway(
            LEDGER,
            "The ledger's server (PostgreSQL) does not answer; nothing of this was written. Try again later.",
        ) from None


def raise_if_refused(error: BaseException, what: str = "commit") -> None:
    """Raise StoreError for an error that says why the ledger takes nothing; others pass."""
    cause = explain_refusal(error)
    if cause is None and isinstance(error, OperationalError) and hasattr(error.orig, "sqlstate"):
        # A time limit, a lock, memory: with SQLite a wrong statement is one of these errors, too. What is said of one may hold values.
        is_within = getattr(error.orig, "sqlstate", None) is not None
        did = (
            f"ended a statement ({type(error.orig).__name__})"
            if is_within
            else f"lets nobody in ({quote_refusal(error.orig)})"
        )
        cause = f"its server (PostgreSQL) {did}"
    if cause is not None:
        raise StoreError(
            f"The ledger could not {what}: {cause}. Nothing of this was written; mend that, then run the command again."
        ) from None


def commit(
    connection: Connection,
    *,
    wait_s: float | None = None,
    ended: threading.Event | None = None,
    is_hot: bool = False,
    is_of_ledger: bool = False,
) -> None:
    """COMMIT, and return only when it lies where everybody else finds it.

    A server that goes away meanwhile is waited for, up to `wait_s` (null: as the setting says), and asked what became of the
    transaction, where `mark_transaction` noted it: so nothing is done twice, and nothing that was kept is reported as lost.
    `ended` is set by whoever no longer waits. `is_hot`: past SQLAlchemy, as the statements of the hot path. `is_of_ledger`: nothing of
    the exam's side was written, and its file is left alone.

    Raises StoreError when the files of an embedded ledger were deleted or replaced: what this transaction wrote is lost with
    them, and nobody may be told otherwise; and where a server cannot be asked: what was sent to it may be there. Raises the error
    of the driver where nothing was written.
    """
    check_files(connection)
    try:
        counted = _count_commit(connection, is_of_ledger=is_of_ledger)
    except sqlite3.Error as error:
        cause = _name_refusal(error) or f"it failed ({type(error).__name__})"
        raise StoreError(
            f"The ledger could not commit: {cause}. Nothing of this was written; mend that, then run the command again."
        ) from None
    engine, counted_as = connection.engine, connection.info.get(_COUNT)
    try:
        if connection.dialect.name == "sqlite" and is_hot:
            send_statement(connection, "COMMIT")
        else:
            connection.exec_driver_sql("COMMIT")
    except DBAPIError as error:
        if not is_away(error):
            raise
        if counted_as is None:
            raise StoreError(_UNKNOWN) from None
        try:
            is_kept = _was_committed(engine, *counted_as, wait_s=wait_s, ended=ended)
        except StoreAway:
            raise StoreError(_UNKNOWN) from None
        if not is_kept:
            raise
        return
    check_files(connection)
    for watch, count in counted:
        watch.acknowledge(count)


def roll_back(connection: Connection) -> None:
    """Undo a transaction; one that is over already has nothing to undo."""
    if (
        connection.invalidated
        or connection.connection.dbapi_connection is None
        or not _is_in_transaction(connection)
    ):
        return
    connection.exec_driver_sql("ROLLBACK")


def explain_refusal(error: BaseException) -> str | None:
    """Why a ledger takes nothing, where waiting mends nothing; null for anything else."""
    return _name_refusal(getattr(error, "orig", error))


def _was_committed(
    engine: Engine, name: str, number: int, *, wait_s: float | None, ended: threading.Event | None
) -> bool:
    """Whether the server kept a COMMIT that it did not answer; StoreError where it is away."""

    def ask() -> bool:
        try:
            with engine.connect() as connection:
                connection.exec_driver_sql("BEGIN")
                # Both wait for the transaction where the server has not noticed yet that nobody listens to it.
                connection.exec_driver_sql(_ASK_FIRST, (name,))
                found = connection.exec_driver_sql(_ASK, (name,)).scalar_one()
                connection.exec_driver_sql("ROLLBACK")
        except DBAPIError as error:
            raise_if_away(error)
            raise
        return bool(found == number)

    return until_there(ask, stores=(LEDGER,), wait_s=wait_s, ended=ended)


def _name_refusal(error: BaseException | None) -> str | None:
    if (state := getattr(error, "sqlstate", None)) is not None:
        return _REFUSAL_STATES.get(state)
    words = str(error).lower()
    return next((cause for said, cause in _REFUSALS.items() if said in words), None)


def _count_commit(connection: Connection, *, is_of_ledger: bool) -> list[tuple[FileWatch, int]]:
    """Count a transaction within itself.

    Nothing is counted where the transaction wrote nothing, or where no file has such a table, or an installation,
    yet. By the driver's own connection: this is the hot path, and SQLAlchemy would cost more than SQLite.
    """
    files: tuple[WatchedFile, ...] = connection.info.get(_WATCHED, ())
    if not files:
        return []
    driver: sqlite3.Connection = connection.connection.dbapi_connection  # type: ignore[assignment]
    if driver.total_changes == connection.info.get(_CHANGES, 0):
        # What only read costs no write to the disk.
        return []
    counted: list[tuple[FileWatch, int]] = []
    for schema, table, watch in files[:1] if is_of_ledger else files:
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
