"""What happens to rows between a stage and the lake.

They are hashed, checked, refused or written, and counted. A `Batch` is what a stage hands in, a `Landing`
what came of it. `Lake.land_together` puts the steps in order.
"""

from __future__ import annotations

import glob
import hashlib
import shutil
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path

import polars as pl

from schemas.errors import ContractError, StoreError
from schemas.settings import Settings
from schemas.table import LANDING_UNIT, Table
from schemas.tables import get_table
from warehouse.lake.connecting import spill_path
from warehouse.lake.duck import duckdb
from warehouse.lake.frames import conform_frame, hash_contents, hash_rows, hash_rows_of, row_as_json
from warehouse.lake.provenance import read_code_version
from warehouse.lake.quoting import quote_name, quote_text
from warehouse.lake.row_parts import explain_spilling
from warehouse.lake.statements import quote_list
from warehouse.lake.validation import find_refusals
from warehouse.stores.blocks import block

# Written by every landing itself.
OWN_TABLES = ("landings", "quarantine")


@dataclass(frozen=True)
class Batch:
    """Rows of one unit of a table: the frame has the table's own columns.

    `refused` holds rows of `quarantine` that the stage's own rules refused before the landing; they go with the unit.
    `rows_hash` is the `hash_rows` of a frame that is in the types of its table, where the stage has it already. Rows of a frozen table
    may come before the frame as `files` of `RowParts`; their hash is then of all.
    """

    table: str
    unit: str
    frame: pl.DataFrame
    refused: pl.DataFrame | None = None
    rows_hash: str | None = None
    files: Sequence[Path] = ()

    @property
    def landing_unit(self) -> str:
        """The unit under which `landings` and `quarantine` keep what they say of this one."""
        return name_landing(self.table, self.unit)


@dataclass(frozen=True)
class Landing:
    """What a landing came to: rows landed, rows refused, and whether it was already there."""

    table: str
    unit: str
    row_count: int
    rejected_count: int
    is_unchanged: bool


@dataclass(frozen=True)
class HashedBatch:
    """A batch in the types of its table, and what its content hashes to."""

    batch: Batch
    content_hash: str


@dataclass(frozen=True)
class CheckedBatch:
    """A batch after validation, ready to be written; `rows_hash` is of the accepted rows."""

    batch: Batch
    content_hash: str
    rows_hash: str
    accepted: pl.DataFrame
    quarantined: pl.DataFrame
    rejected_count: int
    filed_count: int = 0

    @property
    def row_count(self) -> int:
        """Accepted rows, those of the batch's files included."""
        return self.filed_count + self.accepted.height

    @property
    def landing(self) -> Landing:
        """What it comes to once it is written."""
        return Landing(
            self.batch.table, self.batch.unit, self.row_count, self.rejected_count, is_unchanged=False
        )


def name_landing(table: str, unit: str) -> str:
    """The `landing_unit` of a unit's rows in `landings` and `quarantine`."""
    return f"{table}/{unit}"


def check_batches(batches: Sequence[Batch]) -> None:
    """Raise ContractError for a batch of no table that lands, without a unit, or twice there."""
    seen: set[tuple[str, str]] = set()
    for batch in batches:
        get_table(batch.table)
        if batch.table in OWN_TABLES:
            raise ContractError(
                f"Table {batch.table} is written by every landing itself; land another table."
            )
        if not batch.unit:
            raise ContractError(
                f"A landing in {batch.table} names no unit. Name the unit of work it belongs to."
            )
        if (batch.table, batch.unit) in seen:
            raise ContractError(
                f"Unit {batch.unit!r} of {batch.table} is landed twice at once. Join its frames."
            )
        seen.add((batch.table, batch.unit))


def hash_batches(batches: Sequence[Batch], ignore: Sequence[str]) -> list[HashedBatch]:
    """Each batch conformed to its table, with its hash.

    The hash is of its rows and of the rows that the stage refused. All batches of a table are conformed and written out for
    hashing in one go: a unit of few rows costs no more than they. What is frozen is large and lands whole: the hash of its rows,
    which is kept anyway, stands for them.
    """
    hashed: dict[str, HashedBatch] = {}
    for name in dict.fromkeys(batch.table for batch in batches):
        table = get_table(name)
        own = [batch for batch in batches if batch.table == name]
        frames = _conform_together(table, [batch.frame for batch in own])
        known = [batch.rows_hash for batch in own]
        if table.is_frozen:
            known = [one or hash_rows(frame) for one, frame in zip(known, frames, strict=True)]
        whole = [one for one in known if one] if table.is_frozen else None
        found = hash_contents(table, frames, ignore, rows_hashes=whole)
        for batch, frame, rows_hash, content_hash in zip(own, frames, known, found, strict=True):
            if batch.refused is not None and not batch.refused.is_empty():
                content_hash = _hash_with_refused(content_hash, batch.refused)
            conformed = replace(batch, frame=frame, rows_hash=rows_hash)
            hashed[batch.landing_unit] = HashedBatch(conformed, content_hash)
    return [hashed[batch.landing_unit] for batch in batches]


