"""The Great Expectations suite of a table, made from its rules, and which rows break it.

Great Expectations is imported on first use (seconds, once per process): landings do without it
(`warehouse/lake/validation.py`), the flow `validate` runs it over what has landed. It runs on a pandas batch: through
SQLAlchemy on DuckDB it reports failures that are none. A table is read in stretches: whole units together, never all of it at once.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import Any, assert_never

import polars as pl

from schemas.errors import ContractError
from schemas.rules import Allowed, Pattern, Range, Required, Rule, Unique, list_rule_columns, list_rules
from schemas.table import LANDING_UNIT, Table
from warehouse.lake.store import Lake
from warehouse.lake.validation import RefusedRow

LOCK = RLock()
ROWS_PER_STRETCH = 50_000
MONTH = "month"


@dataclass(frozen=True)
class UnitStretch:
    """Neighbouring units of a table, of one month where it has months, else `month` is None."""

    month: str | None
    first_unit: str
    last_unit: str
    row_count: int


def build_suite(table: Table) -> Any:
    """The suite of a table; each expectation carries its rule's name in `meta["rule"]`."""
    gx = import_great_expectations()
    return gx.ExpectationSuite(
        name=table.name, expectations=[_make_expectation(rule, gx.expectations) for rule in list_rules(table)]
    )


def find_suite_refusals(table: Table, frame: pl.DataFrame) -> list[RefusedRow]:
    """What `find_refusals` finds, found by Great Expectations.

    `frame` needs only the columns that rules name.

    Raises ContractError when a rule cannot be evaluated. Neither result nor error holds a value of the frame.
    """
    if frame.is_empty():
        return []
    with LOCK:
        gx = import_great_expectations()
        # Only the columns that rules name: long texts without one are not copied.
        rows = frame.select(list_rule_columns(table)).to_pandas()
        batch = _batch_definition().get_batch({"dataframe": rows})
        # Two steps: almost every batch is clean, and the positions of failing rows cost three times the yes or no.
        outcome = batch.validate(_suite(table), result_format="BOOLEAN_ONLY")
        if outcome.success:
            return []
        failing = [result.expectation_config for result in outcome.results if not result.success]
        suite = gx.ExpectationSuite(
            name=f"{table.name}_failing", expectations=[c.to_domain_obj() for c in failing]
        )
        outcome = batch.validate(suite, result_format={"result_format": "COMPLETE"})
    refusals: set[RefusedRow] = set()
    for result in outcome.results:
        if not result.success:
            rule = result.expectation_config.meta["rule"]
            refusals |= {RefusedRow(position, rule) for position in _positions(table, rule, result, frame)}
    return sorted(refusals, key=lambda refusal: (refusal.position, refusal.rule))


@lru_cache(maxsize=1)
def import_great_expectations() -> Any:
    """The package, told to report nothing over the network before it is imported."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx

    # This module sets its own level; its notes about temporary folders would stand between our progress lines.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    return gx


@lru_cache(maxsize=1)
def open_context() -> Any:
    """The one context of the process, in memory; use it under `LOCK`, as it is a global."""
    context = import_great_expectations().get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    return context


def _make_expectation(rule: Rule, expectations: Any) -> Any:
    meta = {"rule": rule.name}
    match rule:
        case Required(column):
            return expectations.ExpectColumnValuesToNotBeNull(column=column, meta=meta)
        case Allowed(column, values):
            return expectations.ExpectColumnValuesToBeInSet(column=column, value_set=list(values), meta=meta)
        case Range(column, low, high):
            return expectations.ExpectColumnValuesToBeBetween(
                column=column, min_value=low, max_value=high, meta=meta
            )
        case Pattern(column, expression):
            return expectations.ExpectColumnValuesToMatchRegex(
                column=column, regex=_spell_for_python(expression), meta=meta
            )
        case Unique():
            return expectations.ExpectCompoundColumnsToBeUnique(
                column_list=list(rule.columns), ignore_row_if="never", meta=meta
            )
        case _:
            assert_never(rule)


def _spell_for_python(pattern: str) -> str:
    """The pattern without capturing groups (pandas warns), ended where the text ends."""
    without_groups = re.sub(r"(?<!\\)\((?!\?)", "(?:", pattern)
    # `$` would also stand before a line break at the end of the text.
    return re.sub(r"(?<!\\)\$$", r"\\Z", without_groups)


def _positions(table: Table, rule: str, result: Any, frame: pl.DataFrame) -> list[int]:
    found = result.result.get("unexpected_index_list") if result.result else None
    if not found:
        raise ContractError(
            f"Rule {rule!r} of table {table.name} could not be evaluated by Great Expectations. "
            "Check the column's type and rules in schemas/."
        )
    positions = sorted(int(position) for position in found)
    if not rule.startswith("unique:"):
        return positions
    keys = frame.select(*table.key, LANDING_UNIT.name)[positions]
    is_first = keys.to_struct("key").is_first_distinct()
    return [position for position, first in zip(positions, is_first, strict=True) if not first]


@lru_cache(maxsize=128)
def _suite(table: Table) -> Any:
    return build_suite(table)


@lru_cache(maxsize=1)
def _batch_definition() -> Any:
    asset = open_context().data_sources.add_pandas("lake").add_dataframe_asset("frame")
    return asset.add_batch_definition_whole_dataframe("whole")


def has_months(table: Table) -> bool:
    """Whether the rows of a table name their month."""
    return MONTH in table.column_names


def list_stretches(
    lake: Lake, table: Table, month: str | None = None, rows: int = ROWS_PER_STRETCH
) -> list[UnitStretch]:
    """Stretches that cover the table, or a month, once: whole units, about `rows` rows each."""
    named = MONTH if has_months(table) else "NULL::VARCHAR"
    counts = lake.query(
        f"SELECT {named} AS month, {LANDING_UNIT.name} AS unit, count(*) AS row_count FROM {table.name} "
        f"{'' if month is None else f'WHERE {MONTH} = $month '}GROUP BY ALL ORDER BY ALL",
        {} if month is None else {"month": month},
    )
    stretches: list[UnitStretch] = []
    for month_of_unit, unit, count in counts.iter_rows():
        last = stretches[-1] if stretches else None
        if last is None or last.month != month_of_unit or last.row_count + count > rows:
            stretches.append(UnitStretch(month_of_unit, unit, unit, count))
        else:
            stretches[-1] = UnitStretch(last.month, last.first_unit, unit, last.row_count + count)
    return stretches


def read_stretches(lake: Lake, table: Table, stretches: list[UnitStretch]) -> Iterator[pl.DataFrame]:
    """The rows of one stretch after the other, with the columns that rules name."""
    columns = ", ".join(f'"{name}"' for name in list_rule_columns(table))
    for stretch in stretches:
        of_month = "" if stretch.month is None else f"{MONTH} = $month AND "
        params = {"first": stretch.first_unit, "last": stretch.last_unit}
        yield lake.query(
            f"SELECT {columns} FROM {table.name} "
            f"WHERE {of_month}{LANDING_UNIT.name} BETWEEN $first AND $last",
            params if stretch.month is None else params | {"month": stretch.month},
        )
