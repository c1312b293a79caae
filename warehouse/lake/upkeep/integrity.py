"""Whether the rows of the lake are those that were landed, by each landing's own hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import polars as pl

from schemas.errors import StoreError
from schemas.table import LANDING_UNIT, Table
from schemas.tables import TABLES
from warehouse.lake.frames import hash_rows_of
from warehouse.lake.quoting import quote_name, quote_text
from warehouse.lake.reading.parts import TablePart, match_files
from warehouse.lake.row_parts import RowParts
from warehouse.lake.upkeep.looked import FILE_OF_ROW, FoundUnit, Looked, PartLook

if TYPE_CHECKING:
    from warehouse.lake.store import Lake

_OWN_TABLES = frozenset({"landings", "quarantine"})
_ROWS_AT_ONCE = 20_000
# More rows would take hundreds of megabytes.
_ROWS_READ = 60_000
# A unit of more rows, as the pairs of many candidates, is never in memory whole.
_ROWS_OF_UNIT = 400_000


@dataclass
class Integrity:
    """What was looked at, and what is not as it was landed.

    Attributes:
        checked: landings whose rows were hashed, now or when their files had the same bytes.
        unhashed: landings of an earlier version, which kept no hash.
        changed: `table/unit` of landings whose rows are others, or missing.
        unreadable: tables of which rows cannot be read, with the first refusal; the others were looked at.
        frozen: `table/unit` of what was published → the hash of its rows as they are.
        is_counted: whether every unit has as many rows as its landing says; of one table.
    """

    checked: int = 0
    unhashed: int = 0
    changed: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    frozen: dict[str, str] = field(default_factory=dict)
    is_counted: bool = True


def check_landings(
    lake: Lake, step: Callable[[int], None] = lambda _: None, looked: Looked | None = None
) -> Integrity:
    """Hash every landed row again, a month at a time, and compare with `landings`.

    What `landings` keeps is compared; `step` is called with the number of rows. With `looked` rows are not read of files whose bytes
    are those of which rows were hashed before; what does not fit is read before it is said, and again where something has landed
    meanwhile. A table whose files cannot be read is named, and the others are looked at.
    """
    found = Integrity()
    for name in sorted(_OWN_TABLES):
        # They keep no hash of their own, but can be read or not.
        try:
            lake.query(f"SELECT bit_xor(hash(own)) FROM {quote_name(name)} AS own")
        except StoreError as error:
            found.unreadable[name] = str(error)
    if "landings" in found.unreadable:
        return found
    looked = looked or Looked(lake, is_trusted=False)
    landed = _read_landed(lake)
    looked.is_counted = landed.keys() <= TABLES.keys() - _OWN_TABLES
    # Rows are hashed on one thread anyway, and those of several are held at once.
    with lake.one_thread():
        for table in TABLES.values():
            if table.name in _OWN_TABLES:
                continue
            try:
                own = _check_table(lake, table, landed.get(table.name, _NONE_LANDED), looked, step)
                for _ in range(_MOST_LOOKS):
                    if not own.changed:
                        break
                    # Its files were listed, and its landings read, at moments of their own.
                    now = _read_landed(lake).get(table.name, _NONE_LANDED)
                    if not looked.list_anew(lake, table.name) and now.equals(
                        landed.get(table.name, _NONE_LANDED)
                    ):
                        break
                    landed[table.name] = now
                    own = _check_table(lake, table, now, looked, step)
            except StoreError as error:
                found.unreadable[table.name] = str(error)
                looked.is_counted = False
            else:
                found.checked += own.checked
                found.unhashed += own.unhashed
                found.changed += own.changed
                found.frozen |= own.frozen
                looked.is_counted &= own.is_counted
    found.changed = sorted(set(found.changed))
    return found


# So often a table is looked at again into which something has landed: whoever never stops landing is looked at some other time.
_MOST_LOOKS = 3
_NONE_LANDED = pl.DataFrame(
    schema={"unit": pl.String, "row_count": pl.Int64, "rows_hash": pl.String}, orient="row"
)


def _read_landed(lake: Lake) -> dict[str, pl.DataFrame]:
    """What `landings` keeps of each table's units."""
    kept = lake.query("SELECT table_name, unit, row_count, rows_hash FROM landings ORDER BY table_name, unit")
    own = kept.partition_by("table_name", as_dict=True, include_key=False)
    return {str(name): rows for (name,), rows in own.items()}


