from __future__ import annotations

import numpy as np
import pytest

from schemas.errors import ContractError, UsageError
from tasks.statistics.ratings import elo
from tasks.statistics.ratings.elo import (
    PRIOR_SPREAD,
    K,
    compute_bradley_terry,
    compute_entry_rating,
    compute_expected_score,
    compute_round_elo,
    play_elo,
)

# Wins in the American League East, 1987 (Agresti, Categorical Data Analysis, table 10.10): Milwaukee, Detroit, Toronto,
# New York, Boston, Cleveland, Baltimore; rows beat columns.
BASEBALL = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    dtype=float,
)


def test_the_expected_score_is_that_of_the_published_worked_example() -> None:
    # The usual worked example of a player rated 1613 in a five-round tournament.
    expected = compute_expected_score(np.array(1613.0), np.array([1609.0, 1477.0, 1388.0, 1586.0, 1720.0]))

    assert expected.round(3).tolist() == [0.506, 0.686, 0.785, 0.539, 0.351]


def test_one_game_moves_both_ratings_by_k_times_the_surprise() -> None:
    ratings = play_elo(np.array([[0]]), np.array([[1]]), np.array([[1.0]]), 2)

    assert ratings.tolist() == [[1000 + K / 2, 1000 - K / 2]]


def test_bradley_terry_reproduces_the_published_abilities() -> None:
    ratings = compute_bradley_terry(BASEBALL, prior=0.0)

    abilities = (ratings - ratings[-1]) / 400 * np.log(10)
    assert abilities == pytest.approx([1.581, 1.436, 1.294, 1.248, 1.108, 0.684, 0.0], abs=6e-4)


def test_bradley_terry_without_a_prior_refuses_a_candidate_that_won_everything() -> None:
    wins = np.array([[0.0, 3.0], [0.0, 0.0]])

    with pytest.raises(UsageError, match="prior"):
        compute_bradley_terry(wins, prior=0.0)
    assert np.diff(compute_bradley_terry(wins)) < 0


def test_bradley_terry_without_a_prior_refuses_groups_of_which_one_was_never_beaten_by_the_others() -> None:
    """Far up, the likelihood is flat to the last digit: a step of nothing is no solution there."""
    wins = np.array([[0.0, 1.0, 3.0, 0.0], [4.0, 0.0, 0.0, 0.0], [2.0, 4.0, 0.0, 0.0], [1.0, 3.0, 4.0, 0.0]])

    with pytest.raises(UsageError, match="do not connect"):
        compute_bradley_terry(wins, prior=0.0)
    with pytest.raises(UsageError, match="do not connect"):
        compute_bradley_terry(np.stack([wins + 1, wins]), prior=0.0)


def test_wins_that_are_not_squares_of_counts_are_refused() -> None:
    for wins in (np.array([[0.0, -1.0], [1.0, 0.0]]), np.zeros((2, 3, 4))):
        with pytest.raises(ContractError, match="square"):
            compute_bradley_terry(wins)
    with pytest.raises(UsageError, match="prior"):
        compute_bradley_terry(np.zeros((1, 2, 2)), prior=0.0)


def test_ties_leave_equal_candidates_equal() -> None:
    ratings = play_elo(np.array([[0, 1]]), np.array([[1, 0]]), np.array([[0.5, 0.5]]), 2)

    assert ratings.tolist() == [[1000.0, 1000.0]]


def test_in_rounds_every_pair_meets_once_on_every_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elo, "K", 1e-6)
    # With a K so small that ratings hardly move, each game is worth K x (outcome - 1/2): the sum counts games.
    generator = np.random.default_rng(4)
    for count in (2, 5, 6):
        stars = generator.integers(0, 4, (count, 9)).astype(float)
        samples = np.array([[0, 3, 8], [1, 2, 4]])

        ratings = compute_round_elo(stars, samples, generator)

        for rated, questions in zip(ratings, samples, strict=True):
            sign = np.sign(stars[:, None, questions] - stars[None, :, questions])
            assert (rated - 1000) * 1e6 == pytest.approx(sign.sum(axis=(1, 2)) / 2, abs=1e-3)


def test_rounds_keep_the_sum_of_ratings_and_order_clear_candidates() -> None:
    generator = np.random.default_rng(5)
    stars = np.stack([generator.binomial(3, ability, 300) for ability in (0.2, 0.5, 0.8)]).astype(float)

    ratings = compute_round_elo(stars, np.arange(300)[None, :], generator)

    assert ratings.sum() == pytest.approx(3000)
    assert ratings[0].argsort().tolist() == [0, 1, 2]


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
