"""The charts of leaderboard and trends; Vega-Lite to SVG without browser or network."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from schemas.lazy import alt
from schemas.organisations import name_families
from schemas.vocabulary import DISCIPLINES, EXAMINED_DISCIPLINES
from tasks.report.labels import Language, label
from tasks.statistics import Curve

FONT = "Noto Sans, Noto Sans CJK SC, PingFang SC, Microsoft YaHei, sans-serif"
TREND_CANDIDATES = 12  # more lines than this cannot be told apart
_LONG_CANDIDATES = 6  # and more than this not over years
_TREND_HEIGHT = 420
_RELEASE_HEIGHT = 380
_NARROWEST = (
    440  # pixels between the first and the last point of the narrowest drawing; a phone scrolls beyond
)
# Names at the ends of lines are within what a drawing is fitted to.
_PADDING = {"left": 5, "top": 8, "bottom": 5, "right": 12}
_NAME_PIXELS = 15  # height of a line of text
_SHORT_MONTHS = 14
_SHORT_DAYS = 400  # in so many days months are named one by one
# Okabe and Ito's palette, which colour-blind readers can tell apart, and four darker ones for the rest.
PALETTE = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    "#555555", "#7A5195", "#8C510A", "#1B7837", "#B2182B", "#A6A600",
]  # fmt: skip


def draw_heatmap(frame: pl.DataFrame, language: Language) -> Any:
    """Chart of candidates x disciplines, from the rows of `discipline_heatmap` (0 to 10)."""
    order = [name for name in (*EXAMINED_DISCIPLINES, *DISCIPLINES) if name in set(frame["discipline"])]
    order = list(dict.fromkeys(order))
    data = frame.select("model", "discipline", pl.col("discipline_score").round(2)).to_dicts()
    words = ", ".join(f"'{name}': '{label(name, language)}'" for name in order)
    models = frame.sort("rank", "model")["model"].unique(maintain_order=True).to_list()
    base = alt.Chart(inline_rows(data)).encode(
        x=alt.X(
            "discipline:N",
            sort=order,
            title=None,
            axis=alt.Axis(
                orient="top",
                labelExpr=f"{{{words}}}[datum.label]",
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
            legend=alt.Legend(orient="bottom"),
        )
    )
    values = base.mark_text(fontSize=11).encode(
        text=alt.Text("discipline_score:Q", format=".2f"),
        color=alt.condition("datum.discipline_score < 6", alt.value("white"), alt.value("black")),
    )
    return (cells + values).properties(height=max(22 * len(models), 60))


def draw_trend(frame: pl.DataFrame, language: Language) -> Any:
    """Chart of S by month for the first twelve: 95% intervals as bars, gaps left open."""
    models = choose_trend_models(frame)
    kept = frame.filter(pl.col("model").is_in(models) & pl.col("score").is_not_null())
    rows = _fill_months(kept)
    values = [row[name] for row in rows for name in ("score", "low", "high") if row[name] is not None]
    low, high = min(values, default=0.0), max(values, default=100.0)
    scale = alt.Scale(domain=[math.floor(low - 1), math.ceil(high + 1)], nice=False, zero=False)
    colour = alt.Color(
        "model:N", sort=models, scale=alt.Scale(domain=models, range=PALETTE[: len(models)]), legend=None
    )
    shape = alt.Shape("model:N", sort=models, scale=alt.Scale(domain=models), legend=None)
    title = label("score", language)
    place = alt.X(
        "month:T",
        title=None,
        axis=label_months(row["month"] for row in rows),
        scale=alt.Scale(padding=16),
    )
    height = alt.Y("score:Q", scale=scale, title=title)
    base = alt.Chart(inline_rows(rows)).encode(x=place, color=colour)
    lines = base.mark_line(strokeWidth=2, invalid="break-paths-show-path-domains").encode(y=height)
    bars = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=1.5, opacity=0.25)
        .encode(y=alt.Y("low:Q", scale=scale, title=title), y2="high:Q")
    )
    points = base.mark_point(size=45, filled=True, opacity=1, invalid="filter").encode(
        y=height,
        shape=shape,
        tooltip=["model:N", alt.Tooltip("month:T", format="%Y-%m", title=" "), "score:Q", "low:Q", "high:Q"],
    )
    ends = _place_names(rows, models, (high - low + 2) * _NAME_PIXELS / _TREND_HEIGHT)
    named = alt.Chart(inline_rows(ends)).encode(x=place, color=colour)
    names = named.mark_text(align="left", dx=26, fontSize=12).encode(
        y=alt.Y("at:Q", scale=scale, title=title), text="model:N"
    )
    leads = named.mark_rule(strokeWidth=1, opacity=0.6, xOffset=8, x2Offset=24).encode(
        y=alt.Y("score:Q", scale=scale, title=title), x2="month:T", y2="at:Q"
    )
    return alt.layer(bars, lines, points, leads, names).properties(
        height=_TREND_HEIGHT, padding=_PADDING, usermeta=_measure_least(models)
    )


def label_months(days: Iterable[str]) -> Any:
    """Labels of an axis over these days: each names its month, at the month's beginning.

    Left to itself a chart of about a year or less would have ticks for weeks or days, each with the name of its month.
    """
    known = sorted(dt.date.fromisoformat(day[:10]) for day in days)
    is_short = bool(known) and (known[-1] - known[0]).days <= _SHORT_DAYS
    return alt.Axis(
        format="%Y-%m", labelOverlap=True, labelAngle=0, tickCount="month" if is_short else alt.Undefined
    )


def _fill_months(kept: pl.DataFrame) -> list[dict[str, Any]]:
    """A row for each month between a candidate's first and last, empty where it did not sit."""
    known = {(row["model"], row["month"]): row for row in kept.iter_rows(named=True)}
    rows = []
    for (model,), part in kept.group_by("model", maintain_order=True):
        for month in list_months(str(part["month"].min()), str(part["month"].max())):
            row = known.get((model, month), {})
            found = {
                name: None if row.get(column) is None else round(row[column], 2)
                for name, column in (("score", "score"), ("low", "score_low"), ("high", "score_high"))
            }
            rows.append({"month": f"{month}-01T00:00", "model": str(model), **found})
    return rows


