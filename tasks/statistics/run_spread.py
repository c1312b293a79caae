"""How far a candidate's score moves from one independent run to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

_FULL_SCORE = 100.0


@dataclass(frozen=True)
class RunSpread:
    """Standard deviation over runs.

    Attributes:
        run_count: runs with a score.
        sd: sample standard deviation of the runs' mean scores (n - 1); null for a single run.
        sd_100: the same after the scale was stretched to 100 points.
    """

    run_count: int
    sd: float | None
    sd_100: float | None


def compute_run_spread(scores: ArrayLike, runs: ArrayLike, *, most: float) -> RunSpread:
    """The spread of the mean scores of the runs; `most` is the highest score that can be had (6 Borda points for 8 candidates)."""
    value, run = np.asarray(scores, dtype=float), np.asarray(runs)
    means = np.array([value[run == one].mean() for one in np.unique(run)])
    if len(means) < 2:
        return RunSpread(len(means), None, None)
    sd = float(means.std(ddof=1))
    return RunSpread(len(means), sd, rescale(sd, most))


def rescale(sd: float, most: float) -> float:
    """A spread on a scale from 0 to `most`, on one from 0 to 100 (League of LLMs, table 7: × 100 / 6)."""
    return sd * _FULL_SCORE / most
