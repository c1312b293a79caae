"""Cohen's kappa, pinned to published examples and to another implementation."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tasks.statistics.agreement.raters import WEIGHTINGS, Weighting, compute_kappa, compute_percent_agreement


def spread(table: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The two raters' ratings behind a table of counts."""
    first = [row for row, counts in enumerate(table) for count in counts for _ in range(count)]
    second = [column for counts in table for column, count in enumerate(counts) for _ in range(count)]
    return first, second


# Fleiss, Statistical Methods for Rates and Proportions (2nd ed. 1981), p. 213: two raters, 100 patients, three diagnoses.
FLEISS = [[75, 1, 4], [5, 4, 1], [0, 0, 10]]
# Altman, Practical Statistics for Medical Research (1991), section 14.3: two radiologists, 85 mammograms, four findings.
ALTMAN = [[21, 12, 0, 0], [4, 17, 1, 0], [3, 9, 15, 2], [0, 0, 0, 1]]
# SAS/STAT User's Guide, PROC FREQ, example "Cohen's Kappa Coefficient": two dermatologists, 88 patients, four grades.
SAS = [[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]]


@pytest.mark.parametrize(
    ("table", "weighting", "kappa"),
    [
        (FLEISS, "none", 0.676),
        (ALTMAN, "none", 0.47),
        (ALTMAN, "linear", 0.57),
        (SAS, "none", 0.3449),
        (SAS, "linear", 0.5082),
    ],
)
def test_kappa_equals_the_published_value(table: list[list[int]], weighting: Weighting, kappa: float) -> None:
    first, second = spread(table)
    digits = len(str(kappa)) - 2
    computed = compute_kappa(first, second, range(len(table)), weighting)
    assert computed is not None
    assert round(computed, digits) == kappa


def test_agreement_of_the_published_example_is_its_diagonal() -> None:
    assert compute_percent_agreement(*spread(FLEISS)) == 0.89


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("seed", range(5))
def test_kappa_equals_scikit_learns(weighting: Weighting, seed: int) -> None:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    draw = random.Random(seed)
    first = [draw.randrange(4) for _ in range(200)]
    second = [value if draw.random() < 0.5 else draw.randrange(4) for value in first]
    expected = cohen_kappa_score(
        first, second, labels=[0, 1, 2, 3], weights=None if weighting == "none" else weighting
    )
    assert compute_kappa(first, second, (0, 1, 2, 3), weighting) == pytest.approx(expected)


def test_a_category_nobody_used_still_counts_for_the_distance() -> None:
    first, second = [0, 0, 3, 3], [0, 3, 3, 3]
    near = compute_kappa(first, second, (0, 3), "quadratic")
    assert compute_kappa(first, second, (0, 1, 2, 3), "quadratic") == pytest.approx(near)
    assert compute_kappa([0, 1, 3], [1, 1, 3], (0, 1, 2, 3), "linear") != compute_kappa(
        [0, 1, 3], [1, 1, 3], (0, 1, 3), "linear"
    )


def test_perfect_agreement_is_one_and_opposite_raters_are_below_nothing() -> None:
    assert compute_kappa([0, 1, 2], [0, 1, 2], (0, 1, 2, 3)) == 1.0
    assert compute_kappa([0, 1], [1, 0], (0, 1)) == -1.0


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_kappa_is_undefined_where_chance_alone_agrees_wholly(weighting: Weighting) -> None:
    assert compute_kappa([3, 3, 3], [3, 3, 3], (0, 1, 2, 3), weighting) is None
    assert compute_kappa([], [], (0, 1, 2, 3), weighting) is None
    assert compute_percent_agreement([], []) is None


def test_a_rating_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="not among the categories"):
        compute_kappa([4], [3], (0, 1, 2, 3))


def test_raters_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        compute_kappa([1, 2], [1], (0, 1, 2, 3))
