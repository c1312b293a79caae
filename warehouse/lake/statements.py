"""Run a statement on a DuckDB connection, with parameters as SQL literals.

DuckDB imports pandas (a second or two) as soon as it is handed any Python object to look into: a bound parameter, a
registered frame. So plain values are written into the statement, and rows go in by file (`warehouse/lake/landing.py`).
DuckDB does no less with what it has prepared: it plans a statement again when it is given its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import TypeVar

from schemas import patterns as re
from schemas.errors import StoreError
from warehouse.lake.attach import ALIAS
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import retry_opening
from warehouse.lake.quoting import quote_text

T = TypeVar("T")
# What a `$` in it means nothing in: texts, names, comments.
_NAMES_AND_WHAT_HAS_NONE = re.compile(
    r"""
    \b[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$
    | --[^\n]* | /\*.*?\*/ | \$(?P<name>[A-Za-z_]\w*)
    """,
    re.DOTALL | re.VERBOSE,
)


def begin_reading(connection: duckdb.DuckDBPyConnection) -> int:
    """Begin a transaction that sees the lake as now; returns the snapshot that is held."""

    def begin() -> int:
        connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            found = connection.execute(f"FROM ducklake_current_snapshot({quote_text(ALIAS)})").fetchone()
        except duckdb.Error:
            roll_back(connection)
            raise
        return int(found[0]) if found else 0

    return retry_opening(begin)


def check_snapshot(connection: duckdb.DuckDBPyConnection, snapshot: int) -> None:
    """Raise StoreError where a snapshot was dropped: SQLite's readers would see fewer rows."""
    sql = f"SELECT 1 FROM __ducklake_metadata_{ALIAS}.ducklake_snapshot WHERE snapshot_id = {snapshot}"
    if retry_opening(lambda: connection.execute(sql).fetchone()) is None:
        raise StoreError(
            "What was read of the lake was removed meanwhile, by an erasure or a compaction; nothing of it was used. Run this again."
        )


def execute_statement(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    params: Mapping[str, object],
    fetch: Callable[[duckdb.DuckDBPyConnection], T],
) -> T:
    """What `fetch` makes of the result of a statement with `$name` parameters."""
    return retry_opening(lambda: _execute(connection, sql, params, fetch))


def _execute(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    params: Mapping[str, object],
    fetch: Callable[[duckdb.DuckDBPyConnection], T],
) -> T:
    written = _write_values(sql, params)
    try:
        return fetch(
            connection.execute(sql, dict(params)) if written is None else connection.execute(written)
        )
    except RuntimeError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        # The statement goes on meanwhile, and whatever comes next on the connection would wait for its end.
        connection.interrupt()
        raise KeyboardInterrupt from None
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
        if params and written is not None:
            _raise_without_values(connection, sql, error)
        raise


def _raise_without_values(connection: duckdb.DuckDBPyConnection, sql: str, error: duckdb.Error) -> None:
    """Raise what is wrong with a statement; the message quotes none of its values."""
    connection.execute(f"PREPARE proctor_query AS {sql}")
    connection.execute("DEALLOCATE proctor_query")
    # Only with its values DuckDB sees what is wrong: the line that it quotes has them.
    raise type(error)(str(error).partition("\nLINE ")[0].rstrip()) from None


def _write_values(sql: str, params: Mapping[str, object]) -> str | None:
    """The statement with a literal for each `$name`.

    None where a value has no literal, or the statement takes others than these: DuckDB says which.
    """
    if not params:
        return sql
    literals = {name: _write_literal(value) for name, value in params.items()}
    used: set[str] = set()

    def write(found: re.Match[str]) -> str:
        if (name := found["name"]) is None:
            return found[0]
        used.add(name)
        return f"({literals.get(name)})"

    written = _NAMES_AND_WHAT_HAS_NONE.sub(write, sql)
    return written if used == literals.keys() and None not in literals.values() else None


def quote_list(values: Iterable[str]) -> str:
    """Texts as the right side of IN; there is at least one."""
    return f"({', '.join(quote_text(value) for value in values)})"


def roll_back(connection: duckdb.DuckDBPyConnection) -> None:
    """Undo the transaction, if there still is one."""
    try:
        connection.execute("ROLLBACK")
    except duckdb.Error:
        return  # DuckDB has already undone a transaction that failed in COMMIT


def _write_literal(value: object) -> str | None:
    """A plain value as SQL; None for what has no literal here."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value)
        case float():
            return f"{value!r}::DOUBLE" if math.isfinite(value) else f"'{value}'::DOUBLE"
        case str():
            return quote_text(value)
        case datetime():
            return f"'{value.isoformat()}'::{'TIMESTAMP' if value.tzinfo is None else 'TIMESTAMPTZ'}"
        case date():
            return f"'{value.isoformat()}'::DATE"
        case list() if all(isinstance(item, str) for item in value):
            return _write_list("VARCHAR", map(_quote_item, value))
        case list() if all(type(item) is int for item in value):
            return _write_list("BIGINT", map(str, value))
    return None


def _write_list(item_type: str, items: Iterable[str]) -> str:
    """A list as one text: of an expression for each item DuckDB would make a plan."""
    text = f"[{', '.join(items)}]"
    return f"{quote_text(text)}::{item_type}[]"


def _quote_item(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
