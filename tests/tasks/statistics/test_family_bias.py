"""In-family and out-of-family scores: a planted favour is found, better answers alone are not taken for one."""

from __future__ import annotations

import numpy as np
import pytest

from schemas.errors import ContractError
from tasks.statistics.family_bias import FamilyBias, compute_family_bias

FAMILY = np.array([0, 0, 0, 1, 1, 2, 3, 4])
STRONG = np.array([12.0, 10.0, 11.0, 0.0, 0.0, -3.0, 2.0, -5.0])


def judge_league(seed: int, favour: float = 0.0, runs: int = 5) -> list[FamilyBias]:
    """Eight candidates, the first family the strongest; its judges favour it by `favour` points."""
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
                        own = favour if FAMILY[judge] == FAMILY[answerer] == 0 else 0.0
                        rows.append((quality + own + generator.normal(0, 6), answer, judge, answerer))
    score, answers, judges, answerers = (np.array(column) for column in zip(*rows, strict=True))
    return compute_family_bias(score.astype(float), answers, judges, answerers, FAMILY)


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


def test_a_planted_favour_is_found_and_its_size() -> None:
    excess = [find(judge_league(seed, favour=5.0), 0, "excess").welch for seed in range(20)]
    assert all(one.p_value is not None and one.p_value < 0.05 for one in excess)
    assert np.mean([one.difference for one in excess if one.difference is not None]) == pytest.approx(5.0, abs=0.4)


def test_a_strong_family_alone_is_no_favour() -> None:
    trials = [judge_league(seed) for seed in range(60)]
    raw = [find(one, 0, "score").welch.p_value for one in trials]
    excess = [find(one, 0, "excess").welch.p_value for one in trials]
    # Pooled scores call every strong family biased; the excess does so about as often as 5% says.
    assert np.mean([p is not None and p < 0.05 for p in raw]) == 1.0
    assert np.mean([p is not None and p < 0.05 for p in excess]) <= 0.12
    differences = [find(one, 0, "excess").welch.difference or 0.0 for one in trials]
    assert abs(np.mean(differences)) < 0.3


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
