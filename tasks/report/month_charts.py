"""The figures over months: an axis of time on which a month without a row is a gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from schemas.lazy import alt
from tasks.report.axes import Axis, Group
from tasks.report.charts import inline_rows, label_months, list_months
from tasks.report.labels import Language
from tasks.report.panel_charts import paint, round_value
from tasks.report.panels import Draw


def month_lines(frame: pl.DataFrame, *, value: Axis, series: Group, dashed: str = "") -> Draw:
    """A line for each series over the months of `month` (YYYY-MM), on an axis of time.

    A month without a row is a gap.

    `dashed`, a column of booleans, gives its rows a broken line.
    """
    gapless = fill_gaps(frame, [*filter(None, (series.column, dashed))], value.column)

    def draw(language: Language) -> Any:
        rows: list[dict[str, Any]] = [
            {
                "month": f"{row['month']}-01T00:00",
                "value": round_value(row[value.column]),
                "series": series.name(row, language),
                "dashed": bool(row[dashed]) if dashed else False,
            }
            for row in gapless.iter_rows(named=True)
        ]
        kinds = list(dict.fromkeys(row["series"] for row in rows))
        base = alt.Chart(inline_rows(rows)).encode(
            x=_month_axis([row["month"] for row in rows]),
            y=alt.Y(
                "value:Q",
                title=value.write_title(language),
                scale=alt.Scale(zero=value.from_zero, nice=True),
                axis=alt.Axis(format=value.format),
            ),
            color=paint(kinds),
            tooltip=[
                alt.Tooltip("month:T", format="%Y-%m", title=" "),
                alt.Tooltip("value:Q", title=" ", format=value.format),
                "series:N",
            ],
        )
        lines = base.mark_line(strokeWidth=2, invalid="break-paths-show-path-domains")
        if dashed:
            lines = lines.encode(
                strokeDash=alt.StrokeDash(
                    "dashed:N", scale=alt.Scale(domain=[False, True], range=[[1, 0], [5, 4]]), legend=None
                )
            )
        points = base.mark_point(filled=True, size=45, opacity=1, invalid="filter")
        return alt.layer(lines, points).properties(height=280)

    return draw


def month_bars(frame: pl.DataFrame, *, value: Axis, series: Group) -> Draw:
    """A bar for each month of `month` (YYYY-MM) on an axis of time.

    Its parts by series are stacked one on top of the other.
    """

    def draw(language: Language) -> Any:
        rows: list[dict[str, Any]] = [
            {
                "month": f"{row['month']}-01T00:00",
                "value": round_value(row[value.column]),
                "series": series.name(row, language),
            }
            for row in frame.iter_rows(named=True)
        ]
        kinds = list(dict.fromkeys(row["series"] for row in rows))
        return (
            alt.Chart(inline_rows(rows))
            .mark_bar()
            .encode(
                x=_month_axis([row["month"] for row in rows], is_band=True),
                y=alt.Y("sum(value):Q", title=value.write_title(language)),
                color=paint(kinds),
                tooltip=[alt.Tooltip("month:T", format="%Y-%m", title=" "), "series:N", "value:Q"],
            )
            .properties(height=280)
        )

    return draw


def fill_gaps(frame: pl.DataFrame, series: Sequence[str], value: str) -> pl.DataFrame:
    """The rows, with an empty one for each missing month within a series."""
    kept = frame.select("month", *series, value)
    parts = kept.partition_by(*series, maintain_order=True) if series else [kept]
    filled = []
    for part in parts:
        months = pl.DataFrame({"month": list_months(part["month"].min(), part["month"].max())})  # type: ignore[arg-type]
        filled.append(
            months.join(part, on="month", how="left")
            .with_columns(pl.lit(part[name][0]).alias(name) for name in series)
            .select(kept.columns)
        )
    return pl.concat(filled) if filled else kept


def _month_axis(months: Sequence[str], *, is_band: bool = False) -> Any:
    """A real axis of time without a zone, with so many labels as fit."""
    axis = label_months(months)
    if is_band:
        return alt.X("yearmonth(month):T", title=None, axis=axis)
    return alt.X("month:T", title=None, axis=axis, scale=alt.Scale(padding=20))
