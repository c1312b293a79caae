"""The page of trends: over months, by family and by release date, and beside other benchmarks."""

from __future__ import annotations

from typing import Any

import polars as pl

from tasks.report.charts import choose_trend_models, draw_families, draw_release, draw_trend
from tasks.report.labels import LABELS
from tasks.report.pages.common import INTERVAL, MODEL, MONTH
from tasks.report.panels import Cell, Panel, Source, Words
from tasks.statistics import compute_external_correlations, fit_curve

ABOUT: Words = (
    "分数怎样随月份、系列和发布日期变化。没有考试的月份是空档，线不越过它。",
    "How scores move over months, within families and with the release date. A month without a session is a gap that no line crosses.",
)
_FILLED_BY = ("proctor publish",)
_VERDICTS = {
    "improved": ("进步", "improved"),
    "got worse": ("退步", "got worse"),
    "no more than noise": ("不超出误差", "no more than noise"),
    "no error is known": ("误差未知", "no error is known"),
}


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
    return Panel(
        name="months",
        title=LABELS["trend"],
        about=(
            f"{about[0]}{cut[0].format(count=len(shown))}",
            f"{about[1]} {cut[1].format(count=len(shown))}".strip(),
        ),
        query="monthly_trend",
        params=source.shown,
        frame=frame.select(_MONTH_COLUMNS)
        .with_columns(pl.selectors.float().round(2))
        .sort(["month", "rank", "model"], descending=[True, False, False]),
        # The table of sixty candidates and three years would be longer than anybody reads: the CSV has it all.
        cells=_MONTH_CELLS if frame.height <= _READ_ROWS else (),
        finding=finding,
        draw=lambda language: draw_trend(frame, language),
        filled_by=_FILLED_BY,
        is_folded=True,
    )


_READ_ROWS = 400
_MONTH_COLUMNS = (
    "month", "model", "score", "score_low", "score_high", "rank", "score_change",
    "score_change_low", "score_change_high", "is_change_certain",
)  # fmt: skip
_MONTH_CELLS = (
    MONTH,
    MODEL,
    Cell("score", LABELS["score"], "number"),
    Cell("score_low", INTERVAL, "interval", 1, high="score_high"),
    Cell("score_change", ("较上次", "Change"), "number"),
    Cell("score_change_low", INTERVAL, "interval", 1, high="score_change_high"),
    Cell("is_change_certain", LABELS["change_certain"], "flag"),
)


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
    return Panel(
        name="improvement",
        title=("从第一个月到最近一个月", "From the first month to the latest"),
        about=(
            "每个模型第一次与最近一次的 S 之差及 95% 区间；p 按全部模型作 Holm 校正。",
            "S of each candidate's latest month less that of its first, with the 95% interval; p corrected over all candidates (Holm).",
        ),
        query="improvement_since",
        params=source.shown,
        frame=frame,
        cells=(
            MODEL,
            Cell("from_month", ("从", "From")),
            Cell("to_month", ("到", "To")),
            Cell("from_score", ("起始 S", "S then"), "number", 1),
            Cell("to_score", ("最近 S", "S now"), "number", 1),
            Cell("change", ("变化", "Change"), "number"),
            Cell("change_low", INTERVAL, "interval", 1, high="change_high"),
            Cell("p_holm", LABELS["p_holm"], "p"),
            Cell("verdict", LABELS["verdict"], "word", words=_VERDICTS),
            Cell("equated_change", ("等值分变化", "Equated change"), "number"),
        ),
        finding=finding,
        filled_by=_FILLED_BY,
        is_folded=True,
    )


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
    return Panel(
        name="families",
        title=("各系列的走向", "Families"),
        about=(
            "每个系列各成员最近一次的 S，按发布日期排列，及与前一成员之差；线连接当时系列中最好的成员。",
            "The latest S of each member of a family in order of release, and the step from the member before it. The line joins the members "
            "that were the best of their family when they came.",
        ),
        query="family_trajectories",
        params=source.shown,
        frame=frame,
        cells=(
            Cell("family", LABELS["family"]),
            MODEL,
            Cell("mode", LABELS["mode"]),
            Cell("release_date", LABELS["release_date"]),
            MONTH,
            Cell("score", LABELS["score"], "number"),
            Cell("previous_model", ("前一成员", "Member before")),
            Cell("score_step", ("之差", "Step"), "number"),
            Cell("days_since_previous", ("相隔天数", "Days between"), "count"),
        ),
        finding=finding,
        draw=None if finding is None else lambda language: draw_families(frame, language),
        filled_by=_FILLED_BY,
        is_folded=True,
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
    return Panel(
        name="release",
        title=LABELS["release"],
        about=LABELS["release_about"],
        query="score_by_release_date",
        params=source.shown,
        frame=frame.sort("release_date", "model", descending=[True, False]),
        cells=(
            Cell("release_date", LABELS["release_date"]),
            MODEL,
            Cell("family", LABELS["family"]),
            Cell("score", LABELS["score"], "number"),
            MONTH,
            Cell("is_best_so_far", ("当时最高", "best until then"), "flag"),
        ),
        finding=finding,
        draw=(lambda language: draw_release(frame, curve, language)) if frame.height else None,
        filled_by=("proctor evaluate", *_FILLED_BY),
        is_folded=True,
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
    return Panel(
        name="external",
        title=LABELS["external"],
        about=(
            "最近一月的 S 与其他评测分数的 Spearman 秩相关。",
            "Spearman's rank correlation of S of the latest month with the scores of other benchmarks.",
        ),
        query="external_pairs",
        params=source.shown,
        frame=frame,
        cells=(
            Cell("benchmark", LABELS["benchmark"]),
            Cell("spearman_rho", LABELS["spearman_rho"], "number", 3),
            Cell("p_value", LABELS["p_value"], "p"),
            Cell("candidate_count", LABELS["candidate_count"], "count"),
        ),
        filled_by=("proctor import external",),
    )
