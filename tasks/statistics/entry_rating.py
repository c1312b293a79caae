"""The rating of one who meets others whose ratings are known, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.errors import ContractError
from tasks.statistics.elo import SCALE, START

# Before any match: the mean of the others, give or take this much. It is soon outweighed, and keeps one who won or lost
# everything finite.
PRIOR_SPREAD = 600.0
_Z = 1.959963984540054
_STEPS = 100
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class EntryRating:
    """A rating on the Elo scale and its 95% interval."""

    rating: float
    low: float
    high: float


def compute_entry_rating(opponents: Sequence[float], results: Sequence[float]) -> EntryRating:
    """The most likely rating, given opponents' ratings and results against them (1 won, 0.5 equal, 0 lost).

    The model is Elo's (1 / (1 + 10^((opponent - rating) / 400))), with a normal prior around 1000. The interval is the
    normal one of the posterior's curvature: it takes matches for independent, and opponents' ratings for known.
    """
    if len(opponents) != len(results):
        raise ContractError("opponents and results must be of one length.")
    slope = math.log(10) / SCALE
    rating = START
    for _ in range(_STEPS):
        gradient = (START - rating) / PRIOR_SPREAD**2
        information = 1 / PRIOR_SPREAD**2
        for opponent, result in zip(opponents, results, strict=True):
            expected = 1.0 / (1.0 + 10.0 ** ((opponent - rating) / SCALE))
            gradient += slope * (result - expected)
            information += slope**2 * expected * (1.0 - expected)
        # A step is bounded: far from the opponents the curve is nearly flat.
        step = max(-SCALE, min(SCALE, gradient / information))
        rating += step
        if abs(step) < _TOLERANCE:
            break
    half = _Z / math.sqrt(information)
    return EntryRating(rating, rating - half, rating + half)
