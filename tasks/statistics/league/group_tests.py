"""Groups of scores: analysis of variance, Tukey's HSD, Welch's t test, the spread of runs.

The tests take scores as independent. Scores that several judges gave to one answer are not: a caller that wants an honest error
hands in one mean for each answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from schemas.errors import ContractError, UsageError
from tasks.statistics.cells import Codes, Floats

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


_POINTS = 96
_FARTHEST_Z = 8.5
_LEFT_OUT = 1e-14
_AT_ONCE = 64


def compute_one_way(groups: Sequence[ArrayLike]) -> OneWay:
    """F of groups of scores; raises UsageError for fewer than two, or where nothing varies."""
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
    if not _vary(values):
        raise UsageError("No group varies within itself: there is no error to compare their means with.")
    square = within / within_degrees
    f = float((counts * (means - grand) ** 2).sum()) / (len(values) - 1) / square
    p_value = float(fdtrc(len(values) - 1, within_degrees, f))
    return OneWay(f, len(values) - 1, within_degrees, p_value, square, means, counts)


def _vary(groups: Sequence[Floats]) -> bool:
    """Whether scores of one group differ by more than their last bits; a mean of equal ones may."""
    return any(np.ptp(np.round(group, 9)) > 0 for group in groups)


def compute_tukey(found: OneWay) -> TukeyPairs:
    """Tukey's HSD after an analysis of variance (Tukey–Kramer where group sizes differ)."""
    return compute_tukey_of_means(found.means, found.counts, found.within_square, found.within_degrees)


def compute_tukey_of_means(
    means: ArrayLike, counts: ArrayLike, within_square: float, within_degrees: int
) -> TukeyPairs:
    """Tukey's HSD from a printed table: means, scores in each group, within-group mean square.

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
    if not _vary(groups):
        return nothing
    parts = [float(group.var(ddof=1)) / len(group) for group in groups]
    variance = sum(parts)
    degrees = variance**2 / sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    se = variance**0.5
    t = difference / se
    margin = float(stdtrit(degrees, 0.5 + LEVEL / 2)) * se
    p_value = float(2 * stdtr(degrees, -abs(t)))
    low, high = difference - margin, difference + margin
    return Welch(one, other, difference, low, high, t, degrees, p_value, counts[0], counts[1])


@dataclass(frozen=True)
class RunSpread:
    """Standard deviation over runs.

    Attributes:
        run_count: runs with a score.
        sd: sample standard deviation of the runs' mean scores (n - 1); null for a single run.
        sd_100: the same after the scale was stretched to 100 points.
    """

    run_count: int
    sd: float | None
    sd_100: float | None


def compute_run_spread(scores: ArrayLike, runs: ArrayLike, *, most: float) -> RunSpread:
    """The spread of the runs' mean scores; `most` is the highest score that can be had."""
    value, run = np.asarray(scores, dtype=float), np.asarray(runs)
    means = np.array([value[run == one].mean() for one in np.unique(run)])
    if len(means) < 2:
        return RunSpread(len(means), None, None)
    sd = float(means.std(ddof=1))
    return RunSpread(len(means), sd, rescale(sd, most))


def rescale(sd: float, most: float) -> float:
    """A spread on a scale up to `most`, on one up to 100 (League of LLMs, table 7: × 100 / 6)."""
    return sd * 100.0 / most


def compute_range_tail(q: ArrayLike, group_count: int, degrees: float) -> Floats:
    """P(Q > q), to about 1e-10; raises ContractError below two groups or one degree of freedom.

    The studentized range is how far several means spread by chance, in standard errors. For k normal means and a standard deviation
    estimated with ν degrees of freedom,

        P(Q <= q) = ∫ f(s) · k ∫ φ(z) · (Φ(z) - Φ(z - q·s))^(k-1) dz ds,

    with s = √(χ²/ν). Both integrals are taken at fixed points (Gauss-Legendre), so that a thousand values cost what scipy, which
    searches for each, takes for ten.
    """
    from scipy.special import ndtr

    if group_count < 2 or degrees < 1:
        raise ContractError("The studentized range needs two groups and one degree of freedom.")
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    z, z_weight = points * _FARTHEST_Z, weights * _FARTHEST_Z
    normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * z_weight * group_count
    spread, spread_weight = _place_spread(degrees, points, weights)
    below = ndtr(z)
    values = np.atleast_1d(np.asarray(q, dtype=float))
    parts = []
    for start in range(0, len(values), _AT_ONCE):
        width = values[start : start + _AT_ONCE, None, None] * spread[None, :, None]
        inner = (below - ndtr(z[None, None, :] - width)) ** (group_count - 1) @ normal
        parts.append(1.0 - inner @ spread_weight)
    return np.clip(np.concatenate(parts), 0.0, 1.0) if parts else values


def compute_range_limit(level: float, group_count: int, degrees: float) -> float:
    """The q with P(Q <= q) = `level`."""
    from scipy.optimize import brentq

    high = 4.0
    while compute_range_tail(high, group_count, degrees)[0] > 1 - level:
        high *= 2
    return float(
        brentq(lambda q: compute_range_tail(q, group_count, degrees)[0] - (1 - level), 0.0, high, xtol=1e-9)
    )


def _place_spread(degrees: float, points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Points of s and what each weighs; the weights sum to 1."""
    from scipy.special import chdtri, gammaln

    low, high = (np.sqrt(chdtri(degrees, tail) / degrees) for tail in (1 - _LEFT_OUT, _LEFT_OUT))
    s = low + (high - low) * (points + 1) / 2
    log_density = (
        np.log(2.0)
        + degrees / 2 * np.log(degrees / 2)
        - gammaln(degrees / 2)
        + (degrees - 1) * np.log(np.maximum(s, 1e-300))
        - degrees * s**2 / 2
    )
    weight = np.exp(log_density) * weights * (high - low) / 2
    return s, weight / weight.sum()
