"""The one way to a SQLite catalog beside DuckLake's own.

There are never two copies of SQLite on one file in one process. DuckDB's extension carries a SQLite of its own. The locks
that keep a write-ahead log alive belong to the process, and each copy knows only of its own connections: when one of
Python's closed while DuckDB had a transaction open, it took itself for the last, and removed the log from under that
transaction (measured: what was committed then was in no file). So a process that uses DuckDB asks DuckDB's SQLite, and has
a process of its own make changes; one that does not asks Python's.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import RLock
from typing import Final

from warehouse.lake.connecting import connect_duckdb, load_extensions
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_text
from warehouse.stores.files import ask_file, connect_to_read

BUSY_TIMEOUT_MS: Final = 30_000
# Another program's statement, given as text on its standard input: SQL may be long, and shows in no list of processes.
_CHILD: Final = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=float(sys.argv[2]), isolation_level=None)
try:
    if sys.argv[3]:
        copy = sqlite3.connect(sys.argv[3])
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = WAL")
        copy.close()
    for statement in sys.stdin.read().split("\\0"):
        found = connection.execute(statement).fetchone() if statement else None
    print("" if found is None else found[0])
except sqlite3.Error as error:
    sys.exit(f"{type(error).__name__}: {error}")
finally:
    connection.close()
"""


class _Door:
    """Which SQLite this process uses for catalogs: DuckDB's from the first connection on."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.uses_duckdb = False
        self.pid = 0
        self.connection: duckdb.DuckDBPyConnection | None = None


_DOOR: Final = _Door()


def leave_to_duckdb() -> None:
    """From now on Python's SQLite opens no catalog in this process: DuckDB is about to be used."""
    if _DOOR.uses_duckdb:
        return
    with _DOOR.lock:
        _DOOR.uses_duckdb = True


def ask_attached(connection: duckdb.DuckDBPyConnection, alias: str, query: str) -> object:
    """The first value of a query on a SQLite catalog, or None.

    It is that of the lake which `connection` has attached as `alias`. To start another DuckDB for it takes a hundredth of a CPU second.

    Raises:
        sqlite3.DatabaseError: as `ask_catalog` does.
    """
    try:
        with connection.cursor() as cursor:
            rows = _ask_duckdb(cursor, f"__ducklake_metadata_{alias}", query)
    except duckdb.Error as error:
        raise _as_sqlite(error) from None
    return rows[0][0] if rows else None


def ask_catalog(path: Path, queries: Sequence[str]) -> list[object]:
    """The first value of each query on a catalog, or None; raises sqlite3.DatabaseError."""
    with _DOOR.lock:
        if not _DOOR.uses_duckdb:
            return ask_file(path, queries)
        try:
            return [rows[0][0] if rows else None for rows in _list_by_duckdb(path, queries)]
        except duckdb.Error as error:
            raise _as_sqlite(error) from None


def list_catalog(path: Path, query: str) -> list[tuple[object, ...]]:
    """All rows of a query on a catalog that is there. Raises sqlite3.DatabaseError."""
    with _DOOR.lock:
        if not _DOOR.uses_duckdb:
            with closing(connect_to_read(path)) as connection:
                return connection.execute(query).fetchall()
        try:
            return _list_by_duckdb(path, [query])[0]
        except duckdb.Error as error:
            raise _as_sqlite(error) from None


def change_catalog(path: Path, *statements: str, copy_to: Path | None = None) -> str:
    """Run statements on a catalog, copied first to `copy_to`; the value of the last one."""
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            _CHILD,
            str(path),
            str(BUSY_TIMEOUT_MS / 1000),
            str(copy_to or ""),
        ],
        input="\0".join(statements),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines() or [
            f"the process that changes the catalog ended with {done.returncode}"
        ]
        raise sqlite3.OperationalError(said[-1])
    return done.stdout.strip()


def create_catalog(path: Path) -> None:
    """Make an empty catalog in WAL mode.

    In that mode readers and the one writer do not wait for each other.

    One that is there stays. The new one comes to its name when nobody has it open any more. Raises OSError, sqlite3.Error.
    """
    if path.exists() and path.stat().st_size:
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        try:
            os.link(draft, path)
        except FileExistsError:
            # Somebody else was first, or the file is an empty one.
            change_catalog(path, "PRAGMA journal_mode = WAL")
    finally:
        draft.unlink(missing_ok=True)


def _list_by_duckdb(path: Path, queries: Sequence[str]) -> list[list[tuple[object, ...]]]:
    if not path.exists():
        raise sqlite3.OperationalError("unable to open database file")
    connection = _connect()
    connection.execute(f"ATTACH {quote_text(str(path))} AS asked (TYPE sqlite, READ_ONLY)")
    try:
        return [_ask_duckdb(connection, "asked", query) for query in queries]
    finally:
        connection.execute("DETACH asked")


def _ask_duckdb(connection: duckdb.DuckDBPyConnection, name: str, query: str) -> list[tuple[object, ...]]:
    """The rows of a query on an attached file; none where a table is missing."""
    try:
        return connection.execute(
            f"SELECT * FROM sqlite_query({quote_text(name)}, {quote_text(query)})"
        ).fetchall()
    except duckdb.Error as error:
        if "no such" not in str(error):
            raise
        return []


def _connect() -> duckdb.DuckDBPyConnection:
    """The DuckDB for asking of this process; a child of a fork makes its own."""
    if _DOOR.connection is None or _DOOR.pid != os.getpid():
        connection = connect_duckdb(trusted=True)
        connection.execute("SET threads = 1")
        load_extensions(connection, ["sqlite_scanner"])
        _DOOR.connection, _DOOR.pid = connection, os.getpid()
    return _DOOR.connection


def _as_sqlite(error: duckdb.Error) -> sqlite3.DatabaseError:
    """What SQLite said, without the query that DuckDB shows with it."""
    return sqlite3.DatabaseError(str(error).splitlines()[0].rpartition(": ")[2])
