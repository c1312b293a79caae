"""The page of trends: by month, family and release date, and beside other benchmarks."""

from __future__ import annotations

from typing import Any

import polars as pl

from tasks.report.charts import choose_trend_models, draw_families, draw_release, draw_trend
from tasks.report.labels import LABELS
from tasks.report.page_data import read_page
from tasks.report.panels import Panel, Source
from tasks.statistics import compute_external_correlations, fit_curve
from tasks.texts import Words

_PAGE = read_page("trends")
ABOUT = _PAGE.about


def read_trends(source: Source) -> list[Panel]:
    """The panels of the page."""
    external = compute_external_correlations(source.run_named("external_pairs", source.shown))
    return [
        _show_months(source),
        _show_improvement(source),
        _show_families(source),
        _show_release(source),
        _PAGE.panel("external", external, params=source.shown),
        _show_names(source),
    ]


def _show_months(source: Source) -> Panel:
    frame = source.run_named("monthly_trend", source.shown)
    finding, shown = None, choose_trend_models(frame)
    if frame.height:
        months = sorted(set(frame["month"]))
        latest = frame.filter(month=months[-1])
        moved = int(latest["is_change_certain"].fill_null(value=False).sum())
        values = {"first": months[0], "last": months[-1], "count": len(months)}
        finding = _PAGE.say("months", values | {"candidates": latest.height, "moved": moved})
    cut = LABELS["shown_best"] if frame["model"].n_unique() > len(shown) else ("", "")
    about = LABELS["trend_about"]
    # Rows that nobody reads one by one are not drawn as a table.
    unread: dict[str, Any] = {} if frame.height <= _READ_ROWS else {"cells": ()}
    return _PAGE.panel(
        "months",
        frame.select(_MONTH_COLUMNS)
        .with_columns(pl.selectors.float().round(2))
        .sort(["month", "rank", "model"], descending=[True, False, False]),
        about=(
            f"{about[0]}{cut[0].format(count=len(shown))}",
            f"{about[1]} {cut[1].format(count=len(shown))}".strip(),
        ),
        params=source.shown,
        **unread,
        finding=finding,
        draw=lambda language: draw_trend(frame, language),
    )


_READ_ROWS = 400
_MONTH_COLUMNS = (
    "month", "model", "score", "score_low", "score_high", "rank", "score_change",
    "score_change_low", "score_change_high", "is_change_certain", "marks",
)  # fmt: skip


def _show_improvement(source: Source) -> Panel:
    frame = source.run_named("improvement_since", source.shown)
    finding = None
    if frame.height:
        better, worse = (
            frame.filter(verdict=verdict)["model"].to_list() for verdict in ("improved", "got worse")
        )
        none = ("无", "none")
        finding = _PAGE.say("improvement", {"better": better or none, "worse": worse or none})
    return _PAGE.panel("improvement", frame, params=source.shown, finding=finding)


def _show_families(source: Source) -> Panel:
    frame = source.run_named("family_trajectories", source.shown)
    finding = None
    steps = frame.filter(pl.col("score_step").is_not_null()).sort("score_step", descending=True)
    if steps.height:
        finding = _PAGE.say("families", steps.row(0, named=True))
    return _PAGE.panel(
        "families",
        frame,
        params=source.shown,
        finding=finding,
        draw=None if finding is None else lambda language: draw_families(frame, language),
    )


def _show_release(source: Source) -> Panel:
    frame = source.run_named("score_by_release_date", source.shown)
    curve = fit_curve(frame["release_date"].to_list(), frame["score"].to_list())
    finding = None
    if frame.height:
        leaders = frame.filter("is_best_so_far").sort("release_date")
        values = {"count": leaders.height, "fitted": _describe_curve(curve)}
        zh, en = _PAGE.say("release", leaders.row(-1, named=True) | values)
        finding = zh, en.strip()
    return _PAGE.panel(
        "release",
        frame.sort("release_date", "model", descending=[True, False]),
        params=source.shown,
        finding=finding,
        draw=(lambda language: draw_release(frame, curve, language)) if frame.height else None,
    )


def _show_names(source: Source) -> Panel:
    frame = source.read_shown("answering_models")
    changed = frame.filter("is_new")
    finding = None
    if changed.height:
        said = [_PAGE.say("change", row) for row in changed.sort("first_at", descending=True).to_dicts()]
        finding = _PAGE.say(
            "named", {"changes": tuple(", ".join(words) for words in zip(*said, strict=True))}
        )
    latest = frame.filter(pl.col("is_new") | (pl.col("month") == pl.col("month").max()))
    return _PAGE.panel("named", latest, finding=finding)


def _describe_curve(curve: Any) -> Words:
    if curve is None:
        return ("", "")
    explained = "" if curve.r_squared is None else f"R² = {curve.r_squared:.2f}, "
    values = {"kind": LABELS[f"curve_{curve.kind}"], "explained": explained, "count": curve.point_count}
    return _PAGE.say("fitted", values)
