"""Cohen's kappa of two raters (1960; weighted, 1968), and the agreement that it corrects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal

Weighting = Literal["none", "linear", "quadratic"]
WEIGHTINGS: tuple[Weighting, ...] = ("none", "linear", "quadratic")


def compute_percent_agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Share of items that both raters put in the same category, 0 to 1; null without items."""
    if not first:
        return None
    return sum(a == b for a, b in zip(first, second, strict=True)) / len(first)


def compute_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    categories: Sequence[Hashable],
    weighting: Weighting = "none",
) -> float | None:
    """Kappa of two raters over the same items, -1 to 1; null when it is undefined.

    `categories` lists all categories in order, also those that nobody used: the distance of two categories, which
    weights a disagreement, is the distance of their places. Undefined without items, and where chance alone would
    agree wholly (both raters used one and the same category only). Raises ValueError for a category not listed.
    """
    place = {category: index for index, category in enumerate(categories)}
    for value in (*first, *second):
        if value not in place:
            raise ValueError("a rating is not among the categories")
    count = len(first)
    if count == 0:
        return None
    observed = Counter(zip(first, second, strict=True))
    of_first, of_second = Counter(first), Counter(second)
    disagreement = (
        sum(number * _weigh(place[a], place[b], weighting) for (a, b), number in observed.items()) / count
    )
    by_chance = sum(
        of_first[a] * of_second[b] * _weigh(place[a], place[b], weighting)
        for a in of_first
        for b in of_second
    ) / (count * count)
    if by_chance == 0:
        return None
    return 1.0 - disagreement / by_chance


def _weigh(a: int, b: int, weighting: Weighting) -> int:
    """How much a disagreement counts."""
    if weighting == "none":
        return int(a != b)
    return abs(a - b) if weighting == "linear" else (a - b) ** 2
