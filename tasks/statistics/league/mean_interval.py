"""The mean of scores with a percentile-bootstrap interval, over single scores or clusters."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import ContractError
from tasks.statistics.cells import Floats

RESAMPLES = 10_000
LEVEL = 0.95
_MOST_DRAWS_AT_ONCE = 4_000_000  # of 8 bytes each in memory


@dataclass(frozen=True)
class MeanInterval:
    """A mean and how sure it is.

    Attributes:
        mean: of all scores; null without any.
        low, high: 95% percentile-bootstrap interval; null where fewer than two units can be drawn.
        unit_count: what is drawn with replacement: scores, or clusters.
    """

    mean: float | None
    low: float | None
    high: float | None
    unit_count: int


def make_generator(seed: int, *names: object) -> np.random.Generator:
    """A generator for each name: another candidate in the data changes no other's draws."""
    digest = hashlib.sha256("\x1f".join(map(str, names)).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest[:16], dtype=np.uint32).tolist()])


def compute_mean_interval(
    scores: ArrayLike,
    generator: np.random.Generator,
    *,
    clusters: ArrayLike | None = None,
    resamples: int = RESAMPLES,
) -> MeanInterval:
    """The mean of `scores` with the interval between the 2.5% and 97.5% points of its resamples.

    Without `clusters` single scores are drawn with replacement, as League of LLMs (appendix A) does. With them (a label for
    each score) whole clusters are drawn: scores that several judges gave to one answer are not independent, and the interval
    is wider by as much. The same generator gives the same interval. Raises ContractError for lengths that differ.
    """
    values = np.asarray(scores, dtype=float)
    if not len(values):
        return MeanInterval(None, None, None, 0)
    totals, counts = _sum_clusters(values, clusters)
    mean = float(values.mean())
    if len(totals) < 2:
        return MeanInterval(mean, None, None, len(totals))
    means = _draw_means(totals, counts, generator, resamples)
    edge = (1 - LEVEL) / 2
    low, high = np.quantile(means, [edge, 1 - edge])
    return MeanInterval(mean, float(low), float(high), len(totals))


def _sum_clusters(values: Floats, clusters: ArrayLike | None) -> tuple[Floats, Floats]:
    """Sum and number of the scores of each unit that is drawn."""
    if clusters is None:
        return values, np.ones(len(values))
    _, code = np.unique(np.asarray(clusters), return_inverse=True)
    if len(code) != len(values):
        raise ContractError(f"{len(values)} scores cannot lie in {len(code)} clusters.")
    return np.bincount(code, weights=values).astype(float), np.bincount(code).astype(float)


def _draw_means(
    totals: Floats, counts: Floats, generator: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    """The mean of each resample of units."""
    size = len(totals)
    kinds, times = np.unique(np.stack([totals, counts]), axis=1, return_counts=True)
    if kinds.shape[1] * 8 < size:
        # Borda points have few values: how often each is drawn says all.
        drawn = generator.multinomial(size, times / size, size=resamples)
        return np.asarray((drawn @ kinds[0]) / (drawn @ kinds[1]))
    at_once = max(1, _MOST_DRAWS_AT_ONCE // size)
    parts = []
    for start in range(0, resamples, at_once):
        chosen = generator.integers(size, size=(min(at_once, resamples - start), size))
        parts.append(totals[chosen].sum(axis=1) / counts[chosen].sum(axis=1))
    return np.concatenate(parts)
