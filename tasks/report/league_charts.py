"""The plots of a league's page; Vega-Lite to SVG without browser or network."""

from __future__ import annotations

import math
from html import escape

import polars as pl

from schemas.lazy import alt
from tasks.report.charts import FONT, PALETTE, inline_rows, render_svg
from tasks.report.labels import Language, label

# Of one radar, in pixels.
_WIDTH, _HEIGHT, _RADIUS = 340, 270, 84.0
_RINGS = (0.25, 0.5, 0.75, 1.0)
_RADARS_IN_A_ROW = 4
_LONGEST_NAME = 18


def render_radar(frame: pl.DataFrame, order: list[str]) -> str:
    """SVG of one small radar for each answerer, with an axis for each asker.

    It is the same in both languages.

    Takes the rows of `league_by_asker` of one domain: asker, answerer, score, most_points. `order` names the candidates. It is drawn
    here: Vega-Lite knows no radar, and one made of layers takes seconds.
    """
    axes = [name for name in order if name in set(frame["asker"])]
    answerers = [name for name in order if name in set(frame["answerer"])]
    angle = {name: 2 * math.pi * at / len(axes) for at, name in enumerate(axes)}
    share = {
        (row["answerer"], row["asker"]): row["score"] / row["most_points"]
        for row in frame.iter_rows(named=True)
        if row["score"] is not None
    }
    columns = min(_RADARS_IN_A_ROW, len(answerers))
    width, height = columns * _WIDTH, math.ceil(len(answerers) / columns) * _HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{FONT}" role="presentation" aria-hidden="true" focusable="false">'
    ]
    for number, answerer in enumerate(answerers):
        left, top = number % columns * _WIDTH, number // columns * _HEIGHT
        points = [
            _place(angle[name], share[answerer, name] * _RADIUS) for name in axes if (answerer, name) in share
        ]
        parts.append(f'<g transform="translate({left + _WIDTH / 2:g} {top + _HEIGHT / 2 + 12:g})">')
        parts += _draw_web(axes, angle)
        parts += _draw_shape(points, PALETTE[number % len(PALETTE)])
        parts.append(
            f'<text y="{-_RADIUS - 38:g}" text-anchor="middle" font-size="13" font-weight="600" fill="#1b2430">'
            f"{escape(answerer)}</text></g>"
        )
    return "".join([*parts, "</svg>"])


def render_cells(frame: pl.DataFrame, language: Language, prefix: str) -> str:
    """SVG of judges x answerers in order of family; cells within a family are framed.

    Takes the rows of `league_heatmap` of one domain: judge, judge_family, answerer, answerer_family, is_in_family, score,
    most_points.
    """
    by_family = pl.concat(
        [
            frame.select(pl.col("judge").alias("model"), pl.col("judge_family").alias("family")),
            frame.select(pl.col("answerer").alias("model"), pl.col("answerer_family").alias("family")),
        ]
    )
    order = (
        by_family.unique()
        .sort("family", "model", nulls_last=True)["model"]
        .unique(maintain_order=True)
        .to_list()
    )
    most = float(frame["most_points"].max() or 1.0)  # type: ignore[arg-type]
    known = [float(score) for score in frame["score"].drop_nulls()]
    low, high = min(known), max(known)
    data = frame.filter(pl.col("score").is_not_null()).select(
        "judge", "answerer", "is_in_family", pl.col("score").round(2)
    )
    base = alt.Chart(inline_rows(data.to_dicts())).encode(
        x=alt.X(
            "judge:N",
            sort=order,
            title=label("judge_column", language),
            axis=alt.Axis(orient="top", labelAngle=-30, labelAlign="left"),
            scale=alt.Scale(domain=order),
        ),
        y=alt.Y(
            "answerer:N", sort=order, title=label("answerer_row", language), scale=alt.Scale(domain=order)
        ),
    )
    cells = base.mark_rect(stroke="white", strokeWidth=1).encode(
        color=alt.Color(
            "score:Q",
            scale=alt.Scale(scheme="viridis", domain=[low, high]),
            title=label("league_score", language),
        )
    )
    frames = (
        base.transform_filter("datum.is_in_family")
        .mark_rect(fillOpacity=0, stroke="black", strokeWidth=2.5)
        .encode()
    )
    values = base.mark_text(fontSize=11).encode(
        text=alt.Text("score:Q", format=".2f" if most < 20 else ".1f"),
        color=alt.condition(f"datum.score < {(low + high) / 2}", alt.value("white"), alt.value("black")),
    )
    size = {"width": max(64 * len(order), 120), "height": max(30 * len(order), 60)}
    return render_svg((cells + frames + values).properties(**size), prefix + language)


