"""Scores that compare across months: those to be expected on the first edition's questions.

An equated score is S plus what the model says those questions are easier or harder for the candidate than its own, so that it
leans on the model for the difference only: what an ability does not explain of a candidate's answers (who explains well what it
knows) stays in its score. Its error is that of the answers about the model, by passage; that of the difference, over the draws of
abilities, questions and links, with what the model itself is off by; and that of the first edition's questions, which were drawn from a bank as well.

A discipline's equated score is what the candidate's ability in it gives, which leans on its other disciplines where there are few
questions, plus what the model leaves of S over all of them. With their weights, disciplines add up to the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import UsageError
from tasks.statistics.cells import Floats, check_weights, sum_by
from tasks.statistics.items.graded_model import GradedRows, Scale, ScaleForm, compute_at_least, flatten
from tasks.statistics.items.graded_response import GradedFit
from tasks.statistics.score import FULL_SCORE, compute_score
from tasks.statistics.scores import CONFIDENCE

_MOST_APART = 0.5  # errors by which the halves of the draws may lie apart
# By how much a model's difference is off where answers are none of that model: as simulated (tests.benchmarks.validity_equating),
# a fifth, from one candidate to another.
_MODEL_ERROR = 0.2
_EDGE = 0.01  # how near to its ends the equated score may come, so that it has an interval
_STEP = 0.05  # logits, for a derivative
_NODES = (
    (-(3.0**0.5), 1.0 / 6.0),
    (0.0, 2.0 / 3.0),
    (3.0**0.5, 1.0 / 6.0),
)  # of a normal error (Gauss and Hermite)


@dataclass(frozen=True)
class EquatedScores:
    """Equated scores beside S; NaN where a discipline with weight is missing.

    Attributes:
        score, se, low, high: equated score from 0 to 100, standard error, 95% interval, shape (entries,).
        own_score: S from the same answers.
        difference, difference_se: equated score minus S, and its error over the drawing of both sets of questions.
        is_disagreeing: the difference is larger than 1.96 of its errors: the questions were harder or easier than those of
            the first edition. False where it is NaN.
        is_settled: both halves of the draws give the same scores, within a share of their errors.
        discipline_score, discipline_se, discipline_low, discipline_high: the same by discipline, 0 to 100, entries ×
            disciplines.
    """

    score: Floats
    se: Floats
    low: Floats
    high: Floats
    own_score: Floats
    difference: Floats
    difference_se: Floats
    is_disagreeing: NDArray[np.bool_]
    is_settled: bool
    discipline_score: Floats
    discipline_se: Floats
    discipline_low: Floats
    discipline_high: Floats


@dataclass(frozen=True)
class _OnForm:
    """Scores of a discipline's persons: draws × persons, and the error from drawing the form."""

    draws: Floats
    variance: Floats
    cluster_count: int


@dataclass(frozen=True)
class _OnOwn:
    """Scores expected of a discipline's persons on their own questions: draws × persons.

    `spread` is the variance from the drawing of those questions, `variance` that of the mean of what they earned beyond what was
    expected, with its degrees of `freedom`.
    """

    draws: Floats
    spread: Floats
    variance: Floats
    freedom: Floats


