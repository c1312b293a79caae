"""Candidates side by side: differences of S with their error, in one edition or between two.

Candidates that sat the same questions are compared question by question: what makes a question easy for both drops out.
Otherwise the variances add, less the covariance through lineages that both had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import ContractError
from tasks.statistics.cells import (
    Cells,
    Codes,
    Floats,
    StarRows,
    Units,
    average_repeats,
    check_weights,
    compute_cells,
    sum_by,
    sum_lineages,
)
from tasks.statistics.score import FULL_SCORE, POINTS_PER_STAR, compute_means, compute_score
from tasks.statistics.scores.intervals import combine_cells, compute_interval, count_equal

# From this share of the smaller sitting's questions on, in every discipline, a pair is compared on its common questions.
LEAST_COMMON = 0.5


@dataclass(frozen=True)
class Differences:
    """Differences of S with error, one for each pair or candidate; NaN where S is missing.

    Attributes:
        difference: in points of S: first minus second candidate, or later minus earlier edition.
        se: its standard error.
        degrees: degrees of freedom of the standard error.
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
class Pairs:
    """All pairs of candidates of one edition and style: first < second, ordered by both.

    Attributes:
        first, second: codes of the candidates.
        common_count: questions that both have stars for.
        is_paired: compared on common questions alone, so that the difference is theirs and not that of the two S.
        differences: first minus second.
    """

    first: Codes
    second: Codes
    common_count: Codes
    is_paired: NDArray[np.bool_]
    differences: Differences


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
class _Sitting:
    """S of every candidate, and each lineage's part in its error (squares sum to the variance)."""

    cells: Cells
    owner: Codes
    lineage: Codes
    part: Floats
    is_counted: NDArray[np.bool_]


def compute_pairs(rows: StarRows, weights: ArrayLike, *, candidate_count: int) -> Pairs:
    """Every pair of candidates of one edition and style.

    A pair is compared on its common questions where these are at least half of the smaller sitting's in every discipline
    that has weight; otherwise as √(SE_a² + SE_b² - 2 cov), with the covariance through common lineages. Raises as
    `compute_scores` does.
    """
    shares = check_weights(weights)
    units = average_repeats(rows, candidate_count, len(shares))
    sitting = _arrange_sitting(units, shares, candidate_count)
    first, second = (codes.astype(np.int64) for codes in np.triu_indices(candidate_count, 1))
    found = [
        _compare_with_later(units, sitting, shares, number, candidate_count)
        for number in range(candidate_count - 1)
    ]
    if not found:
        nothing = np.zeros(0)
        none = Differences(nothing, nothing, nothing, nothing, nothing, nothing)
        return Pairs(first, second, first.copy(), np.zeros(0, dtype=bool), none)
    common, is_paired, differences = zip(*found, strict=True)
    columns = zip(*(vars(one).values() for one in differences), strict=True)
    whole = Differences(*map(np.concatenate, columns))
    return Pairs(first, second, np.concatenate(common), np.concatenate(is_paired), whole)


def compute_changes(
    before: StarRows, after: StarRows, weights: ArrayLike, *, candidate_count: int
) -> Changes:
    """The change of S of each candidate between two editions, as a rule of different questions.

    Candidates and lineages have one numbering in both. NaN for a candidate that sat one of them only. Degrees of freedom
    leave the covariance aside.
    """
    shares = check_weights(weights)
    sides = []
    # Lineages keep the caller's codes: numbering each edition without gaps would lose who is who.
    lineages = np.unique(np.concatenate([before.lineage, after.lineage]))
    for rows in (before, after):
        units = average_repeats(rows, candidate_count, len(shares))
        own = np.unique(rows.lineage)
        shared = np.searchsorted(lineages, own)[units.lineage]
        sides.append(_arrange_sitting(units, shares, candidate_count, shared))
    earlier, later = sides
    keys = [
        side.owner[side.is_counted] * (len(lineages) + 1) + side.lineage[side.is_counted] for side in sides
    ]
    both, at_earlier, at_later = np.intersect1d(keys[0], keys[1], return_indices=True)
    candidate = both // (len(lineages) + 1)
    product = earlier.part[earlier.is_counted][at_earlier] * later.part[later.is_counted][at_later]
    covariance = sum_by(candidate, product, candidate_count)
    cells = _join(later.cells, earlier.cells)
    return Changes(
        common_count=np.bincount(candidate, minlength=candidate_count),
        differences=_compare_apart(cells, shares, covariance),
    )


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


