"""Plain DuckDB with the contract's tables and views, to try a query on."""

from __future__ import annotations

from warehouse.lake.connecting import connect_duckdb
from warehouse.lake.definitions import create_in_memory
from warehouse.lake.duck import duckdb


def connect_trial() -> duckdb.DuckDBPyConnection:
    """DuckDB in memory with every table empty, every staging query and mart a view."""
    connection = connect_duckdb()
    create_in_memory(connection)
    return connection
