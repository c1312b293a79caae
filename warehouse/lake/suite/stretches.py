"""Read a landed table in stretches: whole units together, never a whole table at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from schemas.rules import list_rule_columns
from schemas.table import LANDING_UNIT, Table
from warehouse.lake.store import Lake

ROWS_PER_STRETCH = 50_000
MONTH = "month"


@dataclass(frozen=True)
class UnitStretch:
    """Neighbouring units of a table, of one month where it has months, else `month` is None."""

    month: str | None
    first_unit: str
    last_unit: str
    row_count: int


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
