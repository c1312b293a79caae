"""The page of costs: month by month, by model, and for each point of S."""

from __future__ import annotations

import polars as pl

from tasks.report.page_data import read_page
from tasks.report.pages.common import round_last_digits
from tasks.report.panels import Panel, Source

_PAGE = read_page("cost")
ABOUT = _PAGE.about


def read_cost(source: Source) -> list[Panel]:
    """The panels of the page, in order."""
    return [_read_points(source), _read_months(source), _read_models(source)]


def _read_points(source: Source) -> Panel:
    frame = round_last_digits(source.run_named("cost_per_point", source.shown))
    efficient = frame.filter(pl.col("is_efficient"))
    finding = None
    if efficient.height:
        best = efficient.sort("score", descending=True)
        names = best["model"].head(5).to_list()
        finding = _PAGE.say("points", best.row(0, named=True) | {"names": names})
    return _PAGE.panel(
        "points", frame, params=source.shown, finding=finding, drawn=frame if finding is not None else None
    )


def _read_months(source: Source) -> Panel:
    frame = round_last_digits(source.read_shown("cost_by_month"))
    finding = None
    if frame.height:
        totals = frame.group_by("month").agg(pl.col("cost_usd").sum()).sort("month")
        values = {"count": totals.height, "total": totals["cost_usd"].sum()}
        finding = _PAGE.say("months", totals.row(-1, named=True) | values)
    return _PAGE.panel("months", frame, finding=finding, drawn=frame)


def _read_models(source: Source) -> Panel:
    frame = round_last_digits(source.read_shown("cost_by_model"))
    finding = None
    if frame.height:
        totals = (
            frame.group_by("model")
            .agg(pl.col("cost_usd").sum())
            .sort(["cost_usd", "model"], descending=[True, False])
        )
        most, total = totals.row(0, named=True), totals["cost_usd"].sum()
        finding = _PAGE.say("models", most | {"share": most["cost_usd"] / total * 100 if total else 0})
        frame = frame.join(totals.rename({"cost_usd": "total"}), on="model").sort(
            ["total", "model", "purpose"], descending=[True, False, False]
        )
    return _PAGE.panel("models", frame.drop("total", strict=False), finding=finding, drawn=frame)