def compute_equated(
    rows: GradedRows, fit: GradedFit, weights: ArrayLike, *, form: ScaleForm | None = None
) -> EquatedScores:
    """Equated scores of all entries; without a form on the questions of the fit's first edition.

    Raises UsageError for weights that do not fit, or a discipline of which the form has no question.
    """
    shares = check_weights(weights)
    if len(shares) != rows.discipline_count:
        raise UsageError(
            f"There are {rows.discipline_count} disciplines and {len(shares)} weights. Give one for each."
        )
    found, shape = fit.draws, (rows.entry_count, rows.discipline_count)
    scores = np.full((len(found.ability), *shape), np.nan)
    own = np.full_like(scores, np.nan)
    form_variance, own_variance, rest_variance, freedom = (np.full(shape, np.nan) for _ in range(4))
    form_freedom = np.ones(rows.discipline_count)
    for discipline in range(rows.discipline_count):
        persons = np.flatnonzero(found.person_discipline == discipline)
        entries = found.person_entry[persons]
        if form is None:
            part = _score_on_own_form(rows, fit, discipline, persons)
        else:
            part = _score_on_form(fit, form, discipline, persons)
        scores[:, entries, discipline] = part.draws
        form_variance[entries, discipline] = part.variance
        form_freedom[discipline] = max(part.cluster_count - 1, 1)
        on_own = _compare_own(rows, fit, discipline, persons)
        own[:, entries, discipline] = on_own.draws
        own_variance[entries, discipline] = on_own.spread
        rest_variance[entries, discipline], freedom[entries, discipline] = on_own.variance, on_own.freedom
    squares = (shares * FULL_SCORE) ** 2

    def add(variance: Floats) -> Floats:
        return np.asarray(np.where(shares > 0, variance * squares, 0.0).sum(axis=1))

    own_score = compute_score(_average_stars(rows) / rows.most_stars, shares, scale=FULL_SCORE)
    apart = compute_score(scores, shares, scale=FULL_SCORE) - compute_score(own, shares, scale=FULL_SCORE)
    rest = own_score - compute_score(own, shares, scale=FULL_SCORE).mean(axis=0)
    difference = apart.mean(axis=0)
    score = np.clip(own_score + difference, _EDGE, FULL_SCORE - _EDGE)
    of_draws, of_form, of_rest = apart.var(axis=0, ddof=1), add(form_variance), add(rest_variance)
    of_model = (_MODEL_ERROR * difference) ** 2
    variance = of_draws + of_form + of_rest + of_model
    parts = add(form_variance**2 * squares / form_freedom) + add(rest_variance**2 * squares / freedom)
    low, high = compute_bounds(score, np.sqrt(variance), _count_freedom(variance, parts), most=FULL_SCORE)
    difference_se = np.sqrt(of_draws + of_form + add(own_variance))
    by_discipline = np.clip(scores.mean(axis=0) * FULL_SCORE + rest[:, None], _EDGE, FULL_SCORE - _EDGE)
    of_discipline = (scores.var(axis=0, ddof=1) + form_variance) * FULL_SCORE**2 + of_rest[:, None]
    discipline_parts = (form_variance * FULL_SCORE**2) ** 2 / form_freedom
    discipline_low, discipline_high = compute_bounds(
        by_discipline,
        np.sqrt(of_discipline),
        _count_freedom(of_discipline, discipline_parts),
        most=FULL_SCORE,
    )
    with np.errstate(invalid="ignore"):
        is_disagreeing = np.abs(difference) > 1.96 * difference_se
    return EquatedScores(
        score=score,
        se=np.sqrt(variance),
        low=low,
        high=high,
        own_score=own_score,
        difference=difference,
        difference_se=difference_se,
        is_disagreeing=is_disagreeing,
        is_settled=_is_settled(apart, np.sqrt(variance)),
        discipline_score=by_discipline,
        discipline_se=np.sqrt(of_discipline),
        discipline_low=discipline_low,
        discipline_high=discipline_high,
    )


def compute_bounds(score: Floats, se: Floats, degrees: ArrayLike, *, most: float) -> tuple[Floats, Floats]:
    """95% interval of scores from 0 to `most`, by their log odds; NaN where score or error is.

    An expected score that came out too high has too small an error, since errors shrink towards the ends of the scale; on
    the log odds they do not, and both sides are missed about as often.
    """
    from scipy.special import expit, logit, stdtrit

    share = np.asarray(score, dtype=float) / most
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(degrees, dtype=float)
        reach = stdtrit(np.where(found > 0, found, np.nan), (1.0 + CONFIDENCE) / 2.0) * se / most
        at, wide = logit(share), reach / (share * (1.0 - share))
    return np.asarray(most * expit(at - wide)), np.asarray(most * expit(at + wide))


def expect_share(place: Any, a: Any, thresholds: Any, asymptotes: Any, ceilings: Any = 1.0) -> Floats:
    """Expected share of all stars, shape of `place`; see `compute_at_least`."""
    return np.asarray(compute_at_least(place, a, thresholds, asymptotes, ceilings).mean(axis=-1))


def _score_on_own_form(
    rows: GradedRows, fit: GradedFit, discipline: int, persons: NDArray[np.int64]
) -> _OnForm:
    """By each draw's own numbers: whoever is able on hard questions is able on the same draw."""
    found = fit.draws
    is_form = (rows.question_discipline == discipline) & (rows.question_home == 0) & (fit.answer_weight > 0)
    form = np.flatnonzero(is_form)
    if not len(form):
        raise UsageError(
            "A discipline has no answer in the first edition, so there is no scale to put scores on."
        )
    formats = rows.question_format[form]
    total = np.zeros((len(persons), len(form)))
    draws = np.empty((len(found.ability), len(persons)))
    for number in range(len(found.ability)):
        place = (found.ability[number, persons][:, None] - found.difficulty[number, form]).astype(np.float32)
        a = flatten(np.exp(found.log_discrimination[number, form]), fit.scale.passage_sd**2).astype(
            np.float32
        )
        ceilings = found.ceilings[number, found.person_entry[persons]]
        share = _expect_fast(
            place, a, found.thresholds[number, discipline], found.asymptotes[number][formats], ceilings
        )
        draws[number] = share.mean(axis=1)
        total += share
    mean = total / len(found.ability)
    variance, clusters = _compute_variance(mean, rows.question_cluster[form])
    return _OnForm(draws, variance, clusters)


