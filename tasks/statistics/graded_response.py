"""Difficulty and discrimination of questions, by marginal maximum likelihood over all editions of a discipline.

EM (Bock and Aitkin 1981) for the graded response model: abilities are integrated out on a grid, under a normal distribution
for each edition, so that no edition is drawn to the level of another. Difficulties are N(mean of the season, σ²), log
discriminations N(μ, s²), both learnt from the data. Questions that several editions put, and entries that sat several
seasons, link the scale; its origin is the mean difficulty of the first season, its unit the mean discrimination there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.errors import UsageError
from tasks.statistics.cells import Floats
from tasks.statistics.graded_model import (
    GradedRows,
    compute_curves,
    compute_information,
    compute_log_chances,
    sum_by,
)
from tasks.statistics.graded_start import (
    Parameters,
    average_by,
    fill_start,
    guess_parameters,
    put_on_scale,
)

MOST_ROUNDS = 500
TOLERANCE = 2e-4  # logits; a score moves by less than a hundredth of a point
_STEP = 0.3  # of the grid on which questions are tabulated
_FINER = 8  # points of the fine grid in each step
_MARGIN = 3.0  # logits beyond the abilities at the start
_STENCIL = 6  # points of the grid that a value between them is interpolated from
_LEAST_GAP = 0.05
_LEAST_VARIANCE = 0.01
_LARGEST_MOVE = 1.0
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


@dataclass(frozen=True)
class _Grid:
    """Abilities at which questions are tabulated, and a finer grid on which posteriors live.

    `weights` (fine × coarse) interpolate between them: an entry with thousands of answers has a posterior far narrower than
    a step, while the curves of questions are smooth.
    """

    coarse: Floats
    fine: Floats
    weights: Floats


@dataclass(frozen=True)
class _Posterior:
    counts: Floats  # expected answers, questions × stars × grid
    ability: Floats
    variance: Floats
    log_likelihood: float


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
    first_guess, abilities = guess_parameters(rows)
    now = first_guess if start is None else fill_start(start, first_guess)
    grid = _make_grid(abilities, now)
    answered = sum_by(rows.question, rows.weight, rows.question_count)
    has_rows = np.bincount(rows.entry, minlength=rows.entry_count) > 0

    def improve(parameters: Parameters) -> tuple[Parameters, _Posterior]:
        posterior = _compute_posterior(rows, parameters, grid, counts_by_entry, by_question)
        return _improve(rows, parameters, posterior, grid, has_rows, has_priors), posterior

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
    posterior = _compute_posterior(rows, now, grid, counts_by_entry, by_question)
    difficulty_se, discrimination_se = _compute_errors(rows, now, posterior, grid, has_priors)
    return GradedFit(
        parameters=now,
        discrimination=np.exp(now.log_discrimination),
        difficulty_se=difficulty_se,
        discrimination_se=discrimination_se,
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


def _make_grid(ability: Floats, parameters: Parameters) -> _Grid:
    reach = 4.5 * parameters.ability_sd
    means = parameters.edition_mean
    least = min(float(ability.min()) - _MARGIN, float(means.min()) - reach)
    most = max(float(ability.max()) + _MARGIN, float(means.max()) + reach)
    count = max(int(np.ceil((most - least) / _STEP)) + 1, _STENCIL)
    coarse = least + _STEP * np.arange(count)
    place = np.arange((count - 1) * _FINER + 1) / _FINER
    first = np.clip(np.floor(place).astype(int) - _STENCIL // 2 + 1, 0, count - _STENCIL)
    nodes = first[:, None] + np.arange(_STENCIL)
    weights = np.zeros((len(place), count))
    for one in range(_STENCIL):
        others = np.delete(nodes, one, axis=1)
        value = ((place[:, None] - others) / (nodes[:, [one]] - others)).prod(axis=1)
        weights[np.arange(len(place)), nodes[:, one]] = value
    return _Grid(coarse, least + _STEP * place, weights)


def _compute_posterior(
    rows: GradedRows, parameters: Parameters, grid: _Grid, counts_by_entry: Any, by_question: Any
) -> _Posterior:
    """E step: each entry's posterior on the fine grid, and the answers that it leads to expect on the coarse one."""
    a = np.exp(parameters.log_discrimination)
    log_chances = compute_log_chances(
        grid.coarse[None, :], a[:, None], parameters.difficulty[:, None], parameters.thresholds
    )
    width = rows.most_stars + 1
    table = np.ascontiguousarray(log_chances.transpose(0, 2, 1)).reshape(-1, len(grid.coarse))
    log_posterior = (counts_by_entry @ table) @ grid.weights.T
    # The normal distribution of abilities ends with the grid; its total there is 1.
    log_prior = -0.5 * ((grid.fine - parameters.edition_mean[:, None]) / parameters.ability_sd) ** 2
    log_prior -= np.logaddexp.reduce(log_prior, axis=1)[:, None]
    log_posterior += log_prior[rows.entry_edition]
    top = log_posterior.max(axis=1)
    posterior = np.exp(log_posterior - top[:, None])
    total = posterior.sum(axis=1)
    posterior /= total[:, None]
    ability = posterior @ grid.fine
    expected = by_question @ (posterior @ grid.weights)
    return _Posterior(
        counts=expected.reshape(rows.question_count, width, len(grid.coarse)).transpose(0, 2, 1),
        ability=ability,
        variance=np.maximum(posterior @ grid.fine**2 - ability**2, 1e-10),
        log_likelihood=float((top + np.log(total)).sum()),
    )


