"""Scores of a judge, corrected by what people gave a sample of the same responses.

Two estimators. Prediction-powered (Angelopoulos and others 2023): λ times the judge's mean over all responses, and the mean of
people less λ times the judge over those that people rated; λ is one number for all candidates, so that a candidate with few
ratings does not choose its own. Family effects (an area model with covariates, Fay and Herriot 1979): how far people and judge
lie apart follows the judge's score, since λ below 1 leaves a share of a candidate's level in that gap, and what the judge does to
its own family, which is no draw from what it does to others and follows the score, too, since nobody is given more than three
stars; what remains is a random effect of the candidate within its family, so that candidates of one family lend each other what
is known of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Codes, Floats
from tasks.statistics.score import MOST_STARS

_LEAST_RATED = 2
_CONFIDENCE = 0.95
_STEPS = 21
# Candidates that people rated for each thing that the gap is made to depend on: fewer say nothing about it.
_RATED_PER_COVARIATE = 4
_LEAST_OWN_FOR_SLOPE = 3
# Degrees of freedom that a candidate's spread borrows from the others.
_LENT = 20.0
# Rated responses a star off that are added to those seen: what did not happen in a hundred may happen yet.
_UNSEEN = 0.5


@dataclass(frozen=True)
class JudgedScores:
    """What the judge alone says of every candidate, shape (candidates,).

    Attributes:
        stars: mean stars over all questions, 0 to 3, disciplines in their weights.
        answer_count: responses behind it.
        rateable_share: share of them that a person could rate; the others earn nothing whoever judges.
        family: code of the candidate's family.
        is_own_family: the candidate is of the judge's own family.
    """

    stars: Floats
    se: Floats
    answer_count: Floats
    rateable_share: Floats
    family: Codes
    is_own_family: NDArray[np.bool_]


@dataclass(frozen=True)
class RatedRows:
    """Responses that people rated and the judge judged: one row each, all arrays of one length.

    Attributes:
        people: mean stars of the raters.
        weight: what the response stands for; equal where disciplines come in their weights.
    """

    candidate: Codes
    people: Floats
    judge: Floats
    weight: Floats


@dataclass(frozen=True)
class Corrected:
    """Mean stars corrected for the judge, shape (candidates,); NaN where nothing can be said.

    Attributes:
        stars: 0 to 3.
        low, high: 95% interval by Student's t, cut at 0 and 3.
    """

    stars: Floats
    se: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class _PredictedGaps:
    """Predicted gaps of people and judge, shape (candidates,), and the slopes of covariates."""

    mean: Floats
    variance: Floats
    coefficients: Floats


def compute_judge_weight(rated: RatedRows) -> float:
    """λ: the slope of people's stars on the judge's, within candidates; 0 where those are alike."""
    count = int(rated.candidate.max(initial=-1)) + 1
    judge = rated.judge - _means(rated, rated.judge, count)[rated.candidate]
    people = rated.people - _means(rated, rated.people, count)[rated.candidate]
    spread = float((rated.weight * judge**2).sum())
    return 0.0 if spread <= 0 else float((rated.weight * judge * people).sum()) / spread


def correct_by_ratings(judged: JudgedScores, rated: RatedRows, judge_weight: float) -> Corrected:
    """The prediction-powered estimate of every candidate with at least two rated responses."""
    gap, gap_variance, count, covariance = _measure_gaps(judged, rated, judge_weight)
    stars = judge_weight * judged.stars + judged.rateable_share * gap
    sampling = (judge_weight * judged.se) ** 2
    moderated, degrees = _moderate(gap_variance, count)
    rating = judged.rateable_share**2 * moderated
    # Rated responses are among those that the judge's mean is over.
    shared = 2.0 * judge_weight * judged.rateable_share * covariance / judged.answer_count
    variance = np.maximum(sampling + rating + shared, rating)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where(rating > 0, variance**2 / (rating**2 / degrees), np.inf)
    known = count >= _LEAST_RATED
    return bound_stars(np.where(known, stars, np.nan), np.sqrt(variance), degrees, count)


def _moderate(variance: Floats, count: Floats) -> tuple[Floats, Floats]:
    """Variances of the means with degrees of freedom lent by all candidates (Smyth 2004)."""
    known = count >= _LEAST_RATED
    degrees = np.where(known, count - 1.0, 0.0)
    spread = np.where(known, variance * count, 0.0)
    typical = ((degrees * spread).sum() + _UNSEEN) / (degrees.sum() + _UNSEEN)
    lent = np.minimum(_LENT, degrees.sum() - degrees)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (degrees * spread + lent * typical) / (degrees + lent) / count, degrees + lent


def correct_by_families(judged: JudgedScores, rated: RatedRows, judge_weight: float) -> Corrected:
    """The estimate by random effects of candidate within family, unrated candidates included.

    Variances by restricted likelihood over a grid; the best linear unbiased prediction with its error (Henderson 1975). NaN for
    all where fewer than two candidates were rated.
    """
    gap, gap_variance, count, _ = _measure_gaps(judged, rated, judge_weight)
    is_rated = count >= _LEAST_RATED
    size = len(judged.stars)
    if is_rated.sum() < _LEAST_RATED:
        nothing = np.full(size, np.nan)
        return Corrected(nothing, nothing, nothing, nothing)
    same = judged.family[:, None] == judged.family[None, :]
    seen = np.flatnonzero(is_rated)
    noise = _pool_variance(gap_variance, count, judged.is_own_family)[seen]
    covariates, slopes = _choose_covariates(judged, seen)
    found = _predict_gaps(gap[seen], noise, same, seen, covariates)
    stars = judge_weight * judged.stars + judged.rateable_share * found.mean
    # The judge's score counts with λ, and again through the gap that follows it.
    follows = judge_weight + judged.rateable_share * (slopes @ found.coefficients)
    variance = (follows * judged.se) ** 2 + judged.rateable_share**2 * found.variance
    return bound_stars(stars, np.sqrt(variance), np.full(size, float(count.sum())), count)


def _choose_covariates(judged: JudgedScores, seen: Codes) -> tuple[Floats, Floats]:
    """What the gap depends on, and its derivative by judge's score; candidates × covariates.

    A mean, the judge's score, the judge's own family, and the score within that. Few rated candidates say too little of the
    score; where none or all of them are of the judge's family it says nothing.
    """
    size = len(judged.stars)
    columns, slopes = [np.ones(size)], [np.zeros(size)]
    level, is_own = judged.stars, judged.is_own_family
    of_own = level[seen][is_own[seen]]
    if len(seen) >= 2 * _RATED_PER_COVARIATE and float(np.ptp(level[seen])) > 0:
        columns.append(level - level[seen].mean())
        slopes.append(np.ones(size))
        if len(seen) >= 3 * _RATED_PER_COVARIATE and 0 < len(of_own) < len(seen):
            columns.append(is_own.astype(float))
            slopes.append(np.zeros(size))
            if len(of_own) >= _LEAST_OWN_FOR_SLOPE and float(np.ptp(of_own)) > 0:
                columns.append(np.where(is_own, level - of_own.mean(), 0.0))
                slopes.append(is_own.astype(float))
    return np.stack(columns, axis=1), np.stack(slopes, axis=1)


def _measure_gaps(
    judged: JudgedScores, rated: RatedRows, judge_weight: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """People less λ times the judge: mean, its variance, ratings, covariance with the judge."""
    size = len(judged.stars)
    value = rated.people - judge_weight * rated.judge
    count = np.bincount(rated.candidate, minlength=size).astype(float)
    total = np.bincount(rated.candidate, weights=rated.weight, minlength=size)
    gap = _means(rated, value, size)
    off = value - gap[rated.candidate]
    judge_off = rated.judge - _means(rated, rated.judge, size)[rated.candidate]
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.bincount(rated.candidate, weights=(rated.weight * off) ** 2, minlength=size)
        variance = squares / total**2 * count / (count - 1.0)
        products = np.bincount(rated.candidate, weights=rated.weight * off * judge_off, minlength=size)
        covariance = products / total
    return gap, variance, count, covariance


def _means(rated: RatedRows, value: Floats, count: int) -> Floats:
    total = np.bincount(rated.candidate, weights=rated.weight, minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.bincount(rated.candidate, weights=rated.weight * value, minlength=count) / total)


def _pool_variance(variance: Floats, count: Floats, is_own_family: NDArray[np.bool_]) -> Floats:
    """Variances of the means, spread pooled, the judge's own family apart if two of each were."""
    known = count >= _LEAST_RATED
    sides = [known & is_own_family, known & ~is_own_family]
    if any(side.sum() < _LEAST_RATED for side in sides):
        sides = [known, known]
    spreads = [
        float((variance[side] * count[side] * (count[side] - 1)).sum() + _UNSEEN)
        / ((count[side] - 1).sum() + _UNSEEN)
        for side in sides
    ]
    spread = np.where(is_own_family, *spreads)
    with np.errstate(divide="ignore"):
        # A judge that was right wherever it was looked at is not certain to be right elsewhere.
        return np.asarray(spread / count)


