"""Analysis of variance, Tukey's HSD and Welch's test: against printed tables and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from schemas.errors import ContractError, UsageError
from tasks.statistics.league.group_tests import (
    compute_one_way,
    compute_range_limit,
    compute_range_tail,
    compute_run_spread,
    compute_tukey,
    compute_tukey_of_means,
    compute_welch,
    rescale,
)

# League of LLMs, table 2: mean Borda points of 5 runs x 7 questions x 7 judges for each candidate, and its F(7, 1952).
MEANS = {
    "gemini-2.5-pro-exp": 5.1388, "deepseek-r1": 4.1918, "gpt-4.1": 3.8776, "o3-mini": 3.5714,
    "o1": 3.4204, "deepseek-v3": 2.8531, "claude-3-7-sonnet": 2.5510, "qwen2.5-max": 1.8204,
}  # fmt: skip
SCORES_OF_EACH = 245
F = 118.71
# Its table 3: the only pairs that cannot be told apart at 5%.
ALIKE = {
    ("deepseek-v3", "claude-3-7-sonnet"): 0.3162,
    ("deepseek-r1", "gpt-4.1"): 0.2659,
    ("gpt-4.1", "o3-mini"): 0.2989,
    ("o3-mini", "o1"): 0.9502,
}


def test_printed_means_and_f_give_the_printed_tukey_p_values_and_the_same_four_pairs() -> None:
    names, means = list(MEANS), np.array(list(MEANS.values()))
    within = SCORES_OF_EACH * means.var(ddof=1) / F

    pairs = compute_tukey_of_means(means, np.full(8, SCORES_OF_EACH), within, 8 * SCORES_OF_EACH - 8)

    found = {
        (names[a], names[b]): p
        for a, b, p in zip(pairs.first, pairs.second, pairs.p_value, strict=True)
        if p > 0.05
    }
    assert found == pytest.approx(ALIKE, abs=5e-4)
    is_apart = (pairs.low > 0) | (pairs.high < 0)
    assert is_apart.tolist() == (pairs.p_value < 0.05).tolist()


def make_groups(sizes: list[int], seed: int = 1) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.normal(at * 0.4, 1.0, size) for at, size in enumerate(sizes)]


def test_f_and_tukey_of_raw_scores_are_those_of_scipy() -> None:
    groups = make_groups([12, 30, 17, 9])
    theirs = scipy.stats.tukey_hsd(*groups)
    interval = theirs.confidence_interval(0.95)

    variance = compute_one_way(groups)
    pairs = compute_tukey(variance)

    expected = scipy.stats.f_oneway(*groups)
    assert (variance.f, variance.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert (variance.between_degrees, variance.within_degrees) == (3, 64)
    at = pairs.first, pairs.second
    assert pairs.difference == pytest.approx(theirs.statistic[at])
    assert pairs.p_value == pytest.approx(theirs.pvalue[at], abs=1e-9)
    assert pairs.low == pytest.approx(interval.low[at])
    assert pairs.high == pytest.approx(interval.high[at])


@pytest.mark.parametrize(("groups", "degrees"), [(2, 1), (2, 9), (3, 3), (8, 1952), (20, 40), (60, 50_000)])
def test_the_studentized_range_is_that_of_scipy(groups: int, degrees: int) -> None:
    q = np.array([0.0, 0.5, 1.5, 3.0, 4.5, 7.0])
    exact = [scipy.stats.studentized_range.sf(one, groups, degrees) for one in q]
    assert compute_range_tail(q, groups, degrees) == pytest.approx(exact, abs=2e-7)
    assert compute_range_tail(compute_range_limit(0.95, groups, degrees), groups, degrees)[
        0
    ] == pytest.approx(0.05)


def test_the_limits_are_those_of_the_printed_tables() -> None:
    # Upper 5% points of the studentized range, as in any table: (3, 10), (4, 20), (10, 60).
    found = [compute_range_limit(0.95, *at) for at in ((3, 10), (4, 20), (10, 60))]
    assert found == pytest.approx([3.877, 3.958, 4.646], abs=1e-3)


def test_what_has_no_error_is_refused() -> None:
    with pytest.raises(UsageError, match="two groups"):
        compute_one_way([[1.0, 2.0]])
    with pytest.raises(UsageError, match="varies"):
        compute_one_way([[1.0, 1.0], [2.0, 2.0]])
    with pytest.raises(ContractError, match="count for each mean"):
        compute_tukey_of_means([1.0, 2.0], [3.0], 1.0, 4)


@pytest.mark.parametrize("score", [5 / 3, 0.1, 83.3])
def test_equal_scores_have_no_error_however_their_mean_is_rounded(score: float) -> None:
    groups = [np.full(count, score + shift) for count in (3, 7, 10) for shift in (0.0, 1 / 3)]
    assert any(group.var() > 0 for group in groups)
    with pytest.raises(UsageError, match="varies"):
        compute_one_way(groups)
    assert {compute_welch(one, other).p_value for one in groups for other in groups} == {None}


def test_welch_is_that_of_scipy_with_its_interval() -> None:
    first, second = make_groups([6, 15], seed=3)
    theirs = scipy.stats.ttest_ind(first, second, equal_var=False)
    interval = theirs.confidence_interval(0.95)

    found = compute_welch(first, second)

    assert (found.t, found.p_value, found.degrees) == pytest.approx(
        (theirs.statistic, theirs.pvalue, theirs.df)
    )
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert (found.first_count, found.second_count) == (6, 15)


def test_the_printed_family_difference_is_the_difference_of_its_means() -> None:
    # League of LLMs, table 5: 79.9429 - 70.9390 = 9.0038 over 6 and 15 cells. A spread of 7 between cells gives its p, one of
    # 20 between 210 and 525 single scores would give 6e-8.
    cells = compute_welch(spread_around(79.9429, 7.0, 6), spread_around(70.9390, 7.0, 15))
    scores = compute_welch(spread_around(79.9429, 20.0, 210), spread_around(70.9390, 20.0, 525))

    assert cells.difference == pytest.approx(9.0038, abs=1e-4)
    assert cells.p_value == pytest.approx(0.0268, abs=0.005)
    assert scores.p_value is not None and scores.p_value < 1e-6


def spread_around(mean: float, sd: float, count: int) -> np.ndarray:
    """Values of exactly that mean and standard deviation."""
    value = np.linspace(-1, 1, count)
    values: np.ndarray = mean + sd * (value - value.mean()) / value.std(ddof=1)
    return values


def test_a_side_with_fewer_than_two_scores_has_a_difference_but_no_test() -> None:
    found = compute_welch([3.0], [1.0, 2.0])
    assert (found.difference, found.p_value, found.low) == (1.5, None, None)
    assert compute_welch([], [1.0]).difference is None
    assert compute_welch([1.0, 1.0], [1.0, 1.0]).p_value is None


@pytest.mark.parametrize(
    ("sd", "sd_100"),
    [(0.3932, 6.5532), (0.3635, 6.0588), (0.2625, 4.3757), (0.3319, 5.5318),
     (0.1966, 3.2766), (0.3770, 6.2829), (0.6454, 10.7560), (0.4055, 6.7575)],
)  # fmt: skip
def test_spreads_over_runs_are_rescaled_as_printed(sd: float, sd_100: float) -> None:
    # League of LLMs, table 7; its first column is rounded to four digits.
    assert rescale(sd, 6) == pytest.approx(sd_100, abs=9e-4)


def test_the_spread_over_runs_is_that_of_the_runs_means() -> None:
    found = compute_run_spread([1, 3, 2, 6, 5, 5], [1, 1, 2, 2, 3, 3], most=6)
    assert found.sd == pytest.approx(np.std([2, 4, 5], ddof=1))
    assert found.sd_100 == pytest.approx(np.std([2, 4, 5], ddof=1) * 100 / 6)
    assert compute_run_spread([1, 3], [1, 1], most=6).sd is None