def _conform_together(table: Table, frames: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """The frames in the table's columns and types; those that are alike, as one."""
    first = frames[0].schema
    if any(frame.schema != first for frame in frames[1:]):
        return [conform_frame(table, frame) for frame in frames]
    joined = conform_frame(table, pl.concat(frames) if len(frames) > 1 else frames[0], is_coded=True)
    ends = [0, *accumulate(frame.height for frame in frames)]
    return [joined.slice(start, end - start) for start, end in pairwise(ends)]


def check_rules(changed: Sequence[HashedBatch], stage: str | None) -> list[CheckedBatch]:
    """Each batch divided into rows that keep the rules and rows for quarantine, by table."""
    checked: dict[str, CheckedBatch] = {}
    for name in dict.fromkeys(one.batch.table for one in changed):
        table = get_table(name)
        batches = [one for one in changed if one.batch.table == name]
        frames = [_with_unit(one.batch) for one in batches]
        broken_rules: dict[int, list[str]] = {}
        for refusal in find_refusals(table, pl.concat(frames)):
            broken_rules.setdefault(refusal.position, []).append(refusal.rule)
        start = 0
        found: list[tuple[HashedBatch, dict[int, list[str]], pl.DataFrame]] = []
        for one, frame in zip(batches, frames, strict=True):
            end = start + frame.height
            broken = {
                position - start: rules for position, rules in broken_rules.items() if start <= position < end
            }
            start = end
            kept = frame.filter(~pl.int_range(pl.len()).is_in(list(broken))) if broken else frame
            found.append((one, broken, kept))
        for (one, broken, accepted), rows_hash in zip(found, _hash_accepted(found), strict=True):
            checked[one.batch.landing_unit] = CheckedBatch(
                one.batch,
                one.content_hash,
                rows_hash,
                accepted,
                pl.concat(
                    [
                        _quarantine_frame(table, one.batch, broken, stage or table.stage),
                        _refused_frame(one.batch),
                    ]
                ),
                # A row that breaks two rules is one row.
                len(broken) + (0 if one.batch.refused is None else one.batch.refused["row_json"].n_unique()),
                _check_files(table, one.batch),
            )
    return [checked[one.batch.landing_unit] for one in changed]


def _check_files(table: Table, batch: Batch) -> int:
    """How many rows the files of a batch have; ContractError where one breaks a rule."""
    count = 0
    for path in batch.files:
        with explain_spilling():
            frame = pl.read_parquet(path)
        rows = _with_unit(replace(batch, frame=conform_frame(table, frame)))
        if refusals := find_refusals(table, rows):
            raise ContractError(
                f"A row of {batch.landing_unit} breaks the rule {refusals[0].rule}: nothing was landed."
            )
        count += rows.height
    return count


def _hash_accepted(found: Sequence[tuple[HashedBatch, dict[int, list[str]], pl.DataFrame]]) -> list[str]:
    """The hash of each batch's accepted rows; a stage may have that of all its rows already."""
    given = [None if broken else one.batch.rows_hash for one, broken, _ in found]
    rows = [
        part.drop(LANDING_UNIT.name) for (_, _, part), known in zip(found, given, strict=True) if not known
    ]
    computed = iter(hash_rows_of(rows))
    return [known or next(computed) for known in given]


@block
def stage_rows(
    settings: Settings, checked: Sequence[CheckedBatch], flow_run_id: str | None
) -> Generator[dict[str, Path]]:
    """Table → Parquet of the rows that this landing writes, while the block lasts; StoreError."""
    folder: Path | None = None
    try:
        try:
            spill = spill_path(settings.home)
            spill.parent.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f"{spill.name}-", dir=spill.parent))
            paths = {
                name: _write_parquet(frame, folder / f"{name}.parquet")
                for name, frame in _list_frames(checked, flow_run_id).items()
                if not frame.is_empty()
            }
        except (OSError, pl.exceptions.PolarsError) as error:
            raise StoreError(
                f"Rows cannot be made ready for landing under {settings.home} ({type(error).__name__}); nothing was "
                "written. Check free disk space and permissions, then run again."
            ) from None
        yield paths
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def replace_units(
    connection: duckdb.DuckDBPyConnection, checked: Sequence[CheckedBatch], paths: dict[str, Path]
) -> None:
    """Within a transaction: replace what units held by what they hold now; `landings` says so."""
    _delete_units(connection, checked)
    for one in checked:
        if one.batch.files:
            own = f"*, {quote_text(one.batch.unit)} AS {LANDING_UNIT.name}"
            _insert(connection, one.batch.table, one.batch.files, own)
    for name, path in paths.items():
        _insert(connection, name, [path])


