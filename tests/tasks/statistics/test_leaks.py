"""A gain on questions met before is found where it was planted, and rarely where it was not."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.statistics.leaks.gain import expect_stars, find_leak
from tests.benchmarks.validity_leaks import measure_leaks


def test_expected_stars_have_the_mean_of_the_stars_and_fall_with_difficulty() -> None:
    difficulty = np.linspace(-2, 2, 50)
    thresholds = np.tile([-0.9, 0.0, 0.9], (50, 1))
    expected = expect_stars(np.full(50, 2.0), np.ones(50), difficulty, thresholds)
    assert expected.mean() == pytest.approx(2.0, abs=1e-6)
    assert (np.diff(expected) < 0).all()


def test_the_gain_is_the_difference_that_difficulty_leaves() -> None:
    generator = np.random.default_rng(1)
    count = 4_000
    expected = generator.uniform(0.5, 2.5, count)
    is_met = generator.random(count) < 0.3
    # Met questions are easier, too: a plain difference of means would be deceived.
    expected[is_met] += 0.3
    stars = expected + 0.12 * is_met + generator.normal(0, 0.8, count)
    candidate = np.arange(count) % 2
    found = find_leak(stars + 0.5 * candidate, expected, is_met, candidate, np.arange(count) // 2)
    assert found is not None
    assert found.gain == pytest.approx(0.12, abs=3 * found.gain_se)
    assert found.is_found
    assert found.least_found == pytest.approx((1.96 + 0.8416) * found.gain_se, rel=1e-3)
    assert (found.question_count, found.met_count) == (count, int(is_met.sum()))


@pytest.mark.parametrize("count", [20, 40, 50, 100])
def test_who_has_all_that_was_met_and_nothing_else_is_found_whatever_is_rounded(count: int) -> None:
    is_met = np.arange(count) < count // 2
    alone, lineage = np.zeros(count, dtype=np.int64), np.arange(count)
    for spread in (0.0, 1.0):
        expected = np.linspace(1.5 - spread, 1.5 + spread, count)
        found = find_leak(np.where(is_met, 3.0, 0.0), expected, is_met, alone, lineage)
        assert found is not None and found.is_found and found.p_value < 0.01
        same = find_leak(np.full(count, 4 / 3), expected, is_met, alone, lineage)
        assert same is not None and not same.is_found and same.p_value == 1.0


def test_many_answers_of_one_lineage_are_no_more_than_one() -> None:
    is_met = np.arange(40) < 20
    lineage = np.where(is_met, 0, np.arange(40))
    alone, stars = np.zeros(40, dtype=np.int64), np.where(is_met, 3.0, 0.0)
    for own in (lineage, np.minimum(lineage, 20)):
        found = find_leak(stars, np.full(40, 1.5), is_met, alone, own)
        assert found is not None and not found.is_found and found.p_value == 1.0


def test_where_nothing_or_everything_was_met_there_is_nothing_to_compare() -> None:
    stars = np.ones(50)
    codes = np.zeros(50, dtype=np.int64)
    for is_met in (np.zeros(50, dtype=bool), np.ones(50, dtype=bool)):
        assert find_leak(stars, stars, is_met, codes, np.arange(50)) is None


def test_the_error_rate_is_shared_out_over_organisations() -> None:
    generator = np.random.default_rng(3)
    expected = generator.uniform(0, 3, 600)
    is_met = generator.random(600) < 0.3
    stars = expected + 0.15 * is_met + generator.normal(0, 0.8, 600)
    options = (stars, expected, is_met, np.zeros(600, dtype=np.int64), np.arange(600))
    one, many = find_leak(*options), find_leak(*options, organisation_count=1_000)
    assert one is not None
    assert many is not None
    assert many.least_found > one.least_found
    assert one.p_value == many.p_value


def test_power_rises_with_what_is_memorised_and_false_alarms_are_few() -> None:
    assert measure_leaks(150, 0.0) <= 0.07
    assert measure_leaks(80, 0.4) >= 0.9
