"""Run a statement of one's own, and run the checks. Everything here only reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from schemas.errors import UsageError
from warehouse.lake.faults import translate_error
from warehouse.lake.queries import bind_parameters, read_queries
from warehouse.lake.store import Lake

_MAINTENANCE = re.compile(
    r"ducklake_(?!current_snapshot|last_committed|list_files|snapshots|table_|options|settings)", re.I
)


@dataclass(frozen=True)
class CheckResult:
    """A check and the rows that offend against it; it passes when there are none."""

    name: str
    question: str
    offending: pl.DataFrame

    @property
    def is_passed(self) -> bool:
        """Whether no row offends."""
        return self.offending.is_empty()


def run_statement(lake: Lake, sql: str, params: Mapping[str, object] | None = None) -> pl.DataFrame:
    """The rows of one statement that only reads; raises UsageError for anything else."""
    import duckdb

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


def run_checks(lake: Lake) -> list[CheckResult]:
    """Every check of `warehouse/sql/checks`; parameters that are settings (`$rest_months`) take the setting's value."""
    results = []
    for query in read_queries("checks").values():
        settings = {
            p.name: getattr(lake.settings, p.name) for p in query.parameters if hasattr(lake.settings, p.name)
        }
        rows = lake.query(query.body, bind_parameters(query, settings))
        results.append(CheckResult(query.name, query.question, rows))
    return results
