"""Krippendorff's alpha (2011): agreement of any number of raters, with gaps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal

Metric = Literal["nominal", "ordinal", "interval"]


def compute_alpha(
    units: Iterable[Sequence[Hashable]], metric: Metric = "nominal", order: Sequence[Hashable] | None = None
) -> float | None:
    """Alpha of the ratings, a sequence per item, gaps left out; at most 1, null if undefined.

    Items with fewer than two ratings say nothing about agreement and are left out. `order` ranks the categories for
    the ordinal metric (default: sorted); the interval metric needs numbers. Undefined where no item has two ratings,
    and where all ratings are the same.
    """
    coincidences: dict[tuple[Any, Any], float] = defaultdict(float)
    for values in units:
        size = len(values)
        if size < 2:
            continue
        counts = Counter(values)
        for a, number_a in counts.items():
            for b, number_b in counts.items():
                pairs = number_a * (number_b - 1) if a == b else number_a * number_b
                if pairs:
                    coincidences[(a, b)] += pairs / (size - 1)
    totals: Counter[Any] = Counter()
    for (a, _), number in coincidences.items():
        totals[a] += number  # type: ignore[assignment]
    total = sum(totals.values())
    distance = _build_distance(metric, totals, order)
    observed = sum(number * distance(a, b) for (a, b), number in coincidences.items())
    expected = sum(totals[a] * totals[b] * distance(a, b) for a in totals for b in totals)
    if expected == 0:
        return None
    return 1.0 - (total - 1) * observed / expected


def _build_distance(
    metric: Metric, totals: Counter[Any], order: Sequence[Hashable] | None
) -> Callable[[Any, Any], float]:
    if metric == "nominal":
        return lambda a, b: float(a != b)
    if metric == "interval":
        return lambda a, b: float((a - b) ** 2)
    ranked = list(order) if order is not None else sorted(totals)
    place = {value: index for index, value in enumerate(ranked)}

    def ordinal(a: Any, b: Any) -> float:
        low, high = sorted((place[a], place[b]))
        between = sum(totals[value] for value in ranked[low : high + 1])
        return float((between - (totals[a] + totals[b]) / 2) ** 2) if low != high else 0.0

    return ordinal
