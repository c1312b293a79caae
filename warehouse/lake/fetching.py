"""What a statement came to, as a frame.

`result.pl()` goes through PyArrow, whose import takes 40 MB and a tenth of a second: more than most commands need for all
that they read. So few rows come as plain values, in the types that PyArrow would give them.
"""

from __future__ import annotations

import sys
from typing import Any

import polars as pl

from warehouse.lake.duck import duckdb

# As plain values, this many rows cost less than the import; what is more comes by PyArrow.
FEW = 1_000
# What took more CPU seconds than this is not run again for having too many.
DEAR_S = 0.5
_KINDS: dict[str, pl.DataType] = {
    "bigint": pl.Int64(),
    "blob": pl.Binary(),
    "boolean": pl.Boolean(),
    "date": pl.Date(),
    "double": pl.Float64(),
    "float": pl.Float32(),
    "hugeint": pl.Decimal(38, 0),
    "integer": pl.Int32(),
    "smallint": pl.Int16(),
    "timestamp": pl.Datetime("us"),
    "timestamp with time zone": pl.Datetime("us", "UTC"),
    "tinyint": pl.Int8(),
    "ubigint": pl.UInt64(),
    "uinteger": pl.UInt32(),
    "usmallint": pl.UInt16(),
    "utinyint": pl.UInt8(),
    "varchar": pl.String(),
}


def fetch_few(result: duckdb.DuckDBPyConnection, spent_s: float = 0.0) -> pl.DataFrame | None:
    """All rows of a result; None where there are too many: it is run again by PyArrow.

    Types and values do not depend on the way that they come. `spent_s`: what the statement took so far, of the CPU.
    """
    columns = result.description or []
    schema = {str(column[0]): _find_kind(column[1]) for column in columns}
    # Names that differ in case alone DuckDB numbers there.
    is_named_apart = len({name.lower() for name in schema}) == len(columns)
    if "pyarrow" in sys.modules or spent_s > DEAR_S or not is_named_apart or None in schema.values():
        return result.pl()
    rows = result.fetchmany(FEW + 1)
    if len(rows) > FEW:
        return None
    try:
        frame = pl.DataFrame(rows, schema=schema, orient="row")
    except (pl.exceptions.PolarsError, TypeError):  # in Python a day after the year 9999 is a text
        return None
    # Polars takes an integer of 39 digits for null, and a list with such a day.
    nulls = enumerate(frame.null_count().row(0))
    is_lost = any(count and count > sum(row[place] is None for row in rows) for place, count in nulls)
    return None if is_lost else frame


def _find_kind(duck_type: Any) -> pl.DataType | None:
    """The type of a column of such a frame; None where plain values would not say all of it."""
    match duck_type.id:
        case "list":
            item = _find_part(duck_type.children[0][1])
            return None if item is None else pl.List(item)
        case "struct":
            fields = [(name, _find_part(kind)) for name, kind in duck_type.children]
            known = [pl.Field(name, kind) for name, kind in fields if kind is not None]
            return pl.Struct(known) if len(known) == len(fields) else None
        case "decimal":
            return pl.Decimal(*(size for _, size in duck_type.children))
        case name:
            return _KINDS.get(name)


def _find_part(duck_type: Any) -> pl.DataType | None:
    """The type within a list or a struct, where nulls in the place of 39 digits are not seen."""
    return None if duck_type.id == "hugeint" else _find_kind(duck_type)
