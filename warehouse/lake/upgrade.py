"""Bring a lake to this version's contract before anything else is done with it."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from typing import TYPE_CHECKING

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
from warehouse.lake.empty_tables import note_empty_tables
from warehouse.lake.faults import CONFLICT_TRIES, is_conflict, translate_error
from warehouse.lake.files import NewFiles
from warehouse.lake.form import check_form
from warehouse.lake.locks import hold_writer_lock
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading.queries import order_by_dependency
from warehouse.lake.statements import roll_back

if TYPE_CHECKING:
    import duckdb


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
    if is_postgres(settings.catalog_address) or has_every_definition(settings):
        return
    import duckdb

    _borrow_columns(connection)
    found = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    there = {name for (name,) in found}
    for query in order_by_dependency(read_views()):
        if query.name not in there:
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
    import duckdb

    is_moved = has_moved(settings)
    if has_every_definition(settings):
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
