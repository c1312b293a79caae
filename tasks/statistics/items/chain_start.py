"""Where a chain over the graded response model starts, and how far its steps reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Codes, Floats, sum_by
from tasks.statistics.items.graded_model import GradedRows, KnownQuestions, Scale, from_steps

# Bounds of log discrimination: beyond them a question says nothing, or everything by itself.
LEAST_LOG_A, MOST_LOG_A = float(np.log(0.25)), float(np.log(4.0))
_FARTHEST = 8.0  # logits that an ability may lie from 0 at the start
_TO_LOGIT = 1.3  # mean logits of stars vary less than the abilities behind them
_TURNS = 12
_SAME_SET = 0.6  # share of an entry's new questions that a group has sat, and it belongs to it
_CEILING = 1.5  # log odds of one more star on what is known well, at the start
_INFORMATION = (
    0.35  # of an answer of usual discrimination whose place is the question's; steps adapt from there
)
_ABILITY_REACH, _QUESTION_REACH = 2.4, 1.7  # of a step, in standard errors, for one and two parameters
_OF_CHANCE = 0.5  # deviation of the log odds of a right guess about those of one among the options
_UNKNOWN_CHANCE = (0.1, 1.0)  # where the options are not known: its middle, and that deviation


@dataclass(frozen=True)
class Layout:
    """The answers as a chain passes over them: those between two thresholds first.

    A person is an entry in one discipline. `passage` is a code of person and passage for each row, `passage_count` for what is
    in no passage of two questions or more. A group is a set with those who sat it, -1 stands for what is known.
    """

    question: Codes
    stars: Codes
    weight: Any
    sign: Any
    middle_count: int
    discipline: Codes
    format: Codes
    entry: Codes
    person: Codes
    person_entry: Codes
    person_discipline: Codes
    person_edition: Codes
    passage: Codes
    passage_count: int
    person_group: Codes
    question_group: Codes
    group_count: int


@dataclass
class State:
    """Where a chain is: every number that the model has."""

    ability: Floats
    difficulty: Floats
    log_discrimination: Floats
    thresholds: Floats  # disciplines × stars
    asymptotes: Floats  # formats × stars
    ceilings: Floats  # entries × stars
    ceiling_mean: Floats  # further stars: log odds of each given the one before, as `to_steps` has them
    ceiling_sd: Floats
    passage: Floats
    general: Floats  # entries: what a candidate's disciplines have in common
    ability_mean: Floats  # editions × disciplines
    difficulty_mean: Floats  # homes × disciplines
    discrimination_mean: Floats  # homes
    shared: Floats  # earlier editions × disciplines: the error of each one's link
    difficulty_sd: Floats  # disciplines
    ability_sd: float = 0.5
    general_sd: float = 1.0
    discrimination_sd: float = 0.3
    shift_sd: float = 0.2
    passage_sd: float = 0.2


@dataclass(frozen=True)
class Steps:
    """How far a step goes: by person, by question (a covariance's factor), and chance's prior."""

    ability: Floats
    question: tuple[Floats, Floats, Floats]
    chance_middle: Floats
    chance_sd: Floats


def arrange_rows(rows: GradedRows, is_known: NDArray[np.bool_]) -> Layout:
    """The rows in the order and with the codes that a chain needs."""
    entry_group, question_group, group_count = _find_groups(rows, is_known)
    is_middle = (rows.stars > 0) & (rows.stars < rows.most_stars)
    order = np.lexsort((rows.question, rows.entry, ~is_middle))
    question, stars = rows.question[order], rows.stars[order]
    discipline = rows.question_discipline[question]
    keys, person = np.unique(rows.entry[order] * rows.discipline_count + discipline, return_inverse=True)
    person_entry, person_discipline = np.divmod(keys, rows.discipline_count)
    cluster = rows.question_cluster[question]
    seen, code = np.unique(person * (int(rows.question_cluster.max()) + 1) + cluster, return_inverse=True)
    # Repeats of one question are no passage.
    questions = np.unique(np.stack([code, question]), axis=1)[0]
    is_passage = np.bincount(questions, minlength=len(seen)) > 1
    passage_count = int(is_passage.sum())
    return Layout(
        question=question,
        stars=stars,
        weight=rows.weight[order].astype(np.float32),
        sign=np.where(stars == 0, np.float32(-0.5), np.float32(0.5)),
        middle_count=int(is_middle.sum()),
        discipline=discipline,
        format=rows.question_format[question],
        entry=rows.entry[order],
        person=person,
        person_entry=person_entry,
        person_discipline=person_discipline,
        person_edition=rows.entry_edition[person_entry],
        passage=np.where(is_passage, np.cumsum(is_passage) - 1, passage_count)[code],
        passage_count=passage_count,
        person_group=entry_group[person_entry],
        question_group=question_group,
        group_count=group_count,
    )


def _find_groups(rows: GradedRows, is_known: NDArray[np.bool_]) -> tuple[Codes, Codes, int]:
    """Entries of about the same questions, and those first met; whoever sat little first."""
    count = np.bincount(rows.entry, minlength=rows.entry_count)
    order = np.argsort(rows.entry, kind="stable")
    starts = np.concatenate([[0], np.cumsum(count)])
    entry_group = np.zeros(rows.entry_count, dtype=np.int64)
    question_group = np.full(rows.question_count, -1)
    groups = 0
    for entry in np.argsort(count, kind="stable"):
        asked = rows.question[order[starts[entry] : starts[entry + 1]]]
        asked = asked[~is_known[asked] & (rows.question_home[asked] == rows.entry_edition[entry])]
        met = np.bincount(question_group[asked] + 1, minlength=1)
        if len(asked) and len(met) > 1 and met[1:].max() > _SAME_SET * len(asked):
            entry_group[entry] = int(met[1:].argmax())
        else:
            entry_group[entry], groups = groups, groups + 1
        question_group[asked[question_group[asked] < 0]] = entry_group[entry]
    return entry_group, question_group, groups


def start_chain(
    rows: GradedRows, layout: Layout, known: KnownQuestions | None, scale: Scale | None
) -> tuple[State, Steps]:
    """Abilities and difficulties by turns of plain means of logits, and steps by their errors."""
    ability, difficulty = _guess_places(rows, layout, known)
    disciplines, questions, persons = rows.discipline_count, rows.question_count, len(layout.person_entry)
    editions, homes = int(rows.entry_edition.max()) + 1, int(rows.question_home.max()) + 1
    is_known = np.zeros(questions, dtype=bool) if known is None else known.is_known
    log_a = np.zeros(questions)
    held_b, held_a = np.ones(questions), np.full(questions, 11.0)
    if known is not None:
        log_a[is_known] = known.log_discrimination[is_known]
        held_b[is_known] = known.difficulty_se[is_known] ** -2
        held_a[is_known] = known.log_discrimination_se[is_known] ** -2
    lag = np.clip(ability[layout.person] - difficulty[layout.question], -_FARTHEST, _FARTHEST)
    near = layout.weight * _INFORMATION / np.cosh(0.5 * lag)

    def by_question(values: Floats) -> Floats:
        return sum_by(layout.question, values, questions)

    bb, ba, aa = (
        by_question(near) + held_b,
        -by_question(near * lag),
        by_question(near * (lag**2 + 0.3)) + held_a,
    )
    determinant = bb * aa - ba**2
    root = np.sqrt(aa / determinant)
    left = np.sqrt(np.maximum(bb / determinant - (ba / determinant / root) ** 2, 1e-12))
    middle, spread = _expect_chances(rows)
    thresholds = np.tile(
        np.linspace(-0.8, 0.8, rows.most_stars) if rows.most_stars > 1 else np.zeros(1), (disciplines, 1)
    )
    guessed = from_steps(
        np.concatenate([middle[:, None], np.zeros((len(middle), rows.most_stars - 1))], axis=1)
    )
    asymptotes = np.where((rows.format_chance == 0.0)[:, None], 0.0, guessed)
    if scale is not None:
        thresholds = scale.thresholds.copy()
        asymptotes = np.where(np.isnan(scale.asymptotes), asymptotes, scale.asymptotes)
    fresh = ~is_known
    state = State(
        ability=ability,
        difficulty=difficulty,
        log_discrimination=log_a,
        thresholds=thresholds,
        asymptotes=asymptotes,
        ceilings=np.tile(
            np.concatenate([[1.0], from_steps(np.full((1, rows.most_stars - 1), _CEILING))[0]]),
            (rows.entry_count, 1),
        ),
        ceiling_mean=np.full(rows.most_stars - 1, _CEILING),
        ceiling_sd=np.full(rows.most_stars - 1, 0.5),
        passage=np.zeros(layout.passage_count),
        general=np.zeros(rows.entry_count),
        ability_mean=_average(
            layout.person_edition * disciplines + layout.person_discipline, ability, editions * disciplines
        ).reshape(editions, disciplines),
        difficulty_mean=_average(
            (rows.question_home * disciplines + rows.question_discipline)[fresh],
            difficulty[fresh],
            homes * disciplines,
        ).reshape(homes, disciplines),
        discrimination_mean=np.zeros(homes),
        shared=np.zeros((0 if known is None else known.shared.shape[1], disciplines)),
        difficulty_sd=np.ones(disciplines),
    )
    if known is None:
        state.difficulty_mean[0] = 0.0
    reach = np.bincount(layout.person, weights=near, minlength=persons) + state.ability_sd**-2
    return state, Steps(
        ability=_ABILITY_REACH / np.sqrt(reach),
        question=(_QUESTION_REACH * root, _QUESTION_REACH * -ba / determinant / root, _QUESTION_REACH * left),
        chance_middle=middle,
        chance_sd=spread,
    )


def _guess_places(rows: GradedRows, layout: Layout, known: KnownQuestions | None) -> tuple[Floats, Floats]:
    weight = layout.weight.astype(float)
    logit = np.log((layout.stars + 0.5) / (rows.most_stars - layout.stars + 0.5)) * _TO_LOGIT
    questions, persons = rows.question_count, len(layout.person_entry)
    of_question = np.maximum(np.bincount(layout.question, weights=weight, minlength=questions), 1e-9)
    difficulty = np.zeros(questions)
    is_known: NDArray[np.bool_] = np.zeros(questions, dtype=bool)
    if known is not None:
        is_known = known.is_known
        difficulty[is_known] = known.difficulty[is_known]
    linked = is_known[layout.question]
    ability = np.zeros(persons)
    for turn in range(_TURNS):
        # What is known sets the level; all else refines it.
        of_row = weight * np.where(linked | (turn > 0), 1.0, 1e-3)
        ability = np.bincount(
            layout.person, weights=of_row * (logit + difficulty[layout.question]), minlength=persons
        ) / np.bincount(layout.person, weights=of_row, minlength=persons)
        found = np.bincount(
            layout.question, weights=weight * (ability[layout.person] - logit), minlength=questions
        )
        difficulty = np.where(is_known, difficulty, 0.9 * found / of_question)
        if known is None:
            first = rows.question_home == 0
            level = _average(rows.question_discipline[first], difficulty[first], rows.discipline_count)
            difficulty = difficulty - level[rows.question_discipline]
    return np.clip(ability, -_FARTHEST, _FARTHEST), difficulty


def _expect_chances(rows: GradedRows) -> tuple[Floats, Floats]:
    """Log odds of a right guess by format, and how far they may lie from that."""
    is_unknown = np.isnan(rows.format_chance)
    chance = np.where(is_unknown, _UNKNOWN_CHANCE[0], np.clip(rows.format_chance, 1e-3, 0.9))
    return np.log(chance / (1.0 - chance)), np.where(is_unknown, _UNKNOWN_CHANCE[1], _OF_CHANCE)


def _average(codes: Codes, values: Floats, count: int) -> Floats:
    """Mean of the values of each code; 0 for a code without any."""
    number = np.bincount(codes, minlength=count)
    return np.asarray(np.bincount(codes, weights=values, minlength=count) / np.maximum(number, 1))
