"""Whether the lake's files lie where its catalog means.

This is checked by a mark among the files, whose value the catalog knows. For files in an object store, and for a catalog on a
server: there a setting that names another prefix, or a folder that one host has for itself, would divide the lake without a word.
What is embedded lies in one home, whose files are compared one by one.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Final

from schemas.errors import StoreError
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_text

# Beside the folders of tables; no Parquet file, so that what removes orphans leaves it.
MARK_FILE: Final = "proctor-lake-id.txt"
# Among DuckLake's own entries of its catalog.
_KEY: Final = "proctor_data_mark"
_NAMES: Final = uuid.UUID("5b0ae7c4-9c0e-4d0b-8a56-0a7f2c3b9d11")
_NEWEST_FILE: Final = """
    SELECT
        CASE
            WHEN NOT file.path_is_relative THEN file.path
            WHEN NOT own.path_is_relative THEN own.path || file.path
            ELSE parent.path || own.path || file.path
        END AS path,
        file.path_is_relative AND own.path_is_relative AS is_below
    FROM {catalog}.ducklake_data_file AS file
    JOIN {catalog}.ducklake_table AS own ON own.table_id = file.table_id AND own.end_snapshot IS NULL
    JOIN {catalog}.ducklake_schema AS parent ON parent.schema_id = own.schema_id AND parent.end_snapshot IS NULL
    WHERE file.end_snapshot IS NULL
    ORDER BY file.data_file_id DESC
    LIMIT 1
"""


def check_data_mark(
    connection: duckdb.DuckDBPyConnection, alias: str, data: str, installation_id: str, *, read_only: bool
) -> None:
    """Pass when the files at `data` are the catalog's, or are marked so now; else StoreError."""
    catalog = f"__ducklake_metadata_{alias}"
    expected = _read_expected(connection, catalog)
    held = _read_mark(connection, data)
    if held is not None and held == expected:
        return
    if expected is not None and held is not None:
        raise StoreError(_refuse(data, "are another lake's"))
    if read_only:
        return
    own = str(uuid.uuid5(_NAMES, f"{installation_id} {data}"))
    has_newest = _has_newest_file(connection, catalog, data)
    if held is not None:
        # A catalog that knows of no mark yet: of a lake of before, or of one that was killed between the two.
        if has_newest is not True and held != own:
            raise StoreError(_refuse(data, "are another lake's"))
    elif has_newest is False or (has_newest is None and expected is not None):
        raise StoreError(_refuse(data, "are not those of the lake: its mark and its newest file are missing"))
    else:
        _write_mark(connection, data, expected or own)
    if expected is None:
        connection.execute(
            f"INSERT INTO {catalog}.ducklake_metadata (key, value) VALUES (?, ?)", [_KEY, held or own]
        )


def _read_expected(connection: duckdb.DuckDBPyConnection, catalog: str) -> str | None:
    row = connection.execute(
        f"SELECT value FROM {catalog}.ducklake_metadata WHERE key = ? LIMIT 1", [_KEY]
    ).fetchone()
    return None if row is None else str(row[0])


def _read_mark(connection: duckdb.DuckDBPyConnection, data: str) -> str | None:
    found = _read(connection, "SELECT content FROM read_text(?)", _join(data, MARK_FILE))
    return None if found is None else found.strip()


def _write_mark(connection: duckdb.DuckDBPyConnection, data: str, mark: str) -> None:
    target = quote_text(_join(data, MARK_FILE))
    connection.execute(f"COPY (SELECT {quote_text(mark)} AS mark) TO {target} (FORMAT csv, HEADER false)")


def _has_newest_file(connection: duckdb.DuckDBPyConnection, catalog: str, data: str) -> bool | None:
    """Whether the file that the catalog named last is there; null for a lake without a file."""
    row = connection.execute(_NEWEST_FILE.format(catalog=catalog)).fetchone()
    if row is None:
        return None
    path, is_below = row
    place = _join(data, str(path)) if is_below else str(path)
    return _read(connection, "SELECT size FROM read_blob(?)", place) is not None


def _read(connection: duckdb.DuckDBPyConnection, sql: str, path: str) -> str | None:
    """One value of a file; null where there is none."""
    if "://" not in path and not Path(path).exists():
        return None
    try:
        row = connection.execute(sql, [path]).fetchone()
    except duckdb.HTTPException as error:
        if error.status_code == 404:
            return None
        raise
    return None if row is None else str(row[0])


def _join(data: str, path: str) -> str:
    return f"{data.rstrip('/')}/{path}"


def _refuse(data: str, finding: str) -> str:
    return (
        f"The files in {data} {finding}. Nothing was written. Let PROCTOR_LAKE_DATA name the place of this lake's files, the same "
        "on every host; if they were moved, move them all."
    )