def _score_on_form(fit: GradedFit, form: ScaleForm, discipline: int, persons: NDArray[np.int64]) -> _OnForm:
    """On published questions: their errors flatten their curves, and are part of the score's."""
    mine = np.flatnonzero(form.discipline == discipline)
    if not len(mine):
        raise UsageError("A discipline has no question in the form of the scale. Fit all editions together.")
    scale, ability = fit.scale, fit.draws.ability[:, persons]
    entries = fit.draws.person_entry[persons]
    least, most = float(ability.min()) - _STEP, float(ability.max()) + _STEP
    grid = np.linspace(least, most, max(int((most - least) / _STEP) + 1, 2))
    draws = np.zeros(ability.shape)
    for star, curve in enumerate(_list_curves(scale, form, mine, discipline, grid)):
        floor = scale.asymptotes[form.format[mine], star]
        by_chance = np.interp(ability, grid, ((1.0 - curve) * floor).mean(axis=1))
        known_well = np.interp(ability, grid, curve.mean(axis=1))
        draws += by_chance + fit.draws.ceilings[:, entries, star] * known_well
    draws /= scale.thresholds.shape[1]
    mean = ability.mean(axis=0)
    at = _expect_form(scale, form, mine, discipline, mean, fit.ceilings[entries])
    moved = _expect_form(scale, form, mine, discipline, mean + _STEP, fit.ceilings[entries])
    variance, clusters = _compute_variance(at, form.cluster[mine])
    variance += 2.0 * (((moved - at) / _STEP * form.difficulty_se[mine]) ** 2).sum(axis=1) / len(mine) ** 2
    return _OnForm(draws, variance, clusters)


def _list_curves(
    scale: Scale, form: ScaleForm, mine: NDArray[np.int64], discipline: int, ability: Floats
) -> list[Floats]:
    """σ of each star by question and ability, as means over the errors of each question."""
    b, log_a = form.difficulty[mine], form.log_discrimination[mine]
    b_se, log_a_se, both = form.difficulty_se[mine], form.log_discrimination_se[mine], form.correlation[mine]
    left = scale.passage_sd**2 + b_se**2 * (1.0 - both**2)
    curves = [np.zeros((len(ability), len(mine))) for _ in scale.thresholds[discipline]]
    for place, weight in _NODES:
        a = flatten(np.exp(log_a + place * log_a_se), left)
        z = 0.5 * a * (ability[:, None] - b - place * both * b_se)
        for curve, threshold in zip(curves, scale.thresholds[discipline], strict=True):
            curve += weight * (0.5 + 0.5 * np.tanh(z - 0.5 * a * threshold))
    return curves


def _expect_form(
    scale: Scale, form: ScaleForm, mine: NDArray[np.int64], discipline: int, ability: Floats, ceilings: Floats
) -> Floats:
    """Expected share of each question of a form at some persons' abilities, persons × questions."""
    total = np.zeros((len(ability), len(mine)))
    for star, curve in enumerate(_list_curves(scale, form, mine, discipline, ability)):
        floor = scale.asymptotes[form.format[mine], star]
        total += floor + (ceilings[:, [star]] - floor) * curve
    return np.asarray(total / scale.thresholds.shape[1], dtype=float)


def _expect_fast(place: Any, a: Any, thresholds: Floats, asymptotes: Floats, ceilings: Floats) -> Any:
    """`expect_share` for persons × questions, without an array for each star."""
    z, half = place * a, place.dtype.type(0.5)
    total = np.zeros_like(z)
    for star in range(len(thresholds)):
        floor, top = asymptotes[:, star].astype(z.dtype), ceilings[:, [star]].astype(z.dtype)
        total += floor + (top - floor) * half * (1 + np.tanh(half * (z - a * z.dtype.type(thresholds[star]))))
    return total / len(thresholds)


