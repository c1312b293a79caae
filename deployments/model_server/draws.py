"""Draws that depend on nothing but what is asked.

The same request always meets the same luck.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from tasks.questions import compute_short_rank

_NORMAL = NormalDist()


def draw_uniform(*parts: object) -> float:
    """A number in (0, 1) fixed by the parts."""
    return (int.from_bytes(compute_short_rank(*parts), "big") + 0.5) / 2.0**64


def draw_normal(*parts: object) -> float:
    """A standard normal number fixed by the parts."""
    return _NORMAL.inv_cdf(min(max(draw_uniform(*parts), 1e-12), 1 - 1e-12))


def draw_index(count: int, *parts: object) -> int:
    """A number from 0 to count - 1 fixed by the parts."""
    return min(count - 1, int(draw_uniform(*parts) * count))


def compute_logistic(logit: float) -> float:
    """The probability of a logit."""
    return 1.0 / (1.0 + math.exp(-logit))


def compute_logit(probability: float) -> float:
    """The logit of a probability, kept finite."""
    kept = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(kept / (1.0 - kept))