def list_months(first: str, last: str) -> list[str]:
    """Every month from the first to the last, as YYYY-MM."""
    year, month = (int(part) for part in first.split("-"))
    found = []
    while (name := f"{year:04d}-{month:02d}") <= last:
        found.append(name)
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    return found


def _place_names(
    rows: Sequence[Mapping[str, Any]], models: Sequence[str], gap: float
) -> list[dict[str, Any]]:
    """Where each line's name stands (`at`): near its last point, no two nearer than `gap`."""
    last = {row["model"]: row for row in rows if row["score"] is not None}
    ends = sorted((last[model] for model in models if model in last), key=lambda row: row["score"])
    newest = max((row["month"] for row in ends), default="")
    at = spread_apart([row["score"] for row in ends], gap)
    return [
        {"model": row["model"], "month": newest, "score": row["score"], "at": round(place, 3)}
        for row, place in zip(ends, at, strict=True)
    ]


def spread_apart(values: Sequence[float], gap: float) -> list[float]:
    """Ascending values moved apart by at least `gap`, as little as can be (adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for place, value in enumerate(values):
        mean, count = value - place * gap, 1
        while blocks and blocks[-1][0] > mean:
            before, of_before = blocks.pop()
            mean, count = (before * of_before + mean * count) / (of_before + count), of_before + count
        blocks.append((mean, count))
    flat = [mean for mean, count in blocks for _ in range(count)]
    return [mean + place * gap for place, mean in enumerate(flat)]


def choose_trend_models(frame: pl.DataFrame) -> list[str]:
    """The candidates that the trend shows, best first; fewer over many months, as lines cross."""
    count = TREND_CANDIDATES if frame["month"].n_unique() <= _SHORT_MONTHS else _LONG_CANDIDATES
    latest = frame.sort("month").group_by("model", maintain_order=True).last()
    ordered = latest.sort(["month", "rank", "model"], descending=[True, False, False])
    return [str(name) for name in ordered["model"].head(count)]


def draw_release(frame: pl.DataFrame, curve: Curve | None, language: Language) -> Any:
    """Chart of S against release date (`score_by_release_date`), with its curve if any."""
    scored = frame.filter(pl.col("score").is_not_null())
    days: list[dt.date] = scored["release_date"].to_list()
    named = _choose_points(scored)
    rows = [
        {
            "day": _place_day(row["release_date"]),
            "model": row["model"],
            "score": round(row["score"], 2),
            "weights": label("open" if row["is_open"] else "closed", language),
            "name": row["model"] if row["model"] in named else "",
        }
        for row in scored.iter_rows(named=True)
    ]
    kinds = [label("open", language), label("closed", language)]
    base = alt.Chart(inline_rows(rows)).encode(
        x=alt.X(
            "day:T",
            title=label("release_date", language),
            axis=label_months(row["day"] for row in rows),
            scale=alt.Scale(padding=46),
        ),
        y=alt.Y(
            "score:Q", scale=alt.Scale(zero=False, nice=True, padding=18), title=label("score", language)
        ),
    )
    points = base.mark_point(size=80, filled=True, opacity=1).encode(
        color=alt.Color(
            "weights:N",
            scale=alt.Scale(domain=kinds, range=PALETTE[:2]),
            title=label("weights", language),
            legend=alt.Legend(orient="top"),
        ),
        shape=alt.Shape("weights:N", scale=alt.Scale(domain=kinds), title=label("weights", language)),
        tooltip=["model:N", alt.Tooltip("day:T", format="%Y-%m-%d", title=" "), "score:Q", "weights:N"],
    )
    names = base.mark_text(dy=-11, fontSize=11).encode(text="name:N")
    chart: Any = points + names
    if curve is not None:
        chart = _curve_layer(curve, days) + chart
    return chart.properties(height=_RELEASE_HEIGHT, padding=_PADDING)


def draw_families(frame: pl.DataFrame, language: Language) -> Any:
    """Chart of the latest S of families' members by release date, of `family_trajectories`."""
    known = (
        frame.filter(
            pl.col("release_date").is_not_null()
            & pl.col("score").is_not_null()
            & (pl.col("mode") == "standard")
        )
        .sort("release_date", "model")
        .with_columns(
            (pl.col("score") >= pl.col("score").cum_max().over("organisation", "family")).alias(
                "is_best_so_far"
            )
        )
    )
    called = name_families(known.select("organisation", "family").iter_rows())
    rows: list[dict[str, Any]] = [
        {
            "month": _place_day(row["release_date"]),
            "model": called[row["organisation"], row["family"]],
            "member": row["model"],
            "score": round(row["score"], 2),
            "best": row["is_best_so_far"],
        }
        for row in known.iter_rows(named=True)
    ]
    families = list(dict.fromkeys(row["model"] for row in rows))
    values = [row["score"] for row in rows]
    low, high = min(values, default=0.0), max(values, default=100.0)
    scale = alt.Scale(domain=[math.floor(low - 1), math.ceil(high + 1)], nice=False, zero=False)
    title = label("score", language)
    place = alt.X(
        "month:T",
        title=label("release_date", language),
        axis=label_months(row["month"] for row in rows),
        scale=alt.Scale(padding=16),
    )
    colours = [PALETTE[at % len(PALETTE)] for at in range(len(families))]
    colour = alt.Color("model:N", scale=alt.Scale(domain=families, range=colours), legend=None)
    base = alt.Chart(inline_rows(rows)).encode(
        x=place, y=alt.Y("score:Q", scale=scale, title=title), color=colour
    )
    points = base.mark_point(size=55, filled=True, opacity=1).encode(
        tooltip=["member:N", alt.Tooltip("month:T", format="%Y-%m-%d", title=" "), "score:Q"]
    )
    leaders = [row for row in rows if row["best"]]
    ends = _place_names(leaders, families, (high - low + 2) * _NAME_PIXELS / _TREND_HEIGHT)
    named = alt.Chart(inline_rows(ends)).encode(x=place, color=colour)
    names = named.mark_text(align="left", dx=26, fontSize=12).encode(
        y=alt.Y("at:Q", scale=scale, title=title), text="model:N"
    )
    starts = {row["model"]: row["month"] for row in leaders}
    leads = (
        alt.Chart(inline_rows([end | {"from": starts[end["model"]]} for end in ends]))
        .mark_rule(strokeWidth=1, opacity=0.5, strokeDash=[3, 3], xOffset=6, x2Offset=24)
        .encode(
            x=alt.X("from:T", title=label("release_date", language)),
            x2="month:T",
            y=alt.Y("score:Q", scale=scale, title=title),
            y2="at:Q",
            color=colour,
        )
    )
    line = base.transform_filter("datum.best").mark_line(strokeWidth=2)
    return alt.layer(line, points, leads, names).properties(
        height=_TREND_HEIGHT, padding=_PADDING, usermeta=_measure_least(families)
    )


