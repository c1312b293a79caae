"""The Great Expectations suite of a table, made from its contract, and which rows break it.

Great Expectations is imported on first use (seconds, once per process). It runs on a pandas batch: through SQLAlchemy
on DuckDB it reports failures that are none.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import TYPE_CHECKING, Any

from schemas.errors import ContractError
from schemas.table import LANDING_UNIT, Column, Table

if TYPE_CHECKING:
    import polars as pl

# Great Expectations keeps the current context in a global of the process.
_LOCK = RLock()


@dataclass(frozen=True)
class Refusal:
    """A row that breaks a rule: its position in the frame, from 0, and the rule's name."""

    position: int
    rule: str


def list_rules(table: Table) -> list[str]:
    """Names of the rules of a table, in the order in which they are checked."""
    return [rule for rule, _, _ in _rules(table)]


def build_suite(table: Table) -> Any:
    """The `ExpectationSuite` of a table; each expectation carries its rule's name in `meta["rule"]`."""
    gx = _import_great_expectations()
    expectations = [
        getattr(gx.expectations, kind)(**arguments, meta={"rule": rule})
        for rule, kind, arguments in _rules(table)
    ]
    return gx.ExpectationSuite(name=table.name, expectations=expectations)


def find_refusals(table: Table, frame: pl.DataFrame) -> list[Refusal]:
    """The rows of `frame` (own columns and `landing_unit`) that break a rule, once per rule, in order of position.

    A key is unique within a landing: its first row stays, later ones are refused. Raises ContractError when a rule
    cannot be evaluated. Neither result nor error holds a value of the frame.
    """
    if frame.is_empty():
        return []
    with _LOCK:
        gx = _import_great_expectations()
        batch = _batch_definition().get_batch({"dataframe": _pandas_batch(table, frame)})
        # Two steps: almost every landing is clean, and the positions of failing rows cost three times the yes or no.
        outcome = batch.validate(_suite(table.name, table), result_format="BOOLEAN_ONLY")
        if outcome.success:
            return []
        failing = [result.expectation_config for result in outcome.results if not result.success]
        suite = gx.ExpectationSuite(
            name=f"{table.name}_failing", expectations=[c.to_domain_obj() for c in failing]
        )
        outcome = batch.validate(suite, result_format={"result_format": "COMPLETE"})
    refusals: set[Refusal] = set()
    for result in outcome.results:
        if not result.success:
            rule = result.expectation_config.meta["rule"]
            refusals |= {Refusal(position, rule) for position in _positions(table, rule, result, frame)}
    return sorted(refusals, key=lambda refusal: (refusal.position, refusal.rule))


def _rules(table: Table) -> list[tuple[str, str, dict[str, Any]]]:
    """(rule, class of the expectation, its arguments) for everything that the contract says of a table."""
    rules: list[tuple[str, str, dict[str, Any]]] = []
    for column in table.own_columns:
        rules += _column_rules(column)
    rules.append(
        (
            f"unique: {', '.join(table.key)}",
            "ExpectCompoundColumnsToBeUnique",
            {"column_list": [*table.key, LANDING_UNIT.name], "ignore_row_if": "never"},
        )
    )
    return rules


def _column_rules(column: Column) -> list[tuple[str, str, dict[str, Any]]]:
    rules: list[tuple[str, str, dict[str, Any]]] = []
    name = column.name
    if column.required:
        rules.append((f"required: {name}", "ExpectColumnValuesToNotBeNull", {"column": name}))
    if column.allowed is not None:
        rules.append(
            (
                f"allowed: {name}",
                "ExpectColumnValuesToBeInSet",
                {"column": name, "value_set": list(column.allowed)},
            )
        )
    if column.low is not None or column.high is not None:
        bounds = {"column": name, "min_value": column.low, "max_value": column.high}
        rules.append((f"range: {name}", "ExpectColumnValuesToBeBetween", bounds))
    if column.pattern is not None:
        rules.append(
            (
                f"pattern: {name}",
                "ExpectColumnValuesToMatchRegex",
                {"column": name, "regex": _plain(column.pattern)},
            )
        )
    return rules


def _plain(pattern: str) -> str:
    """The pattern without capturing groups, about which pandas would warn, and ended where the text ends."""
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


def _pandas_batch(table: Table, frame: pl.DataFrame) -> Any:
    """Only the columns that rules name: long texts without one are not copied."""
    named = {column for _, _, arguments in _rules(table) for column in _columns_of(arguments)}
    return frame.select([name for name in frame.columns if name in named]).to_pandas()


def _columns_of(arguments: dict[str, Any]) -> list[str]:
    return [arguments["column"]] if "column" in arguments else list(arguments["column_list"])


@lru_cache(maxsize=128)
def _suite(name: str, table: Table) -> Any:
    return build_suite(table)


@lru_cache(maxsize=1)
def _batch_definition() -> Any:
    gx = _import_great_expectations()
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False, "metric_calculations": False}
    asset = context.data_sources.add_pandas("landing").add_dataframe_asset("frame")
    return asset.add_batch_definition_whole_dataframe("whole")


@lru_cache(maxsize=1)
def _import_great_expectations() -> Any:
    # Read when the package is imported: without it, it would report its use over the network.
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx

    # This module sets its own level; its notes about temporary folders would stand between our progress lines.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    return gx
