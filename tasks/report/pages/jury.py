"""The panels of several judges as one jury, and of what judges give for form."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import lengthen_scores, round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("jury")


def read_jury(source: Source) -> list[Panel]:
    """Weights of the judges, S by all of them, what they give for form, and S without it."""
    return [_read_weights(source), _read_scores(source), _read_style(source), _read_controlled(source)]


def _read_weights(source: Source) -> Panel:
    found = round_last_digits(source.run_named("jury_weights", source.shown))
    frame = found.filter(pl.col("month") == pl.col("month").max())
    finding = None
    if frame.height:
        first = frame.row(0, named=True)
        finding = _PAGE.say("weights", first | {"percent": 100 * (first["weight"] or 0.0)})
    names = {name: words[1] for name, words in _PAGE.find_group(["disciplines", "fields"]).items()}
    drawn = frame.filter(pl.col("weight").is_not_null()).with_columns(
        field=pl.col("discipline").replace(names)
    )
    return _PAGE.panel("weights", frame, params=source.shown, finding=finding, drawn=drawn)


def _read_scores(source: Source) -> Panel:
    found = round_last_digits(source.run_named("jury_leaderboard", source.shown))
    frame = found.filter(pl.col("month") == pl.col("month").max())
    # The estimate that everybody has.
    own = frame.filter(pl.col("estimator") == "jury").sort("score", descending=True)
    finding = None
    if own.height:
        apart = own.filter(pl.col("is_apart")).height
        finding = _PAGE.say("jury", {"month": frame["month"][0], "all": own.height, "apart": apart})
    return _PAGE.panel(
        "jury", frame, params=source.shown, finding=finding, drawn=lengthen_scores(own, "jury")
    )


def _read_style(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("judge_style", {}))
    known = frame.filter(pl.col("effect").is_not_null())
    months = known.filter(pl.col("occasion") != "first")["occasion"]
    drawn = known.filter(pl.col("occasion") == (months.max() or "first"))
    finding = None
    if drawn.height:
        largest = drawn.filter(pl.col("is_found")).sort(pl.col("effect_of_sd").abs(), descending=True)
        if largest.height:
            row = largest.row(0, named=True)
            finding = _PAGE.say("style", row | {"feature": _PAGE.name(row["feature"], "features")})
        else:
            finding = _PAGE.say("no_style", {"count": drawn["pair_count"].max()})
    return _PAGE.panel("style", frame, finding=finding, drawn=drawn)


def _read_controlled(source: Source) -> Panel:
    found = round_last_digits(source.run_named("style_controlled_leaderboard", source.shown))
    frame = found.filter(pl.col("month") == pl.col("month").max())
    finding = None
    if frame.height:
        moved = frame.filter(pl.col("rank") != pl.col("controlled_rank")).height
        values = {"month": frame["month"][0], "all": frame.height, "moved": moved}
        finding = _PAGE.say("controlled", values | {"points": frame["style_points"].abs().max()})
    drawn = lengthen_scores(frame.sort("score", descending=True), "controlled")
    return _PAGE.panel("controlled", frame, params=source.shown, finding=finding, drawn=drawn)
