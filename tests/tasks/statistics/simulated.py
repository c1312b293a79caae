"""Exams whose truth is known, to see how often estimators are right.

They are drawn with a seed. Nothing here is a real question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import StarRows
from tasks.statistics.items.graded_model import GradedRows, compute_curves

THRESHOLDS = np.array([-0.9, 0.0, 0.9])
_STARS = np.arange(4.0)
_BANK = 4_000


@dataclass(frozen=True)
class Month:
    """One edition and what S and R would be on the whole bank."""

    rows: StarRows
    score: NDArray[np.float64]
    relative: NDArray[np.float64]


@dataclass(frozen=True)
class Season:
    """Several seasons of one discipline.

    `score` is the expected score (0 to 10) on the first season's bank.

    `form_score` is that on the first season's questions, `own_bank` on the bank of the entry's own season.
    """

    rows: GradedRows
    score: NDArray[np.float64]
    form_score: NDArray[np.float64]
    own_bank: NDArray[np.float64]
    discrimination: NDArray[np.float64]
    difficulty: NDArray[np.float64]


def draw_chances(
    ability: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Chances of 0 to 3 stars, ability × question."""
    return compute_curves(ability[:, None], a[None, :], b[None, :], THRESHOLDS).chance


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


def draw_seasons(
    generator: np.random.Generator,
    ability: NDArray[np.float64],
    *,
    questions: int = 100,
    anchor_share: float = 0.2,
    harder: float = 0.15,
    spread: float = 1.8,
    first_sets: int = 1,
) -> Season:
    """One discipline over the seasons of `ability`.

    `ability` is candidates × seasons; the last candidate is the reference.

    Each season has one set, the first one `first_sets` of which a candidate sits one: new questions and anchors from earlier
    sets. The reference keeps its ability, answers every new question once, and is one entry; every other candidate is an
    entry in each season.
    """
    candidates, seasons = ability.shape
    centres = harder * np.arange(seasons)
    a, b, season = np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64)
    columns: list[list[NDArray[np.int64]]] = [[], [], []]
    for number, own_set in [(0, one) for one in range(first_sets)] + [(one, -1) for one in range(1, seasons)]:
        anchors = round(questions * anchor_share) if len(a) else 0
        new = len(a) + np.arange(questions - anchors)
        asked = np.concatenate([new, generator.choice(len(a), anchors, replace=False)]) if anchors else new
        bank = draw_bank(generator, len(new), centres[number], spread)
        a, b = (np.concatenate([before, more]) for before, more in zip((a, b), bank, strict=True))
        season = np.concatenate([season, np.full(len(new), number)])
        for candidate in range(candidates):
            is_reference = candidate == candidates - 1
            if not is_reference and own_set not in (-1, candidate % first_sets):
                continue
            those = new if is_reference else asked
            chance = draw_chances(ability[[candidate], number], a[those], b[those])[0]
            entry = candidate * seasons + (0 if is_reference else number)
            columns[0].append(np.full(len(those), entry))
            columns[1].append(those)
            columns[2].append(draw_stars(generator, chance))
    entry, question, stars = (np.concatenate(column) for column in columns)
    is_first = season == 0
    form_chances = draw_chances(ability.ravel(), a[is_first], b[is_first])
    on_banks = [_expect_on_bank(ability, centre, spread) for centre in centres]
    score = on_banks[0].ravel()
    form_score = form_chances.mean(axis=1) @ _STARS / 3 * 10
    own_bank = np.stack([on_banks[number][:, number] for number in range(seasons)], axis=1).ravel()
    rows = GradedRows(
        entry=entry,
        question=question,
        stars=stars,
        weight=np.ones(len(entry)),
        entry_edition=np.tile(np.arange(seasons), candidates),
        question_season=season,
        question_lineage=np.arange(len(season)),
    )
    return Season(rows, score, form_score, own_bank, a, b)


def _expect_on_bank(ability: NDArray[np.float64], centre: float, spread: float) -> NDArray[np.float64]:
    """Expected score (0 to 10) on the whole of what `draw_bank` draws from.

    It is computed by quadrature over both parameters.
    """
    places, shares = np.polynomial.hermite_e.hermegauss(31)
    steep, steep_shares = np.polynomial.hermite_e.hermegauss(5)
    a, b = (
        part.ravel() for part in np.meshgrid(np.exp(0.3 * steep), centre + spread * places, indexing="ij")
    )
    weights = np.outer(steep_shares, shares).ravel()
    stars = draw_chances(ability.ravel(), a, b) @ _STARS
    means: NDArray[np.float64] = (stars @ weights / weights.sum() / 3 * 10).reshape(ability.shape)
    return means
