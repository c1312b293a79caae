"""Draws of all that the answers leave open about abilities and questions.

Metropolis within Gibbs (Patz and Junker 1999), with a fixed seed: the same answers give the same draws. A sweep passes over the
answers once for all abilities, once for all questions, and over the few that link an edition for its level. Whatever one
number takes from another, its error comes along: an ability allows for how well its questions are known, a question for how well
those are known who answered it. What a mode would leave out of that is about a point of the score with twenty answers to a question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.statistics.cells import Codes, Floats, sum_by
from tasks.statistics.items.chain_start import LEAST_LOG_A, MOST_LOG_A, arrange_rows, start_chain
from tasks.statistics.items.graded_model import (
    GradedRows,
    KnownQuestions,
    SameBank,
    Scale,
    from_steps,
    to_steps,
)

_LEVEL_MOVES = 3  # in a sweep
_LEAST_GAP = 0.05  # between thresholds, logits
_LEAST_CHANCE = np.float32(1e-9)
_AIM = 0.4  # share of steps that are taken
_FIRST_RATE, _LAST_RATE = 0.65, 0.05  # of adapting the steps during the warm-up
# Degrees and scale of what is assumed of a variance before the answers (scaled inverse chi-square).
_OF_ABILITY = (4.0, 0.15)
_OF_GENERAL = (2.0, 0.5)
_OF_DIFFICULTY = (4.0, 1.0)
_OF_DISCRIMINATION = (20.0, 0.09)
_OF_SHIFT = (4.0, 0.04)
_OF_PASSAGE = (4.0, 0.05)
_OF_FURTHER_STARS = 1.5  # deviation of the log odds with which a lucky answer earns one more star
_OF_CEILING = (4.0, 0.25)
_CEILING_MEAN = (1.5, 1.5)  # middle and deviation of a ceiling's mean log odds
# An anchor has moved if its answers lie so far from what was published: in errors of both, and in logits.
_MOVED_ERRORS, _MOVED_LOGITS = 2.8, 0.5
_LEAST_ANCHORS = 3  # of which the median says where the others lie


@dataclass(frozen=True)
class Draws:
    """So many draws, one a row, of what a chain over the answers found.

    Attributes:
        person_entry, person_discipline: what the persons are, shape (persons,).
        ability: draws × persons.
        difficulty, log_discrimination: draws × questions.
        thresholds: draws × disciplines × stars.
        asymptotes: draws × formats × stars.
        ceilings: draws × entries × stars.
        shared: draws × earlier editions × disciplines: the error of each one's link.
        passage_sd, ability_sd, discrimination_sd: means over the draws.
        difficulty_sd: the same by discipline.
        is_moved: questions that were known and are no longer what they were, shape (questions,).
    """

    person_entry: Codes
    person_discipline: Codes
    ability: Floats
    difficulty: Floats
    log_discrimination: Floats
    thresholds: Floats
    asymptotes: Floats
    ceilings: Floats
    shared: Floats
    passage_sd: float
    ability_sd: float
    difficulty_sd: Floats
    discrimination_sd: float
    is_moved: NDArray[np.bool_]


class Chain:
    """A chain over the answers of some editions; what is known enters with its error."""

    def __init__(
        self,
        rows: GradedRows,
        known: KnownQuestions | None = None,
        scale: Scale | None = None,
        *,
        seed: int = 1,
    ) -> None:
        self._random = np.random.default_rng(seed)
        self._rows, self._known, self._scale = rows, known, scale
        self._is_known = np.zeros(rows.question_count, dtype=bool) if known is None else known.is_known.copy()
        self._layout = arrange_rows(rows, self._is_known)
        self._state, self._steps = start_chain(rows, self._layout, known, scale)
        self._is_moved = np.zeros(rows.question_count, dtype=bool)
        # A format without a chance to guess keeps none; one that the scale has keeps what it has.
        self._is_open_format = ~(rows.format_chance == 0.0)
        if scale is not None:
            self._is_open_format &= np.isnan(scale.asymptotes[:, 0])
        homes = len(self._state.difficulty_mean)
        self._is_origin = (np.arange(homes) == 0) & (known is None)
        self._is_pooled = rows.discipline_count > 2
        disciplines = rows.discipline_count
        self._reach = {
            "ability": np.ones(len(self._state.ability)),
            "passage": np.ones(self._layout.passage_count),
            "question": np.ones(rows.question_count),
            "threshold": np.full(disciplines, 0.05),
            "asymptote": np.full(len(rows.format_chance), 0.1),
            "ceiling": np.full(rows.entry_count, 0.2),
            "level": np.full(disciplines, 0.15),
            "set": np.full(disciplines, 0.15),
        }
        self._rate, self._turn = 0.0, False
        if known is not None:
            self._arrange_shared(known)
        self._places = self._read_places(self._state.thresholds)
        self._floors = self._read_floors()
        self._log = self._compute_log(*self._read_answers())

    def run(self, warm_up: int, draws: int, every: int) -> Draws:
        """Draws after a warm-up, each `every` sweeps after the last."""
        for sweep in range(warm_up):
            self._rate = _FIRST_RATE / (1.0 + sweep / 20.0) + _LAST_RATE
            if sweep == warm_up // 2 and self._known is not None:
                self._drop_moved(self._known)
            self._sweep()
        self._rate = 0.0
        vectors = (
            "ability",
            "difficulty",
            "log_discrimination",
            "thresholds",
            "asymptotes",
            "ceilings",
            "shared",
        )
        kept = {name: np.empty((draws, *getattr(self._state, name).shape)) for name in vectors}
        spreads: list[Floats] = []
        for sweep in range(draws * every):
            self._sweep()
            now = self._state
            spreads.append(
                np.array([now.passage_sd, now.ability_sd, now.discrimination_sd, *now.difficulty_sd])
            )
            if sweep % every == every - 1:
                for name, found in kept.items():
                    found[sweep // every] = getattr(now, name)
        mean = np.mean(spreads, axis=0)
        return Draws(
            person_entry=self._layout.person_entry,
            person_discipline=self._layout.person_discipline,
            **kept,
            passage_sd=float(mean[0]) if self._layout.passage_count else 0.0,
            ability_sd=float(mean[1]),
            discrimination_sd=float(mean[2]),
            difficulty_sd=mean[3:],
            is_moved=self._is_moved,
        )

    def _read_answers(self, some: Codes | slice = slice(None)) -> tuple[Any, Any, Any]:
        """Each row's ability, discrimination and difficulty; `some` are rows in their order."""
        now, layout = self._state, self._layout
        felt = now.ability.astype(np.float32)[layout.person[some]]
        if layout.passage_count:
            felt += np.append(now.passage, 0.0).astype(np.float32)[layout.passage[some]]
        return felt, *self._read_questions(now.difficulty, now.log_discrimination, some)

    def _read_questions(
        self, difficulty: Floats, log_a: Floats, some: Codes | slice = slice(None)
    ) -> tuple[Any, Any]:
        question = self._layout.question[some]
        return np.exp(log_a).astype(np.float32)[question], difficulty.astype(np.float32)[question]

    def _read_places(self, thresholds: Floats) -> tuple[Any, Any]:
        """Each row's threshold below its stars (above none), and that above for those between."""
        layout, table = self._layout, thresholds.astype(np.float32)
        middle = slice(0, layout.middle_count)
        return (
            table[layout.discipline, np.maximum(layout.stars, 1) - 1],
            table[layout.discipline[middle], layout.stars[middle]],
        )

    def _read_floors(
        self, asymptotes: Floats | None = None, ceilings: Floats | None = None
    ) -> tuple[Any, Any, Any]:
        """What P(x) is of the two curves: a floor, and a factor for each."""
        layout, now, middle = self._layout, self._state, self._layout.middle_count
        floors = (now.asymptotes if asymptotes is None else asymptotes).astype(np.float32)
        tops = (now.ceilings if ceilings is None else ceilings).astype(np.float32)
        edge = np.ones((len(floors), 1), dtype=np.float32)
        steps = -np.diff(np.concatenate([0.0 * edge, floors, 0.0 * edge], axis=1), axis=1)
        steps[:, 0] = 0.0
        star = np.maximum(layout.stars, 1) - 1
        factor = tops[layout.entry, star] - floors[layout.format, star]
        above = layout.stars[:middle]
        upper = tops[layout.entry[:middle], above] - floors[layout.format[:middle], above]
        return (
            steps[layout.format, layout.stars],
            np.maximum(factor, _LEAST_CHANCE),
            np.maximum(upper, _LEAST_CHANCE),
        )

    def _compute_log(
        self,
        felt: Any,
        a: Any,
        b: Any,
        *,
        places: tuple[Any, Any] | None = None,
        floors: tuple[Any, Any, Any] | None = None,
        some: Codes | None = None,
    ) -> Any:
        """Log chance of each answer times its weight; `some` are rows in their order."""
        layout = self._layout
        below, above = places or self._places
        floor, factor, upper_factor = floors or self._floors
        sign, weight, middle = layout.sign, layout.weight, layout.middle_count
        if some is not None:
            middle = int(np.searchsorted(some, layout.middle_count))
            below, floor, factor, sign, weight = (part[some] for part in (below, floor, factor, sign, weight))
            above, upper_factor = above[some[:middle]], upper_factor[some[:middle]]
        lag = felt - b
        chance = lag - below
        chance *= a
        chance *= sign
        np.tanh(chance, out=chance)
        chance += np.float32(1.0)
        chance *= factor
        upper = lag[:middle] - above
        upper *= a[:middle]
        upper *= np.float32(0.5)
        np.tanh(upper, out=upper)
        upper += np.float32(1.0)
        upper *= upper_factor
        chance[:middle] -= upper
        chance *= np.float32(0.5)
        chance += floor
        np.maximum(chance, _LEAST_CHANCE, out=chance)
        np.log(chance, out=chance)
        chance *= weight
        return chance

    def _sweep(self) -> None:
        felt, a, b = self._read_answers()
        felt = self._move_abilities(felt, a, b)
        if self._layout.passage_count:
            felt = self._move_passages(felt, a, b)
        a, b = self._move_questions(felt, a, b)
        # What rests on thousands of answers need not move in every sweep.
        self._turn = not self._turn
        if self._turn and self._rows.most_stars > 1:
            self._move_ceilings(felt, a, b)
        if not self._turn and self._scale is None and self._rows.most_stars > 1:
            self._move_thresholds(felt, a, b)
        if not self._turn and self._is_open_format.any():
            self._move_asymptotes(felt, a, b)
        # What links an edition to others is few answers, and moves in small steps.
        for turn in range(_LEVEL_MOVES):
            if self._layout.group_count > 1 and (turn % 2 == 0) == self._turn:
                self._move_set()
            else:
                self._move_levels()
        self._draw_abilities()
        self._draw_difficulties()
        if self._known is not None:
            self._draw_shared(self._known)

    def _accept(self, name: str, codes: Codes, change: Any, prior: Floats) -> NDArray[np.bool_]:
        """Which steps are taken, by the change of the log likelihood of their rows."""
        total = np.bincount(codes, weights=change, minlength=len(prior))[: len(prior)] + prior
        taken = np.log(self._random.random(len(prior))) < total
        if self._rate:
            self._reach[name] *= np.exp(self._rate * (taken - _AIM))
        return np.asarray(taken)

    def _move_abilities(self, felt: Any, a: Any, b: Any) -> Any:
        now, layout = self._state, self._layout
        move = self._random.normal(size=len(now.ability)) * self._steps.ability * self._reach["ability"]
        mean = (
            now.general[layout.person_entry]
            + now.ability_mean[layout.person_edition, layout.person_discipline]
        )
        away = now.ability - mean
        prior = (away**2 - (away + move) ** 2) / (2.0 * now.ability_sd**2)
        proposed = felt + move.astype(np.float32)[layout.person]
        log = self._compute_log(proposed, a, b)
        taken = self._accept("ability", layout.person, log - self._log, prior)
        now.ability = now.ability + np.where(taken, move, 0.0)
        of_row = taken[layout.person]
        self._log = np.where(of_row, log, self._log)
        return np.where(of_row, proposed, felt)

    def _move_passages(self, felt: Any, a: Any, b: Any) -> Any:
        """What one has with the questions of a passage (Bradlow, Wainer and Wang 1999)."""
        now, layout = self._state, self._layout
        move = self._random.normal(size=len(now.passage)) * now.passage_sd * self._reach["passage"]
        prior = (now.passage**2 - (now.passage + move) ** 2) / (2.0 * now.passage_sd**2)
        proposed = felt + np.append(move, 0.0).astype(np.float32)[layout.passage]
        log = self._compute_log(proposed, a, b)
        taken = self._accept("passage", layout.passage, log - self._log, prior)
        now.passage = now.passage + np.where(taken, move, 0.0)
        of_row = np.append(taken, False)[layout.passage]
        self._log = np.where(of_row, log, self._log)
        now.passage_sd = self._draw_sd(now.passage, _OF_PASSAGE)
        return np.where(of_row, proposed, felt)

    def _move_questions(self, felt: Any, a: Any, b: Any) -> tuple[Any, Any]:
        now, layout = self._state, self._layout
        first, second = self._random.normal(size=(2, len(now.difficulty))) * self._reach["question"]
        root, both, left = self._steps.question
        difficulty = now.difficulty + root * first
        log_a = now.log_discrimination + both * first + left * second
        prior = self._weigh_questions(difficulty, log_a) - self._weigh_questions(
            now.difficulty, now.log_discrimination
        )
        prior[(log_a < LEAST_LOG_A) | (log_a > MOST_LOG_A)] = -np.inf
        new_a, new_b = self._read_questions(difficulty, log_a)
        log = self._compute_log(felt, new_a, new_b)
        taken = self._accept("question", layout.question, log - self._log, prior)
        now.difficulty = np.where(taken, difficulty, now.difficulty)
        now.log_discrimination = np.where(taken, log_a, now.log_discrimination)
        of_row = taken[layout.question]
        self._log = np.where(of_row, log, self._log)
        return np.where(of_row, new_a, a), np.where(of_row, new_b, b)

    def _weigh_questions(self, difficulty: Floats, log_a: Floats) -> Floats:
        """Log density of every question before its answers: about its edition, or as published."""
        now, rows = self._state, self._rows
        mean_b = now.difficulty_mean[rows.question_home, rows.question_discipline]
        sd_b = now.difficulty_sd[rows.question_discipline]
        mean_a, sd_a = now.discrimination_mean[rows.question_home], now.discrimination_sd
        away_b, away_a = (difficulty - mean_b) / sd_b, (log_a - mean_a) / sd_a
        if self._known is not None:
            known = self._known
            published = known.difficulty + now.shared[known.edition, rows.question_discipline]
            held_a = (log_a - known.log_discrimination) / known.log_discrimination_se
            held_b = (difficulty - published) / known.difficulty_se - known.correlation * held_a
            away_b = np.where(self._is_known, held_b / np.sqrt(1.0 - known.correlation**2), away_b)
            away_a = np.where(self._is_known, held_a, away_a)
        return np.asarray(-0.5 * (away_b**2 + away_a**2))

    def _move_thresholds(self, felt: Any, a: Any, b: Any) -> None:
        now, layout = self._state, self._layout
        move = self._random.normal(size=now.thresholds.shape) * self._reach["threshold"][:, None]
        proposed = now.thresholds + move - move.mean(axis=1, keepdims=True)
        is_ordered = (np.diff(proposed, axis=1) > _LEAST_GAP).all(axis=1)
        proposed = np.where(is_ordered[:, None], proposed, now.thresholds)
        places = self._read_places(proposed)
        log = self._compute_log(felt, a, b, places=places)
        taken = self._accept(
            "threshold", layout.discipline, log - self._log, np.where(is_ordered, 0.0, -np.inf)
        )
        now.thresholds = np.where(taken[:, None], proposed, now.thresholds)
        self._log = np.where(taken[layout.discipline], log, self._log)
        self._places = self._read_places(now.thresholds)

    def _move_asymptotes(self, felt: Any, a: Any, b: Any) -> None:
        now, layout = self._state, self._layout
        odds = to_steps(now.asymptotes)
        proposed = odds + self._random.normal(size=odds.shape) * self._reach["asymptote"][:, None]
        asymptotes = np.where(self._is_open_format[:, None], from_steps(proposed), now.asymptotes)
        prior = self._weigh_asymptotes(proposed) - self._weigh_asymptotes(odds)
        floors = self._read_floors(asymptotes=asymptotes)
        log = self._compute_log(felt, a, b, floors=floors)
        taken = self._accept(
            "asymptote", layout.format, log - self._log, np.where(self._is_open_format, prior, -np.inf)
        )
        now.asymptotes = np.where(taken[:, None], asymptotes, now.asymptotes)
        self._log = np.where(taken[layout.format], log, self._log)
        self._floors = self._read_floors()

    def _weigh_asymptotes(self, odds: Floats) -> Floats:
        """Log density: the first star as the options say, each further one any share of those."""
        first = (odds[:, 0] - self._steps.chance_middle) / self._steps.chance_sd
        return np.asarray(-0.5 * (first**2 + (odds[:, 1:] ** 2).sum(axis=1) / _OF_FURTHER_STARS**2))

    def _move_ceilings(self, felt: Any, a: Any, b: Any) -> None:
        now, layout, random = self._state, self._layout, self._random
        odds = to_steps(now.ceilings[:, 1:])
        proposed = odds + random.normal(size=odds.shape) * self._reach["ceiling"][:, None]
        ceilings = np.concatenate([now.ceilings[:, :1], from_steps(proposed)], axis=1)
        away, before = proposed - now.ceiling_mean, odds - now.ceiling_mean
        prior = ((before**2 - away**2) / (2.0 * now.ceiling_sd**2)).sum(axis=1)
        floors = self._read_floors(ceilings=ceilings)
        log = self._compute_log(felt, a, b, floors=floors)
        taken = self._accept("ceiling", layout.entry, log - self._log, prior)
        now.ceilings = np.where(taken[:, None], ceilings, now.ceilings)
        self._log = np.where(taken[layout.entry], log, self._log)
        self._floors = self._read_floors()
        odds = np.where(taken[:, None], proposed, odds)
        middle, spread = _CEILING_MEAN
        precision = len(odds) / now.ceiling_sd**2 + spread**-2
        mean = (odds.sum(axis=0) / now.ceiling_sd**2 + middle / spread**2) / precision
        now.ceiling_mean = mean + random.normal(size=len(mean)) / np.sqrt(precision)
        for star in range(len(mean)):
            now.ceiling_sd[star] = self._draw_sd(odds[:, star] - now.ceiling_mean[star], _OF_CEILING)

    def _move_levels(self) -> None:
        """Everything from one edition on together, by discipline: only what links it resists."""
        now, rows, layout = self._state, self._rows, self._layout
        first = 0 if self._known is not None else 1
        editions = len(now.ability_mean)
        if editions <= first:
            return
        least = int(self._random.integers(first, editions))
        moves_question = ~self._is_known & (rows.question_home >= least)
        moves_person = layout.person_edition >= least
        move = self._random.normal(size=rows.discipline_count) * self._reach["level"]
        prior = np.zeros(rows.discipline_count)
        if self._is_pooled and least < len(now.difficulty_mean):
            # What the disciplines' means have in common is free; how far they lie apart is not.
            away = now.difficulty_mean[least:] - now.difficulty_mean[least:].mean(axis=1, keepdims=True)
            prior -= (((away + move) ** 2 - away**2) / (2.0 * now.shift_sd**2)).sum(axis=0)
        if self._known is not None and (bank := self._known.same_bank) is not None:
            prior = -((now.difficulty_mean[0] + move - self._expect_level(bank)) ** 2) / (2.0 * bank.variance)
            prior += (now.difficulty_mean[0] - self._expect_level(bank)) ** 2 / (2.0 * bank.variance)
        step = self._move_block("level", move, moves_person, moves_question, prior)
        now.ability_mean[least:] += step
        now.difficulty_mean[least:] += step

    def _move_set(self) -> None:
        """One set with those who sat it, by discipline: only what links it to others resists."""
        now, rows, layout = self._state, self._rows, self._layout
        group = int(self._random.integers(layout.group_count))
        moves_question = ~self._is_known & (layout.question_group == group)
        moves_person = layout.person_group == group
        move = self._random.normal(size=rows.discipline_count) * self._reach["set"]
        shift = np.where(moves_person, move[layout.person_discipline], 0.0)
        away = now.ability - now.general[layout.person_entry]
        away -= now.ability_mean[layout.person_edition, layout.person_discipline]
        change = (away**2 - (away + shift) ** 2) / (2.0 * now.ability_sd**2)
        prior = sum_by(layout.person_discipline, change, rows.discipline_count)
        moved = now.difficulty + np.where(moves_question, move[rows.question_discipline], 0.0)
        change = self._weigh_questions(moved, now.log_discrimination) - self._weigh_questions(
            now.difficulty, now.log_discrimination
        )
        prior += sum_by(rows.question_discipline, change, rows.discipline_count)
        self._move_block("set", move, moves_person, moves_question, prior)

    def _move_block(
        self,
        name: str,
        move: Floats,
        moves_person: NDArray[np.bool_],
        moves_question: NDArray[np.bool_],
        prior: Floats,
    ) -> Floats:
        """Abilities and difficulties moved by discipline where that is accepted, and by how much."""
        now, layout = self._state, self._layout
        of_person = moves_person[layout.person]
        some = np.flatnonzero(of_person != moves_question[layout.question])
        discipline = layout.discipline[some]
        felt, a, b = self._read_answers(some)
        by = np.where(of_person[some], move[discipline], -move[discipline]).astype(np.float32)
        log = self._compute_log(felt + by, a, b, some=some)
        taken = self._accept(name, discipline, log - self._log[some], prior)
        step = np.where(taken, move, 0.0)
        now.ability = now.ability + np.where(moves_person, step[layout.person_discipline], 0.0)
        now.difficulty = now.difficulty + np.where(moves_question, step[self._rows.question_discipline], 0.0)
        self._log[some] = np.where(taken[discipline], log, self._log[some])
        return step

    def _draw_abilities(self) -> None:
        """What abilities have in common by entry and by edition, and how far they spread (Gibbs)."""
        now, random, layout = self._state, self._random, self._layout
        entry, entries = layout.person_entry, self._rows.entry_count
        cell = layout.person_edition * self._rows.discipline_count + layout.person_discipline
        variance = now.ability_sd**2
        precision = np.bincount(entry, minlength=entries) / variance + now.general_sd**-2
        rest = np.bincount(entry, weights=now.ability - now.ability_mean.ravel()[cell], minlength=entries)
        now.general = rest / variance / precision + random.normal(size=entries) / np.sqrt(precision)
        now.general_sd = self._draw_sd(now.general, _OF_GENERAL)
        away = now.ability - now.general[entry]
        size = now.ability_mean.size
        number = np.maximum(np.bincount(cell, minlength=size), 1)
        mean = np.bincount(cell, weights=away, minlength=size) / number
        mean = mean + random.normal(size=size) * np.sqrt(variance / number)
        now.ability_mean = mean.reshape(now.ability_mean.shape)
        now.ability_sd = self._draw_sd(away - mean[cell], _OF_ABILITY)

    def _draw_difficulties(self) -> None:
        """Means of the questions of each edition, and how far they spread (Gibbs)."""
        now, rows, random = self._state, self._rows, self._random
        fresh = ~self._is_known
        home, discipline = rows.question_home[fresh], rows.question_discipline[fresh]
        difficulty, log_a = now.difficulty[fresh], now.log_discrimination[fresh]
        bank = None if self._known is None else self._known.same_bank
        # An anchor that moved was not drawn from the bank as it was.
        counted = np.ones(len(home)) if bank is None else 1.0 - self._is_moved[fresh]
        shape, size = now.difficulty_mean.shape, now.difficulty_mean.size
        cell = home * rows.discipline_count + discipline
        # An edition is harder in all disciplines alike, and in each by something of its own.
        common = now.difficulty_mean.mean(axis=1, keepdims=True)
        common = common + random.normal(size=common.shape) * now.shift_sd / np.sqrt(shape[1])
        held: Floats | float = now.shift_sd**-2 if self._is_pooled else 1e-4
        if bank is not None:
            common, held = self._expect_level(bank)[None, :], 1.0 / bank.variance
        number = np.bincount(cell, weights=counted, minlength=size).reshape(shape)
        precision = number / now.difficulty_sd**2 + held
        sums = np.bincount(cell, weights=counted * difficulty, minlength=size)
        total = sums.reshape(shape) / now.difficulty_sd**2
        drawn = (total + held * common) / precision + random.normal(size=shape) / np.sqrt(precision)
        now.difficulty_mean = np.where(self._is_origin[:, None], 0.0, drawn)
        later = now.difficulty_mean[~self._is_origin]
        if len(later) and self._is_pooled and bank is None:
            away = later - later.mean(axis=1, keepdims=True)
            now.shift_sd = self._draw_sd(away.ravel(), _OF_SHIFT, lost=len(later))
        away = difficulty - now.difficulty_mean[home, discipline]
        degrees, scale = _OF_DIFFICULTY
        squares = np.bincount(discipline, weights=away**2, minlength=shape[1]) + degrees * scale
        now.difficulty_sd = np.sqrt(
            squares / random.chisquare(np.bincount(discipline, minlength=shape[1]) + degrees)
        )
        number = np.bincount(home, weights=counted, minlength=shape[0])
        mean = np.bincount(home, weights=counted * log_a, minlength=shape[0]) / np.maximum(number, 1)
        error = now.discrimination_sd / np.sqrt(np.maximum(number, 1))
        if bank is not None:
            share = bank.log_discrimination_variance / (bank.log_discrimination_variance + error**2)
            mean = share * mean + (1.0 - share) * bank.log_discrimination
            error = np.sqrt(share) * error
        mean = mean + random.normal(size=shape[0]) * error
        now.discrimination_mean = np.where(self._is_origin | (number == 0), 0.0, mean)
        now.discrimination_sd = self._draw_sd(log_a - now.discrimination_mean[home], _OF_DISCRIMINATION)

    def _expect_level(self, bank: SameBank) -> Floats:
        """The mean difficulty of the bank's disciplines, as another draw from it says."""
        return np.asarray(bank.level + self._state.shared[bank.edition])

    def _arrange_shared(self, known: KnownQuestions) -> None:
        """What published questions say of their editions' links; no draw changes it."""
        count, disciplines = known.shared.shape[1], self._rows.discipline_count
        cell = known.edition * disciplines + self._rows.question_discipline
        weight = np.where(self._is_known, self._expect_known(known)[1] ** -2, 0.0)
        number = np.bincount(cell, weights=weight, minlength=count * disciplines).reshape(count, disciplines)
        if (bank := known.same_bank) is not None:
            number[bank.edition] += 1.0 / bank.variance
        # (C⁻¹ + N)⁻¹ without an inverse of C, which is 0 for the edition that set the scale.
        covariance = np.linalg.solve(np.eye(count) + known.shared * number.T[:, None, :], known.shared)
        covariance = (covariance + covariance.transpose(0, 2, 1)) / 2.0
        values, vectors = np.linalg.eigh(covariance)
        self._shared_cell, self._shared_weight = cell, weight
        self._shared_covariance = covariance
        self._shared_root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]

    def _expect_known(self, known: KnownQuestions) -> tuple[Floats, Floats]:
        """Published difficulties, given how steep each question is now, and their errors."""
        slope = known.correlation * known.difficulty_se / known.log_discrimination_se
        steeper = self._state.log_discrimination - known.log_discrimination
        return known.difficulty + slope * steeper, known.difficulty_se * np.sqrt(1.0 - known.correlation**2)

    def _draw_shared(self, known: KnownQuestions) -> None:
        """The errors of earlier editions' links, given the questions that come from them (Gibbs)."""
        now = self._state
        away = np.where(self._is_known, now.difficulty - self._expect_known(known)[0], 0.0)
        total = np.bincount(
            self._shared_cell, weights=self._shared_weight * away, minlength=now.shared.size
        ).reshape(now.shared.shape)
        if (bank := known.same_bank) is not None:
            total[bank.edition] += (now.difficulty_mean[0] - bank.level) / bank.variance
        noise = self._random.normal(size=now.shared.shape)
        now.shared = np.einsum("dst,td->sd", self._shared_covariance, total) + np.einsum(
            "dst,td->sd", self._shared_root, noise
        )

    def _draw_sd(self, away: Floats, prior: tuple[float, float], *, lost: int = 0) -> float:
        degrees, scale = prior
        total = degrees * scale + float(away @ away)
        return float(np.sqrt(total / self._random.chisquare(degrees + len(away) - lost)))

    def _drop_moved(self, known: KnownQuestions) -> None:
        """Anchors whose answers lie away from what was published, by more than both errors allow."""
        some = np.flatnonzero(self._is_known[self._layout.question])
        felt, a, _ = self._read_answers(some)
        question, count = self._layout.question[some], self._rows.question_count
        expected, expected_se = self._expect_known(known)
        published = expected.astype(np.float32)[question]
        step = np.float32(0.1)
        low, at, high = (
            np.bincount(
                question, weights=self._compute_log(felt, a, published + by, some=some), minlength=count
            )
            for by in (-step, np.float32(0.0), step)
        )
        information = np.maximum((2.0 * at - high - low) / step**2, 0.5)
        move = (high - low) / (2.0 * step) / information
        error = np.sqrt(1.0 / information + expected_se**2)
        for discipline in range(self._rows.discipline_count):
            mine = np.flatnonzero(self._is_known & (self._rows.question_discipline == discipline))
            if len(mine) >= _LEAST_ANCHORS:
                away = np.abs(move[mine] - np.median(move[mine]))
                self._is_moved[mine[(away > _MOVED_ERRORS * error[mine]) & (away > _MOVED_LOGITS)]] = True
        self._is_known &= ~self._is_moved
        self._arrange_shared(known)
