"""Take texts out of rows that have landed, and out of every file that held them.

A row whose text goes is landed again without it, as a new form of its unit. The files that held it are then written anew, the
snapshots that name them end, and they are deleted: nothing of the lake's history before stays readable.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

import polars as pl

from schemas.errors import StoreError
from schemas.settings import Settings
from schemas.tables import get_table
from warehouse.lake.attach import ALIAS, catalog_path, is_postgres
from warehouse.lake.catalog_door import change_catalog
from warehouse.lake.connecting import remove_spill_folders
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import translate_error
from warehouse.lake.files import NewFiles
from warehouse.lake.landing import Batch
from warehouse.lake.locks import LOCK_TIMEOUT_S, hold_merge, hold_writer_lock
from warehouse.lake.quoting import quote_name, quote_text
from warehouse.lake.statements import quote_list, roll_back
from warehouse.lake.store import Lake
from warehouse.lake.upkeep.maintenance import delete_orphans

_STATISTICS: Final = ("ducklake_file_column_stats", "ducklake_table_column_stats")
# DuckLake widens the bounds of a table and never narrows them: the smallest and largest text of ever. Set to those of the files that
# are there, compared by their bytes as DuckDB does; left as they are where a file does not say its own.
_NARROW: Final = """
    UPDATE ducklake_table_column_stats
    SET
        min_value = (
            SELECT min(files.min_value{bytewise})
            FROM ducklake_file_column_stats AS files
            JOIN ducklake_data_file AS known ON known.data_file_id = files.data_file_id AND known.end_snapshot IS NULL
            WHERE files.table_id = ducklake_table_column_stats.table_id
                AND files.column_id = ducklake_table_column_stats.column_id
        ),
        max_value = (
            SELECT max(files.max_value{bytewise})
            FROM ducklake_file_column_stats AS files
            JOIN ducklake_data_file AS known ON known.data_file_id = files.data_file_id AND known.end_snapshot IS NULL
            WHERE files.table_id = ducklake_table_column_stats.table_id
                AND files.column_id = ducklake_table_column_stats.column_id
        )
    WHERE table_id IN (SELECT table_id FROM ducklake_table WHERE table_name IN {tables} AND end_snapshot IS NULL)
        AND EXISTS (
            SELECT 1
            FROM ducklake_column AS texts
            WHERE texts.table_id = ducklake_table_column_stats.table_id
                AND texts.column_id = ducklake_table_column_stats.column_id
                AND texts.column_type = 'varchar'
                AND texts.end_snapshot IS NULL
        )
        AND NOT EXISTS (
            SELECT 1
            FROM ducklake_file_column_stats AS files
            JOIN ducklake_data_file AS known ON known.data_file_id = files.data_file_id AND known.end_snapshot IS NULL
            WHERE files.table_id = ducklake_table_column_stats.table_id
                AND files.column_id = ducklake_table_column_stats.column_id
                AND (files.min_value IS NULL OR files.max_value IS NULL)
                AND files.value_count > 0
        )
"""


def without_texts(
    lake: Lake, table: str, units: Sequence[str], columns: Sequence[str], session_ids: Iterable[str]
) -> list[Batch]:
    """The units to land once these sessions' texts are null in `columns`, all else as it is."""
    if not units:
        return []
    contract = get_table(table)
    names = ", ".join(quote_name(column.name) for column in contract.own_columns)
    wanted = quote_list(units)
    rows = lake.query(
        f"SELECT landing_unit AS unit_of_row, {names} FROM {quote_name(table)} WHERE landing_unit IN {wanted}"
    )
    is_erased = pl.col("session_id").is_in(list(session_ids))
    rows = rows.with_columns(
        pl.when(is_erased).then(None).otherwise(pl.col(column)).alias(column) for column in columns
    )
    refused = lake.query(
        "SELECT * EXCLUDE (landing_unit) FROM quarantine "
        f"WHERE table_name = {quote_text(table)} AND unit IN {wanted}"
    ).with_columns(row_json=pl.col("row_key"))
    parts = {str(key[0]): part for key, part in rows.partition_by("unit_of_row", as_dict=True).items()}
    aside = {str(key[0]): part for key, part in refused.partition_by("unit", as_dict=True).items()}
    empty = rows.clear()
    return [Batch(table, unit, parts.get(unit, empty).drop("unit_of_row"), aside.get(unit)) for unit in units]


