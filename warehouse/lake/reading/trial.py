"""Try a query on a few rows in plain DuckDB with the contract's tables and views."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from schemas.lazy import pl
from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.definitions import create_in_memory
from warehouse.lake.duck import duckdb
from warehouse.lake.quoting import quote_name
from warehouse.lake.reading.queries import Query, bind_parameters


def connect_trial() -> duckdb.DuckDBPyConnection:
    """DuckDB in memory with every table empty, every staging query and mart a view."""
    connection = connect_duckdb()
    create_in_memory(connection)
    return connection


def run_trial(
    connection: duckdb.DuckDBPyConnection,
    query: Query,
    frames: Mapping[str, pl.DataFrame],
    params: Mapping[str, object],
    prepare: Callable[[duckdb.DuckDBPyConnection], None] = lambda _: None,
) -> pl.DataFrame:
    """The query's rows when tables hold `frames` (all columns) and what `prepare` adds."""
    connection.execute("BEGIN")
    try:
        for name, frame in frames.items():
            connection.register("trial_rows", frame.to_arrow())
            connection.execute(f"INSERT INTO {quote_name(name)} BY NAME SELECT * FROM trial_rows")
            connection.unregister("trial_rows")
        prepare(connection)
        values = bind_parameters(query, params)
        return (connection.execute(query.body, values) if values else connection.execute(query.body)).pl()
    finally:
        connection.execute("ROLLBACK")
