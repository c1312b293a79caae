"""S, the score from 0 to 100: whatever in Python makes stars into S does it here.

S is the weighted mean of the disciplines' mean stars, on a scale on which all stars are 100. Samples weigh questions instead
and have its scale (`to_points`). The public verifier has a computation of its own on purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tasks.statistics.cells import Codes, Floats

MOST_STARS = 3
FULL_SCORE = 100.0
FULL_DISCIPLINE = 10.0
POINTS_PER_STAR = FULL_SCORE / MOST_STARS


def compute_score(means: Floats, weights: Floats, *, scale: Floats | float = POINTS_PER_STAR) -> Floats:
    """S of mean stars by discipline, shape (..., disciplines) -> (...).

    NaN where a discipline that has weight has no mean: it is never left out of the sum. Differences of means give differences
    of S, so that nothing is cut here, though a full score may add up to 100.00000000000001. `weights` sum to 1; a `scale` of 1
    leaves the mean in stars.
    """
    has_weight = weights > 0
    return np.asarray(means[..., has_weight] @ weights[has_weight] * scale)


def compute_session_score(means: Floats, weights: Floats) -> Floats:
    """The same S but for the last bits, of single sessions: as editions have always added it.

    Disciplines are added one by one in their order, and a third of the sum is taken before the hundred. An edition that is
    computed again has the same numbers to the last bit, so that this stays.
    """
    has_weight = weights > 0
    terms = np.moveaxis(means[..., has_weight] * weights[has_weight], -1, 0)
    return np.asarray(sum(terms, np.zeros(means.shape[:-1])) * (1.0 / MOST_STARS) * FULL_SCORE)


def to_points(stars: Floats) -> Floats:
    """Mean stars, 0 to 3, on the scale of S."""
    return stars / MOST_STARS * FULL_SCORE


def compute_means(cell: Codes, values: Floats, size: int) -> tuple[Floats, Codes]:
    """Mean of the values in each of `size` cells, and how many there are; NaN in an empty cell."""
    count = np.bincount(cell, minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.bincount(cell, weights=values, minlength=size) / count, count
