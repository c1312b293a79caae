"""The panels of what scores would be by people, by a jury of all judges, and without form."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import PageData, read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("jury")
_CORRECTED = read_page("corrected")


def read_jury(source: Source) -> list[Panel]:
    """S corrected for the judge, the judges' weights, S by all, what form gets, S without it."""
    return [
        _read_scores(source, _CORRECTED, "corrected", "family_effects", "is_judged_apart"),
        _read_weights(source),
        _read_scores(source, _PAGE, "jury", "jury", "is_apart"),
        _read_style(source),
        _read_controlled(source),
    ]


def _read_latest(source: Source, query: str) -> pl.DataFrame:
    found = round_last_digits(source.run_named(query, source.shown))
    return found.filter(pl.col("month") == pl.col("month").max())


def _read_weights(source: Source) -> Panel:
    frame = _read_latest(source, "jury_weights")
    finding = None
    if frame.height:
        first = frame.row(0, named=True)
        finding = _PAGE.say("weights", first | {"percent": 100 * (first["weight"] or 0.0)})
    drawn = frame.filter(pl.col("weight").is_not_null())
    return _PAGE.panel("weights", frame, params=source.shown, finding=finding, drawn=drawn)


def _read_scores(source: Source, page: PageData, name: str, estimator: str, flag: str) -> Panel:
    """S of the last month beside another score, drawn by the estimator that everybody has."""
    frame = _read_latest(source, f"{name}_leaderboard")
    own = frame.filter(pl.col("estimator") == estimator).sort("score", descending=True)
    finding = None
    if own.height:
        apart = own.filter(pl.col(flag)).height
        finding = page.say(name, {"month": frame["month"][0], "all": own.height, "apart": apart})
    drawn = _lengthen_scores(own, name)
    return page.panel(name, frame, params=source.shown, finding=finding, drawn=drawn)


def _read_style(source: Source) -> Panel:
    frame = round_last_digits(source.read_shown("judge_style"))
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
    frame = _read_latest(source, "style_controlled_leaderboard")
    finding = None
    if frame.height:
        moved = frame.filter(pl.col("rank") != pl.col("controlled_rank")).height
        values = {"month": frame["month"][0], "all": frame.height, "moved": moved}
        finding = _PAGE.say("controlled", values | {"points": frame["style_points"].abs().max()})
    drawn = _lengthen_scores(frame.sort("score", descending=True), "controlled")
    return _PAGE.panel("controlled", frame, params=source.shown, finding=finding, drawn=drawn)


def _lengthen_scores(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """A row for S and one for the score of that name of each candidate, with its interval."""
    ends = {"score": ("score", "score", "score"), name: (f"{name}_score", f"{name}_low", f"{name}_high")}
    parts = [
        rows.with_row_index("place").select(
            "place", "model", measure=pl.lit(measure), value=value, low=low, high=high
        )
        for measure, (value, low, high) in ends.items()
    ]
    return pl.concat(parts).sort("place", maintain_order=True)
