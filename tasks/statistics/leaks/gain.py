"""Whether somebody does better on questions met before than their difficulty lets expect."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from tasks.statistics.cells import Codes, Floats

ERROR_RATE = 0.05
POWER = 0.8
_LEAST_MET = 10
_STEPS = 60
_FAR = 12.0
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Leak:
    """What an organisation gains on questions that were met before.

    Attributes:
        gain: stars beyond what is expected, with its standard error by lineage.
        p_value: two-sided, of no gain.
        is_found: whether p_value is below the organisation's share of 5%, and the gain is above 0.
        least_found: the smallest gain that would be found in 80% of cases.
        question_count, met_count: answers compared, and those to questions met before.
    """

    gain: float
    gain_se: float
    p_value: float
    is_found: bool
    least_found: float
    question_count: int
    met_count: int


def expect_stars(
    stars: Floats,
    discrimination: Floats,
    difficulty: Floats,
    thresholds: Floats,
    asymptotes: Floats | None = None,
) -> Floats:
    """Expected stars of a candidate on each question, at the ability that gives its mean stars.

    `thresholds` has the three of each question's discipline, `asymptotes` what chance alone earns on it, shape (questions, 3);
    without them nothing is guessed.
    """
    floor = np.zeros_like(thresholds) if asymptotes is None else asymptotes
    wanted = float(np.clip(stars.mean(), 0.02, 2.98))
    low, high = -_FAR, _FAR
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _expect(middle, discrimination, difficulty, thresholds, floor).mean() < wanted:
            low = middle
        else:
            high = middle
    return _expect((low + high) / 2, discrimination, difficulty, thresholds, floor)


def find_leak(
    stars: Floats,
    expected: Floats,
    is_met: np.ndarray[tuple[int], np.dtype[np.bool_]],
    candidate: Codes,
    lineage: Codes,
    *,
    organisation_count: int = 1,
) -> Leak | None:
    """Stars = α of the candidate + β · expected + gain · met; errors clustered by lineage.

    5% are shared out over the organisations that are looked at. Null where fewer than 10 answers stand on either side: there is
    nothing to compare.
    """
    met = is_met.astype(float)
    if min(met.sum(), len(met) - met.sum()) < _LEAST_MET:
        return None
    # The candidates' own levels are taken out of everything.
    columns = [_centre(column, candidate) for column in (expected, met)]
    design, value = np.stack(columns, axis=1), _centre(stars, candidate)
    inverse = np.linalg.pinv(design.T @ design)
    found = inverse @ design.T @ value
    residual = value - design @ found
    count = int(lineage.max()) + 1
    scores = np.stack(
        [np.bincount(lineage, weights=design[:, place] * residual, minlength=count) for place in range(2)],
        axis=1,
    )
    clusters = len(np.unique(lineage))
    spread = inverse @ (scores.T @ scores) @ inverse * clusters / (clusters - 1)
    se = float(np.sqrt(spread[1, 1]))
    normal = NormalDist()
    if se > _ROUNDING:
        p_value = 2 * normal.cdf(-abs(float(found[1])) / se)
    else:
        # Nothing is left over that an error could be told from: the sign test on the lineages that were met.
        p_value = 2 * 0.5 ** len(np.unique(lineage[is_met])) if abs(found[1]) > _ROUNDING else 1.0
    share = ERROR_RATE / organisation_count
    return Leak(
        gain=float(found[1]),
        gain_se=se,
        p_value=float(p_value),
        is_found=bool(p_value < share and found[1] > 0),
        least_found=(normal.inv_cdf(1 - share / 2) + normal.inv_cdf(POWER)) * se,
        question_count=len(stars),
        met_count=int(met.sum()),
    )


def _expect(
    ability: float, discrimination: Floats, difficulty: Floats, thresholds: Floats, floor: Floats
) -> Floats:
    total = np.zeros(len(difficulty))
    for place in range(thresholds.shape[1]):
        chance = 1.0 / (1.0 + np.exp(-discrimination * (ability - difficulty - thresholds[:, place])))
        total += floor[:, place] + (1.0 - floor[:, place]) * chance
    return total


def _centre(value: Floats, group: Codes) -> Floats:
    count = int(group.max()) + 1
    return np.asarray(
        value
        - (np.bincount(group, weights=value, minlength=count) / np.bincount(group, minlength=count))[group]
    )
