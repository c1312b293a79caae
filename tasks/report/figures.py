"""Figures for a talk or a paper: one drawing with its title and what a reader must know."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from schemas.errors import UsageError
from schemas.lazy import alt
from tasks.report.charts import FONT, PALETTE, draw_trend, inline_rows, label_months, list_months, write_spec
from tasks.report.labels import LANGUAGES, Language, label
from tasks.report.panels import NamedQuery
from tasks.report.verdict import compare_pair, follow_candidate
from tasks.report.words import describe_marks, format_interval
from tasks.texts import Words, read_bilingual

_TEXTS: Final[Mapping[str, Words]] = read_bilingual("tasks.report", "figures.yaml")
_WIDTH: Final = 640
# Of a caption's line: letters that fit under the drawing, Chinese characters being twice as wide.
_LINE: Final[Mapping[Language, int]] = {"zh": 61, "en": 122}
_PIXELS_PER_INCH: Final = 300


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        spec: the whole of it as a Vega-Lite specification.
    """

    title: str
    caption: str
    spec: dict[str, Any]

    def render_svg(self) -> str:
        """The figure as SVG; its texts stay texts, in the fonts of whoever opens it."""
        import vl_convert

        return str(vl_convert.vegalite_to_svg(self.spec, vl_version=_read_version()))

    def render_png(self) -> bytes:
        """The figure as PNG, for print."""
        import vl_convert

        return bytes(vl_convert.vegalite_to_png(self.spec, vl_version=_read_version(), ppi=_PIXELS_PER_INCH))


@dataclass(frozen=True)
class Asked:
    """What a figure is asked for.

    Attributes:
        month: the month; the latest where it is empty.
    """

    names: Sequence[str] = ()
    month: str = ""
    style: str = "zero_shot"
    language: Language = "en"

    def say(self, name: str, **values: object) -> str:
        """A text of the figures in the language that is asked for."""
        return _TEXTS[name][LANGUAGES.index(self.language)].format(**values)


def draw_figure(name: str, run_named: NamedQuery, asked: Asked) -> Figure:
    """The figure of that name; UsageError for what there is not."""
    if name not in FIGURES:
        raise UsageError(f"There is no figure {name!r}; there are {', '.join(FIGURES)}.")
    if asked.language not in LANGUAGES:
        raise UsageError(f"A figure speaks zh and en, not {asked.language!r}.")
    return FIGURES[name](run_named, asked)


def _draw_leaderboard(run_named: NamedQuery, asked: Asked) -> Figure:
    """S of every candidate of a month with its interval, the best first."""
    if asked.names:
        raise UsageError("The figure of the leaderboard is of all candidates: name none.")
    board = run_named("leaderboard_history", {}).filter(
        pl.col("score").is_not_null(), ~pl.col("is_repetition"), prompt_style=asked.style
    )
    board = board.filter(month=asked.month or board["month"].max())
    if board.is_empty():
        of_month = f" of {asked.month}" if asked.month else ""
        raise UsageError(
            f"Nothing is published{of_month} under the prompt style {asked.style}: proctor monthly publishes a month."
        )
    rows = [
        {
            "name": f"{row['model']}{asked.say('reference') if row['is_reference'] else ''}",
            "score": round(row["score"], 2),
            "low": row["score_low"],
            "high": row["score_high"],
            "text": f"{row['score']:.1f} ({format_interval(row['score_low'], row['score_high'])})  {row['rank_group'] or ''}",
        }
        for row in board.iter_rows(named=True)
    ]
    ends = [row[key] for row in rows for key in ("score", "low", "high") if row[key] is not None]
    scale = alt.Scale(domain=[max(min(ends) - 2, 0), min(max(ends) + 2, 100)], nice=False, zero=False)
    place = alt.Y(
        "name:N", sort=[row["name"] for row in rows], title=None, axis=alt.Axis(labelLimit=260, ticks=False)
    )
    base = alt.Chart(inline_rows(rows)).encode(y=place)
    bars = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, color=PALETTE[0], opacity=0.6)
        .encode(x=alt.X("low:Q", scale=scale, title=label("score", asked.language)), x2="high:Q")
    )
    points = base.mark_point(filled=True, size=55, opacity=1, color=PALETTE[0]).encode(
        x=alt.X("score:Q", scale=scale, title=label("score", asked.language))
    )
    texts = base.mark_text(align="left", fontSize=11).encode(x=alt.value(_WIDTH - 150), text="text:N")
    chart = alt.layer(bars, points).properties(width=_WIDTH - 160)
    first = board.row(0, named=True)
    caption = asked.say(
        "leaderboard",
        count=f"{max(board['question_count'].to_list()):,}",
        style=label(asked.style, asked.language),
        candidates=board.height,
        edition=first["edition_id"],
        published=f"{first['published_at']:%Y-%m-%d}",
        judge=first["judge"],
        bank=first["bank_version"],
    )
    title = asked.say("leaderboard_title", month=first["month"])
    return _finish(
        asked,
        title,
        alt.layer(chart, texts).properties(width=_WIDTH - 160, height=22 * board.height),
        caption,
        first["marks"],
    )


