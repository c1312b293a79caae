from __future__ import annotations

import numpy as np
import pytest

from schemas.errors import ContractError
from tasks.statistics.entry_rating import PRIOR_SPREAD, compute_entry_rating


def test_before_any_match_the_rating_is_the_mean_with_the_prior_around_it() -> None:
    rating = compute_entry_rating([], [])
    assert rating.rating == 1000.0
    assert rating.high - rating.rating == pytest.approx(1.96 * PRIOR_SPREAD, rel=1e-4)


def test_equal_results_against_one_opponent_come_near_to_its_rating_and_more_so_with_more_matches() -> None:
    few, many = (compute_entry_rating([1200.0] * n, [0.5] * n) for n in (4, 400))
    assert 1000 < few.rating < many.rating < 1200
    assert many.rating == pytest.approx(1200, abs=2)
    # At even chances a match brings (ln 10 / 400)^2 / 4.
    information = 400 * (np.log(10) / 400) ** 2 / 4
    assert many.high - many.low == pytest.approx(2 * 1.96 / np.sqrt(information), rel=0.01)


def test_who_won_or_lost_everything_has_a_finite_rating() -> None:
    won, lost = (compute_entry_rating([1000.0] * 10, [result] * 10) for result in (1.0, 0.0))
    assert 1300 < won.rating < 2000
    assert won.rating - 1000 == pytest.approx(1000 - lost.rating)
    far = compute_entry_rating([3000.0] * 50, [1.0] * 50)
    assert np.isfinite(far.rating)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    opponents = generator.normal(1000, 150, size=40)
    truth, covered = 1100.0, 0
    chances = 1 / (1 + 10 ** ((opponents - truth) / 400))
    for _ in range(400):
        rating = compute_entry_rating(
            opponents.tolist(), (generator.random(40) < chances).astype(float).tolist()
        )
        covered += rating.low <= truth <= rating.high
    assert 0.92 <= covered / 400 <= 0.98


def test_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(ContractError, match="one length"):
        compute_entry_rating([1000.0], [])
