"""Candidates side by side: differences of S with their error, in one edition or between two.

A difference has the variances of both, less twice their covariance through what both were asked. So of candidates that sat the
same questions, what makes a question easy for both drops out: they are compared question by question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tasks.statistics.cells import (
    Cells,
    Codes,
    Floats,
    StarRows,
    Sums,
    Units,
    average_repeats,
    check_weights,
    compute_cells,
    sum_by,
)
from tasks.statistics.score import FULL_SCORE, POINTS_PER_STAR, compute_means, compute_score
from tasks.statistics.scores.intervals import compute_error, compute_interval, count_equal
from tasks.statistics.scores.together import (
    DRAWS_OF_CHANGES,
    Differences,
    Part,
    Together,
    tell_parts_together,
    tell_together,
)

# From this share of the smaller sitting's questions on, in every discipline, a pair counts as compared on common questions.
LEAST_COMMON = 0.5
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Pairs:
    """All pairs of candidates of one edition and style: first < second, ordered by both.

    Attributes:
        first, second: codes of the candidates.
        common_count: questions that both have stars for.
        is_paired: at least half of the smaller sitting's questions are common, in every discipline that has weight.
        differences: first minus second, each for itself.
        together: the same as all of them are told together.
    """

    first: Codes
    second: Codes
    common_count: Codes
    is_paired: NDArray[np.bool_]
    differences: Differences
    together: Together


@dataclass(frozen=True)
class HeadToHead:
    """One element for each pair of candidates, in the order given.

    Attributes:
        first_wins, second_wins, ties: common questions by who has more stars, repeats averaged.
        first_stars, second_stars: stars on the common questions, repeats averaged.
    """

    first_wins: Codes
    second_wins: Codes
    ties: Codes
    first_stars: Floats
    second_stars: Floats


@dataclass(frozen=True)
class Changes:
    """How S of each candidate moved from one edition to the next, shape (candidates,).

    Attributes:
        common_count: lineages that the candidate met in both.
        differences: later minus earlier.
    """

    common_count: Codes
    differences: Differences


@dataclass(frozen=True)
class Improvements:
    """Changes of S between two editions, each for itself and as all are told together."""

    differences: Differences
    together: Together


def compute_pairs(rows: StarRows, weights: ArrayLike, *, candidate_count: int) -> Pairs:
    """Every pair of candidates of one edition and style. Raises as `compute_scores` does."""
    side_by_side = _set_side_by_side(rows, check_weights(weights), candidate_count)
    part = side_by_side.part
    first, second = side_by_side.first, side_by_side.second
    together = tell_together(first, second, part.differences, part.sums, part.covariance)
    return side_by_side.tell(together)


def compute_discipline_pairs(rows: StarRows, *, candidate_count: int, discipline_count: int) -> list[Pairs]:
    """Every pair of candidates in each discipline; a pair's disciplines are told together."""
    found = [
        _set_side_by_side(_choose_discipline(rows, discipline), np.ones(1), candidate_count)
        for discipline in range(discipline_count)
    ]
    together = tell_parts_together([one.part.differences for one in found])
    return [one.tell(told) for one, told in zip(found, together, strict=True)]


@dataclass(frozen=True)
class _SideBySide:
    """All pairs of a set of questions before they are told together; as in `Pairs`."""

    first: Codes
    second: Codes
    common_count: Codes
    is_paired: NDArray[np.bool_]
    part: Part

    def tell(self, together: Together) -> Pairs:
        return Pairs(
            self.first, self.second, self.common_count, self.is_paired, self.part.differences, together
        )


def _set_side_by_side(rows: StarRows, shares: Floats, candidate_count: int) -> _SideBySide:
    units = average_repeats(rows, candidate_count, len(shares))
    cells = compute_cells(units, shares, candidate_count)
    first, second = (codes.astype(np.int64) for codes in np.triu_indices(candidate_count, 1))
    common = _count_common(units, candidate_count, len(shares))
    has_weight = shares > 0
    asked = cells.unit_count[:, has_weight]
    fewer = np.minimum(asked[first], asked[second])
    is_enough = (common[first, second][:, has_weight] >= LEAST_COMMON * fewer) & (fewer > 0)
    is_paired = np.asarray(is_enough.all(axis=1))
    deviations = cells.part.arrange(candidate_count, units.cluster_count)
    covariance = deviations @ deviations.T
    differences = _Sides(cells, cells, first, second).compare(shares, covariance[first, second], is_paired)
    return _SideBySide(
        first, second, common[first, second].sum(axis=1), is_paired, Part(differences, cells.sums, covariance)
    )


