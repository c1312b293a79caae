"""Bradley-Terry ratings of many samples at once, by Newton's method: the same ratings as `elo.compute_bradley_terry`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ContractError, UsageError
from tasks.statistics.elo import PRIOR, SCALE, START

Floats = NDArray[np.float64]

_TOLERANCE = 1e-9
_MOST_STEPS = 200
_LONGEST_STEP = 1.0


def compute_bradley_terry_many(wins: Floats, *, prior: float = PRIOR) -> Floats:
    """Ratings on the Elo scale, mean 1000, of each sample, as samples x candidates.

    `wins[s, i, j]` counts how often i beat j in sample s; a tie is half a win each. `prior` is added to every cell off the
    diagonal and must be above 0, so that every sample has finite ratings. Raises ContractError for arrays of another shape
    or negative counts, UsageError for a prior of 0 or less.
    """
    if wins.ndim != 3 or wins.shape[1] != wins.shape[2] or bool((wins < 0).any()):
        raise ContractError(f"Wins must be square matrices of counts from 0, not {wins.shape}.")
    if prior <= 0:
        raise UsageError("Samples may leave a candidate out: use a prior above 0.")
    count = wins.shape[1]
    diagonal = np.arange(count)
    counts = wins + prior
    counts[:, diagonal, diagonal] = 0.0
    games = counts + counts.transpose(0, 2, 1)
    won = counts.sum(axis=2)
    ability = np.zeros(wins.shape[:2])
    for _ in range(_MOST_STEPS):
        expected = 1.0 / (1.0 + np.exp(ability[:, None, :] - ability[:, :, None]))
        gradient = won - (games * expected).sum(axis=2)
        weight = games * expected * (1.0 - expected)
        # Abilities are fixed up to a constant: the matrix of ones keeps their sum at 0.
        information = 1.0 / count - weight
        information[:, diagonal, diagonal] += weight.sum(axis=2)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        ability += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _TOLERANCE))
        if float(longest.max(initial=0.0)) < _TOLERANCE:
            break
    else:
        raise UsageError("Bradley-Terry ratings did not settle. Use a larger prior, or more comparisons.")
    ability -= ability.mean(axis=1, keepdims=True)
    return np.asarray(START + SCALE * ability / np.log(10.0))
