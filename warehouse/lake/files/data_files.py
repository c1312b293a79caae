"""The lake's Parquet files, flushed before the catalog names them with their length."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.lake.attach import catalog_path, is_postgres, is_remote
from warehouse.lake.catalog_door import list_catalog
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import find_absence
from warehouse.lake.files.remote_files import connect_to_files
from warehouse.lake.quoting import quote_text
from warehouse.stores.files import DATA_FILE_REMEDY, StoreFault
from warehouse.stores.whole_files import flush_path

if TYPE_CHECKING:
    from warehouse.lake.reading.parts import PartFile, TablePart

# Of every file that the present state of the lake rests on: where it lies, below which folders, how long it is.
_FILES = """
    WITH files AS (
        SELECT table_id, path, path_is_relative, file_size_bytes FROM ducklake_data_file WHERE end_snapshot IS NULL
        UNION ALL
        SELECT table_id, path, path_is_relative, file_size_bytes FROM ducklake_delete_file WHERE end_snapshot IS NULL
    )

    SELECT
        own.table_name,
        CASE
            WHEN NOT files.path_is_relative THEN files.path
            WHEN NOT own.path_is_relative THEN own.path || files.path
            ELSE parent.path || own.path || files.path
        END AS path,
        files.file_size_bytes
    FROM files
    JOIN ducklake_table AS own ON own.table_id = files.table_id AND own.end_snapshot IS NULL
    JOIN ducklake_schema AS parent ON parent.schema_id = own.schema_id AND parent.end_snapshot IS NULL
"""


class NewFiles:
    """The files that a transaction adds to a lake's folder.

    They are those that were not there when the transaction began.

    DuckLake names them to nobody before its commit. Of the tables that a landing touches the folders are listed, before and
    after; an object store puts what it acknowledges on its disks by itself.

    Args:
        settings: whose lake.
        tables: the tables that are written to; null for any.
    """

    def __init__(self, settings: Settings, tables: Iterable[str] | None = None) -> None:
        top = None if is_remote(settings.data_address) else Path(settings.data_address)
        self._top = top
        self._folders: list[Path] = []
        if top is not None:
            self._folders = (
                [top] if tables is None else [top / "main" / table for table in sorted(set(tables))]
            )
        self._before = set(self._list())

    def flush(self) -> list[Path]:
        """Put the new files, and the folders that name them, on the disk; answers with the files.

        A power cut after the commit then leaves no catalog that names a file without its bytes. Raises StoreError.
        """
        new = [Path(path) for path in self._list() if path not in self._before]
        try:
            for path in (*new, *sorted(self._list_folders(new), reverse=True)):
                # What is gone was another writer's, which took its transaction back.
                with suppress(FileNotFoundError):
                    flush_path(path)
        except OSError as error:
            raise StoreError(
                f"A new file of the lake in {self._top} cannot be put on the disk ({error.strerror}); nothing was "
                "written. Check the disk, then run again."
            ) from None
        return new

    def _list(self) -> list[str]:
        # Texts: a month lands thousands of files, and each landing looks twice at those of its tables.
        return [path for folder in self._folders for path in _list_files(folder)]

    def _list_folders(self, files: Iterable[Path]) -> set[Path]:
        """The folders of files, and those above them: a new folder is named in the one above it."""
        found: set[Path] = set()
        for file in files:
            for folder in file.parents:
                found.add(folder)
                if folder == self._top:
                    break
        return found


def find_file_faults(settings: Settings) -> list[StoreFault]:
    """Files that a catalog on disk names and that are not there, or not of its length."""
    if is_postgres(settings.catalog_address) or is_remote(settings.data_address):
        return []
    faults = _compare_files(settings)
    # Between the catalog and the look at the files a maintenance may have removed some: those are named no more.
    return faults and _compare_files(settings)


def find_garbled_files(
    settings: Settings, parts: Mapping[TablePart, Sequence[PartFile]], tables: Iterable[str]
) -> list[StoreFault]:
    """Files of these tables, besides `find_file_faults`', that cannot be read or were rewritten."""
    wanted = set(tables)
    known = {fault.path for fault in find_file_faults(settings)}
    top = settings.data_address if is_remote(settings.data_address) else Path(settings.data_address).resolve()
    found = {
        (path if path.startswith("/") or "://" in path else f"{str(top).rstrip('/')}/{path}"): (
            part.table,
            file.size if path == file.paths[0] else None,
        )
        for part, files in parts.items()
        if part.table in wanted
        for file in files
        for path in file.paths
    }
    faults = []
    for place, (table, size) in found.items():
        if place in known:
            continue
        quoted = quote_text(escape(place))
        # A connection for each: a file that is garbled badly enough leaves none that can be used again.
        with closing(connect_to_files(settings)) as connection:
            try:
                connection.execute(
                    f"SELECT bit_xor(hash(f)) FROM read_parquet({quoted}, hive_partitioning => false) AS f"
                ).fetchall()
                length = connection.execute(f"SELECT size FROM read_blob({quoted})").fetchall()[0][0]
                if size in (None, length):
                    continue
                what = f"it has {length:,} bytes of {size:,}"
            except duckdb.Error as error:
                if find_absence(error) is not None:
                    break
                what = "it cannot be read to its end"
        finding = f"is damaged: {what}; rows of {table} are in it"
        faults.append(StoreFault("data file", place, finding, DATA_FILE_REMEDY))
    return faults


def has_data_files(settings: Settings) -> bool:
    """Whether there are Parquet files in the lake's folder, whatever the catalog says."""
    if is_remote(settings.data_address):
        return False
    return any(path.endswith(".parquet") for path in _list_files(Path(settings.data_address)))


def _list_named_files(settings: Settings) -> list[tuple[str, str, int]]:
    """Table, path below the folder and length of every file that the present state rests on."""
    catalog = catalog_path(settings.catalog_address)
    if not catalog.exists():
        return []
    try:
        rows = list_catalog(catalog, _FILES)
        return [(str(table), str(path), int(str(size))) for table, path, size in rows]
    except sqlite3.Error:
        # A catalog that cannot be read is found by who looks at it.
        return []


def _compare_files(settings: Settings) -> list[StoreFault]:
    folder = Path(settings.data_address).resolve()
    faults = []
    for table, path, size in _list_named_files(settings):
        place = folder / path
        try:
            found = place.stat().st_size
        except OSError:
            faults.append(
                StoreFault(
                    "data file", str(place), f"is missing: rows of {table} are in it", DATA_FILE_REMEDY
                )
            )
            continue
        if found != size:
            faults.append(
                StoreFault(
                    "data file",
                    str(place),
                    f"is damaged: it has {found:,} bytes of {size:,}; rows of {table} are in it",
                    DATA_FILE_REMEDY,
                )
            )
    return faults


def _list_files(folder: Path) -> Iterator[str]:
    """Every file below a folder; nothing for one that is not there."""
    for path, _, names in os.walk(folder):
        for name in names:
            yield f"{path}{os.sep}{name}"
