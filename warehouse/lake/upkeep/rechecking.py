"""Checks of the lake that are made again only where something changed."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from schemas.errors import StoreError
from warehouse.lake.reading import bind_check, list_checks, run_check
from warehouse.lake.reading.queries import find_tables_read, read_queries, write_nulls
from warehouse.lake.upkeep.integrity import check_landings
from warehouse.lake.upkeep.looked import Looked

if TYPE_CHECKING:
    from warehouse.lake.store import Lake


# Whoever hashes rows counts them.
_COUNTING: Final = "landings_count_their_rows"


def look_at_rows(lake: Lake) -> None:
    """Look at rows of files that came since the last look, and keep what is found.

    Nothing is said here, and nothing done before a first look, which reads the whole lake: whoever looks next compares what was found
    in files of the same bytes.
    """
    looked = Looked(lake)
    if not looked.has_rows:
        return
    check_landings(lake, looked=looked)
    for name in list_checks():
        with suppress(StoreError):
            count_offending(lake, name, looked)
    looked.save(is_part=True)


def count_offending(lake: Lake, name: str, looked: Looked) -> int:
    """How many rows offend against a check.

    It passes where it passed over files of the same bytes, or where this look has counted what it counts. One that has a month is made month by month, whose files alone count: that
    also bounds what it holds in memory. Raises StoreError where rows that it reads cannot be read.
    """
    if name == _COUNTING and looked.is_counted:
        return 0
    query = read_queries("checks")[name]
    tables = find_tables_read(lake.connection, write_nulls(query.body))
    has_month = any(parameter.name == "month" for parameter in query.parameters)
    months = sorted({part.value for part in looked.parts if part.table in tables}) if has_month else [""]
    if "" in months and has_month and len(months) > 1:
        # Files of before its tables were split hold rows of any month.
        months = [""]
    count = 0
    for month in months:
        files = looked.mark_tables(tables, month)
        asked = f"{query.body}\n{bind_check(query, lake, month or None)}\n{files}"
        mark = None if files is None else hashlib.sha256(asked.encode()).hexdigest()
        kept = f"check {name}/{month}"
        if looked.find(kept, mark) is None:
            found = len(run_check(lake, name, month or None).offending)
            count += found
            if not found:
                looked.keep(kept, mark, found)
    return count
