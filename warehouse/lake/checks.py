"""The checks of the lake: queries that return the rows that offend."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from warehouse.lake.queries import bind_parameters, read_queries
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
    """Every check of `warehouse/sql/checks`; parameters that are settings (`$rest_months`) take the setting's value."""
    results = []
    for query in read_queries("checks").values():
        settings = {
            p.name: getattr(lake.settings, p.name) for p in query.parameters if hasattr(lake.settings, p.name)
        }
        rows = lake.query(query.body, bind_parameters(query, settings))
        results.append(CheckResult(query.name, query.question, rows))
    return results
