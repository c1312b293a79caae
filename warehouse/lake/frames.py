"""Frames at the border of the lake: held to their contract and identified by their content."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import polars as pl

from schemas.errors import ContractError

if TYPE_CHECKING:
    from schemas.table import Table

# When the work was done, not what came of it: the same work done again has the same content.
WORK_TIMES: dict[str, tuple[str, ...]] = {
    "documents": ("ingested_at",),
    "document_releases": ("released_at",),
    "layouts": ("corrected_at",),
    "confidence_fits": ("applied_at",),
    "review_decisions": ("decided_at",),
    "variants": ("created_at",),
    "variant_drafts": ("created_at",),
    "variant_batches": ("drafted_at", "settled_at"),
    "bank_versions": ("published_at",),
    "bank_retirements": ("retired_at",),
    "judgements": ("judged_at",),
    "judge_controls": ("judged_at",),
    "league_rounds": ("finished_at",),
}


def conform_frame(table: Table, frame: pl.DataFrame, *, is_coded: bool = False) -> pl.DataFrame:
    """The frame with the table's own columns in order and in its types.

    With `is_coded` a column of text that is Categorical may stay so, and a narrower number too. Harmless differences
    are cast (an all-null column, a narrower number, another unit of time). Raises ContractError for missing or
    unknown columns, another type, and numbers that are not finite. The message holds no value.
    """
    names = [column.name for column in table.own_columns]
    missing, unknown = sorted(set(names) - set(frame.columns)), sorted(set(frame.columns) - set(names))
    if missing or unknown:
        raise ContractError(
            f"Frame for table {table.name}: missing columns {missing}, unknown columns {unknown}. "
            "Build it with schemas.tables.get_table(name).frame(rows)."
        )
    frame = frame.select(names)
    given = frame.schema
    for name in names:
        wanted = table.polars_schema[name]
        if not _is_castable(given[name], wanted):
            raise ContractError(
                f"Frame for table {table.name}: column {name} is {given[name]}, the contract says {wanted}. "
                "Cast it before landing."
            )
    # What is coded stays so: of millions of rows it takes a fifth of the memory, and is written as the same.
    coded = {name for name in names if is_coded and given[name] in (pl.Categorical, pl.Int32)}
    frame = unsign_zeros(frame.cast({name: table.polars_schema[name] for name in names if name not in coded}))
    schema = frame.schema
    for name in names:
        if schema[name] == pl.Float64 and frame[name].is_finite().not_().any():
            raise ContractError(
                f"Frame for table {table.name}: column {name} holds NaN or infinity. Use null for an unknown number."
            )
    return frame


def unsign_zeros(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without a zero below zero: DuckDB writes both as the one that it met first."""
    signed = [
        name
        for name, kind in frame.schema.items()
        if kind in (pl.Float64, pl.Float32) and (frame[name] == 0).any()
    ]
    # Polars takes the sum of a column and 0.0 for the column.
    return frame.with_columns(
        pl.when(pl.col(name) == 0).then(0.0).otherwise(pl.col(name)).alias(name) for name in signed
    )


def hash_contents(
    table: Table,
    frames: Sequence[pl.DataFrame],
    ignore: Sequence[str] = (),
    *,
    rows_hashes: Sequence[str] | None = None,
) -> list[str]:
    """SHA-256 of each of the conformed frames.

    It is over the frame's rows in any order and over the table's rules. Left out are `ignore` and the columns that
    only say when the work was done (`WORK_TIMES`), so that doing the work again changes nothing. The rules are in
    it, so that a changed contract is applied to rows already landed. With the `hash_rows` of each frame its rows are
    not hashed once more.
    """
    left_out = {*ignore, *WORK_TIMES.get(table.name, ())}
    rules = [(c.name, c.type, c.required, c.allowed, c.low, c.high, c.pattern) for c in table.own_columns]
    names = [column.name for column in table.own_columns if column.name not in left_out]
    start = hashlib.sha256(repr((table.name, table.key, rules)).encode())
    if rows_hashes is not None:
        return [hashlib.sha256((start.hexdigest() + one).encode()).hexdigest() for one in rows_hashes]
    return _hash_lines(frames, names, start)


_LINES_AT_ONCE = 20_000  # rows whose text is held while they are hashed


def hash_rows(frame: pl.DataFrame) -> str:
    """`hash_rows_of` one frame."""
    return hash_rows_of([frame])[0]


def hash_rows_of(frames: Sequence[pl.DataFrame]) -> list[str]:
    """SHA-256 of each frame over its rows in any order, and of nothing else.

    A column that is null throughout does not count, nor does the order of columns: one that a later version adds leaves the
    hash of earlier rows as it is.
    """
    # frames with the same columns in use are written out together
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, frame in enumerate(frames):
        nulls = frame.null_count().row(0) if frame.height else ()
        names = sorted(
            name for name, count in zip(frame.columns, nulls, strict=False) if count < frame.height
        )
        schema = frame.schema  # made anew whenever it is asked for
        key = (*names, "", *(repr(schema[name]) for name in names))
        alike.setdefault(key, []).append(place)
    found: dict[int, str] = {}
    for key, places in alike.items():
        names = list(key[: key.index("")])
        start = start_hash(names)
        hashes = _hash_lines([frames[place] for place in places], names, start)
        found |= dict(zip(places, hashes, strict=True))
    return [found[place] for place in range(len(frames))]