def _predict_gaps(
    gap: Floats, noise: Floats, same: Floats, seen: Codes, covariates: Floats
) -> _PredictedGaps:
    """Predictions under pairs of variances, mixed by how likely each makes the gaps.

    Both standard deviations are as likely anywhere before the gaps are seen (Gelman 2006). One pair alone, the likeliest, is often 0
    with few candidates, and its intervals then hold too little.
    """
    known, among = covariates[seen], same[np.ix_(seen, seen)]
    apart = gap - known @ np.linalg.lstsq(known, gap, rcond=None)[0]
    top = max(2.0 * float(np.std(apart, ddof=1)), 1e-3)
    steps = np.linspace(0.0, top, _STEPS) ** 2
    likelihoods, means, variances, coefficients = [], [], [], []
    for own in steps:
        whole = np.diag(noise + own) + steps[:, None, None] * among
        inverse = np.linalg.inv(whole)
        through = known.T @ inverse
        information = through @ known
        error = np.linalg.inv(information)
        slope = np.einsum("sab,sbi,i->sa", error, through, gap)
        off = gap - slope @ known.T
        distance = np.einsum("si,sij,sj->s", off, inverse, off)
        spread = np.linalg.slogdet(whole)[1] + np.linalg.slogdet(information)[1]
        likelihoods.append(-0.5 * (spread + distance))
        effects = own * np.eye(len(same)) + steps[:, None, None] * same
        pull = effects[:, :, seen] @ inverse
        free = covariates - pull @ known
        left = np.einsum("sii->si", effects) - np.einsum("sij,sij->si", pull, effects[:, :, seen])
        means.append(slope @ covariates.T + np.einsum("sij,sj->si", pull, off))
        variances.append(left + np.einsum("sia,sab,sib->si", free, error, free))
        coefficients.append(slope)
    likelihood = np.concatenate(likelihoods)
    weight = np.exp(likelihood - likelihood.max())
    weight /= weight.sum()
    mean = weight @ np.concatenate(means)
    variance = weight @ (np.concatenate(variances) + (np.concatenate(means) - mean) ** 2)
    return _PredictedGaps(mean, variance, weight @ np.concatenate(coefficients))


