"""The sets of the simulated years: two a month, linked by anchors.

There is one for each half of the organisations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from schemas.vocabulary import EXAMINED_DISCIPLINES
from tests.benchmarks.history_rows import number_uuid

ANCHOR_SHARE = 0.2
_CODES = len(EXAMINED_DISCIPLINES)


@dataclass(frozen=True)
class Asked:
    """A set of one month: the numbers of its questions, and which were asked before."""

    set_id: str
    set_number: int
    numbers: np.ndarray
    is_anchor: np.ndarray


class SetDrawer:
    """Draws the sets of one month after another.

    No half of the organisations meets a question twice.

    Takes the questions of a set, a multiple of ten.
    """

    def __init__(self, questions: int, random: np.random.Generator) -> None:
        self.questions = questions
        self._random = random
        self._next_new = 0
        # Of each half: questions that it has met and the other one has not.
        self._met_alone = [np.zeros(0, dtype=np.int64)] * 2

    def draw_sets(self, number: int) -> list[Asked]:
        """Both sets of a month.

        A fifth of each was asked of the other organisations before; disciplines have the same share.
        """
        per_code = self.questions // _CODES
        drawn = []
        for group in range(2):
            met = self._met_alone[1 - group]
            taken = np.zeros(0, dtype=np.int64)
            if len(met):
                share = int(per_code * ANCHOR_SHARE)
                taken = np.concatenate(
                    [
                        self._random.choice(met[met % _CODES == code], share, replace=False)
                        for code in range(_CODES)
                    ]
                )
            new = self._next_new + np.arange(self.questions - len(taken))
            self._next_new += len(new)
            numbers = np.concatenate([taken, new])
            set_number = 2 * number + group + 1
            drawn.append(
                Asked(f"set-{set_number}", set_number, numbers, np.arange(len(numbers)) < len(taken))
            )
        # Only now: the sets of one month, of which the reference sits both, share no question.
        for group in range(2):
            taken = drawn[1 - group].numbers[drawn[1 - group].is_anchor]
            left = self._met_alone[group][~np.isin(self._met_alone[group], taken)]
            self._met_alone[group] = np.concatenate([left, drawn[group].numbers[~drawn[group].is_anchor]])
        return drawn


def describe_set(asked: Asked) -> pl.DataFrame:
    """Rows of `sets` with their landing unit."""
    return pl.DataFrame(
        {
            "question_uuid": [number_uuid(one) for one in asked.numbers],
            "lineage_uuid": [number_uuid(one) for one in asked.numbers],
            "discipline": [EXAMINED_DISCIPLINES[one % _CODES] for one in asked.numbers],
            "is_anchor": asked.is_anchor,
        }
    ).with_columns(
        set_id=pl.lit(asked.set_id), set_number=pl.lit(asked.set_number, dtype=pl.Int64), season=pl.lit("1"),
        bank_version=pl.lit(1, dtype=pl.Int64), landing_unit=pl.lit(asked.set_id),
    )  # fmt: skip
