"""Run one statement with plain values as parameters, and put DuckDB's errors into our words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from schemas.errors import StoreError, UsageError
from warehouse.lake.attach import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb

T = TypeVar("T")


def execute_statement(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    params: Mapping[str, object],
    fetch: Callable[[duckdb.DuckDBPyConnection], T],
) -> T:
    """What `fetch` makes of the statement's result.

    Plain values are bound in SQL: binding Python objects makes DuckDB import pandas (seconds).
    """
    if not params:
        return fetch(connection.execute(sql))
    literals = {name: _literal(value) for name, value in params.items()}
    if any(literal is None for literal in literals.values()):
        return fetch(connection.execute(sql, dict(params)))
    connection.execute(f"PREPARE proctor_query AS {sql}")
    try:
        values = ", ".join(f"{quote_name(name)} := {literal}" for name, literal in literals.items())
        return fetch(connection.execute(f"EXECUTE proctor_query({values})"))
    finally:
        connection.execute("DEALLOCATE proctor_query")


def translate_error(error: duckdb.Error) -> UsageError | StoreError:
    """A DuckDB error as ours. Only messages about the statement are repeated: others may quote a row's values."""
    import duckdb

    about_statement = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException)
    if isinstance(error, about_statement):
        lines = [line for line in str(error).splitlines() if not line.startswith("\t")]
        return UsageError("The statement cannot be run: " + "\n".join(lines).strip())
    name = re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
    return StoreError(f"The query failed in DuckDB ({name}). Check its types and parameters, then run again.")


def _literal(value: object) -> str | None:
    """A plain value as SQL; None for what has no literal here."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return f"[{', '.join(quote_text(item) for item in value)}]::VARCHAR[]"
    return quote_text(value) if isinstance(value, str) else None
