"""One contract, two executions.

Whatever a landing holds, Polars and Great Expectations refuse the same rows.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.rules import list_rule_columns
from schemas.table import MONTH_PATTERN, UUID_PATTERN, Column, Table
from schemas.tables import TABLES
from warehouse.lake.suite import find_suite_refusals
from warehouse.lake.validation import find_refusals

# In one worker with all that runs Great Expectations: importing it takes three CPU seconds.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("great-expectations")]

UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
FORMS = {
    UUID_PATTERN: (UUID, UUID.upper(), f"{UUID}\n", f" {UUID}", UUID[:-1], "", f"x\n{UUID}", UUID[:-1] + "ｆ"),
    MONTH_PATTERN: ("2026-01", "2026-12", "2026-13", "2026-1", "2026-01\n", "\n2026-01", "٢٠٢٦-01", "２０26-01"),
}  # fmt: skip
MOMENTS = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC))


def list_values(column: Column) -> list[Any]:
    """Values that keep the column's rules, values just beyond them, and null."""
    return [None, *_list_values(column)]


def _list_values(column: Column) -> tuple[Any, ...]:
    match column.type:
        case "text" if column.allowed is not None:
            first, last = column.allowed[0], column.allowed[-1]
            return (first, last, f"{first} ", first.upper(), first.lower(), "", f"{last}\n", "\x00", "nan")
        case "text" if column.pattern is not None:
            return FORMS[column.pattern]
        case "text":
            return ("a", "b", "A", "", "a\n", "\x00", "None", "nan", "机密")
        case "int":
            low, high = int(column.low or 0), int(column.high or 0)
            return (low, low - 1, low + 1, high, high + 1, 2**53 - 1, -(2**53) + 1)
        case "float":
            least, most = column.low or 0.0, column.high or 0.0
            return (
                least,
                least - 1e-9,
                least + 1e-9,
                most,
                most + 1e-9,
                -0.0,
                5e-324,
                -5e-324,
                1e308,
                -1e308,
            )
        case "bool":
            return (True, False)
        case "timestamp":
            return MOMENTS
        case "date":
            return (date(2026, 1, 1), date(1, 1, 1))
        case _:
            return ([],)


def draw_rows(table: Table) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows from few values per column.

    In this way keys meet, and every rule is kept here and broken there.
    """
    named = set(list_rule_columns(table))
    cells = {
        column.name: st.sampled_from(list_values(column))
        for column in table.own_columns
        if column.name in named
    }
    row = st.fixed_dictionaries({**cells, "landing_unit": st.sampled_from(["u", "v"])})
    whole = st.lists(row, min_size=1, max_size=25)
    # A row again, as it stands: a key of many columns seldom meets by chance.
    return whole.flatmap(
        lambda rows: st.lists(st.sampled_from(rows), max_size=5).map(lambda more: rows + more)
    )


def list_of_every_kind() -> set[str]:
    """Tables that have among them every kind of column with rules, and of key."""
    seen, kept = set[tuple[object, ...]](), set[str]()
    for name, table in TABLES.items():
        named = set(list_rule_columns(table))
        kinds: set[tuple[object, ...]] = {
            (one.type, one.required, one.allowed is None, one.pattern, one.low is None, one.high is None)
            for one in table.own_columns
            if one.name in named
        }
        kinds.add((min(len(table.key), 4),))
        if not kinds <= seen:
            kept.add(name)
            seen |= kinds
    return kept


OF_EVERY_KIND = list_of_every_kind()


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(table, id=name, marks=[] if name in OF_EVERY_KIND else [pytest.mark.long])
        for name, table in TABLES.items()
    ],
)
def test_both_executions_refuse_the_same_rows(table: Table) -> None:
    """Rows are drawn from the table's name, so that a run finds what the last one found.

    Many kinds of draws are for the long run.
    """
    chance = Random(table.name)
    columns = [column for column in table.own_columns if column.name in set(list_rule_columns(table))]
    rows = [{column.name: chance.choice(list_values(column)) for column in columns} for _ in range(40)]
    # A key of many columns seldom meets by chance.
    rows += chance.choices(rows, k=5)
    frame = table.frame(rows).with_columns(pl.Series("landing_unit", chance.choices("uv", k=len(rows))))
    found = find_refusals(table, frame)
    assert found == find_suite_refusals(table, frame)
    assert found, "the rows were not spoiled"


@pytest.mark.long
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_whatever_is_drawn_both_executions_refuse_the_same_rows(table: Table) -> None:
    broken: set[str] = set()

    @settings(
        max_examples=20,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(draw_rows(table))
    def check(rows: list[dict[str, Any]]) -> None:
        units = [row["landing_unit"] for row in rows]
        own = [{name: value for name, value in row.items() if name != "landing_unit"} for row in rows]
        frame = table.frame(own).with_columns(pl.Series("landing_unit", units))
        found = find_refusals(table, frame)
        assert found == find_suite_refusals(table, frame)
        broken.update(refusal.rule for refusal in found)

    check()
    assert broken, "the rows were not spoiled"
