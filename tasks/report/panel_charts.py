"""The figures of pages made of panels: dots with intervals, lines, bars, cells, points."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from schemas.lazy import alt
from tasks.report.axes import Axis, Group
from tasks.report.charts import PALETTE, inline_rows
from tasks.report.labels import Language
from tasks.report.panels import Draw, name_words
from tasks.texts import Words

_ROW_HEIGHT = 22
_SERIES_HEIGHT = 13
_SCATTER_HEIGHT = 340
_SHOWN_ROWS = 40  # more rows than this cannot be read in one figure; the table and the CSV have all


def dots(
    frame: pl.DataFrame,
    *,
    name: Group,
    value: Axis,
    series: Group | None = None,
    mark_at: float | None = None,
) -> Draw:
    """A dot with its interval for each of the first forty names; `mark_at` draws a line."""
    kept = _first_names(frame, name.column)

    def draw(language: Language) -> Any:
        rows: list[dict[str, Any]] = [
            {
                "name": name.name(row, language),
                "value": round_value(row[value.column]),
                "low": round_value(row[value.low]) if value.low else None,
                "high": round_value(row[value.high]) if value.high else None,
                "series": series.name(row, language) if series else "",
            }
            for row in kept.iter_rows(named=True)
        ]
        order = list(dict.fromkeys(row["name"] for row in rows))
        kinds = list(dict.fromkeys(row["series"] for row in rows))
        place = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=180))
        scale = alt.Scale(zero=value.from_zero, nice=True)
        title = value.write_title(language)
        base = alt.Chart(inline_rows(rows)).encode(y=place)
        is_spread = bool(value.low) and len(kinds) > 1
        if is_spread:
            base = base.encode(yOffset=alt.YOffset("series:N", sort=kinds))
        base = base.encode(color=paint(kinds))
        points = base.mark_point(filled=True, size=60, opacity=1).encode(
            x=alt.X("value:Q", title=title, scale=scale), tooltip=_tooltip(kinds, value.low)
        )
        layers = [points]
        if value.low:
            layers.insert(
                0,
                base.mark_rule(strokeWidth=2, opacity=0.7).encode(
                    x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"
                ),
            )
        if mark_at is not None:
            line = alt.Chart(inline_rows([{"at": mark_at}])).mark_rule(strokeDash=[4, 4], color="#888888")
            layers.insert(0, line.encode(x=alt.X("at:Q", scale=scale)))
        return alt.layer(*layers).properties(
            height=max((_SERIES_HEIGHT * len(kinds) + 8 if is_spread else _ROW_HEIGHT) * len(order), 60)
        )

    return draw


def number_lines(frame: pl.DataFrame, *, at: Axis, value: Axis, series: Group) -> Draw:
    """A line for each series over a number."""

    def draw(language: Language) -> Any:
        rows: list[dict[str, Any]] = [
            {
                "at": row[at.column],
                "value": round_value(row[value.column]),
                "series": series.name(row, language),
            }
            for row in frame.filter(pl.col(value.column).is_not_null()).iter_rows(named=True)
        ]
        kinds = list(dict.fromkeys(row["series"] for row in rows))
        scale = (
            alt.Scale(type="log", nice=False, padding=20) if at.is_log else alt.Scale(zero=False, nice=True)
        )
        base = alt.Chart(inline_rows(rows)).encode(
            x=alt.X("at:Q", title=at.write_title(language), scale=scale, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y(
                "value:Q",
                title=value.write_title(language),
                scale=alt.Scale(zero=value.from_zero),
                axis=alt.Axis(format=value.format),
            ),
            color=paint(kinds),
            tooltip=["at:Q", alt.Tooltip("value:Q", format=value.format), "series:N"],
        )
        return alt.layer(
            base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=45, opacity=1)
        ).properties(height=280)

    return draw


def bars(frame: pl.DataFrame, *, name: Group, value: Axis, series: Group | None = None) -> Draw:
    """A bar for each of the first forty names, its parts by series one after the other."""
    kept = _first_names(frame, name.column)

    def draw(language: Language) -> Any:
        rows: list[dict[str, Any]] = [
            {
                "name": name.name(row, language),
                "value": round_value(row[value.column]),
                "series": series.name(row, language) if series else "",
            }
            for row in kept.iter_rows(named=True)
        ]
        order = list(dict.fromkeys(row["name"] for row in rows))
        kinds = list(dict.fromkeys(row["series"] for row in rows))
        rows = [row | {"place": kinds.index(row["series"])} for row in rows]
        scale = alt.Scale(domain=list(value.domain)) if value.domain else alt.Undefined
        title = value.write_title(language)
        return (
            alt.Chart(inline_rows(rows))
            .mark_bar()
            .encode(
                y=alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=180)),
                x=alt.X("sum(value):Q", title=title, scale=scale),
                color=paint(kinds),
                order=alt.Order("place:Q"),
                tooltip=["name:N", "series:N", alt.Tooltip("value:Q", title=title)],
            )
            .properties(height=max(_ROW_HEIGHT * len(order), 60))
        )

    return draw


def cells(frame: pl.DataFrame, *, across: Axis, down: Axis, value: Axis, facet: str) -> Draw:
    """A picture for each `facet`: cells coloured by share (0 to 1), labelled in per cent."""

    def draw(language: Language) -> Any:
        charts = []
        for (named,), part in frame.partition_by(facet, as_dict=True, maintain_order=True).items():
            rows = [
                {
                    "across": across.name(row, language),
                    "down": down.name(row, language),
                    "value": round_value(row[value.column]),
                }
                for row in part.iter_rows(named=True)
            ]
            # Names are wider than a cell.
            angle = 0 if all(len(str(row["across"])) < 4 for row in rows) else -40
            base = alt.Chart(inline_rows(rows), title=alt.TitleParams(str(named), fontSize=12)).encode(
                x=alt.X("across:O", title=across.write_title(language), axis=alt.Axis(labelAngle=angle)),
                y=alt.Y("down:O", sort=None, title=down.write_title(language)),
                tooltip=["across:O", "down:O", alt.Tooltip("value:Q", format=".1%")],
            )
            # Viridis keeps its order in grey print; the text turns light where the cell is dark.
            painted = base.mark_rect(stroke="white", strokeWidth=1).encode(
                color=alt.Color(
                    "value:Q",
                    scale=alt.Scale(scheme="viridis", domain=[0, 1]),
                    title=value.write_title(language),
                    legend=None,
                )
            )
            written = base.mark_text(fontSize=11).encode(
                text=alt.Text("value:Q", format=".0%"),
                color=alt.condition("datum.value < 0.55", alt.value("white"), alt.value("black")),
            )
            charts.append(alt.layer(painted, written).properties(width=alt.Step(32), height=alt.Step(28)))
        return alt.concat(*charts, columns=2)

    return draw


def scatter(frame: pl.DataFrame, *, across: Axis, up: Axis, name: str, flag: Group) -> Draw:
    """A point for each row, in the first colour and named where `flag` says so."""
    known = frame.filter(pl.col(across.column).is_not_null() & pl.col(up.column).is_not_null())
    known = known.filter(pl.col(across.column) > 0) if across.is_log else known
    place = _place_between(known[across.column], is_log=across.is_log)
    named = _choose_names(known.filter(pl.col(flag.column)), name, up.column, _spread(known[up.column]))

    def draw(language: Language) -> Any:
        yes, no = (name_words(flag.words, value, language) for value in ("true", "false"))
        rows: list[dict[str, Any]] = [
            {
                "across": row[across.column],
                "up": round_value(row[up.column]),
                "name": row[name],
                "label": row[name] if row[name] in named else "",
                "is_left": place(row[across.column]) < 0.3,
                "kind": yes if row[flag.column] else no,
            }
            for row in known.iter_rows(named=True)
        ]
        base = alt.Chart(inline_rows(rows)).encode(
            x=alt.X(
                "across:Q",
                title=across.write_title(language),
                scale=alt.Scale(type="log", nice=False, padding=30)
                if across.is_log
                else alt.Scale(zero=False, padding=30),
            ),
            y=alt.Y("up:Q", title=up.write_title(language), scale=alt.Scale(zero=False, padding=14)),
            color=paint([yes, no], "kind"),
            tooltip=["name:N", "across:Q", "up:Q", "kind:N"],
        )
        # A layer without a row would warn.
        sides = sorted({bool(row["is_left"]) for row in rows if row["label"]})
        return alt.layer(
            base.mark_point(filled=True, size=80, opacity=1),
            *(
                base.transform_filter(f"datum.is_left == {str(is_left).lower()} && datum.label != ''")
                .mark_text(dx=8 if is_left else -8, dy=-5, fontSize=11, align="left" if is_left else "right")
                .encode(text="label:N")
                for is_left in sides
            ),
        ).properties(height=_SCATTER_HEIGHT)

    return draw


def _place_between(values: pl.Series, *, is_log: bool) -> Callable[[float], float]:
    """Where a value lies between the smallest (0) and the largest (1)."""
    points = [math.log(value) if is_log else float(value) for value in values] or [0.0]
    low, spread = min(points), (max(points) - min(points)) or 1.0
    return lambda value: ((math.log(value) if is_log else value) - low) / spread


def _spread(values: pl.Series) -> float:
    low, high = values.min(), values.max()
    return float(high) - float(low) if isinstance(low, int | float) and isinstance(high, int | float) else 0.0


def _choose_names(frame: pl.DataFrame, name: str, up: str, spread: float) -> set[str]:
    """The names that stand at least a line apart from the one above them, the highest first."""
    gap = 14 / _SCATTER_HEIGHT * spread
    chosen: set[str] = set()
    last = None
    for row in frame.sort(up, descending=True).iter_rows(named=True):
        if last is None or last - row[up] >= gap:
            chosen.add(row[name])
            last = row[up]
    return chosen


def say_cut(about: Words, frame: pl.DataFrame, name: str) -> Words:
    """The words about a figure, and that it shows the first names only where it does."""
    count = frame[name].n_unique()
    if count <= _SHOWN_ROWS:
        return about
    return (
        f"{about[0]}图中为 {count} 个中的前 {_SHOWN_ROWS} 个，表中为全部。",
        f"{about[1]} The figure has the first {_SHOWN_ROWS} of {count}, the table all.",
    )


def _first_names(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    shown = frame[name].unique(maintain_order=True).head(_SHOWN_ROWS)
    return frame.filter(pl.col(name).is_in(shown.implode()))


def round_value(value: float | None) -> float | None:
    """As many digits as a picture shows: the rest is weight."""
    return None if value is None else round(value, 4)


def paint(kinds: Sequence[str], name: str = "series") -> Any:
    """A colour for each series, in their order; one series has the first colour and no legend."""
    if len(kinds) < 2:
        return alt.value(PALETTE[0])
    colours = [PALETTE[place % len(PALETTE)] for place in range(len(kinds))]
    return alt.Color(
        f"{name}:N",
        sort=list(kinds),
        scale=alt.Scale(domain=list(kinds), range=colours),
        title=None,
        legend=alt.Legend(orient="top"),
    )


def _tooltip(kinds: Sequence[str], low: str) -> list[str]:
    return [
        "name:N",
        "value:Q",
        *(["low:Q", "high:Q"] if low else []),
        *(["series:N"] if len(kinds) > 1 else []),
    ]
