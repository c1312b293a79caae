"""What control answers and keys say of a judge: counted by hand, and by all divisions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from tasks.statistics.agreement import compute_clustered_share, compute_controls, describe_faults
from tasks.statistics.agreement.bounds import compute_share
from tasks.statistics.agreement.controls import compute_order_p

REFERENCES: list[int] = [3] * 20
Give = Callable[[np.random.Generator, list[int]], Iterable[int]]


def test_the_chance_of_an_order_is_the_share_of_all_divisions_that_go_as_far() -> None:
    upper, lower = [3, 2, 3, 0], [1, 0, 3]
    pooled = [*upper, *lower]
    divisions = list(itertools.combinations(range(7), 4))
    as_far = sum(sum(pooled[place] for place in chosen) >= sum(upper) for chosen in divisions)
    assert compute_order_p(upper, lower) == pytest.approx(as_far / len(divisions))
    # All apart: one division of C(28, 8).
    assert compute_order_p(REFERENCES, [0] * 8) == pytest.approx(1 / math.comb(28, 8))
    assert compute_order_p([2] * 5, [2] * 5) == 1.0
    assert compute_order_p([], [1]) is None
    assert compute_order_p([1], []) is None


def test_a_judge_that_orders_all_kinds_and_errs_seldom_is_fit() -> None:
    found = compute_controls({"echo": [0] * 8, "reference": [*[3] * 19, 2], "wrong_option": [1] * 12}, 0.05)
    assert [one.kind for one in found.kinds] == ["reference", "echo", "wrong_option"]
    assert (found.is_fit, found.count, found.wrong_count, found.unordered) == (True, 40, 0, ())
    assert found.gap == pytest.approx(2.95 - 1.0)
    assert found.kinds[0].p_value is None
    assert describe_faults(found, 0.05) == ""


def test_one_kind_with_as_many_stars_as_the_references_is_enough_to_be_unfit() -> None:
    found = compute_controls({"reference": [*REFERENCES], "echo": [3] * 8, "nonsense": [0] * 8}, 0.9)
    assert (found.is_fit, found.unordered, found.gap) == (False, ("echo",), 0.0)
    assert describe_faults(found, 0.9) == (
        "gives reference answers 3.00 stars on average, not more with certainty than: echo 3.00"
    )


def test_wrong_are_references_that_fail_others_with_all_stars_and_what_cannot_be_read() -> None:
    stars: dict[str, list[int | None]] = {"reference": [*[3] * 16, 1, 0, None, 2], "echo": [*[0] * 6, 3, 2]}
    found = compute_controls(stars, 0.05)
    assert (found.count, found.wrong_count) == (28, 4)
    assert found.wrong == compute_share(4, 28)
    assert found.kinds[0].unread_count == 1
    # The lower end of 4 of 28 is 5.7%: above one bar, and below the other.
    assert not found.is_fit
    assert "judges 4 of 28 control answers wrong (14.3%, at least 5.7%; 5.0% may be)" in describe_faults(
        found, 0.05
    )
    assert compute_controls(stars, 0.06).is_fit


@pytest.mark.parametrize(
    "stars",
    [{}, {"reference": []}, {"reference": [3, 3]}, {"echo": [0] * 8}, {"reference": [None], "echo": [0]}],
)
def test_without_enough_of_both_sides_nothing_is_shown(stars: dict[str, list[int | None]]) -> None:
    found = compute_controls(stars, 0.05)
    assert (found.is_fit, found.gap) == (False, None)
    assert describe_faults(found, 0.05)


def test_answers_to_one_question_are_worth_less_than_answers_to_many() -> None:
    apart = compute_clustered_share([(1, 10)] * 10)
    together = compute_clustered_share([(10, 10), *[(0, 10)] * 9])
    assert apart is not None and together is not None
    assert apart.value == together.value == 0.1
    # Where every question has its one, they are as good as a hundred answers; where one has all, hardly as ten.
    assert (apart.low, apart.high) == pytest.approx((compute_share(10, 100).low, compute_share(10, 100).high))
    assert together.low < 0.02 < apart.low
    none = compute_clustered_share([(0, 10)] * 5)
    assert none is not None and none.high == compute_share(0, 5).high
    assert compute_clustered_share([]) is None
    assert compute_clustered_share([(0, 0)]) is None


def test_the_interval_of_a_clustered_share_covers_it() -> None:
    luck = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        chance = luck.beta(1, 9, 60)
        found = compute_clustered_share([(int(luck.binomial(8, one)), 8) for one in chance])
        assert found is not None
        covered += found.low <= 0.1 <= found.high
    assert covered / 400 >= 0.92


@pytest.mark.parametrize(
    ("give", "is_found"),
    [
        (lambda luck, truth: luck.integers(0, 4, len(truth)), True),
        (lambda luck, truth: [3] * len(truth), True),
        (lambda luck, truth: [2] * len(truth), True),
        (lambda luck, truth: [0] * len(truth), True),
        (
            lambda luck, truth: np.where(
                luck.random(len(truth)) < 0.03, luck.integers(0, 4, len(truth)), truth
            ),
            False,
        ),
    ],
    ids=["random", "always three", "always two", "always none", "three in a hundred by lot"],
)
def test_judges_that_cannot_judge_are_found_and_one_with_a_little_noise_is_not(
    give: Give, is_found: bool
) -> None:
    luck = np.random.default_rng(11)
    worth = {
        "reference": (20, 3),
        "wrong_option": (12, 1),
        "nonsense": (8, 0),
        "other": (8, 0),
        "echo": (8, 0),
    }
    unfit = 0
    for _ in range(200):
        stars: dict[str, list[int | None]] = {
            kind: [int(one) for one in give(luck, [true] * count)] for kind, (count, true) in worth.items()
        }
        unfit += not compute_controls(stars, 0.05).is_fit
    assert unfit == (200 if is_found else 0)
