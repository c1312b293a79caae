"""The first page: the leaderboard of every month and style, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import polars as pl

from schemas.vocabulary import PROMPT_STYLES
from tasks.report.board_data import find_examined
from tasks.report.charts import draw_heatmap
from tasks.report.labels import LABELS
from tasks.report.page_data import read_page
from tasks.report.panels import Panel, Source
from tasks.report.verdict_sentences import render_sentence, say_pair
from tasks.report.words import (
    describe_override,
    describe_place,
    describe_unequated,
    format_interval,
    format_rank_range,
    list_unequated,
)

_PAGE = read_page("leaderboard")
ABOUT = _PAGE.about

_AFTER_THE_FIRST = 4
_VERDICTS: Mapping[str, str] = {"true": "apart", "false": "alike"}


def read_leaderboard(source: Source, history: pl.DataFrame) -> list[Panel]:
    """What stands under the opening month's leaderboard of `leaderboard_history`; maybe nothing."""
    if not history.height:
        return []
    month, style = choose_edition(history)
    opened = {**source.shown, "month": month, "prompt_style": style}
    return [
        _show_heatmap(source, opened),
        _show_neighbours(source, history, opened),
        *_show_series(source, opened),
        _PAGE.panel("standing", source.run_named("standings", source.shown), params=source.shown),
        _show_sittings(source, history),
        _show_editions(source),
    ]


def describe_opening(history: pl.DataFrame) -> dict[str, Any]:
    """What the template prints of the opening edition, for readers without scripts."""
    if not history.height:
        return {"is_empty": True}
    month, style = choose_edition(history)
    opened = history.filter(month=month, prompt_style=style)
    months = history["month"].unique().sort(descending=True).to_list()
    return {
        "is_empty": False,
        "month": month,
        "style": style,
        "months": months,
        "styles": [name for name in PROMPT_STYLES if name in set(history["prompt_style"])],
        "families": history["family"].drop_nulls().unique().sort().to_list(),
        "rows": [
            row | _describe_row(row)
            for row in opened.with_columns(
                pl.selectors.float().round(4), is_alone=pl.col("score").count().over("edition_id") == 1
            ).iter_rows(named=True)
        ],
        "editions": [
            _describe_edition(part) for part in opened.partition_by("edition_id", maintain_order=True)
        ],
        "disciplines": find_examined(history),
        "is_mixed": history["is_simulated"].n_unique() > 1,
    }


def say_first(source: Source, history: pl.DataFrame) -> list[dict[str, Any]]:
    """What the verdicts on the first of the latest month and on those after it say first."""
    if not history.height:
        return []
    month, _ = choose_edition(history)
    sat = history.filter(
        pl.col("rank").is_not_null(), ~pl.col("is_repetition"), month=month, prompt_style="zero_shot"
    )
    models = sat.sort("rank", "model")["model"].to_list()
    if not models:
        return []
    rows = source.run_named("verdicts", {**source.shown, "prompt_style": "zero_shot"}).filter(month=month)
    found = {frozenset((row["model_a"], row["model_b"])): row for row in rows.to_dicts()}
    return [
        {
            "models": (models[0], other),
            "said": render_sentence(say_pair(found[frozenset((models[0], other))])[0]),
        }
        for other in models[1 : 1 + _AFTER_THE_FIRST]
        if frozenset((models[0], other)) in found
    ]


def choose_edition(history: pl.DataFrame) -> tuple[str, str]:
    """What the page opens with: the latest month's own run, zero-shot where it was sat."""
    own = history.filter(~pl.col("is_repetition"))
    month = str((history if own.is_empty() else own)["month"].max())
    sat = set(history.filter(pl.col("month") == month)["prompt_style"])
    return month, next(style for style in PROMPT_STYLES if style in sat)


def compare_neighbours(rows: pl.DataFrame, pairs: pl.DataFrame) -> list[dict[str, Any]]:
    """Each candidate beside the next in the order of S, as the better less the worse."""
    known = {(row["edition_id"], row["model_a"], row["model_b"]): row for row in pairs.iter_rows(named=True)}
    found = []
    for (edition_id,), of_edition in rows.filter(pl.col("rank").is_not_null()).group_by(
        "edition_id", maintain_order=True
    ):
        models = of_edition.sort("rank", "model")["model"].to_list()
        for better, worse in pairwise(models):
            first, second = sorted((better, worse))
            pair = known.get((edition_id, first, second))
            if pair is None:
                continue
            sign = 1 if first == better else -1
            ends = sorted(
                sign * pair[name] for name in ("together_low", "together_high") if pair[name] is not None
            )
            is_before = pair["p_together"] is None
            found.append(
                {
                    "better": better,
                    "worse": worse,
                    "difference": None if pair["difference"] is None else sign * pair["difference"],
                    "low": ends[0] if ends else None,
                    "high": ends[-1] if ends else None,
                    "p_together": pair["p_holm"] if is_before else pair["p_together"],
                    "is_distinguishable": pair["is_distinguishable"],
                    "pair_count": pair["pair_count"],
                    "is_repetition": pair["is_repetition"],
                    "marks": pair["marks"],
                }
            )
    return found