def start_hash(names: Sequence[str]) -> hashlib._Hash:
    """What the lines of rows follow: the names of their columns, in order."""
    return hashlib.sha256(json.dumps(names).encode())


def _hash_lines(frames: Sequence[pl.DataFrame], names: Sequence[str], start: hashlib._Hash) -> list[str]:
    """The hash of each frame: `start` and its rows as sorted lines of JSON."""
    hashes: list[str] = []
    for some in _gather(frames):
        digests = [start.copy() for _ in some]
        if names and len(some) == 1:
            for part in _iter_in_order(some[0].select(names)):
                _add_lines(digests[0], sorted(write_lines(part)))
        elif names:
            lines = write_lines(pl.concat([frame.select(names) for frame in some]))
            ends = [0, *accumulate(frame.height for frame in some)]
            for digest, (first, last) in zip(digests, pairwise(ends), strict=True):
                _add_lines(digest, sorted(lines[first:last]))
        hashes += [digest.hexdigest() for digest in digests]
    return hashes


def _gather(frames: Sequence[pl.DataFrame]) -> Iterator[Sequence[pl.DataFrame]]:
    """The frames in their order, as many at once as few rows allow."""
    some: list[pl.DataFrame] = []
    held = 0
    for frame in frames:
        if some and held + frame.height > _LINES_AT_ONCE:
            yield some
            some, held = [], 0
        some.append(frame)
        held += frame.height
    if some:
        yield some


def _iter_in_order(frame: pl.DataFrame, depth: int = 0) -> Iterator[pl.DataFrame]:
    """The rows in parts; every line of one stands before those of the next."""
    if frame.height <= _LINES_AT_ONCE or depth == frame.width:
        yield frame
        return
    name = frame.columns[depth]
    kind = frame.schema[name]
    if kind not in (pl.String, pl.Categorical, pl.Boolean) and not kind.is_integer():
        yield frame
        return
    values = frame.lazy().group_by(name).agg(rows=pl.len()).collect()
    # What follows a value is a part of the order: 1 and 10 are told apart by it.
    ending = b"}" if depth + 1 == frame.width else b","
    texts = [line[:-1] + ending for line in write_lines(values.select(name))]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    sizes = values["rows"].to_list()
    part_of, whole, filled = [0] * len(order), 0, 0
    for place in order:
        if filled and filled + sizes[place] > _LINES_AT_ONCE:
            whole, filled = whole + 1, 0
        part_of[place] = whole
        filled += sizes[place]
    parts = frame.select(name).join(
        values.select(name, part=pl.Series(part_of, dtype=pl.UInt32)),
        on=name,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )["part"]
    for number in range(whole + 1):
        part = frame.filter(parts == number)
        # Of one value there may be more: only then it is divided again.
        yield from _iter_in_order(part, depth + 1) if part.height > _LINES_AT_ONCE else (part,)


def write_lines(frame: pl.DataFrame) -> list[bytes]:
    """Each row as a line of JSON, in the order of the rows."""
    lines: list[bytes] = []
    for part in frame.iter_slices(_LINES_AT_ONCE):
        buffer = io.BytesIO()
        part.write_ndjson(buffer)
        lines += buffer.getvalue().splitlines()
    return lines


def _add_lines(digest: hashlib._Hash, lines: Sequence[bytes]) -> None:
    """Many lines at once: a call for each costs more than the hashing."""
    for place in range(0, len(lines), _LINES_AT_ONCE):
        digest.update(b"\n".join(lines[place : place + _LINES_AT_ONCE]))
        digest.update(b"\n")


def row_as_json(row: dict[str, object]) -> str:
    """A row as JSON text; moments and days as ISO text."""
    return json.dumps(row, ensure_ascii=False, default=str)


def _is_castable(given: pl.DataType, wanted: pl.DataType) -> bool:
    if given == wanted or given == pl.Null:
        return True
    if wanted == pl.Int64:
        return given.is_integer()
    if wanted == pl.Float64:
        return given.is_numeric()
    if wanted == pl.String:
        return isinstance(given, pl.Categorical | pl.Enum)
    if isinstance(wanted, pl.Datetime):
        return isinstance(given, pl.Datetime) and given.time_zone == wanted.time_zone
    if isinstance(wanted, pl.List) and isinstance(given, pl.List):
        return _is_castable(_data_type(given.inner), _data_type(wanted.inner))
    if isinstance(wanted, pl.Struct) and isinstance(given, pl.Struct):
        inner = {field.name: _data_type(field.dtype) for field in given.fields}
        return list(inner) == [field.name for field in wanted.fields] and all(
            _is_castable(inner[field.name], _data_type(field.dtype)) for field in wanted.fields
        )
    return False


def _data_type(given: object) -> pl.DataType:
    """Polars allows a class or an instance as an inner type."""
    return given() if isinstance(given, type) else given  # type: ignore[return-value]
