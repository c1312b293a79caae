"""The chance level of a set: what the best answer that is always the same would get.

A score corrected for chance is the share of what is above that level, as kappa is of agreement (Cohen 1960) and the correction for
guessing is of a test (Lord and Novick 1968, chapter 14).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tasks.statistics.cells import Codes, Floats, check_weights
from tasks.statistics.score import FULL_SCORE, MOST_STARS

# A right answer with no reason that holds (the scale of the stars, LLMEval-Fair, figure 11).
STARS_WITHOUT_REASON: Final = 2


@dataclass(frozen=True)
class ChanceLevel:
    """What the best blind answers get, 0 to 100.

    Attributes:
        rules: the best rule of each kind of question, in the order of kinds.
        score: over all disciplines in their weights; NaN where one has no question.
        by_discipline: in each, shape (disciplines,); NaN without a question.
    """

    rules: tuple[str, ...]
    score: float
    by_discipline: Floats


def compute_chance(
    discipline: Codes, kind: Sequence[str], right: Sequence[frozenset[str]], weights: ArrayLike
) -> ChanceLevel:
    """The chance level of a set of questions, given with their disciplines' codes.

    `kind` is what a question is answered by, `right` the rules that answer it right. Of each kind the one rule counts that earns
    most over the whole set; of rules that earn the same, the first in the alphabet.
    """
    shares = check_weights(weights)
    counts = np.bincount(discipline, minlength=len(shares)).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = (shares / counts)[discipline]
    chosen: dict[str, str] = {}
    for one in sorted(set(kind)):
        places = [place for place, name in enumerate(kind) if name == one]
        rules = sorted(set().union(*(right[place] for place in places)))
        if rules:
            earned = {rule: sum(each[place] for place in places if rule in right[place]) for rule in rules}
            chosen[one] = max(rules, key=lambda rule: earned[rule])
    is_right = np.array(
        [chosen.get(name) in rules for name, rules in zip(kind, right, strict=True)], dtype=float
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.bincount(discipline, weights=is_right, minlength=len(shares)) / counts
    by_discipline = share * STARS_WITHOUT_REASON / MOST_STARS * FULL_SCORE
    counted = shares > 0
    return ChanceLevel(
        tuple(chosen.values()), float((by_discipline[counted] * shares[counted]).sum()), by_discipline
    )


def correct_for_chance(score: ArrayLike, chance: ArrayLike) -> Floats:
    """Scores as a share of what lies above chance, 100 at most; below 0 where it gives more."""
    level = np.asarray(chance, dtype=float)
    return np.asarray((np.asarray(score, dtype=float) - level) / (FULL_SCORE - level) * FULL_SCORE)
