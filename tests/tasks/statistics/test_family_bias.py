"""A planted favour for one's family is found; better answers alone are none."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from schemas.errors import ContractError
from tasks.statistics.league.family_bias import FamilyBias, compute_family_bias
from tests.hunts import tries

FAMILY = np.array([0, 0, 0, 1, 1, 2, 3, 4])
STRONG = np.array([12.0, 10.0, 11.0, 0.0, 0.0, -3.0, 2.0, -5.0])


@cache
def judge_league(seed: int, favour: float = 0.0, runs: int = 5, favoured: int = 0) -> list[FamilyBias]:
    """Eight candidates, the first family strongest; one favours its own by `favour` points."""
    generator = np.random.default_rng(seed)
    rows = []
    answer = 0
    for _ in range(runs):
        for asker in range(8):
            for answerer in range(8):
                if answerer == asker:
                    continue
                quality = 70 + STRONG[answerer] + generator.normal(0, 12)
                answer += 1
                for judge in range(8):
                    if judge != answerer:
                        own = favour if FAMILY[judge] == FAMILY[answerer] == favoured else 0.0
                        rows.append((quality + own + generator.normal(0, 6), answer, judge, answerer))
    score, answers, judges, answerers = (np.array(column) for column in zip(*rows, strict=True))
    return compute_family_bias(score.astype(float), answers, judges, answerers, FAMILY)


def rank_league(seed: int, favour: float = 0.0) -> list[FamilyBias]:
    """The same as Borda points: each ranks all but its own, and the first family is best."""
    generator = np.random.default_rng(seed)
    rows = []
    for question in range(40):
        quality = STRONG / 8 + generator.normal(0, 1.0, 8)
        for judge in range(8):
            judged = [one for one in range(8) if one not in (question % 8, judge)]
            own = favour * ((FAMILY[judge] == FAMILY) & (FAMILY == 0))
            seen = quality + own + generator.normal(0, 0.5, 8)
            order = sorted(judged, key=lambda one: -seen[one])
            rows += [
                (6.0 - place, question * 8 + one, judge, one, question) for place, one in enumerate(order)
            ]
    score, answers, judges, answerers, questions = (np.array(column) for column in zip(*rows, strict=True))
    return compute_family_bias(
        score.astype(float), answers, judges, answerers, FAMILY, ranked_question=questions
    )


def find(found: list[FamilyBias], family: int, unit: str) -> FamilyBias:
    return next(one for one in found if (one.family, one.unit) == (family, unit))


def test_observations_are_counted_as_in_the_printed_table() -> None:
    # League of LLMs, table 5: 3 judges, 2 answerers of the family, 35 answers each, and 5 others.
    found = judge_league(1)
    pooled, cells = find(found, 0, "score").welch, find(found, 0, "cell").welch
    assert (pooled.first_count, pooled.second_count) == (210, 525)
    assert (cells.first_count, cells.second_count) == (6, 15)
    smaller = find(found, 1, "score").welch
    assert (smaller.first_count, smaller.second_count) == (70, 420)
    # Families of one judge are not among them.
    assert {one.family for one in found} == {0, 1}


def test_a_family_of_two_judges_is_found_by_its_answers_and_not_by_its_cells() -> None:
    answers = find(judge_league(1), 1, "answer_excess").welch
    assert (answers.first_count, answers.second_count) == (70, 210)
    found = [judge_league(seed, favour=5.0, favoured=1) for seed in range(10)]
    assert sum((find(one, 1, "answer_excess").welch.p_value or 1) < 0.05 for one in found) == 10
    assert sum((find(one, 1, "excess").welch.p_value or 1) < 0.05 for one in found) < 10
    none = [
        find(judge_league(seed), family, "answer_excess").welch.p_value
        for seed in range(60)
        for family in (0, 1)
    ]
    assert np.mean([p is not None and p < 0.05 for p in none]) <= 0.10


def test_a_planted_favour_is_found_and_its_size() -> None:
    excess = [find(judge_league(seed, favour=5.0), 0, "excess").welch for seed in range(20)]
    assert all(one.p_value is not None and one.p_value < 0.05 for one in excess)
    assert np.mean([one.difference for one in excess if one.difference is not None]) == pytest.approx(
        5.0, abs=0.4
    )


def test_a_strong_family_alone_is_no_favour() -> None:
    trials = [judge_league(seed) for seed in range(60)]
    raw = [find(one, 0, "score").welch.p_value for one in trials]
    excess = [find(one, 0, "excess").welch.p_value for one in trials]
    # Pooled scores call every strong family biased; the excess does so about as often as 5% says.
    assert np.mean([p is not None and p < 0.05 for p in raw]) == 1.0
    assert np.mean([p is not None and p < 0.05 for p in excess]) <= 0.12
    differences = [find(one, 0, "excess").welch.difference or 0.0 for one in trials]
    assert abs(np.mean(differences)) < 0.3


@pytest.mark.hunt
@pytest.mark.parametrize("unit", ["excess", pytest.param("answer_excess", marks=pytest.mark.long)])
def test_ranks_of_a_strong_family_whose_own_answers_are_missing_are_no_favour(unit: str) -> None:
    trials = [find(rank_league(seed), 0, unit).welch for seed in range(tries(16, 40))]
    assert np.mean([one.p_value is not None and one.p_value < 0.05 for one in trials]) <= 0.125
    assert abs(np.mean([one.difference or 0.0 for one in trials])) < 0.05
    favoured = [find(rank_league(seed, favour=1.0), 0, unit).welch for seed in range(tries(4, 10))]
    found = sum(one.p_value is not None and one.p_value < 0.05 for one in favoured)
    assert found == len(favoured)


def test_ranks_are_compared_on_the_answers_that_both_judges_ranked() -> None:
    # Candidates a, b (family 0), c, d (families 1, 2); the asker does not take part. a ranks b > c > d; d ranks a > b > c.
    rows = [(3, 0, 1), (2, 0, 2), (1, 0, 3), (3, 3, 0), (2, 3, 1), (1, 3, 2)]
    score, judge, answerer = (np.array(column) for column in zip(*rows, strict=True))

    found = compute_family_bias(
        score.astype(float),
        answerer,
        judge,
        answerer,
        np.array([0, 0, 1, 2]),
        ranked_question=np.zeros(6, int),
    )

    # Both ranked b and c, b above c: no excess, although a gave b more points than d did.
    assert find(found, 0, "excess").welch.first_mean == 0.0


def test_the_excess_is_over_judges_of_neither_family() -> None:
    # One answer of candidate 1 (family 0): its sister gives 90; judges of families 1, 2 and 3 give 60, 70 and 80.
    score = np.array([90.0, 60.0, 70.0, 80.0])
    found = compute_family_bias(
        score, np.zeros(4, int), np.array([0, 2, 3, 4]), np.ones(4, int), np.array([0, 0, 1, 2, 3])
    )
    assert find(found, 0, "excess").welch.first_mean == pytest.approx(90 - 70)


def test_candidates_without_a_family_are_of_none() -> None:
    found = compute_family_bias(
        np.array([1.0, 2.0]), np.array([1, 2]), np.array([0, 1]), np.array([1, 0]), np.array([-1, -1])
    )
    assert found == []


def test_a_judge_among_its_own_answers_is_refused() -> None:
    with pytest.raises(ContractError, match="itself"):
        compute_family_bias(np.ones(1), np.ones(1, int), np.ones(1, int), np.ones(1, int), np.zeros(2, int))
