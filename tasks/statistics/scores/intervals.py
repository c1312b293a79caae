"""S and R of every candidate of an edition, each with a standard error and a 95% interval.

The error is that of having drawn these questions and no others. S is a weighted mean of discipline means with fixed
weights, so its variance is Σ w_d² · s_d²/n_d over questions with their repeats averaged (stratified sampling; Cochran 1977,
chapter 5), by cluster where questions belong together. How far repeats of the same questions lie apart is another quantity
and has a name of its own, `repeat_sd`.

A score has two ends, near which few questions tell how much it varies. So the interval holds the scores from which this one
would be no surprise (score interval; Wilson 1927), its variance following the binomial's between the ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import UsageError
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
)
from tasks.statistics.score import (
    FULL_DISCIPLINE,
    FULL_SCORE,
    MOST_STARS,
    POINTS_PER_STAR,
    compute_means,
    compute_score,
)

CONFIDENCE = 0.95

# Questions that are added, as different from the others as can be, before it is guessed how far answers vary.
_ADDED = 0.05

# So few answers unlike the others, and how seldom so many come.
_FEW = 1.5
_SELDOM = 0.1

# Degrees of freedom that a discipline's spread borrows from the others.
_LENT = 10.0


@dataclass(frozen=True)
class Estimate:
    """A weighted mean over disciplines with its error; an element for each key, NaN for none.

    Attributes:
        value: the estimate.
        se: its standard error over the drawing of questions.
        degrees: degrees of freedom of the standard error (Welch-Satterthwaite).
        low, high: 95% interval, within the ends of the scale.
    """

    value: Floats
    se: Floats
    degrees: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class RelativeScores:
    """R of every candidate on the questions that it and the reference both have stars for.

    Attributes:
        relative: R with error and interval; 100 and 0 for the reference itself.
        question_count: common questions, shape (candidates,).
        discipline_relative: R in each discipline (100 is the reference), shape (candidates, disciplines).
        discipline_count: common questions in each.
    """

    relative: Estimate
    question_count: Codes
    discipline_relative: Floats
    discipline_se: Floats
    discipline_count: Codes


@dataclass(frozen=True)
class Scores:
    """S of every candidate, (candidates,), and its disciplines, (candidates, disciplines).

    Attributes:
        score: S from 0 to 100 with error and interval; NaN where a discipline that has weight has no question.
        question_count: questions with stars; repeats of one count once.
        answer_count: rows, so repeats count each.
        discipline_score: 0 to 10; NaN for an empty discipline.
        discipline_low, discipline_high: its 95% interval.
        discipline_count: questions in the discipline.
        is_pooled: one cluster only, so the spread within the candidate's other disciplines was taken for its error.
        repeat_sd: standard deviation of S over the repeats of a set (ddof 1, pooled over the sets that it sat): the candidate's
            own randomness, not the error of S. NaN without two whole repeats of one set.
        repeat_count: repeats in which every discipline that has weight has stars.
        relative: R of every candidate, or None without a reference.
    """

    score: Estimate
    question_count: Codes
    answer_count: Codes
    discipline_score: Floats
    discipline_se: Floats
    discipline_low: Floats
    discipline_high: Floats
    discipline_count: Codes
    is_pooled: NDArray[np.bool_]
    repeat_sd: Floats
    repeat_count: Codes
    relative: RelativeScores | None


def compute_scores(
    rows: StarRows, weights: ArrayLike, *, candidate_count: int, reference: int | None = None
) -> Scores:
    """S, discipline scores and (with a reference) R of all candidates of one edition and style.

    `weights` are the fixed weights of the disciplines, summing to 1: a discipline that is missing makes S NaN, it is never
    left out of the mean. `reference` is the reference candidate's code. Raises ContractError for rows that do not hold
    what they must, UsageError for weights that do not sum to 1 or a reference that is no candidate.
    """
    shares = check_weights(weights)
    if reference is not None and not 0 <= reference < candidate_count:
        raise UsageError(f"The reference is candidate {reference}, but there are only {candidate_count}.")
    units = average_repeats(rows, candidate_count, len(shares))
    cells = compute_cells(units, shares, candidate_count)
    to_ten = FULL_DISCIPLINE / MOST_STARS
    discipline_score = np.clip(cells.mean * to_ten, 0.0, FULL_DISCIPLINE)
    discipline_se = np.sqrt(cells.variance) * to_ten
    low, high = (end * FULL_DISCIPLINE for end in _bound_disciplines(cells))
    repeat_sd, repeat_count = _compute_repeat_sd(rows, shares, candidate_count)
    return Scores(
        score=estimate_score(cells, shares),
        question_count=cells.unit_count.sum(axis=1),
        answer_count=np.bincount(rows.candidate, minlength=candidate_count),
        discipline_score=discipline_score,
        discipline_se=discipline_se,
        discipline_low=low,
        discipline_high=high,
        discipline_count=cells.unit_count,
        is_pooled=cells.is_pooled,
        repeat_sd=repeat_sd,
        repeat_count=repeat_count,
        relative=None if reference is None else _compute_relative(units, shares, candidate_count, reference),
    )


def estimate_score(cells: Cells, weights: Floats) -> Estimate:
    """S of every candidate with its error and interval."""
    # A full score may add up to 100.00000000000001, which no table takes.
    value = np.clip(compute_score(cells.mean, weights), 0.0, FULL_SCORE)
    se = compute_error(cells)
    low, high = compute_score_interval(value, se, cells.part.degrees, count_equal(cells, weights))
    return Estimate(value, se, cells.part.degrees, low, high)


def compute_error(cells: Cells) -> Floats:
    """Standard error of S; NaN where a discipline that has weight tells none."""
    part = cells.part
    variance = sum_by(part.owner, part.value**2, len(part.is_known))
    return np.asarray(np.where(part.is_known, np.sqrt(variance) * POINTS_PER_STAR, np.nan))


def count_equal(cells: Cells, weights: Floats) -> Floats:
    """Clusters of equal weight that say as much as a candidate's, 1 / Σ w_d²/n_d; 0 for none."""
    has_weight = weights > 0
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / (weights[has_weight] ** 2 / cells.cluster_count[:, has_weight]).sum(axis=1))


