"""The checks of the lake: queries that return the rows that offend."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from warehouse.lake.reading.queries import Query, bind_parameters, read_queries
from warehouse.lake.store import Lake


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


def run_checks(lake: Lake) -> list[CheckResult]:
    """Every check of `warehouse/sql/checks`, with settings' values for its parameters."""
    return [run_check(lake, name) for name in list_checks()]


def list_checks() -> list[str]:
    """The names of all checks."""
    return [query.name for query in read_queries("checks").values()]


def run_check(lake: Lake, name: str, month: str | None = None) -> CheckResult:
    """One check, of one month if it has one; StoreError for rows that cannot be read."""
    query = read_queries("checks")[name]
    rows = lake.query(query.body, bind_check(query, lake, month))
    return CheckResult(query.name, query.question, rows)


def bind_check(query: Query, lake: Lake, month: str | None = None) -> dict[str, object]:
    """The values of a check's parameters: of settings that of the setting, and the month."""
    settings = {
        p.name: getattr(lake.settings, p.name) for p in query.parameters if hasattr(lake.settings, p.name)
    }
    return bind_parameters(query, settings | ({} if month is None else {"month": month}))
