"""Whether the rows of the lake are still those that were landed.

Each landing keeps a hash of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.errors import StoreError
from schemas.table import LANDING_UNIT, Table
from schemas.tables import TABLES
from warehouse.lake.frames import hash_rows_of
from warehouse.lake.quoting import quote_name

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake.store import Lake

_OWN_TABLES = ("landings", "quarantine")
_ROWS_AT_ONCE = 20_000


@dataclass
class Integrity:
    """What was looked at, and what is not as it was landed.

    Attributes:
        checked: landings whose rows were hashed.
        unhashed: landings of an earlier version, which kept no hash.
        changed: `table/unit` of landings whose rows are others, or missing.
        unreadable: tables of which rows cannot be read, with the first refusal; the others were looked at.
    """

    checked: int = 0
    unhashed: int = 0
    changed: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)


def check_landings(lake: Lake, step: Callable[[int], None] = lambda _: None) -> Integrity:
    """Hash every landed row again, a month at a time, and compare with `landings`.

    What `landings` keeps is compared; `step` is called with the number of rows.

    A table whose files cannot be read is named, and the others are looked at.
    """
    found = Integrity()
    for name in _OWN_TABLES:
        # They keep no hash of their own, but can be read or not.
        try:
            lake.query(f"SELECT bit_xor(hash(own)) FROM {quote_name(name)} AS own")
        except StoreError as error:
            found.unreadable[name] = str(error)
    if "landings" in found.unreadable:
        return found
    landed = set(lake.query("SELECT DISTINCT table_name FROM landings")["table_name"])
    for table in TABLES.values():
        if table.name not in landed:
            continue
        try:
            _check_table(lake, table, found, step)
        except StoreError as error:
            found.unreadable[table.name] = str(error)
    found.changed = sorted(set(found.changed))
    return found


def _check_table(lake: Lake, table: Table, found: Integrity, step: Callable[[int], None]) -> None:
    kept = lake.query(
        "SELECT landing_unit, unit, row_count, rows_hash FROM landings WHERE table_name = $table",
        {"table": table.name},
    )
    found.unhashed += kept["rows_hash"].null_count()
    hashes = {
        row["unit"]: row["rows_hash"]
        for row in kept.iter_rows(named=True)
        if row["rows_hash"] is not None and row["row_count"]
    }
    if not hashes:
        return
    found.checked += len(hashes)
    seen: set[str] = set()
    changed = []
    for frame in _read_parts(lake, table):
        step(frame.height)
        parts = frame.partition_by(LANDING_UNIT.name, as_dict=True, include_key=False)
        for units in _chunk({str(unit): rows for (unit,), rows in parts.items() if unit in hashes}):
            for name, rows_hash in zip(units, hash_rows_of(list(units.values())), strict=True):
                if name in seen or rows_hash != hashes[name]:
                    changed.append(f"{table.name}/{name}")
                seen.add(name)
    found.changed += [*changed, *(f"{table.name}/{unit}" for unit in sorted(set(hashes) - seen))]


def _chunk(units: dict[str, pl.DataFrame]) -> Iterator[dict[str, pl.DataFrame]]:
    """Units that together have about so many rows as are hashed at once."""
    chunk: dict[str, pl.DataFrame] = {}
    row_count = 0
    for name, rows in units.items():
        chunk[name] = rows
        row_count += rows.height
        if row_count >= _ROWS_AT_ONCE:
            yield chunk
            chunk, row_count = {}, 0
    if chunk:
        yield chunk


def read_unit(lake: Lake, table_name: str, unit: str, part: str | None = None) -> pl.DataFrame:
    """The rows of one landed unit in the contract's own columns.

    `part` is the value that its file is split by.
    """
    table = TABLES[table_name]
    columns = ", ".join(quote_name(column.name) for column in table.own_columns)
    where, params = f"{LANDING_UNIT.name} = $unit", {"unit": unit}
    if table.partition_by is not None and part is not None:
        where, params = f"{quote_name(table.partition_by)} = $part AND {where}", {**params, "part": part}
    return lake.query(f"SELECT {columns} FROM {quote_name(table.name)} WHERE {where}", params)


def _read_parts(lake: Lake, table: Table) -> Iterator[pl.DataFrame]:
    """The rows in the contract's columns, by the value that the table's files are split by."""
    columns = ", ".join(quote_name(name) for name in table.column_names)
    source = f"SELECT {columns} FROM {quote_name(table.name)}"
    if table.partition_by is None:
        yield lake.query(source)
        return
    by = quote_name(table.partition_by)
    values = lake.query(f"SELECT DISTINCT {by} AS value FROM {quote_name(table.name)} ORDER BY 1")["value"]
    for value in values:
        yield lake.query(f"{source} WHERE {by} = $value", {"value": value})
