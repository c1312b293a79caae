"""Two groups with unequal variances: Welch's t test with the interval of the difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

LEVEL = 0.95


@dataclass(frozen=True)
class Welch:
    """The first group against the second.

    Attributes:
        first_mean, second_mean: null for an empty group.
        difference: first minus second; null where a group is empty.
        low, high: its 95% interval; null where a group has fewer than two scores.
        t, degrees, p_value: two-sided test of no difference; null with the interval, and where nothing varies.
        first_count, second_count: scores in each group.
    """

    first_mean: float | None
    second_mean: float | None
    difference: float | None
    low: float | None
    high: float | None
    t: float | None
    degrees: float | None
    p_value: float | None
    first_count: int
    second_count: int


def compute_welch(first: ArrayLike, second: ArrayLike) -> Welch:
    """Welch's two-sided t test of two groups of scores, with Satterthwaite's degrees of freedom."""
    from scipy.special import stdtr, stdtrit

    groups = [np.asarray(group, dtype=float) for group in (first, second)]
    counts = [len(group) for group in groups]
    one, other = (float(group.mean()) if len(group) else None for group in groups)
    difference = None if one is None or other is None else one - other
    nothing = Welch(one, other, difference, None, None, None, None, None, counts[0], counts[1])
    if difference is None or min(counts) < 2:
        return nothing
    parts = [float(group.var(ddof=1)) / len(group) for group in groups]
    variance = sum(parts)
    if variance == 0:
        return nothing
    degrees = variance**2 / sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    se = variance**0.5
    t = difference / se
    margin = float(stdtrit(degrees, 0.5 + LEVEL / 2)) * se
    p_value = float(2 * stdtr(degrees, -abs(t)))
    low, high = difference - margin, difference + margin
    return Welch(one, other, difference, low, high, t, degrees, p_value, counts[0], counts[1])
