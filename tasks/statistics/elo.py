"""Ratings from pairwise comparisons, and how they converge beside the relative score.

Online Elo depends on the order of the comparisons; here it is the mean over shuffles, so that the order does not
matter. Bradley-Terry is the order-free maximum-likelihood form of the same model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ContractError, UsageError
from tasks.statistics.spearman import compute_spearman

START = 1000.0
SCALE = 400.0
K = 16.0
PRIOR = 0.1
_TOLERANCE = 1e-10
_MOST_ROUNDS = 10_000
_MOST_GAMES_AT_ONCE = 10_000_000  # of 28 bytes each in memory


@dataclass(frozen=True)
class Convergence:
    """How well a sample of questions orders the candidates, by either method.

    Attributes:
        sample_size: questions in a sample.
        relative_rho: mean Spearman correlation of the order by relative score with the full order.
        relative_rho_sd: its standard deviation over the repeats (ddof 1).
        elo_rho: the same by Elo.
        elo_rho_sd: its standard deviation.
        repeat_count: samples drawn.
    """

    sample_size: int
    relative_rho: float
    relative_rho_sd: float
    elo_rho: float
    elo_rho_sd: float
    repeat_count: int


def compute_expected_score(rating: float, opponent: float) -> float:
    """Probability that `rating` beats `opponent`: 1 / (1 + 10^((opponent - rating) / 400)) (LLMEval-Fair, equation 3)."""
    return float(1.0 / (1.0 + 10.0 ** ((opponent - rating) / SCALE)))


def compute_bradley_terry(wins: NDArray[np.float64], *, prior: float = PRIOR) -> NDArray[np.float64]:
    """Ratings on the Elo scale, mean 1000, from a matrix of wins (`wins[i, j]`: i over j; a tie is half a win each).

    `prior` is added to every off-diagonal cell, so that a candidate that won or lost everything has a finite rating; 0
    gives the plain maximum likelihood. Raises UsageError when that does not exist (some candidates were never beaten by
    the others), ContractError for a matrix that is not square or holds negative counts.
    """
    size = len(wins)
    if wins.shape != (size, size) or bool((wins < 0).any()):
        raise ContractError(f"Wins must be a square matrix of counts from 0, not {wins.shape}.")
    counts = wins.astype(float) + prior
    np.fill_diagonal(counts, 0.0)
    won = counts.sum(axis=1)
    games = counts + counts.T
    strength = np.ones(size)
    # Minorisation-maximisation (Hunter 2004): each round raises the likelihood, no step size to choose.
    for _ in range(_MOST_ROUNDS):
        with np.errstate(divide="ignore", invalid="ignore"):
            updated = won / (games / (strength[:, None] + strength[None, :])).sum(axis=1)
            updated = updated / np.exp(np.log(updated).mean())
        if not np.isfinite(updated).all() or bool((updated <= 0).any()):
            break
        if bool(np.max(np.abs(np.log(updated / strength))) < _TOLERANCE):
            return np.asarray(START + SCALE * np.log10(updated), dtype=float)
        strength = updated
    raise UsageError(
        "The comparisons do not connect all candidates. Use a prior above 0, or add comparisons."
    )


def compute_elo(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    outcome: NDArray[np.float64],
    candidate_count: int,
    *,
    shuffles: int = 100,
    seed: int = 0,
    k: float = K,
) -> NDArray[np.float64]:
    """Online Elo ratings, mean over `shuffles` random orders of the comparisons.

    Comparison t is `first[t]` against `second[t]` with `outcome[t]` for the first: 1 won, 0.5 tie, 0 lost. With
    `shuffles=0` the comparisons are played once, in the order given.
    """
    if not len(first) == len(second) == len(outcome):
        raise ContractError("first, second and outcome must be of one length.")
    count = len(first)
    generator = np.random.default_rng(seed)
    orders = (
        np.stack([generator.permutation(count) for _ in range(shuffles)])
        if shuffles
        else np.arange(count)[None, :]
    )
    ratings = _play(first[orders], second[orders], outcome[orders], candidate_count, k)
    return np.asarray(ratings.mean(axis=0), dtype=float)


def compute_convergence(
    matrix: NDArray[np.float64], sample_sizes: Sequence[int], *, repeats: int = 100, seed: int = 0
) -> list[Convergence]:
    """Spearman correlation with the full order as the sample grows: relative score beside Elo (LLMEval-Fair, figure 5).

    `matrix` holds stars as candidates x questions (`arrange_stars`). The full order is that of the mean stars over all
    questions. A sample is drawn without replacement; on it the candidates are ordered by their mean stars (the order of
    the relative score, whatever the reference), and by one pass of Elo over all pairs on all its questions, in random
    order. Raises UsageError for a sample larger than there are questions.
    """
    candidate_count, question_count = matrix.shape
    if too_large := [size for size in sample_sizes if not 0 < size <= question_count]:
        raise UsageError(
            f"Samples of {too_large} questions cannot be drawn from {question_count}. Choose 1 to {question_count}."
        )
    full = matrix.mean(axis=1)
    generator = np.random.default_rng(seed)
    pairs = np.transpose(np.triu_indices(candidate_count, 1))
    points = []
    for size in sample_sizes:
        relative: list[float | None] = []
        elo: list[float | None] = []
        at_once = max(1, _MOST_GAMES_AT_ONCE // (len(pairs) * size))
        for start in range(0, repeats, at_once):
            samples = [
                matrix[:, generator.choice(question_count, size=size, replace=False)]
                for _ in range(min(at_once, repeats - start))
            ]
            ratings = _play_samples(samples, pairs, generator)
            relative += [compute_spearman(sample.mean(axis=1), full).rho for sample in samples]
            elo += [compute_spearman(rating, full).rho for rating in ratings]
        points.append(Convergence(size, *_describe(relative), *_describe(elo), repeats))
    return points


def _play(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    outcome: NDArray[np.float64],
    candidate_count: int,
    k: float = K,
) -> NDArray[np.float64]:
    """Ratings after playing `replays x games`: Elo is sequential over games, not over replays."""
    replays, games = first.shape
    ratings = np.full((replays, candidate_count), START)
    rows = np.arange(replays)
    for game in range(games):
        a, b = first[:, game], second[:, game]
        expected = 1.0 / (1.0 + 10.0 ** ((ratings[rows, b] - ratings[rows, a]) / SCALE))
        change = k * (outcome[:, game] - expected)
        ratings[rows, a] += change
        ratings[rows, b] -= change
    return ratings


def _play_samples(
    samples: Sequence[NDArray[np.float64]], pairs: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Elo ratings of each sample: every pair of candidates meets once on every question, in random order."""
    candidate_count, size = samples[0].shape
    first = np.repeat(pairs[:, 0], size)
    second = np.repeat(pairs[:, 1], size)
    orders = np.stack([generator.permutation(len(first)) for _ in samples])
    outcome = np.stack(
        [((np.sign(sample[pairs[:, 0]] - sample[pairs[:, 1]]) + 1) / 2).ravel() for sample in samples]
    )
    return _play(first[orders], second[orders], np.take_along_axis(outcome, orders, axis=1), candidate_count)


def _describe(values: Sequence[float | None]) -> tuple[float, float]:
    """Mean and standard deviation; a sample on which all candidates are equal orders nothing and counts as 0."""
    numbers = np.array([0.0 if value is None else value for value in values])
    return float(numbers.mean()), float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