def _compute_variance(share: Floats, cluster: NDArray[np.int64]) -> tuple[Floats, int]:
    """Variance of the mean over questions that were drawn in clusters, and how many those are."""
    codes, inverse = np.unique(cluster, return_inverse=True)
    count = len(codes)
    if count < 2:
        return np.full(len(share), np.nan), count
    away = share - share.mean(axis=1, keepdims=True)
    sums = np.zeros((count, len(share)))
    np.add.at(sums, inverse, away.T)
    return (sums**2).sum(axis=0) / share.shape[1] ** 2 * count / (count - 1.0), count


def _compare_own(rows: GradedRows, fit: GradedFit, discipline: int, persons: NDArray[np.int64]) -> _OnOwn:
    """What persons were to get on their own questions, and how far they were from that."""
    found = fit.draws
    of_rows = np.flatnonzero(rows.question_discipline[rows.question] == discipline)
    place = np.full(rows.entry_count, -1)
    place[found.person_entry[persons]] = np.arange(len(persons))
    # One answer for each person and question, whatever its repeats.
    key, code = np.unique(
        place[rows.entry[of_rows]] * rows.question_count + rows.question[of_rows], return_inverse=True
    )
    person, question = np.divmod(key, rows.question_count)
    weight = rows.weight[of_rows]
    earned = (
        sum_by(code, weight * rows.stars[of_rows], len(key))
        / sum_by(code, weight, len(key))
        / rows.most_stars
    )
    count = np.bincount(person, minlength=len(persons))
    formats = rows.question_format[question]
    draws = np.empty((len(found.ability), len(persons)))
    total = np.zeros(len(key))
    for number in range(len(draws)):
        a = flatten(np.exp(found.log_discrimination[number, question]), fit.scale.passage_sd**2)
        at = found.ability[number, persons][person] - found.difficulty[number, question]
        ceilings = found.ceilings[number, found.person_entry[persons]][person].astype(np.float32)
        share = expect_share(
            at.astype(np.float32),
            a.astype(np.float32),
            found.thresholds[number, discipline].astype(np.float32),
            found.asymptotes[number].astype(np.float32)[formats],
            ceilings,
        )
        total += share
        draws[number] = np.bincount(person, weights=share, minlength=len(persons)) / count
    share = total / len(draws)
    mean = np.bincount(person, weights=share, minlength=len(persons)) / count
    spread = np.bincount(person, weights=(share - mean[person]) ** 2, minlength=len(persons))
    variance, freedom = _sum_rest(person, rows.question_cluster[question], earned - share, count)
    return _OnOwn(draws, spread / np.maximum(count - 1, 1) / count, variance, freedom)


def _sum_rest(
    person: NDArray[np.int64], cluster: NDArray[np.int64], rest: Floats, count: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Variance of each person's mean rest, by cluster, and its degrees of freedom."""
    persons = len(count)
    mean = np.bincount(person, weights=rest, minlength=persons) / count
    width = int(cluster.max()) + 1
    cells, inverse = np.unique(person * width + cluster, return_inverse=True)
    sums = np.bincount(inverse, weights=rest - mean[person], minlength=len(cells))
    clusters = np.bincount(cells // width, minlength=persons)
    squares = np.bincount(cells // width, weights=sums**2, minlength=persons)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares / count**2 * clusters / (clusters - 1.0)
    return np.where(clusters > 1, variance, np.nan), np.maximum(clusters - 1.0, 1.0)


def _average_stars(rows: GradedRows) -> Floats:
    """Mean stars, entries × disciplines; NaN without answers."""
    cell = rows.entry * rows.discipline_count + rows.question_discipline[rows.question]
    size = rows.entry_count * rows.discipline_count
    with np.errstate(invalid="ignore"):
        mean = sum_by(cell, rows.weight * rows.stars, size) / sum_by(cell, rows.weight, size)
    return np.asarray(mean.reshape(rows.entry_count, rows.discipline_count))


def _count_freedom(variance: Floats, parts: Floats) -> Floats:
    """Degrees of freedom of a variance with parts that were estimated (Satterthwaite)."""
    return np.asarray(variance**2 / np.maximum(parts, 1e-30))


def _is_settled(draws: Floats, se: Floats) -> bool:
    half = len(draws) // 2
    apart = np.abs(draws[:half].mean(axis=0) - draws[half:].mean(axis=0)) / se
    return bool(np.nanmean(apart) <= _MOST_APART) if np.isfinite(apart).any() else False
