"""What the code of the pages shares."""

from __future__ import annotations

import polars as pl


def round_last_digits(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows without their last digits, which threads make different each time."""
    return frame.with_columns(pl.col(pl.Float64).round(9))
