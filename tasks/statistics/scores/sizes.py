"""How many questions of each discipline a wished error of S takes.

The variance of S is Σ w_d² · V_d(n_d). Of a given number of questions it is smallest where n_d goes with w_d · σ_d (Neyman 1934;
Cochran 1977, section 5.5): a set is grown question by question, each of the discipline where it takes most off, so that the least
and the most that a discipline may have are kept, and every size on the way is the best of its number.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Codes, Floats

# Degrees of freedom that a discipline's spread borrows from the others, as for its interval.
_LENT = 10.0
# What is assumed before any answers: points that answers lie apart (of 50 at most; as the spreads of answers and of questions in
# `expect_equated_se` together), and how far two questions about one text are answered alike.
ASSUMED_SPREAD = 43.4
ASSUMED_LIKENESS = 0.3


@dataclass(frozen=True)
class AnswerSums:
    """What was answered before, an element for each candidate, style and discipline.

    Attributes, in points of 100:
        sitting: code of the candidate and style.
        discipline: code of the discipline.
        question_count: questions.
        squares: squared deviations from the mean, repeats of a question averaged, summed.
        cluster_squares: squared sizes of clusters, summed.
        cluster_deviations: squared sums of the deviations of each cluster, summed.
        inverse_repeats: mean of 1 / repeats.
        repeat_variance: variance of repeats of one question; NaN where nothing was repeated.
    """

    sitting: Codes
    discipline: Codes
    question_count: Floats
    squares: Floats
    cluster_squares: Floats
    cluster_deviations: Floats
    inverse_repeats: Floats
    repeat_variance: Floats


@dataclass(frozen=True)
class Spreads:
    """How far answers to a discipline's questions lie apart, as a typical candidate gives them.

    Attributes:
        variance: of one question's score in points squared, repeats averaged, shape (disciplines,).
        likeness: correlation of the scores of two questions about one text.
        is_assumed: whether nothing was known and all of it is assumed, shape (disciplines,).
        is_likeness_assumed: whether no text was asked about twice.
        narrowest, widest: error of S of the candidates with the smallest and the largest, as shares of the typical one.
    """

    variance: Floats
    likeness: float
    is_assumed: NDArray[np.bool_]
    is_likeness_assumed: bool
    narrowest: float = 1.0
    widest: float = 1.0


@dataclass(frozen=True)
class Stratum:
    """A discipline that a set is drawn from.

    Attributes:
        weight: its weight in S.
        variance: see `Spreads`.
        likeness: see `Spreads`.
        least, most: questions that a set may have of it.
        clusters: questions that belong together: how many each cluster has → how many such clusters there are.
    """

    weight: float
    variance: float
    likeness: float
    least: int
    most: int
    clusters: tuple[tuple[int, int], ...]

    def compute_variance(self, count: int) -> float:
        """Variance of the mean of so many questions; endless for none."""
        if not count:
            return math.inf
        return self.variance / count * (1.0 + self.likeness * self.count_siblings(count) / count)

    def count_siblings(self, count: int) -> float:
        """Ordered pairs of one cluster expected among so many questions, if as few as can be."""
        once, whole = self._extent
        if count <= once or whole <= once:
            return 0.0
        share = min(1.0, (count - once) / (whole - once))
        return sum(
            # Of a cluster of m questions 1 + B(m - 1, share) are drawn: pairs 2 · E B + E B(B - 1).
            number * (2.0 * (size - 1) * share + (size - 1) * (size - 2) * share**2)
            for size, number in self.clusters
        )

    @cached_property
    def _extent(self) -> tuple[int, int]:
        """Clusters and questions."""
        return (
            sum(number for _, number in self.clusters),
            sum(size * number for size, number in self.clusters),
        )


@dataclass(frozen=True)
class GrownSets:
    """Sets of every size, each the one before with one more question.

    Attributes:
        least: questions by discipline of the smallest set.
        added: code of the discipline of each further question.
        se: standard error of S in points by further questions, from none.
    """

    least: Codes
    added: Codes
    se: Floats

    @property
    def smallest(self) -> int:
        """Questions of the smallest set."""
        return int(self.least.sum())

    @property
    def largest(self) -> int:
        """Questions of the largest set."""
        return self.smallest + len(self.added)

    def find_size(self, se: float) -> int | None:
        """Questions of the smallest set with an error no larger than that; None where none has."""
        enough = np.flatnonzero(self.se <= se)
        return self.smallest + int(enough[0]) if len(enough) else None

    def get_shares(self, size: int) -> Codes:
        """Questions by discipline of the set of a size."""
        more = np.bincount(self.added[: size - self.smallest], minlength=len(self.least))
        return np.asarray(self.least + more)

    def get_error(self, size: int) -> float:
        """Its standard error."""
        return float(self.se[size - self.smallest])


def find_spreads(sums: AnswerSums | None, weights: Floats, repeats: int) -> Spreads:
    """Spreads of candidates who are to answer each question `repeats` times.

    Each is the mean over those who answered, without bias for clusters. Disciplines with few questions borrow from the
    others, as if these had ten. One that nobody answered has the mean of the others; before any answers all is assumed.
    """
    count = len(weights)
    is_told = np.zeros(count, dtype=bool)
    told = np.zeros(0, dtype=bool) if sums is None else sums.question_count**2 > sums.cluster_squares
    if sums is None or not told.any():
        return Spreads(np.full(count, ASSUMED_SPREAD**2), ASSUMED_LIKENESS, ~is_told, True)
    number, pairs = sums.question_count[told], (sums.cluster_squares - sums.question_count)[told]
    codes, sitting = sums.discipline[told], sums.sitting[told]
    of_mean = sums.cluster_deviations[told] / (number**2 - sums.cluster_squares[told])
    variance = sums.squares[told] / number + of_mean
    # What two questions of one cluster have in common.
    common = np.where(
        pairs > 0, (sums.cluster_deviations - sums.squares)[told] / np.maximum(pairs, 1) + of_mean, 0.0
    )
    likeness = ASSUMED_LIKENESS
    if pairs.sum() > 0:
        likeness = float(np.clip((pairs * common).sum() / max((pairs * variance).sum(), 1e-9), 0.0, 1.0))
    noise = _average_noise(sums.repeat_variance[told], number, codes, count)
    # Only what was repeated says how much of its spread repeats take off.
    variance = np.maximum(
        variance - noise[codes] * (sums.inverse_repeats[told] - 1.0 / repeats), 0.1 * variance
    )
    own = np.bincount(codes, weights=variance, minlength=count)
    sitters = np.bincount(codes, minlength=count)
    is_told = sitters > 0
    typical = float(variance.mean())
    degrees = np.zeros(count)
    np.maximum.at(degrees, codes, number**2 / sums.cluster_squares[told] - 1.0)
    shrunk = (degrees * own / np.maximum(sitters, 1) + _LENT * typical) / (degrees + _LENT)
    errors = np.bincount(sitting, weights=weights[codes] ** 2 * variance)
    expected = np.bincount(sitting, weights=(weights**2 * shrunk)[codes])
    ratio = np.sqrt(errors[expected > 0] / expected[expected > 0])
    return Spreads(
        variance=np.maximum(np.where(is_told, shrunk, typical), 1.0),
        likeness=likeness,
        is_assumed=~is_told,
        is_likeness_assumed=not pairs.sum(),
        narrowest=float(min(ratio.min(), 1.0)),
        widest=float(max(ratio.max(), 1.0)),
    )


def _average_noise(noise: Floats, number: Floats, codes: Codes, count: int) -> Floats:
    """What repeats of a question differ by, by discipline; that of all where it has none."""
    is_told = np.isfinite(noise)
    weight = np.bincount(codes[is_told], weights=number[is_told], minlength=count)
    total = np.bincount(codes[is_told], weights=(noise * number)[is_told], minlength=count)
    common = total.sum() / max(weight.sum(), 1.0)
    return np.where(weight > 0, total / np.maximum(weight, 1.0), common)


def grow_sets(strata: Sequence[Stratum], *, least_se: float) -> GrownSets:
    """Sets from the smallest to one with an error of `least_se`, or of all questions."""
    counts = [stratum.least for stratum in strata]
    total = sum(
        stratum.weight**2 * stratum.compute_variance(count)
        for stratum, count in zip(strata, counts, strict=True)
    )
    waiting = [
        (-_gain(stratum, count), code)
        for code, (stratum, count) in enumerate(zip(strata, counts, strict=True))
        if count < stratum.most
    ]
    heapq.heapify(waiting)
    added: list[int] = []
    errors = [math.sqrt(total)]
    while waiting and errors[-1] > least_se:
        gain, code = heapq.heappop(waiting)
        counts[code] += 1
        total += gain
        added.append(code)
        errors.append(math.sqrt(max(total, 0.0)))
        if counts[code] < strata[code].most:
            heapq.heappush(waiting, (-_gain(strata[code], counts[code]), code))
    return GrownSets(
        least=np.array([stratum.least for stratum in strata], dtype=np.int64),
        added=np.array(added, dtype=np.int64),
        se=np.array(errors),
    )


def compute_expected_se(strata: Sequence[Stratum], shares: Sequence[int]) -> float:
    """Standard error of S to be expected of a set with these shares, in points."""
    return math.sqrt(
        sum(
            stratum.weight**2 * stratum.compute_variance(count)
            for stratum, count in zip(strata, shares, strict=True)
            if stratum.weight
        )
    )


def _gain(stratum: Stratum, count: int) -> float:
    """What one more question takes off the variance of S."""
    return stratum.weight**2 * (stratum.compute_variance(count) - stratum.compute_variance(count + 1))
