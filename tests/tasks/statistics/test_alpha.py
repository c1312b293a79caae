"""Krippendorff's alpha, pinned to Computing Krippendorff's Alpha-Reliability, 2011."""

from __future__ import annotations

import pytest

from tasks.statistics.agreement.raters import Metric, compute_alpha

# Section B: two observers, ten units, two categories.
BINARY = ("0100000010", "1110010000")
# Section C: four observers, twelve units, five values, with gaps.
FOUR = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def transpose(observers: tuple[str, ...]) -> list[list[int]]:
    return [
        [int(observer[unit]) for observer in observers if observer[unit] != "."]
        for unit in range(len(observers[0]))
    ]


@pytest.mark.parametrize(
    ("observers", "metric", "alpha"),
    [
        (BINARY, "nominal", 0.095),
        (FOUR, "nominal", 0.743),
        (FOUR, "ordinal", 0.815),
        (FOUR, "interval", 0.849),
    ],
)
def test_alpha_equals_the_published_value(observers: tuple[str, ...], metric: Metric, alpha: float) -> None:
    computed = compute_alpha(transpose(observers), metric)
    assert computed is not None
    assert round(computed, 3) == alpha


def test_the_order_of_categories_is_the_callers_where_given() -> None:
    words = [["low", "low"], ["low", "mid"], ["mid", "high"], ["high", "high"], ["low", "low"]]
    numbers = [[{"low": 0, "mid": 1, "high": 2}[word] for word in unit] for unit in words]
    assert compute_alpha(words, "ordinal", ["low", "mid", "high"]) == compute_alpha(numbers, "ordinal")


def test_alpha_is_undefined_without_pairs_and_where_nothing_varies() -> None:
    assert compute_alpha([[1], [2], []]) is None
    assert compute_alpha([[2, 2], [2, 2, 2]]) is None


def test_perfect_agreement_is_one() -> None:
    assert compute_alpha([[1, 1], [2, 2, 2], [3]]) == 1.0
