"""The error of an equated score that a plan foresees."""

from __future__ import annotations

import pytest

from tasks.statistics.items import expect_equated_se


def test_without_any_link_there_is_no_error_to_be_told() -> None:
    assert expect_equated_se(1000, is_same_bank=False) is None
    assert expect_equated_se(1000, anchor_count=200, answers_before=0, is_same_bank=False) is None
    assert expect_equated_se(0) is None


def test_the_parts_are_the_own_answers_and_the_better_of_the_links() -> None:
    # 24 / √1000 = .759 of the own answers; 24 · √((1/30 + 1/30) / 200) = .438 of the anchors.
    found = expect_equated_se(1000, anchor_count=200, answers_before=30, answers_now=30, is_same_bank=False)
    assert found == pytest.approx((0.7589**2 + 0.4382**2) ** 0.5, abs=1e-3)
    # Two sets of one bank: 19 · √(2/1000) = .850, a link that adds its information to that of the anchors.
    both = expect_equated_se(1000, anchor_count=200, answers_before=30, answers_now=30)
    assert both == pytest.approx((0.7589**2 + 1 / (0.4382**-2 + 0.8497**-2)) ** 0.5, abs=1e-3)
    alone = expect_equated_se(1000)
    assert alone == pytest.approx((0.7589**2 + 0.8497**2) ** 0.5, abs=1e-3)


def test_it_meets_what_simulated_exams_came_to() -> None:
    def expect(questions: int, anchors: int, answers: float) -> float:
        return (
            expect_equated_se(questions, anchor_count=anchors, answers_before=answers, answers_now=answers)
            or 0.0
        )

    # Published by tests/benchmarks/year_by_commands.py with 7 and 60 candidates in two groups; simulated by validity_equating.
    assert expect(120, 24, 3.5) == pytest.approx(2.8, rel=0.15)
    assert expect(120, 24, 30) == pytest.approx(2.2, rel=0.15)
    assert expect(1000, 200, 60) == pytest.approx(0.87, rel=0.15)


def test_more_questions_more_anchors_and_more_answers_each_make_it_smaller() -> None:
    def expect(questions: int = 120, anchors: int = 24, before: float = 3.0) -> float:
        found = expect_equated_se(questions, anchor_count=anchors, answers_before=before, answers_now=3.0)
        assert found is not None
        return found

    assert max(expect(240), expect(anchors=48), expect(before=9.0)) < expect()
