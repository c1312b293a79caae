from __future__ import annotations

from math import erfc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from schemas.errors import ContractError
from tasks.statistics.scores.ranks import compute_ranks

PUBLISHED = Path(__file__).parent / "published"


def make_pairs(score: np.ndarray, adjusted: dict[tuple[int, int], float]) -> tuple[np.ndarray, ...]:
    first, second = np.triu_indices(len(score), 1)
    p_values = [adjusted.get((a, b), 1.0) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    return score, first, second, score[first] - score[second], np.array(p_values)


def correct_by_holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's step-down rule (1979): R's `p.adjust(p, "holm")`."""
    order = np.argsort(p_values)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)).clip(max=1.0)
    return adjusted


def test_the_published_table_of_59_models_leaves_six_ranks_to_the_first() -> None:
    """LLMEval-Fair's table 8 on 1,000 questions each, stars spread 85% of all or nothing."""
    published = pl.read_csv(PUBLISHED / "scores.csv").sort("score", descending=True)
    score = published["score"].to_numpy()
    share = published.select(published.columns[3:]).to_numpy() / 10
    se = 0.85 * 100 * np.sqrt((share * (1 - share)).mean(axis=1) / 1000)
    first, second = np.triu_indices(len(score), 1)
    difference = score[first] - score[second]
    z = np.abs(difference) / np.hypot(se[first], se[second])
    p_values = np.array([erfc(value / np.sqrt(2)) for value in z])

    found = compute_ranks(score, first, second, difference, correct_by_holm(p_values))

    assert (found.lowest[0], found.highest[0]) == (1, 6)
    assert (found.lowest[1], found.highest[1]) == (1, 15)
    neighbours = second == first + 1
    assert (p_values[neighbours] <= 0.05).sum() == 5
    assert (found.group[:6] == 1).all()
    assert found.group[6] == 2
    assert ((found.lowest <= found.rank) & (found.rank <= found.highest)).all()


def test_a_rank_range_counts_who_is_certainly_better_and_who_certainly_worse() -> None:
    score = np.array([90.0, 80.0, 79.0, 60.0])

    found = compute_ranks(*make_pairs(score, {(0, 2): 0.01, (0, 3): 0.001, (1, 3): 0.01, (2, 3): 0.03}))

    assert found.rank.tolist() == [1, 2, 3, 4]
    assert found.lowest.tolist() == [1, 1, 2, 4]
    assert found.highest.tolist() == [2, 3, 3, 4]
    assert found.group.tolist() == [1, 1, 2, 3]
    assert found.is_distinct[0].tolist() == [False, False, True, True]


def test_who_stands_in_a_lower_group_differs_from_the_best_of_every_higher_one() -> None:
    # The second is known to be worse, the third (with few questions) is not: all three stay together.
    score = np.array([90.0, 80.0, 79.0, 60.0])

    found = compute_ranks(*make_pairs(score, {(0, 1): 0.01, (0, 3): 0.01}))

    assert found.group.tolist() == [1, 1, 1, 2]


def test_a_candidate_without_a_score_has_no_rank_and_no_group() -> None:
    score = np.array([np.nan, 80.0, 90.0])
    pairs = make_pairs(score, {(1, 2): 0.001})

    found = compute_ranks(
        pairs[0], pairs[1], pairs[2], pairs[3], np.where(np.isnan(pairs[3]), np.nan, pairs[4])
    )

    assert found.rank.tolist() == [0, 2, 1]
    assert (found.lowest.tolist(), found.highest.tolist()) == ([0, 2, 1], [0, 2, 1])
    assert found.group.tolist() == [0, 2, 1]


def test_equal_scores_share_the_better_rank() -> None:
    score = np.array([80.0, 90.0, 80.0])

    found = compute_ranks(*make_pairs(score, {}))

    assert found.rank.tolist() == [2, 1, 2]
    assert found.highest.tolist() == [3, 3, 3]
    assert found.group.tolist() == [1, 1, 1]


def test_scores_that_differ_by_the_order_of_their_sums_alone_are_equal() -> None:
    score = np.array([46.5, np.nextafter(46.5, 47.0)])

    assert compute_ranks(*make_pairs(score, {})).rank.tolist() == [1, 1]


def test_pairs_that_are_none_are_refused() -> None:
    pairs = make_pairs(np.array([1.0, 2.0]), {})
    with pytest.raises(ContractError, match="known candidates"):
        compute_ranks(pairs[0], pairs[1], pairs[2] + 5, pairs[3], pairs[4])
