"""Whether a judge has changed, by the same responses every month and a bound for every look.

For each month in which a change may have begun, the months since then are set beside those before it; a change of normal size
(standard deviation `TYPICAL`) is weighed against none, whatever the judge's level is. Each of these ratios, and so their
mixture, is a martingale where nothing has changed, so that it ever exceeds 1/α with probability α at most (Ville 1939;
Robbins 1970). For one beginning it is the bound |S| > √((V+ρ)·log((V+ρ)/(ρα²))) with ρ = 1/TYPICAL².
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tasks.statistics.cells import Floats

FALSE_ALARM_RATE = 0.05
TYPICAL = 0.06
# A judge that repeated itself to the letter so far may still hesitate: no smaller variance of one judgement is believed.
LEAST_VARIANCE = 0.02


@dataclass(frozen=True)
class Drift:
    """What the anchor responses' judgements say after each month but the first; arrays by month.

    Attributes:
        response_count: responses with stars on every occasion.
        month_stars: mean stars of the month less the first month's.
        since: month (1 for the first that followed) in which a change has most likely begun.
        change: mean stars since then less those before.
        evidence: log of the mixture over log(1/α): above 1 is an alarm.
    """

    response_count: int
    month_stars: Floats
    since: Floats
    change: Floats
    change_se: Floats
    evidence: Floats


def compute_drift(baseline: Floats, months: Floats) -> Drift | None:
    """Watch a judge over months.

    Args:
        baseline: stars of the first month, responses × repeats.
        months: stars of the later months, responses × months; NaN for what could not be read, as in `baseline`.

    Responses without stars on some occasion are left out; null where fewer than two remain, or no month has followed.
    """
    whole = ~(np.isnan(baseline).any(axis=1) | np.isnan(months).any(axis=1))
    first, later = baseline[whole], months[whole]
    count, repeats = first.shape
    if count < 2 or later.shape[1] == 0:
        return None
    occasion_means = np.concatenate([first.mean(axis=0), later.mean(axis=0)])
    total = later.shape[1]
    since, change, change_se, evidence = (np.zeros(total) for _ in range(4))
    for month in range(1, total + 1):
        seen = np.concatenate([first, later[:, :month]], axis=1)
        variance = _measure_noise(seen) / count
        means = occasion_means[: repeats + month]
        terms = np.empty(month)
        gaps, errors = np.empty(month), np.empty(month)
        for begin in range(1, month + 1):
            before, after = means[: repeats + begin - 1], means[repeats + begin - 1 :]
            noise = variance * (1 / len(before) + 1 / len(after))
            gap = float(after.mean() - before.mean())
            terms[begin - 1] = _weigh(gap, noise) - math.log(begin * (begin + 1))
            gaps[begin - 1], errors[begin - 1] = gap, math.sqrt(noise)
        # Beginnings that are still to come keep their share of the mixture: 1 - Σ 1/(s(s+1)).
        mixture = np.logaddexp(np.logaddexp.reduce(terms), -math.log(month + 1))
        best = int(np.argmax(terms))
        since[month - 1], change[month - 1], change_se[month - 1] = best + 1, gaps[best], errors[best]
        evidence[month - 1] = max(0.0, mixture / math.log(1 / FALSE_ALARM_RATE))
    return Drift(count, occasion_means[repeats:] - first.mean(), since, change, change_se, evidence)


def _weigh(gap: float, noise: float) -> float:
    """Log of the weight of a change against none, for a gap of that variance."""
    information, prior = 1.0 / noise, 1.0 / TYPICAL**2
    score = gap * information
    return 0.5 * math.log(prior / (information + prior)) + score**2 / (2.0 * (information + prior))


def _measure_noise(seen: Floats) -> float:
    """Variance of a judgement about its response's mean, less the common shift of an occasion."""
    count, occasions = seen.shape
    off = seen - seen.mean(axis=1, keepdims=True) - seen.mean(axis=0, keepdims=True) + seen.mean()
    return max(LEAST_VARIANCE, float((off**2).sum() / ((count - 1) * (occasions - 1))))
