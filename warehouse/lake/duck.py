"""DuckDB, loaded when something of it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.lazy import Lazy

__all__ = ["duckdb"]

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = Lazy("duckdb")
