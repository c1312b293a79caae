"""Ranks with their error: possible ranks and groups, from pairs that were told together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ContractError
from tasks.statistics.cells import Codes, Floats
from tasks.statistics.scores.together import ERROR_RATE


@dataclass(frozen=True)
class Ranks:
    """Ranks of the candidates, shape (candidates,); 0 for one without S, which has no rank.

    Attributes:
        rank: place by S, the best is 1; equal S share the better place.
        lowest, highest: the rank range [1 + candidates that are better for certain, all - candidates that are worse for
            certain]; `lowest` is the better end.
        group: 1 is the best. Whoever stands in a lower group is distinguishable from the best of every higher group. A
            group ends after the last candidate that cannot be told from its best.
        is_distinct: (candidates, candidates), the two differ after Holm's correction.
    """

    rank: Codes
    lowest: Codes
    highest: Codes
    group: Codes
    is_distinct: NDArray[np.bool_]


def compute_ranks(score: Floats, first: Codes, second: Codes, difference: Floats, adjusted: Floats) -> Ranks:
    """Ranks, rank ranges and groups from all pairs of an edition.

    `score` is S of each candidate, NaN where there is none; `difference` is first minus second, `adjusted` their p-values
    after `compute_holm`. Groups are runs of the order by S: the best opens a group, and the group ends after the last
    candidate that cannot be told from it. As every border rests on rejected pairs alone, at most `ERROR_RATE` of editions
    draw a border between equals. Raises ContractError for pairs that do not fit.
    """
    count = len(score)
    lengths = {len(first), len(second), len(difference), len(adjusted)}
    if len(lengths) != 1 or (len(first) and max(int(first.max()), int(second.max())) >= count):
        raise ContractError(
            "Pairs, differences and p-values must be of one length and name known candidates."
        )
    is_ranked = ~np.isnan(score)
    is_rejected = (adjusted <= ERROR_RATE) & (difference != 0)
    is_distinct = np.zeros((count, count), dtype=bool)
    is_better = np.zeros((count, count), dtype=bool)
    winner = np.where(difference > 0, first, second)[is_rejected]
    loser = np.where(difference > 0, second, first)[is_rejected]
    is_better[winner, loser] = True
    is_better &= is_ranked[:, None] & is_ranked[None, :]
    is_distinct |= is_better | is_better.T
    # What differs in the last bits only is equal: the same disciplines' means in another order add up to another sum.
    filled = np.where(is_ranked, np.round(score, 9), -np.inf)
    rank = 1 + (filled[None, :] > filled[:, None]).sum(axis=1)
    lowest = 1 + is_better.sum(axis=0)
    highest = int(is_ranked.sum()) - is_better.sum(axis=1)
    return Ranks(
        rank=np.where(is_ranked, rank, 0),
        lowest=np.where(is_ranked, lowest, 0),
        highest=np.where(is_ranked, highest, 0),
        group=_compute_groups(filled, is_ranked, is_better),
        is_distinct=is_distinct,
    )


def _compute_groups(score: Floats, is_ranked: NDArray[np.bool_], is_better: NDArray[np.bool_]) -> Codes:
    """Number of each candidate's group, 0 for one without a rank."""
    order = np.argsort(-score, kind="stable")
    order = order[is_ranked[order]]
    group = np.zeros(len(score), dtype=np.int64)
    start, number = 0, 0
    while start < len(order):
        number += 1
        alike = np.flatnonzero(~is_better[order[start], order[start:]])
        end = start + int(alike[-1]) + 1
        group[order[start:end]] = number
        start = end
    return group
