"""Exams of a known truth, drawn with a seed, to see how often estimators are right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import StarRows
from tasks.statistics.items.graded_model import compute_chances

THRESHOLDS = np.array([-0.9, 0.0, 0.9])
_STARS = np.arange(4.0)
_BANK = 4_000


@dataclass(frozen=True)
class Month:
    """One edition and what S and R would be on the whole bank."""

    rows: StarRows
    score: NDArray[np.float64]
    relative: NDArray[np.float64]


def draw_chances(
    ability: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Chances of 0 to 3 stars, ability × question."""
    return compute_chances(ability[:, None] - b, a, THRESHOLDS, np.zeros(3))


def draw_stars(generator: np.random.Generator, chance: NDArray[np.float64]) -> NDArray[np.int64]:
    """One answer for each row of chances."""
    stars: NDArray[np.int64] = (
        generator.random((*chance.shape[:-1], 1)) > chance.cumsum(axis=-1)[..., :3]
    ).sum(axis=-1)
    return stars


def draw_bank(
    generator: np.random.Generator, size: int, centre: float, spread: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Discriminations and difficulties."""
    return np.exp(generator.normal(0, 0.3, size)), generator.normal(centre, spread, size)


def draw_month(
    seed: int,
    *,
    ability: NDArray[np.float64],
    disciplines: int = 10,
    questions: int = 100,
    repeats: int = 1,
    spread: float = 1.8,
    taste: float = 0.4,
    lineage_size: int = 1,
    set_count: int = 1,
    month: int = 0,
) -> Month:
    """Candidates sit sets drawn from a bank.

    `questions` are drawn of each discipline, the same for all who share a set.

    Candidates have stronger and weaker disciplines (`taste`, logits), `lineage_size` questions of one lineage are equally
    hard. Candidate c sits set c modulo `set_count`; sets have no lineage in common. Months of one seed share bank and
    abilities, not sets. Truth is the mean over the bank; R is relative to the last candidate.
    """
    generator = np.random.default_rng([seed, month])
    truth = np.zeros(len(ability))
    columns: list[list[NDArray[np.int64]]] = [[] for _ in range(6)]
    lineages = -(-questions // lineage_size)
    for discipline in range(disciplines):
        of_bank = np.random.default_rng([seed, discipline, 1])
        own = ability + of_bank.normal(0, taste, len(ability))
        a, b = draw_bank(of_bank, _BANK, 0.0, spread)
        chances = draw_chances(own, a, b)
        truth += chances.mean(axis=1) @ _STARS / disciplines
        drawn = generator.permutation(_BANK)
        for candidate in range(len(ability)):
            start = candidate % set_count * lineages
            lineage = np.repeat(drawn[start : start + lineages], lineage_size)[:questions]
            question = lineage * lineage_size + np.arange(questions) % lineage_size
            for repeat in range(repeats):
                parts = (
                    np.full(questions, candidate),
                    np.full(questions, discipline),
                    question + discipline * _BANK * lineage_size,
                    lineage + discipline * _BANK,
                    draw_stars(generator, chances[candidate, lineage]),
                    np.full(questions, repeat),
                )
                for column, part in zip(columns, parts, strict=True):
                    column.append(part)
    candidates, codes, numbers, lineage_codes, stars, turns = (np.concatenate(column) for column in columns)
    rows = StarRows(candidates, codes, numbers, lineage_codes, stars.astype(float), turns)
    score = truth / 3 * 100
    return Month(rows, score, score / score[-1] * 100)
