"""Tables as files: CSV, TSV, JSON lines, Parquet of others; CSV for spreadsheets."""

from __future__ import annotations

import csv
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection
from pathlib import Path
from typing import Final

from schemas import patterns as re
from schemas.errors import UsageError
from schemas.lazy import pl

_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_SUFFIXES: Final = (*_SEPARATORS, ".jsonl", ".ndjson", ".parquet")
# Written out, so that Polars and Python read the same pattern alike.
_SPACE: Final = "[\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
# Spreadsheets of East Asia also read the wide forms; a tab or a carriage return may end the cell before it.
_BEGINS_RUN: Final = rf"(?:{_SPACE}*[=+\-@＝＋－＠]|[\t\r])"
_RUN: Final = f"^{_BEGINS_RUN}"
# What `write_safe_csv` wrote, or what looks so: that gets one apostrophe more, and comes back as it was.
_KEPT: Final = f"^'+{_BEGINS_RUN}"
_KEPT_TEXT = re.compile(_KEPT)
_NUMBER: Final = r"^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?%?\s*$"


def read_table(path: Path, *, as_text: bool | Collection[str] = False) -> pl.DataFrame:
    """The file's texts and numbers as they stand; UsageError where unreadable or empty.

    A text of CSV and TSV that `write_safe_csv` kept from being run is as it was before. What is no number (NaN) among numbers is an empty cell. With `as_text` cells of CSV and TSV, or those of the columns that it names,
    stay the texts that are written there: 4.10 and 007 are names.
    """
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(f"{path.name} is none of {', '.join(_SUFFIXES)}: save it as one of them.")
    try:
        if suffix in _SEPARATORS:
            named = as_text if not isinstance(as_text, bool) else ()
            separator = _find_separator(path, _SEPARATORS[suffix])
            columns = _read_columns(path, separator)
            frame = pl.read_csv(
                path,
                separator=separator,
                infer_schema=as_text is not True,
                infer_schema_length=None,
                schema_overrides={name: pl.String for name in columns if restore_text(name) in named},
            )
            kept = pl.col(pl.String).str
            frame = frame.with_columns(
                pl.when(kept.contains(_KEPT)).then(kept.slice(1)).otherwise(pl.col(pl.String)).name.keep()
            )
            # Polars leaves quotes within a name doubled.
            names = zip(frame.columns, columns, strict=False)
            frame = frame.rename({read: restore_text(name) for read, name in names if name})
        elif suffix == ".parquet":
            frame = pl.read_parquet(path)
        else:
            frame = pl.read_ndjson(path.read_bytes().removeprefix(BOM_UTF8), infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        if suffix in _SEPARATORS and path.is_file():
            _check_encoding(path)
            _check_cells(path, _find_separator(path, _SEPARATORS[suffix]))
        raise UsageError(
            f"{path.name} cannot be read ({type(error).__name__}). Check that it is there, is what its suffix says, and has one line "
            "of column names; CSV is UTF-8."
        ) from None
    if frame.is_empty():
        raise UsageError(f"{path.name} holds no row.")
    return frame.with_columns(pl.selectors.float().fill_nan(None))


def _find_separator(path: Path, usual: str) -> str:
    """What the line of names is parted by; that of the suffix, unless only another one is in it."""
    with path.open("rb") as file:
        head = file.readline()
    return next((one for one in (usual, ";", "\t") if one.encode() in head), usual)


def _check_encoding(path: Path) -> None:
    """Raise UsageError for bytes that are no UTF-8, which spreadsheets in Chinese write unasked."""
    try:
        (data := path.read_bytes()).decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path.name} is not UTF-8 from line {line} on (most likely GBK, as spreadsheets in Chinese "
            "write it). Save it as `CSV UTF-8`."
        ) from None


def _check_cells(path: Path, separator: str) -> None:
    """Raise UsageError naming a row with more cells than columns, or a quote that is not closed."""
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=separator, strict=True)
        try:
            names = next(rows, [])
            for row in rows:
                if len(row) > len(names):
                    raise UsageError(
                        f"{path.name}, line {rows.line_num}: {len(row)} cells below {len(names)} names of columns. Put a cell that holds "
                        f"{separator!r} in quotes, or give each column a name."
                    )
        except csv.Error as error:
            raise UsageError(
                f"{path.name}, line {rows.line_num}: {error}. Close the quotes of its cells."
            ) from None


def _read_columns(path: Path, separator: str) -> list[str]:
    """The names of the columns; UsageError for one that stands twice."""
    with path.open("rb") as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            raise UsageError(f"{path.name} is UTF-16: save it as CSV in UTF-8.")
    head = pl.read_csv(path, separator=separator, has_header=False, infer_schema=False, n_rows=1)
    columns = [name or "" for name in head.row(0)]
    if twice := sorted({name for name in columns if name and columns.count(name) > 1}):
        raise UsageError(f"{path.name} has several columns named {', '.join(twice)}. Rename them.")
    return columns


def write_safe_csv(frame: pl.DataFrame, *, has_header: bool = True) -> str:
    """The frame as CSV that a spreadsheet does not run.

    No text of a paper, a candidate or a model becomes a formula there: texts and names of columns that a spreadsheet would run get an
    apostrophe in front, which keeps them texts (OWASP, CSV injection). Numbers stay as they are, `-1.5` as a text too. JSON and Parquet
    hold every text exactly, and who reads CSV takes the apostrophe away (`restore_text`).
    """
    names = pl.Series("names", frame.columns, dtype=pl.String).to_frame().select(_keep_text("names"))
    kinds = (pl.String, pl.Categorical, pl.Enum)
    texts = [name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if kind in kinds]
    safe = frame.with_columns(_keep_text(name) for name in texts)
    safe.columns = names["names"].to_list()
    return safe.write_csv(include_header=has_header)


def restore_text(text: str) -> str:
    """A text as it was before `write_safe_csv` kept it from being run."""
    return text[1:] if _KEPT_TEXT.match(text) else text


def _keep_text(name: str) -> pl.Expr:
    text = pl.col(name).cast(pl.String)
    is_run = text.str.contains(_RUN) & ~text.str.contains(_NUMBER)
    return pl.when(is_run | text.str.contains(_KEPT)).then("'" + text).otherwise(text).alias(name)
