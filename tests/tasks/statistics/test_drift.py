"""A judge that has not changed is rarely accused in years; one that has is found in months."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.statistics.judges.drift import FALSE_ALARM_RATE, TYPICAL, compute_drift
from tests.benchmarks.validity_judges import draw_anchors, measure_drift


def test_for_the_first_month_it_is_the_stated_bound() -> None:
    """|S| against √((V+ρ)·log((V+ρ)/(ρα²))), with half of the mixture's weight.

    S is the gap over its variance, and V is one over it.
    """
    first, later = draw_anchors(np.random.default_rng(1), months=1, drift=0.0, begins=1, noise=0.2)
    later = np.clip(later + (np.arange(200) < 30)[:, None], 0, 3)
    found = compute_drift(first, later)
    assert found is not None
    variance = found.change_se[0] ** 2
    score, information, prior = found.change[0] / variance, 1 / variance, 1 / TYPICAL**2
    weight = score**2 / (2 * (information + prior)) - 0.5 * np.log((information + prior) / prior)
    expected = np.logaddexp(weight - np.log(2), -np.log(2)) / np.log(1 / FALSE_ALARM_RATE)
    assert found.evidence[0] == pytest.approx(max(0.0, expected))
    bound = np.sqrt((information + prior) * np.log((information + prior) / (prior * FALSE_ALARM_RATE**2)))
    # Above the bound of one beginning, the weight is above log(1/α).
    assert (abs(score) > bound) == (weight > np.log(1 / FALSE_ALARM_RATE))


def test_without_a_change_36_months_pass_without_an_alarm_in_95_of_100_histories() -> None:
    share, _ = measure_drift(120, drift=0.0, noise=0.10)
    assert share <= 0.05


@pytest.mark.parametrize("begins", [1, 10])
def test_a_change_of_06_stars_is_found_in_months_whenever_it_begins(begins: int) -> None:
    found, wait = measure_drift(40, drift=0.06, begins=begins, noise=0.10, months=begins + 14)
    assert found > 0.75
    assert wait <= 5


def test_the_month_in_which_a_change_began_is_named_with_its_size() -> None:
    first, later = draw_anchors(np.random.default_rng(4), months=20, drift=0.25, begins=12, noise=0.10)
    found = compute_drift(first, later)
    assert found is not None
    assert found.since[-1] == 12
    assert found.change[-1] == pytest.approx(0.25, abs=3 * found.change_se[-1])
    assert np.flatnonzero(found.evidence > 1)[0] + 1 in (12, 13)


def test_a_judge_that_repeats_itself_to_the_letter_is_no_certainty() -> None:
    stars = np.tile(np.arange(200)[:, None] % 4, (1, 3)).astype(float)
    same = compute_drift(stars, stars[:, :1])
    assert same is not None
    assert (same.change[0], same.evidence[0]) == (0.0, 0.0)
    one_more = stars[:, :1].copy()
    one_more[0] = 1.0
    assert compute_drift(stars, one_more).evidence[0] < 1  # type: ignore[union-attr]


def test_what_could_not_be_read_is_left_out_on_every_occasion() -> None:
    first, later = draw_anchors(np.random.default_rng(2), months=2, drift=0.0, begins=1, noise=0.1)
    later[5, 0] = np.nan
    first[7, 1] = np.nan
    found = compute_drift(first, later)
    assert found is not None
    assert found.response_count == 198
    assert compute_drift(first, later[:, :0]) is None
    assert compute_drift(first[:1], later[:1]) is None
