"""S and R of every candidate of an edition, each with a standard error and a 95% interval.

The error is that of having drawn these questions and no others. S is a weighted mean of discipline means with fixed
weights, so its variance is Σ w_d² · s_d²/n_d over questions with their repeats averaged (stratified sampling; Cochran 1977,
chapter 5). How far repeats of the same questions lie apart is another quantity and has a name of its own, `repeat_sd`.
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


@dataclass(frozen=True)
class Estimate:
    """A weighted mean over disciplines with its error; an element for each key, NaN for none.

    Attributes:
        value: the estimate.
        se: its standard error over the drawing of questions.
        degrees: degrees of freedom of the standard error (Welch-Satterthwaite).
        low, high: 95% interval by Student's t, cut at the ends of the scale.
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
        discipline_se: its standard error.
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
        discipline_se: its standard error.
        discipline_low, discipline_high: its 95% interval.
        discipline_count: questions in the discipline.
        is_pooled: one lineage only, so the spread within the candidate's other disciplines was taken for its error.
        repeat_sd: standard deviation (ddof 1) of S over the repeats: the candidate's own randomness, not the error of S.
            NaN for fewer than two whole repeats.
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
    cells = compute_cells(
        units.candidate,
        units.discipline,
        units.lineage,
        units.stars,
        key_count=candidate_count,
        discipline_count=len(shares),
    )
    to_ten = FULL_DISCIPLINE / MOST_STARS
    discipline_score = np.clip(cells.mean * to_ten, 0.0, FULL_DISCIPLINE)
    discipline_se = np.sqrt(cells.variance) * to_ten
    low, high = compute_interval(
        discipline_score, discipline_se, cells.degrees, cells.cluster_count, least=0.0, most=FULL_DISCIPLINE
    )
    repeat_sd, repeat_count = _compute_repeat_sd(rows, shares, candidate_count)
    return Scores(
        score=combine_cells(cells, shares, scale=POINTS_PER_STAR, least=0.0, most=FULL_SCORE),
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


def combine_cells(
    cells: Cells, weights: Floats, *, scale: Floats | float, least: float, most: float
) -> Estimate:
    """The weighted mean over disciplines × `scale` (one, or one for each key), with its error."""
    has_weight = weights > 0
    share = weights[has_weight]
    size = np.broadcast_to(np.asarray(scale, dtype=float), cells.mean.shape[:1])
    # A full score may add up to 100.00000000000001, which no table takes.
    value = np.clip(compute_score(cells.mean, weights, scale=size), least, most)
    parts = cells.variance[:, has_weight] * share**2
    variance = parts.sum(axis=1)
    se = np.sqrt(variance) * np.abs(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = variance**2 / (parts**2 / cells.degrees[:, has_weight]).sum(axis=1)
    degrees = np.where(variance > 0, degrees, cells.degrees[:, has_weight].sum(axis=1))
    low, high = compute_interval(value, se, degrees, count_equal(cells, weights), least=least, most=most)
    return Estimate(value, se, degrees, low, high)


def count_equal(cells: Cells, weights: Floats) -> Floats:
    """Lineages of equal weight that say as much as a key's, 1 / Σ w_d²/n_d; 0 if one is missing."""
    has_weight = weights > 0
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / (weights[has_weight] ** 2 / cells.cluster_count[:, has_weight]).sum(axis=1))


def compute_interval(
    value: Floats, se: Floats, degrees: ArrayLike, count: ArrayLike, *, least: float, most: float
) -> tuple[Floats, Floats]:
    """95% interval value ± t · se, cut at `least` and `most`.

    Where all questions agree, the standard error is 0 and says nothing. Then the interval reaches as far as a share q of
    questions with another outcome could have stayed unseen among `count`: (1 - q)^count = 2.5%. For a full score this is
    the exact binomial bound (Clopper and Pearson 1934).
    """
    from scipy.special import stdtrit

    tail = (1.0 - CONFIDENCE) / 2.0
    found = np.asarray(degrees, dtype=float)
    number = np.asarray(count, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = stdtrit(np.where(found > 0, found, np.nan), 1.0 - tail) * se
        unseen = 1.0 - tail ** (1.0 / number)
    alike = np.asarray(se == 0) & (number > 0)
    low = np.where(alike, value - unseen * (value - least), value - reach)
    high = np.where(alike, value + unseen * (most - value), value + reach)
    return np.clip(low, least, most), np.clip(high, least, most)


def _compute_relative(units: Units, weights: Floats, candidate_count: int, reference: int) -> RelativeScores:
    """R = 100 · S / S_reference on common questions; its error is of e = y - R · y_reference."""
    known = np.full(units.question_count, np.nan)
    own = slice(int(units.starts[reference]), int(units.starts[reference + 1]))
    known[units.question[own]] = units.stars[own]
    theirs = known[units.question]
    is_common = ~np.isnan(theirs)
    key, discipline = units.candidate[is_common], units.discipline[is_common]
    lineage, stars, theirs = units.lineage[is_common], units.stars[is_common], theirs[is_common]

    def arrange(value: Floats) -> Cells:
        return compute_cells(
            key, discipline, lineage, value, key_count=candidate_count, discipline_count=len(weights)
        )

    cells, reference_cells = arrange(stars), arrange(theirs)
    with np.errstate(divide="ignore", invalid="ignore"):
        base = compute_score(reference_cells.mean, weights, scale=1.0)
        base = np.where(base > 0, base, np.nan)
        ratio = compute_score(cells.mean, weights, scale=1.0) / base
        error = combine_cells(
            arrange(stars - ratio[key] * theirs),
            weights,
            scale=FULL_SCORE / base,
            least=-np.inf,
            most=np.inf,
        )
        discipline_base = np.where(reference_cells.mean > 0, reference_cells.mean, np.nan)
        discipline_ratio = cells.mean / discipline_base
        spread = arrange(stars - discipline_ratio[key, discipline] * theirs)
        discipline_se = np.sqrt(spread.variance) / discipline_base * FULL_SCORE
    value = ratio * FULL_SCORE
    # The highest R there can be is that of a candidate with all stars.
    equal = count_equal(cells, weights)
    low, high = compute_interval(value, error.se, error.degrees, equal, least=0.0, most=np.inf)
    high = np.minimum(high, FULL_SCORE * MOST_STARS / base)
    is_reference = np.arange(candidate_count) == reference
    low, high = np.where(is_reference, value, low), np.where(is_reference, value, high)
    return RelativeScores(
        relative=Estimate(value, error.se, error.degrees, low, high),
        question_count=cells.unit_count.sum(axis=1),
        discipline_relative=discipline_ratio * FULL_SCORE,
        discipline_se=discipline_se,
        discipline_count=cells.unit_count,
    )


def _compute_repeat_sd(rows: StarRows, weights: Floats, candidate_count: int) -> tuple[Floats, Codes]:
    """Standard deviation of S over whole repeats, and how many there are."""
    if rows.repeat is None or not len(rows.stars):
        return np.full(candidate_count, np.nan), np.zeros(candidate_count, dtype=np.int64)
    repeats = int(rows.repeat.max()) + 1
    cell = (rows.candidate * repeats + rows.repeat) * len(weights) + rows.discipline
    shape = (candidate_count, repeats, len(weights))
    mean, _ = compute_means(cell, rows.stars, math.prod(shape))
    score = compute_score(mean.reshape(shape), weights)
    is_whole = ~np.isnan(score)
    count = is_whole.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.where(is_whole, score, 0.0).sum(axis=1) / count
        squares = np.where(is_whole, (score - centre[:, None]) ** 2, 0.0).sum(axis=1)
        spread = np.sqrt(squares / (count - 1))
    return np.where(count >= 2, spread, np.nan), count