def _draw_pair(run_named: NamedQuery, asked: Asked) -> Figure:
    """The difference of two candidates month by month, with its simultaneous interval."""
    if len(asked.names) != 2:
        raise UsageError("The figure of a pair is of two candidates: proctor figure pair A B.")
    first, second = asked.names
    verdict = compare_pair(_read_rows(run_named), first, second, asked.style)
    known = {row["month"]: row for row in verdict.months if row["difference"] is not None}
    if not known:
        raise UsageError(f"No month has a difference of {first} and {second}: one of them has no S.")
    rows = [
        {
            "month": f"{month}-01T00:00",
            "value": _get(known, month, "difference"),
            "low": _get(known, month, "together_low"),
            "high": _get(known, month, "together_high"),
        }
        for month in list_months(min(known), max(known))
    ]
    title = asked.say("pair_axis", a=first, b=second)
    place = alt.X(
        "month:T",
        title=None,
        axis=label_months(str(row["month"]) for row in rows),
        scale=alt.Scale(padding=20),
    )
    base = alt.Chart(inline_rows(rows)).encode(x=place)
    height = alt.Y("value:Q", title=title)
    zero = (
        alt.Chart(inline_rows([{"at": 0}]))
        .mark_rule(strokeDash=[4, 4], color="#888888")
        .encode(y=alt.Y("at:Q", title=title))
    )
    bars = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, opacity=0.6, color=PALETTE[0])
        .encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    )
    lines = base.mark_line(color=PALETTE[0], opacity=0.7, invalid="break-paths-show-path-domains").encode(
        y=height
    )
    points = base.mark_point(filled=True, size=55, opacity=1, color=PALETTE[0], invalid="filter").encode(
        y=height
    )
    chart = alt.layer(zero, bars, lines, points).properties(width=_WIDTH, height=280)
    said = verdict.sentences[0][LANGUAGES.index(asked.language)]
    caption = (
        f"{said}{_gap(asked)}{asked.say('pair', a=first, b=second, style=label(asked.style, asked.language))}"
    )
    return _finish(asked, asked.say("pair_title", a=first, b=second), chart, caption, verdict.row["marks"])


def _draw_history(run_named: NamedQuery, asked: Asked) -> Figure:
    """S month by month of the candidates that are named, or of the first of the latest month."""
    trend = run_named("monthly_trend", {})
    if asked.style != "zero_shot":
        raise UsageError("The figure of a history is of zero-shot sittings: leave --style out.")
    for name in asked.names:
        if trend.filter(model=name).is_empty():
            follow_candidate(_read_rows(run_named), name)
    if asked.names:
        trend = trend.filter(pl.col("model").is_in(list(asked.names)))
    if trend.is_empty():
        raise UsageError("Nothing is published yet: proctor monthly publishes a month.")
    chart = draw_trend(trend, asked.language).properties(width=_WIDTH - 130)
    # The whole has its own.
    chart.padding = alt.Undefined
    marks = ", ".join(sorted({one for marks in trend["marks"].drop_nulls() for one in marks.split(", ")}))
    months = sorted(set(trend["month"]))
    title = asked.say("history_title", first=months[0], last=months[-1])
    return _finish(asked, title, chart, asked.say("history"), marks)


# By name, in the order in which they are listed.
FIGURES: Final[Mapping[str, Callable[[NamedQuery, Asked], Figure]]] = {
    "leaderboard": _draw_leaderboard,
    "pair": _draw_pair,
    "history": _draw_history,
}


def _finish(asked: Asked, title: str, chart: Any, caption: str, marks: str | None) -> Figure:
    """The drawing between its title and its caption."""
    told = [f"{name}: {about}" for _, name, about in describe_marks(marks, asked.language)]
    caption = _gap(asked).join([*told, caption])
    named = chart.properties(title=alt.TitleParams(title, anchor="start", fontSize=15, offset=10))
    lines = _wrap(caption, asked.language)
    whole = alt.vconcat(
        named,
        title=alt.TitleParams(
            lines,
            orient="bottom",
            anchor="start",
            fontSize=10,
            fontWeight="normal",
            lineHeight=14,
            offset=14,
            color="#333333",
        ),
    )
    styled = (
        whole.configure(font=FONT, background="white", padding=12)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e4e7eb")
    )
    return Figure(title, caption, write_spec(styled))


def _gap(asked: Asked) -> str:
    """What stands between two sentences."""
    return "" if asked.language == "zh" else " "


def _wrap(caption: str, language: Language) -> list[str]:
    """The caption in lines; Chinese breaks anywhere but before its punctuation."""
    if language == "en":
        return textwrap.wrap(caption, _LINE["en"], break_on_hyphens=False)
    lines, width = [""], 0
    for character in caption:
        size = 1 if character.isascii() else 2
        if width + size > 2 * _LINE["zh"] - 8 and character not in "，。；：、）":
            lines.append("")
            width = 0
        lines[-1] += character
        width += size
    return lines


def _get(rows: Mapping[str, Mapping[str, Any]], month: str, name: str) -> float | None:
    value = rows.get(month, {}).get(name)
    return None if value is None else round(float(value), 3)


def _read_rows(run_named: NamedQuery) -> Callable[[str, Mapping[str, object]], list[dict[str, Any]]]:
    return lambda name, parameters: run_named(name, dict(parameters)).to_dicts()


def _read_version() -> str:
    return ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
