"""The page of trends.

It shows them over months, by family and by release date, and beside other benchmarks.
"""

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
    return [
        _show_months(source),
        _show_improvement(source),
        _show_families(source),
        _show_release(source),
        _show_external(source),
    ]


def _show_months(source: Source) -> Panel:
    frame = source.run_named("monthly_trend", source.shown)
    finding, shown = None, choose_trend_models(frame)
    if frame.height:
        months = sorted(set(frame["month"]))
        latest = frame.filter(month=months[-1])
        moved = int(latest["is_change_certain"].fill_null(value=False).sum())
        finding = (
            f"{months[0]} 到 {months[-1]} 共 {len(months)} 个月；最近一月 {latest.height} 个模型中有 {moved} 个的变化超出误差。",
            f"{len(months)} months from {months[0]} to {months[-1]}; in the last, {moved} of {latest.height} candidates moved by more than "
            "the error.",
        )
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
    "score_change_low", "score_change_high", "is_change_certain",
)  # fmt: skip


def _show_improvement(source: Source) -> Panel:
    frame = source.run_named("improvement_since", source.shown)
    finding = None
    if frame.height:
        better, worse = (
            frame.filter(verdict=verdict)["model"].to_list() for verdict in ("improved", "got worse")
        )
        finding = (
            f"超出误差的：进步 {_list_names(better, '、', '无')}；退步 {_list_names(worse, '、', '无')}。",
            f"By more than noise: improved {_list_names(better, ', ', 'none')}; got worse {_list_names(worse, ', ', 'none')}.",
        )
    return _PAGE.panel("improvement", frame, params=source.shown, finding=finding)


def _list_names(names: list[str], separator: str, none: str) -> str:
    return separator.join(names) if names else none


def _show_families(source: Source) -> Panel:
    frame = source.run_named("family_trajectories", source.shown)
    finding = None
    steps = frame.filter(pl.col("score_step").is_not_null()).sort("score_step", descending=True)
    if steps.height:
        best = steps.row(0, named=True)
        finding = (
            f"最大的一步：{best['previous_model']} 到 {best['model']}，{best['score_step']:+.1f} 分。",
            f"The largest step: from {best['previous_model']} to {best['model']}, {best['score_step']:+.1f} points.",
        )
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
        newest = leaders.row(-1, named=True)
        fitted = _describe_curve(curve)
        finding = (
            f"按发布日期先后，{leaders.height} 个模型刷新了最高分，最近一个是 {newest['model']}（{newest['score']:.1f}）。{fitted[0]}",
            f"In order of release {leaders.height} candidates raised the best score, last {newest['model']} ({newest['score']:.1f}). {fitted[1]}".strip(),
        )  # fmt: skip
    return _PAGE.panel(
        "release",
        frame.sort("release_date", "model", descending=[True, False]),
        params=source.shown,
        finding=finding,
        draw=(lambda language: draw_release(frame, curve, language)) if frame.height else None,
    )


def _describe_curve(curve: Any) -> Words:
    if curve is None:
        return ("", "")
    zh, en = LABELS[f"curve_{curve.kind}"]
    explained = "" if curve.r_squared is None else f"R² = {curve.r_squared:.2f}, "
    return (
        f"拟合{zh}（{explained}n = {curve.point_count}）。",
        f"Fitted: {en} ({explained}n = {curve.point_count}).",
    )


def _show_external(source: Source) -> Panel:
    frame = compute_external_correlations(source.run_named("external_pairs", source.shown))
    return _PAGE.panel("external", frame, params=source.shown)
