"""How often the intervals of S, R and differences hold the truth, in simulated exams.

It also measures how often groups part candidates that are equal.

    python -m tests.benchmarks.validity_intervals [--exams 200] [--candidates 20] [--questions 1000] [--repeats 3]

Every exam draws a bank, candidates and their answers, and goes through the estimators of an edition. A 95% interval should
hold the truth in 94 to 96.5% of cases; the groups of at most 5% of exams should part candidates that are equal. Also the
CPU seconds of a month: 60 candidates, 3 styles, 1,000 questions, 3 repeats, and all of its pairs.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence

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
    """Held and tried, and the mean width, for each kind of interval."""

    def __init__(self) -> None:
        self._held: dict[str, list[float]] = defaultdict(list)
        self._widths: dict[str, list[float]] = defaultdict(list)

    def add(self, name: str, found: Estimate | Differences, truth: NDArray[np.float64]) -> None:
        """One exam's share of intervals that hold the truth."""
        known = ~np.isnan(found.low)
        held = (found.low <= truth) & (truth <= found.high)
        self._held[name].append(float(held[known].mean()))
        self._widths[name].append(float((found.high - found.low)[known].mean()))

    def get_coverage(self, name: str) -> float:
        """Share of intervals that hold the truth."""
        return float(np.mean(self._held[name]))

    def print(self) -> None:
        """Print a line for each kind.

        The error of the share counts exams, as the intervals of one exam move together.
        """
        print(f"{'95% interval of':<52}{'coverage':>10}{'± se':>8}{'width':>8}")
        for name, held in self._held.items():
            error = np.std(held, ddof=1) / np.sqrt(len(held)) if len(held) > 1 else np.nan
            print(f"{name:<52}{np.mean(held):>10.4f}{error:>8.4f}{np.mean(self._widths[name]):>8.2f}")


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


def measure_month() -> tuple[int, float, float]:
    """Rows of a full month, CPU seconds of its scores and of all pairs within a style."""
    months = [draw_month(style, ability=np.linspace(0, 3, 60), repeats=3) for style in range(3)]
    weights = np.full(_DISCIPLINES, 1 / _DISCIPLINES)
    begun = time.process_time()
    for month in months:
        compute_scores(month.rows, weights, candidate_count=60, reference=59)
    scored = time.process_time()
    for month in months:
        compute_pairs(month.rows, weights, candidate_count=60)
    return sum(len(month.rows.stars) for month in months), scored - begun, time.process_time() - scored


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exams", type=int, default=200)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args(arguments)
    print(
        f"\n## Intervals: {chosen.exams} exams, {chosen.candidates} candidates, {chosen.questions} questions in "
        f"{_DISCIPLINES} disciplines, {chosen.repeats} repeats\n"
    )
    measure_coverage(chosen.exams, chosen.candidates, chosen.questions, chosen.repeats).print()
    print(f"\n## Groups, all pairs together at 5%: {chosen.exams} exams, share with one error or more\n")
    for name, levels in (
        ("20 equal candidates", np.full(20, 1.5)),
        ("4 levels of 5, .15 logits apart", np.repeat(np.arange(4) * 0.15 + 1.2, 5)),
    ):
        shares = measure_family_error(chosen.exams, levels, questions=chosen.questions)
        print(f"{name:<40}" + "  ".join(f"{kind} {share:.3f}" for kind, share in shares.items()))
    count, scores, pairs = measure_month()
    print(
        f"\nA month of {count:,} rows: scores with R {scores:.2f} CPU s, all pairs of each style {pairs:.2f} CPU s"
    )


def _pick(
    found: Differences, truth: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> tuple[Differences, NDArray[np.float64]]:
    columns = {name: getattr(found, name)[chosen] for name in Differences.__dataclass_fields__}
    return Differences(**columns), truth[chosen]


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