def _describe_edition(rows: pl.DataFrame) -> dict[str, Any]:
    """What stands above the rows of an edition."""
    left_out = list_unequated(rows)
    words = (
        (describe_unequated(left_out[0], "zh"), describe_unequated(left_out[0], "en")) if left_out else None
    )
    return {**rows.row(0, named=True), "unequated": words}


def _describe_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the board prints of a row beside its numbers."""
    return {
        "interval": format_interval(row["score_low"], row["score_high"]),
        "relative_interval": format_interval(row["relative_low"], row["relative_high"]),
        "equated_interval": format_interval(row["equated_low"], row["equated_high"]),
        "rank_range": format_rank_range(row["rank_low"], row["rank_high"]),
        "place": (describe_place(row, "zh"), describe_place(row, "en")),
    }


def _show_heatmap(source: Source, opened: Mapping[str, object]) -> Panel:
    frame = source.run_named("discipline_heatmap", dict(opened))
    finding = None
    if frame.height:
        widest = frame.sort("gap", descending=True).row(0, named=True)
        finding = _PAGE.say("heatmap", widest | {"name": LABELS[widest["discipline"]]})
    return _PAGE.panel(
        "heatmap",
        frame.select(
            "month",
            "model",
            "discipline",
            pl.col("discipline_score", "gap").round(3),
            "question_count",
            "marks",
        ),
        params=opened,
        finding=finding,
        draw=lambda language: draw_heatmap(frame, language),
    )


def _show_neighbours(source: Source, history: pl.DataFrame, opened: Mapping[str, object]) -> Panel:
    rows = history.filter(month=opened["month"], prompt_style=opened["prompt_style"])
    found = compare_neighbours(rows, source.run_named("rank_comparisons", dict(opened)))
    frame = pl.DataFrame(found, infer_schema_length=None)
    if found:
        frame = frame.with_columns(
            verdict=pl.col("is_distinguishable").cast(pl.String).replace(_VERDICTS).fill_null("none")
        )
    finding = None
    if found:
        apart = sum(bool(pair["is_distinguishable"]) for pair in found)
        finding = _PAGE.say("neighbours", {"all": len(found), "apart": apart})
    return _PAGE.panel("neighbours", frame, params=opened, finding=finding)


def _show_series(source: Source, opened: Mapping[str, Any]) -> list[Panel]:
    """Scores by way of counting pictures; nothing where no picture was asked about."""
    asked = {name: value for name, value in opened.items() if name != "prompt_style"}
    frame = source.run_named("picture_series", asked).filter(prompt_style=opened["prompt_style"])
    return [_PAGE.panel("series", frame, params=asked)] if frame.height else []


def _show_sittings(source: Source, history: pl.DataFrame) -> Panel:
    """One row per edition and prompt style: what was sat, who judged, what is missing."""
    frame = history.group_by("month", "prompt_style", "edition_id", maintain_order=True).agg(
        pl.col("run_id", "bank_version", "reference_model", "judge").drop_nulls().unique().sort(),
        candidate_count=pl.len(),
        question_count=pl.col("question_count").sum(),
        unanswered_count=pl.col("unanswered_count").sum(),
        unparsed_count=pl.col("unparsed_count").sum(),
        is_provisional=pl.col("is_provisional").any(),
        is_repetition=pl.col("is_repetition").first(),
        is_simulated=pl.col("is_simulated").any(),
    )
    return _PAGE.panel("behind", frame, params=source.shown)


def _show_editions(source: Source) -> Panel:
    frame = source.run_named("editions_published", source.shown)
    overrides = [
        " / ".join(filter(None, dict.fromkeys((describe_override(row, "zh"), describe_override(row, "en")))))
        for row in frame.iter_rows(named=True)
    ]
    return _PAGE.panel(
        "editions", frame.with_columns(pl.Series("override", overrides, dtype=pl.String)), params=source.shown
    )