def _check_table(
    lake: Lake,
    table: Table,
    kept: pl.DataFrame,
    looked: Looked,
    step: Callable[[int], None],
) -> Integrity:
    found = Integrity(unhashed=kept["rows_hash"].null_count())
    hashes = {
        row["unit"]: row["rows_hash"]
        for row in kept.iter_rows(named=True)
        if row["rows_hash"] is not None and row["row_count"]
    }
    parts = looked.list_parts(table.name)
    found.checked += len(hashes)
    if table.partition_by is not None and any(not part.value for part in parts):
        # Files of before it was split: its parts are no part of any.
        parts = [TablePart(table.name, "")]
    for may_reuse in (True, False):
        seen: dict[str, str | None] = {}
        held: Counter[str] = Counter()
        mixed: set[str] = set()
        split: set[str] = set()
        has_reused = False
        for part in parts:
            look = PartLook(looked, part, may_reuse=may_reuse)
            units = look.units
            has_reused = has_reused or bool(units)
            if not units or look.new:
                found_now = _hash_part(lake, table, part, hashes, step, look)
                # A unit with rows in files of then and of since is to be read whole.
                mixed |= hashes.keys() & units.keys() & found_now.keys()
                units = {**units, **found_now}
            look.keep(units)
            held.update({unit: count for unit, (_, count) in units.items()})
            digests = {unit: digest for unit, (digest, _) in units.items() if unit in hashes}
            split |= digests.keys() & seen.keys()
            seen |= digests
        # What an edition says of answers that were given in another month lies in files of both.
        seen |= {unit: hash_rows_of([read_unit(lake, table.name, unit)])[0] for unit in sorted(split)}
        changed = sorted(mixed | {unit for unit, digest in hashes.items() if seen.get(unit) != digest})
        if not (changed and has_reused):
            break
    found.changed = [f"{table.name}/{unit}" for unit in changed]
    counted = kept.filter(pl.col("row_count") != 0).select("unit", "row_count")
    found.is_counted = kept["unit"].is_unique().all() and sorted(held.items()) == sorted(counted.rows())
    if table.is_frozen:
        found.frozen = {f"{table.name}/{unit}": digest for unit, digest in seen.items() if digest}
    return found


def _hash_part(
    lake: Lake,
    table: Table,
    part: TablePart,
    wanted: dict[str, str],
    step: Callable[[int], None],
    look: PartLook,
) -> dict[str, FoundUnit]:
    """Unit → hash and number of its rows in the files to read; no hash if none is kept."""
    # Also units without a hash: whoever lands them later finds that there were rows before.
    found: dict[str, FoundUnit] = {}
    source, params = f"FROM {quote_name(table.name)} WHERE true", {}
    if table.partition_by is not None and part.value:
        source, params = f"{source} AND {quote_name(table.partition_by)} = $value", {"value": part.value}
    if look.new:
        source += f" AND {match_files(look.new)}"
    if look.row_count <= min(_ROWS_READ, _ROWS_OF_UNIT):
        # A statement costs more than the rows of a small file.
        columns = ", ".join(quote_name(name) for name in table.column_names)
        frame = lake.query(f"SELECT {FILE_OF_ROW} AS its_file, {columns} {source}", params)
        if look.wants_places:
            look.add_places(frame.select("its_file", LANDING_UNIT.name))
        _hash_units(frame.drop("its_file"), wanted, step, found)
        return found
    if look.wants_places:
        look.add_places(lake.query(f"SELECT DISTINCT {FILE_OF_ROW}, {LANDING_UNIT.name} {source}", params))
    sizes = lake.query(f"SELECT {LANDING_UNIT.name}, count(*) {source} GROUP BY 1 ORDER BY 1", params).rows()
    for unit in [unit for unit, size in sizes if size > _ROWS_OF_UNIT]:
        whose = f"{source} AND {LANDING_UNIT.name}"
        rows = RowParts(table.name, lake.settings.home)
        columns = ", ".join(quote_name(column.name) for column in table.own_columns)
        lake.stream(f"SELECT {columns} {whose} = {quote_text(unit)}", params, rows.add)
        step(rows.height)
        found[unit] = (rows.hash() if unit in wanted else None, rows.height)
        source = f"{whose} <> {quote_text(unit)}"
    sizes = [(unit, size) for unit, size in sizes if unit not in found]
    for frame in _iter_rows(lake, table, source, params, sizes):
        _hash_units(frame, wanted, step, found)
    return found


def _hash_units(
    frame: pl.DataFrame, wanted: dict[str, str], step: Callable[[int], None], found: dict[str, FoundUnit]
) -> None:
    """Put what is found of whole units into `found`."""
    step(frame.height)
    own = frame.partition_by(LANDING_UNIT.name, as_dict=True, include_key=False)
    found |= {str(unit): (None, rows.height) for (unit,), rows in own.items()}
    for units in _chunk({str(unit): rows for (unit,), rows in own.items() if unit in wanted}):
        for unit, digest in zip(units, hash_rows_of(list(units.values())), strict=True):
            found[unit] = (digest, units[unit].height)


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
    """The rows of one landed unit in the contract's columns, of the `part` that files split by."""
    table = TABLES[table_name]
    columns = ", ".join(quote_name(column.name) for column in table.own_columns)
    where, params = f"{LANDING_UNIT.name} = $unit", {"unit": unit}
    if table.partition_by is not None and part is not None:
        where, params = f"{quote_name(table.partition_by)} = $part AND {where}", {**params, "part": part}
    return lake.query(f"SELECT {columns} FROM {quote_name(table.name)} WHERE {where}", params)


def _iter_rows(
    lake: Lake, table: Table, source: str, params: dict[str, str], sizes: Sequence[tuple[str, int]]
) -> Iterator[pl.DataFrame]:
    """So many rows at a time, whole units by name, whose neighbours lie in the same files."""
    columns = ", ".join(quote_name(name) for name in table.column_names)
    ends = [0]
    for place, count in enumerate(accumulate(size for _, size in sizes)):
        if count > len(ends) * _ROWS_READ:
            ends.append(place)
    for first, after in pairwise([*ends, len(sizes)]):
        if first < after:
            units = f"{LANDING_UNIT.name} BETWEEN {quote_text(sizes[first][0])} AND {quote_text(sizes[after - 1][0])}"
            yield lake.query(f"SELECT {columns} {source} AND {units}", params)
