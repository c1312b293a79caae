"""The plots of the report: Vega-Lite charts turned into SVG on this machine, without a browser or a network."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from schemas.vocabulary import DISCIPLINES, EXAMINED_DISCIPLINES
from tasks.report.labels import Language, label
from tasks.statistics.curve import Curve

if TYPE_CHECKING:
    import altair as alt

FONT = "Noto Sans, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
TREND_CANDIDATES = 12  # more lines than this cannot be told apart
NAMED_POINTS = 24  # with more points only the record holders are named
# Okabe and Ito's palette, which colour-blind readers can tell apart, and four darker ones for the rest.
PALETTE = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    "#555555", "#7A5195", "#8C510A", "#1B7837", "#B2182B", "#A6A600",
]  # fmt: skip


def render_heatmap(frame: pl.DataFrame, language: Language) -> str:
    """SVG of candidates x disciplines.

    Takes the rows of `discipline_heatmap`: model, rank, discipline, discipline_score (0 to 10).
    """
    import altair as alt

    order = [name for name in (*EXAMINED_DISCIPLINES, *DISCIPLINES) if name in set(frame["discipline"])]
    order = list(dict.fromkeys(order))
    data = frame.select(
        "model",
        "rank",
        pl.col("discipline").map_elements(lambda name: label(name, language), return_dtype=pl.String),
        pl.col("discipline_score").round(2),
    ).to_dicts()
    models = frame.sort("rank", "model")["model"].unique(maintain_order=True).to_list()
    base = alt.Chart(inline_rows(data)).encode(
        x=alt.X(
            "discipline:N",
            sort=[label(name, language) for name in order],
            title=None,
            axis=alt.Axis(
                orient="top",
                labelAngle=-30 if language == "en" else 0,
                labelAlign="left" if language == "en" else "center",
            ),
        ),
        y=alt.Y("model:N", sort=models, title=None),
    )
    # Viridis keeps its order in grey print; the text turns light where the cell is dark.
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "discipline_score:Q",
            scale=alt.Scale(scheme="viridis", domain=[0, 10]),
            title=label("discipline_score", language),
        )
    )
    values = base.mark_text(fontSize=11).encode(
        text=alt.Text("discipline_score:Q", format=".2f"),
        color=alt.condition("datum.discipline_score < 6", alt.value("white"), alt.value("black")),
    )
    return render_svg(
        (cells + values).properties(width=84 * len(order), height=max(26 * len(models), 60)),
        "heat" + language,
    )


def render_trend(frame: pl.DataFrame, language: Language) -> str:
    """SVG of S by month, one line per candidate, with an error bar of the 95% interval at each point.

    Takes the rows of `monthly_trend`: month, model, score, score_low, score_high, rank. Draws the first twelve of the latest
    month. Points of one month stand side by side, so that their bars do not cover each other.
    """
    import altair as alt

    models = choose_trend_models(frame)
    data = (
        frame.filter(pl.col("model").is_in(models))
        .select("month", "model", pl.col("score", "score_low", "score_high").round(2))
        .to_dicts()
    )
    months = sorted({str(row["month"]) for row in data})
    colour = alt.Color(
        "model:N", sort=models, scale=alt.Scale(domain=models, range=PALETTE), title=label("model", language)
    )
    shape = alt.Shape("model:N", sort=models, scale=alt.Scale(domain=models), title=label("model", language))
    place = alt.X(
        "month:O",
        sort=months,
        title=label("month", language),
        axis=alt.Axis(labelAngle=0),
        scale=alt.Scale(paddingInner=0.6, paddingOuter=0.3),
    )
    height = alt.Y(
        "score:Q", scale=alt.Scale(zero=False, nice=True, padding=14), title=label("score", language)
    )
    beside = alt.XOffset("model:N", sort=models, scale=alt.Scale(domain=models))
    base = alt.Chart(inline_rows(data)).encode(x=place, color=colour, xOffset=beside)
    lines = base.mark_line(strokeWidth=2).encode(y=height)
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(
        y=alt.Y("score_low:Q", title=label("score", language)), y2="score_high:Q"
    )
    points = base.mark_point(size=60, filled=True).encode(y=height, shape=shape)
    return render_svg((bars + lines + points).properties(width=940, height=400), "trend" + language)


def choose_trend_models(frame: pl.DataFrame) -> list[str]:
    """The candidates that the trend shows, best of their latest month first."""
    latest = frame.sort("month").group_by("model", maintain_order=True).last()
    ordered = latest.sort(["month", "rank", "model"], descending=[True, False, False])
    return [str(name) for name in ordered["model"].head(TREND_CANDIDATES)]


def render_release(frame: pl.DataFrame, curve: Curve | None, language: Language) -> str:
    """SVG of S against release date, with the fitted curve where there is one.

    Takes the rows of `score_by_release_date`: release_date, model, score, is_open, is_best_so_far.
    """
    import altair as alt

    days: list[dt.date] = frame["release_date"].to_list()
    rows = [
        {
            "day": row["release_date"].isoformat(),
            "model": row["model"],
            "score": round(row["score"], 2),
            "weights": label("open" if row["is_open"] else "closed", language),
            "name": row["model"] if row["is_best_so_far"] or len(days) <= NAMED_POINTS else "",
        }
        for row in frame.iter_rows(named=True)
    ]
    kinds = [label("open", language), label("closed", language)]
    base = alt.Chart(inline_rows(rows)).encode(
        x=alt.X(
            "day:T",
            title=label("release_date", language),
            axis=alt.Axis(format="%Y-%m", labelOverlap=True),
            scale=alt.Scale(padding=30),
        ),
        y=alt.Y(
            "score:Q", scale=alt.Scale(zero=False, nice=True, padding=14), title=label("score", language)
        ),
    )
    points = base.mark_point(size=80, filled=True).encode(
        color=alt.Color(
            "weights:N", scale=alt.Scale(domain=kinds, range=PALETTE[:2]), title=label("weights", language)
        ),
        shape=alt.Shape("weights:N", scale=alt.Scale(domain=kinds), title=label("weights", language)),
    )
    names = base.mark_text(dy=-10, fontSize=11).encode(text="name:N")
    chart: Any = points + names
    if curve is not None:
        chart = _curve_layer(curve, days) + chart
    return render_svg(chart.properties(width=940, height=360), "release" + language)


def _curve_layer(curve: Curve, days: list[dt.date]) -> alt.Chart:
    import altair as alt

    first, last = min(days), max(days)
    steps = 60
    points = [first + (last - first) * step / steps for step in range(steps + 1)]
    data = [{"day": day.isoformat(), "fitted": curve.score_on(day)} for day in dict.fromkeys(points)]
    line: alt.Chart = (
        alt.Chart(inline_rows(data))
        .mark_line(color="#888888", strokeDash=[6, 4], strokeWidth=2)
        .encode(x="day:T", y=alt.Y("fitted:Q"))
    )
    return line


def inline_rows(rows: list[dict[str, Any]]) -> alt.Data:
    """Rows as they are: Altair refuses frames above its row limit."""
    import altair as alt

    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def render_svg(chart: Any, prefix: str) -> str:
    """Inline SVG whose ids start with `prefix`, so that several charts can share a page."""
    import altair as alt
    import vl_convert as vlc

    spec = chart.configure(font=FONT, background="transparent").configure_view(stroke=None).configure_axis(
        labelFontSize=12, titleFontSize=12, labelLimit=220, gridColor="#e4e7eb"
    ).configure_legend(labelFontSize=12, titleFontSize=12, labelLimit=220, symbolLimit=TREND_CANDIDATES).to_json()  # fmt: skip
    svg = str(
        vlc.vegalite_to_svg(spec, vl_version=".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2]))
    )
    # Vega numbers its ids through the life of the process: number them again, so that the same data give the same page.
    for number, found in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg))):
        svg = svg.replace(f'id="{found}"', f'id="{prefix}-{number}"').replace(
            f"url(#{found})", f"url(#{prefix}-{number})"
        )
    # The page names the figure; the drawing itself is one image to a screen reader.
    return svg.replace("<svg ", '<svg role="presentation" aria-hidden="true" focusable="false" ', 1)
