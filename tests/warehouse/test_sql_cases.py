"""Run every SQL case: `tests/warehouse/sql/<query>/<case>/`.

The name of a case is the rule it shows.

The cases of checks and of staging queries lie under `tests/warehouse/checks/` in the same way.

A case holds one YAML file per input table (`sessions.yaml`: a list of rows), `params.yaml` where the query takes
parameters, and `expect.yaml`: the rows in the order stated (a view promises no order, its rows in any), compared on the
columns it names, numbers within 1e-6.
Rows are given partially: what the contract requires and the case does not care about is filled in. `staging.<query>` names a
staging query, `reads.<query>` what a stage reads.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import duckdb
import polars as pl
import pytest
import yaml

from schemas.errors import ContractError
from schemas.table import MONTH_PATTERN, UUID_PATTERN, Column, Table
from schemas.tables import TABLES, get_table
from tests.warehouse.bank_rows import BANK, split_bank
from tests.warehouse.lake.kit import connect_trial, find_refusals, run_trial
from tests.warehouse.publishing import insert, publish_runs
from warehouse.lake.reading import find_query
from warehouse.lake.reading.queries import Query, read_queries

HERE = Path(__file__).parent
CASES_DIRS = (HERE / "sql", HERE / "checks")
CASES = sorted(path.parent for folder in CASES_DIRS for path in folder.glob("*/*/expect.yaml"))
NOT_TABLES = ("params", "expect")
# A case of each analysis that leaves repetitions out and, unless it is told, takes the latest month.
LATEST = [
    sorted((HERE / "sql" / name).iterdir())[0]
    for name in (
        "change_by_discipline", "comparison_counts", "cost_per_point", "discipline_comparison", "discipline_differences",
        "discipline_heatmap", "external_correlation", "external_pairs", "leaderboard_by_style", "question_gaps",
        "star_matrix", "style_stability",
    )
]  # fmt: skip
# Aggregates whose last bits change with the order of what they are given, unless that is whole numbers or decimals.
UNSTABLE = ("sum", "avg", "product", "var_samp", "var_pop", "stddev_samp", "stddev_pop", "corr")
_TEST_MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def trial() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = connect_trial()
    yield connection
    connection.close()


@pytest.mark.parametrize("case", CASES, ids=[str(case.relative_to(HERE)) for case in CASES])
def test_the_query_returns_the_rows_of_its_case(case: Path, trial: duckdb.DuckDBPyConnection) -> None:
    query = find_case_query(case.parent.name)
    (found,) = run_case(case, trial)
    expected: list[dict[str, Any]] = read_yaml(case / "expect.yaml") or []

    columns = list(dict.fromkeys(name for row in expected for name in row))
    assert set(columns) <= set(found.columns), (
        f"{case}: the query has no column {set(columns) - set(found.columns)}"
    )
    rows = found.select(columns).to_dicts() if columns else found.to_dicts()
    if query.kind in ("marts", "staging"):
        rows = in_order_of(rows, expected)
    shown = [{name: row[name] for name in wanted} for row, wanted in zip(rows, expected, strict=False)]
    assert len(rows) == len(expected), f"{case}: {len(rows)} rows, expected {len(expected)}:\n{rows}"
    for index, (row, wanted) in enumerate(zip(shown, expected, strict=True)):
        assert is_same(row, wanted), f"{case}, row {index + 1}:\n found    {row}\n expected {wanted}"


@pytest.mark.parametrize("case", LATEST, ids=[case.parent.name for case in LATEST])
def test_a_repetition_alone_makes_no_latest_month_where_repetitions_are_left_out(
    case: Path, trial: duckdb.DuckDBPyConnection
) -> None:
    week = {"edition_id": "week/1", "run_id": "week", "month": "2099-12", "is_repetition": True}
    simulated = {"is_simulated": False, "weights": "{}", "planned_at": "2099-12-01T00:00:00+00:00"}
    row = fill_rows(get_table("editions"), [{**week, **simulated, "landing_unit": "week/1"}])

    alone, with_it = run_case(
        case, trial, lambda connection: insert(connection, "editions", row, "week/1"), without="month"
    )

    assert with_it.equals(alone) and not with_it.is_empty()


@pytest.mark.parametrize("kind", ["analyses", "marts", "reads", "staging", "checks"])
def test_no_sum_of_fractions_follows_the_order_of_rows(kind: str, trial: duckdb.DuckDBPyConnection) -> None:
    """Floats are added up in a stated order or as decimals: the same rows give the same bytes."""
    assert [
        f"{name}: {call['name']}"
        for name, query in read_queries(kind).items()
        for call in list_calls(trial, query)
        if call.get("name") in UNSTABLE
        and any(argument["id"] == "DOUBLE" for argument in call["arguments"])
        and not any(call.get(key) for key in ("orders", "arg_orders"))
        and not (call.get("order_bys") or {}).get("orders")
    ] == []


def test_every_directory_of_cases_names_a_query_and_holds_whole_cases() -> None:
    for folder in sorted(path for cases in CASES_DIRS for path in cases.iterdir() if path.is_dir()):
        assert find_case_query(folder.name).body
        cases = [path for path in folder.iterdir() if path.is_dir()]
        assert cases, f"{folder} holds no case"
        assert [path for path in cases if not (path / "expect.yaml").exists()] == []


def test_every_check_has_a_case_that_passes_and_one_that_offends() -> None:
    for name in read_queries("checks"):
        outcomes = {bool(read_yaml(path)) for path in (HERE / "checks").glob(f"{name}/*/expect.yaml")}
        assert outcomes == {True, False}, f"check {name}: cases with offending rows {outcomes}"


def test_filled_in_rows_satisfy_the_contract() -> None:
    assert [table.name for table in TABLES.values() if find_refusals(table, fill_rows(table, [{}]))] == []


def test_a_column_that_the_table_does_not_have_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.yaml").write_text("- {run_id: r1, colour: red}\n")

    with pytest.raises(ContractError, match="colour"):
        read_rows(get_table("runs"), tmp_path / "runs.yaml")


def run_case(
    case: Path,
    trial: duckdb.DuckDBPyConnection,
    *then: Callable[[duckdb.DuckDBPyConnection], None],
    without: str = "",
) -> list[pl.DataFrame]:
    """What the query returns of the case's rows, and again after each of `then`."""
    frames = {
        path.stem: read_rows(BANK if path.stem == BANK.name else get_table(path.stem), path)
        for path in case.glob("*.yaml")
        if path.stem not in NOT_TABLES
    }
    if (bank := frames.pop(BANK.name, None)) is not None:
        made = {
            name: frame.with_columns(landing_unit=pl.lit("case")) for name, frame in split_bank(bank).items()
        }
        frames = made | frames
    # What is published is frozen by the project's own publication of the case's runs.
    prepare = publish_runs if "runs" in frames and "editions" not in frames else lambda _: None
    params = {k: v for k, v in (read_yaml(case / "params.yaml") or {}).items() if k != without}
    return run_trial(trial, find_case_query(case.parent.name), frames, params, prepare, *then)


