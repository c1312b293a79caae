"""The lake as the members of a team see it: rows of their own models alone.

Every table stands before the lake's own of that name, narrowed, and every mart is made again over the narrowed tables. So whatever is
asked (a page, an analysis, a report) is answered from these rows alone, and a table that nobody decided about has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from schemas import patterns as re
from schemas.errors import UsageError
from schemas.lazy import pl
from schemas.settings import Settings
from schemas.table import DUCKDB_TYPES, Table
from schemas.tables import TABLES
from warehouse.lake.attach import ALIAS
from warehouse.lake.definitions import read_views
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import bind_parameters, order_by_dependency
from warehouse.lake.statements import quote_list
from warehouse.lake.store import Lake
from warehouse.lake.upgrade import attach_for_reading
from warehouse.stores.away import CATALOG, until_there

_SIGHT: Final = Path(__file__).with_name("team_sight.yaml")
_NOBODY: Final = "false"
# Functions that give rows of nothing but what they are given; others read files, catalogs, or tables that a text names.
_HARMLESS: Final = frozenset({"unnest", "range", "generate_series", "json_each", "json_tree"})
_OF_FILES: Final = re.compile(r"[./*\\:]")

T = TypeVar("T")
# What each word of the file asks of a row; {own} is the list of the models, {lake} the lake's own name.
_RULES: Final = {
    "own": "model IN {own}",
    "run": "run_id IN (SELECT run_id FROM {lake}.models WHERE model IN {own})",
    "session": "session_id IN (SELECT session_id FROM {lake}.sessions WHERE model IN {own})",
    "set": "set_id IN (SELECT set_id FROM {lake}.sessions WHERE model IN {own})",
    "question": "question_uuid IN (SELECT a.question_uuid FROM {lake}.allocations AS a "
    "JOIN {lake}.sessions AS s ON s.session_id = a.session_id WHERE s.model IN {own})",
    "edition": "edition_id IN (SELECT edition_id FROM {lake}.edition_scores WHERE model IN {own})",
    # A judge of theirs is called for the answers of others: such a call is not theirs to see.
    "call": "(purpose IN ('exam', 'cgeval', 'contamination') AND model IN {own}) OR (purpose = 'judge' AND "
    "left(landing_unit, position('/' || model || '/prompt-' IN landing_unit) - 1) IN "
    "(SELECT session_id FROM {lake}.sessions WHERE model IN {own}))",
    "pair": "model_a IN {own} AND model_b IN {own}",
}


@dataclass(frozen=True, slots=True)
class TableSight:
    """What is seen of a table.

    Attributes:
        rows: a condition that a row meets, in SQL, with `{own}` for the models and `{lake}` for the lake's name.
        hidden: columns that are null.
        named: columns that name a model, null where it is another's.
    """

    rows: str = _NOBODY
    hidden: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def open_narrow_lake(settings: Settings, models: Collection[str]) -> Lake:
    """The lake for reading, of which only rows of these models are there; raises as `open_lake`."""
    connection = until_there(
        lambda: attach_for_reading(settings), stores=(CATALOG,), wait_s=settings.store_wait_s
    )
    try:
        narrow(connection, models)
    except BaseException:
        connection.close()
        raise
    return _NarrowLake(settings, connection, is_read_only=True, lock_timeout_s=0.0)


class _NarrowLake(Lake):
    """A lake whose own tables nobody reads past what stands before them."""

    def run_named(self, name: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
        """The rows of a mart, analysis or check, none of them frozen: those are of every model."""
        query = find_query(name)
        return self.query(query.body, bind_parameters(query, params or {}))

    def _execute(self, sql: str, params: Mapping[str, object] | None, fetch: Callable[..., T]) -> T:
        if past := self._find_past(sql):
            raise UsageError(
                f"The query reads {past}, past what a team sees of the lake. Write SELECT over its tables, by their names alone."
            )
        return super()._execute(sql, params, fetch)

    def _find_past(self, sql: str) -> str:
        """What a query reads and may not, as DuckDB parses it; '' for nothing or wrong grammar."""
        with self._lock, self.connection.cursor() as cursor:
            (text,) = cursor.execute("SELECT json_serialize_sql($sql)", {"sql": sql}).fetchall()[0]
        tree = json.loads(text)
        if tree.get("error"):
            return "" if tree["error_type"] == "parser" else "by another statement than SELECT"
        return next(_iter_past(tree), "")


def _iter_past(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _iter_past(one)
    elif isinstance(node, dict):
        name = str(node.get("table_name") or "")
        places = {str(node.get(key) or "").lower() for key in ("catalog_name", "schema_name")} - {""}
        if node.get("type") in ("BASE_TABLE", "SHOW_REF") and (places or _OF_FILES.search(name)):
            yield ".".join(sorted(places)) or "a file"
        elif node.get("type") == "TABLE_FUNCTION":
            function = str(node["function"]["function_name"]).lower()
            if function not in _HARMLESS:
                yield f"{function}()"
        for one in node.values():
            yield from _iter_past(one)


@cache
def read_sight() -> dict[str, TableSight]:
    """What is seen of each table by name; of one that is not there no row is."""
    import yaml

    content = yaml.safe_load(_SIGHT.read_text(encoding="utf-8"))
    return {
        name: TableSight(_RULES[one["rows"]], tuple(one.get("hidden", ())), tuple(one.get("named", ())))
        for name, one in content.items()
    }


def narrow(connection: duckdb.DuckDBPyConnection, models: Collection[str]) -> None:
    """Put a view before every table and mart of the lake, with the rows of these models alone."""
    own = quote_list(sorted(models)) if models else "(NULL)"
    found = connection.execute(
        f"SELECT table_name, list(column_name) FROM duckdb_columns() WHERE database_name = '{ALIAS}' GROUP BY table_name"
    ).fetchall()
    there = dict(found)
    for name, table in TABLES.items():
        connection.execute(_render_table(table, there.get(name), read_sight().get(name, TableSight()), own))
    views = order_by_dependency(read_views())
    for name in sorted(there.keys() - TABLES.keys() - {query.name for query in views}):
        # What only another version knows: nobody has decided whose rows it holds.
        connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {quote_name(name)} AS SELECT 1 AS hidden WHERE {_NOBODY}"
        )
    for query in views:
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {quote_name(query.name)} AS {query.body}")


def _render_table(table: Table, there: Collection[str] | None, sight: TableSight, own: str) -> str:
    """A view in the place of a table; a lake of an earlier version lacks some columns, or all."""
    chosen = []
    for column in table.columns:
        name, kind = quote_name(column.name), DUCKDB_TYPES[column.type]
        if there is None or column.name not in there or column.name in sight.hidden:
            chosen.append(f"CAST(NULL AS {kind}) AS {name}")
        elif column.name in sight.named:
            chosen.append(f"CASE WHEN {name} IN {own} THEN {name} END AS {name}")
        else:
            chosen.append(name)
    source = "" if there is None else f" FROM {ALIAS}.{quote_name(table.name)}"
    rows = _NOBODY if there is None else sight.rows.format(own=own, lake=ALIAS)
    return f"CREATE OR REPLACE TEMP VIEW {quote_name(table.name)} AS SELECT {', '.join(chosen)}{source} WHERE {rows}"
