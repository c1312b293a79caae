"""The page of contamination, in three parts.

It shows what candidates know by heart, what having met a question gains, and how far the bank is spread. No organisation is
named: who has met what is for those who may see it (`proctor contamination leaks`, `organisation_exposure`).
"""

from __future__ import annotations

import polars as pl

from tasks.contamination import find_leaks
from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("contamination")
ABOUT = _PAGE.about

# A candidate that recalls more than this, by the lower end of its interval, has read the questions (docs/contamination.md).
_FALSE_ALARM_PERCENT = 5


def read_contamination(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [_read_recall(source), _read_leaks(source), _read_pooling(source), _read_forecast(source)]


def _read_recall(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("contamination_recall", source.shown)).with_columns(
        is_flagged=pl.col("recalled_low") > _FALSE_ALARM_PERCENT
    )
    finding = None
    if frame.height:
        ours = frame.filter(pl.col("source") == "bank")
        flagged = ours.filter(pl.col("is_flagged"))["model"].unique().sort().to_list()
        values = {"models": flagged, "count": ours["model"].n_unique()}
        finding = _PAGE.say("recall" if flagged else "no_recall", values)
    return _PAGE.panel(
        "recall",
        frame,
        params=source.shown,
        finding=finding,
        drawn=frame.sort("recalled_rate", descending=True),
    )


def _read_leaks(source: Source) -> Panel:
    rows = source.run_named("leak_rows", source.shown)
    frame = _watch_leaks(rows)
    finding = None
    if frame.height:
        counts = {"found": int(frame["is_found"].sum()), "tested": frame["gain"].count()}
        finding = _PAGE.say("leaks", counts)
    return _PAGE.panel(
        "leaks", frame, params=source.shown, finding=finding, drawn=frame.filter(pl.col("gain").is_not_null())
    )


_LEAKS = {
    "place": pl.Int64, "question_count": pl.Int64, "met_count": pl.Int64, "gain": pl.Float64, "gain_low": pl.Float64,
    "gain_high": pl.Float64, "p_value": pl.Float64, "least_found": pl.Float64, "is_found": pl.Boolean,
}  # fmt: skip


def _watch_leaks(rows: pl.DataFrame) -> pl.DataFrame:
    """The leak watch with numbers for organisations, the largest gain first."""
    found = [] if rows.is_empty() else find_leaks(rows)
    ordered = sorted(found, key=lambda row: (row["gain"] is None, -(row["gain"] or 0)))
    return round_last_digits(
        pl.DataFrame(
            [
                {
                    "place": place,
                    **{name: row[name] for name in ("question_count", "met_count", "gain", "p_value")},
                    "gain_low": None if row["gain"] is None else row["gain"] - 1.96 * row["gain_se"],
                    "gain_high": None if row["gain"] is None else row["gain"] + 1.96 * row["gain_se"],
                    "least_found": row["least_found"],
                    "is_found": row["is_found"],
                }
                for place, row in enumerate(ordered, start=1)
            ],
            schema=_LEAKS,
        )
    )


def _read_pooling(source: Source) -> Panel:
    frame, params = read_kind(source, "pooling_risk")
    finding = None
    if frame.height:
        last = frame.row(-1, named=True)
        shares = {"expected": last["expected_share"] * 100, "at_most": last["at_most_share"] * 100}
        finding = _PAGE.say("pooling", last | shares)
    drawn = frame.unpivot(
        on=["expected_share", "at_most_share"], index="k", variable_name="measure", value_name="share"
    )
    return _PAGE.panel("pooling", frame, params=params, finding=finding, drawn=drawn)


def _read_forecast(source: Source) -> Panel:
    frame, params = read_kind(source, "pooling_forecast")
    frame = frame.filter(pl.col("pooled_share").is_finite())  # without a bank there is nothing to share
    finding = None
    if frame.height:
        now = frame.filter(~pl.col("is_forecast")).row(-1, named=True)
        half = frame.filter(pl.col("pooled_share") >= 0.5)["month"]
        is_half = now["pooled_share"] >= 0.5
        which = "half_since" if is_half else "half_by" if half.len() else "half_never"
        when = _PAGE.say(which, {"month": half[0] if half.len() else None})
        finding = _PAGE.say("forecast", now | {"share": now["pooled_share"] * 100, "half": when})
    return _PAGE.panel(
        "forecast",
        frame,
        params=params,
        finding=finding,
        drawn=frame.with_columns(series=pl.lit("all"), part=pl.col("is_forecast").cast(pl.String)),
    )


def read_kind(source: Source, query: str) -> tuple[pl.DataFrame, dict[str, object]]:
    """The rows of a query of real runs, or of simulated ones where none is real."""
    first, second = (True, False) if source.include_simulated else (False, True)
    frame = round_last_digits(source.run_named(query, {"simulated": first}))
    # Some of these queries have a row for each discipline of the bank, whether or not anybody has sat.
    is_bare = frame.is_empty() or (
        "organisation_count" in frame.columns and not frame["organisation_count"].sum()
    )
    if is_bare and source.include_simulated is None:
        return round_last_digits(source.run_named(query, {"simulated": second})), {"simulated": second}
    return (frame.clear() if is_bare else frame), {"simulated": first}
