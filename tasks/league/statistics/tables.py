"""The statistics of one domain and type of run, as rows of the lake's tables; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from schemas.errors import UsageError
from schemas.league_statistics import STATISTICS
from schemas.tables import get_table
from tasks.league.statistics.marks import Marks, arrange_marks, average_answers, list_comparisons, list_rounds
from tasks.statistics import Spearman, compute_pearson, compute_spearman, compute_spearman_interval
from tasks.statistics.league import (
    RESAMPLES,
    Overlap,
    compute_chance,
    compute_consistency,
    compute_family_bias,
    compute_mean_interval,
    compute_one_way,
    compute_run_spread,
    compute_tukey,
    make_generator,
)
from tasks.statistics.ratings import REPEATS, SHARES, compute_replays

Rows = list[dict[str, Any]]

DISTINGUISHABLE = 0.05


@dataclass(frozen=True)
class StatisticsRequest:
    """What is drawn.

    Attributes:
        seed: where the draws start; the same seed gives the same rows.
        resamples: behind each interval.
        repeats: samples of each share of the comparisons.
        shares: of all comparisons; all of them come on top.
    """

    seed: int = 0
    resamples: int = RESAMPLES
    repeats: int = REPEATS
    shares: tuple[float, ...] = SHARES


TABLES: Final = tuple(table.name for table in STATISTICS)


def compute_statistics(
    marks: pl.DataFrame,
    overlaps: pl.DataFrame,
    families: Mapping[str, str | None],
    exam: Mapping[str, float],
    request: StatisticsRequest,
) -> dict[str, pl.DataFrame]:
    """Every table's rows of one domain and type of run.

    Takes the rows of `league_marks_of` and `imported_overlaps_of` of it (either may be empty), each candidate's family, and the
    exam's score of each candidate that sat it (0 to 100). What the scores do not carry has no row: without judges there is no bias of
    families, without lists no chance level.
    """
    key = marks if marks.height else overlaps
    shared = {name: key[name][0] for name in ("league_id", "domain", "run_type")}
    rows: dict[str, Rows] = {"league_consistency": _list_imported_overlaps(overlaps, 0, shared, request)}
    if marks.height:
        arranged = arrange_marks(marks)
        given = _list_imported_overlaps(overlaps, len(arranged.models), shared, request)
        is_known = {"is_imported": arranged.is_imported, "is_simulated": arranged.is_simulated}
        scores = _list_scores(arranged, families, shared, request)
        rows |= {
            "league_scores": scores,
            "league_anova": [],
            "league_pairs": [],
            "league_family_bias": _list_family_bias(arranged, families),
            "league_consistency": _list_consistency(arranged, shared, request) or given,
            "league_correlations": _list_correlations(scores, exam),
            "league_replays": _list_replays(arranged, scores, shared, request),
        }
        # Without judges each score is the mean of an answer already.
        for unit in ("score", "answer") if (arranged.judge >= 0).any() else ("answer",):
            anova, pairs = _list_group_tests(arranged, unit)
            rows["league_anova"] += anova
            rows["league_pairs"] += pairs
        rows = {name: [is_known | row for row in own] for name, own in rows.items()}
    return {name: get_table(name).frame([shared | row for row in rows.get(name, ())]) for name in TABLES}


def _list_scores(
    marks: Marks, families: Mapping[str, str | None], shared: Mapping[str, Any], request: StatisticsRequest
) -> Rows:
    rows = []
    is_read = marks.is_read
    for code, model in enumerate(marks.models):
        own = is_read & (marks.answerer == code)
        # A list's Borda points have the same sum whatever the question.
        asked = is_read & (marks.asker == code) & (marks.answerer != code) & (not marks.is_borda)

        def draw(what: str, name: str = model) -> np.random.Generator:
            return make_generator(request.seed, *shared.values(), what, name)

        score = marks.score[own]
        single = compute_mean_interval(score, draw("score"), resamples=request.resamples)
        clustered = compute_mean_interval(
            score, draw("answer"), clusters=marks.answer[own], resamples=request.resamples
        )
        setting = compute_mean_interval(
            marks.score[asked], draw("setting"), clusters=marks.question[asked], resamples=request.resamples
        )
        known = own & (marks.run >= 0)
        spread = compute_run_spread(marks.score[known], marks.run[known], most=marks.most_points)
        rows.append(
            {
                "model": model,
                "family": families.get(model),
                "score": single.mean,
                "score_low": single.low,
                "score_high": single.high,
                "answer_low": clustered.low,
                "answer_high": clustered.high,
                "score_count": len(score),
                "answer_count": clustered.unit_count,
                "void_count": int((~is_read & (marks.answerer == code)).sum()),
                "run_count": spread.run_count or None,
                "run_sd": spread.sd,
                "run_sd_100": spread.sd_100,
                "setting_score": setting.mean,
                "setting_low": setting.low,
                "setting_high": setting.high,
                "question_count": setting.unit_count,
                "most_points": marks.most_points,
                "resample_count": request.resamples,
                "seed": request.seed,
            }
        )
    return _rank(rows)


def _rank(rows: Rows) -> Rows:
    known = [row["score"] for row in rows if row["score"] is not None]
    return [
        row | {"rank": None if row["score"] is None else 1 + sum(one > row["score"] + 1e-9 for one in known)}
        for row in rows
    ]


def _list_group_tests(marks: Marks, unit: str) -> tuple[Rows, Rows]:
    """Analysis of variance and all pairs; none where the scores do not allow an error."""
    if unit == "score":
        value, owner = marks.score[marks.is_read], marks.answerer[marks.is_read]
    else:
        value, owner = average_answers(marks)
    codes = np.unique(owner)
    try:
        found = compute_one_way([value[owner == code] for code in codes])
    except UsageError:
        return [], []
    anova = {
        "unit": unit,
        "f": found.f,
        "between_degrees": found.between_degrees,
        "within_degrees": found.within_degrees,
        "within_square": found.within_square,
        "p_value": found.p_value,
    }
    tukey = compute_tukey(found)
    names = [marks.models[code] for code in codes]
    pairs = [
        {
            "unit": unit,
            "model_a": names[tukey.first[at]],
            "model_b": names[tukey.second[at]],
            "difference": float(tukey.difference[at]),
            "difference_low": float(tukey.low[at]),
            "difference_high": float(tukey.high[at]),
            "p_value": float(tukey.p_value[at]),
            "is_distinguishable": bool(tukey.p_value[at] < DISTINGUISHABLE),
        }
        for at in range(len(tukey.first))
    ]
    return [anova], pairs


def _list_family_bias(marks: Marks, families: Mapping[str, str | None]) -> Rows:
    rows = marks.is_read & (marks.judge >= 0)
    names = sorted({name for model in marks.models if (name := families.get(model)) is not None})
    if not names or not rows.any():
        return []
    family = np.array(
        [-1 if (name := families.get(model)) is None else names.index(name) for model in marks.models]
    )
    found = compute_family_bias(
        marks.score[rows],
        marks.answer[rows],
        marks.judge[rows],
        marks.answerer[rows],
        family,
        ranked_question=marks.question[rows] if marks.is_borda else None,
    )
    return [
        {
            "family": names[one.family],
            "unit": one.unit,
            "in_mean": one.welch.first_mean,
            "out_mean": one.welch.second_mean,
            "difference": one.welch.difference,
            "difference_low": one.welch.low,
            "difference_high": one.welch.high,
            "t": one.welch.t,
            "degrees": one.welch.degrees,
            "p_value": one.welch.p_value,
            "in_count": one.welch.first_count,
            "out_count": one.welch.second_count,
        }
        for one in found
    ]


def _list_consistency(marks: Marks, shared: Mapping[str, Any], request: StatisticsRequest) -> Rows:
    rounds = list(list_rounds(marks))
    generator = make_generator(request.seed, *shared.values(), "consistency")
    found = compute_consistency(
        [lists for _, lists in rounds], [run for run, _ in rounds], generator, resamples=request.resamples
    )
    return [_describe_overlap(one, request) for one in found]


def _describe_overlap(one: Overlap, request: StatisticsRequest) -> dict[str, Any]:
    return {
        "k": one.k,
        "overlap": one.overlap,
        "overlap_low": one.low,
        "overlap_high": one.high,
        "run_low": one.run_low,
        "run_high": one.run_high,
        "chance": one.chance,
        "above_chance": one.above_chance,
        "round_count": one.round_count,
        "run_count": one.run_count,
        "resample_count": request.resamples,
        "seed": request.seed,
    }


def _list_imported_overlaps(
    overlaps: pl.DataFrame, member_count: int, shared: Mapping[str, Any], request: StatisticsRequest
) -> Rows:
    """The mean over the runs of a file, and chance for lists without the judge's own answer."""
    chance = compute_chance(make_full_lists(member_count)) if member_count > 2 else np.zeros(0)
    rows = []
    for (k,), own in overlaps.sort("k").group_by("k", maintain_order=True):
        value = own["overlap"].to_numpy()
        generator = make_generator(request.seed, *shared.values(), "consistency", k)
        found = compute_mean_interval(value, generator, resamples=request.resamples)
        at = int(str(k)) - 1
        expected = float(chance[at]) if at < len(chance) else None
        rows.append(
            {
                "k": k,
                "overlap": found.mean,
                "run_low": found.low,
                "run_high": found.high,
                "chance": expected,
                "above_chance": None
                if expected is None or expected > 1 - 1e-12 or found.mean is None
                else (found.mean - expected) / (1 - expected),
                "run_count": len(value),
                "resample_count": request.resamples,
                "seed": request.seed,
                "is_imported": True,
                "is_simulated": False,
            }
        )
    return rows


