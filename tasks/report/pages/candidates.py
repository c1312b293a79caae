"""The pages that a script draws: one candidate, and several candidates compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tasks.report.board_data import DISCIPLINE_ORDER, list_columns, list_hundredths, shorten, write_data
from tasks.report.labels import LABELS
from tasks.report.panels import Panel, Source
from tasks.report.verdict import follow_candidate
from tasks.report.verdict_sentences import SENTENCES, list_values, render_sentence, say_pair
from tasks.texts import Words

_FILLED_BY = ("proctor publish",)
_STYLE = "zero_shot"
_HISTORY_MONTHS = 12
_DIFFERENCE = ("difference", "together_low", "together_high")
_CHANGE_SCORES = (
    "score", "score_low", "score_high", "previous_score", "score_change", "score_change_low", "score_change_high", "points",
    "new_score", "new_others_score", "anchor_score", "anchor_others_score",
)  # fmt: skip


def read_candidate(source: Source) -> dict[str, Panel]:
    """What the page of a candidate rests on beside the leaderboard, by section."""
    latest = {**source.shown, "prompt_style": _STYLE}
    changes = _rest_on(source, "change_by_discipline", LABELS["why_changed"], latest)
    return {
        "changes": replace(changes, frame=changes.frame.with_columns(pl.selectors.float().round(3))),
        "costs": _rest_on(source, "cost_per_point", LABELS["cost_of_one"], source.shown),
        "gains": _rest_on(source, "thinking_gain", LABELS["thinking"], source.shown),
        "improved": _rest_on(source, "improvement_since", LABELS["has_it_changed"], latest),
        "families": _rest_on(source, "family_trajectories", LABELS["its_family"], source.shown),
    }


def say_changes(source: Source, improved: pl.DataFrame) -> list[dict[str, Any]]:
    """Whether each candidate of two months or more has changed, in both languages."""

    def read(name: str, parameters: Mapping[str, object]) -> list[dict[str, Any]]:
        # The rows of one candidate are chosen from those of all, which are read once.
        asked = {key: value for key, value in parameters.items() if key != "model"}
        if name not in known:
            known[name] = source.run_named(name, asked).to_dicts()
        return known[name]

    known: dict[str, list[dict[str, Any]]] = {}
    return [
        {
            "model": row["model"],
            "is_simulated": row["is_simulated"],
            "said": follow_candidate(
                read, row["model"], _STYLE, simulated=source.include_simulated
            ).sentences,
        }
        for row in improved.select("model", "is_simulated").to_dicts()
    ]


def say_families(families: pl.DataFrame, verdicts: pl.DataFrame) -> list[dict[str, Any]]:
    """Each member of a family beside the one released before it: its verdict's first sentence."""
    known = {
        (frozenset((row["model_a"], row["model_b"])), row["is_simulated"]): row for row in verdicts.to_dicts()
    }
    steps = families.filter(pl.col("previous_model").is_not_null())
    found = []
    for row in steps.to_dicts():
        verdict = known.get((frozenset((row["model"], row["previous_model"])), row["is_simulated"]))
        said = [] if verdict is None else [render_sentence(one) for one in say_pair(verdict)[:2]]
        found.append(
            {key: row[key] for key in ("family", "model", "previous_model", "is_simulated")} | {"said": said}
        )
    return found


def read_compare(source: Source) -> dict[str, Panel]:
    """What the page of comparisons rests on: verdicts, months, differences, disciplines."""
    latest = {**source.shown, "prompt_style": _STYLE}
    return {
        "verdicts": _rest_on(source, "verdicts", LABELS["verdicts"], latest),
        "months": _rest_on(
            source, "pair_history", LABELS["pair_months"], {**latest, "month_count": _HISTORY_MONTHS}
        ),
        "pairs": _rest_on(source, "rank_comparisons", LABELS["neighbours"], latest),
        "disciplines": _rest_on(source, "discipline_differences", LABELS["differences"], latest),
    }


def widen_differences(panels: Mapping[str, Panel]) -> dict[str, Panel]:
    """The panels as their CSV has them: a row for each pair, its disciplines in columns."""
    pairs, disciplines = panels["pairs"], panels["disciplines"]
    wide = disciplines.frame.pivot(
        "discipline", index=["model_a", "model_b", "is_simulated"], values=list(_DIFFERENCE)
    )
    narrow = pairs.frame.filter(~pl.col("is_repetition")).drop(
        "month", "verdict", "p_value", "run_id", "edition_id", "is_repetition"
    )
    return {
        **panels,
        "pairs": replace(pairs, frame=narrow.with_columns(pl.selectors.float().round(3))),
        "disciplines": replace(disciplines, frame=wide.with_columns(pl.selectors.float().round(2))),
    }


