"""What the code of the pages shares."""

from __future__ import annotations

import polars as pl


def round_last_digits(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows without their last digits, which threads make different each time."""
    return frame.with_columns(pl.col(pl.Float64).round(9))


def lengthen_scores(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """A row for S and one for the score of that name of each candidate, with its interval."""
    ends = {"score": ("score", "score", "score"), name: (f"{name}_score", f"{name}_low", f"{name}_high")}
    parts = [
        rows.with_row_index("place").select(
            "place", "model", measure=pl.lit(measure), value=value, low=low, high=high
        )
        for measure, (value, low, high) in ends.items()
    ]
    return pl.concat(parts).sort("place", maintain_order=True)
