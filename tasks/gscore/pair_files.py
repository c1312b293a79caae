"""The files that pairs come from and scores go to.

They are CSV, TSV, JSONL or Parquet, and are read in small pieces.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from schemas.errors import UsageError, suggest
from tasks.texts import restore_text, write_safe_csv
from warehouse.stores.whole_files import hash_file

PROBLEM_COLUMN = "_problem"
"""Why a row cannot be scored (it is not JSON, it has too many cells); null for all others."""

_FRAME_ROWS = 1_000
_OUTPUT_SUFFIXES = (".parquet", ".csv", ".jsonl", ".ndjson")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_KINDS: dict[type, pl.DataType] = {bool: pl.Boolean(), int: pl.Int64(), float: pl.Float64(), str: pl.String()}


@dataclass(frozen=True)
class PairFile:
    """A readable file of pairs, looked through once."""

    path: Path
    reference_column: str
    response_column: str
    row_count: int
    content_hash: str
    """sha256 of the bytes."""

    other_columns: Mapping[str, pl.DataType]
    """The columns besides the two texts, with their types."""

    def read(self, skip: int = 0) -> Iterator[pl.DataFrame]:
        """Yield the rows after the first `skip`, in order, in frames of at most 1,000.

        Columns: `reference` and `response` (text), the other columns, and `PROBLEM_COLUMN`.
        """
        if self.path.suffix.lower() == ".parquet":
            return _read_parquet(self, skip)
        if self.path.suffix.lower() in _DELIMITERS:
            return _build_frames(self, islice(_read_csv_rows(self.path), skip + 1, None), _parse_cells(self))
        return _build_frames(self, islice(_read_lines(self.path), skip, None), _parse_line(self))


def open_pair_file(
    path: Path, reference_column: str = "reference", response_column: str = "response"
) -> PairFile:
    """Look through a CSV, TSV, JSONL or Parquet file: count its rows, hash it, find its columns.

    Raises UsageError when there is no such file, its suffix is unknown, its bytes are not what the suffix says, or one of the
    two columns is missing.
    """
    suffix = path.suffix.lower()
    if not path.is_file():
        raise UsageError(f"There is no file {path.name} to score. Check its path.")
    if suffix == ".parquet":
        row_count, columns = _inspect_parquet(path)
    elif suffix in _DELIMITERS:
        row_count, columns = _inspect_csv(path)
    elif suffix in (".jsonl", ".ndjson"):
        row_count, columns = _inspect_jsonl(path)
    else:
        raise UsageError(
            f"{path.name} is not a CSV, TSV, JSONL or Parquet file by its suffix. Rename or convert it."
        )
    for name in (reference_column, response_column):
        if name not in columns:
            raise UsageError(
                f"{path.name} has no column {name!r}.{suggest(name, columns)} It has {', '.join(columns) or 'none'}."
                f" Rename the columns that hold the reference and the response to {reference_column} and {response_column}."
            )
    others = {name: kind for name, kind in columns.items() if name not in (reference_column, response_column)}
    return PairFile(path, reference_column, response_column, row_count, hash_file(path), others)


def check_output_format(out: Path) -> None:
    """Raise UsageError unless scores can be written to a file of this name."""
    if out.suffix.lower() not in _OUTPUT_SUFFIXES:
        raise UsageError(f"Scores cannot be written to {out.name}. Name a .parquet, .csv or .jsonl file.")


@contextmanager
def open_score_writer(path: Path, suffix: str) -> Iterator[Callable[[pl.DataFrame], None]]:
    """Yield a function that appends rows to a new file at `path`, in the format of `suffix`."""
    import pyarrow.parquet as pq

    if suffix.lower() == ".parquet":
        writer: Any = None

        def write_parquet(rows: pl.DataFrame) -> None:
            nonlocal writer
            table = rows.to_arrow()
            if writer is None:
                writer = pq.ParquetWriter(path, table.schema, compression="zstd")
            writer.write_table(table)

        try:
            yield write_parquet
        finally:
            if writer is not None:
                writer.close()
        return
    with path.open("wb") as file:
        is_first = True

        def write_text(rows: pl.DataFrame) -> None:
            nonlocal is_first
            if suffix.lower() == ".csv":
                file.write(write_safe_csv(rows, has_header=is_first).encode())
            else:
                rows.write_ndjson(file)
            is_first = False

        yield write_text


def _inspect_parquet(path: Path) -> tuple[int, dict[str, pl.DataType]]:
    try:
        row_count = int(pl.scan_parquet(path).select(pl.len()).collect().item())
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UsageError(f"{path.name} cannot be read as Parquet ({error}). Write it again.") from error
    return row_count, dict(schema)


def _read_parquet(pairs: PairFile, skip: int) -> Iterator[pl.DataFrame]:
    import pyarrow.parquet as pq

    names = [pairs.reference_column, pairs.response_column, *pairs.other_columns]
    with pq.ParquetFile(pairs.path) as file:
        batches = file.iter_batches(batch_size=_FRAME_ROWS, columns=names)
        if pairs.row_count == 0:
            batches = iter([file.schema_arrow.empty_table().select(names)])
        for record_batch in batches:
            frame = pl.DataFrame(pl.from_arrow(record_batch))
            if skip and skip >= len(frame):
                skip -= len(frame)
                continue
            frame, skip = frame[skip:], 0
            for name in (pairs.reference_column, pairs.response_column):
                if frame.schema[name] not in (pl.String, pl.Null, pl.Categorical):
                    raise UsageError(
                        f"{pairs.path.name}: the column {name!r} is {frame.schema[name]}, not text. Convert it."
                    )
            yield frame.select(
                pl.col(pairs.reference_column).cast(pl.String).alias("reference"),
                pl.col(pairs.response_column).cast(pl.String).alias("response"),
                *pairs.other_columns,
                pl.lit(None, dtype=pl.String).alias(PROBLEM_COLUMN),
            )


def _inspect_csv(path: Path) -> tuple[int, dict[str, pl.DataType]]:
    rows = _read_csv_rows(path)
    header = next(rows, [])
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise UsageError(f"{path.name} has several columns named {', '.join(repeated)}. Rename them.")
    return sum(1 for _ in rows), dict.fromkeys(header, pl.String())


def _read_csv_rows(path: Path) -> Iterator[list[str]]:
    """Yield the rows, the header first; blank lines are no rows."""
    csv.field_size_limit(sys.maxsize)
    number = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            # Strict: a quote that is never closed would make one cell of all the rows after it.
            for row in csv.reader(file, delimiter=_DELIMITERS[path.suffix.lower()], strict=True):
                number += 1
                if row:
                    yield [restore_text(cell) for cell in row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"{path.name} cannot be read after row {number} ({error.__class__.__name__}). It must be UTF-8, with quoted cells closed."
        ) from error


def _parse_cells(pairs: PairFile) -> Callable[[Any], dict[str, Any]]:
    header = next(_read_csv_rows(pairs.path))

    def parse(cells: list[str]) -> dict[str, Any]:
        row: dict[str, Any] = dict(zip(header, cells, strict=False))
        record = {name: row.get(name) for name in pairs.other_columns}
        if len(cells) > len(header):
            record[PROBLEM_COLUMN] = (
                f"the row has {len(cells)} cells under {len(header)} headers: it is not scored"
            )
            return record
        record["reference"] = row.get(pairs.reference_column)
        record["response"] = row.get(pairs.response_column)
        return record

    return parse


def _inspect_jsonl(path: Path) -> tuple[int, dict[str, pl.DataType]]:
    """Count the lines and find each key's narrowest type.

    Keys of mixed or nested values are text (as JSON).
    """
    count = 0
    kinds: dict[str, set[type]] = {}
    for line in _read_lines(path):
        count += 1
        for key, value in (_parse_object(line) or {}).items():
            seen = kinds.setdefault(key, set())
            if value is not None:
                fits = type(value) is not int or -(2**63) <= value < 2**63
                seen.add(type(value) if fits else str)
    return count, {
        key: _KINDS.get(next(iter(seen)), pl.String()) if len(seen) == 1 else pl.String()
        for key, seen in kinds.items()
    }


def _read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines that are not blank."""
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield line


