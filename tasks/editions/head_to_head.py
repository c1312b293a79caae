"""Candidates side by side on the questions that both sat: who has more stars on how many, and how many in all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.statistics.cells import Codes, Floats, StarRows
from tasks.statistics.score import compute_means


@dataclass(frozen=True)
class HeadToHead:
    """One element for each pair of candidates, in the order given.

    Attributes:
        first_wins, second_wins, ties: common questions by who has more stars, repeats averaged.
        first_stars, second_stars: stars on the common questions, repeats averaged.
    """

    first_wins: Codes
    second_wins: Codes
    ties: Codes
    first_stars: Floats
    second_stars: Floats


def count_wins(rows: StarRows, candidate_count: int, first: Codes, second: Codes) -> HeadToHead:
    """Compare the candidates of each pair question by question; all pairs of one first candidate at once."""
    question_count = int(rows.question.max(initial=-1)) + 1
    cell = rows.candidate * question_count + rows.question
    size = candidate_count * question_count
    mean, _ = compute_means(cell, rows.stars, size)
    stars = mean.reshape(candidate_count, question_count)
    columns = {
        name: np.zeros(len(first))
        for name in ("first_wins", "second_wins", "ties", "first_stars", "second_stars")
    }
    for code in np.unique(first):
        at = np.flatnonzero(first == code)
        # Only the questions that the first one sat can be common.
        sat = np.flatnonzero(~np.isnan(stars[code]))
        own = stars[code, sat]
        theirs = stars[np.ix_(second[at], sat)]
        is_common = ~np.isnan(theirs)
        columns["first_wins"][at] = (own > theirs).sum(axis=1)
        columns["second_wins"][at] = (own < theirs).sum(axis=1)
        columns["ties"][at] = (own == theirs).sum(axis=1)
        columns["first_stars"][at] = np.where(is_common, own, 0.0).sum(axis=1)
        columns["second_stars"][at] = np.where(is_common, theirs, 0.0).sum(axis=1)
    return HeadToHead(
        first_wins=columns["first_wins"].astype(np.int64),
        second_wins=columns["second_wins"].astype(np.int64),
        ties=columns["ties"].astype(np.int64),
        first_stars=columns["first_stars"],
        second_stars=columns["second_stars"],
    )
