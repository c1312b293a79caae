"""Scores of a judge, corrected by what people gave a sample of the same responses.

Two estimators. Prediction-powered (Angelopoulos and others 2023): λ times the judge's mean over all responses, and the mean of
people less λ times the judge over those that people rated; λ is one number for all candidates, so that a candidate with few
ratings does not choose its own. Family effects: how far people and judge lie apart is a random effect of the candidate
within its family, so that candidates of one family lend each other what is known of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.statistics.cells import Codes, Floats

MOST_STARS = 3.0
_LEAST_RATED = 2
_CONFIDENCE = 0.95
_STEPS = 41


@dataclass(frozen=True)
class JudgedScores:
    """What the judge alone says of every candidate, shape (candidates,).

    Attributes:
        stars: mean stars over all questions, 0 to 3, disciplines in their weights.
        se: its standard error.
        answer_count: responses behind it.
        rateable_share: share of them that a person could rate; the others earn nothing whoever judges.
        family: code of the candidate's family.
    """

    stars: Floats
    se: Floats
    answer_count: Floats
    rateable_share: Floats
    family: Codes


@dataclass(frozen=True)
class RatedRows:
    """Responses that people rated and the judge judged: one row each, all arrays of one length.

    Attributes:
        candidate: its code.
        people: mean stars of the raters.
        judge: stars of the judge.
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
        se: its standard error, of the draw of questions and of the draw of rated responses.
        low, high: 95% interval by Student's t, cut at 0 and 3.
    """

    stars: Floats
    se: Floats
    low: Floats
    high: Floats


def compute_judge_weight(rated: RatedRows) -> float:
    """λ: the slope of people's stars on the judge's within candidates; 0 where the judge's stars do not vary."""
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
    rating = judged.rateable_share**2 * gap_variance
    # Rated responses are among those that the judge's mean is over.
    shared = 2.0 * judge_weight * judged.rateable_share * covariance / judged.answer_count
    variance = np.maximum(sampling + rating + shared, rating)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.where(rating > 0, variance**2 / (rating**2 / (count - 1.0)), np.inf)
    known = count >= _LEAST_RATED
    return _bound(np.where(known, stars, np.nan), np.sqrt(variance), degrees)


def correct_by_families(judged: JudgedScores, rated: RatedRows, judge_weight: float) -> Corrected:
    """The estimate by random effects of candidate within family, of every candidate, unrated ones included.

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
    noise = np.diag(_pool_variance(gap_variance, count)[seen])
    own, shared = _fit_effects(gap[seen], noise, same[np.ix_(seen, seen)])
    effects = own * np.eye(size) + shared * same
    whole = effects[np.ix_(seen, seen)] + noise
    inverse = np.linalg.inv(whole)
    ones = np.ones(len(seen))
    precision = ones @ inverse @ ones
    centre = (ones @ inverse @ gap[seen]) / precision
    pull = effects[:, seen] @ inverse
    found = centre + pull @ (gap[seen] - centre)
    left = np.diag(effects) - np.einsum("ij,ij->i", pull, effects[:, seen])
    of_centre = (1.0 - pull @ ones) ** 2 / precision
    stars = judge_weight * judged.stars + judged.rateable_share * found
    variance = (judge_weight * judged.se) ** 2 + judged.rateable_share**2 * (left + of_centre)
    return _bound(stars, np.sqrt(variance), np.full(size, float(count.sum())))


def _measure_gaps(
    judged: JudgedScores, rated: RatedRows, judge_weight: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """People less λ times the judge by candidate: weighted mean, variance of that mean, ratings, covariance with the judge."""
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


def _pool_variance(variance: Floats, count: Floats) -> Floats:
    """Variances of the means with the spread of single responses pooled over candidates: few ratings know little of theirs."""
    known = count >= _LEAST_RATED
    spread = float((variance[known] * count[known] * (count[known] - 1)).sum() / (count[known] - 1).sum())
    with np.errstate(divide="ignore"):
        # A judge that was right wherever it was looked at is not certain to be right elsewhere.
        return np.asarray(max(spread, 1e-4) / count)


def _fit_effects(gap: Floats, noise: Floats, same: Floats) -> tuple[float, float]:
    """Variances of the candidate's own effect and of its family's: those of the highest restricted likelihood on a grid."""
    top = max(float(np.var(gap, ddof=1)) * 4.0, 1e-6)
    steps = np.concatenate([[0.0], np.geomspace(top * 1e-4, top, _STEPS - 1)])
    ones = np.ones(len(gap))
    best, chosen = -np.inf, (0.0, 0.0)
    for own in steps:
        for shared in steps:
            whole = noise + own * np.eye(len(gap)) + shared * same
            inverse = np.linalg.inv(whole)
            precision = ones @ inverse @ ones
            off = gap - (ones @ inverse @ gap) / precision
            likelihood = -0.5 * (np.linalg.slogdet(whole)[1] + np.log(precision) + off @ inverse @ off)
            if likelihood > best + 1e-9:
                best, chosen = float(likelihood), (float(own), float(shared))
    return chosen


def _bound(stars: Floats, se: Floats, degrees: Floats) -> Corrected:
    from scipy.special import stdtrit

    reach = stdtrit(np.minimum(degrees, 1e9), 1.0 - (1.0 - _CONFIDENCE) / 2.0) * se
    error = np.where(np.isnan(stars), np.nan, se)
    return Corrected(
        np.clip(stars, 0.0, MOST_STARS),
        error,
        np.clip(stars - reach, 0.0, MOST_STARS),
        np.clip(stars + reach, 0.0, MOST_STARS),
    )
