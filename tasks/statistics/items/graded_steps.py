"""The steps of EM for the graded response model: entries' posteriors, then parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Floats
from tasks.statistics.items.graded_model import (
    Curves,
    GradedRows,
    compute_curves,
    compute_information,
    compute_log_chances,
)
from tasks.statistics.items.graded_start import Parameters, average_by, put_on_scale

LEAST_GAP = 0.05
_STEP = 0.3  # of the grid on which questions are tabulated
_FINER = 8  # points of the fine grid in each step
_MARGIN = 3.0  # logits beyond the abilities at the start
_STENCIL = 6  # points of the grid that a value between them is interpolated from
_LEAST_VARIANCE = 0.01
_LARGEST_MOVE = 1.0
_LARGEST_PULL = 2.0
_PULL_EVERY = 4  # rounds
_NO_PRIOR = 1e-9

Information = tuple[Floats, Floats, Floats]


@dataclass(frozen=True)
class AbilityGrid:
    """Abilities at which questions are tabulated, and a finer grid on which posteriors live.

    `weights` (fine × coarse) interpolate between them: an entry with thousands of answers has a posterior far narrower than
    a step, while the curves of questions are smooth.
    """

    coarse: Floats
    fine: Floats
    weights: Floats


@dataclass(frozen=True)
class Posterior:
    """What the answers say about abilities under given parameters.

    Attributes:
        counts: expected answers, questions × grid × stars.
        ability, variance: mean and variance of each entry's posterior.
        log_likelihood: marginal, of all answers.
    """

    counts: Floats
    ability: Floats
    variance: Floats
    log_likelihood: float


def make_grid(ability: Floats, parameters: Parameters) -> AbilityGrid:
    """A grid that reaches beyond all abilities at the start."""
    reach = 4.5 * parameters.ability_sd
    means = parameters.edition_mean
    least = min(float(ability.min()) - _MARGIN, float(means.min()) - reach)
    most = max(float(ability.max()) + _MARGIN, float(means.max()) + reach)
    count = max(int(np.ceil((most - least) / _STEP)) + 1, _STENCIL)
    coarse = least + _STEP * np.arange(count, dtype=float)
    place = np.arange((count - 1) * _FINER + 1, dtype=float) / _FINER
    first = np.clip(np.floor(place).astype(int) - _STENCIL // 2 + 1, 0, count - _STENCIL)
    nodes = first[:, None] + np.arange(_STENCIL)
    weights = np.zeros((len(place), count))
    for one in range(_STENCIL):
        others = np.delete(nodes, one, axis=1)
        value = ((place[:, None] - others) / (nodes[:, [one]] - others)).prod(axis=1)
        weights[np.arange(len(place)), nodes[:, one]] = value
    return AbilityGrid(
        np.asarray(coarse, dtype=np.float64), np.asarray(least + _STEP * place, dtype=np.float64), weights
    )


def compute_posterior(
    rows: GradedRows, parameters: Parameters, grid: AbilityGrid, counts_by_entry: Any, by_question: Any
) -> Posterior:
    """E step: each entry's posterior on the fine grid, and answers expected on the coarse one."""
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
    return Posterior(
        counts=expected.reshape(rows.question_count, width, len(grid.coarse)).transpose(0, 2, 1),
        ability=ability,
        variance=np.maximum(posterior @ grid.fine**2 - ability**2, 1e-10),
        log_likelihood=float((top + np.log(total)).sum()),
    )


@dataclass(frozen=True)
class Errors:
    """Covariance of difficulty and log discrimination given the scale, (questions,) each."""

    bb: Floats
    ba: Floats
    aa: Floats


