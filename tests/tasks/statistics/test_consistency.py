"""Overlap of judges' top k: by construction, printed chance levels, judges at random."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.statistics.league.consistency import compute_chance, compute_consistency, compute_overlaps
from tasks.statistics.league.mean_interval import make_generator

COUNT = 8


def make_round(order: np.random.Generator | None) -> np.ndarray:
    """Borda points of eight: judge 0 asked and ranks seven answers, the others six."""
    lists = np.full((COUNT, COUNT - 1), np.nan)
    for judge in range(COUNT):
        judged = [answer for answer in range(COUNT - 1) if answer != judge - 1]
        places = order.permutation(len(judged)) if order is not None else np.arange(len(judged))
        lists[judge, judged] = 6.0 - places
    return lists


def test_judges_that_agree_overlap_as_counted_by_hand() -> None:
    # Two judges of three answers: 3 > 2 > 1 and 3 > 1 > 2.
    found = compute_overlaps(np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0]]))
    assert found.tolist() == [1.0, 0.5, 1.0]


def test_all_seven_are_common_to_all_and_six_cannot_overlap_less_than_the_floor() -> None:
    for seed in range(5):
        found = compute_overlaps(make_round(np.random.default_rng(seed)))
        assert found[6] == pytest.approx(1.0)
        # 27 pairs of judges miss each other's answer, one pair of the asker's does not (League of LLMs, table 6: 0.8396).
        assert found[5] == pytest.approx((27 * 5 / 6 + 1) / 28)


def test_the_chance_levels_are_those_of_judges_at_random() -> None:
    generator = np.random.default_rng(1)
    simulated = np.mean([compute_overlaps(make_round(generator)) for _ in range(3000)], axis=0)

    chance = compute_chance(make_round(None))

    assert chance == pytest.approx(simulated, abs=0.004)
    assert chance == pytest.approx([*(k * (21 * 5 / 36 + 7 / 7) / 28 for k in range(1, 7)), 1.0])
    # Simulated by others: .137 .279 .419 .560 .700 .839.
    assert chance[:6] == pytest.approx([0.137, 0.279, 0.419, 0.560, 0.700, 0.839], abs=0.003)


def test_the_printed_overlap_of_four_lies_a_third_of_the_way_from_chance_to_agreement() -> None:
    chance = compute_chance(make_round(None))[3]
    assert (0.7067 - chance) / (1 - chance) == pytest.approx(0.334, abs=0.001)


def test_equal_scores_share_their_places_whatever_the_order_of_rows() -> None:
    lists = np.array([[5.0, 5.0, 1.0], [5.0, 4.0, 1.0]])
    assert compute_overlaps(lists)[0] == pytest.approx(0.5)
    assert compute_overlaps(lists[:, ::-1]) == pytest.approx(compute_overlaps(lists))


def test_a_judge_that_could_not_be_read_is_left_out() -> None:
    lists = make_round(np.random.default_rng(3))
    without = np.delete(lists, 4, axis=0)
    lists[4] = np.nan
    assert compute_overlaps(lists) == pytest.approx(compute_overlaps(without))
    assert np.isnan(compute_overlaps(lists[[4, 5]])).all()


def test_every_k_has_its_interval_over_rounds_and_over_runs() -> None:
    generator = np.random.default_rng(9)
    rounds = [make_round(generator) for _ in range(40)]

    found = compute_consistency(
        rounds, [1 + at // 8 for at in range(40)], make_generator(0, "x"), resamples=2000
    )

    assert [one.k for one in found] == list(range(1, 8))
    assert {(one.round_count, one.run_count) for one in found} == {(40, 5)}
    assert found[6].overlap == pytest.approx(1) and found[6].above_chance is None
    for one in found[:5]:
        assert (
            one.low is not None
            and one.high is not None
            and one.run_low is not None
            and one.run_high is not None
        )
        assert one.low < one.overlap < one.high
        assert one.run_low <= one.overlap <= one.run_high
        # Judges at random: the chance level lies in the interval, or hardly beside it.
        assert one.low - 0.02 < one.chance < one.high + 0.02


def test_without_two_judges_there_is_nothing_to_overlap() -> None:
    assert compute_consistency([make_round(None)[:1]], [1], make_generator(0, "x")) == []
