"""Open DuckDB on the lake: extensions from wheels, catalog and files on disk or servers."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.lake.catalog_door import (
    BUSY_TIMEOUT_MS,
    ask_attached,
    ask_catalog,
    change_catalog,
    create_catalog,
    leave_to_duckdb,
)
from warehouse.lake.connecting import connect_duckdb, find_extension, load_extensions
from warehouse.lake.data_mark import check_data_mark
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import find_absence, find_refusal, retry_opening
from warehouse.lake.files import create_s3_secret, render_s3_secret
from warehouse.lake.quoting import quote_text
from warehouse.stores.away import quote_refusal
from warehouse.stores.installation import (
    CATALOG_KEY,
    catalog_file,
    check_held_id,
    check_store_file,
    read_home_id,
)

ALIAS = "exam"
_KEPT_AS = "lake_catalog"
# Beside DuckLake's own entries: what was noted, and the version of the definitions that it was noted of.
_MARK = "proctor_contract"
_MARKED_VERSION = "proctor_contract_of_schema_version"


def attach_lake(settings: Settings, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the lake as default catalog, where settings say; StoreError."""
    catalog, data = settings.catalog_address, settings.data_address
    check_catalog_address(catalog)
    home_id = read_home_id(settings)
    check_store_file(catalog_file(catalog), home_id)
    if read_only:
        check_exists(catalog)
    else:
        _create_folders(catalog, data)
    extensions = ["ducklake", _catalog_extension(catalog), *(["httpfs"] if is_remote(data) else [])]
    leave_to_duckdb()
    connection = connect_duckdb(settings.home, trusted=all(find_extension(name) for name in extensions))
    try:
        load_extensions(connection, extensions)
        if is_remote(data):
            create_s3_secret(connection, os.environ)
        shown, password = _part_password(catalog)
        if password is not None:
            # DuckDB shows the address of what is attached, and no secret.
            connection.execute(
                f"CREATE OR REPLACE TEMPORARY SECRET {_KEPT_AS} (TYPE postgres, PASSWORD {quote_text(password)})"
            )
        statement = _attach_statement(
            shown, data, read_only=read_only, secret=None if password is None else _KEPT_AS
        )
        retry_opening(lambda: connection.execute(statement))
        connection.execute(f"USE {ALIAS}")
        if is_postgres(catalog) and home_id is not None:
            check_held_id("catalog in PostgreSQL", read_server_id(connection), home_id)
        if home_id is not None and (is_postgres(catalog) or is_remote(data)):
            check_data_mark(connection, ALIAS, data, home_id, read_only=read_only)
    except StoreError:
        connection.close()
        raise
    except duckdb.Error as error:
        connection.close()
        if (known := find_absence(error) or find_refusal(error)) is not None:
            raise known from None
        raise StoreError(
            f"The lake whose catalog is {describe_catalog(catalog)} cannot be opened ({quote_refusal(error)}). "
            + (
                "Run `proctor init` if it was never created; else check PROCTOR_LAKE_CATALOG and "
                "PROCTOR_LAKE_DATA, and that the server answers."
                if is_postgres(catalog)
                else "Run `proctor init` again if it was ended before it was done; else check that the folder of PROCTOR_HOME can be "
                "written, or restore the catalog from a backup."
            )
        ) from None
    return connection


def render_attach_script(settings: Settings) -> str:
    """`list_attach_statements` with secrets, as a script for DuckDB's own shell."""
    statements = [
        "SET autoinstall_known_extensions = false",
        *list_attach_statements(settings, with_secrets=True),
    ]
    return "".join(f"{statement};\n" for statement in statements)


def list_attach_statements(settings: Settings, *, with_secrets: bool = False) -> list[str]:
    """The statements that open the lake read-only in any DuckDB of this version, offline.

    Without secrets, whoever runs them has these himself: PostgreSQL's password in PGPASSWORD or ~/.pgpass, the object store's
    credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.

    Raises StoreError when there is no lake, or an extension is not installed.
    """
    catalog, data = settings.catalog_address, settings.data_address
    check_catalog_address(catalog)
    check_exists(catalog)
    statements = ["SET TimeZone = 'UTC'"]
    for name in ["ducklake", _catalog_extension(catalog), *(["httpfs"] if is_remote(data) else [])]:
        path = find_extension(name)
        if path is None:
            raise StoreError(
                f"DuckDB's extension {name!r} is not installed. "
                f"Install duckdb-extension-{name.replace('_', '-')}=={duckdb.__version__}."
            )
        statements.append(f"LOAD {quote_text(str(path))}")
    if is_remote(data):
        statements.append(render_s3_secret(os.environ, is_shown=not with_secrets))
    shown = catalog if with_secrets else _part_password(catalog)[0]
    return [*statements, _attach_statement(_absolute(shown), data, read_only=True), f"USE {ALIAS}"]


