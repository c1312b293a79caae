"""The graded response model of all disciplines, from the answers of one edition or of all.

Questions that earlier editions of a scale published enter with their published numbers and errors: they link the answers to the
scale, and what a fit costs does not depend on how much came before. The first edition of a scale sets it: its origin is the mean
difficulty of its questions in each discipline, its unit their mean discrimination.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from schemas.errors import UsageError
from tasks.statistics.cells import Floats, sum_by
from tasks.statistics.items.chain import Chain, Draws
from tasks.statistics.items.graded_model import GradedRows, KnownQuestions, Scale

WARM_UP, DRAWS, EVERY = 200, 100, 4
_MOST_TOGETHER = 0.95  # a correlation of two errors; so few draws do not tell it from 1


@dataclass(frozen=True)
class GradedFit:
    """What was found, on the scale.

    Attributes:
        scale: thresholds and asymptotes; those of the scale where one was given.
        difficulty, difficulty_se, discrimination, discrimination_se: of each question; the errors of difficulties are about
            the edition's own mean. A question that is known keeps its published numbers.
        correlation: of the errors of difficulty and log discrimination, shape (questions,).
        is_known: questions that were published and link this fit, shape (questions,).
        is_moved: questions that were published but are no longer what they were; they were estimated again.
        shared: covariance of this edition's link with those of earlier ones and, last, its own variance, shape
            (disciplines, earlier editions + 1).
        answer_weight: answers that each question rests on, repeats of one as one.
        ceilings: how often each entry earns the stars on what it knows well, entries × stars.
        ability, ability_sd: mean and deviation of each entry's ability, entries × disciplines; NaN without answers.
        round_count: sweeps of the chain.
        draws: all of it, draw by draw.
    """

    scale: Scale
    difficulty: Floats
    difficulty_se: Floats
    discrimination: Floats
    discrimination_se: Floats
    correlation: Floats
    is_known: NDArray[np.bool_]
    is_moved: NDArray[np.bool_]
    shared: Floats
    answer_weight: Floats
    ceilings: Floats
    ability: Floats
    ability_sd: Floats
    round_count: int
    draws: Draws = field(repr=False)


def fit_graded_response(
    rows: GradedRows, *, known: KnownQuestions | None = None, scale: Scale | None = None, draws: int = DRAWS
) -> GradedFit:
    """The model of all disciplines; the same rows give the same numbers.

    `known` and `scale` come together, or neither: then the answers set a scale of their own. Raises UsageError for no rows, and
    for a discipline in which no question that is known was put again.
    """
    if not len(rows.stars):
        raise UsageError("There are no answers to fit. Give at least one judged answer of every discipline.")
    if (known is None) != (scale is None):
        raise UsageError("Known questions and the scale that they are on must be given together.")
    if known is not None:
        linked = np.bincount(
            rows.question_discipline, weights=known.is_known, minlength=rows.discipline_count
        )
        if not linked.all():
            raise UsageError(
                f"{int((linked == 0).sum())} disciplines have no question that was published before, so that nothing links them. "
                "Draw anchors, or fit all editions together."
            )
    found = Chain(rows, known, scale).run(WARM_UP, draws, EVERY)
    if scale is None:
        found = _put_on_scale(rows, found)
        scale = Scale(found.thresholds.mean(axis=0), found.asymptotes.mean(axis=0), found.passage_sd)
    else:
        is_new = np.isnan(scale.asymptotes)
        scale = replace(scale, asymptotes=np.where(is_new, found.asymptotes.mean(axis=0), scale.asymptotes))
    is_known = (
        np.zeros(rows.question_count, dtype=bool) if known is None else known.is_known & ~found.is_moved
    )
    difficulty_se, correlation, shared = _split_errors(rows, found, is_known, has_links=known is not None)
    difficulty, log_a = found.difficulty.mean(axis=0), found.log_discrimination.mean(axis=0)
    log_a_se = found.log_discrimination.std(axis=0, ddof=1)
    if known is not None:
        difficulty = np.where(is_known, known.difficulty, difficulty)
        difficulty_se = np.where(is_known, known.difficulty_se, difficulty_se)
        log_a = np.where(is_known, known.log_discrimination, log_a)
        log_a_se = np.where(is_known, known.log_discrimination_se, log_a_se)
        correlation = np.where(is_known, known.correlation, correlation)
    ability = np.full((2, rows.entry_count, rows.discipline_count), np.nan)
    ability[:, found.person_entry, found.person_discipline] = (
        found.ability.mean(axis=0),
        found.ability.std(axis=0, ddof=1),
    )
    return GradedFit(
        scale=scale,
        difficulty=difficulty,
        difficulty_se=difficulty_se,
        discrimination=np.exp(log_a),
        discrimination_se=np.exp(log_a) * log_a_se,
        correlation=correlation,
        is_known=is_known,
        is_moved=found.is_moved,
        shared=shared,
        answer_weight=sum_by(rows.question, rows.weight, rows.question_count),
        ceilings=found.ceilings.mean(axis=0),
        ability=ability[0],
        ability_sd=ability[1],
        round_count=WARM_UP + draws * EVERY,
        draws=found,
    )


def _put_on_scale(rows: GradedRows, found: Draws) -> Draws:
    """The same draws with difficulty and log discrimination 0 on average at home 0."""
    ability, difficulty = found.ability.copy(), found.difficulty.copy()
    log_a, thresholds = found.log_discrimination.copy(), found.thresholds.copy()
    is_form = (rows.question_home == 0) & (sum_by(rows.question, rows.weight, rows.question_count) > 0)
    for discipline in range(rows.discipline_count):
        questions = rows.question_discipline == discipline
        persons = found.person_discipline == discipline
        on_form = questions & is_form
        if not on_form.any():
            raise UsageError(
                "The first edition has no answer in one of the disciplines, so there is no scale."
            )
        origin = difficulty[:, on_form].mean(axis=1, keepdims=True)
        log_unit = log_a[:, on_form].mean(axis=1, keepdims=True)
        unit = np.exp(log_unit)
        difficulty[:, questions] = (difficulty[:, questions] - origin) * unit
        ability[:, persons] = (ability[:, persons] - origin) * unit
        log_a[:, questions] -= log_unit
        thresholds[:, discipline] *= unit
    return replace(
        found, ability=ability, difficulty=difficulty, log_discrimination=log_a, thresholds=thresholds
    )


def _split_errors(
    rows: GradedRows, found: Draws, is_known: NDArray[np.bool_], *, has_links: bool
) -> tuple[Floats, Floats, Floats]:
    """Errors of difficulties about their mean, how discriminations' go along, and the link's."""
    is_new = ~is_known & (has_links | (rows.question_home > 0))
    earlier = found.shared.shape[1]
    away = found.difficulty - found.difficulty.mean(axis=0)
    shared = np.zeros((rows.discipline_count, earlier + 1))
    for discipline in range(rows.discipline_count):
        mine = np.flatnonzero(is_new & (rows.question_discipline == discipline))
        if not len(mine):
            continue
        level = found.difficulty[:, mine].mean(axis=1)
        away[:, mine] -= (level - level.mean())[:, None]
        both = np.concatenate([found.shared[:, :, discipline], level[:, None]], axis=1)
        shared[discipline] = np.atleast_2d(np.cov(both.T))[-1]
    of_log_a = found.log_discrimination - found.log_discrimination.mean(axis=0)
    squares = np.sqrt((away**2).sum(axis=0) * (of_log_a**2).sum(axis=0))
    correlation = (away * of_log_a).sum(axis=0) / np.maximum(squares, 1e-9)
    errors = np.sqrt((away**2).sum(axis=0) / (len(away) - 1.0))
    return np.maximum(errors, 1e-3), np.clip(correlation, -_MOST_TOGETHER, _MOST_TOGETHER), shared
