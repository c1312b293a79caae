from __future__ import annotations

import numpy as np
import pytest

from tasks.statistics.cells import StarRows
from tasks.statistics.scores.comparisons import Pairs, compute_pairs
from tasks.statistics.scores.ranks import compute_ranks


def sit(stars: np.ndarray, cluster_size: int = 1) -> StarRows:
    """Stars as candidates × questions of one discipline."""
    candidate, question = (codes.ravel() for codes in np.indices(stars.shape))
    return StarRows(
        candidate=candidate,
        discipline=np.zeros_like(candidate),
        question=question,
        lineage=question,
        stars=stars.ravel().astype(float),
        cluster=question // cluster_size,
    )


def tell(stars: np.ndarray, cluster_size: int = 1) -> Pairs:
    return compute_pairs(sit(stars, cluster_size), [1.0], candidate_count=len(stars))


@pytest.mark.parametrize(("candidates", "studentised_range"), [(3, 3.314), (12, 4.622)])
def test_for_independent_equals_the_critical_value_is_tukeys(
    candidates: int, studentised_range: float
) -> None:
    # Upper 5% points of the studentised range with endless degrees (Pearson and Hartley 1966, table 29), over the root of 2; ours
    # is two standard errors of its draws on the safe side.
    stars = np.random.default_rng(4).integers(0, 4, (candidates, 2_000))

    pairs = tell(stars)

    together, alone = pairs.together, pairs.differences
    reach = (together.high - together.low) / 2 / alone.se
    assert np.median(reach) == pytest.approx(studentised_range / np.sqrt(2), rel=0.035)


def test_a_single_pair_told_together_is_that_pair() -> None:
    pairs = tell(np.random.default_rng(2).random((2, 60)) * 3)

    assert pairs.together.p_value.tolist() == pairs.differences.p_value.tolist()
    assert pairs.together.low == pytest.approx(pairs.differences.low)


def test_a_constant_difference_has_the_p_value_of_the_sign_test() -> None:
    # The third answers as the first, so that there is one more thing to be wrong about, and its statistics are the same.
    stars = np.array([[0, 1, 2, 0, 1, 2, 0, 1], [1, 2, 3, 1, 2, 3, 1, 2], [0, 1, 2, 0, 1, 2, 0, 1]])

    together = tell(stars).together

    assert together.p_value == pytest.approx([2 / 2**8, 1.0, 2 / 2**8], abs=0.006)
    assert (together.high[0], together.low[2]) == (0.0, 0.0)


def test_what_moves_with_the_others_needs_less_than_holm_asks() -> None:
    # Ten candidates that answer as one but for a few questions: 45 pairs, hardly more than ten things to be wrong about.
    generator = np.random.default_rng(9)
    shared = generator.integers(0, 4, 300)
    stars = np.where(generator.random((10, 300)) < 0.15, generator.integers(0, 4, (10, 300)), shared)

    pairs = tell(stars)
    smallest = int(np.argmin(pairs.differences.p_value))

    assert pairs.together.p_value[smallest] < 45 * pairs.differences.p_value[smallest]
    assert (pairs.together.p_value >= pairs.differences.p_value).all()


def test_an_interval_holds_nought_exactly_where_a_pair_is_not_told_apart() -> None:
    generator = np.random.default_rng(7)
    ability = np.linspace(0.0, 1.2, 8)[:, None]
    stars = (generator.normal(size=(8, 240)) + ability + generator.normal(size=240) > 0.5) * 3

    pairs = tell(stars, cluster_size=4)
    together = pairs.together

    is_apart = together.p_value <= 0.05
    assert 0 < is_apart.sum() < len(is_apart)
    assert ((together.low < 0) & (together.high > 0))[~is_apart].all()
    assert ((together.low >= 0) | (together.high <= 0))[is_apart].all()
    assert (together.low <= pairs.differences.low)[~is_apart].all()
    ranks = compute_ranks(
        stars.mean(axis=1), pairs.first, pairs.second, pairs.differences.difference, together.p_value
    )
    assert int(ranks.is_distinct.sum()) == 2 * int(is_apart.sum())


def test_the_same_answers_give_the_same_words() -> None:
    stars = np.random.default_rng(1).integers(0, 4, (5, 40))

    first, second = tell(stars).together, tell(stars).together

    assert first.p_value.tolist() == second.p_value.tolist()
    assert first.low.tolist() == second.low.tolist()


def test_candidates_of_other_sets_are_told_together_with_them() -> None:
    generator = np.random.default_rng(3)
    stars = generator.integers(0, 4, (4, 200))
    rows = sit(stars)
    moved = rows.question + np.where(rows.candidate >= 2, 1_000, 0)
    apart = StarRows(rows.candidate, rows.discipline, moved, moved, rows.stars)

    pairs = compute_pairs(apart, [1.0], candidate_count=4)

    assert pairs.is_paired.tolist() == [True, False, False, False, False, True]
    assert (pairs.together.low < pairs.differences.low).all()
    assert (pairs.differences.high < pairs.together.high).all()


def test_who_has_nothing_to_be_compared_is_not_counted() -> None:
    rows = sit(np.random.default_rng(5).integers(0, 4, (3, 50)))
    kept = rows.candidate < 2
    fewer = StarRows(
        rows.candidate[kept], rows.discipline[kept], rows.question[kept], rows.lineage[kept], rows.stars[kept]
    )

    pairs = compute_pairs(fewer, [1.0], candidate_count=3)

    assert np.isnan(pairs.together.p_value).tolist() == [False, True, True]
    assert np.isnan(pairs.together.low).tolist() == [False, True, True]
