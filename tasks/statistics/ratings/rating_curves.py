"""How Elo, Bradley-Terry and S order candidates as samples grow (LLMEval-Fair, figure 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import UsageError
from tasks.statistics.cells import Floats
from tasks.statistics.ratings.elo import compute_bradley_terry, compute_round_elo
from tasks.statistics.score import to_points
from tasks.statistics.spearman import compute_spearman

METHODS = ("score", "elo", "bradley_terry")
_LADDER = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
_MOST_STEPS_AT_ONCE = 4_000_000  # of 8 bytes each in memory


@dataclass(frozen=True)
class CurvePoint:
    """What one method makes of the candidates on samples of one size.

    Attributes:
        sample_size: questions in a sample.
        method: one of `METHODS`.
        rating: mean over the samples, one element for each candidate; S (0 to 100) by the method score.
        rating_sd: its standard deviation over the samples (ddof 1); 0 for one sample.
        rank: place by `rating`; equal ratings share it.
        full_rank: place by S on all questions.
        rho: mean Spearman correlation of a sample's order with the full order; a sample on which all are equal counts 0.
            Null for fewer than three candidates, or when the full order has none: all are equal.
        rho_sd: its standard deviation over the samples.
    """

    sample_size: int
    method: str
    rating: Floats
    rating_sd: Floats
    rank: NDArray[np.int64]
    full_rank: NDArray[np.int64]
    rho: float | None
    rho_sd: float | None


def choose_sizes(question_count: int) -> list[int]:
    """10, 20, 50, 100, … as far as there are questions, and all of them."""
    return [*(size for size in _LADDER if size < question_count), question_count]


def compute_rating_curves(
    matrix: Floats, question_weights: Floats, sample_sizes: Sequence[int], *, samples: int = 20, seed: int = 0
) -> list[CurvePoint]:
    """One point for each size and method.

    `matrix` holds stars as candidates x questions (`arrange_stars`), `question_weights` what each question weighs in S. The
    full order is that of S over all questions, which is also the order of R. A sample is drawn without replacement; all
    methods see the same samples. Elo is one pass over all pairs on all questions of the sample, in random order: it does not
    settle, however many games there are. The same seed gives the same points, whatever the other sizes are. Raises
    UsageError for a sample larger than there are questions, and for fewer than two candidates or one sample.
    """
    candidate_count, question_count = matrix.shape
    if too_large := [size for size in sample_sizes if not 0 < size <= question_count]:
        raise UsageError(
            f"Samples of {too_large} questions cannot be drawn from {question_count}. Choose 1 to {question_count}."
        )
    if candidate_count < 2 or samples < 1:
        raise UsageError("Ratings compare two candidates or more on one sample or more.")
    full = _score(matrix, question_weights, np.arange(question_count)[None, :])[0]
    points = []
    for size in dict.fromkeys(sample_sizes):
        generator = np.random.default_rng([seed, size])
        drawn = np.stack([generator.choice(question_count, size=size, replace=False) for _ in range(samples)])
        rated = {
            "score": _score(matrix, question_weights, drawn),
            "elo": _play_in_parts(matrix, drawn, generator),
            "bradley_terry": compute_bradley_terry(np.stack([count_wins(matrix[:, one]) for one in drawn])),
        }
        points += [_describe(size, method, rated[method], full) for method in METHODS]
    return points


def count_wins(matrix: Floats) -> Floats:
    """Questions on which one has more stars, candidates x candidates; a tie is half a win each."""
    wins = np.empty((len(matrix), len(matrix)))
    for code, own in enumerate(matrix):
        wins[code] = (own > matrix).sum(axis=1) + 0.5 * (own == matrix).sum(axis=1)
    np.fill_diagonal(wins, 0.0)
    return wins


def _rank(ratings: Floats) -> NDArray[np.int64]:
    """Places from 1, the highest first; equal ratings share the best of their places."""
    # What differs in the last bits only is equal.
    rounded = np.round(ratings, 9)
    return np.asarray((rounded[None, :] > rounded[:, None]).sum(axis=1) + 1, dtype=np.int64)


def _score(matrix: Floats, weights: Floats, drawn: NDArray[np.int64]) -> Floats:
    """S of each candidate on each sample, as samples x candidates."""
    return to_points(np.stack([matrix[:, one] @ weights[one] / weights[one].sum() for one in drawn]))


def _play_in_parts(matrix: Floats, drawn: NDArray[np.int64], generator: np.random.Generator) -> Floats:
    """Elo on as many samples at once as fit in memory."""
    steps = drawn.shape[1] * len(matrix)
    at_once = max(1, _MOST_STEPS_AT_ONCE // steps)
    parts = [
        compute_round_elo(matrix, drawn[start : start + at_once], generator)
        for start in range(0, len(drawn), at_once)
    ]
    return np.concatenate(parts)


def _describe(size: int, method: str, ratings: Floats, full: Floats) -> CurvePoint:
    """The point of a method; `ratings` are samples x candidates."""
    found = [compute_spearman(one, full).rho for one in ratings]
    rho = np.array([0.0 if value is None else value for value in found])
    has_order = len(full) > 2 and len(set(np.round(full, 9))) > 1
    has_spread = len(ratings) > 1
    mean = ratings.mean(axis=0)
    return CurvePoint(
        sample_size=size,
        method=method,
        rating=mean,
        rating_sd=ratings.std(axis=0, ddof=1) if has_spread else np.zeros(len(mean)),
        rank=_rank(mean),
        full_rank=_rank(full),
        rho=float(rho.mean()) if has_order else None,
        rho_sd=(float(rho.std(ddof=1)) if has_spread else 0.0) if has_order else None,
    )