def write_candidate_data(source: Source, panels: Mapping[str, Panel], path: Path) -> None:
    """The data of every candidate's page as a script: scores in hundredths, dollars as they are."""
    verdicts = source.run_named("verdicts", {**source.shown, "prompt_style": _STYLE})
    changes, costs, gains = (panels[name].frame for name in ("changes", "costs", "gains"))
    names = ["model", "month", "previous_month", "discipline", "new_count", "anchor_count", "is_simulated"]
    dollars = ["cost_per_1000_usd", "cost_per_point_usd"]
    data = {
        # The page adds the points up: a sum of rounded ones is another number.
        "changes": list_columns(changes, _CHANGE_SCORES, names)
        | {"points": (changes["points"] * 100).round(1).to_list()},
        "costs": list_columns(
            costs.with_columns(pl.col(dollars).round(6)),
            (),
            ["model", "month", *dollars, "is_efficient", "is_simulated"],
        ),
        "gains": list_columns(
            gains,
            ("gain", "gain_low", "gain_high"),
            ["model", "base_model", "discipline", "pair_count", "is_simulated"],
        ),
        "changed": say_changes(source, panels["improved"].frame),
        "families": say_families(panels["families"].frame, verdicts),
    }
    write_data(path, "candidates", data)


def write_difference_data(panels: Mapping[str, Panel], path: Path) -> None:
    """Write the differences of every pair as a script.

    For each pair it holds its S, what its verdict says, its months, then a row for each discipline, always in the same
    order.

    A discipline or a month that a pair has no difference in is null.
    """
    pairs = panels["pairs"].frame.filter(~pl.col("is_repetition"))
    models = sorted({*pairs["model_a"], *pairs["model_b"]})
    known = panels["disciplines"].frame
    disciplines = [name for name in DISCIPLINE_ORDER if name in set(known["discipline"])]
    keys = ["model_a", "model_b", "is_simulated"]
    rows = (
        pairs.select(keys)
        .join(
            pl.DataFrame({"discipline": disciplines}, schema={"discipline": pl.String}),
            how="cross",
            maintain_order="left_right",
        )
        .join(known, on=[*keys, "discipline"], how="left", maintain_order="left")
    )
    place = {name: at for at, name in enumerate(models)}
    data: dict[str, Any] = {
        "month": pairs["month"].max(),
        "models": models,
        "disciplines": disciplines,
        "pairs": {
            "model_a": [place[name] for name in pairs["model_a"]],
            "model_b": [place[name] for name in pairs["model_b"]],
            **{
                name: list_hundredths(pairs[name]) for name in ("difference", "together_low", "together_high")
            },
            "p_together": pairs.select(pl.coalesce("p_together", "p_holm").round(4)).to_series().to_list(),
            **{name: pairs[name].cast(pl.Int64).to_list() for name in ("is_distinguishable", "is_paired")},
            "is_simulated": pairs["is_simulated"].cast(pl.Int64).to_list(),
            "pair_count": pairs["pair_count"].to_list(),
        },
        "sentences": list(SENTENCES.values()),
        "said": _list_said(pairs.select(keys), panels["verdicts"].frame, known),
        "months": _list_months(pairs.select(keys), panels["months"].frame),
        "rows": {
            **{name: list_hundredths(rows[name]) for name in _DIFFERENCE},
            "pair_count": shorten(rows["pair_count"].to_list()),
        },
    }
    write_data(path, "differences", data)


def _list_said(
    pairs: pl.DataFrame, verdicts: pl.DataFrame, disciplines: pl.DataFrame
) -> list[list[list[Any]]]:
    """For each pair its sentences: the place of each in `SENTENCES`, then its values by name."""
    known = {(row["model_a"], row["model_b"], row["is_simulated"]): row for row in verdicts.to_dicts()}
    parts = disciplines.filter(pl.col("is_distinguishable").is_not_null()).partition_by(
        "model_a", "model_b", "is_simulated", as_dict=True
    )
    keys = list(SENTENCES)
    return [
        [
            [keys.index(one.key), *list_values(one)]
            for one in say_pair(known[row], parts[row].to_dicts() if row in parts else ())
        ]
        for row in pairs.iter_rows()
    ]


def _list_months(pairs: pl.DataFrame, history: pl.DataFrame) -> dict[str, Any]:
    """The last months, and for each pair its differences and intervals in them, in hundredths."""
    keys = ["model_a", "model_b", "is_simulated"]
    names = history["month"].unique().sort()
    rows = (
        pairs.join(pl.DataFrame({"month": names}), how="cross", maintain_order="left_right")
        .join(history, on=[*keys, "month"], how="left", maintain_order="left")
        .select("difference", "together_low", "together_high")
    )
    return {"names": names.to_list(), **{name: list_hundredths(rows[name]) for name in rows.columns}}


def _rest_on(source: Source, query: str, title: Words, params: Mapping[str, object]) -> Panel:
    """The rows of a query as the source of a section; the script shows them."""
    return Panel(
        name=query.replace("_", "-"),
        title=title,
        about=("", ""),
        query=query,
        params=params,
        frame=source.run_named(query, dict(params)),
        filled_by=_FILLED_BY,
    )