def purge_files(lake: Lake, tables: Sequence[str]) -> int:
    """Write the files of these tables again without the rows that are no more.

    Every file and snapshot of before is deleted. Time travel to before ends with it, of all tables. A query that is running may
    lose its files and is begun again by whoever asked. Answers with the files that were deleted; done again it finds nothing to
    do. Raises StoreError where a file cannot be written or deleted, or somebody else writes too long.
    """
    alias = quote_text(ALIAS)
    try:
        for table in dict.fromkeys(tables):
            arguments = f"{alias}, {quote_text(table)}, delete_threshold => 0"
            with hold_merge(lake.settings, lake.lock_timeout_s), lake.exclusive():
                _write_anew(lake, table, f"CALL ducklake_rewrite_data_files({arguments})")
        with lake.exclusive() as connection:
            connection.execute(f"CALL ducklake_expire_snapshots({alias}, older_than => now())")
            deleted = connection.execute(
                f"CALL ducklake_cleanup_old_files({alias}, cleanup_all => true)"
            ).fetchall()
    except duckdb.Error as error:
        raise translate_error(error) from None
    # What a killed landing or merge has written may hold what is erased, however new it is.
    orphans = delete_orphans(lake, "cleanup_all => true")
    remove_spill_folders(lake.settings.home)
    return len(deleted) + orphans


def purge_catalog(settings: Settings, tables: Sequence[str], lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
    """Write the catalog again without bounds that hold deleted texts; StoreError if held."""
    if is_postgres(settings.catalog_address):
        _purge_server(settings.catalog_address.removeprefix("postgres:"), tables)
        return
    with hold_writer_lock(settings, lock_timeout_s):
        path = catalog_path(settings.catalog_address)
        try:
            busy = change_catalog(
                path,
                "PRAGMA secure_delete = ON",
                _NARROW.format(bytewise="", tables=quote_list(tables)),
                "VACUUM",
                "PRAGMA wal_checkpoint(TRUNCATE)",
            )
        except sqlite3.Error as error:
            raise _held(type(error).__name__) from None
    if busy != "0":
        raise _held("its log is in use")


def _write_anew(lake: Lake, table: str, statement: str) -> None:
    """Run what writes files of a table anew; they are on the disk before the catalog names them."""
    files = NewFiles(lake.settings, [table])
    lake.connection.execute("BEGIN")
    try:
        lake.connection.execute(statement).fetchall()
        files.flush()
        lake.connection.execute("COMMIT")
    except BaseException:
        roll_back(lake.connection)
        raise


def _purge_server(address: str, tables: Sequence[str]) -> None:
    """Write the two tables of statistics again, whose files still hold what was deleted."""
    import psycopg

    try:
        with psycopg.connect(address, autocommit=True) as connection:
            with connection.transaction():
                connection.execute("LOCK TABLE ducklake_table_column_stats IN EXCLUSIVE MODE")
                narrow = _NARROW.format(bytewise=' COLLATE "C"', tables=quote_list(tables))
                connection.execute(narrow.encode())
            for table in _STATISTICS:
                connection.execute(f"VACUUM (FULL) {table}".encode())
    except psycopg.Error as error:
        raise _held(type(error).__name__) from None


def _held(why: str) -> StoreError:
    return StoreError(
        f"The lake's catalog could not be written again ({why}): it may still hold beginnings of erased texts. Wait until nobody "
        "reads the lake, and run the same command again; after an erasure, `proctor erase --again`."
    )
