"""Do judges put the same candidates into their top k: their overlap, beside that of chance.

A judge does not judge its own answer, and the asker of a question has no answer to it: lists differ in whom they hold. So
even judges at random overlap a good deal, and no overlap says anything without its chance level (League of LLMs prints
70.7% for k = 4 of 8; chance gives 56.0%).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Floats
from tasks.statistics.league.mean_interval import RESAMPLES, compute_mean_interval


@dataclass(frozen=True)
class Overlap:
    """The overlap of the judges' top k over several rounds.

    Attributes:
        k: how many candidates the top holds.
        overlap: mean share of the top k that two judges have in common, 0 to 1.
        low, high: its 95% percentile-bootstrap interval over rounds; null for a single round.
        run_low, run_high: the same over the means of independent runs; null for a single run.
        chance: what judges would overlap that put their lists in random order.
        above_chance: (overlap - chance) / (1 - chance); null where chance is 1.
        round_count, run_count: rounds and runs that have at least two lists.
    """

    k: int
    overlap: float
    low: float | None
    high: float | None
    run_low: float | None
    run_high: float | None
    chance: float
    above_chance: float | None
    round_count: int
    run_count: int


def compute_overlaps(lists: Floats) -> Floats:
    """Overlap for every k of a round, (answers,); NaN where fewer than two judges have a list.

    `lists` holds scores as judges x answers, NaN where a judge did not judge an answer; more is better. For each pair of
    judges |top k of one ∩ top k of the other| / k, and the mean over pairs. What a judge did not judge ranks below all that
    it did. Candidates that a judge scored alike share their places evenly, so that no order of rows decides; the overlap is
    then that to be expected if each judge drew lots.
    """
    held = lists[~np.isnan(lists).all(axis=1)]
    judges, answers = held.shape
    if judges < 2:
        return np.full(answers, np.nan)
    ks = np.arange(1, answers + 1)
    share = np.stack([_share_places(one, ks) for one in held])
    # Over all pairs: ((sum of judges)² - sum of squares) / 2, for each answer and k.
    common = (share.sum(axis=0) ** 2 - (share**2).sum(axis=0)).sum(axis=0) / 2
    return np.asarray(common / ks / (judges * (judges - 1) / 2))


def compute_chance(lists: Floats) -> Floats:
    """Exact overlap for every k of judges that put the same lists in random order."""
    return compute_overlaps(np.where(np.isnan(lists), np.nan, 0.0))


def compute_consistency(
    rounds: Sequence[Floats],
    runs: Sequence[int],
    generator: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> list[Overlap]:
    """One overlap for every k that each round has, of its run; rounds without lists left out."""
    whole = [
        (one, run) for one, run in zip(rounds, runs, strict=True) if (~np.isnan(one).all(axis=1)).sum() > 1
    ]
    if not whole:
        return []
    most = min(one.shape[1] for one, _ in whole)
    found = np.stack([compute_overlaps(one)[:most] for one, _ in whole])
    chance = np.stack([compute_chance(one)[:most] for one, _ in whole]).mean(axis=0)
    run = np.array([run for _, run in whole])
    return [
        _describe(k, found[:, k - 1], run, float(chance[k - 1]), generator, resamples)
        for k in range(1, most + 1)
    ]


def _share_places(scores: Floats, ks: NDArray[np.int64]) -> Floats:
    """How much of a place in the top k each answer has, answers x k: 0, 1 or an equal's share."""
    value = np.where(np.isnan(scores), -np.inf, scores)
    better = (value[None, :] > value[:, None]).sum(axis=1)
    equal = (value[None, :] == value[:, None]).sum(axis=1)
    return np.asarray(np.clip((ks[None, :] - better[:, None]) / equal[:, None], 0.0, 1.0))


def _describe(
    k: int,
    found: Floats,
    run: NDArray[np.int64],
    chance: float,
    generator: np.random.Generator,
    resamples: int,
) -> Overlap:
    over_rounds = compute_mean_interval(found, generator, resamples=resamples)
    means = np.array([found[run == one].mean() for one in np.unique(run)])
    over_runs = compute_mean_interval(means, generator, resamples=resamples)
    overlap = float(found.mean())
    return Overlap(
        k=k,
        overlap=overlap,
        low=over_rounds.low,
        high=over_rounds.high,
        run_low=over_runs.low,
        run_high=over_runs.high,
        chance=chance,
        above_chance=(overlap - chance) / (1 - chance) if chance < 1 - 1e-12 else None,
        round_count=len(found),
        run_count=len(means),
    )