def _measure_least(names: Sequence[str]) -> dict[str, int]:
    """Pixels that lines need with these names at their ends; a phone scrolls beyond."""
    return {"least_width": 225 + 7 * max((len(name) for name in names), default=0)}


def _choose_points(frame: pl.DataFrame) -> set[str]:
    """The names that fit at the narrowest width: record holders first, then the best."""
    if not frame.height:
        return set()
    days = [day.toordinal() for day in frame["release_date"]]
    first, span = min(days), max(max(days) - min(days), 1)
    scores = frame["score"]
    low = float(scores.min())  # type: ignore[arg-type]
    reach = max(float(scores.max()) - low, 1.0)  # type: ignore[arg-type]
    # Where the points are: a name stands above its own and may not lie on another's.
    points = [
        ((day - first) / span * _NARROWEST, (score - low) / reach * _RELEASE_HEIGHT * 0.8, model)
        for day, score, model in zip(days, scores, frame["model"], strict=True)
    ]
    boxes: list[tuple[float, float, float]] = []
    chosen = set()
    for row in frame.sort("is_best_so_far", "score", "model", descending=[True, True, False]).iter_rows(
        named=True
    ):
        x = (row["release_date"].toordinal() - first) / span * _NARROWEST
        y = (row["score"] - low) / reach * _RELEASE_HEIGHT * 0.8
        half = 3.4 * len(row["model"])
        is_free = all(abs(x - at) >= half + other or abs(y - up) >= _NAME_PIXELS for at, up, other in boxes)
        if is_free and all(
            model == row["model"] or abs(x - at) >= half + 5 or abs(y + 11 - up) >= 11
            for at, up, model in points
        ):
            boxes.append((x, y, half))
            chosen.add(row["model"])
    return chosen


