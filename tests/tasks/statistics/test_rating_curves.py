from __future__ import annotations

import numpy as np
import pytest

from schemas.errors import UsageError
from tasks.statistics.ratings.rating_curves import (
    METHODS,
    CurvePoint,
    choose_sizes,
    compute_rating_curves,
    count_wins,
)


def make_matrix(count: int = 6, questions: int = 200, seed: int = 3) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return np.array(
        [generator.binomial(3, ability, questions) for ability in np.linspace(0.4, 0.9, count)], dtype=float
    )


def by_key(points: list[CurvePoint]) -> dict[tuple[int, str], CurvePoint]:
    return {(point.sample_size, point.method): point for point in points}


def test_all_methods_converge_as_the_sample_grows_and_the_whole_sample_gives_the_full_order() -> None:
    points = by_key(compute_rating_curves(make_matrix(), np.ones(200), [5, 50, 200], samples=30, seed=1))

    assert set(points) == {(size, method) for size in (5, 50, 200) for method in METHODS}
    for method in METHODS:
        small, large, whole = (points[size, method].rho or 0 for size in (5, 50, 200))
        assert small < large <= whole + 0.02, method
    assert points[200, "score"].rho == 1.0
    assert points[200, "score"].rho_sd == 0.0
    assert points[200, "score"].rating.tolist() == pytest.approx(
        (make_matrix().mean(axis=1) / 3 * 100).tolist()
    )
    # Elo's last games weigh most, so it moves from sample to sample even when all questions are played.
    assert points[200, "elo"].rating_sd.min() > 1
    assert points[200, "bradley_terry"].rating_sd.max() == pytest.approx(0, abs=1e-6)


def test_the_full_order_follows_the_weights_of_the_questions() -> None:
    # The second candidate is better on the two questions that weigh most.
    matrix = np.array([[3.0, 3.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0, 3.0], [0.0] * 5])

    even, uneven = (
        by_key(compute_rating_curves(matrix, weights, [5], samples=1))[5, "score"]
        for weights in (np.ones(5), np.array([0.1, 0.1, 0.1, 0.35, 0.35]))
    )

    assert even.full_rank.tolist() == even.rank.tolist() == [1, 2, 3]
    assert uneven.full_rank.tolist() == uneven.rank.tolist() == [2, 1, 3]
    assert uneven.rating.tolist() == pytest.approx([30.0, 70.0, 0.0])


def test_the_same_seed_gives_the_same_points_whatever_the_other_sizes_are() -> None:
    matrix = make_matrix()

    alone = compute_rating_curves(matrix, np.ones(200), [20], samples=5, seed=9)
    among = compute_rating_curves(matrix, np.ones(200), [10, 20, 30], samples=5, seed=9)
    other = compute_rating_curves(matrix, np.ones(200), [20], samples=5, seed=8)

    picked = [point for point in among if point.sample_size == 20]
    assert [point.rating.tolist() for point in alone] == [point.rating.tolist() for point in picked]
    assert [point.rating.tolist() for point in alone] != [point.rating.tolist() for point in other]


def test_equal_candidates_share_a_rank_and_have_no_order_to_compare() -> None:
    points = by_key(compute_rating_curves(np.ones((3, 8)), np.ones(8), [4], samples=2))

    assert points[4, "score"].rank.tolist() == points[4, "bradley_terry"].rank.tolist() == [1, 1, 1]
    assert {points[4, method].rho for method in METHODS} == {None}


def test_a_tie_is_half_a_win_for_either() -> None:
    assert count_wins(np.array([[3.0, 1.0, 2.0], [3.0, 0.0, 3.0]])).tolist() == [[0.0, 1.5], [1.5, 0.0]]


def test_sizes_grow_to_the_whole() -> None:
    assert choose_sizes(1000) == [10, 20, 50, 100, 200, 500, 1000]
    assert choose_sizes(9) == [9]


def test_a_sample_larger_than_there_are_questions_is_refused() -> None:
    with pytest.raises(UsageError, match="Choose 1 to 4"):
        compute_rating_curves(np.ones((3, 4)), np.ones(4), [5])


def test_one_candidate_has_nobody_to_be_compared_with() -> None:
    with pytest.raises(UsageError, match="two candidates"):
        compute_rating_curves(np.ones((1, 4)), np.ones(4), [2])
