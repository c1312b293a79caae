"""Seasons whose answers are guessed, clustered and graded as no fitted model says.

A candidate knows an answer or does not; who does not guesses among the options. A right answer is then graded by how well it is
explained, which is a skill of its own. Questions of one passage are known or missed together. None of this is the model that an
edition fits: what it gets wrong here, it may get wrong on a real exam.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BANK = 20_000  # questions by which the truth is computed
_FULL = 3.0


@dataclass(frozen=True)
class Answers:
    """Every answer of an exam, a row each, and the truth.

    Attributes:
        candidate, season, question, stars: of each answer.
        discipline, home, passage: of each question; `home` is the season that put it first, a passage of its own where it has
            no material.
        score: candidates × seasons, expected S on the whole bank of the first season.
        form_score: the same on the questions that were drawn from it.
        by_discipline: candidates × seasons × disciplines, expected share of all stars on the first season's bank × 100.
    """

    candidate: NDArray[np.int64]
    season: NDArray[np.int64]
    question: NDArray[np.int64]
    stars: NDArray[np.int64]
    discipline: NDArray[np.int64]
    home: NDArray[np.int64]
    passage: NDArray[np.int64]
    guess: NDArray[np.float64]
    score: NDArray[np.float64]
    form_score: NDArray[np.float64]
    by_discipline: NDArray[np.float64]


@dataclass(frozen=True)
class Rules:
    """What an exam is like.

    Attributes:
        questions: in a set, over all disciplines.
        anchors: share of a set that an earlier one put.
        harder: logits by which the bank gets harder every season.
        guess: chance that who does not know is right.
        passage: questions to a passage.
        together: standard deviation of what a candidate has with all questions of a passage, logits.
        groups: groups of candidates with a set each, whose anchors come from what the other groups were asked.
        moved: share of anchors that became known: two logits easier from the second season on.
    """

    candidates: int = 20
    seasons: int = 4
    questions: int = 1000
    disciplines: int = 10
    anchors: float = 0.2
    harder: float = 0.15
    guess: float = 0.25
    passage: int = 1
    together: float = 0.0
    moved: float = 0.0
    ability_mean: float = 1.0
    ability_sd: float = 0.9
    taste: float = 0.4
    spread: float = 1.2
    groups: int = 1

    def list_members(self, group: int) -> list[int]:
        """Who sits a group's set: of several groups the last candidate, the reference, sits all."""
        last = self.candidates - 1
        return [one for one in range(last) if one % self.groups == group] + [last]


def draw_bank(random: np.random.Generator, count: int, centre: float, rules: Rules) -> NDArray[np.float64]:
    """Difficulty (skewed), discrimination and how hard the explanation is, (3, questions)."""
    skew = (random.gamma(4.0, 1.0, count) - 4.0) / 2.0
    normal = random.normal(size=count)
    difficulty = centre + rules.spread * (0.6 * normal + 0.8 * skew)
    return np.stack([difficulty, np.exp(random.normal(0.0, 0.3, count)), random.normal(0.0, 0.7, count)])


def compute_chances(
    ability: NDArray[np.float64], skill: NDArray[np.float64], bank: NDArray[np.float64], rules: Rules
) -> NDArray[np.float64]:
    """Chances of 0 to 3 stars; the last axis holds the stars."""
    difficulty, steep, explaining = bank
    knows = 1.0 / (1.0 + np.exp(-steep * (ability - difficulty)))
    second = 1.0 / (1.0 + np.exp(-(skill + 0.5 - explaining)))
    third = second / (1.0 + np.exp(-(skill - 0.3 - explaining)))
    lucky = rules.guess * (1.0 - knows)
    # A lucky guess is explained badly.
    at_least = [knows + lucky, knows * second + 0.15 * lucky, knows * third]
    return np.stack(
        [1.0 - at_least[0], at_least[0] - at_least[1], at_least[1] - at_least[2], at_least[2]], axis=-1
    )