def _choose_discipline(rows: StarRows, discipline: int) -> StarRows:
    """The rows of one discipline, which is then the only one."""
    at = rows.discipline == discipline
    return StarRows(
        candidate=rows.candidate[at],
        discipline=np.zeros(int(at.sum()), dtype=np.int64),
        question=rows.question[at],
        lineage=rows.lineage[at],
        stars=rows.stars[at],
        cluster=rows.clusters[at],
    )


def compute_changes(
    before: StarRows, after: StarRows, weights: ArrayLike, *, candidate_count: int
) -> Changes:
    """The change of S of each candidate between two editions; NaN for who sat only one."""
    shares = check_weights(weights)
    sides = []
    # Clusters keep the caller's codes: numbering each edition without gaps would lose who is who.
    clusters = np.unique(np.concatenate([before.clusters, after.clusters]))
    for rows in (before, after):
        units = average_repeats(rows, candidate_count, len(shares))
        cells = compute_cells(units, shares, candidate_count)
        part = cells.part
        shared = np.searchsorted(clusters, np.unique(rows.clusters))[part.cluster]
        sides.append((cells, part.owner * (len(clusters) + 1) + shared))
    (earlier, then), (later, now) = sides
    key, at_then, at_now = np.intersect1d(then, now, assume_unique=True, return_indices=True)
    product = earlier.part.value[at_then] * later.part.value[at_now]
    covariance = sum_by(key // (len(clusters) + 1), product, candidate_count)
    everybody = np.arange(candidate_count)
    return Changes(
        common_count=_count_common_lineages(before, after, shares, candidate_count),
        differences=_Sides(later, earlier, everybody, everybody).compare(
            shares, covariance, np.zeros(candidate_count, dtype=bool)
        ),
    )


def compute_improvements(rows: StarRows, weights: ArrayLike, *, candidate_count: int) -> Improvements:
    """The change of S of each candidate between two editions of its own, all told together.

    Candidate i has code 2i in its earlier edition and 2i + 1 in its later one; lineages and clusters have one numbering in all.
    Candidates sat the same questions of an edition, so their changes hang together.
    """
    shares = check_weights(weights)
    units = average_repeats(rows, 2 * candidate_count, len(shares))
    cells = compute_cells(units, shares, 2 * candidate_count)
    earlier = 2 * np.arange(candidate_count, dtype=np.int64)
    later = earlier + 1
    deviations = cells.part.arrange(2 * candidate_count, units.cluster_count)
    covariance = deviations @ deviations.T
    differences = _Sides(cells, cells, later, earlier).compare(
        shares, covariance[later, earlier], np.zeros(candidate_count, dtype=bool)
    )
    together = tell_together(
        later, earlier, differences, _centre_candidates(cells.sums), covariance, draws=DRAWS_OF_CHANGES
    )
    return Improvements(differences, together)


def _centre_candidates(sums: Sums) -> Sums:
    """Stars less the candidate's mean of the stratum in both editions: what no change leaves."""
    owner = sums.owner // 2
    key = owner * (int(sums.stratum.max(initial=0)) + 1) + sums.stratum
    count = int(key.max(initial=-1)) + 1
    size = sum_by(key, sums.size, count)
    mean = sum_by(key, sums.total, count) / np.where(size > 0, size, 1.0)
    return replace(sums, total=sums.total - sums.size * mean[key])


def compare_stars(rows: StarRows, candidate_count: int, first: Codes, second: Codes) -> HeadToHead:
    """Who of each pair has more stars on how many common questions, and how many in all."""
    question_count = int(rows.question.max(initial=-1)) + 1
    cell = rows.candidate * question_count + rows.question
    size = candidate_count * question_count
    mean, _ = compute_means(cell, rows.stars, size)
    stars = mean.reshape(candidate_count, question_count)
    wins, losses, ties = np.zeros((3, len(first)), dtype=np.int64)
    found = HeadToHead(wins, losses, ties, np.zeros(len(first)), np.zeros(len(first)))
    for code in np.unique(first):
        at = np.flatnonzero(first == code)
        # Only the questions that the first one sat can be common.
        sat = np.flatnonzero(~np.isnan(stars[code]))
        own = stars[code, sat]
        theirs = stars[np.ix_(second[at], sat)]
        is_common = ~np.isnan(theirs)
        found.first_wins[at] = (own > theirs).sum(axis=1)
        found.second_wins[at] = (own < theirs).sum(axis=1)
        found.ties[at] = (own == theirs).sum(axis=1)
        found.first_stars[at] = np.where(is_common, own, 0.0).sum(axis=1)
        found.second_stars[at] = np.where(is_common, theirs, 0.0).sum(axis=1)
    return found


@dataclass(frozen=True)
class _Sides:
    """What is compared: candidate `of_first` of the first cells with `of_second` of the second."""

    first: Cells
    second: Cells
    of_first: Codes
    of_second: Codes

    def compare(self, weights: Floats, covariance: Floats, is_paired: NDArray[np.bool_]) -> Differences:
        """First minus second, with the covariance of each in stars."""
        own, other = (
            (compute_score(cells.mean, weights)[of], compute_error(cells)[of] ** 2, cells.part.degrees[of])
            for cells, of in ((self.first, self.of_first), (self.second, self.of_second))
        )
        # Two questions that one and the other has alone differ by 0 with an error of 100, give or take a rounding.
        value = np.clip(own[0] - other[0], -FULL_SCORE, FULL_SCORE)
        # What differs in the last bits only is equal; without an error it would else be told apart.
        value = np.where(np.abs(value) < _ROUNDING, 0.0, value)
        total = own[1] + other[1]
        variance = total - 2.0 * covariance * POINTS_PER_STAR**2
        # Rounding may leave a hair below 0 where both sides are the same answers.
        se = np.sqrt(np.where(variance > 1e-12 * np.maximum(total, 1.0), variance, 0.0 * variance))
        se = np.minimum(se, FULL_SCORE)
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = total**2 / (own[1] ** 2 / own[2] + other[1] ** 2 / other[2])
        degrees = np.where(is_paired | ~(total > 0), np.minimum(own[2], other[2]), apart)
        counts = [
            count_equal(cells, weights)[of]
            for cells, of in ((self.first, self.of_first), (self.second, self.of_second))
        ]
        with np.errstate(divide="ignore"):
            count = np.where(is_paired, np.minimum(*counts), 1.0 / (1.0 / counts[0] + 1.0 / counts[1]))
        low, high = compute_interval(value, se, degrees, count, least=-FULL_SCORE, most=FULL_SCORE)
        return Differences(value, se, degrees, low, high, _compute_p_value(value, se, degrees, count))


def _count_common(units: Units, candidate_count: int, discipline_count: int) -> Codes:
    """Questions that each pair has in common, candidate × candidate × discipline."""
    found = np.zeros((candidate_count, candidate_count, discipline_count), dtype=np.int64)
    for discipline in range(discipline_count):
        at = units.discipline == discipline
        has = np.zeros((candidate_count, units.question_count), dtype=np.float32)
        has[units.candidate[at], units.question[at]] = 1.0
        has = has[:, has.any(axis=0)]
        found[:, :, discipline] = np.rint(has @ has.T)
    return found


def _count_common_lineages(before: StarRows, after: StarRows, weights: Floats, count: int) -> Codes:
    """Lineages that each candidate met in both, in disciplines that have weight."""
    width = int(max(before.lineage.max(initial=-1), after.lineage.max(initial=-1))) + 1
    then, now = (
        np.unique((rows.candidate.astype(np.int64) * width + rows.lineage)[weights[rows.discipline] > 0])
        for rows in (before, after)
    )
    both = np.intersect1d(then, now, assume_unique=True)
    return np.bincount(both // max(width, 1), minlength=count)


def _compute_p_value(value: Floats, se: Floats, degrees: Floats, count: Floats) -> Floats:
    """Two-sided p; where all questions differ by the same, that of the sign test on as many."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = 2.0 * stdtr(np.where(degrees > 0, degrees, np.nan), -np.abs(value) / se)
        alike = np.where(value == 0, 1.0, np.minimum(1.0, 2.0 * 0.5**count))
    return np.asarray(np.where(se == 0, alike, p_value))
