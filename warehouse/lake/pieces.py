"""Read a landed table piece by piece: whole units together, never a whole table at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from schemas.rules import list_rule_columns
from schemas.table import LANDING_UNIT, Table
from warehouse.lake.store import Lake

ROWS_PER_PIECE = 50_000
MONTH = "month"


@dataclass(frozen=True)
class Piece:
    """Neighbouring units of a table: of one month where the table has months, else `month` is None."""

    month: str | None
    first_unit: str
    last_unit: str
    row_count: int


def has_months(table: Table) -> bool:
    """Whether the rows of a table name their month."""
    return MONTH in table.column_names


def list_pieces(
    lake: Lake, table: Table, month: str | None = None, rows: int = ROWS_PER_PIECE
) -> list[Piece]:
    """Pieces that cover the table (or one month of it) once, of about `rows` rows; a larger unit is a piece by itself.

    A unit stays whole within a month, so that its key can be checked: one unit's rows are of one month.
    """
    named = MONTH if has_months(table) else "NULL::VARCHAR"
    counts = lake.query(
        f"SELECT {named} AS month, {LANDING_UNIT.name} AS unit, count(*) AS row_count FROM {table.name} "
        f"{'' if month is None else f'WHERE {MONTH} = $month '}GROUP BY ALL ORDER BY ALL",
        {} if month is None else {"month": month},
    )
    pieces: list[Piece] = []
    for month_of_unit, unit, count in counts.iter_rows():
        last = pieces[-1] if pieces else None
        if last is None or last.month != month_of_unit or last.row_count + count > rows:
            pieces.append(Piece(month_of_unit, unit, unit, count))
        else:
            pieces[-1] = Piece(last.month, last.first_unit, unit, last.row_count + count)
    return pieces


def read_pieces(lake: Lake, table: Table, pieces: list[Piece]) -> Iterator[pl.DataFrame]:
    """The rows of one piece after the other, with the columns that rules name."""
    columns = ", ".join(f'"{name}"' for name in list_rule_columns(table))
    for piece in pieces:
        of_month = "" if piece.month is None else f"{MONTH} = $month AND "
        params = {"first": piece.first_unit, "last": piece.last_unit}
        yield lake.query(
            f"SELECT {columns} FROM {table.name} "
            f"WHERE {of_month}{LANDING_UNIT.name} BETWEEN $first AND $last",
            params if piece.month is None else params | {"month": piece.month},
        )