def _arrange_sitting(
    units: Units, weights: Floats, candidate_count: int, lineage: Codes | None = None
) -> _Sitting:
    named = units.lineage if lineage is None else lineage
    cells = compute_cells(
        units.candidate,
        units.discipline,
        named,
        units.stars,
        key_count=candidate_count,
        discipline_count=len(weights),
    )
    cell = units.candidate * len(weights) + units.discipline
    owner, total, of = sum_lineages(cell, named, units.stars - cells.mean.ravel()[cell])
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.sqrt(cells.cluster_count / (cells.cluster_count - 1.0)) / cells.unit_count
        part = total * (factor * weights).ravel()[owner]
    # A single lineage deviates from nothing: it has no part in a covariance.
    part = np.where(cells.cluster_count.ravel()[owner] >= 2, part, 0.0)
    return _Sitting(cells, owner // len(weights), of, part, weights[owner % len(weights)] > 0)


def _compare_with_later(
    units: Units, sitting: _Sitting, weights: Floats, number: int, candidate_count: int
) -> tuple[Codes, NDArray[np.bool_], Differences]:
    """One candidate with all that come later: common questions, whether paired, differences."""
    count = candidate_count - number - 1
    own = slice(int(units.starts[number]), int(units.starts[number + 1]))
    others = slice(own.stop, None)
    known = np.full(units.question_count, np.nan)
    known[units.question[own]] = units.stars[own]
    value = known[units.question[others]] - units.stars[others]
    is_common = ~np.isnan(value)
    common = compute_cells(
        units.candidate[others][is_common] - number - 1,
        units.discipline[others][is_common],
        units.lineage[others][is_common],
        value[is_common],
        key_count=count,
        discipline_count=len(weights),
    )
    asked = sitting.cells.unit_count
    fewer = np.minimum(asked[number], asked[number + 1 :])
    has_weight = weights > 0
    is_paired = ((common.unit_count >= LEAST_COMMON * fewer)[:, has_weight] & (fewer > 0)[:, has_weight]).all(
        axis=1
    )
    paired = _compare_together(common, weights)
    if is_paired.all():
        return common.unit_count.sum(axis=1), is_paired, paired
    apart = _compare_apart(
        _join(
            _take(sitting.cells, np.full(count, number)),
            _take(sitting.cells, np.arange(number + 1, candidate_count)),
        ),
        weights,
        _compute_covariance(sitting, number, candidate_count),
    )
    sides = zip(vars(paired).values(), vars(apart).values(), strict=True)
    chosen = Differences(*(np.where(is_paired, together, alone) for together, alone in sides))
    return common.unit_count.sum(axis=1), is_paired, chosen


def _compute_covariance(sitting: _Sitting, number: int, candidate_count: int) -> Floats:
    """Covariance of S of one candidate with that of each later one, in stars."""
    size = int(sitting.lineage.max(initial=-1)) + 1
    own = sitting.owner == number
    part = sum_by(sitting.lineage[own], sitting.part[own], size)
    later = sitting.owner > number
    product = sitting.part[later] * part[sitting.lineage[later]]
    return sum_by(sitting.owner[later] - number - 1, product, candidate_count - number - 1)


def _compare_together(cells: Cells, weights: Floats) -> Differences:
    found = combine_cells(cells, weights, scale=POINTS_PER_STAR, least=-FULL_SCORE, most=FULL_SCORE)
    p_value = _compute_p_value(found.value, found.se, found.degrees, count_equal(cells, weights))
    return Differences(found.value, found.se, found.degrees, found.low, found.high, p_value)


def _compare_apart(cells: Cells, weights: Floats, covariance: Floats) -> Differences:
    """Differences from cells whose second half of disciplines is the side that is taken away."""
    both = np.concatenate([weights, weights])
    variance_only = combine_cells(cells, both, scale=POINTS_PER_STAR, least=-np.inf, most=np.inf)
    side = len(weights)
    value = compute_score(cells.mean[:, :side] - cells.mean[:, side:], weights)
    variance = variance_only.se**2 - 2.0 * covariance * POINTS_PER_STAR**2
    # Rounding may leave a hair below 0 where both sides are the same answers.
    se = np.sqrt(np.where(variance > 1e-12, variance, np.where(np.isnan(variance), np.nan, 0.0)))
    equal = count_equal(cells, both)
    low, high = compute_interval(value, se, variance_only.degrees, equal, least=-FULL_SCORE, most=FULL_SCORE)
    p_value = _compute_p_value(value, se, variance_only.degrees, equal)
    return Differences(value, se, variance_only.degrees, low, high, p_value)


def _compute_p_value(value: Floats, se: Floats, degrees: Floats, count: Floats) -> Floats:
    """Two-sided p; where all questions differ by the same, that of the sign test on as many."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = 2.0 * stdtr(np.where(degrees > 0, degrees, np.nan), -np.abs(value) / se)
        alike = np.where(value == 0, 1.0, np.minimum(1.0, 2.0 * 0.5**count))
    return np.asarray(np.where(se == 0, alike, p_value))


def _take(cells: Cells, keys: Codes) -> Cells:
    return Cells(*(part[keys] for part in vars(cells).values()))


def _join(first: Cells, second: Cells) -> Cells:
    """Both sides' disciplines side by side."""
    if first.mean.shape != second.mean.shape:
        raise ContractError("Two sides of a comparison must have the same candidates and disciplines.")
    sides = zip(vars(first).values(), vars(second).values(), strict=True)
    return Cells(*(np.concatenate(parts, axis=1) for parts in sides))
