"""Do several groups differ in their means, and which two of them: one-way analysis of variance, and Tukey's HSD.

Both take scores as independent. Scores that several judges gave to one answer are not: a caller that wants an honest error
hands in one mean for each answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import ContractError, UsageError
from tasks.statistics.studentized_range import compute_range_limit, compute_range_tail

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEVEL = 0.95


@dataclass(frozen=True)
class OneWay:
    """One-way analysis of variance.

    Attributes:
        f: between-group over within-group mean square.
        between_degrees, within_degrees: their degrees of freedom.
        p_value: of equal means.
        within_square: within-group mean square (MSW), what Tukey's HSD rests on.
        means: of each group.
        counts: scores in each group.
    """

    f: float
    between_degrees: int
    within_degrees: int
    p_value: float
    within_square: float
    means: Floats
    counts: Codes


@dataclass(frozen=True)
class TukeyPairs:
    """All pairs of groups, first < second; one element for each.

    Attributes:
        first, second: places of the groups.
        difference: mean of the first minus that of the second.
        low, high: simultaneous 95% interval of it.
        p_value: adjusted for all pairs.
    """

    first: Codes
    second: Codes
    difference: Floats
    low: Floats
    high: Floats
    p_value: Floats


def compute_one_way(groups: Sequence[ArrayLike]) -> OneWay:
    """F of groups of scores; raises UsageError for fewer than two groups, or where nothing varies within them."""
    from scipy.special import fdtrc

    values = [np.asarray(group, dtype=float) for group in groups]
    counts = np.array([len(group) for group in values])
    within_degrees = int(counts.sum()) - len(values)
    if len(values) < 2 or not counts.all() or within_degrees < 1:
        raise UsageError(
            f"{len(values)} groups with {int(counts.sum())} scores cannot be compared. An analysis of variance needs two "
            "groups, and more scores than groups."
        )
    means = np.array([group.mean() for group in values])
    grand = np.concatenate(values).mean()
    within = sum(float(((group - mean) ** 2).sum()) for group, mean in zip(values, means, strict=True))
    if within == 0:
        raise UsageError("No group varies within itself: there is no error to compare their means with.")
    square = within / within_degrees
    f = float((counts * (means - grand) ** 2).sum()) / (len(values) - 1) / square
    p_value = float(fdtrc(len(values) - 1, within_degrees, f))
    return OneWay(f, len(values) - 1, within_degrees, p_value, square, means, counts)


def compute_tukey(found: OneWay) -> TukeyPairs:
    """Tukey's HSD after an analysis of variance (Tukey–Kramer where group sizes differ)."""
    return compute_tukey_of_means(found.means, found.counts, found.within_square, found.within_degrees)


def compute_tukey_of_means(
    means: ArrayLike, counts: ArrayLike, within_square: float, within_degrees: int
) -> TukeyPairs:
    """Tukey's HSD from what a table prints: means, scores in each group, and the within-group mean square.

    Raises ContractError where means and counts differ in length, or the mean square is not above 0.
    """
    mean, count = np.asarray(means, dtype=float), np.asarray(counts, dtype=float)
    if mean.shape != count.shape or within_square <= 0 or within_degrees < 1:
        raise ContractError("Tukey's HSD needs a count for each mean, and a mean square above 0.")
    first, second = (codes.astype(np.int64) for codes in np.triu_indices(len(mean), 1))
    difference = mean[first] - mean[second]
    se = np.sqrt(within_square / 2 * (1 / count[first] + 1 / count[second]))
    p_value = compute_range_tail(np.abs(difference) / se, len(mean), within_degrees)
    margin = compute_range_limit(LEVEL, len(mean), within_degrees) * se
    return TukeyPairs(first, second, difference, difference - margin, difference + margin, p_value)
