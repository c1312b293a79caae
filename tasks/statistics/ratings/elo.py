"""Ratings from pairwise comparisons.

Online Elo depends on the order of the comparisons; here it is the mean over shuffles, so that the order does not
matter. Bradley-Terry is the order-free maximum-likelihood form of the same model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ContractError, UsageError

START = 1000.0
SCALE = 400.0
K = 16.0
PRIOR = 0.1
# Of an entrant before any match: the mean of the others, give or take this much. It is soon outweighed, and keeps one who
# won or lost everything finite.
PRIOR_SPREAD = 600.0
_STEP_TOLERANCE = 1e-9
_MOST_STEPS = 200
_LONGEST_STEP = 1.0
_ENTRY_STEPS = 100
_Z = 1.959963984540054


def compute_expected_score(rating: NDArray[np.float64], opponent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability that `rating` beats `opponent` by Elo's formula (LLMEval-Fair, equation 3)."""
    return np.asarray(1.0 / (1.0 + 10.0 ** ((opponent - rating) / SCALE)))


def compute_bradley_terry(wins: NDArray[np.float64], *, prior: float = PRIOR) -> NDArray[np.float64]:
    """Ratings, mean 1000, from wins (`wins[…, i, j]`: i over j; a tie is half a win each).

    One matrix, or one for each sample, all of them at once by Newton's method. `prior` is added to every cell off the diagonal, so
    that a candidate that won or lost everything has a finite rating; 0 gives the plain maximum likelihood. Raises UsageError when
    that does not exist (some candidates were never beaten by the others), ContractError for other shapes or negative counts.
    """
    if wins.ndim < 2 or wins.shape[-2] != wins.shape[-1] or bool((wins < 0).any()):
        raise ContractError(f"Wins must be square matrices of counts from 0, not {wins.shape}.")
    count = wins.shape[-1]
    diagonal = np.arange(count)
    counts = wins + prior
    counts[..., diagonal, diagonal] = 0.0
    if prior <= 0 and not _are_connected(counts):
        raise UsageError(
            "The comparisons do not connect all candidates. Use a prior above 0, or add comparisons."
        )
    games = counts + counts.swapaxes(-1, -2)
    won = counts.sum(axis=-1)
    ability = np.zeros(wins.shape[:-1])
    for _ in range(_MOST_STEPS):
        expected = 1.0 / (1.0 + np.exp(ability[..., None, :] - ability[..., :, None]))
        gradient = won - (games * expected).sum(axis=-1)
        weight = games * expected * (1.0 - expected)
        # Abilities are fixed up to a constant: the matrix of ones keeps their sum at 0.
        information = 1.0 / count - weight
        information[..., diagonal, diagonal] += weight.sum(axis=-1)
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        ability += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _STEP_TOLERANCE))
        if float(longest.max(initial=0.0)) < _STEP_TOLERANCE:
            ability -= ability.mean(axis=-1, keepdims=True)
            return np.asarray(START + SCALE * ability / np.log(10.0))
    raise UsageError("Bradley-Terry ratings did not settle. Use a larger prior, or more comparisons.")


def _are_connected(counts: NDArray[np.float64]) -> bool:
    """Whether wins lead from each candidate to each other, in every matrix: ratings are finite."""
    reached = counts + np.eye(counts.shape[-1]) > 0
    for _ in range(counts.shape[-1].bit_length()):
        reached = reached @ reached
    return bool(reached.all())


@dataclass(frozen=True)
class EntryRating:
    """A rating on the Elo scale and its 95% interval."""

    rating: float
    low: float
    high: float


def compute_entry_rating(opponents: Sequence[float], results: Sequence[float]) -> EntryRating:
    """The most likely rating, given opponents' ratings and results (1 won, 0.5 equal, 0 lost).

    The model is Elo's (1 / (1 + 10^((opponent - rating) / 400))), with a normal prior around 1000. The interval is the
    normal one of the posterior's curvature: it takes matches for independent, and opponents' ratings for known.
    """
    if len(opponents) != len(results):
        raise ContractError("opponents and results must be of one length.")
    slope = math.log(10) / SCALE
    rating = START
    for _ in range(_ENTRY_STEPS):
        gradient = (START - rating) / PRIOR_SPREAD**2
        information = 1 / PRIOR_SPREAD**2
        for opponent, result in zip(opponents, results, strict=True):
            expected = 1.0 / (1.0 + 10.0 ** ((opponent - rating) / SCALE))
            gradient += slope * (result - expected)
            information += slope**2 * expected * (1.0 - expected)
        # A step is bounded: far from the opponents the curve is nearly flat.
        step = max(-SCALE, min(SCALE, gradient / information))
        rating += step
        if abs(step) < _STEP_TOLERANCE:
            break
    half = _Z / math.sqrt(information)
    return EntryRating(rating, rating - half, rating + half)


def play_elo(
    first: NDArray[np.int64], second: NDArray[np.int64], outcome: NDArray[np.float64], candidate_count: int
) -> NDArray[np.float64]:
    """Ratings, replays x candidates, after games (replays x games) in their order."""
    replays, games = first.shape
    ratings = np.full((replays, candidate_count), START)
    rows = np.arange(replays)
    for game in range(games):
        a, b = first[:, game], second[:, game]
        change = K * (outcome[:, game] - compute_expected_score(ratings[rows, a], ratings[rows, b]))
        ratings[rows, a] += change
        ratings[rows, b] -= change
    return ratings


def compute_round_elo(
    matrix: NDArray[np.float64], samples: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Online Elo ratings on each sample of questions: all pairs meet once on every question.

    `matrix` holds stars as candidates x questions, `samples` the questions of each sample as samples x size; more stars
    win, equal ones tie. Returned are ratings as samples x candidates. On a question the pairs meet in rounds in which each
    candidate plays at most once; the rounds of all questions are shuffled, and so are the candidates' seats. Games of a
    round do not touch each other, so that a round is one step: 60 candidates on 1,000 questions are 59,000 steps, not
    1.77 million.
    """
    count = len(matrix)
    home, away = _seat_rounds(count)
    rounds, size = len(home), samples.shape[1]
    steps = rounds * size
    seats = np.stack([generator.permutation(count) for _ in samples])
    orders = np.stack([generator.permutation(steps) for _ in samples])
    ratings = np.full((len(samples), count), START)
    rows = np.arange(len(samples))[:, None]
    for step in range(steps):
        question, at = np.divmod(orders[:, step], rounds)
        a, b = seats[rows, home[at]], seats[rows, away[at]]
        asked = samples[rows, question[:, None]]
        outcome = (np.sign(matrix[a, asked] - matrix[b, asked]) + 1) / 2
        change = K * (outcome - compute_expected_score(ratings[rows, a], ratings[rows, b]))
        ratings[rows, a] += change
        ratings[rows, b] -= change
    return ratings


def _seat_rounds(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Seats on either side of a round robin (circle method), rounds x games; an odd one rests."""
    even = count + count % 2
    turning = np.arange(1, even)
    rounds = []
    for turn in range(even - 1):
        circle = np.concatenate([[0], np.roll(turning, turn)])
        rounds.append(np.stack([circle[: even // 2], circle[even // 2 :][::-1]]))
    games = np.stack(rounds)
    if even != count:
        games = np.stack([game[:, (game < count).all(axis=0)] for game in games])
    return games[:, 0], games[:, 1]