def compute_score_interval(
    value: Floats, se: Floats, degrees: Floats, count: Floats
) -> tuple[Floats, Floats]:
    """95% interval of S, narrower towards the ends of its scale; see `compute_interval`."""
    share, variance = value / FULL_SCORE, (se / FULL_SCORE) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        binomial = share * (1.0 - share) + variance
        spread = (variance * count**2 + _ADDED) / (binomial * count + _ADDED)
    low, high = _bound_mean(share, spread / count, degrees)
    alike_low, alike_high = compute_interval(value, se, degrees, count, least=0.0, most=FULL_SCORE)
    return (
        np.asarray(np.where(se == 0, alike_low, low * FULL_SCORE)),
        np.asarray(np.where(se == 0, alike_high, high * FULL_SCORE)),
    )


def _bound_disciplines(cells: Cells) -> tuple[Floats, Floats]:
    """95% intervals of the disciplines, as shares of all stars.

    A discipline has few questions. How far their answers vary of what the binomial allows it takes from them and, as if from
    `_LENT` degrees of freedom, from all of the candidate's disciplines (moderated variances; Smyth 2004). Where as good as one
    question is answered unlike the others, the interval reaches further, as in `_reach_further`.
    """
    share, variance = cells.mean / MOST_STARS, cells.variance / MOST_STARS**2
    count, degrees = cells.cluster_count, np.where(cells.is_pooled, 0.0, cells.degrees)
    is_known = np.isfinite(variance) & (count > 0)
    binomial = np.where(is_known, share * (1.0 - share) + variance, 0.0)
    varies = np.where(is_known, variance * count, 0.0)
    weight = np.where(cells.is_pooled, cells.degrees, degrees)
    total = weight.sum(axis=1, keepdims=True)
    typical = ((weight * varies).sum(axis=1, keepdims=True) + _ADDED) / (
        (weight * binomial).sum(axis=1, keepdims=True) + _ADDED
    )
    lent = np.minimum(_LENT, total - degrees)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(binomial > 0, varies / binomial, typical)
        spread = (degrees * own + lent * typical) / (degrees + lent)
        unit = spread / count
        low, high = _bound_mean(share, unit, degrees + lent)
        return _reach_further(share, unit, low), 1.0 - _reach_further(1.0 - share, unit, 1.0 - high)