def _absolute(catalog: str) -> str:
    """The address of a catalog from wherever it is opened."""
    return catalog if is_postgres(catalog) else f"sqlite:{catalog_path(catalog).resolve()}"


def is_initialised(settings: Settings) -> bool:
    """Whether there is a catalog; PostgreSQL is left to create its own under its own locks."""
    return is_postgres(settings.catalog_address) or _stored_data_path(settings.catalog_address) is not None


def has_moved(settings: Settings, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the catalog names another folder for the files than the one that settings give."""
    catalog, data = settings.catalog_address, settings.data_address
    return not is_postgres(catalog) and _stored_data_path(catalog, connection) != _data_location(data)


def remember_data_path(settings: Settings) -> None:
    """Write a moved folder into the catalog, so that plain DuckDB finds the files."""
    catalog = settings.catalog_address
    if is_postgres(catalog):
        return
    try:
        location = quote_text(_data_location(settings.data_address))
        change_catalog(
            catalog_path(catalog), f"UPDATE ducklake_metadata SET value = {location} WHERE key = 'data_path'"
        )
    except sqlite3.Error as error:
        raise _unwritable(catalog, error) from None


def read_server_id(connection: duckdb.DuckDBPyConnection) -> str | None:
    """The installation that the catalog of an attached lake belongs to, or None."""
    rows = connection.execute(
        f"SELECT value FROM __ducklake_metadata_{ALIAS}.ducklake_metadata WHERE key = ?", [CATALOG_KEY]
    ).fetchall()
    return str(rows[0][0]) if rows else None


def give_catalog_id(settings: Settings, installation_id: str) -> None:
    """Write the installation into a SQLite catalog, in the place of another. Raises StoreError."""
    catalog = settings.catalog_address
    try:
        change_catalog(
            catalog_path(catalog),
            "BEGIN IMMEDIATE",
            f"DELETE FROM ducklake_metadata WHERE key = '{CATALOG_KEY}'",
            f"INSERT INTO ducklake_metadata (key, value) VALUES ('{CATALOG_KEY}', {quote_text(installation_id)})",
            "COMMIT",
        )
    except sqlite3.Error as error:
        raise _unwritable(catalog, error) from None


def read_stored_comment(
    settings: Settings, table: str, connection: duckdb.DuckDBPyConnection | None = None
) -> str | None:
    """The comment of a table as a SQLite catalog keeps it, or None.

    A `connection` that has the lake attached is asked by, else a door of its own.
    """
    return _read_catalog(
        settings.catalog_address,
        f"""
        SELECT tag.value
        FROM ducklake_tag AS tag
        JOIN ducklake_table AS own ON own.table_id = tag.object_id
        WHERE own.table_name = {quote_text(table)} AND tag.key = 'comment'
            AND own.end_snapshot IS NULL AND tag.end_snapshot IS NULL
        """,
        connection,
    )


def read_definition_digest(
    settings: Settings, connection: duckdb.DuckDBPyConnection | None = None
) -> str | None:
    """What `write_definition_digest` noted in a SQLite catalog.

    None as soon as anything was defined, altered or dropped after it. A `connection` that has the lake attached is asked by.
    """
    return _read_catalog(
        settings.catalog_address,
        f"""
        SELECT mark.value
        FROM ducklake_metadata AS mark
        JOIN ducklake_metadata AS version ON version.key = '{_MARKED_VERSION}'
        WHERE mark.key = '{_MARK}' AND version.value = (
            SELECT CAST(schema_version AS TEXT) FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1
        )
        """,
        connection,
    )


def write_definition_digest(settings: Settings, mark: str) -> None:
    """Note something about a SQLite catalog's tables and views as they are now, where it can be."""
    with suppress(sqlite3.Error):
        change_catalog(
            catalog_path(settings.catalog_address),
            "BEGIN IMMEDIATE",
            f"DELETE FROM ducklake_metadata WHERE key IN ('{_MARK}', '{_MARKED_VERSION}')",
            f"INSERT INTO ducklake_metadata (key, value) VALUES ('{_MARK}', {quote_text(mark)})",
            f"""
            INSERT INTO ducklake_metadata (key, value)
            SELECT '{_MARKED_VERSION}', CAST(schema_version AS TEXT)
            FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1
            """,
            "COMMIT",
        )


def _read_catalog(catalog: str, sql: str, connection: duckdb.DuckDBPyConnection | None = None) -> str | None:
    """The first value of a query on a SQLite catalog; None without a row or a catalog."""
    path = catalog_path(catalog)
    if not path.exists():
        return None  # Opening it would make one, in place of one that somebody misses.
    try:
        found = ask_catalog(path, [sql])[0] if connection is None else ask_attached(connection, ALIAS, sql)
    except sqlite3.Error:
        return None
    return None if found is None else str(found)


def check_catalog_address(catalog: str) -> None:
    """Raise StoreError unless the address is `sqlite:PATH` or `postgres:DSN`."""
    if not catalog.startswith(("sqlite:", "postgres:")) or not catalog.partition(":")[2]:
        raise StoreError(
            "PROCTOR_LAKE_CATALOG is neither `sqlite:PATH` nor `postgres:DSN`. Correct it, or leave it out for SQLite "
            "under PROCTOR_HOME."
        )


def is_postgres(catalog: str) -> bool:
    """Whether the catalog lives in PostgreSQL, which needs no lock round its writers."""
    return catalog.startswith("postgres:")


def is_remote(data: str) -> bool:
    """Whether the files live in an object store rather than in a folder."""
    return data.startswith("s3://")


def catalog_path(catalog: str) -> Path:
    """The file of a SQLite catalog."""
    return Path(catalog.removeprefix("sqlite:"))


def describe_catalog(catalog: str) -> str:
    """The catalog's address as it may be shown: PostgreSQL's may hold a password."""
    return "in PostgreSQL" if is_postgres(catalog) else str(catalog_path(catalog))


def _catalog_extension(catalog: str) -> str:
    return "postgres_scanner" if is_postgres(catalog) else "sqlite_scanner"


def _part_password(catalog: str) -> tuple[str, str | None]:
    """The address of a catalog without its password, and that password; None where it has none."""
    if not is_postgres(catalog):
        return catalog, None
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        parts = conninfo_to_dict(catalog.removeprefix("postgres:"))
    except psycopg.Error:
        return catalog, None  # DuckDB refuses it, too.
    if (password := parts.pop("password", None)) is None:
        return catalog, None
    return f"postgres:{make_conninfo('', **parts)}", str(password)


def _attach_statement(catalog: str, data: str, *, read_only: bool, secret: str | None = None) -> str:
    options = [
        f"DATA_PATH {quote_text(_data_location(data))}",
        "OVERRIDE_DATA_PATH true",
        "DATA_INLINING_ROW_LIMIT 0",
        *(["READ_ONLY"] if read_only else []),
        *([] if secret is None else [f"META_SECRET {secret}"]),
        *([] if is_postgres(catalog) else [f"META_BUSY_TIMEOUT {BUSY_TIMEOUT_MS}"]),
    ]
    return f"ATTACH {quote_text('ducklake:' + catalog)} AS {ALIAS} ({', '.join(options)})"


def _data_location(data: str) -> str:
    """Absolute, and with a slash at its end, as DuckLake keeps it."""
    return (data if is_remote(data) else str(Path(data).resolve())).rstrip("/") + "/"


def _unwritable(catalog: str, error: sqlite3.Error) -> StoreError:
    return StoreError(
        f"The lake's catalog {describe_catalog(catalog)} cannot be written ({type(error).__name__}). "
        "Restore it from a backup, or check its permissions."
    )


def _stored_data_path(catalog: str, connection: duckdb.DuckDBPyConnection | None = None) -> str | None:
    """The data path in a SQLite catalog; None where there are no tables yet."""
    return _read_catalog(catalog, "SELECT value FROM ducklake_metadata WHERE key = 'data_path'", connection)


def check_exists(catalog: str) -> None:
    """Raise StoreError when there is no SQLite catalog; PostgreSQL answers for itself."""
    if not is_postgres(catalog) and not catalog_path(catalog).exists():
        raise StoreError(
            f"There is no lake at {catalog_path(catalog)}. Run `proctor init` to create it, or set PROCTOR_HOME to the "
            "folder that has one."
        )


def _create_folders(catalog: str, data: str) -> None:
    try:
        if not is_remote(data):
            Path(data).mkdir(parents=True, exist_ok=True)
        if not is_postgres(catalog):
            path = catalog_path(catalog)
            path.parent.mkdir(parents=True, exist_ok=True)
            create_catalog(path)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"The lake cannot be created with its catalog {describe_catalog(catalog)} ({type(error).__name__}). "
            "Check that PROCTOR_HOME names a folder that can be written."
        ) from None