def bound_stars(stars: Floats, se: Floats, degrees: Floats, count: Floats) -> Corrected:
    """95% intervals, which reach as far as either of two, cut at the ends of the scale.

    One is stars ± t · se. In the other (Wilson 1927) the variance follows the mean as people's stars would alone: near an end it falls with
    the distance to it, but by no more than that many ratings can tell.
    """
    from scipy.special import stdtrit

    reach = stdtrit(np.minimum(degrees, 1e9), (1.0 + _CONFIDENCE) / 2.0)
    share, error = np.clip(stars / MOST_STARS, 0.0, 1.0), se / MOST_STARS
    pull, variance, spread = reach**2, error**2, share * (1.0 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        follows = np.where(variance > 0, variance / np.maximum(spread, count * variance), 0.0)
    whole = 1.0 + pull * follows
    centre = (share + pull * follows / 2.0) / whole
    half = np.sqrt(np.maximum(centre**2 - (share**2 - pull * (variance - follows * spread)) / whole, 0.0))
    return Corrected(
        share * MOST_STARS,
        np.where(np.isnan(stars), np.nan, se),
        np.clip(np.minimum(centre - half, share - reach * error), 0.0, 1.0) * MOST_STARS,
        np.clip(np.maximum(centre + half, share + reach * error), 0.0, 1.0) * MOST_STARS,
    )