def _reach_further(share: Floats, unit: Floats, low: Floats) -> Floats:
    """Lower bounds, as far down as a share with which one answer like that would come at all.

    Of nine questions one is missed in a tenth of sittings by who misses one in 85, which Wilson's interval leaves out (modified
    near the ends as by Brown, Cai and DasGupta 2001, section 4.1.1, with a chance of 10%).
    """
    from scipy.special import gammaincinv

    count = share / unit
    is_few = (count > 0) & (count < _FEW)
    least = gammaincinv(np.where(is_few, count, 1.0), _SELDOM) * unit
    return np.asarray(np.where(is_few, np.minimum(low, least), low))


def _bound_mean(share: Floats, unit: Floats, degrees: Floats) -> tuple[Floats, Floats]:
    """Each μ from 0 to 1 with (`share` - μ)² ≤ t² · `unit` · μ(1 - μ).

    With all answers right or wrong `unit` is 1/n, and this is Wilson's interval (1927).
    """
    pull = find_reach(degrees) ** 2 * unit
    centre = (share + pull / 2.0) / (1.0 + pull)
    half = np.sqrt(pull * share * (1.0 - share) + pull**2 / 4.0) / (1.0 + pull)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def compute_interval(
    value: Floats, se: Floats, degrees: Floats, count: Floats, *, least: float, most: float
) -> tuple[Floats, Floats]:
    """95% interval value ± t · se, cut at `least` and `most`.

    Where all questions agree, the standard error is 0 and says nothing. Then the interval reaches as far as a share q of
    questions with another outcome could have stayed unseen among `count`: (1 - q)^count = 2.5%. For a full score this is
    the exact binomial bound (Clopper and Pearson 1934).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = find_reach(degrees) * se
        unseen = 1.0 - ((1.0 - CONFIDENCE) / 2.0) ** (1.0 / count)
    alike = (se == 0) & (count > 0)
    low = np.where(alike, value - unseen * (value - least), value - reach)
    high = np.where(alike, value + unseen * (most - value), value + reach)
    return np.clip(low, least, most), np.clip(high, least, most)


def find_reach(degrees: Floats, rate: ArrayLike = 1.0 - CONFIDENCE) -> Floats:
    """Standard errors to a side of an interval missed at this rate (Student's t), or NaN."""
    from scipy.special import stdtrit

    return np.asarray(stdtrit(np.where(degrees > 0, degrees, np.nan), 1.0 - np.asarray(rate) / 2.0))


def _compute_relative(units: Units, weights: Floats, candidate_count: int, reference: int) -> RelativeScores:
    """R = 100 · S / S_reference on common questions; its error is that of y - R · y_reference."""
    known = np.full(units.question_count, np.nan)
    own = slice(int(units.starts[reference]), int(units.starts[reference + 1]))
    known[units.question[own]] = units.stars[own]
    common = units.choose(~np.isnan(known[units.question]))
    theirs = known[common.question]
    cells = compute_cells(common, weights, candidate_count)
    reference_cells = compute_cells(common, weights, candidate_count, theirs)
    score, base = (estimate_score(found, weights) for found in (cells, reference_cells))
    covariance = (
        sum_by(cells.part.owner, cells.part.value * reference_cells.part.value, candidate_count)
        * POINTS_PER_STAR**2
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = score.value / np.where(base.value > 0, base.value, np.nan)
        variance = score.se**2 - 2.0 * ratio * covariance + (ratio * base.se) ** 2
        se = np.sqrt(np.maximum(variance, 0.0)) / base.value * FULL_SCORE
        discipline_base = np.where(reference_cells.mean > 0, reference_cells.mean, np.nan)
        discipline_ratio = cells.mean / discipline_base
        cell = common.candidate, common.discipline
        spread = compute_cells(
            common, weights, candidate_count, common.stars - discipline_ratio[cell] * theirs
        )
        discipline_se = np.sqrt(spread.variance) / discipline_base * FULL_SCORE
    low, high = divide_intervals(score, base, covariance)
    value = ratio * FULL_SCORE
    is_reference = np.arange(candidate_count) == reference
    return RelativeScores(
        relative=Estimate(
            value,
            np.where(is_reference, 0.0 * value, se),
            score.degrees,
            np.where(is_reference, value, low * FULL_SCORE),
            np.where(is_reference, value, high * FULL_SCORE),
        ),
        question_count=cells.unit_count.sum(axis=1),
        discipline_relative=discipline_ratio * FULL_SCORE,
        discipline_se=discipline_se,
        discipline_count=cells.unit_count,
    )


def divide_intervals(score: Estimate, base: Estimate, covariance: Floats) -> tuple[Floats, Floats]:
    """95% interval of a ratio from those of its sides, lopsided too (MOVER; Donner, Zou 2012)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        linked = covariance / (score.se * base.se)
        linked = np.where(np.isfinite(linked), np.clip(linked, -1.0, 1.0), 0.0)
        product = score.value * base.value
        ends = []
        for sign, own, other in ((-1.0, score.low, base.high), (1.0, score.high, base.low)):
            middle = product - linked * (score.value - own) * (other - base.value)
            free = own * other * (2 * score.value - own) * (2 * base.value - other)
            root = np.sqrt(np.maximum(middle**2 - free, 0.0))
            ends.append((middle + sign * root) / (other * (2 * base.value - other)))
    low, high = ends
    # A divisor that may be twice what it is leaves no lower bound, and one of 0 leaves nothing.
    low = np.where(base.high < 2 * base.value, np.maximum(low, 0.0), low * 0.0)
    return np.where(base.value > 0, low, np.nan), np.where(base.value > 0, high, np.nan)


def _compute_repeat_sd(rows: StarRows, weights: Floats, candidate_count: int) -> tuple[Floats, Codes]:
    """Standard deviation of S over whole repeats of a set, and how many repeats there are."""
    if rows.repeat is None or not len(rows.stars):
        return np.full(candidate_count, np.nan), np.zeros(candidate_count, dtype=np.int64)
    repeats = int(rows.repeat.max()) + 1
    cell = (rows.candidate * repeats + rows.repeat) * len(weights) + rows.discipline
    shape = (candidate_count, repeats, len(weights))
    mean, _ = compute_means(cell, rows.stars, math.prod(shape))
    score = compute_score(mean.reshape(shape), weights)
    is_whole = ~np.isnan(score)
    count = is_whole.sum(axis=1)
    sat = np.zeros(score.shape, dtype=np.int64)
    if rows.sat is not None:
        sat[rows.candidate, rows.repeat] = rows.sat
    squares, degrees = np.zeros(candidate_count), np.zeros(candidate_count, dtype=np.int64)
    for code in np.unique(sat):
        # Between sets S differs by their questions.
        held = is_whole & (sat == code)
        sittings = held.sum(axis=1)
        centre = np.where(held, score, 0.0).sum(axis=1) / np.maximum(sittings, 1)
        squares += np.where(held, (score - centre[:, None]) ** 2, 0.0).sum(axis=1)
        degrees += np.maximum(sittings - 1, 0)
    spread = np.sqrt(squares / np.maximum(degrees, 1))
    return np.where(degrees >= 1, spread, np.nan), count