class MaximisationStep:
    """M step: a step of Fisher scoring for every question, then the distributions over them.

    With priors, questions enter with the mean of their posterior and not with its mode. With some sixty answers to a question
    the modes of hard and easy ones lie apart by percents of their distance, and what links editions would drift by that much.
    """

    def __init__(
        self,
        rows: GradedRows,
        grid: AbilityGrid,
        is_answered: NDArray[np.bool_],
        is_origin: NDArray[np.bool_],
        *,
        has_priors: bool,
    ) -> None:
        self._rows = rows
        self._grid = grid
        self._is_answered = is_answered
        self._is_origin = is_origin
        self._has_priors = has_priors
        self._has_rows = np.bincount(rows.entry, minlength=rows.entry_count) > 0
        self._round = 0
        self._pull = (np.zeros(rows.question_count), np.zeros(rows.question_count))

    def improve(self, now: Parameters, posterior: Posterior) -> Parameters:
        """Better parameters, on the common scale."""
        counts, total = posterior.counts, posterior.counts.sum(axis=2)
        curves = self._tabulate(now)
        information = compute_information(curves)
        bb, ba, aa = self._sum_information(now, total, information)
        slope_b = -(counts * curves.slope).sum(axis=(1, 2))
        slope_a = (counts * curves.stretch).sum(axis=(1, 2))
        season, known = self._rows.question_season, self._is_answered
        if self._has_priors:
            # The pull moves little from round to round and costs as much as the round.
            if self._round % _PULL_EVERY == 0:
                self._pull = self._compute_pull(now, total, information, (bb, ba, aa))
            self._round += 1
            slope_b -= (now.difficulty - now.season_mean[season]) / now.difficulty_sd**2 - self._pull[0]
            slope_a -= (
                now.log_discrimination - now.discrimination_mean
            ) / now.discrimination_sd**2 - self._pull[1]
        determinant = bb * aa - ba**2
        move_b = np.clip((aa * slope_b - ba * slope_a) / determinant, -_LARGEST_MOVE, _LARGEST_MOVE)
        move_a = np.clip((bb * slope_a - ba * slope_b) / determinant, -_LARGEST_MOVE, _LARGEST_MOVE)
        difficulty, log_a = now.difficulty + move_b, now.log_discrimination + move_a
        season_mean = average_by(difficulty[known], season[known], len(now.season_mean))
        a_mean = float(log_a[known].mean())
        # What nobody answered says nothing: it stands at the mean.
        difficulty = np.where(known, difficulty, season_mean[season])
        log_a = np.where(known, log_a, a_mean)
        difficulty_sd, a_sd = now.difficulty_sd, now.discrimination_sd
        if self._has_priors:
            difficulty_sd = _compute_sd((difficulty - season_mean[season])[known], (aa / determinant)[known])
            a_sd = _compute_sd((log_a - a_mean)[known], (bb / determinant)[known])
        edition, ability = self._rows.entry_edition[self._has_rows], posterior.ability[self._has_rows]
        mean = average_by(ability, edition, len(now.edition_mean))
        found = Parameters(
            difficulty=difficulty,
            log_discrimination=log_a,
            thresholds=_improve_thresholds(now, counts, total, curves.chance),
            edition_mean=mean,
            season_mean=season_mean,
            ability_sd=_compute_sd(ability - mean[edition], posterior.variance[self._has_rows]),
            difficulty_sd=difficulty_sd,
            discrimination_mean=a_mean,
            discrimination_sd=a_sd,
        )
        return put_on_scale(found, self._is_origin)

    def compute_errors(self, now: Parameters, posterior: Posterior) -> Errors:
        """What the answers to each question, and its prior, leave open."""
        information = compute_information(self._tabulate(now))
        bb, ba, aa = self._sum_information(now, posterior.counts.sum(axis=2), information)
        determinant = bb * aa - ba**2
        return Errors(aa / determinant, -ba / determinant, bb / determinant)

    def _tabulate(self, now: Parameters, log_steeper: float = 0.0) -> Curves:
        a = np.exp(now.log_discrimination + log_steeper)
        return compute_curves(self._grid.coarse[None, :], a[:, None], now.difficulty[:, None], now.thresholds)

    def _sum_information(self, now: Parameters, total: Floats, of_answers: Information) -> Information:
        """Each question's information of difficulty, both, and log discrimination, priors included."""
        bb, ab, aa = (np.einsum("qg,qg->q", total, part) for part in of_answers)
        if self._has_priors:
            return bb + now.difficulty_sd**-2, -ab, aa + now.discrimination_sd**-2
        return bb + _NO_PRIOR, -ab, aa + _NO_PRIOR

    def _compute_pull(
        self, now: Parameters, total: Floats, of_answers: Information, summed: Information
    ) -> tuple[Floats, Floats]:
        """What moves a question from its posterior's mode to the mean: the slope of -log √|info|."""
        step = 0.01
        bb, ba, aa = summed
        steeper = self._sum_information(now, total, compute_information(self._tabulate(now, step)))
        by_a = [(after - before) / step for after, before in zip(steeper, summed, strict=True)]
        # A higher difficulty is a lower ability.
        by_b = [
            sign * (total * np.gradient(part, _STEP, axis=1)).sum(axis=1)
            for sign, part in zip((-1.0, 1.0, -1.0), of_answers, strict=True)
        ]
        determinant = bb * aa - ba**2

        def pull(by: list[Floats]) -> Floats:
            slope = 0.5 * (by[0] * aa + bb * by[2] - 2.0 * ba * by[1]) / determinant
            return np.clip(-slope, -_LARGEST_PULL, _LARGEST_PULL)

        return pull(by_b), pull(by_a)


def _compute_sd(deviation: Floats, variance: Floats) -> float:
    return float(np.sqrt(max(float(np.mean(deviation**2 + variance)), _LEAST_VARIANCE)))


def _improve_thresholds(now: Parameters, counts: Floats, total: Floats, chance: Floats) -> Floats:
    """A step of Fisher scoring for the thresholds that the discipline's questions share."""
    thresholds, steep = now.thresholds, np.exp(now.log_discrimination)[:, None]
    size = len(thresholds)
    if size == 1:
        return thresholds
    gap = np.zeros((len(steep), size + 1))
    # Far apart, the gap's part in the slope is 0: that is what the overflow says.
    with np.errstate(over="ignore"):
        gap[:, 1:-1] = steep / np.expm1(np.maximum(steep * np.diff(thresholds), 1e-6))
    above = np.zeros_like(total)
    gradient, information = np.zeros(size), np.eye(size) * 1e-6
    upper_of_next: Floats | None = None
    for number in reversed(range(size)):
        above = above + chance[..., number + 1]
        # Threshold k is the lower end of k stars and the upper end of k - 1.
        lower = -steep * (1.0 - above) - gap[:, [number + 1]]
        upper = steep * above + gap[:, [number]]
        gradient[number] = _sum_products(counts[..., number + 1], lower)
        gradient[number] += _sum_products(counts[..., number], upper)
        drawn = total * chance[..., number + 1] * lower
        information[number, number] += _sum_products(drawn, lower)
        information[number, number] += _sum_products(total * chance[..., number] * upper, upper)
        if upper_of_next is not None:
            both = _sum_products(drawn, upper_of_next)
            information[number, number + 1] = information[number + 1, number] = both
        upper_of_next = upper
    moved = thresholds + np.clip(np.linalg.solve(information, gradient), -0.3, 0.3)
    # A star that nobody ever got would draw its thresholds together: they keep a gap.
    moved = moved[0] + np.concatenate([[0.0], np.cumsum(np.maximum(np.diff(moved), LEAST_GAP))])
    return np.asarray(moved - moved.mean())


def _sum_products(first: Floats, second: Floats) -> float:
    return float(np.einsum("qg,qg->", first, second))
