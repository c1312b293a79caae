"""Many queries of one state of a lake, which share what they read.

A statement opens every file that it scans, and computes every mart that it names: a site of figures asks fifty statements for the same
few thousand rows, in a file or more for each month. Within a block, small tables and the marts over them are read once, as temporary
tables that stand before the lake's own of their names; what is large is read where it lies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from schemas.tables import TABLES
from warehouse.lake.attach import ALIAS
from warehouse.lake.definitions import read_views
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading import find_query
from warehouse.lake.reading.parts import QueryMarks
from warehouse.lake.reading.queries import explain_error, find_names

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake.store import Lake

# Of a table that is held: of its rows, for names that repeat are in a file once, and of bytes of its files, for texts are long.
MOST_ROWS: Final = 300_000
_MOST_BYTES: Final = 12_000_000


@contextmanager
def hold_rows(lake: Lake) -> Iterator[HeldRows]:
    """The named queries of a lake, all of which see it as it is at the beginning of the block."""
    with lake.one_thread(), lake.read_transaction():
        yield HeldRows(lake)


class HeldRows:
    """Named queries within `hold_rows`."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._marks = QueryMarks(lake.query)
        rows, sizes = Counter[str](), Counter[str]()
        for part, files in self._marks.files.items():
            rows[part.table] += sum(file.row_count for file in files)
            sizes[part.table] += sum(file.size for file in files)
        self._large = {table for table in rows if rows[table] > MOST_ROWS or sizes[table] > _MOST_BYTES}
        # What an earlier version's lake lacks was put in its place.
        found = lake.connection.execute("SELECT view_name FROM duckdb_views() WHERE database_name = 'temp'")
        self._there = {str(name) for (name,) in found.fetchall()}

    def run_named(self, name: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """What `Lake.run_named` returns."""
        self._hold(find_query(name).lake_body)
        return self._lake.run_named(name, params)

    def mark(self, name: str, params: Mapping[str, object]) -> str:
        """What `QueryMarks.mark` returns."""
        return self._marks.mark(name, params)

    def _hold(self, statement: str) -> None:
        views = read_views()
        named = find_names(statement) - self._there
        self._there |= named
        made = [
            f"TABLE {quote_name(name)} AS FROM {ALIAS}.{quote_name(name)}"
            for name in sorted(named & set(TABLES) - self._large)
        ]
        # What a view reads stands in fewer names than the view itself.
        for name in sorted(named & set(views), key=lambda name: len(find_names(views[name].body))):
            kind = "VIEW" if find_names(views[name].body) & self._large else "TABLE"
            made.append(f"{kind} {quote_name(name)} AS {views[name].body}")
        for one in made:
            try:
                self._lake.connection.execute(f"CREATE TEMP {one}")
            except duckdb.Error as error:
                raise explain_error(error, statement) from None