def _improve(
    rows: GradedRows,
    now: Parameters,
    posterior: _Posterior,
    grid: _Grid,
    has_rows: NDArray[np.bool_],
    has_priors: bool,
) -> Parameters:
    """M step: one step of Fisher scoring for every question, then the distributions that hold them."""
    season = rows.question_season
    a = np.exp(now.log_discrimination)
    curves = compute_curves(grid.coarse[None, :], a[:, None], now.difficulty[:, None], now.thresholds)
    counts = posterior.counts
    total = counts.sum(axis=2)
    bb, ba, aa = ((total * part).sum(axis=1) for part in compute_information(curves))
    slope_b = -(counts * curves.slope).sum(axis=(1, 2))
    slope_a = (counts * curves.stretch).sum(axis=(1, 2))
    ba = -ba
    if has_priors:
        slope_b -= (now.difficulty - now.season_mean[season]) / now.difficulty_sd**2
        slope_a -= (now.log_discrimination - now.discrimination_mean) / now.discrimination_sd**2
        bb, aa = bb + now.difficulty_sd**-2, aa + now.discrimination_sd**-2
    else:
        bb, aa = bb + 1e-9, aa + 1e-9
    determinant = bb * aa - ba**2
    move_b = np.clip((aa * slope_b - ba * slope_a) / determinant, -_LARGEST_MOVE, _LARGEST_MOVE)
    move_a = np.clip((bb * slope_a - ba * slope_b) / determinant, -_LARGEST_MOVE, _LARGEST_MOVE)
    difficulty, log_a = now.difficulty + move_b, now.log_discrimination + move_a
    season_mean = average_by(difficulty, season, len(now.season_mean), now.season_mean)
    spread = np.mean((difficulty - season_mean[season]) ** 2 + aa / determinant)
    a_mean = float(log_a.mean())
    a_spread = np.mean((log_a - a_mean) ** 2 + bb / determinant)
    edition = rows.entry_edition[has_rows]
    mean = average_by(posterior.ability[has_rows], edition, len(now.edition_mean), now.edition_mean)
    ability_spread = np.mean(
        (posterior.ability[has_rows] - mean[edition]) ** 2 + posterior.variance[has_rows]
    )
    found = Parameters(
        difficulty=difficulty,
        log_discrimination=log_a,
        thresholds=_improve_thresholds(now, counts, a, curves.chance),
        edition_mean=mean,
        season_mean=season_mean,
        ability_sd=float(np.sqrt(max(ability_spread, _LEAST_VARIANCE))),
        difficulty_sd=float(np.sqrt(max(spread, _LEAST_VARIANCE))) if has_priors else now.difficulty_sd,
        discrimination_mean=a_mean,
        discrimination_sd=float(np.sqrt(max(a_spread, _LEAST_VARIANCE)))
        if has_priors
        else now.discrimination_sd,
    )
    return put_on_scale(found, season)


def _improve_thresholds(now: Parameters, counts: Floats, a: Floats, chance: Floats) -> Floats:
    """One step of Fisher scoring for the thresholds that the discipline's questions have in common."""
    thresholds = now.thresholds
    size = len(thresholds)
    if size == 1:
        return thresholds
    at_least = np.cumsum(chance[..., ::-1], axis=-1)[..., ::-1]
    gap = np.zeros((len(a), size + 1))
    gap[:, 1:-1] = a[:, None] / np.expm1(np.maximum(a[:, None] * np.diff(thresholds), 1e-6))
    slopes = np.zeros((size, *chance.shape))
    for number in range(size):
        above = at_least[..., number + 1]
        # Threshold k is the lower end of k stars and the upper end of k - 1.
        slopes[number][..., number + 1] = -a[:, None] * (1.0 - above) - gap[:, None, number + 1]
        slopes[number][..., number] = a[:, None] * above + gap[:, None, number]
    gradient = np.array([(counts * slope).sum() for slope in slopes])
    weighted = counts.sum(axis=2)[..., None] * chance
    information = np.array([[(weighted * one * other).sum() for other in slopes] for one in slopes])
    information += np.eye(size) * 1e-6
    moved = thresholds + np.clip(np.linalg.solve(information, gradient), -0.3, 0.3)
    # A star that nobody ever got would draw its thresholds together: they keep a gap.
    moved = moved[0] + np.concatenate([[0.0], np.cumsum(np.maximum(np.diff(moved), _LEAST_GAP))])
    return np.asarray(moved - moved.mean())


def _leap(now: Parameters, once: Parameters, twice: Parameters, largest: float) -> tuple[Parameters, float]:
    """Where two rounds lead when followed on; the second round itself where that looks worse than before."""
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
    found = replace(twice, **dict(zip(names, parts, strict=True)))
    if bool((np.diff(found.thresholds) < _LEAST_GAP).any()):
        return twice, residual
    return found, residual


def _compute_errors(
    rows: GradedRows, now: Parameters, posterior: _Posterior, grid: _Grid, has_priors: bool
) -> tuple[Floats, Floats]:
    """Standard errors of difficulty and discrimination from the information of the question's own answers."""
    a = np.exp(now.log_discrimination)
    curves = compute_curves(grid.coarse[None, :], a[:, None], now.difficulty[:, None], now.thresholds)
    total = posterior.counts.sum(axis=2)
    bb, ba, aa = ((total * part).sum(axis=1) for part in compute_information(curves))
    bb = bb + (now.difficulty_sd**-2 if has_priors else 1e-9)
    aa = aa + (now.discrimination_sd**-2 if has_priors else 1e-9)
    determinant = bb * aa - ba**2
    return np.sqrt(aa / determinant), a * np.sqrt(bb / determinant)
