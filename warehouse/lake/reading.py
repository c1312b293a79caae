"""Read the lake without Polars: a question on the command line should not pay for a library that it does not need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.settings import Settings
from warehouse.lake.attach import attach_lake
from warehouse.lake.statements import execute_statement, translate_error

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Rows:
    """Columns and rows as plain Python values."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]

    def as_records(self) -> list[dict[str, object]]:
        """One dictionary per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def scalar(self) -> object:
        """The one value of one row."""
        return self.rows[0][0]


class LakeReader:
    """A door to the lake that only reads. Close it, or use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        """Open the lake; raises StoreError when there is none."""
        self.connection = attach_lake(settings, read_only=True)

    def __enter__(self) -> LakeReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def query(self, sql: str, params: Mapping[str, object] | None = None) -> Rows:
        """The rows of one statement; raises UsageError for SQL that does not parse or names what is not there."""
        import duckdb

        try:
            return execute_statement(self.connection, sql, params or {}, _fetch_rows)
        except duckdb.Error as error:
            raise translate_error(error) from None

    def run_named(self, name: str, params: Mapping[str, object] | None = None) -> Rows:
        """The rows of a mart, an analysis or a check under `warehouse/sql`."""
        from warehouse.lake.queries import bind_parameters, find_query

        query = find_query(name)
        return self.query(query.body, bind_parameters(query, params or {}))

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Every query of the block sees the lake as of the first one."""
        self.connection.execute("BEGIN TRANSACTION READ ONLY")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")


def _fetch_rows(result: duckdb.DuckDBPyConnection) -> Rows:
    return Rows(tuple(column[0] for column in result.description or ()), result.fetchall())
