from __future__ import annotations

import numpy as np
import pytest
import scipy

from schemas.errors import ContractError
from tasks.statistics.league.mean_interval import compute_mean_interval, make_generator


def draw(*names: object) -> np.random.Generator:
    return make_generator(7, *names)


def test_the_interval_is_the_percentile_bootstrap_of_scipy_but_for_the_draws() -> None:
    scores = np.random.default_rng(2).gamma(2.0, size=60)
    theirs = scipy.stats.bootstrap(
        (scores,), np.mean, n_resamples=20_000, method="percentile", random_state=np.random.default_rng(3)
    ).confidence_interval

    found = compute_mean_interval(scores, draw("a"), resamples=20_000)

    se = scores.std() / np.sqrt(60)
    assert found.mean == pytest.approx(scores.mean())
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.06 * se)


def test_few_values_are_drawn_by_how_often_each_comes_with_the_same_interval() -> None:
    # League of LLMs, table 2: 245 Borda points of 0 to 6; the end points are whole numbers of points over 245.
    points = np.random.default_rng(4).integers(0, 7, 245).astype(float)

    found = compute_mean_interval(points, draw("a"), resamples=20_000)
    continuous = compute_mean_interval(points + np.arange(245) * 1e-9, draw("a"), resamples=20_000)

    se = points.std() / np.sqrt(245)
    assert (found.low, found.high) == pytest.approx((continuous.low, continuous.high), abs=0.06 * se)
    assert found.low is not None and found.low * 245 == pytest.approx(round(found.low * 245), abs=0.51)


def test_scores_of_one_answer_are_drawn_together_and_the_interval_is_wider() -> None:
    generator = np.random.default_rng(5)
    answers = np.repeat(np.arange(35), 7)
    scores = generator.normal(0, 1, 35)[answers] + generator.normal(0, 0.5, 245)

    single = compute_mean_interval(scores, draw("a"))
    together = compute_mean_interval(scores, draw("a"), clusters=answers)

    assert together.unit_count == 35 and single.unit_count == 245
    assert together.mean == single.mean
    assert width(together) > 1.8 * width(single)


def width(found: object) -> float:
    return found.high - found.low  # type: ignore[attr-defined, no-any-return]


def test_clusters_hold_the_true_mean_as_often_as_they_say_and_single_scores_do_not() -> None:
    generator = np.random.default_rng(6)
    answers = np.repeat(np.arange(35), 7)
    held = {"single": 0, "together": 0}
    for trial in range(300):
        scores = generator.normal(0, 1, 35)[answers] + generator.normal(0, 1.0, 245)
        for name, clusters in (("single", None), ("together", answers)):
            found = compute_mean_interval(scores, draw(name, trial), clusters=clusters, resamples=500)
            held[name] += int(
                found.low is not None and found.high is not None and found.low <= 0 <= found.high
            )
    assert held["together"] / 300 > 0.90
    assert held["single"] / 300 < 0.75


def test_the_draws_of_one_name_depend_on_no_other() -> None:
    scores = np.random.default_rng(8).normal(size=50)
    assert compute_mean_interval(scores, draw("a")) == compute_mean_interval(scores, draw("a"))
    assert compute_mean_interval(scores, draw("a")) != compute_mean_interval(scores, draw("b"))


def test_too_few_scores_have_no_interval() -> None:
    nothing, one = compute_mean_interval([], draw("a")), compute_mean_interval([2.0], draw("a"))
    assert (nothing.mean, nothing.low) == (None, None)
    assert (one.mean, one.low, one.high) == (2.0, None, None)
    assert compute_mean_interval([2.0, 4.0], draw("a"), clusters=["q", "q"]).low is None
    with pytest.raises(ContractError, match="clusters"):
        compute_mean_interval([1.0, 2.0], draw("a"), clusters=["q"])