def draw_answers(seed: int, rules: Rules) -> Answers:
    """One exam; the same seed and rules give the same one."""
    random = np.random.default_rng(seed)
    own = random.normal(rules.ability_mean, rules.ability_sd, rules.candidates)
    pace = np.abs(random.normal(0.06, 0.06, rules.candidates))
    general = own[:, None] + pace[:, None] * np.arange(rules.seasons)
    tastes = random.normal(0.0, rules.taste, (rules.candidates, rules.disciplines))
    skills = 0.7 * (own - rules.ability_mean) + random.normal(0.4, 0.4, rules.candidates)
    share = rules.questions // rules.disciplines
    stars = np.arange(4.0)
    columns: list[list[NDArray[np.int64]]] = [[], [], [], []]
    disciplines, homes, passages = [], [], []
    truth = np.zeros((rules.candidates, rules.seasons, rules.disciplines))
    form = np.zeros_like(truth)
    count = 0
    passage_count = 0
    for discipline in range(rules.disciplines):
        bank, known = np.zeros((3, 0)), 0
        groups: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        felt = np.zeros((rules.candidates, 0))
        ability = general + tastes[:, [discipline]]
        whole = draw_bank(np.random.default_rng([seed, discipline]), BANK, 0.0, rules)
        met = np.zeros((rules.groups, 0), dtype=bool)
        for season in range(rules.seasons):
            before = known
            for group in range(rules.groups):
                # One group alone stands for candidates to whom old questions are new, whoever answered them.
                pool = np.flatnonzero(~met[group, :before]) if rules.groups > 1 else np.arange(before)
                anchors = round(share * rules.anchors) if before else 0
                fresh = draw_bank(random, share - anchors, rules.harder * season, rules)
                bank = np.concatenate([bank, fresh], axis=1)
                new = np.arange(known, known + share - anchors)
                passage = passage_count + np.arange(len(new)) // rules.passage
                passage_count = int(passage.max()) + 1
                groups = np.concatenate([groups, passage])
                told = random.normal(0.0, rules.together, (rules.candidates, passage_count))
                felt = np.concatenate([felt, told[:, passage]], axis=1)
                asked = np.concatenate([new, random.choice(pool, anchors, replace=False)]) if anchors else new
                met = np.concatenate([met, np.zeros((rules.groups, len(new)), dtype=bool)], axis=1)
                met[group, asked] = True
                easier = np.zeros(len(asked))
                if rules.moved and anchors:
                    easier[len(new) :] = np.where(random.random(anchors) < rules.moved, 2.0, 0.0)
                homes.append(np.full(len(new), season))
                for candidate in rules.list_members(group):
                    chance = compute_chances(
                        ability[candidate, season] + felt[candidate, asked] + easier,
                        np.full(len(asked), skills[candidate]),
                        bank[:, asked],
                        rules,
                    )
                    drawn = (random.random((len(asked), 1)) > chance.cumsum(axis=1)[:, :3]).sum(axis=1)
                    for column, part in zip(
                        columns,
                        (
                            np.full(len(asked), candidate),
                            np.full(len(asked), season),
                            count + asked,
                            drawn,
                        ),
                        strict=True,
                    ):
                        column.append(part)
                known = bank.shape[1]
            if season == 0:
                first = bank
        places, weights = np.polynomial.hermite_e.hermegauss(9)
        for candidate in range(rules.candidates):
            for season in range(rules.seasons):
                for place, weight in zip(
                    *((places, weights / weights.sum()) if rules.together else ([0.0], [1.0])), strict=True
                ):
                    at = np.array(ability[candidate, season] + rules.together * place)
                    for target, questions in ((truth, whole), (form, first)):
                        chance = compute_chances(at, np.array(skills[candidate]), questions, rules)
                        target[candidate, season, discipline] += (
                            weight * float((chance @ stars).mean()) / _FULL * 100
                        )
        disciplines.append(np.full(known, discipline))
        passages.append(groups)
        count += known
    who, of_season, question, given = (np.concatenate(column) for column in columns)
    return Answers(
        candidate=who,
        season=of_season,
        question=question,
        stars=given,
        discipline=np.concatenate(disciplines),
        home=np.concatenate(homes),
        passage=np.concatenate(passages),
        guess=np.full(count, rules.guess),
        score=truth.mean(axis=2),
        form_score=form.mean(axis=2),
        by_discipline=truth,
    )
