"""Frames as CSV that a spreadsheet can open.

No text of a paper, a candidate or a model becomes a formula there.

A text that a spreadsheet would run gets an apostrophe in front, which keeps it a text (OWASP, CSV injection). Numbers stay as
they are, `-1.5` as a text too. JSON and Parquet hold every text exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

# Spreadsheets of East Asia also read the wide forms; a tab or a carriage return may end the cell before it.
_RUN: Final = r"^(?:[\s\x{feff}]*[=+\-@＝＋－＠]|[\t\r])"
_NUMBER: Final = r"^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?%?\s*$"


def write_safe_csv(frame: pl.DataFrame, *, has_header: bool = True) -> str:
    """The frame as CSV that a spreadsheet does not run.

    Texts and names of columns that a spreadsheet would run get an apostrophe in front.
    """
    import polars as pl

    names = pl.Series("names", frame.columns, dtype=pl.String).to_frame().select(_keep_text("names"))
    kinds = (pl.String, pl.Categorical, pl.Enum)
    texts = [name for name, kind in zip(frame.columns, frame.dtypes, strict=True) if kind in kinds]
    safe = frame.with_columns(_keep_text(name) for name in texts)
    safe.columns = names["names"].to_list()
    return safe.write_csv(include_header=has_header)


def _keep_text(name: str) -> pl.Expr:
    import polars as pl

    text = pl.col(name).cast(pl.String)
    is_run = text.str.contains(_RUN) & ~text.str.contains(_NUMBER)
    return pl.when(is_run).then("'" + text).otherwise(text).alias(name)