def render_solving(frame: pl.DataFrame, language: Language, prefix: str) -> str:
    """SVG of solving against setting (harder up), 95% intervals both ways, of `league_ranking`."""
    data = frame.filter(pl.col("score").is_not_null() & pl.col("setting_score").is_not_null()).select(
        "model",
        "family",
        pl.col("score", "answer_low", "answer_high", "setting_score", "setting_low", "setting_high").round(3),
    )
    x = alt.X(
        "score:Q", scale=alt.Scale(zero=False, nice=True, padding=20), title=label("axis_solving", language)
    )
    y = alt.Y(
        "setting_score:Q",
        scale=alt.Scale(zero=False, nice=True, padding=20, reverse=True),
        title=label("axis_setting", language),
    )
    base = alt.Chart(inline_rows(data.to_dicts())).encode(
        color=alt.Color("model:N", legend=None, scale=alt.Scale(range=PALETTE))
    )
    across = base.mark_rule(opacity=0.55, strokeWidth=1.5).encode(x="answer_low:Q", x2="answer_high:Q", y=y)
    upright = base.mark_rule(opacity=0.55, strokeWidth=1.5).encode(
        x=x, y="setting_low:Q", y2="setting_high:Q"
    )
    points = base.mark_point(size=70, filled=True, opacity=1).encode(x=x, y=y)
    names = base.mark_text(dy=-10, dx=6, align="left", fontSize=11).encode(x=x, y=y, text="model:N")
    return render_svg(
        (across + upright + points + names).properties(width=720, height=400), prefix + language
    )


def render_top_k(frame: pl.DataFrame, language: Language, prefix: str) -> str:
    """SVG of the top-k overlap with its interval against chance, of rows of `league_top_k`."""
    names = [label("overlap", language), label("chance", language)]
    rows = [
        {
            "k": row["k"],
            "value": round(row[column], 4),
            "low": round(low, 4) if column == "overlap" and low is not None else None,
            "high": round(high, 4) if column == "overlap" and high is not None else None,
            "kind": name,
        }
        for row in frame.iter_rows(named=True)
        for low, high in [
            (row["overlap_low"], row["overlap_high"])
            if row["overlap_low"] is not None
            else (row["run_low"], row["run_high"])
        ]
        for column, name in zip(("overlap", "chance"), names, strict=True)
        if row[column] is not None
    ]
    base = alt.Chart(inline_rows(rows)).encode(x=alt.X("k:O", title="k", axis=alt.Axis(labelAngle=0)))
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=names, range=[PALETTE[0], "#777777"]))
    dash = alt.StrokeDash("kind:N", title=None, scale=alt.Scale(domain=names, range=[[1, 0], [6, 4]]))
    value = alt.Y("value:Q", scale=alt.Scale(domain=[0, 1]), title=label("overlap", language))
    bars = base.mark_rule(strokeWidth=2, color=PALETTE[0]).encode(y="low:Q", y2="high:Q")
    lines = base.mark_line(strokeWidth=2).encode(y=value, color=colour, strokeDash=dash)
    points = base.mark_point(filled=True, size=50).encode(y=value, color=colour)
    return render_svg((bars + lines + points).properties(width=520, height=300), prefix + language)


def _place(angle: float, radius: float) -> tuple[float, float]:
    """A point of the web; the first axis points up, and they follow clockwise."""
    return round(radius * math.sin(angle), 2), round(-radius * math.cos(angle), 2)


def _draw_web(axes: list[str], angle: dict[str, float]) -> list[str]:
    """Rings at each quarter of the highest score, axes, and the names of the askers at the rim."""
    parts = [
        f'<polygon points="{_join([_place(angle[name], ring * _RADIUS) for name in axes])}" fill="none" stroke="#d9dee5"/>'
        for ring in _RINGS
    ]
    for name in axes:
        x, y = _place(angle[name], _RADIUS)
        at, below = _place(angle[name], _RADIUS + 8)
        anchor = "middle" if abs(at) < 1 else "start" if at > 0 else "end"
        parts.append(f'<line x2="{x}" y2="{y}" stroke="#d9dee5"/>')
        parts.append(
            f'<text x="{at}" y="{below + 3:g}" text-anchor="{anchor}" font-size="9.5" fill="#5c6775">{escape(_shorten(name))}</text>'
        )
    return parts


def _draw_shape(points: list[tuple[float, float]], colour: str) -> list[str]:
    shape = f'<polygon points="{_join(points)}" fill="{colour}" fill-opacity="0.18" stroke="{colour}" stroke-width="2"/>'
    return [shape, *(f'<circle cx="{x}" cy="{y}" r="2.6" fill="{colour}"/>' for x, y in points)]


def _join(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
