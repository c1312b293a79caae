"""Statistics of tables without rows, so that these cost no more to read than others."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from warehouse.lake.attach import ALIAS
from warehouse.lake.quoting import quote_name

if TYPE_CHECKING:
    import duckdb

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


def note_empty_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Write into a SQLite catalog that each table that was never written has no rows.

    DuckLake remembers a table's statistics, but not that there are none: without them every query asks the catalog once
    for each column, a tenth of a second for a wide table. The caller holds the writer lock and has no open transaction.
    Where it cannot be noted, such tables are only read more slowly.
    """
    import duckdb

    try:
        connection.execute("BEGIN")
        connection.execute(_NOTE_COLUMNS)
        connection.execute(_NOTE_TABLES)
        connection.execute("COMMIT")
    except duckdb.Error:
        with suppress(duckdb.Error):
            connection.execute("ROLLBACK")
