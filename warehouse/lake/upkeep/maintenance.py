"""Keep a lake small: merge files, expire snapshots, remove what killed processes left."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from schemas.settings import Settings
from schemas.tables import TABLES
from warehouse.lake.attach import ALIAS, is_postgres
from warehouse.lake.faults import translate_error
from warehouse.lake.files import NewFiles
from warehouse.lake.quoting import quote_text
from warehouse.lake.statements import roll_back
from warehouse.lake.store import Lake

if TYPE_CHECKING:
    import duckdb
    import polars as pl

KEEP_DAYS = 7
# A file that no snapshot names may belong to a landing that is being written (PostgreSQL: without a lock).
_ORPHAN_AGE = timedelta(days=1)


def compact_lake(
    lake: Lake, through_month: str | None = None, *, keep_days: float = KEEP_DAYS
) -> dict[str, Any]:
    """Merge small files, and remove what nothing has needed for `keep_days`.

    That is snapshots, files, and orphans of killed writers.

    Queries continue meanwhile; only one that began more than `keep_days` ago may lose its files. With `through_month`
    (YYYY-MM), tables partitioned by month are left alone while only later months have files to merge. Answers with counts.
    """
    before = _count_files(lake)
    merged = 0
    with lake.exclusive() as connection:
        try:
            for name in _tables_to_merge(connection, through_month):
                arguments = f"{quote_text(ALIAS)}, {quote_text(name)}"
                # Files of which most rows were replaced are written again, so that the rest can be merged.
                _write_files(
                    lake, name, f"CALL ducklake_rewrite_data_files({arguments}, delete_threshold => 0.1)"
                )
                merged += _write_files(lake, name, f"CALL ducklake_merge_adjacent_files({arguments})")
            older = f"older_than => now() - INTERVAL {int(keep_days * 86_400)} SECONDS"
            expired = connection.execute(
                f"CALL ducklake_expire_snapshots({quote_text(ALIAS)}, {older})"
            ).fetchall()
            # A merged file serves old snapshots too, so its parts are let go at once; a query that is running may still
            # read them, so they are removed only when they have been let go for as long as a snapshot is kept.
            removed = connection.execute(
                f"CALL ducklake_cleanup_old_files({quote_text(ALIAS)}, {older})"
            ).fetchall()
            orphan_age = (
                _ORPHAN_AGE
                if is_postgres(lake.settings.catalog_address)
                else min(_ORPHAN_AGE, timedelta(days=keep_days))
            )
            orphans = connection.execute(
                f"CALL ducklake_delete_orphaned_files({quote_text(ALIAS)}, "
                f"older_than => now() - INTERVAL {int(orphan_age.total_seconds())} SECONDS)"
            ).fetchall()
        except _duckdb_error() as error:
            raise translate_error(error) from None
    remove_spill_folders(lake.settings)
    return {
        "files_before": before,
        "files_after": _count_files(lake),
        "merged_count": merged,
        "expired_snapshots": len(expired),
        "removed_files": len(removed),
        "removed_orphans": len(orphans),
    }


def _write_files(lake: Lake, table: str, statement: str) -> int:
    """Run a statement that writes files of a table again; returns the number of rows.

    The files are on the disk before the catalog names them.
    """
    files = NewFiles(lake.settings, [table])
    lake.connection.execute("BEGIN")
    try:
        rows = lake.connection.execute(statement).fetchall()
        files.flush()
        lake.connection.execute("COMMIT")
    except BaseException:
        roll_back(lake.connection)
        raise
    return len(rows)


def list_snapshots(lake: Lake) -> pl.DataFrame:
    """One row per kept snapshot: version, time and what it changed.

    `FROM t AT (VERSION => n)` reads one.
    """
    return lake.query(
        "SELECT snapshot_id AS version, snapshot_time AS made_at, changes::VARCHAR AS changes "
        f"FROM ducklake_snapshots('{ALIAS}') ORDER BY version"
    )


def _tables_to_merge(connection: duckdb.DuckDBPyConnection, through_month: str | None) -> list[str]:
    if through_month is None:
        return list(TABLES)
    due = {
        row[0]
        for row in connection.execute(
            f"SELECT tables.table_name FROM __ducklake_metadata_{ALIAS}.ducklake_data_file AS files "
            f"JOIN __ducklake_metadata_{ALIAS}.ducklake_file_partition_value AS months USING (data_file_id) "
            f"JOIN __ducklake_metadata_{ALIAS}.ducklake_table AS tables ON tables.table_id = files.table_id "
            f"WHERE files.end_snapshot IS NULL AND months.partition_value <= {quote_text(through_month)} "
            "GROUP BY tables.table_name, months.partition_value HAVING count(*) > 1"
        ).fetchall()
    }
    return [table.name for table in TABLES.values() if table.partition_by is None or table.name in due]


def _count_files(lake: Lake) -> int:
    return int(
        lake.query(f"SELECT coalesce(sum(file_count), 0)::BIGINT FROM ducklake_table_info('{ALIAS}')").item()
    )


def remove_spill_folders(settings: Settings) -> None:
    """What killed processes left: their spill files, and rows they were about to land."""
    for folder in (settings.home / "duckdb").glob("spill-*"):
        number = folder.name.split("-")[1]
        if number.isdigit() and not _is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it runs, under another user
    return True


def _duckdb_error() -> type[duckdb.Error]:
    import duckdb

    return duckdb.Error
