"""Bring a lake to this version's contract before anything else is done with it."""

from __future__ import annotations

import random
import time
from contextlib import suppress

from schemas.settings import Settings
from schemas.table import DUCKDB_TYPES
from schemas.tables import TABLES
from warehouse.lake.attach import ALIAS, attach_lake, has_moved, is_postgres, remember_data_path
from warehouse.lake.definitions import (
    has_every_definition,
    list_missing_definitions,
    list_missing_packings,
    read_views,
    remember_definitions,
)
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import CONFLICT_TRIES, is_conflict, translate_error
from warehouse.lake.files import NewFiles
from warehouse.lake.form import check_form
from warehouse.lake.locks import hold_writer_lock
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading.queries import order_by_dependency
from warehouse.lake.statements import roll_back

_CATALOG = f"{quote_name(f'__ducklake_metadata_{ALIAS}')}.main"
# What DuckLake itself has of a column before it adds the first file, whose bounds it merges into this.
_NOTE_COLUMNS = f"""
    INSERT INTO {_CATALOG}.ducklake_table_column_stats (table_id, column_id, contains_null, contains_nan)
    SELECT table_id, column_id, false, CASE WHEN column_type IN ('float32', 'float64') THEN false END
    FROM {_CATALOG}.ducklake_column AS leaf
    WHERE end_snapshot IS NULL
        AND table_id NOT IN (SELECT table_id FROM {_CATALOG}.ducklake_table_stats WHERE record_count > 0)
        AND NOT EXISTS (
            SELECT 1
            FROM {_CATALOG}.ducklake_column AS inside
            WHERE inside.table_id = leaf.table_id
                AND inside.parent_column = leaf.column_id
                AND inside.end_snapshot IS NULL
        )
        AND NOT EXISTS (
            SELECT 1
            FROM {_CATALOG}.ducklake_table_column_stats AS known
            WHERE known.table_id = leaf.table_id AND known.column_id = leaf.column_id
        )
"""
_NOTE_TABLES = f"""
    INSERT INTO {_CATALOG}.ducklake_table_stats (table_id, record_count, next_row_id, file_size_bytes)
    SELECT table_id, 0, 0, 0
    FROM {_CATALOG}.ducklake_table
    WHERE end_snapshot IS NULL AND table_id NOT IN (SELECT table_id FROM {_CATALOG}.ducklake_table_stats)
"""


def attach_for_reading(settings: Settings) -> duckdb.DuckDBPyConnection:
    """A read-only connection to a lake of this form, with what the next writer will add."""
    connection = attach_lake(settings, read_only=True)
    try:
        check_form(settings, connection)
        _borrow_definitions(settings, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _borrow_definitions(settings: Settings, connection: duckdb.DuckDBPyConnection) -> None:
    # On a server to look for them costs every reader 80 ms; there they come with the upgrade.
    if is_postgres(settings.catalog_address) or has_every_definition(settings, connection):
        return
    _borrow_columns(connection)
    # All of them: one that is there may be worded otherwise, or read one that is.
    for query in order_by_dependency(read_views()):
        # One that reads a table which is to come, too, stays away: the statement that reads it says so.
        with suppress(duckdb.Error):
            connection.execute(f"CREATE TEMP VIEW {quote_name(query.name)} AS {query.body}")


def _borrow_columns(connection: duckdb.DuckDBPyConnection) -> None:
    """Let tables and columns that a lake has not yet be read as if they were there, empty."""
    found = connection.execute(
        f"SELECT table_name, list(column_name) FROM duckdb_columns() WHERE database_name = '{ALIAS}' GROUP BY table_name"
    ).fetchall()
    known = dict(found)
    for name, table in TABLES.items():
        there = known.get(name)
        missing = [
            f"CAST(NULL AS {DUCKDB_TYPES[column.type]}) AS {quote_name(column.name)}"
            for column in table.columns
            if column.name not in (there or ())
        ]
        if there is None:
            connection.execute(
                f"CREATE TEMP VIEW {quote_name(name)} AS SELECT {', '.join(missing)} WHERE false"
            )
        elif missing:
            connection.execute(
                f"CREATE TEMP VIEW {quote_name(name)} AS SELECT *, {', '.join(missing)} FROM {ALIAS}.{quote_name(name)}"
            )


def bring_up_to_date(
    settings: Settings, connection: duckdb.DuckDBPyConnection, lock_timeout_s: float
) -> None:
    """Create what the contract has and the lake lacks, in one transaction under the lock."""
    is_moved = has_moved(settings, connection)
    if has_every_definition(settings, connection):
        if is_moved:
            with hold_writer_lock(settings, lock_timeout_s):
                remember_data_path(settings)
        return
    check_form(settings, connection)
    if not (is_moved or list_missing_definitions(connection) or list_missing_packings(connection)):
        remember_definitions(settings)
        return
    for attempt in range(1, CONFLICT_TRIES + 1):
        with hold_writer_lock(settings, lock_timeout_s):
            remember_data_path(settings)
            files = NewFiles(settings)
            connection.execute("BEGIN")
            try:
                # Looked up again: another process may have made them while this one waited.
                for statement in list_missing_definitions(connection):
                    connection.execute(statement)
                files.flush()
                connection.execute("COMMIT")
                for statement in list_missing_packings(connection):
                    connection.execute(statement)
                if not is_postgres(settings.catalog_address):
                    note_empty_tables(connection)
                remember_definitions(settings)
                return
            except duckdb.Error as error:
                roll_back(connection)
                if not is_conflict(error) or attempt == CONFLICT_TRIES:
                    raise translate_error(error) from None
        time.sleep(random.uniform(0, 0.05 * 2**attempt))


def note_empty_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Write into a SQLite catalog that each table that was never written has no rows.

    DuckLake remembers a table's statistics, but not that there are none: without them every query asks the catalog once
    for each column, a tenth of a second for a wide table. The caller holds the writer lock and has no open transaction.
    Where it cannot be noted, such tables are only read more slowly.
    """
    try:
        connection.execute("BEGIN")
        connection.execute(_NOTE_COLUMNS)
        connection.execute(_NOTE_TABLES)
        connection.execute("COMMIT")
    except duckdb.Error:
        with suppress(duckdb.Error):
            connection.execute("ROLLBACK")
