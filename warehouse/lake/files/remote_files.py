"""The lake's files wherever they lie, one by one as bytes, for a backup and back."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from schemas.errors import StoreError
from schemas.settings import Settings
from warehouse.lake.attach import is_remote
from warehouse.lake.connecting import connect_duckdb, find_extension, load_extensions
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import find_absence
from warehouse.lake.files.object_store import create_s3_secret
from warehouse.lake.quoting import quote_text
from warehouse.stores.away import OBJECTS, until_there

# Of every file that a catalog names, whichever snapshot needs it.
_FILES = """
    WITH files AS (
        SELECT table_id, path, path_is_relative, file_size_bytes FROM ducklake_data_file
        UNION
        SELECT table_id, path, path_is_relative, file_size_bytes FROM ducklake_delete_file
    )

    SELECT DISTINCT
        CASE
            WHEN NOT files.path_is_relative THEN files.path
            WHEN NOT own.path_is_relative THEN own.path || files.path
            ELSE parent.path || own.path || files.path
        END AS path,
        files.file_size_bytes
    FROM files
    JOIN (SELECT DISTINCT table_id, schema_id, path, path_is_relative FROM ducklake_table) AS own USING (table_id)
    JOIN (SELECT DISTINCT schema_id, path FROM ducklake_schema) AS parent USING (schema_id)
    ORDER BY 1
"""


def connect_to_files(settings: Settings) -> duckdb.DuckDBPyConnection:
    """DuckDB that reads and writes the lake's files, wherever they lie, and has no catalog."""
    if not is_remote(settings.data_address):
        return connect_duckdb(settings.home)
    connection = connect_duckdb(settings.home, trusted=find_extension("httpfs") is not None)
    load_extensions(connection, ["httpfs"])
    create_s3_secret(connection, os.environ)
    return connection


class FileGone(Exception):
    """A file that a catalog named is not there any more: a maintenance removed it meanwhile."""


class LakeFile(NamedTuple):
    """A file of a lake: its path below the lake's folder or prefix, and its length in bytes."""

    path: str
    size: int


class FileStore:
    """The folder, or the prefix of an object store, of a lake's files; a context manager."""

    def __init__(self, settings: Settings) -> None:
        self._top = settings.data_address.rstrip("/")
        self._wait_s = settings.store_wait_s
        self._duckdb = connect_to_files(settings) if is_remote(settings.data_address) else None

    def __enter__(self) -> FileStore:
        return self

    def __exit__(self, *_: object) -> None:
        if self._duckdb is not None:
            self._duckdb.close()

    def fetch(self, file: LakeFile, target: Path) -> None:
        """Copy a file to `target`. Raises FileGone; StoreError for no answer or another length."""
        place = f"{self._top}/{file.path}"
        if self._duckdb is None:
            try:
                shutil.copyfile(place, target)
            except FileNotFoundError:
                raise FileGone(file.path) from None
        else:
            self._copy(self._duckdb, place, str(target))
        if (found := target.stat().st_size) != file.size:
            raise StoreError(
                f"The lake's file {place} is damaged: it has {found:,} bytes of {file.size:,}. Put it back from an earlier backup."
            )

    def put(self, source: Path, path: str) -> None:
        """Copy a file to its place. Raises StoreError."""
        place = f"{self._top}/{path}"
        if self._duckdb is None:
            Path(place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copyfile(source, place)
            return
        try:
            self._copy(self._duckdb, str(source), place)
        except FileGone:
            raise self._explain("HTTP 404") from None

    def is_empty(self) -> bool:
        """Whether no Parquet file lies there."""
        if self._duckdb is None:
            return not any(Path(self._top).rglob("*.parquet"))
        try:
            found = self._duckdb.execute(
                f"SELECT 1 FROM glob({quote_text(self._top + '/**/*.parquet')}) LIMIT 1"
            )
            return found.fetchone() is None
        except duckdb.Error as error:
            raise self._explain(type(error).__name__) from None

    def _copy(self, connection: duckdb.DuckDBPyConnection, source: str, target: str) -> None:
        def attempt() -> None:
            try:
                connection.execute(
                    f"COPY (SELECT content FROM read_blob({quote_text(source)})) TO {quote_text(target)} (FORMAT BLOB)"
                )
            except duckdb.Error as error:
                if "HTTP 404" in str(error):
                    raise FileGone(source) from None
                raise (find_absence(error) or self._explain(type(error).__name__)) from None

        until_there(attempt, stores=(OBJECTS,), wait_s=self._wait_s)

    def _explain(self, cause: str) -> StoreError:
        return StoreError(
            f"The object store did not give or take a file ({cause}). Check that it answers, that {self._top} (PROCTOR_LAKE_DATA) is "
            "in a bucket it has, the AWS_* variables, and the disk."
        )


def list_lake_files(catalog: Path, top: str | None = None) -> list[LakeFile]:
    """Every file that a SQLite catalog names, for snapshots too; StoreError for one elsewhere."""
    with closing(sqlite3.connect(catalog)) as connection:
        rows = connection.execute(_FILES).fetchall()
    files = []
    for path, size in rows:
        inner = PurePosixPath(str(path) if top is None else str(path).removeprefix(f"{top.rstrip('/')}/"))
        if inner.is_absolute() or ".." in inner.parts or "://" in str(inner):
            raise StoreError(
                f"The lake's catalog names {path}, which lies outside of the lake's folder: it cannot be copied."
            )
        files.append(LakeFile(str(inner), int(size)))
    return files


def give_files(
    settings: Settings, files: list[LakeFile], take: Callable[[LakeFile, Callable[[Path], None]], None]
) -> None:
    """Call `take` with each file and what writes it to a path. Raises FileGone, StoreError."""
    with FileStore(settings) as store:
        for file in files:
            take(file, lambda target, one=file: store.fetch(one, target))  # type: ignore[misc]
