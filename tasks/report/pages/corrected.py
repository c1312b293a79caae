"""The panel of corrected scores: what S would be if people had judged."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import lengthen_scores, round_last_digits
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
    return _PAGE.panel(
        "corrected", frame, params=source.shown, finding=finding, drawn=lengthen_scores(drawn, "corrected")
    )
