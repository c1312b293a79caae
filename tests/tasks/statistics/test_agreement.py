"""Agreement with its error, pinned to published examples and to simulations."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.statistics.agreement.bounds import (
    compute_agreement_difference,
    compute_kappa_interval,
    compute_mean,
    compute_share,
)
from tasks.statistics.agreement.raters import WEIGHTINGS, compute_kappa
from tests.tasks.statistics.test_kappa import SAS, spread


@pytest.mark.parametrize(
    ("weighting", "kappa", "low", "high"),
    [("none", 0.3449, 0.2030, 0.4868), ("linear", 0.5082, 0.3798, 0.6366)],
)
def test_the_interval_of_kappa_equals_the_published_one(
    weighting: str, kappa: float, low: float, high: float
) -> None:
    """SAS/STAT User's Guide, PROC FREQ, example "Cohen's Kappa Coefficient"."""
    found = compute_kappa_interval(*spread(SAS), 4, weighting)  # type: ignore[arg-type]
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((kappa, low, high), abs=5e-5)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_intervals_of_kappa_hold_the_truth_as_often_as_they_say(weighting: str) -> None:
    draw = np.random.default_rng(5)

    def mark(count: int) -> tuple[list[int], list[int]]:
        people = draw.choice(4, count, p=[0.2, 0.1, 0.3, 0.4])
        return people.tolist(), np.where(
            draw.random(count) < 0.8, people, draw.integers(0, 4, count)
        ).tolist()

    truth = compute_kappa(*mark(200_000), range(4), weighting)  # type: ignore[arg-type]
    assert truth is not None
    held = 0
    for _ in range(400):
        found = compute_kappa_interval(*mark(300), 4, weighting)  # type: ignore[arg-type]
        assert found is not None
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.975


def test_whole_agreement_is_not_certainty() -> None:
    found = compute_kappa_interval([0, 1, 2, 3] * 10, [0, 1, 2, 3] * 10, 4)
    assert found is not None
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low is not None
    assert 0.85 < found.low < 0.9
    assert compute_kappa_interval([3, 3], [3, 3], 4) is None
    assert compute_kappa_interval([], [], 4) is None


@pytest.mark.parametrize(
    ("first", "second", "kappa"), [([2], [3], 0.0), ([2, 2], [1, 3], 0.0), ([0, 3], [3, 0], -1.0)]
)
def test_kappa_of_raters_who_do_not_vary_has_no_interval(
    first: list[int], second: list[int], kappa: float
) -> None:
    found = compute_kappa_interval(first * 20, second * 20, 4)
    assert found is not None
    assert found.value == pytest.approx(kappa)
    assert (found.low, found.high) == (None, None)


def test_a_share_has_wilsons_interval() -> None:
    """Brown, Cai and DasGupta 2001 give the formula; 10 of 10 must not be certain."""
    found = compute_share(10, 10)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.7224672, abs=1e-6)
    half = compute_share(50, 100)
    assert (half.low, half.high) == pytest.approx((0.4038315, 0.5961685), abs=1e-6)


def test_a_mean_of_one_value_has_no_error() -> None:
    assert compute_mean([1.0], 3) is None
    found = compute_mean([0.0, 0.0, 1.0, 1.0], 3)
    assert found is not None
    # t with 3 degrees of freedom, 3.182446; se = 0.5774 / 2.
    assert (found.value, found.high - found.value) == pytest.approx((0.5, 3.182446 * 0.2886751), abs=1e-5)
    # Two that are alike say little: with a share of 84% others both are alike in 2.5% of draws.
    alike = compute_mean([1.0, 1.0], 3)
    assert alike is not None
    assert (alike.low, alike.high) == pytest.approx((1 - 0.8418861 * 4, 1 + 0.8418861 * 2), abs=1e-6)


def test_two_judges_that_differ_on_few_responses_are_compared_on_those() -> None:
    """Agresti, Categorical Data Analysis, table 10.1: of 1,600, 150 at first only, 86 later."""
    found = compute_agreement_difference(150, 86, 1600)
    assert found.difference.value == pytest.approx(0.04)
    assert (found.difference.low, found.difference.high) == pytest.approx((0.021, 0.059), abs=5e-4)
    assert found.p_value < 1e-4
    same = compute_agreement_difference(0, 0, 50)
    assert (same.difference.value, same.p_value) == (0.0, 1.0)
    assert same.difference.low < 0 < same.difference.high
