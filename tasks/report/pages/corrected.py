"""The panel of corrected scores: what S would be if people had judged."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("corrected")


def read_corrected(source: Source) -> Panel:
    """S of the last month that has ratings beside S corrected for the judge."""
    found = round_last_digits(source.run_named("corrected_leaderboard", source.shown))
    frame = found.filter(pl.col("month") == pl.col("month").max())
    # The estimator that everybody has.
    drawn = frame.filter(pl.col("estimator") == "family_effects").sort("score", descending=True)
    finding = None
    if drawn.height:
        apart = drawn.filter(pl.col("is_judged_apart")).height
        values = {"month": frame["month"][0], "all": drawn.height, "apart": apart}
        finding = _PAGE.say("corrected", values)
    return _PAGE.panel("corrected", frame, params=source.shown, finding=finding, drawn=_lengthen(drawn))


def _lengthen(rows: pl.DataFrame) -> pl.DataFrame:
    """A row for S and one for the corrected score of each candidate."""
    ends = {"score": ("score", "score", "score"), "corrected": ("corrected_score", "corrected_low", "corrected_high")}  # fmt: skip
    parts = [
        rows.with_row_index("place").select(
            "place", "model", measure=pl.lit(name), value=value, low=low, high=high
        )
        for name, (value, low, high) in ends.items()
    ]
    return pl.concat(parts).sort("place", maintain_order=True)
