"""Would fewer comparisons have given the same order: parts drawn repeatedly and rated.

Every list of a judge compares all pairs of answers on it. A replay draws a share of these comparisons without replacement
(League of LLMs, section 8: 1% to 50%, 100 times), rates the candidates by Elo or Bradley-Terry, and compares the order with that
of all scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from schemas.errors import UsageError
from tasks.statistics.cells import Codes, Floats
from tasks.statistics.ratings.elo import compute_bradley_terry, play_elo

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
REPEATS = 100
METHODS = ("bradley_terry", "elo")
# Elo is a step for each comparison: beyond so many in a sample only Bradley-Terry is replayed, which needs their counts alone.
MOST_ELO_GAMES = 20_000
_MOST_ELO_POOL = 1_000_000


class Outcomes(NamedTuple):
    """All comparisons, counted.

    Attributes:
        wins: lists on which one candidate stands above another, as candidates x candidates.
        ties: lists on which both stand alike, symmetric.
    """

    wins: Codes
    ties: Codes


@dataclass(frozen=True)
class Replay:
    """What replays of one share came to.

    Attributes:
        method: one of `METHODS`.
        share: of all comparisons that is drawn.
        game_count: comparisons in a sample.
        rho: mean rank correlation with the order by all scores; a sample that leaves all equal counts 0.
        rho_sd: its standard deviation over the samples.
        rho_low, rho_high: between which 95% of the samples lie.
        same_order_rate: share of the samples with exactly the order by all scores.
    """

    method: str
    share: float
    game_count: int
    repeat_count: int
    rho: float
    rho_sd: float
    rho_low: float
    rho_high: float
    same_order_rate: float


def count_outcomes(lists: Floats) -> Outcomes:
    """Wins and ties of every pair; `lists` are scores, lists x candidates, NaN for the absent."""
    count = lists.shape[1]
    wins, ties = np.zeros((count, count), dtype=np.int64), np.zeros((count, count), dtype=np.int64)
    for code in range(count):
        own = lists[:, code, None]
        wins[code] = (own > lists).sum(axis=0)
        ties[code] = (own == lists).sum(axis=0)
    np.fill_diagonal(ties, 0)
    return Outcomes(wins, ties)


def compute_replays(
    lists: Floats,
    scores: Floats,
    generator: np.random.Generator,
    *,
    shares: Sequence[float] = SHARES,
    repeats: int = REPEATS,
) -> list[Replay]:
    """Replays of each share by both methods; Elo only up to `MOST_ELO_GAMES` in a sample.

    `scores` gives the order that is to be found again. Raises UsageError for a share outside 0 to 1, fewer than three
    candidates, scores that are all alike, and lists of one candidate each: there is no order then.
    """
    if wrong := [share for share in shares if not 0 < share <= 1]:
        raise UsageError(f"A share of comparisons lies above 0 and at most at 1, not {wrong[0]}.")
    if len(scores) < 3 or len(np.unique(np.round(scores, 9))) < 2 or repeats < 1:
        raise UsageError("Replays need three candidates that do not all score alike, and one repeat or more.")
    outcomes = count_outcomes(lists)
    pool_size = int(outcomes.wins.sum() + outcomes.ties.sum() // 2)
    if not pool_size:
        raise UsageError("No list holds two candidates: there is no comparison to draw.")
    found = []
    for share in shares:
        games = max(1, round(share * pool_size))
        wins = _draw_wins(outcomes, games, repeats, generator)
        found.append(_describe("bradley_terry", share, games, compute_bradley_terry(wins), scores))
    if pool_size <= _MOST_ELO_POOL:
        first, second, outcome = _list_games(lists)
        for share in shares:
            games = max(1, round(share * pool_size))
            if games > MOST_ELO_GAMES:
                continue
            drawn = np.stack([generator.permutation(pool_size)[:games] for _ in range(repeats)])
            ratings = play_elo(first[drawn], second[drawn], outcome[drawn], len(scores))
            found.append(_describe("elo", share, games, ratings, scores))
    return found


def rank_rows(values: Floats) -> Floats:
    """Ranks within each row, ties at their mean rank."""
    from scipy.stats import rankdata

    # What differs in the last bits only is equal.
    return np.asarray(rankdata(np.round(values, 9), axis=-1), dtype=float)


def _draw_wins(outcomes: Outcomes, games: int, repeats: int, generator: np.random.Generator) -> Floats:
    """Wins by sample (samples x candidates x candidates), drawn by kind of comparison."""
    count = len(outcomes.wins)
    upper = np.triu_indices(count, 1)
    kinds = np.concatenate([outcomes.wins.ravel(), outcomes.ties[upper]])
    drawn = generator.multivariate_hypergeometric(kinds, games, size=repeats, method="marginals")
    wins = drawn[:, : count * count].reshape(repeats, count, count).astype(float)
    halves = drawn[:, count * count :] / 2
    wins[:, upper[0], upper[1]] += halves
    wins[:, upper[1], upper[0]] += halves
    return wins


def _list_games(lists: Floats) -> tuple[Codes, Codes, Floats]:
    """Every comparison by itself: first, second, and 1, 0.5 or 0 for the first."""
    firsts, seconds, outcomes = [], [], []
    for first, second in zip(*np.triu_indices(lists.shape[1], 1), strict=True):
        both = ~np.isnan(lists[:, first]) & ~np.isnan(lists[:, second])
        sign = np.sign(lists[both, first] - lists[both, second])
        firsts.append(np.full(len(sign), first))
        seconds.append(np.full(len(sign), second))
        outcomes.append((sign + 1) / 2)
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(outcomes)


def _describe(method: str, share: float, games: int, ratings: Floats, scores: Floats) -> Replay:
    """What the samples' ratings (samples x candidates) make of the order by `scores`."""
    order = rank_rows(scores[None, :])[0]
    places = rank_rows(ratings)
    centred, full = places - places.mean(axis=1, keepdims=True), order - order.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = (centred @ full) / np.sqrt((centred**2).sum(axis=1) * (full**2).sum())
    rho = np.where(np.isnan(rho), 0.0, rho)
    low, high = np.quantile(rho, [0.025, 0.975])
    return Replay(
        method=method,
        share=share,
        game_count=games,
        repeat_count=len(ratings),
        rho=float(rho.mean()),
        rho_sd=float(rho.std(ddof=1)) if len(rho) > 1 else 0.0,
        rho_low=float(low),
        rho_high=float(high),
        same_order_rate=float((places == order).all(axis=1).mean()),
    )
