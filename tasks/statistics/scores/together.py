"""Differences told together: one error rate for all, and intervals that hold at once.

Romano and Wolf's step-down max-t (2005): the largest of many t statistics is compared with the largest that chance makes of
them all, each keeping its correlation with the others, since all candidates answered the same questions. Chance turns round
who answered what, cluster by cluster: between equal candidates every answer of one might have been the other's (wild cluster
bootstrap with the hypothesis imposed; Cameron, Gelbach and Miller 2008). That needs no normal distribution and holds for few
clusters too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Codes, Floats, Sums
from tasks.statistics.score import FULL_SCORE
from tasks.statistics.scores.intervals import find_reach

ERROR_RATE = 0.05

# Draws of the largest statistic: with as many, the standard error of a p-value of 5% is a third of a percent.
_DRAWS = 4_999
# Candidates' changes: two sittings of each, so that a draw costs four times as much; seven tenths of a percent.
DRAWS_OF_CHANGES = 999
_AT_ONCE = 1_000_000
# Pairs whose parts are told together at once: what lies between takes ten times what is told.
_PAIRS_AT_ONCE = 50_000
_SEED = 20_050_101
# Statistics and variances that differ by less are the same but for rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Differences:
    """Differences of S with error, one for each pair or candidate; NaN where S is missing.

    Attributes:
        difference: in points of S: first minus second candidate, or later minus earlier edition.
        low, high: 95% interval, cut at -100 and 100.
        p_value: two-sided, of no difference (Student's t); not yet corrected for the number of comparisons.
    """

    difference: Floats
    se: Floats
    degrees: Floats
    low: Floats
    high: Floats
    p_value: Floats


@dataclass(frozen=True)
class Together:
    """Differences of a family as they are told together.

    A family is all pairs of an edition and style, all disciplines of a pair, or all candidates' changes.

    Attributes:
        p_value: corrected for all of them; those at or below 5% differ, with one error or more in 5% of families.
        low, high: intervals that hold all true differences at once in 95% of families. One that holds 0 belongs to a
            difference that is not told from none, and to no other.
    """

    p_value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class _Sitters:
    """Candidates that met the same clusters.

    Attributes:
        members: codes of the candidates.
        cluster: code of each cluster; `size`, `weight` and `factor` as in `Sums`.
        bounds: where each stratum begins among the clusters, and the end.
        total: stars less what all candidates had in the stratum, cluster × member.
        squares: Σ `factor` · products of two members' stars, member × member.
        pairs: which pairs are of two members.
        first, second: places of these among the members.
    """

    members: Codes
    cluster: Codes
    size: Floats
    weight: Floats
    factor: Floats
    bounds: Codes
    total: Floats
    squares: Floats
    pairs: Codes
    first: Codes
    second: Codes

    def turn(self, signs: Floats) -> tuple[Floats, Floats, Floats]:
        """S of each member and its variance, draw × member, and the pairs' covariances."""
        turned = signs[:, self.cluster]
        strata, members = len(self.bounds) - 1, len(self.members)
        score = np.zeros((len(signs), members))
        means = np.empty((len(signs), members, strata))
        rest = np.empty((len(signs), strata, members))
        for place, (start, end) in enumerate(pairwise(self.bounds.tolist())):
            own, size, total = turned[:, start:end], self.size[start:end], self.total[start:end]
            weight = self.weight[start:end]
            sums = own @ total
            # Where clusters are alike, as single questions are, one product serves for all three.
            score += weight[0] * sums if (weight == weight[0]).all() else (own * weight) @ total
            mixed = size[0] * sums if (size == size[0]).all() else (own * size) @ total
            mean = sums / size.sum()
            means[:, :, place] = mean
            rest[:, place] = self.factor[start] * (2.0 * mixed - (size**2).sum() * mean)
        spread = np.diagonal(self.squares) - np.einsum("dms,dsm->dm", means, rest)
        if not len(self.pairs):
            return score, spread, np.zeros((len(signs), 0))
        lost = (means @ rest).reshape(len(signs), -1)
        both = lost.take(self.first * members + self.second, axis=1)
        both += lost.take(self.second * members + self.first, axis=1)
        return score, spread, self.squares[self.first, self.second] - both / 2.0


def tell_together(
    first: Codes,
    second: Codes,
    differences: Differences,
    sums: Sums,
    covariance: Floats,
    *,
    draws: int = _DRAWS,
) -> Together:
    """Corrected p-values and simultaneous intervals of all pairs that have one."""
    known = np.flatnonzero(~np.isnan(differences.p_value))
    adjusted, low, high = np.full((3, len(first)), np.nan)
    if not len(known):
        return Together(adjusted, low, high)
    value, se, degrees = (
        column[known] for column in (differences.difference, differences.se, differences.degrees)
    )
    degrees = np.where(degrees > 0, degrees, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(se > 0, np.abs(value) / se, np.where(value == 0, 0.0, np.inf))
    statistic = _level(statistic, degrees)
    order = np.argsort(-statistic, kind="stable")
    at = known[order]
    adjusted[at] = differences.p_value[at]
    reach = find_reach(degrees)
    # A pair that is alone has nothing to be told together with.
    if len(known) > 1:
        exceeded, largest = _draw_largest(
            _Turning(sums, covariance, first[at], second[at]), statistic[order], degrees[order], draws
        )
        adjusted[at] = np.maximum(np.maximum.accumulate(_bound_share(exceeded, draws)), adjusted[at])
        reach = np.maximum(_unlevel(np.sort(largest)[::-1][_count_allowed(draws)], degrees), reach)
    low[known], high[known] = _bound_together(
        differences, known, adjusted[known], reach * np.where(se > 0, se, np.nan)
    )
    return Together(adjusted, low, high)


@dataclass(frozen=True)
class Part:
    """Differences of all pairs in one discipline, with what the candidates have there."""

    differences: Differences
    sums: Sums
    covariance: Floats


def tell_parts_together(parts: Sequence[Differences]) -> list[Together]:
    """Corrected p-values and simultaneous intervals of every pair's parts.

    Each pair is a family of its own. Its parts have no question in common, so that their errors are
    independent and Šidák's correction, stepped down, is exact (Holland and Copenhaver 1987); nothing is
    drawn. Parts without a p-value are not counted. One part alone is told as it stands.
    """
    pair_count = len(parts[0].p_value) if parts else 0
    known = np.zeros((len(parts), pair_count), dtype=bool)
    adjusted, reach = np.empty((2, len(parts), pair_count))
    for start in range(0, pair_count, _PAIRS_AT_ONCE):
        some = np.s_[start : start + _PAIRS_AT_ONCE]
        known[:, some], adjusted[:, some], reach[:, some] = _step_down(
            *(
                np.array([getattr(part, name)[some] for part in parts], dtype=float)
                for name in ("p_value", "se", "degrees")
            )
        )
    found = []
    for at, part in enumerate(parts):
        corrected, low, high = np.full((3, pair_count), np.nan)
        own = np.flatnonzero(known[at])
        corrected[own] = adjusted[at, own]
        low[own], high[own] = _bound_together(part, own, corrected[own], reach[at, own])
        found.append(Together(corrected, low, high))
    return found


def _step_down(p_value: Floats, se: Floats, degrees: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Which parts × pairs are counted, their corrected p-values, and their intervals' reach."""
    known = ~np.isnan(p_value)
    count = known.sum(axis=0)
    order = np.argsort(np.where(known, p_value, 2.0), axis=0, kind="stable")
    left = np.maximum(count - np.arange(len(p_value))[:, None], 1)
    smallest = np.take_along_axis(np.where(known, p_value, 1.0), order, axis=0)
    with np.errstate(divide="ignore"):
        stepped = -np.expm1(left * np.log1p(-np.minimum(smallest, 1.0)))
    adjusted = np.empty_like(p_value)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(stepped, axis=0), axis=0)
    rate = -np.expm1(np.log1p(-ERROR_RATE) / np.maximum(count, 1))
    reach = find_reach(np.where(known & (degrees > 0), degrees, 1.0), rate) * np.where(se > 0, se, np.nan)
    return known, adjusted, reach


def _bound_together(
    differences: Differences, known: Codes, adjusted: Floats, reach: Floats
) -> tuple[Floats, Floats]:
    """Intervals of the known differences; `reach` is NaN where all questions differ by the same."""
    value = differences.difference[known]
    # Where all questions differ by the same, the interval of the difference alone stands.
    lower = np.where(np.isnan(reach), differences.low[known], np.maximum(value - reach, -FULL_SCORE))
    upper = np.where(np.isnan(reach), differences.high[known], np.minimum(value + reach, FULL_SCORE))
    is_apart = adjusted <= ERROR_RATE
    lower = np.where(is_apart & (value > 0), np.maximum(lower, 0.0), lower)
    upper = np.where(is_apart & (value < 0), np.minimum(upper, 0.0), upper)
    return (
        np.where(is_apart, lower, np.minimum(lower, 0.0)),
        np.where(is_apart, upper, np.maximum(upper, 0.0)),
    )


class _Turning:
    """All candidates' sums by who met the same clusters, and pairs of them."""

    def __init__(self, sums: Sums, covariance: Floats, first: Codes, second: Codes) -> None:
        self.first, self.second = first, second
        self.variance = np.diagonal(covariance)
        # What two candidates have in common of different sets is little: its part in the covariance stays as it is.
        self._apart = 2.0 * covariance[first, second]
        self.cluster_count = int(sums.cluster.max(initial=-1)) + 1
        self._sitters = _group_sitters(sums, len(covariance), first, second)

    def turn(self, signs: Floats) -> tuple[Floats, Floats]:
        """Differences of S of all pairs with signs turned, draw × pair, and their variances."""
        score = np.zeros((len(signs), len(self.variance)))
        spread = np.repeat(self.variance[None, :], len(signs), axis=0)
        together = np.repeat(self._apart[None, :], len(signs), axis=0)
        for sitters in self._sitters:
            score[:, sitters.members], spread[:, sitters.members], both = sitters.turn(signs)
            together[:, sitters.pairs] = 2.0 * both
        difference = score.take(self.first, axis=1)
        difference -= score.take(self.second, axis=1)
        variance = spread.take(self.first, axis=1)
        variance += spread.take(self.second, axis=1)
        variance -= together
        return difference, variance


def _group_sitters(sums: Sums, candidate_count: int, first: Codes, second: Codes) -> list[_Sitters]:
    bounds = np.searchsorted(sums.owner, np.arange(candidate_count + 1))
    sizes = np.bincount(sums.stratum, weights=sums.size)
    centre = np.bincount(sums.stratum, weights=sums.total) / np.where(sizes > 0, sizes, 1.0)
    total = sums.total - sums.size * centre[sums.stratum]
    groups: dict[bytes, list[int]] = {}
    for candidate in range(candidate_count):
        own = slice(int(bounds[candidate]), int(bounds[candidate + 1]))
        met = b"".join(part[own].tobytes() for part in (sums.stratum, sums.cluster, sums.size))
        if met:
            groups.setdefault(met, []).append(candidate)
    found = []
    place, of = np.full((2, candidate_count), -1)
    for number, members in enumerate(groups.values()):
        place[members], of[members] = np.arange(len(members)), number
    for number, members in enumerate(groups.values()):
        pairs = np.flatnonzero((of[first] == number) & (of[second] == number))
        own = slice(int(bounds[members[0]]), int(bounds[members[0] + 1]))
        count = own.stop - own.start
        stars = np.stack([total[bounds[one] : bounds[one] + count] for one in members], axis=1)
        stratum = sums.stratum[own]
        found.append(
            _Sitters(
                members=np.array(members),
                cluster=sums.cluster[own],
                size=sums.size[own],
                weight=sums.weight[own],
                factor=sums.factor[own],
                bounds=np.append(np.flatnonzero(np.diff(stratum, prepend=-1)), count),
                total=stars,
                squares=(stars.T * sums.factor[own]) @ stars,
                pairs=pairs,
                first=place[first[pairs]],
                second=place[second[pairs]],
            )
        )
    return found


def _draw_largest(turning: _Turning, statistic: Floats, degrees: Floats, draws: int) -> tuple[Codes, Floats]:
    """How often the largest by chance exceeds each pair's statistic; and the largest by draw."""
    # The stream of this generator never changes, so that an edition that is computed again has the same numbers.
    generator = np.random.RandomState(_SEED)
    exceeded = np.zeros(len(statistic), dtype=np.int64)
    largest = np.zeros(draws)
    bar = statistic * (1.0 - _ROUNDING)
    step = max(1, _AT_ONCE // max(len(statistic), turning.cluster_count))
    for start in range(0, draws, step):
        count = min(step, draws - start)
        each = _draw_statistics(turning, generator, count, degrees)
        # From the pair with the smallest statistic to that with the largest.
        rest = np.maximum.accumulate(each[:, ::-1], axis=1)[:, ::-1]
        exceeded += (rest >= bar).sum(axis=0)
        largest[start : start + count] = rest[:, 0]
    return exceeded, largest


def _draw_statistics(
    turning: _Turning, generator: np.random.RandomState, count: int, degrees: Floats
) -> Floats:
    """The levelled statistics of all pairs under signs turned by chance, draw × pair."""
    signs = np.asarray(generator.randint(0, 2, (count, turning.cluster_count)) * 2.0 - 1.0, dtype=np.float64)
    difference, variance = turning.turn(signs)
    least = _ROUNDING * (turning.variance[turning.first] + turning.variance[turning.second])
    squares = np.square(difference, out=difference)
    is_none = variance <= least
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.divide(squares, variance, out=variance)
    if is_none.any():
        each = np.where(is_none, np.where(squares > least, np.inf, 0.0), each)
    return _level_squares(each, degrees)


def _count_allowed(draws: int) -> int:
    """How many draws may exceed a significant statistic; the next is the critical value."""
    return int((_bound_share(np.arange(draws), draws) <= ERROR_RATE).sum()) - 1


def _bound_share(exceeded: Codes, draws: int) -> Floats:
    """The p-value of so many draws that exceed, two standard errors of drawing on the safe side."""
    share = (1.0 + exceeded) / (draws + 1.0)
    return np.asarray(np.minimum(share + 2.0 * np.sqrt(share * (1.0 - share) / draws), 1.0))


def _level(statistic: Floats, degrees: Floats) -> Floats:
    """Student's t as a normal deviate (Wallace 1959): few degrees shall not outweigh the others."""
    return _level_squares(statistic**2, degrees)


def _level_squares(squares: Floats, degrees: Floats) -> Floats:
    """`_level` of the statistics of which these are the squares; takes their place."""
    found = np.log1p(np.divide(squares, degrees, out=squares), out=squares)
    found *= degrees
    np.sqrt(found, out=found)
    found *= (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0)
    return found


def _unlevel(deviate: float | Floats, degrees: Floats) -> Floats:
    """The t that `_level` makes into a deviate."""
    with np.errstate(over="ignore"):
        own = deviate * (8.0 * degrees + 3.0) / (8.0 * degrees + 1.0)
        return np.asarray(np.sqrt(degrees * np.expm1(own**2 / degrees)))