def _parse_object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _parse_line(pairs: PairFile) -> Callable[[Any], dict[str, Any]]:
    def parse(line: bytes) -> dict[str, Any]:
        value = _parse_object(line)
        if value is None:
            return {PROBLEM_COLUMN: "the line is not a JSON object: it is not scored"}
        record: dict[str, Any] = {}
        for name, kind in pairs.other_columns.items():
            found = value.get(name)
            record[name] = _format_json(found) if kind == pl.String else found
        for name, column in (("reference", pairs.reference_column), ("response", pairs.response_column)):
            found = value.get(column)
            if isinstance(found, dict | list):
                record[PROBLEM_COLUMN] = f"{column} is not a text: the pair is not scored"
            else:
                record[name] = _format_json(found)
        return record

    return parse


def _format_json(value: Any) -> str | None:
    """Return a text as it is and any other value as JSON.

    Lone surrogates, which no file can hold, are replaced.
    """
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _build_frames(
    pairs: PairFile, rows: Iterator[Any], parse: Callable[[Any], dict[str, Any]]
) -> Iterator[pl.DataFrame]:
    schema = {
        "reference": pl.String(),
        "response": pl.String(),
        **pairs.other_columns,
        PROBLEM_COLUMN: pl.String(),
    }
    if pairs.row_count == 0:
        yield pl.DataFrame(schema=schema)
    while part := list(islice(rows, _FRAME_ROWS)):
        records = [parse(row) for row in part]
        yield pl.DataFrame({name: [record.get(name) for record in records] for name in schema}, schema=schema)
