"""Copy a lake as of one moment, and put such a copy where there is no lake yet."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from schemas.errors import StoreError, UsageError
from schemas.settings import GivenSettings, Settings
from schemas.tables import TABLES
from warehouse.backup import BackupTarget
from warehouse.lake.attach import attach_lake, catalog_path, is_postgres, is_remote, remember_data_path
from warehouse.lake.catalog_door import change_catalog
from warehouse.lake.files import FileGone, FileStore, LakeFile, give_files, list_lake_files
from warehouse.lake.locks import hold_writer_lock
from warehouse.lake.quoting import quote_name
from warehouse.lake.store import Lake, open_lake
from warehouse.lake.upkeep.catalog_copy import check_empty_catalog, copy_server_catalog, fill_server_catalog
from warehouse.stores.files import remove_acknowledged_commit

# Copies of a catalog, each with the files that it names, before a missing file counts as lost.
_TRIES: Final = 3


def backup_lake(lake: Lake, dest: Path, target: BackupTarget | None = None) -> dict[str, Any]:
    """Copy the lake as of one moment into the new folder `dest`, with its snapshots.

    The folder then holds `catalog.sqlite` and `data/`. `target` takes the Parquet files as `lake/data/…`; without it they are
    copied into `dest`. Writers of an embedded lake wait meanwhile. Of a lake on PostgreSQL or in an object store the catalog is
    copied as of one moment, then the files that it names, while others write: files stay for days after the last snapshot that
    needs them, and where a maintenance removed one all the same, catalog and files are copied again. Raises UsageError when `dest`
    is not empty, StoreError.
    """
    if dest.exists() and any(dest.iterdir()):
        raise UsageError(f"{dest} is not empty; name a new folder for the lake's backup.")
    dest.mkdir(parents=True, exist_ok=True)
    settings, catalog = lake.settings, dest / "catalog.sqlite"
    name, target = ("lake/data", target) if target is not None else ("data", BackupTarget(dest))
    if not is_postgres(settings.catalog_address) and not is_remote(settings.data_address):
        with hold_writer_lock(settings, lake.lock_timeout_s):
            _copy_catalog(catalog_path(settings.catalog_address), catalog)
            target.add_tree(Path(settings.data_address), name)
        return {"folder": str(dest), "row_count": _count_rows(lake)}
    for attempt in range(1, _TRIES + 1):
        if is_postgres(settings.catalog_address):
            _remove_catalog(catalog)
            copy_server_catalog(settings, _backup_settings(dest))
        else:
            _copy_catalog(catalog_path(settings.catalog_address), catalog)
        try:
            _copy_remote(settings, catalog, name, target)
            break
        except FileGone as error:
            if attempt == _TRIES:
                raise StoreError(
                    f"The lake's file {error} is missing, although the catalog names it. Is `proctor compact` running all the time? "
                    "Else restore it from an earlier backup."
                ) from None
    return {"folder": str(dest), "row_count": _count_rows(lake)}


def _copy_remote(settings: Settings, catalog: Path, name: str, target: BackupTarget) -> None:
    files = list_lake_files(catalog, settings.data_address)
    target.add_folder(name)

    def take(file: LakeFile, fetch: Callable[[Path], None]) -> None:
        target.add_fetched(f"{name}/{file.path}", file.size, fetch)

    give_files(settings, files, take)


def restore_lake(settings: Settings, src: Path) -> dict[str, Any]:
    """Put the backup in `src` where settings say; UsageError where that lake has rows."""
    if not (src / "catalog.sqlite").exists() or not (src / "data").is_dir():
        raise UsageError(f"{src} is not a backup of a lake: it holds no catalog.sqlite and data/.")
    if is_postgres(settings.catalog_address) or is_remote(settings.data_address):
        if not _fill_server(settings, src):
            return _restore_tables(src, settings)
        with open_lake(_as_new(settings)) as lake:
            return {"row_count": _count_rows(lake)}
    catalog, data = catalog_path(settings.catalog_address), Path(settings.data_address)
    with hold_writer_lock(settings):
        if catalog.exists() or (data.exists() and any(data.iterdir())):
            raise UsageError(
                f"There is already a lake at {catalog}; a backup is restored into an empty PROCTOR_HOME."
            )
        _copy_files(src, catalog, data)
        remember_data_path(settings)
    with open_lake(settings) as lake:
        return {"row_count": _count_rows(lake)}


def _copy_files(src: Path, catalog: Path, data: Path) -> None:
    shutil.copytree(src / "data", data, dirs_exist_ok=True)
    # The catalog comes last: without it there is no lake, so an interrupted restore is never taken for one.
    partial = catalog.with_suffix(".partial")
    _copy_catalog(src / "catalog.sqlite", partial)
    # What was acknowledged of a catalog that lay here before is not to be looked for in this one.
    remove_acknowledged_commit(catalog)
    partial.rename(catalog)


def _fill_server(settings: Settings, src: Path) -> bool:
    """Put files, then catalog, where settings say; False for another version of DuckLake."""
    check_empty_lake(settings)
    if is_postgres(settings.catalog_address):
        attach_lake(_as_new(settings), read_only=False).close()
    files = list_lake_files(src / "catalog.sqlite")
    with FileStore(settings) as store:
        for file in files:
            store.put(src / "data" / file.path, file.path)
    if is_postgres(settings.catalog_address):
        return fill_server_catalog(src / "catalog.sqlite", settings, f"{settings.data_address.rstrip('/')}/")
    catalog = catalog_path(settings.catalog_address)
    catalog.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = catalog.with_suffix(".partial")
    _copy_catalog(src / "catalog.sqlite", partial)
    with closing(sqlite3.connect(partial, isolation_level=None)) as connection:
        # These files were not put there: no snapshot needs them.
        connection.execute("DELETE FROM ducklake_files_scheduled_for_deletion")
    remove_acknowledged_commit(catalog)
    partial.rename(catalog)
    remember_data_path(settings)
    return True


def check_empty_lake(settings: Settings) -> None:
    """Raise UsageError where settings name a lake that has rows, or a place with files of one."""
    if is_postgres(settings.catalog_address):
        check_empty_catalog(settings)
    elif catalog_path(settings.catalog_address).exists():
        raise UsageError(
            f"There is already a lake at {catalog_path(settings.catalog_address)}; a backup is restored into an empty PROCTOR_HOME."
        )
    if is_remote(settings.data_address):
        with FileStore(settings) as store:
            if not store.is_empty():
                raise UsageError(
                    f"There are Parquet files in {settings.data_address} already; a backup is restored into an empty bucket or prefix "
                    "(PROCTOR_LAKE_DATA). Delete what an interrupted restore left."
                )


def _as_new(settings: Settings) -> Settings:
    """The same stores as if unknown: a new catalog belongs to no installation yet."""
    return settings.model_copy(update={"secrets": settings.home / ".not-yet"})


def _restore_tables(src: Path, settings: Settings) -> dict[str, Any]:
    """Copy a lake row by row into the empty one that settings name."""
    with open_lake(_backup_settings(src), read_only=True) as backup, open_lake(settings) as lake:
        if _count_rows(lake):
            raise UsageError(
                "The lake that settings name already has rows; a backup is restored into an empty one."
            )
        return {"row_count": _copy_tables(backup, lake)}


def _count_rows(lake: Lake) -> int:
    return int(lake.query("SELECT coalesce(sum(row_count), 0)::BIGINT FROM landings").item())


def _backup_settings(folder: Path) -> Settings:
    return GivenSettings.model_validate(
        {
            "home": folder,
            "lake_catalog": f"sqlite:{(folder / 'catalog.sqlite').resolve()}",
            "lake_data": str((folder / "data").resolve()),
        }
    )


def _copy_catalog(source: Path, target: Path) -> None:
    """SQLite's own backup: consistent whatever readers do, the write-ahead log included."""
    try:
        change_catalog(source, copy_to=target)
    except sqlite3.Error as error:
        raise StoreError(
            f"The lake's catalog {source} cannot be copied to {target} ({type(error).__name__}). Check free space and "
            "permissions."
        ) from None


def _remove_catalog(catalog: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        catalog.with_name(catalog.name + ending).unlink(missing_ok=True)


def _copy_tables(source: Lake, target: Lake) -> int:
    """Copy every row of every table as of one moment, in one transaction; how many."""
    import pyarrow as pa

    with source.read_transaction(), target.transaction() as connection:
        for name in TABLES:
            # By batches: a table may be larger than memory.
            reader = source.connection.execute(f"SELECT * FROM {quote_name(name)}").to_arrow_reader(100_000)
            for batch in reader:
                if batch.num_rows:
                    connection.register("copied_rows", pa.Table.from_batches([batch]))
                    connection.execute(f"INSERT INTO {quote_name(name)} BY NAME SELECT * FROM copied_rows")
                    connection.unregister("copied_rows")
        return int(source.query("SELECT coalesce(sum(row_count), 0)::BIGINT FROM landings").item())