def _with_unit(batch: Batch) -> pl.DataFrame:
    return batch.frame.with_columns(pl.lit(batch.unit, pl.String).alias(LANDING_UNIT.name))


def _quarantine_frame(table: Table, batch: Batch, broken: dict[int, list[str]], stage: str) -> pl.DataFrame:
    if not broken:
        return _own_frame("quarantine", [])
    now = datetime.now(UTC)
    rows: list[dict[str, object]] = []
    for position, rules in broken.items():
        row = batch.frame.row(position, named=True)
        for rule in rules:
            rows.append(
                {
                    "table_name": table.name,
                    "unit": batch.unit,
                    "stage": stage,
                    "row_key": row_as_json({name: row[name] for name in table.key}),
                    "rule": rule,
                    "row_json": row_as_json(row),
                    "quarantined_at": now,
                }
            )
    return _own_frame("quarantine", rows)


def _refused_frame(batch: Batch) -> pl.DataFrame:
    """Rows that the stage refused itself, as quarantine of this landing."""
    if batch.refused is None:
        return _own_frame("quarantine", [])
    rows = batch.refused.select([column.name for column in get_table("quarantine").own_columns])
    return rows.with_columns(
        pl.lit(batch.table).alias("table_name"),
        pl.lit(batch.unit).alias("unit"),
        pl.lit(batch.landing_unit).alias(LANDING_UNIT.name),
    )


def _hash_with_refused(content_hash: str, refused: pl.DataFrame) -> str:
    lines = sorted(f"{row[0]} {row[1]}" for row in refused.select("rule", "row_json").iter_rows())
    return hashlib.sha256("\n".join([content_hash, *lines]).encode()).hexdigest()


def _own_frame(name: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    """Rows of `landings` or `quarantine`, which belong to the landing of a table's unit."""
    if not rows:
        return _empty_frame(name)
    frame = get_table(name).frame(rows)
    return frame.with_columns(pl.concat_str("table_name", "unit", separator="/").alias(LANDING_UNIT.name))


@lru_cache(maxsize=2)
def _empty_frame(name: str) -> pl.DataFrame:
    return get_table(name).frame([]).with_columns(pl.lit(None, pl.String).alias(LANDING_UNIT.name))


def _list_frames(checked: Sequence[CheckedBatch], flow_run_id: str | None) -> dict[str, pl.DataFrame]:
    """Table → its rows, `landings` last."""
    frames = {
        name: pl.concat([one.accepted for one in checked if one.batch.table == name])
        for name in dict.fromkeys(one.batch.table for one in checked)
    }
    frames["quarantine"] = pl.concat([one.quarantined for one in checked])
    now = datetime.now(UTC)
    frames["landings"] = _own_frame(
        "landings",
        [
            {
                "table_name": one.batch.table,
                "unit": one.batch.unit,
                "row_count": one.row_count,
                "rejected_count": one.rejected_count,
                "content_hash": one.content_hash,
                "rows_hash": one.rows_hash,
                "flow_run_id": flow_run_id,
                "code_version": read_code_version(),
                "landed_at": now,
            }
            for one in checked
        ],
    )
    return frames


def _write_parquet(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_parquet(path, compression="uncompressed", statistics=False)
    return path


def _delete_units(connection: duckdb.DuckDBPyConnection, checked: Sequence[CheckedBatch]) -> None:
    """Delete only what `landings` says is there: a first landing looks for nothing."""
    held = connection.execute(
        "SELECT table_name, unit, landing_unit, row_count, rejected_count FROM landings "
        f"WHERE landing_unit IN {quote_list(one.batch.landing_unit for one in checked)}"
    ).fetchall()
    for name in sorted({row[0] for row in held}):
        if gone := [unit for table, unit, _, row_count, _ in held if table == name and row_count]:
            _delete(connection, name, gone)
    if gone := [row[2] for row in held if row[4]]:
        _delete(connection, "quarantine", gone)
    if held:
        _delete(connection, "landings", [row[2] for row in held])


def _delete(connection: duckdb.DuckDBPyConnection, table: str, units: list[str]) -> None:
    connection.execute(f"DELETE FROM {quote_name(table)} WHERE {LANDING_UNIT.name} IN {quote_list(units)}")


def _insert(
    connection: duckdb.DuckDBPyConnection, table: str, paths: Sequence[Path], columns: str = "*"
) -> None:
    # A folder of the path may look like a partition, or hold a character that would be a wildcard.
    files = ", ".join(quote_text(glob.escape(str(path.resolve()))) for path in paths)
    connection.execute(
        f"INSERT INTO {quote_name(table)} BY NAME SELECT {columns} FROM read_parquet([{files}], hive_partitioning => false)"
    )
