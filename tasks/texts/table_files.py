"""Tables that others made, as files: CSV, TSV, JSON lines, Parquet."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemas.errors import UsageError

if TYPE_CHECKING:
    import polars as pl

_SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_SUFFIXES: Final = (*_SEPARATORS, ".jsonl", ".ndjson", ".parquet")


def read_table(path: Path, *, as_text: bool | Collection[str] = False) -> pl.DataFrame:
    """The file's texts and numbers as they stand; UsageError where unreadable or empty.

    What is no number (NaN) among numbers is an empty cell. With `as_text` cells of CSV and TSV, or those of the columns that it names,
    stay the texts that are written there: 4.10 and 007 are names.
    """
    import polars as pl

    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(f"{path.name} is none of {', '.join(_SUFFIXES)}: save it as one of them.")
    try:
        if suffix in _SEPARATORS:
            named = as_text if not isinstance(as_text, bool) else ()
            columns = pl.read_csv(path, separator=_SEPARATORS[suffix], infer_schema=False, n_rows=0).columns
            frame = pl.read_csv(
                path,
                separator=_SEPARATORS[suffix],
                infer_schema=as_text is not True,
                infer_schema_length=None,
                schema_overrides={name: pl.String for name in columns if name in named},
            )
        elif suffix == ".parquet":
            frame = pl.read_parquet(path)
        else:
            frame = pl.read_ndjson(path, infer_schema_length=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UsageError(
            f"{path.name} cannot be read ({type(error).__name__}). Check that it is there, is what its suffix says, and has one line "
            "of column names; CSV is UTF-8."
        ) from None
    if frame.is_empty():
        raise UsageError(f"{path.name} holds no row.")
    return frame.with_columns(pl.selectors.float().fill_nan(None))
