"""DuckDB on one thread: tests have few rows, and sharing them out takes a quarter of its CPU."""

from __future__ import annotations

from typing import Any
from unittest import mock

import duckdb

_connect = duckdb.connect  # noqa: TID251


def on_one_thread() -> Any:
    """The patch by which whatever opens DuckDB in this process has one thread, unless it asks for more."""

    def connect(
        database: str = ":memory:", read_only: bool = False, config: dict[str, Any] | None = None
    ) -> duckdb.DuckDBPyConnection:
        return _connect(database, read_only, {"threads": 1, **(config or {})})

    return mock.patch.object(duckdb, "connect", connect)
