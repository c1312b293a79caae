"""Keep a lake small: merge files, expire snapshots, remove what killed processes left."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from schemas.errors import StoreError
from schemas.tables import TABLES
from warehouse.lake.attach import ALIAS
from warehouse.lake.connecting import remove_spill_folders
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import is_conflict, translate_error
from warehouse.lake.locks import hold_all, hold_merge
from warehouse.lake.quoting import quote_name, quote_text
from warehouse.lake.reading.parts import PartFile, TablePart, match_files
from warehouse.lake.store import Lake
from warehouse.lake.upkeep.looked import list_parts

_LOG = logging.getLogger("proctor.stores")
KEEP_DAYS = 7
# A file that no snapshot names tells for so long of a landing that a catalog has lost (`lost_landings.py`).
_ORPHAN_AGE_S = 86_400
# A file of so many bytes is read as fast as many are, and is not merged with the next month's.
_SMALL_BYTES = 2_000_000
# Files written of a table at once: of months, the newest and some that were never merged.
_MOST_WRITTEN = 3
# Bytes merged into one file: more would take half a gigabyte of memory.
_MOST_BYTES = 10_000_000
# The same for whoever asks for it: a gigabyte at most.
_MOST_COMPACTED = 128_000_000
_AGAIN = "Run proctor doctor, which names damaged files, then proctor compact again."


def compact_lake(lake: Lake, *, keep_days: float = KEEP_DAYS) -> dict[str, Any]:
    """Merge files, and remove what nothing has needed for `keep_days`; answers with counts."""
    before = _count_files(lake)
    try:
        merged = sum(
            _merge(lake, part, group)
            for part, files in list_parts(lake).items()
            for group in _group_files(files)
            # Rows that were replaced are left out, so that snapshots of before are the last to name them.
            if len(group) > 1 or len(group[0].paths) > 1
        )
    except _duckdb_error() as error:
        raise translate_error(error) from None
    older = f"older_than => now() - INTERVAL {int(keep_days * 86_400)} SECONDS"
    with lake.exclusive() as connection:
        try:
            expired = connection.execute(
                f"CALL ducklake_expire_snapshots({quote_text(ALIAS)}, {older})"
            ).fetchall()
            # A query that is running may still read files that were let go: they are removed only when they have been let go
            # for as long as a snapshot is kept.
            removed = connection.execute(
                f"CALL ducklake_cleanup_old_files({quote_text(ALIAS)}, {older})"
            ).fetchall()
        except _duckdb_error() as error:
            raise translate_error(error) from None
    orphans = delete_orphans(
        lake, f"older_than => now() - INTERVAL {int(min(_ORPHAN_AGE_S, keep_days * 86_400))} SECONDS"
    )
    remove_spill_folders(lake.settings.home)
    return {
        "files_before": before,
        "files_after": _count_files(lake),
        "merged_count": merged,
        "expired_snapshots": len(expired),
        "removed_files": len(removed),
        "removed_orphans": orphans,
    }


def delete_orphans(lake: Lake, which: str) -> int:
    """Delete files that no snapshot names, those of `which`; returns how many."""
    # Whatever the clocks of hosts and stores say of a file's age: nobody is at work who could still commit it.
    with hold_all(lake.settings, lake.lock_timeout_s), lake.exclusive() as connection:
        try:
            return len(
                connection.execute(
                    f"CALL ducklake_delete_orphaned_files({quote_text(ALIAS)}, {which})"
                ).fetchall()
            )
        except _duckdb_error() as error:
            raise translate_error(error) from None


def merge_small_files(lake: Lake, through_month: str) -> int:
    """Merge the small files of months up to `through_month` (YYYY-MM), and of unsplit tables.

    Returns how many files were written. What is large is never written again, and of a table only so many months at once, the last
    ones first: the work of a month does not grow with history, and an interruption costs no more than one part. Snapshots stay as
    they are, and so do the files of before, until `compact_lake` lets go of what only old snapshots name. A part that cannot be read
    or written is left as it is: nobody needs it merged, and what needs its rows says what is wrong with them.
    """
    merged = 0
    left = dict.fromkeys(TABLES, _MOST_WRITTEN)
    for part, files in sorted(list_parts(lake).items(), reverse=True):
        small = _take_small(files)
        if part.value <= through_month and len(small) > 1 and left.get(part.table):
            left[part.table] -= 1
            try:
                merged += _merge(lake, part, small)
            except _duckdb_error() as error:
                where = f"{part.table} {part.value}".strip()
                _LOG.warning(
                    "Files of %s were not merged (%s); they stay as they are. Run proctor doctor.",
                    where,
                    type(error).__name__,
                )
    return merged


def _group_files(files: Sequence[PartFile]) -> list[list[PartFile]]:
    """Files that follow each other, as many as are merged into one."""
    groups: list[list[PartFile]] = []
    room = 0
    for file in files:
        if not groups or file.size > room:
            groups.append([])
            room = _MOST_COMPACTED
        groups[-1].append(file)
        room -= file.size
    return groups


def _take_small(files: Sequence[PartFile]) -> list[PartFile]:
    taken: list[PartFile] = []
    for file in files:
        if file.size < _SMALL_BYTES and sum(one.size for one in taken) < _MOST_BYTES:
            taken.append(file)
    return taken


def _merge(lake: Lake, part: TablePart, files: Sequence[PartFile]) -> int:
    """Write the rows of these files into one; returns how many files were written.

    None are where another process changes them at the same moment. Raises DuckDB's own error where they cannot be. As an ordinary
    change of the table, which its former snapshots do not see. DuckLake's own `merge_adjacent_files` takes files out of snapshots
    of before, and a transaction that reads a catalog in SQLite then sees neither the old files nor the new one.
    """
    if part.table not in TABLES:
        return 0
    rows = f"FROM {quote_name(part.table)} WHERE {match_files(file.paths[0] for file in files)}"
    if part.value:
        rows += f" AND {quote_name(str(TABLES[part.table].partition_by))} = {quote_text(part.value)}"
    try:
        with hold_merge(lake.settings, lake.lock_timeout_s), lake.transaction([part.table]) as connection:
            counts = [
                connection.execute(statement).fetchone()
                for statement in (f"INSERT INTO {quote_name(part.table)} SELECT * {rows}", f"DELETE {rows}")
            ]
            if counts[0] != counts[1]:
                raise StoreError(f"Files of {part.table} could not be merged; nothing was changed. {_AGAIN}")
    except _duckdb_error() as error:
        if not is_conflict(error):
            raise
        return 0
    return 1


def _count_files(lake: Lake) -> int:
    return int(
        lake.query(f"SELECT coalesce(sum(file_count), 0)::BIGINT FROM ducklake_table_info('{ALIAS}')").item()
    )


def _duckdb_error() -> type[duckdb.Error]:
    return duckdb.Error
