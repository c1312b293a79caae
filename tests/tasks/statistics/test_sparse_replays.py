"""Sparse replays and Bradley-Terry of many samples at once."""

from __future__ import annotations

import numpy as np
import pytest

from schemas.errors import UsageError
from tasks.statistics.league.mean_interval import make_generator
from tasks.statistics.ratings.elo import PRIOR, compute_bradley_terry, compute_expected_score
from tasks.statistics.ratings.sparse_replays import Replay, compute_replays, count_outcomes
from tests.tasks.statistics.test_elo import BASEBALL


def test_many_samples_have_the_ratings_that_each_has_alone() -> None:
    generator = np.random.default_rng(1)
    samples = np.stack(
        [BASEBALL, BASEBALL.T, generator.integers(0, 3, (7, 7)).astype(float), np.zeros((7, 7))]
    )
    samples[:, np.arange(7), np.arange(7)] = 0

    found = compute_bradley_terry(samples)

    for own, wins in zip(found, samples, strict=True):
        assert own == pytest.approx(compute_bradley_terry(wins), abs=1e-4)
    assert found[3] == pytest.approx(np.full(7, 1000.0))


def test_a_candidate_that_won_everything_has_a_finite_rating() -> None:
    wins = np.triu(np.full((12, 12), 500.0), 1)

    rating = compute_bradley_terry(wins)

    # At the maximum of the likelihood each has won as often as its rating expects.
    games = wins + wins.T + 2 * PRIOR * (1 - np.eye(12))
    expected = games * compute_expected_score(rating[:, None], rating[None, :])
    assert expected.sum(axis=1) == pytest.approx((wins + PRIOR * (1 - np.eye(12))).sum(axis=1), abs=1e-6)
    assert np.diff(rating).max() < 0


def test_a_list_counts_each_pair_on_it_once() -> None:
    lists = np.array([[3.0, 2.0, np.nan], [1.0, 1.0, 0.0]])

    outcomes = count_outcomes(lists)

    assert outcomes.wins.tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert outcomes.ties.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def draw_lists(candidates: int, lists: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    ability = np.linspace(spread, -spread, candidates)
    drawn = ability[None, :] + generator.normal(size=(lists, candidates))
    return drawn, drawn.mean(axis=0)


def find(found: list[Replay], method: str, share: float) -> Replay:
    return next(one for one in found if (one.method, one.share) == (method, share))


def test_more_comparisons_come_nearer_to_the_order_of_all() -> None:
    lists, scores = draw_lists(8, 120, 1.0)

    found = compute_replays(lists, scores, make_generator(0, "r"), shares=(0.01, 0.1, 0.5, 1.0), repeats=60)

    rho = [find(found, "bradley_terry", share).rho for share in (0.01, 0.1, 0.5)]
    assert rho == sorted(rho)
    assert rho[0] < 0.85 and rho[-1] > 0.97
    # Elo never settles: it gains at first, then keeps moving.
    assert find(found, "elo", 0.01).rho < find(found, "elo", 0.5).rho - 0.1
    whole = find(found, "bradley_terry", 1.0)
    # All comparisons are one sample, however often they are drawn.
    assert whole.game_count == 120 * 28
    assert whole.rho_sd == pytest.approx(0.0)
    assert find(found, "bradley_terry", 0.01).game_count == 34
    assert [one.repeat_count for one in found] == [60] * len(found)


def test_judges_that_agree_give_the_whole_order_back() -> None:
    lists = np.tile(np.arange(6.0), (50, 1))
    found = compute_replays(lists, np.arange(6.0), make_generator(0, "r"), shares=(1.0,), repeats=2)
    assert [one.rho for one in found] == pytest.approx([1.0] * 2)
    assert [one.same_order_rate for one in found] == [1.0] * 2


def test_the_same_generator_draws_the_same_and_a_sample_is_drawn_without_replacement() -> None:
    lists, scores = draw_lists(5, 30, 0.5)
    first, again = (
        compute_replays(lists, scores, make_generator(4, "r"), shares=(0.3,), repeats=5) for _ in range(2)
    )
    assert first == again


def test_what_has_no_order_is_refused() -> None:
    lists, scores = draw_lists(4, 5, 1.0)
    with pytest.raises(UsageError, match="share"):
        compute_replays(lists, scores, make_generator(0), shares=(0.0,))
    with pytest.raises(UsageError, match="alike"):
        compute_replays(lists, np.ones(4), make_generator(0))
    with pytest.raises(UsageError, match="three candidates"):
        compute_replays(lists[:, :2], scores[:2], make_generator(0))


def test_elo_is_left_out_where_a_sample_would_take_too_many_games() -> None:
    lists, scores = draw_lists(20, 400, 1.0)
    found = compute_replays(lists, scores, make_generator(0), shares=(0.01, 0.5), repeats=3)
    assert [(one.method, one.share) for one in found] == [
        ("bradley_terry", 0.01),
        ("bradley_terry", 0.5),
        ("elo", 0.01),
    ]
