"""Scores that compare across months and years: what one would have got on the first bank.

The ability of an entry is estimated from its own answers alone (weighted likelihood, Warm 1989), so that nobody is drawn
towards a mean. Its error follows the drawing of lineages through everything that rests on them: the ability, the questions'
difficulties, the links between editions and the first season's questions themselves (infinitesimal jackknife; the whole
likelihood is linearised at its maximum, so no refits are needed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import ContractError, UsageError
from tasks.statistics.cells import Codes, Floats, check_weights, sum_by
from tasks.statistics.items.graded_model import (
    Curves,
    GradedRows,
    compute_bend,
    compute_curves,
    compute_expected,
    compute_information,
)
from tasks.statistics.items.graded_response import GradedFit
from tasks.statistics.score import FULL_DISCIPLINE, FULL_SCORE
from tasks.statistics.scores import CONFIDENCE

_MOST_STEPS = 60
_LARGEST_STEP = 0.7
_BOUND = 2.0  # abilities end this far beyond the grid of the fit
_STEP = 1e-4  # of log a, for a derivative
_AT_ONCE = 256  # entries whose influence is held in memory together


@dataclass(frozen=True)
class EquatedDiscipline:
    """One discipline of some entries, shape (entries,); NaN for an entry without answers in it.

    Attributes:
        entry: codes of the entries.
        ability: θ by weighted likelihood, logits; 0 is the mean difficulty of the first season.
        ability_se: its standard error, links included.
        score: expected score on the first season's questions, 0 to 10.
        score_se: its standard error over the drawing of lineages.
        own_score: what the entry got on its own questions, 0 to 10: the discipline's part of S.
        own_se: its standard error.
        covariance: of the two.
        lineage_count: lineages that the entry answered.
    """

    entry: Codes
    ability: Floats
    ability_se: Floats
    score: Floats
    score_se: Floats
    own_score: Floats
    own_se: Floats
    covariance: Floats
    lineage_count: Codes


@dataclass(frozen=True)
class EquatedScores:
    """Equated scores beside S, shape (entries,); NaN where a discipline with weight is missing.

    Attributes:
        entry: codes of the entries.
        score, se, low, high: equated score from 0 to 100, standard error, 95% interval.
        own_score, own_se: S from the same answers.
        difference, difference_se: equated score minus S; its error takes their covariance off.
        is_disagreeing: the difference is larger than 1.96 of its errors: the questions were harder or easier than those of
            the first season, or the model does not fit. False where the difference is NaN.
    """

    entry: Codes
    score: Floats
    se: Floats
    low: Floats
    high: Floats
    own_score: Floats
    own_se: Floats
    difference: Floats
    difference_se: Floats
    is_disagreeing: NDArray[np.bool_]


@dataclass(frozen=True)
class _System:
    """The linearised likelihood, the questions' own parameters eliminated.

    Attributes:
        factor: Cholesky factor of the information of abilities, edition means and season means.
        coupling: information between those and the questions' (difficulties, log discriminations), sparse.
        inverse: 2 × 2 inverse of each question's information, as (bb, ba, aa).
        residuals: derivative of the log likelihood by abilities and means, for each lineage, sparse.
    """

    factor: Any
    coupling: Any
    inverse: tuple[Floats, Floats, Floats]
    residuals: Any


def compute_equated(rows: GradedRows, fit: GradedFit, entries: Codes | None = None) -> EquatedDiscipline:
    """Equated scores of one discipline for some `entries` (by default all; few cost less).

    Raises UsageError when no question of the first season has an answer, or an entry is unknown.
    """
    wanted = np.arange(rows.entry_count) if entries is None else np.asarray(entries, dtype=np.int64)
    if len(wanted) and not 0 <= int(wanted.min()) <= int(wanted.max()) < rows.entry_count:
        raise UsageError(f"Entries must be codes from 0 to {rows.entry_count - 1}.")
    is_first = (rows.question_season == rows.question_season.min(initial=0)) & (fit.answer_weight > 0)
    form = np.flatnonzero(is_first)
    if not len(form):
        raise UsageError(
            "No question of the first season has an answer, so there is no scale to put scores on."
        )
    ability = compute_abilities(rows, fit, compute_own_part(rows, fit))
    system = _arrange_system(rows, fit)
    lineage = np.unique(rows.question_lineage, return_inverse=True)[1].astype(np.int64)
    columns: list[tuple[Floats, ...]] = [
        _equate_some(rows, fit, system, ability, form, lineage, wanted[start : start + _AT_ONCE])
        for start in range(0, len(wanted), _AT_ONCE)
    ]
    names = ("ability", "ability_se", "score", "score_se", "own_score", "own_se", "covariance")
    found = {
        name: np.concatenate([np.zeros(0), *(part[place] for part in columns)])
        for place, name in enumerate((*names, "lineage_count"))
    }
    counts = found.pop("lineage_count").astype(np.int64)
    return EquatedDiscipline(entry=wanted, lineage_count=counts, **found)


def compute_abilities(rows: GradedRows, fit: GradedFit, own_part: Floats | None = None) -> Floats:
    """Weighted-likelihood abilities, finite for all or no stars, too; NaN for no answers.

    `own_part`, shape (entries,), is what `compute_own_part` gives; none where the questions' parameters are known.
    """
    a, b = fit.discrimination[rows.question], fit.parameters.difficulty[rows.question]
    has_rows = np.bincount(rows.entry, minlength=rows.entry_count) > 0
    ability = fit.ability.copy()
    least, most = float(ability.min()) - _BOUND - 3.0, float(ability.max()) + _BOUND + 3.0
    at = np.arange(len(rows.stars))
    for _ in range(_MOST_STEPS):
        curves = compute_curves(ability[rows.entry], a, b, fit.parameters.thresholds)
        score = sum_by(rows.entry, rows.weight * curves.slope[at, rows.stars], rows.entry_count)
        if own_part is not None:
            score -= own_part
        information = sum_by(rows.entry, rows.weight * compute_information(curves)[0], rows.entry_count)
        bias = sum_by(
            rows.entry, rows.weight * (compute_bend(curves, a) * curves.slope).sum(axis=1), rows.entry_count
        )
        information = np.maximum(information, 1e-12)
        move = np.clip((score + 0.5 * bias / information) / information, -_LARGEST_STEP, _LARGEST_STEP)
        ability = np.clip(np.where(has_rows, ability + move, ability), least, most)
        if float(np.abs(move[has_rows]).max(initial=0.0)) < 1e-8:
            break
    return np.where(has_rows, ability, np.nan)


def compute_own_part(rows: GradedRows, fit: GradedFit) -> Floats:
    """How far an entry's answers draw its score function through its questions, (entries,).

    A question's discrimination is estimated from the same answers: it comes out larger where a strong entry did well by
    chance, so that the questions on which chance was kind weigh more, and abilities spread outwards. To first order an answer
    x moves the parameters ξ of its question by I⁻¹ ∂ log P(x)/∂ξ, and the entry's score function by ∂² log P(x)/∂θ∂ξ times that.
    """
    a, b = fit.discrimination[rows.question], fit.parameters.difficulty[rows.question]
    ability, thresholds = fit.ability[rows.entry], fit.parameters.thresholds
    curves = compute_curves(ability, a, b, thresholds)
    bb, ba, aa = (part[rows.question, None] for part in _invert_questions(rows, fit, curves)[0])
    by_b = curves.slope**2 * curves.chance - compute_bend(curves, a)  # P(x) · ∂ slope / ∂b
    wider, narrower = (compute_curves(ability, a * np.exp(step), b, thresholds) for step in (_STEP, -_STEP))
    by_a = curves.chance * (wider.slope - narrower.slope) / (2 * _STEP)
    moved_b = -bb * curves.slope + ba * curves.stretch
    moved_a = -ba * curves.slope + aa * curves.stretch
    drawn = (by_b * moved_b + by_a * moved_a).sum(axis=1)
    return sum_by(rows.entry, rows.weight**2 * drawn, rows.entry_count)


def combine_disciplines(disciplines: Sequence[EquatedDiscipline], weights: ArrayLike) -> EquatedScores:
    """Equated scores from 0 to 100 over disciplines with their fixed weights, in the same order.

    Disciplines have no lineage in common, so their variances add. Raises UsageError for weights that do not fit,
    ContractError for disciplines of different entries.
    """
    shares = check_weights(weights)
    if len(shares) != len(disciplines):
        raise UsageError(
            f"There are {len(disciplines)} disciplines and {len(shares)} weights. Give one for each."
        )
    if any(not np.array_equal(one.entry, disciplines[0].entry) for one in disciplines):
        raise ContractError("All disciplines must be equated for the same entries in the same order.")
    counted = [(one, share) for one, share in zip(disciplines, shares, strict=True) if share > 0]
    to_hundred = FULL_SCORE / FULL_DISCIPLINE
    score = sum(one.score * share for one, share in counted) * to_hundred
    own_score = sum(one.own_score * share for one, share in counted) * to_hundred
    parts = np.array([(one.score_se * share * to_hundred) ** 2 for one, share in counted])
    own_parts = np.array([(one.own_se * share * to_hundred) ** 2 for one, share in counted])
    shared = np.array([one.covariance * (share * to_hundred) ** 2 for one, share in counted])
    degrees = np.array([np.maximum(one.lineage_count - 1.0, 0.0) for one, _ in counted])
    variance = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = variance**2 / (parts**2 / degrees).sum(axis=0)
    se = np.sqrt(variance)
    low, high = compute_bounds(score, se, freedom, most=FULL_SCORE)
    difference = score - own_score
    spread = variance + (own_parts - 2.0 * shared).sum(axis=0)
    difference_se = np.sqrt(np.maximum(spread, 0.0))
    return EquatedScores(
        entry=disciplines[0].entry,
        score=score,
        se=se,
        low=low,
        high=high,
        own_score=own_score,
        own_se=np.sqrt(own_parts.sum(axis=0)),
        difference=difference,
        difference_se=difference_se,
        is_disagreeing=np.abs(difference) > 1.96 * difference_se,
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
    return most * expit(at - wide), most * expit(at + wide)


def _read_priors(fit: GradedFit) -> tuple[float, float]:
    """Information that the priors give of a difficulty and of a log discrimination."""
    found = fit.parameters
    return (found.difficulty_sd**-2, found.discrimination_sd**-2) if fit.has_priors else (1e-6, 1e-6)


def _invert_questions(
    rows: GradedRows, fit: GradedFit, curves: Curves
) -> tuple[tuple[Floats, Floats, Floats], tuple[Floats, Floats]]:
    """Each question's inverse information (bb, ba, aa); each row's, of θ and of θ with log a."""
    questions = rows.question_count
    prior_b, prior_a = _read_priors(fit)
    pp, pa, aa = (rows.weight * part for part in compute_information(curves))
    own_b = sum_by(rows.question, pp, questions) + prior_b
    own_ba = -sum_by(rows.question, pa, questions)
    own_a = sum_by(rows.question, aa, questions) + prior_a
    determinant = own_b * own_a - own_ba**2
    return (own_a / determinant, -own_ba / determinant, own_b / determinant), (pp, pa)


def _arrange_system(rows: GradedRows, fit: GradedFit) -> _System:
    """Information and residuals at the maximum, for entries, editions and seasons but the first."""
    from scipy.linalg import cho_factor
    from scipy.sparse import csr_array, diags_array, hstack

    found = fit.parameters
    entries, questions = rows.entry_count, rows.question_count
    editions, seasons = len(found.edition_mean), len(found.season_mean) - 1
    size = entries + editions + seasons
    prior_p = found.ability_sd**-2
    prior_b, _ = _read_priors(fit)
    curves = compute_curves(
        fit.ability[rows.entry],
        fit.discrimination[rows.question],
        found.difficulty[rows.question],
        found.thresholds,
    )
    inverse, (pp, pa) = _invert_questions(rows, fit, curves)
    later = np.flatnonzero(rows.question_season > 0)
    at_season = entries + editions + rows.question_season[later] - 1
    to_b = csr_array(
        (
            np.concatenate([-pp, np.full(len(later), -prior_b)]),
            (np.concatenate([rows.entry, at_season]), np.concatenate([rows.question, later])),
        ),
        (size, questions),
    )
    to_a = csr_array((pa, (rows.entry, rows.question)), (size, questions))
    through_b = diags_array(inverse[0]) @ to_b.T + diags_array(inverse[1]) @ to_a.T
    through_a = diags_array(inverse[1]) @ to_b.T + diags_array(inverse[2]) @ to_a.T
    whole = -(to_b @ through_b + to_a @ through_a).toarray()
    own = np.concatenate(
        [
            sum_by(rows.entry, pp, entries) + prior_p,
            np.bincount(rows.entry_edition, minlength=editions) * prior_p + 1e-9,
            np.bincount(rows.question_season, minlength=seasons + 1)[1:] * prior_b + 1e-9,
        ]
    )
    whole[np.arange(size), np.arange(size)] += own
    at_edition = entries + rows.entry_edition
    whole[np.arange(entries), at_edition] -= prior_p
    whole[at_edition, np.arange(entries)] -= prior_p
    lineage = np.unique(rows.question_lineage, return_inverse=True)[1]
    slope = rows.weight * curves.slope[np.arange(len(rows.stars)), rows.stars]
    drawn = (found.difficulty - found.season_mean[rows.question_season])[later] * prior_b
    residuals = csr_array(
        (
            np.concatenate([slope, drawn]),
            (
                np.concatenate([rows.entry, at_season]),
                np.concatenate([lineage[rows.question], lineage[later]]),
            ),
        ),
        (size, int(lineage.max(initial=-1)) + 1),
    )
    return _System(cho_factor(whole, overwrite_a=True), hstack([to_b, to_a]).tocsr(), inverse, residuals)


def _equate_some(
    rows: GradedRows,
    fit: GradedFit,
    system: _System,
    ability: Floats,
    form: Codes,
    lineage: Codes,
    wanted: Codes,
) -> tuple[Floats, ...]:
    """The columns of `EquatedDiscipline` after `entry`, for some entries."""
    from scipy.linalg import cho_solve

    found = fit.parameters
    lineages = system.residuals.shape[1]
    number, count = rows.most_stars, len(wanted)
    place = np.full(rows.entry_count, -1)
    place[wanted] = np.arange(count)
    own = np.flatnonzero(place[rows.entry] >= 0)
    who, what, weight = place[rows.entry[own]], rows.question[own], rows.weight[own]
    stars = rows.stars[own]
    curves = compute_curves(
        ability[rows.entry[own]], fit.discrimination[what], found.difficulty[what], found.thresholds
    )
    pp, pa, _ = (weight * part for part in compute_information(curves))
    information = np.maximum(sum_by(who, pp, count), 1e-12)
    # The first season's questions, as each wanted entry would answer them; one without answers is blanked at the end.
    is_known = ~np.isnan(ability[wanted])
    at = np.where(is_known, ability[wanted], 0.0)
    on_form = compute_curves(at[:, None], fit.discrimination[form], found.difficulty[form], found.thresholds)
    expected, by_ability, by_a = compute_expected(on_form)
    score = expected.mean(axis=1)
    gain = by_ability.mean(axis=1)
    # How score and ability follow the questions' parameters: through the form, and through the entry's own answers.
    questions = rows.question_count
    cell = who * questions + what
    size = count * questions
    ability_b = np.bincount(cell, weights=pp, minlength=size).reshape(count, questions) / information[:, None]
    ability_a = (
        -np.bincount(cell, weights=pa, minlength=size).reshape(count, questions) / information[:, None]
    )
    score_b, score_a = ability_b * gain[:, None], ability_a * gain[:, None]
    score_b[:, form] -= by_ability / len(form)
    score_a[:, form] += by_a / len(form)
    direct = (
        np.bincount(
            who * lineages + lineage[what],
            weights=weight * curves.slope[np.arange(len(own)), stars],
            minlength=count * lineages,
        ).reshape(count, lineages)
        / information[:, None]
    )
    bb, ba, aa = system.inverse

    def follow(by_b: Floats, by_a: Floats) -> Floats:
        """Influence of each lineage through the questions' parameters."""
        pulled = np.concatenate([by_b * bb + by_a * ba, by_b * ba + by_a * aa], axis=1)
        through = cho_solve(system.factor, -(system.coupling @ pulled.T))
        return np.asarray((system.residuals.T @ through).T)

    of_ability = direct + follow(ability_b, ability_a)
    of_form = np.zeros((count, lineages))
    np.add.at(of_form.T, lineage[form], ((expected - score[:, None]) / len(form)).T)
    of_score = direct * gain[:, None] + follow(score_b, score_a) + of_form
    answered = sum_by(who, weight, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        own_score = sum_by(who, weight * stars, count) / answered
    of_own = (
        np.bincount(
            who * lineages + lineage[what],
            weights=weight * (stars - own_score[who]),
            minlength=count * lineages,
        ).reshape(count, lineages)
        / np.maximum(answered, 1e-12)[:, None]
    )
    met = np.unique(who * lineages + lineage[what]) // lineages
    lineage_count = np.bincount(met, minlength=count)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(lineage_count >= 2, lineage_count / (lineage_count - 1.0), np.nan)
    to_ten = FULL_DISCIPLINE / number
    score = np.where(is_known, score, np.nan)
    return (
        ability[wanted],
        np.sqrt(factor * (of_ability**2).sum(axis=1)),
        score * to_ten,
        np.sqrt(factor * (of_score**2).sum(axis=1)) * to_ten,
        own_score * to_ten,
        np.sqrt(factor * (of_own**2).sum(axis=1)) * to_ten,
        factor * (of_score * of_own).sum(axis=1) * to_ten**2,
        lineage_count.astype(float),
    )
