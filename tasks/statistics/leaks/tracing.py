"""Which organisation, or coalition of up to three, a leaked text came from.

The likelihood is that of the size principle (Tenenbaum & Griffiths 2001, Behavioral and Brain Sciences 24): a leak is drawn from
what its source has met, so that who has met less and still has met all of it is the likelier source. A member of a coalition
gives each question with equal probability, as in the symmetric collusion of fingerprinting codes (Tardos 2003). Nobody of them
being the source is a hypothesis of its own, with a prior so high that innocence is bounded by Markov's inequality: sets are drawn
without regard to what leaks, so that the likelihood ratio of a coalition of innocent organisations against nobody is at most 1 on
average, and the chance that any is accused is at most (1 - PRIOR_NOBODY) / PRIOR_NOBODY * (1 - ACCUSED) / ACCUSED = 0.00088.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Floats

PRIOR_NOBODY: Final = 0.92
# Shared out equally over the coalitions of one, of two and of three organisations.
PRIOR_SIZES: Final = (0.06, 0.015, 0.005)
ACCUSED: Final = 0.99
# So many coalitions are given back.
SHOWN: Final = 10
# Cells (coalitions times questions) that are computed at most for coalitions of three.
_MOST_CELLS = 100_000_000


@dataclass(frozen=True)
class Suspicion:
    """What a leak says of who it came from: probabilities, given the assumptions of this module.

    Attributes:
        nobody: that none of the organisations is the source.
        members: by organisation, that it is the source or one of its coalition; shape (organisations,).
        coalitions: places of the members and probability, the likeliest first, beginning with coalitions of one.
        left_out: organisations that are in no coalition of three, because there would be too many to compute.
    """

    nobody: float
    members: Floats
    coalitions: Sequence[tuple[tuple[int, ...], float]]
    left_out: int


def trace_leak(held: NDArray[np.bool_], sizes: Floats, background: Floats, noise: Floats) -> Suspicion:
    """The probability of each organisation and coalition.

    Args:
        held: whether an organisation has met a question of the leak, shape (organisations, questions).
        sizes: how many questions each organisation has met, shape (organisations,).
        background: the chance of each question where the leak came from somewhere else, shape (questions,). Where the average
            organisation's chance to have it, by a question that it met, is not above this, the bound of the module holds.
        noise: the chance that a question is not from its source but matched wrongly or added, shape (questions,).
    """
    count = len(sizes)
    ratios = np.where(held, 1.0 / np.maximum(sizes, 1.0)[:, None], 0.0) / background
    hits = np.flatnonzero(held.any(axis=1))
    best = hits[np.argsort(-_weigh(ratios[hits], noise), kind="stable")] if len(hits) else hits
    three = best[: _count_affordable(len(best), held.shape[1])]
    log_priors = [
        log(share) - log(max(1, comb(count, size))) for size, share in enumerate(PRIOR_SIZES, start=1)
    ]
    groups = [
        (np.arange(count)[:, None], log_priors[0]),
        (np.array(list(combinations(range(count), 2)), dtype=np.int64).reshape(-1, 2), log_priors[1]),
        (
            np.array(list(combinations(sorted(three.tolist()), 3)), dtype=np.int64).reshape(-1, 3),
            log_priors[2],
        ),
    ]
    weights = [_weigh_coalitions(ratios, members, noise) + prior for members, prior in groups]
    every = np.concatenate([[log(PRIOR_NOBODY)], *weights])
    chances = np.exp(every - every.max())
    chances /= chances.sum()
    members = np.zeros(count)
    start = 1
    for coalition, _ in groups:
        part = chances[start : start + len(coalition)]
        start += len(coalition)
        np.add.at(members, coalition, part[:, None])
    order = np.argsort(-chances[1:], kind="stable")[:SHOWN] + 1
    bounds = np.cumsum([1, *(len(coalition) for coalition, _ in groups)])
    found = []
    for place in order.tolist():
        size = int(np.searchsorted(bounds, place, side="right")) - 1
        row = groups[size][0][place - bounds[size]]
        found.append((tuple(int(member) for member in row), float(chances[place])))
    return Suspicion(float(chances[0]), np.minimum(members, 1.0), found, len(hits) - len(three))


def _weigh(ratios: Floats, noise: Floats) -> Floats:
    """Logarithm of the likelihood against nobody, a value for each row."""
    found: Floats = np.log((1.0 - noise) * ratios + noise).sum(axis=-1)
    return found


def _weigh_coalitions(ratios: Floats, coalitions: NDArray[np.int64], noise: Floats) -> Floats:
    """The same for coalitions (a row of places each), some thousands at once."""
    found = np.empty(len(coalitions))
    step = max(1, 4_000_000 // max(1, ratios.shape[1]))
    for start in range(0, len(coalitions), step):
        some = coalitions[start : start + step]
        mixed = ratios[some[:, 0]]
        for column in range(1, some.shape[1]):
            mixed = mixed + ratios[some[:, column]]
        found[start : start + step] = _weigh(mixed / some.shape[1], noise)
    return found


def _count_affordable(organisations: int, questions: int) -> int:
    most = organisations
    while most > 3 and comb(most, 3) * max(1, questions) > _MOST_CELLS:
        most -= 1
    return most
