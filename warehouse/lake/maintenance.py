"""Keep a lake small and safe: merge files, expire snapshots, back up, restore."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from schemas.tables import TABLES
from warehouse.lake.attach import (
    ALIAS,
    catalog_path,
    is_postgres,
    is_remote,
    quote_name,
    quote_text,
    remember_data_path,
)
from warehouse.lake.statements import translate_error
from warehouse.lake.store import Lake, hold_writer_lock, open_lake

if TYPE_CHECKING:
    import duckdb
    import polars as pl

KEEP_DAYS = 7
# A file that no snapshot names may belong to a landing that is being written (PostgreSQL: without a lock).
_ORPHAN_AGE = timedelta(days=1)


def compact_lake(
    lake: Lake, through_month: str | None = None, *, keep_days: float = KEEP_DAYS
) -> dict[str, Any]:
    """Merge small files, and remove what nothing has needed for `keep_days`: snapshots, files, orphans of killed writers.

    Queries go on meanwhile; only one that began more than `keep_days` ago may lose its files. With `through_month`
    (YYYY-MM), tables partitioned by month are left alone while only later months have files to merge. Answers with counts.
    """
    before = _count_files(lake)
    merged = 0
    with lake.exclusive() as connection:
        try:
            for name in _tables_to_merge(connection, through_month):
                arguments = f"{quote_text(ALIAS)}, {quote_text(name)}"
                # Files of which most rows were replaced are written anew, so that the rest can be merged.
                connection.execute(
                    f"CALL ducklake_rewrite_data_files({arguments}, delete_threshold => 0.1)"
                ).fetchall()
                merged += len(
                    connection.execute(f"CALL ducklake_merge_adjacent_files({arguments})").fetchall()
                )
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
    _remove_spill_folders(lake.settings)
    return {
        "files_before": before,
        "files_after": _count_files(lake),
        "merged_count": merged,
        "expired_snapshots": len(expired),
        "removed_files": len(removed),
        "removed_orphans": len(orphans),
    }


def list_snapshots(lake: Lake) -> pl.DataFrame:
    """One row per kept snapshot: version, time and what it changed; `FROM t AT (VERSION => n)` reads one."""
    return lake.query(
        "SELECT snapshot_id AS version, snapshot_time AS made_at, changes::VARCHAR AS changes "
        f"FROM ducklake_snapshots('{ALIAS}') ORDER BY version"
    )


def backup_lake(lake: Lake, dest: Path) -> dict[str, Any]:
    """Copy the lake as of one moment into the new folder `dest` (`catalog.sqlite` and `data/`).

    An embedded lake is copied with its snapshots while writers wait; a lake on PostgreSQL or S3 is copied table by
    table, without its history. Raises UsageError when `dest` is not empty.
    """
    if dest.exists() and any(dest.iterdir()):
        raise UsageError(f"{dest} is not empty; name a new folder for the lake's backup.")
    dest.mkdir(parents=True, exist_ok=True)
    if is_postgres(lake.settings.catalog_address) or is_remote(lake.settings.data_address):
        with open_lake(_backup_settings(dest)) as copy:
            row_count = _copy_tables(lake, copy)
        return {"folder": str(dest), "row_count": row_count, "has_snapshots": False}
    with hold_writer_lock(lake.settings, lake.lock_timeout_s):
        _copy_catalog(catalog_path(lake.settings.catalog_address), dest / "catalog.sqlite")
        shutil.copytree(lake.settings.data_address, dest / "data")
    return {"folder": str(dest), "row_count": _count_rows(lake), "has_snapshots": True}


def restore_lake(settings: Settings, src: Path) -> dict[str, Any]:
    """Put the backup in `src` where settings say the lake lies; raises UsageError where one already has rows."""
    source = _backup_settings(src)
    if not (src / "catalog.sqlite").exists() or not (src / "data").is_dir():
        raise UsageError(f"{src} is not a backup of a lake: it holds no catalog.sqlite and data/.")
    if is_postgres(settings.catalog_address) or is_remote(settings.data_address):
        with open_lake(source, read_only=True) as backup, open_lake(settings) as lake:
            if _count_rows(lake):
                raise UsageError(
                    "The lake that settings name already has rows; a backup is restored into an empty one."
                )
            return {"row_count": _copy_tables(backup, lake)}
    catalog, data = catalog_path(settings.catalog_address), Path(settings.data_address)
    with hold_writer_lock(settings):
        if catalog.exists() or (data.exists() and any(data.iterdir())):
            raise UsageError(
                f"There is already a lake at {catalog}; a backup is restored into an empty PROCTOR_HOME."
            )
        shutil.copytree(src / "data", data, dirs_exist_ok=True)
        # The catalog comes last: without it there is no lake, so an interrupted restore is never taken for one.
        partial = catalog.with_suffix(".partial")
        _copy_catalog(src / "catalog.sqlite", partial)
        partial.rename(catalog)
        remember_data_path(settings)
    with open_lake(settings) as lake:
        return {"row_count": _count_rows(lake)}


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


def _count_rows(lake: Lake) -> int:
    return int(lake.query("SELECT coalesce(sum(row_count), 0)::BIGINT FROM landings").item())


def _backup_settings(folder: Path) -> Settings:
    return Settings.model_validate(
        {
            "home": folder,
            "lake_catalog": f"sqlite:{(folder / 'catalog.sqlite').resolve()}",
            "lake_data": str((folder / "data").resolve()),
        }
    )


def _copy_catalog(source: Path, target: Path) -> None:
    """SQLite's own backup: consistent whatever readers do, the write-ahead log included."""
    try:
        with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
            origin.backup(copy)
            copy.execute("PRAGMA journal_mode = WAL")
    except sqlite3.Error as error:
        raise StoreError(
            f"The lake's catalog {source} cannot be copied to {target} ({type(error).__name__}). Check free space and "
            "permissions."
        ) from None


def _copy_tables(source: Lake, target: Lake) -> int:
    """Every row of every table as of one moment, in one transaction of the target; answers with the landed rows."""
    with source.read_transaction(), target.transaction() as connection:
        for name in TABLES:
            # By batches: a table may be larger than memory.
            reader = source.connection.execute(f"SELECT * FROM {quote_name(name)}").to_arrow_reader(100_000)
            for batch in reader:
                if batch.num_rows:
                    connection.register("copied_rows", _as_table(batch))
                    connection.execute(f"INSERT INTO {quote_name(name)} BY NAME SELECT * FROM copied_rows")
                    connection.unregister("copied_rows")
        return int(source.query("SELECT coalesce(sum(row_count), 0)::BIGINT FROM landings").item())


def _as_table(batch: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([batch])


def _remove_spill_folders(settings: Settings) -> None:
    """What killed processes left of their spill files."""
    for folder in (settings.home / "duckdb").glob("spill-*"):
        number = folder.name.removeprefix("spill-")
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