def make_full_lists(candidate_count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The lists of a round in which everybody judges all answers but its own."""
    lists = np.zeros((candidate_count, candidate_count - 1))
    lists[np.arange(1, candidate_count), np.arange(candidate_count - 1)] = np.nan
    return lists


def _list_correlations(scores: Rows, exam: Mapping[str, float]) -> Rows:
    rows: Rows = []
    both = [row for row in scores if row["score"] is not None]
    compared = {
        "setting": [(row["score"], row["setting_score"]) for row in both if row["setting_score"] is not None],
        "exam": [(row["score"], exam[row["model"]]) for row in both if row["model"] in exam],
    }
    for name, pairs in compared.items():
        if not pairs:
            continue
        first, second = [one for one, _ in pairs], [other for _, other in pairs]
        rank = compute_spearman(first, second)
        linear = compute_pearson(first, second)
        interval = compute_spearman_interval(rank)
        ends = (rank.rho, interval.low, interval.high, rank.p_value)
        rows += [
            _describe_correlation(name, "spearman", ends, rank),
            _describe_correlation(name, "pearson", (linear.r, linear.low, linear.high, linear.p_value), rank),
        ]
    return rows


def _describe_correlation(
    compared_with: str, method: str, found: tuple[float | None, ...], rank: Spearman
) -> dict[str, Any]:
    names = ("correlation", "correlation_low", "correlation_high", "p_value")
    return {
        "compared_with": compared_with,
        "method": method,
        "candidate_count": rank.pair_count,
        **dict(zip(names, found, strict=True)),
    }


def _list_replays(marks: Marks, scores: Rows, shared: Mapping[str, Any], request: StatisticsRequest) -> Rows:
    """None where there is no order to find again."""
    scored = [code for code, row in enumerate(scores) if row["score"] is not None]
    lists = list_comparisons(marks)[:, scored]
    value = np.array([scores[code]["score"] for code in scored])
    generator = make_generator(request.seed, *shared.values(), "replays")
    try:
        found = compute_replays(
            lists, value, generator, shares=(*request.shares, 1.0), repeats=request.repeats
        )
    except UsageError:
        return []
    return [
        {
            "method": one.method,
            "share": one.share,
            "game_count": one.game_count,
            "repeat_count": one.repeat_count,
            "spearman": one.rho,
            "spearman_sd": one.rho_sd,
            "spearman_low": one.rho_low,
            "spearman_high": one.rho_high,
            "same_order_rate": one.same_order_rate,
            "candidate_count": len(scored),
            "seed": request.seed,
        }
        for one in found
    ]
