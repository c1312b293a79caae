"""How far raters of the same units agree: percent and kappas of pairs, Krippendorff's alpha.

Cohen's kappa is of two raters (1960; weighted, 1968), Krippendorff's alpha (2011) of any number, with gaps.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

Value = str | float


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two raters, or of all pairs together.

    Attributes:
        raters: the two by name; `all pairs` for the pool.
        unit_count: units that both rated; in the pool the pairs of ratings.
        percent_agreement: share of them with the same rating, 0 to 1; null without one.
        kappa, kappa_linear, kappa_quadratic: Cohen's kappa; weighted ones count a disagreement by the distance of the two
            categories in their order (Cohen 1968). In the pool the mean over the pairs, weighted by their units; null
            where undefined.
    """

    raters: str
    unit_count: int
    percent_agreement: float | None
    kappa: float | None
    kappa_linear: float | None
    kappa_quadratic: float | None


@dataclass(frozen=True)
class RaterAgreement:
    """Agreement of any number of raters, with gaps.

    Attributes:
        unit_count: units with at least one rating.
        shared_unit_count: units with at least two; only these say anything about agreement.
        categories: every rating that was given, in order.
        pooled: over all pairs of raters.
        pairs: each pair that shares a unit, by name.
        alpha_nominal, alpha_ordinal, alpha_interval: Krippendorff's alpha; interval null for words; null where undefined.
    """

    unit_count: int
    shared_unit_count: int
    rater_count: int
    rating_count: int
    categories: Sequence[Value]
    pooled: PairAgreement
    pairs: Sequence[PairAgreement]
    alpha_nominal: float | None
    alpha_ordinal: float | None
    alpha_interval: float | None


Metric = Literal["nominal", "ordinal", "interval"]
Weighting = Literal["none", "linear", "quadratic"]
WEIGHTINGS: tuple[Weighting, ...] = ("none", "linear", "quadratic")


def compute_agreement(
    ratings: Mapping[str, Mapping[str, Value]], order: Sequence[Value] | None = None
) -> RaterAgreement:
    """Agreement over ratings by unit and rater.

    Args:
        ratings: all numbers, or all words.
        order: the categories in order, lowest first; default: sorted. Raises ValueError for a rating not among them.
    """
    given = {value for of_unit in ratings.values() for value in of_unit.values()}
    categories: list[Value] = list(order) if order is not None else sorted(given)
    if not given <= set(categories):
        raise ValueError("a rating is not among the categories")
    shared: dict[tuple[str, str], tuple[list[Value], list[Value]]] = defaultdict(lambda: ([], []))
    for unit in sorted(ratings):
        for first, second in combinations(sorted(ratings[unit]), 2):
            columns = shared[first, second]
            columns[0].append(ratings[unit][first])
            columns[1].append(ratings[unit][second])
    pairs = [
        _compare(f"{first} / {second}", *columns, categories)
        for (first, second), columns in sorted(shared.items())
    ]
    units = [list(of_unit.values()) for of_unit in ratings.values()]
    is_number = all(isinstance(value, int | float) for value in given)
    return RaterAgreement(
        unit_count=len(units),
        shared_unit_count=sum(len(values) > 1 for values in units),
        rater_count=len({rater for of_unit in ratings.values() for rater in of_unit}),
        rating_count=sum(map(len, units)),
        categories=categories,
        pooled=_pool(pairs),
        pairs=pairs,
        alpha_nominal=compute_alpha(units),
        alpha_ordinal=compute_alpha(units, "ordinal", categories),
        alpha_interval=compute_alpha(units, "interval") if is_number else None,
    )


def _compare(
    raters: str, first: Sequence[Value], second: Sequence[Value], categories: Sequence[Value]
) -> PairAgreement:
    return PairAgreement(
        raters,
        len(first),
        compute_percent_agreement(first, second),
        compute_kappa(first, second, categories),
        compute_kappa(first, second, categories, "linear"),
        compute_kappa(first, second, categories, "quadratic"),
    )


def _pool(pairs: Sequence[PairAgreement]) -> PairAgreement:
    def average(values: Sequence[float | None]) -> float | None:
        known = [
            (value, pair.unit_count) for value, pair in zip(values, pairs, strict=True) if value is not None
        ]
        weight = sum(count for _, count in known)
        return sum(value * count for value, count in known) / weight if weight else None

    return PairAgreement(
        "all pairs",
        sum(pair.unit_count for pair in pairs),
        average([pair.percent_agreement for pair in pairs]),
        average([pair.kappa for pair in pairs]),
        average([pair.kappa_linear for pair in pairs]),
        average([pair.kappa_quadratic for pair in pairs]),
    )


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
