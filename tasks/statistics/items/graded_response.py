"""Questions' difficulty and discrimination, by marginal likelihood over all editions.

EM (Bock and Aitkin 1981) for the graded response model: abilities are integrated out on a grid, under a normal distribution
for each edition, so that no edition is drawn to the level of another. Difficulties are N(mean of the season, σ²), log
discriminations N(μ, s²), both learnt from the data. Questions that several editions put, and entries that sat several
seasons, link the scale; its origin is the mean difficulty of the first season, its unit the mean discrimination there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schemas.errors import UsageError
from tasks.statistics.cells import Floats, sum_by
from tasks.statistics.items.graded_model import GradedRows
from tasks.statistics.items.graded_start import Parameters, fill_start, find_origin, guess_parameters
from tasks.statistics.items.graded_steps import (
    LEAST_GAP,
    MaximisationStep,
    Posterior,
    compute_posterior,
    make_grid,
)

MOST_ROUNDS = 500
TOLERANCE = 2e-4  # logits; a score moves by less than a hundredth of a point
_LARGEST_LEAP = 16.0


@dataclass(frozen=True)
class GradedFit:
    """A fitted discipline.

    Attributes:
        parameters: see there.
        discrimination: a, shape (questions,).
        difficulty_se, discrimination_se: standard errors of b and a given the scale, shape (questions,).
        answer_weight: answers that the question rests on, repeats of one as one, shape (questions,).
        ability, ability_sd: mean and standard deviation of each entry's posterior, shape (entries,).
        log_likelihood: marginal, of the answers.
        round_count: rounds of EM.
        last_change: largest move of an ability in the last round, logits.
        is_converged: that move is within the tolerance.
        has_priors: difficulties and discriminations were held by their distributions.
    """

    parameters: Parameters
    discrimination: Floats
    difficulty_se: Floats
    discrimination_se: Floats
    answer_weight: Floats
    ability: Floats
    ability_sd: Floats
    log_likelihood: float
    round_count: int
    last_change: float
    is_converged: bool
    has_priors: bool


def fit_graded_response(
    rows: GradedRows,
    *,
    start: Parameters | None = None,
    has_priors: bool = True,
    most_rounds: int = MOST_ROUNDS,
    tolerance: float = TOLERANCE,
) -> GradedFit:
    """The model of one discipline; the same rows and start give the same numbers.

    `start` warm-starts: NaN stands for a question, edition or season that has no earlier value. Without priors it is plain
    maximum likelihood, as other programs do by default; a question that all answered alike then has no finite difficulty, so
    that is for comparisons only. A fit that has not converged says so in `is_converged`. Raises UsageError for no rows.
    """
    if not len(rows.stars):
        raise UsageError("There are no answers to fit. Give at least one judged answer of the discipline.")
    counts_by_entry = _tabulate(rows)
    by_question = counts_by_entry.T.tocsr()
    answered = sum_by(rows.question, rows.weight, rows.question_count)
    origin = find_origin(rows, answered)
    first_guess, abilities = guess_parameters(rows, origin)
    now = first_guess if start is None else fill_start(start, first_guess)
    grid = make_grid(abilities, now)
    maximisation = MaximisationStep(rows, grid, answered > 0, origin, has_priors=has_priors)
    has_rows = np.bincount(rows.entry, minlength=rows.entry_count) > 0

    def improve(parameters: Parameters) -> tuple[Parameters, Posterior]:
        posterior = compute_posterior(rows, parameters, grid, counts_by_entry, by_question)
        return maximisation.improve(parameters, posterior), posterior

    ability = np.full(rows.entry_count, np.inf)
    rounds, change, largest_residual = 0, np.inf, np.inf
    while True:
        once, posterior = improve(now)
        change = float(np.abs(posterior.ability - ability)[has_rows].max())
        ability = posterior.ability
        rounds += 1
        if change <= tolerance or rounds >= most_rounds:
            break
        if rounds < 4:
            now = once
            continue
        # Squared extrapolation (Varadhan and Roland 2008): two rounds show where EM is heading.
        twice, posterior = improve(once)
        ability = posterior.ability
        rounds += 1
        now, largest_residual = _leap(now, once, twice, largest_residual)
    posterior = compute_posterior(rows, now, grid, counts_by_entry, by_question)
    errors = maximisation.compute_errors(now, posterior)
    return GradedFit(
        parameters=now,
        discrimination=np.exp(now.log_discrimination),
        difficulty_se=np.sqrt(errors.bb),
        discrimination_se=np.exp(now.log_discrimination) * np.sqrt(errors.aa),
        answer_weight=answered,
        ability=posterior.ability,
        ability_sd=np.sqrt(posterior.variance),
        log_likelihood=posterior.log_likelihood,
        round_count=rounds,
        last_change=change,
        is_converged=change <= tolerance,
        has_priors=has_priors,
    )


def _tabulate(rows: GradedRows) -> Any:
    """Weights as a sparse matrix, entries × (questions · stars)."""
    from scipy.sparse import csr_array

    width = rows.most_stars + 1
    shape = (rows.entry_count, rows.question_count * width)
    return csr_array(
        (np.asarray(rows.weight, dtype=float), (rows.entry, rows.question * width + rows.stars)), shape
    )


def _leap(now: Parameters, once: Parameters, twice: Parameters, largest: float) -> tuple[Parameters, float]:
    """Where two rounds lead when followed on; the second itself where that looks worse."""
    names = ("difficulty", "log_discrimination", "thresholds", "edition_mean", "season_mean")
    start, first, second = (
        np.concatenate([getattr(one, name) for name in names]) for one in (now, once, twice)
    )
    step = first - start
    curve = second - first - step
    residual = float(np.linalg.norm(second - first))
    length = float(np.linalg.norm(step)) / max(float(np.linalg.norm(curve)), 1e-12)
    if residual > 2.0 * largest or length <= 1.0:
        return twice, residual
    length = min(length, _LARGEST_LEAP)
    leaped = start + 2.0 * length * step + length**2 * curve
    parts = np.split(leaped, np.cumsum([len(getattr(now, name)) for name in names])[:-1])
    values: dict[str, Any] = dict(zip(names, parts, strict=True))
    found = replace(twice, **values)
    if bool((np.diff(found.thresholds) < LEAST_GAP).any()):
        return twice, residual
    return found, residual
