"""Figures for a talk or a paper: published numbers, and a caption that states the method."""

from __future__ import annotations

import datetime as dt
import re
import struct
from typing import Any

import polars as pl
import pytest
import vl_convert
from lxml import etree

from schemas.errors import UsageError
from tasks.report.charts import draw_release
from tasks.report.figures import FIGURES, Asked, draw_figure
from tasks.report.panels import NamedQuery

CHINESE = "文心大模型"


def read_texts(svg: str) -> list[str]:
    """The texts of a drawing; of a text in several lines each line."""
    root = etree.fromstring(svg.encode())
    return ["".join(map(str, node.itertext())) for node in root.iter("{*}text", "{*}tspan") if not len(node)]


def find_rows(spec: Any) -> list[list[dict[str, Any]]]:
    if isinstance(spec, list):
        return [rows for part in spec for rows in find_rows(part)]
    if not isinstance(spec, dict):
        return []
    own = spec.get("data", {}).get("values") if isinstance(spec.get("data"), dict) else None
    return ([own] if own else []) + [rows for part in spec.values() for rows in find_rows(part)]


def with_chinese_name(season: NamedQuery, model: str) -> NamedQuery:
    def run_named(name: str, params: dict[str, object]) -> pl.DataFrame:
        return season(name, params).with_columns(pl.selectors.string().replace({model: CHINESE}))

    return run_named


def test_the_leaderboard_has_every_candidate_with_its_interval(season: NamedQuery) -> None:
    board = season("leaderboard", {})
    figure = draw_figure("leaderboard", season, Asked())
    (rows,) = {str(rows): rows for rows in find_rows(figure.spec)}.values()
    assert [(row["score"], row["low"], row["high"]) for row in rows] == [
        (pytest.approx(score, abs=0.01), low, high)
        for score, low, high in board.select("score", "score_low", "score_high").iter_rows()
    ]
    texts = read_texts(figure.render_svg())
    assert [name for name in board["model"] if not any(text.startswith(name) for text in texts)] == []
    first = board.row(0, named=True)
    shown = f"{first['score']:.1f} ({first['score_low']:.1f}–{first['score_high']:.1f})"
    assert any(text.startswith(shown) and text.endswith(first["rank_group"]) for text in texts)
    said = " ".join(texts)
    for words in ("95% intervals", "max-t, 5%", f"Judge {first['judge']}", f"edition {first['edition_id']}"):
        assert words in figure.caption
        assert words.split()[0] in said


def test_a_chinese_name_is_a_text_of_the_drawing_and_the_picture_has_300_dots_an_inch(
    season: NamedQuery,
) -> None:
    name = season("leaderboard", {})["model"][0]
    figure = draw_figure("leaderboard", with_chinese_name(season, name), Asked(language="zh"))
    svg = figure.render_svg()
    assert any(text.startswith(CHINESE) for text in read_texts(svg))
    assert "Noto Sans CJK SC" in svg
    picture = figure.render_png()
    assert picture.startswith(b"\x89PNG")
    at = picture.index(b"pHYs") + 4
    per_metre, _, unit = struct.unpack(">IIB", picture[at : at + 9])
    assert (round(per_metre * 0.0254), unit) == (300, 1)
    # Chinese lines begin with no punctuation.
    assert [text for text in read_texts(svg) if re.match("[，。；：、）]", text)] == []


def test_a_pair_is_drawn_by_month_with_its_verdict_in_the_caption(season: NamedQuery) -> None:
    history = season("pair_history", {})
    pair = history.row(0, named=True)
    first, second = pair["model_b"], pair["model_a"]
    figure = draw_figure("pair", season, Asked(names=(first, second)))
    drawn = max(find_rows(figure.spec), key=len)
    known = {
        row["month"]: row
        for row in history.filter(model_a=second, model_b=first).drop_nulls("difference").to_dicts()
    }
    assert {row["month"][:7]: row["value"] for row in drawn if row["value"] is not None} == {
        month: pytest.approx(-row["difference"], abs=0.001) for month, row in known.items()
    }
    assert re.search(r"cannot be told apart|is better than", figure.caption)
    assert "hold for all pairs of the month at once" in figure.caption


def test_a_few_months_are_named_once_each(season: NamedQuery) -> None:
    """Ticks of weeks and days were each named as their month."""

    def run_short(name: str, params: dict[str, object]) -> pl.DataFrame:
        frame = season(name, params)
        return (
            frame.filter(pl.col("month").is_in(["2025-06", "2025-07"])) if "month" in frame.columns else frame
        )

    pair = season("pair_history", {}).row(0, named=True)
    figure = draw_figure("pair", run_short, Asked(names=(pair["model_a"], pair["model_b"])))
    released = (
        season("score_by_release_date", {})
        .with_row_index("at")
        .with_columns(release_date=dt.date(2025, 12, 2) + pl.duration(days=40 * pl.col("at")))[:8]
    )
    for spec in (figure.spec, draw_release(released, None, "en").to_dict()):
        texts = read_texts(vl_convert.vegalite_to_svg(spec))
        months = [text for text in texts if re.fullmatch(r"20\d\d-\d\d", text)]
        assert months == sorted(set(months))
        assert len(months) > 1


def test_what_is_to_be_known_of_the_edition_stands_first_in_the_caption(simulated_season: NamedQuery) -> None:
    names = simulated_season("leaderboard", {})["model"][:2].to_list()
    for name, asked in (("leaderboard", ()), ("pair", names), ("history", names[:1])):
        figure = draw_figure(name, simulated_season, Asked(names=asked))
        assert figure.caption.startswith("SIMULATED: Candidates or judges were simulated")
        assert any(text.startswith("SIMULATED") for text in read_texts(figure.render_svg()))


def test_what_no_figure_is_of_is_refused_in_a_sentence(season: NamedQuery) -> None:
    name = season("leaderboard", {})["model"][0]
    for figure, asked, told in (
        ("radar", Asked(), f"there are {', '.join(FIGURES)}"),
        ("leaderboard", Asked(names=(name,)), "name none"),
        ("leaderboard", Asked(month="1999-01"), "Nothing is published of 1999-01"),
        ("pair", Asked(names=(name,)), "proctor figure pair A B"),
        ("pair", Asked(names=(name, f"{name}x")), f"Did you mean '{name}"),
        ("history", Asked(names=(f"{name}x",)), f"Did you mean '{name}"),
        ("history", Asked(style="few_shot"), "leave --style out"),
        ("leaderboard", Asked(language="fr"), "zh and en"),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError, match=re.escape(told)):
            draw_figure(figure, season, asked)