def _curve_layer(curve: Curve, days: list[dt.date]) -> alt.Chart:
    first, last = min(days), max(days)
    steps = 60
    points = [first + (last - first) * step / steps for step in range(steps + 1)]
    data = [{"day": _place_day(day), "fitted": curve.score_on(day)} for day in dict.fromkeys(points)]
    line: alt.Chart = (
        alt.Chart(inline_rows(data))
        .mark_line(color="#888888", strokeDash=[6, 4], strokeWidth=2)
        .encode(x="day:T", y=alt.Y("fitted:Q"))
    )
    return line


def _place_day(day: dt.date) -> str:
    """A day's beginning where the page is read.

    Without a time it would be one of UTC, the day before in the Americas.
    """
    return f"{day}T00:00"


def inline_rows(rows: list[dict[str, Any]]) -> alt.Data:
    """Rows as a text for `write_spec` to put back: Altair copies rows by layer and limits them."""
    return alt.Data(values=json.dumps(rows, ensure_ascii=False))  # type: ignore[no-untyped-call]


def write_spec(chart: Any) -> dict[str, Any]:
    """The chart as a Vega-Lite specification, with its rows as rows."""

    def walk(part: Any) -> Any:
        if isinstance(part, list):
            return [walk(one) for one in part]
        if not isinstance(part, dict):
            return part
        found = {key: walk(value) for key, value in part.items()}
        if isinstance(data := found.get("data"), dict) and isinstance(data.get("values"), str):
            found["data"] = {"values": json.loads(data["values"])}
        return found

    spec: dict[str, Any] = walk(chart.to_dict(validate=False))
    return spec


def render_svg(chart: Any, prefix: str) -> str:
    """Inline SVG whose ids start with `prefix`, so that several charts can share a page."""
    import vl_convert as vlc

    styled = chart.configure(font=FONT, background="transparent").configure_view(stroke=None).configure_axis(
        labelFontSize=12, titleFontSize=12, labelLimit=220, gridColor="#e4e7eb"
    ).configure_legend(labelFontSize=12, titleFontSize=12, labelLimit=220, symbolLimit=TREND_CANDIDATES)  # fmt: skip
    svg = str(
        vlc.vegalite_to_svg(
            write_spec(styled), vl_version=".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
        )
    )
    # Vega numbers its ids through the life of the process: number them again, so that the same data give the same page.
    for number, found in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg))):
        svg = svg.replace(f'id="{found}"', f'id="{prefix}-{number}"').replace(
            f"url(#{found})", f"url(#{prefix}-{number})"
        )
    # The page names the figure; the drawing itself is one image to a screen reader.
    return svg.replace("<svg ", '<svg role="presentation" aria-hidden="true" focusable="false" ', 1)
