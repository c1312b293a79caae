"""Copy a lake as of one moment, and put such a copy where there is no lake yet."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from schemas.errors import StoreError, UsageError
from schemas.settings import Settings
from schemas.tables import TABLES
from warehouse.installation import catalog_file
from warehouse.lake.attach import (
    catalog_path,
    give_catalog_id,
    is_lake_encrypted,
    is_postgres,
    is_remote,
    remember_data_path,
)
from warehouse.lake.locks import hold_writer_lock
from warehouse.lake.quoting import quote_name
from warehouse.lake.store import Lake, open_lake
from warehouse.store_files import read_installation_id, remove_mark


def backup_lake(lake: Lake, dest: Path, copy_data: Callable[[Path], object] | None = None) -> dict[str, Any]:
    """Copy the lake as of one moment into the new folder `dest` (`catalog.sqlite` and `data/`).

    `copy_data` copies the folder of Parquet files of an embedded lake elsewhere instead.

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
        if copy_data is None:
            shutil.copytree(lake.settings.data_address, dest / "data")
        else:
            copy_data(Path(lake.settings.data_address))
    return {"folder": str(dest), "row_count": _count_rows(lake), "has_snapshots": True}


def restore_lake(settings: Settings, src: Path) -> dict[str, Any]:
    """Put the backup in `src` where settings say the lake lies; raises UsageError where one already has rows."""
    source = _backup_settings(src)
    if not (src / "catalog.sqlite").exists() or not (src / "data").is_dir():
        raise UsageError(f"{src} is not a backup of a lake: it holds no catalog.sqlite and data/.")
    if is_postgres(settings.catalog_address) or is_remote(settings.data_address):
        return _restore_tables(source, settings)
    catalog, data = catalog_path(settings.catalog_address), Path(settings.data_address)
    encrypts = settings.lake_encrypted and not is_lake_encrypted(source)
    with hold_writer_lock(settings):
        if catalog.exists() or (data.exists() and any(data.iterdir())):
            raise UsageError(
                f"There is already a lake at {catalog}; a backup is restored into an empty PROCTOR_HOME."
            )
        if not encrypts:
            _copy_files(src, catalog, data)
            remember_data_path(settings)
    if encrypts:
        return _encrypt_lake(source, settings)
    with open_lake(settings) as lake:
        return {"row_count": _count_rows(lake)}


def _copy_files(src: Path, catalog: Path, data: Path) -> None:
    shutil.copytree(src / "data", data, dirs_exist_ok=True)
    # The catalog comes last: without it there is no lake, so an interrupted restore is never taken for one.
    partial = catalog.with_suffix(".partial")
    _copy_catalog(src / "catalog.sqlite", partial)
    # What was acknowledged of a catalog that lay here before is not to be looked for in this one.
    remove_mark(catalog)
    partial.rename(catalog)


def _restore_tables(source: Settings, settings: Settings) -> dict[str, Any]:
    """Copy a lake row by row into the empty one that settings name."""
    with open_lake(source, read_only=True) as backup, open_lake(settings) as lake:
        if _count_rows(lake):
            raise UsageError(
                "The lake that settings name already has rows; a backup is restored into an empty one."
            )
        return {"row_count": _copy_tables(backup, lake)}


def _encrypt_lake(source: Settings, settings: Settings) -> dict[str, Any]:
    """Copy a plain lake row by row into a new one with encrypted files, of the same installation; its history stays behind."""
    held = catalog_file(source.catalog_address)
    installation_id = None if held is None else read_installation_id(held)
    restored = _restore_tables(source, settings)
    if installation_id is not None:
        give_catalog_id(settings, installation_id)
    return restored


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
