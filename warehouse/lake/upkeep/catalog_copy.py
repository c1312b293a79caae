"""A lake's catalog in PostgreSQL as a SQLite file with the same rows, and back.

The copy is as of one moment. DuckLake keeps the same tables in both. Its history comes along: which snapshot has which files.
Files that were let go already (scheduled for deletion) do not: no snapshot needs them.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from schemas.errors import StoreAway, StoreError, UsageError
from schemas.settings import Settings
from warehouse.lake.attach import attach_lake, catalog_path
from warehouse.stores.away import CATALOG, CONNECT_TIMEOUT_S, is_postgresql_away, quote_refusal, until_there

if TYPE_CHECKING:
    import psycopg

_DATA_PATH: Final = "data_path"
_COLUMNS: Final = """
    SELECT c.relname, a.attname, t.typname
    FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE c.relkind = 'r' AND c.relname LIKE 'ducklake\\_%' AND c.relnamespace = current_schema()::regnamespace
    ORDER BY c.relname, a.attnum
"""


def copy_server_catalog(settings: Settings, target: Settings) -> None:
    """Copy a server's catalog, as of one moment, to the new SQLite one of `target`. StoreError."""
    attach_lake(target, read_only=False).close()
    path = catalog_path(target.catalog_address)
    with _connect(settings) as server, closing(sqlite3.connect(path, isolation_level=None)) as file:
        server.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # As SQLite's catalogs have their moments.
        server.execute("SET LOCAL TIME ZONE 'UTC'")
        tables = _match_tables(server, file)
        file.execute("BEGIN IMMEDIATE")
        for table, columns in tables.items():
            _read_table(server, file, table, columns)
        # Those files are the lake's to delete, and stay behind.
        file.execute("DELETE FROM ducklake_files_scheduled_for_deletion")
        file.execute("COMMIT")
        server.execute("ROLLBACK")


def fill_server_catalog(source: Path, settings: Settings, data_path: str) -> bool:
    """Put a copied catalog into the empty one that settings name, in one transaction.

    Returns False for a catalog of another version of DuckLake.

    Raises StoreError.
    """
    with _connect(settings) as server, closing(sqlite3.connect(source, isolation_level=None)) as file:
        try:
            tables = _match_tables(server, file)
        except StoreError:
            return False
        server.execute("BEGIN")
        server.execute("SET LOCAL TIME ZONE 'UTC'")
        for table, columns in tables.items():
            server.execute(f'DELETE FROM "{table}"'.encode())
            _write_table(server, file, table, columns)
        # These files were not put there: no snapshot needs them.
        server.execute("DELETE FROM ducklake_files_scheduled_for_deletion")
        server.execute("UPDATE ducklake_metadata SET value = %s WHERE key = %s", (data_path, _DATA_PATH))
        server.execute("COMMIT")
    return True


def check_empty_catalog(settings: Settings) -> None:
    """Raise UsageError where the catalog on a server names files already."""
    with _connect(settings) as server:
        if server.execute("SELECT to_regclass('ducklake_data_file')").fetchone() == (None,):
            return
        found = server.execute("SELECT EXISTS (SELECT 1 FROM ducklake_data_file)").fetchone()
    if found == (True,):
        raise UsageError(
            "The lake that PROCTOR_LAKE_CATALOG names already has rows; a backup is restored into an empty one. Make a new database "
            "for it, or drop what an interrupted restore left, and restore again."
        )


def _connect(settings: Settings) -> psycopg.Connection[Any]:
    return until_there(lambda: _try_connect(settings), stores=(CATALOG,), wait_s=settings.store_wait_s)


def _try_connect(settings: Settings) -> psycopg.Connection[Any]:
    import psycopg

    address = settings.catalog_address.removeprefix("postgres:")
    try:
        return psycopg.connect(address, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S)
    except psycopg.Error as error:
        text = (
            f"The lake's catalog in PostgreSQL cannot be opened ({quote_refusal(error)}). Check PROCTOR_LAKE_CATALOG and that "
            "the server runs."
        )
        raise (StoreAway(CATALOG, text) if is_postgresql_away(error) else StoreError(text)) from None


def _match_tables(server: psycopg.Connection[Any], file: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """Table → column → type of PostgreSQL's catalog; StoreError unless the file has the same."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in server.execute(_COLUMNS):
        tables.setdefault(table, {})[column] = kind
    held = {
        row[0]
        for row in file.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ducklake_%'"
        )
    }
    found = {name: {row[1] for row in file.execute(f'PRAGMA table_info("{name}")')} for name in held}
    if found != {table: set(columns) for table, columns in tables.items()}:
        different = sorted(
            name for name in found.keys() | tables.keys() if found.get(name) != set(tables.get(name, ()))
        )
        raise StoreError(
            f"The lake's catalog was made by another version of DuckLake than this Proctor's ({', '.join(different[:3])}). Open the "
            "lake with this Proctor once, then back it up."
        )
    return tables


def _read_table(
    server: psycopg.Connection[Any], file: sqlite3.Connection, table: str, columns: dict[str, str]
) -> None:
    chosen = ", ".join(
        f'"{name}"' if kind in ("int8", "bool") else f'"{name}"::text' for name, kind in columns.items()
    )
    kinds = [kind if kind in ("int8", "bool") else "text" for kind in columns.values()]
    file.execute(f'DELETE FROM "{table}"')
    insert = f'INSERT INTO "{table}" ({_quote(columns)}) VALUES ({", ".join("?" * len(columns))})'
    with (
        server.cursor() as cursor,
        cursor.copy(f'COPY (SELECT {chosen} FROM "{table}") TO STDOUT'.encode()) as copy,
    ):
        copy.set_types(kinds)
        file.executemany(insert, copy.rows())


def _write_table(
    server: psycopg.Connection[Any], file: sqlite3.Connection, table: str, columns: dict[str, str]
) -> None:
    truths = [number for number, kind in enumerate(columns.values()) if kind == "bool"]
    rows = file.execute(f'SELECT {_quote(columns)} FROM "{table}"')
    with (
        server.cursor() as cursor,
        cursor.copy(f'COPY "{table}" ({_quote(columns)}) FROM STDIN'.encode()) as copy,
    ):
        for row in rows:
            values = list(row)
            for number in truths:
                values[number] = None if values[number] is None else bool(values[number])
            copy.write_row(values)


def _quote(names: dict[str, str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
