"""Read the lake: statements of one's own, without paying for Polars."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from schemas import patterns as re
from schemas.errors import UsageError
from schemas.settings import Settings
from warehouse.lake.attach import ALIAS
from warehouse.lake.catalog_watch import CatalogWatch
from warehouse.lake.duck import duckdb
from warehouse.lake.faults import translate_error
from warehouse.lake.quoting import quote_name, quote_text
from warehouse.lake.reading.analyses import find_query
from warehouse.lake.reading.months import find_values
from warehouse.lake.reading.queries import bind_parameters, explain_error, find_read, find_tables_read
from warehouse.lake.statements import begin_reading, check_snapshot, execute_statement, roll_back
from warehouse.lake.upgrade import attach_for_reading
from warehouse.stores.blocks import block

_MAINTENANCE = re.compile(
    r"ducklake_(?!current_snapshot|last_committed|list_files|snapshots|table_|options|settings)", re.I
)

R = TypeVar("R", covariant=True)


class Readable(Protocol[R]):
    """What a statement can be put to: a Lake gives frames, a LakeReader plain rows."""

    def query(self, sql: str, params: Mapping[str, object] | None = None) -> R:
        """The rows of one statement."""

    def read_transaction(self) -> AbstractContextManager[None]:
        """A block in which nothing can be written."""


@dataclass(frozen=True)
class Rows:
    """Columns and rows as plain Python values."""

    columns: tuple[str, ...]
    rows: list[tuple[object, ...]]

    def as_records(self) -> list[dict[str, object]]:
        """One dictionary per row; later columns of the same name are numbered, as in a frame."""
        names: list[str] = []
        for name in self.columns:
            chosen, number = name, 0
            while chosen in names:
                number += 1
                chosen = f"{name}_{number}"
            names.append(chosen)
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def scalar(self) -> object:
        """The one value of one row."""
        return self.rows[0][0]


class LakeReader:
    """A door to the lake that only reads. Close it, or use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        """Open the lake; raises StoreError when there is none."""
        self.connection = attach_for_reading(settings)
        self._catalog = CatalogWatch(settings, self.connection)

    def __enter__(self) -> LakeReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def query(self, sql: str, params: Mapping[str, object] | None = None) -> Rows:
        """The rows of one statement; UsageError for SQL that does not parse or names nothing."""
        try:
            return execute_statement(self.connection, sql, params or {}, _fetch_rows)
        except duckdb.Error as error:
            self._catalog.check()
            raise explain_error(error, sql) from None

    def run_named(self, name: str, params: Mapping[str, object] | None = None) -> Rows:
        """The rows of a mart, an analysis or a check under `warehouse/sql`."""
        query = find_query(name)
        values = bind_parameters(query, params or {})
        if not query.found:
            return self.query(query.body, values)
        with self.read_transaction():
            found = find_values(lambda sql: self.query(sql).rows, query.found)
            return self.query(query.lake_body, {**values, **found})

    def read(self, name: str, params: Mapping[str, object] | None = None) -> Rows:
        """The rows of a query under `warehouse/sql/reads`."""
        query = find_read(name)
        return self.query(query.body, bind_parameters(query, params or {}))

    def find_empty_tables(self, sql: str) -> set[str]:
        """Those of the tables that a statement reads, itself and through views, which have no row."""
        names = sorted(find_tables_read(self.connection, sql))
        if not names:
            return set()
        # One statement: each costs more than looking for a row.
        looks = [f"SELECT {quote_text(name)} WHERE NOT EXISTS (FROM {quote_name(name)})" for name in names]
        return {str(name) for (name,) in self.query(" UNION ALL ".join(looks)).rows}

    def time_answer(self) -> float:
        """Seconds until the lake has said which of its states is the last."""
        began = time.perf_counter()
        self.query(f"SELECT * FROM ducklake_current_snapshot({quote_text(ALIAS)})")
        return time.perf_counter() - began

    def measure_files(self) -> int:
        """Bytes of the files that the catalog names; none is opened."""
        found = self.query(
            f"SELECT coalesce(sum(file_size_bytes), 0) FROM ducklake_table_info({quote_text(ALIAS)})"
        )
        return int(str(found.scalar()))

    @block
    def read_transaction(self) -> Generator[None]:
        """Every query of the block sees one state; StoreError at its end if an erasure broke it."""
        try:
            snapshot = begin_reading(self.connection)
            yield
            check_snapshot(self.connection, snapshot)
        finally:
            roll_back(self.connection)


def run_statement(lake: Readable[R], sql: str, params: Mapping[str, object] | None = None) -> R:
    """The rows of one statement that only reads; raises UsageError for anything else."""
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise translate_error(error) from None
    if len(statements) != 1:
        raise UsageError(f"One statement is run at a time; this text holds {len(statements)}.")
    is_reading = statements[0].type in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if not is_reading or _MAINTENANCE.search(sql):
        raise UsageError(
            f"The statement is refused: only SELECT, FROM, DESCRIBE, SHOW, SUMMARIZE and EXPLAIN are run "
            f"(found {statements[0].type.name}). Rows enter the lake through Proctor's stages alone."
        )
    # A lake that is open for writing is held to reading for this statement.
    with lake.read_transaction():
        return lake.query(sql, params)


def _fetch_rows(result: duckdb.DuckDBPyConnection) -> Rows:
    return Rows(tuple(column[0] for column in result.description or ()), result.fetchall())
