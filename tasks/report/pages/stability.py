"""The page of stability: order and scores under other or fewer questions, or another style."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import COMMON_WORDS, read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("stability")
ABOUT = _PAGE.about


def read_stability(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [_read_order(source), _read_resamples(source), _read_draws(source), _read_styles(source)]


def _read_order(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("rating_stability", source.shown))
    finding = None
    by_score = frame.filter((pl.col("method") == "score") & pl.col("spearman").is_not_null())
    if by_score.height:
        sizes = by_score.sort("sample_size").select("sample_size", "spearman")
        ends = [*sizes.row(0), *sizes.row(-1)]
        names = ("small", "small_spearman", "large", "large_spearman")
        finding = _PAGE.say("order", dict(zip(names, ends, strict=True)))
    return _PAGE.panel(
        "order",
        frame,
        params=source.shown,
        finding=finding,
        drawn=frame.filter(pl.col("set_id") == frame["set_id"][0]) if finding is not None else None,
    )


def _read_resamples(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("repeat_stability", source.shown)).with_columns(
        low=pl.col("score_mean") - 1.96 * pl.col("score_variance").sqrt(),
        high=pl.col("score_mean") + 1.96 * pl.col("score_variance").sqrt(),
    )
    finding = None
    if (known := frame.filter(pl.col("score_variance").is_not_null())).height:
        widest = known.sort("score_variance", descending=True).row(0, named=True)
        finding = _PAGE.say("resamples", widest | {"deviation": widest["score_variance"] ** 0.5})
    return _PAGE.panel(
        "resamples",
        frame.drop("low", "high"),
        params=source.shown,
        finding=finding,
        drawn=frame.filter(pl.col("set_id") == frame["set_id"][0]) if frame.height else None,
    )


def _read_draws(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("draw_stability", source.shown))
    long = (
        frame.select("model", "scores").explode("scores").rename({"scores": "score"})
        if frame.height
        else frame.select("model")
    )
    finding = None
    if (known := frame.filter(pl.col("score_variance").is_not_null())).height:
        observed, expected = known["score_variance"].mean(), known["expected_score_variance"].mean()
        if isinstance(observed, float) and isinstance(expected, float):
            finding = _PAGE.say("draws", {"observed": observed, "expected": expected})
    return _PAGE.panel("draws", frame, params=source.shown, finding=finding, drawn=long)


def _read_styles(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("style_stability", source.shown))
    columns = {f"{style}_score": style for style in COMMON_WORDS["styles"]}
    long = (
        frame.unpivot(on=list(columns), index="model", variable_name="style", value_name="score")
        .with_columns(pl.col("style").replace(columns))
        .filter(pl.col("score").is_not_null())
    )
    finding = None
    if (known := frame.filter(pl.col("style_count") > 1)).height:
        widest = known.sort("style_variance", descending=True).row(0, named=True)
        middle = float(known.select(pl.col("style_variance").median()).item())
        finding = _PAGE.say("styles", widest | {"middle": middle})
    return _PAGE.panel(
        "styles",
        frame,
        params=source.shown,
        finding=finding,
        drawn=long.join(frame.select("model").with_row_index("place"), on="model").sort("place")
        if finding is not None
        else None,
    )
