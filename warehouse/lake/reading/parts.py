"""The parts of tables and the files that hold them, as the catalog names them.

No row is read to know them. A part is what files of a table are split by (a month), and all of a table that is not split. A file never
changes and its number is
never given again: the same numbers are the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from warehouse.lake.attach import ALIAS
from warehouse.lake.quoting import quote_text
from warehouse.lake.reading.analyses import find_query
from warehouse.lake.reading.queries import bind_parameters, find_names

Fetch = Callable[[str], Sequence[Sequence[object]]]

_METADATA: Final = f"__ducklake_metadata_{ALIAS}"
# As of the snapshot that the transaction reads.
_IS_NOW: Final = "{0}.begin_snapshot <= now.id AND ({0}.end_snapshot IS NULL OR {0}.end_snapshot > now.id)"
_PATH: Final = (
    "CASE WHEN {0}.path IS NULL OR NOT {0}.path_is_relative THEN {0}.path WHEN NOT own.path_is_relative THEN own.path || {0}.path "
    "ELSE above.path || own.path || {0}.path END"
)
_FILES: Final = f"""
    WITH now AS (FROM ducklake_current_snapshot('{ALIAS}'))

    SELECT
        own.table_name,
        coalesce(parts.partition_value, '') AS part,
        files.data_file_id,
        gone.delete_file_id,
        files.record_count,
        files.file_size_bytes,
        {_PATH.format("files")},
        {_PATH.format("gone")}
    FROM {_METADATA}.ducklake_data_file AS files
    CROSS JOIN now
    JOIN {_METADATA}.ducklake_table AS own ON own.table_id = files.table_id AND {_IS_NOW.format("own")}
    JOIN {_METADATA}.ducklake_schema AS above ON above.schema_id = own.schema_id AND {_IS_NOW.format("above")}
    LEFT JOIN {_METADATA}.ducklake_file_partition_value AS parts ON parts.data_file_id = files.data_file_id
    LEFT JOIN {_METADATA}.ducklake_delete_file AS gone
        ON gone.data_file_id = files.data_file_id AND {_IS_NOW.format("gone")}
    WHERE {_IS_NOW.format("files")}
    ORDER BY own.table_name, part, files.data_file_id
"""


class TablePart(NamedTuple):
    """A part of a table; its value is empty for a table that is not split."""

    table: str
    value: str


class PartFile(NamedTuple):
    """A file of a part and its deletions; `row_count` counts these; `size` is in bytes."""

    name: str
    paths: tuple[str, ...]
    row_count: int
    size: int


def read_part_files(fetch: Fetch) -> dict[TablePart, list[PartFile]]:
    """Every part that has a file → its files, as of the snapshot that `fetch` reads."""
    found: dict[TablePart, list[PartFile]] = {}
    for table, value, number, gone, row_count, size, path, gone_path in fetch(_FILES):
        file = PartFile(
            f"{number}/{'' if gone is None else gone}",
            tuple(str(one) for one in (path, gone_path) if one is not None),
            int(str(row_count)),
            int(str(size)),
        )
        found.setdefault(TablePart(str(table), str(value)), []).append(file)
    return found


def match_files(paths: Iterable[str]) -> str:
    """The condition that a row lies in one of these files."""
    return f"({' OR '.join(f'ends_with(filename, {quote_text(path)})' for path in paths)})"


class QueryMarks:
    """What named queries rest on, as the lake was when this was made.

    Attributes:
        files: every part that has a file, with its files.
    """

    def __init__(self, query: Callable[[str], Any]) -> None:
        self.files = read_part_files(lambda sql: query(sql).rows())

    def mark(self, name: str, params: Mapping[str, object]) -> str:
        """The hash of a query's statement, its parameters, and the files of its tables.

        Views are followed to their tables. Raises UsageError for a query that is not there.
        """
        asked = find_query(name)
        digest = hashlib.sha256(
            f"{asked.lake_body}\n{sorted(bind_parameters(asked, params).items())}\n".encode()
        )
        named = find_names(asked.lake_body)
        for part, files in self.files.items():
            if part.table in named:
                # By their paths, which no other lake has, nor this one after it was restored.
                digest.update(f"{part} {[file.paths for file in files]}\n".encode())
        return digest.hexdigest()
