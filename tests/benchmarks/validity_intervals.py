"""How often the intervals of S, R and differences hold the truth, in simulated exams.

It also measures how often groups part candidates that are equal. Every exam draws a bank, candidates and their answers, and
goes through the estimators of an edition.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from tasks.statistics import StarRows
from tasks.statistics.scores import (
    Differences,
    Estimate,
    compute_changes,
    compute_pairs,
    compute_ranks,
    compute_scores,
)
from tests.tasks.statistics.simulated import draw_month

_DISCIPLINES = 10


class Tally:
    """Shares of exams' intervals that held the truth, for each kind of interval."""

    def __init__(self) -> None:
        self._held: dict[str, list[float]] = defaultdict(list)

    def add(self, name: str, found: Estimate | Differences, truth: NDArray[np.float64]) -> None:
        """One exam's share of intervals that hold the truth."""
        known = ~np.isnan(found.low)
        held = (found.low <= truth) & (truth <= found.high)
        self._held[name].append(float(held[known].mean()))

    def get_coverage(self, name: str) -> float:
        """Share of intervals that hold the truth."""
        return float(np.mean(self._held[name]))


def measure_coverage(exams: int, candidates: int, questions: int, repeats: int, *, seed: int = 0) -> Tally:
    """Coverage over simulated exams; the last candidate is the reference."""
    tally = Tally()
    weights = np.full(_DISCIPLINES, 1 / _DISCIPLINES)
    ability = np.linspace(0.0, 3.0, candidates)
    size = {"questions": questions // _DISCIPLINES, "repeats": repeats}
    for exam in range(exams):
        number = seed + exam
        month = draw_month(number, ability=ability, **size)
        found = compute_scores(month.rows, weights, candidate_count=candidates, reference=candidates - 1)
        assert found.relative is not None
        tally.add("S", found.score, month.score)
        relative = found.relative.relative
        others = Estimate(*(getattr(relative, name)[:-1] for name in Estimate.__dataclass_fields__))
        tally.add("R, on common questions", others, month.relative[:-1])
        pairs = compute_pairs(month.rows, weights, candidate_count=candidates)
        truth = month.score[pairs.first] - month.score[pairs.second]
        tally.add("difference of two candidates, common questions", pairs.differences, truth)
        tally.add("  of neighbours", *_pick(pairs.differences, truth, pairs.second == pairs.first + 1))
        apart = draw_month(number, ability=ability, set_count=2, **size)
        pairs = compute_pairs(apart.rows, weights, candidate_count=candidates)
        truth = apart.score[pairs.first] - apart.score[pairs.second]
        tally.add(
            "difference of two candidates, different sets", *_pick(pairs.differences, truth, ~pairs.is_paired)
        )
        later = draw_month(number, ability=ability, month=1, **size)
        changes = compute_changes(month.rows, later.rows, weights, candidate_count=candidates)
        tally.add("change from month to month", changes.differences, later.score - month.score)
        pooled = draw_month(number, ability=ability, lineage_size=3, **size)
        clustered = compute_scores(pooled.rows, weights, candidate_count=candidates)
        tally.add("S, three variants of a lineage, by lineage", clustered.score, pooled.score)
        rows = pooled.rows
        naive = StarRows(rows.candidate, rows.discipline, rows.question, rows.question, rows.stars)
        tally.add(
            "  the same by question (not what we publish)",
            compute_scores(naive, weights, candidate_count=candidates).score,
            pooled.score,
        )
    return tally


def measure_family_error(
    exams: int, levels: NDArray[np.float64], *, questions: int, seed: int = 0
) -> dict[str, float]:
    """Shares of exams with one wrong group, rank range or pair.

    Candidates of one level are exactly equal.
    """
    weights = np.full(_DISCIPLINES, 1 / _DISCIPLINES)
    count = len(levels)
    wrong = dict.fromkeys(("pair", "rank range", "group"), 0)
    for exam in range(exams):
        month = draw_month(seed + exam, ability=levels, questions=questions // _DISCIPLINES, taste=0.0)
        score = compute_scores(month.rows, weights, candidate_count=count).score.value
        pairs = compute_pairs(month.rows, weights, candidate_count=count)
        found = compute_ranks(
            score,
            pairs.first,
            pairs.second,
            pairs.differences.difference,
            pairs.together.p_value,
        )
        better = (levels[None, :] > levels[:, None]).sum(axis=1)
        worse = (levels[None, :] < levels[:, None]).sum(axis=1)
        is_equal = levels[:, None] == levels[None, :]
        wrong["pair"] += bool((found.is_distinct & is_equal).any())
        wrong["rank range"] += bool(((found.lowest > 1 + better) | (found.highest < count - worse)).any())
        order = np.lexsort((-score, found.group))
        leaders = order[np.unique(found.group[order], return_index=True)[1]]
        wrong["group"] += any(
            bool((levels[found.group > found.group[one]] >= levels[one]).any()) for one in leaders
        )
    return {name: number / exams for name, number in wrong.items()}


def _pick(
    found: Differences, truth: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> tuple[Differences, NDArray[np.float64]]:
    columns = {name: getattr(found, name)[chosen] for name in Differences.__dataclass_fields__}
    return Differences(**columns), truth[chosen]
