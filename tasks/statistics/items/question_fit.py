"""How well each question fits the graded response model, and which people should look at.

Mean squares of what the model did not expect (Wright and Masters 1982): 1 is as expected; above it, entries with high and
low ability answered less in their order than they should, as when a question can be read in two ways. A wrong key shows in
the slope: better entries earn fewer stars. A fitted discrimination hides that, as it is positive and held by its prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Floats, sum_by
from tasks.statistics.items.graded_model import GradedRows, compute_chances
from tasks.statistics.items.graded_response import GradedFit

LEAST_ANSWERS = 20.0
_SURE = 3.0  # standard errors
_LARGE = 1.2  # mean square
_FLAT = 0.0  # slope; 1 is usual
_STEP = 1e-3  # logits, for a derivative
_AT_ONCE = 131_072  # answers whose chances of every star are held


@dataclass(frozen=True)
class QuestionFit:
    """Fit of each question, shape (questions,); NaN for one without answers.

    Attributes:
        outfit: mean of squared standardised residuals; sensitive to single surprising answers.
        infit: the same weighted by information; sensitive to answers near the question's difficulty.
        infit_z: standard errors that infit lies above 1 (below where negative).
        slope: how steeply stars rise with ability, beside a question of usual discrimination: 1 is usual, 0 not at all,
            below 0 better entries earn fewer stars.
        slope_se: its standard error under the usual discrimination.
        is_flat: the slope is below 0, and surely below 1: look at the key first.
        needs_review: infit is above 1.2 and surely above 1, or the question is flat; never on fewer than 20 answers.
    """

    outfit: Floats
    infit: Floats
    infit_z: Floats
    slope: Floats
    slope_se: Floats
    is_flat: NDArray[np.bool_]
    needs_review: NDArray[np.bool_]


def compute_question_fit(rows: GradedRows, fit: GradedFit) -> QuestionFit:
    """Infit and outfit of every question at the entries' posterior means; repeats weigh as one."""
    expected, variance, fourth = _expect(rows, fit, fit.discrimination)
    residual = np.asarray((rows.stars - expected) ** 2, dtype=float)
    count = rows.question_count

    def total(values: Floats) -> Floats:
        return sum_by(rows.question, rows.weight * values, count)

    whole = total(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        outfit = total(residual / variance) / fit.answer_weight
        infit = total(residual) / whole
        infit_z = (infit - 1.0) / (np.sqrt(np.maximum(total(fourth - variance**2), 0.0)) / whole)
    is_enough = fit.answer_weight >= LEAST_ANSWERS
    slope, slope_se = _compute_slope(rows, fit)
    is_flat = is_enough & (slope < _FLAT) & (slope + _SURE * slope_se < 1.0)
    is_noisy = is_enough & (infit > _LARGE) & (infit_z > _SURE)
    return QuestionFit(outfit, infit, infit_z, slope, slope_se, is_flat, is_flat | is_noisy)


def _expect(
    rows: GradedRows, fit: GradedFit, discrimination: Floats, by: float = 0.0
) -> tuple[Floats, Floats, Floats]:
    """Mean and second and fourth central moment of each row's stars, abilities moved by `by`."""
    stars = np.arange(rows.most_stars + 1.0)
    found = np.empty((3, len(rows.stars)))
    for start in range(0, len(rows.stars), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        question, entry = rows.question[some], rows.entry[some]
        discipline = rows.question_discipline[question]
        chance = compute_chances(
            fit.ability[entry, discipline] + by - fit.difficulty[question],
            discrimination[question],
            fit.scale.thresholds[discipline],
            fit.scale.asymptotes[rows.question_format[question]],
            fit.ceilings[entry],
        )
        expected = chance @ stars
        away = stars - expected[:, None]
        found[0, some] = expected
        found[1, some] = np.maximum((chance * away**2).sum(axis=1), 1e-9)
        found[2, some] = (chance * away**4).sum(axis=1)
    return found[0], found[1], found[2]


def _compute_slope(rows: GradedRows, fit: GradedFit) -> tuple[Floats, Floats]:
    """A step of least squares from the usual discrimination towards the question's; of any sign."""
    count = rows.question_count
    is_answered = fit.answer_weight > 0
    usual = np.full(count, np.exp(np.log(fit.discrimination[is_answered]).mean()))
    expected, variance, _ = _expect(rows, fit, usual)
    by_ability = (_expect(rows, fit, usual, _STEP)[0] - expected) / _STEP
    weight = rows.weight / variance
    residual = rows.stars - expected
    ability = fit.ability[rows.entry, rows.question_discipline[rows.question]]
    with np.errstate(divide="ignore", invalid="ignore"):
        # The difficulty is left free: abilities and residuals count from where the question's information lies.
        whole = sum_by(rows.question, weight * by_ability**2, count)
        centre = sum_by(rows.question, weight * by_ability**2 * ability, count) / whole
        lever = by_ability * (ability - centre[rows.question])
        steepness = sum_by(rows.question, weight * lever**2, count)
        return 1.0 + sum_by(rows.question, weight * lever * residual, count) / steepness, 1.0 / np.sqrt(
            steepness
        )
