"""The chance level of a set, and scores corrected for it."""

from __future__ import annotations

import numpy as np
import pytest

from tasks.statistics.scores import compute_chance, correct_for_chance


def rules(*names: str) -> frozenset[str]:
    return frozenset(names)


def test_of_each_kind_the_best_rule_counts_and_a_right_answer_gets_two_stars() -> None:
    kinds = ["true_false"] * 4 + ["multiple_choice"] * 3 + ["open"]
    right = [rules("false"), rules("false"), rules("false"), rules("true")]
    right += [rules("C", "longest"), rules("B", "longest"), rules("C"), rules()]
    found = compute_chance(np.zeros(8, dtype=np.int64), kinds, right, [1.0])
    # Three statements and two choices of eight questions, at two stars of three.
    assert found.rules == ("C", "false")
    assert found.score == pytest.approx(5 / 8 * 2 / 3 * 100)


def test_disciplines_count_by_their_weights_and_one_without_questions_has_no_level() -> None:
    kinds, right = ["true_false"] * 3, [rules("true"), rules("false"), rules("false")]
    found = compute_chance(np.array([0, 0, 1]), kinds, right, [0.5, 0.5])
    assert found.rules == ("false",)
    assert found.by_discipline == pytest.approx([100 / 3, 200 / 3])
    assert found.score == pytest.approx(50.0)
    missing = compute_chance(np.array([0, 0, 1]), kinds, right, [0.4, 0.4, 0.2])
    assert np.isnan(missing.score) and np.isnan(missing.by_discipline[2])
    open_only = compute_chance(np.array([0]), ["open"], [rules()], [1.0])
    assert (open_only.rules, open_only.score) == ((), 0.0)


def test_a_score_is_corrected_as_a_test_is_for_guessing() -> None:
    # Rights less wrongs over options less one: 60 right of 100 among four options are 46.7 (Lord and Novick 1968).
    assert correct_for_chance(60.0, 25.0) == pytest.approx(60 - 40 / 3)
    assert correct_for_chance([25.0, 100.0, 10.0], 25.0) == pytest.approx([0.0, 100.0, -20.0])
