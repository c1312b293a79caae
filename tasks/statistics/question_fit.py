"""How well each question fits the graded response model, and which of them people should look at.

Mean squares of what the model did not expect (Wright and Masters 1982): 1 is as expected; above it, entries with high and
low ability answered less in their order than they should, as when a key is wrong or a question can be read in two ways.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Floats
from tasks.statistics.graded_model import GradedRows, compute_curves, sum_by
from tasks.statistics.graded_response import GradedFit

LEAST_ANSWERS = 20.0
_SURE = 3.0  # standard errors
_LARGE = 1.2  # mean square
_FLAT = 0.5  # discrimination; the mean of the first season is 1


@dataclass(frozen=True)
class QuestionFit:
    """Fit of each question, shape (questions,); NaN for one without answers.

    Attributes:
        outfit: mean of squared standardised residuals; sensitive to single surprising answers.
        infit: the same weighted by information; sensitive to answers near the question's difficulty.
        infit_z: standard errors that infit lies above 1 (below where negative).
        is_flat: discrimination is surely below half of the usual: good and poor entries do alike.
        needs_review: infit is above 1.2 and surely above 1, or the question is flat; never on fewer than 20 answers.
    """

    outfit: Floats
    infit: Floats
    infit_z: Floats
    is_flat: NDArray[np.bool_]
    needs_review: NDArray[np.bool_]


def compute_question_fit(rows: GradedRows, fit: GradedFit) -> QuestionFit:
    """Infit and outfit of every question at the entries' posterior means; repeats of an answer weigh as one."""
    curves = compute_curves(
        fit.ability[rows.entry],
        fit.discrimination[rows.question],
        fit.parameters.difficulty[rows.question],
        fit.parameters.thresholds,
    )
    stars = np.arange(rows.most_stars + 1.0)
    expected = curves.chance @ stars
    away = stars - expected[:, None]
    variance = np.maximum((curves.chance * away**2).sum(axis=1), 1e-9)
    fourth = (curves.chance * away**4).sum(axis=1)
    residual = (rows.stars - expected) ** 2
    count = rows.question_count

    def total(values: Floats) -> Floats:
        return sum_by(rows.question, rows.weight * values, count)

    whole = total(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        outfit = total(residual / variance) / fit.answer_weight
        infit = total(residual) / whole
        infit_z = (infit - 1.0) / (np.sqrt(np.maximum(total(fourth - variance**2), 0.0)) / whole)
    is_enough = fit.answer_weight >= LEAST_ANSWERS
    is_flat = is_enough & (fit.discrimination + _SURE * fit.discrimination_se < _FLAT)
    is_noisy = is_enough & (infit > _LARGE) & (infit_z > _SURE)
    return QuestionFit(outfit, infit, infit_z, is_flat, is_flat | is_noisy)