def list_calls(trial: duckdb.DuckDBPyConnection, query: Query) -> list[dict[str, Any]]:
    """The aggregates and windows of a query and its views, as DuckDB binds them."""
    ((text,),) = trial.execute(
        "SELECT json_serialize_plan($sql, optimize := false)", {"sql": re.sub(r"\$\w+", "NULL", query.body)}
    ).fetchall()
    nodes, calls = [json.loads(text)], []
    while nodes:
        node = nodes.pop()
        # A list has its order.
        if isinstance(node, dict) and node.get("name") == "list_aggr":
            continue
        nodes += node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
        if isinstance(node, dict) and node.get("expression_class") in ("BOUND_AGGREGATE", "BOUND_WINDOW"):
            calls.append(node)
    return calls


def find_case_query(folder: str) -> Query:
    kind, _, name = folder.rpartition(".")
    return read_queries(kind)[name] if kind else find_query(name)


def in_order_of(rows: list[dict[str, Any]], expected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that are expected, in that order, then the others."""
    left, ordered = list(rows), []
    for wanted in expected:
        match = next((row for row in left if is_same({name: row[name] for name in wanted}, wanted)), None)
        if match is not None:
            left.remove(match)
            ordered.append(match)
    return ordered + left


def read_yaml(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader) if path.exists() else None


def read_rows(table: Table, path: Path) -> pl.DataFrame:
    return fill_rows(table, read_yaml(path) or [])


def fill_rows(table: Table, rows: list[dict[str, Any]]) -> pl.DataFrame:
    units = [row.get("landing_unit", "case") for row in rows]
    own = [{name: value for name, value in row.items() if name != "landing_unit"} for row in rows]
    filled = [
        {
            **row,
            **{
                column.name: fill_value(column, row) for column in table.own_columns if is_filled(column, row)
            },
        }
        for row in own
    ]
    frame = table.frame(
        [{name: as_typed(table, name, value) for name, value in row.items()} for row in filled]
    )
    return frame.with_columns(pl.Series("landing_unit", units, pl.String))


def is_filled(column: Column, row: dict[str, Any]) -> bool:
    return column.required and row.get(column.name) is None


def fill_value(column: Column, row: dict[str, Any]) -> Any:
    """The same value for a column of that name in every table, so that rows left alone join."""
    if column.allowed is not None:
        return column.allowed[0]
    if column.pattern == UUID_PATTERN:
        # A lineage is named for its original question.
        name = "question_uuid" if column.name == "lineage_uuid" else column.name
        return row.get(name) or str(uuid5(NAMESPACE_URL, name))
    if column.pattern == MONTH_PATTERN:
        return "2026-01"
    values: dict[str, Any] = {
        "text": column.name,
        "int": int(column.low or 0),
        "float": column.low or 0.0,
        "bool": False,
        "timestamp": _TEST_MOMENT,
        "date": _TEST_MOMENT.date(),
    }
    return values.get(column.type, [])


def as_typed(table: Table, name: str, value: Any) -> Any:
    """The value as its column types it.

    YAML reads 2026-01-01 as a day and 12 as a number wherever they stand; the column says what is meant.
    """
    kinds = {column.name: column.type for column in table.own_columns}
    if value is None or name not in kinds:
        return value
    if kinds[name] == "text" and not isinstance(value, str):
        return value.isoformat() if isinstance(value, date) else str(value)
    if kinds[name] == "timestamp":
        return as_moment(value)
    if kinds[name] == "date" and isinstance(value, str):
        return date.fromisoformat(value)
    return value


def as_moment(value: Any) -> datetime:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def is_same(found: Any, expected: Any) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool) or found is None or expected is None:
        return found is expected
    if isinstance(expected, int | float) and isinstance(found, int | float | Decimal):
        return math.isclose(float(found), expected, rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(found, datetime):
        return found == as_moment(expected)
    if isinstance(found, date):
        return found.isoformat() == str(expected)
    if isinstance(expected, dict) and isinstance(found, dict):
        return found.keys() == expected.keys() and all(
            is_same(found[name], expected[name]) for name in expected
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    return bool(found == expected)
