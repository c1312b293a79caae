"""How far raters of the same units agree: percent and kappas of pairs, Krippendorff's alpha."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from tasks.statistics.agreement.alpha import compute_alpha
from tasks.statistics.agreement.kappa import compute_kappa, compute_percent_agreement

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
