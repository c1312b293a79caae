"""Reading an answer out of a response."""

from __future__ import annotations

import pytest

from tasks.models.answers import parse_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("正确。因为……", "true"),
        ("错误。原命题中“正确”的说法……", "false"),
        ("这个说法不正确。", "false"),
        ("该说法不成立，并非对所有情形都对。", "false"),
        ("False, because the premise is true only sometimes.", "false"),
        ("This is not correct.", "false"),
        ("true. It follows from the definition.", "true"),
        ("先看条件，可能错误。\n最终答案：正确，条件都满足。", "true"),
        ("Steps… wrong turns…\nFinal answer: true", "true"),
        ("难以判断。", None),
        ("", None),
    ],
)
def test_a_statement_is_answered_true_or_false(text: str, answer: str | None) -> None:
    assert parse_answer("true_false", text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("B。理由：……", "B"),
        ("答案：A、C、D", "ACD"),
        ("选 DB", "BD"),
        ("A and C are right.", "AC"),
        ("A mistake is easily made here. Answer: C", "C"),
        ("选项B正确", "B"),
        ("A mistake is easily made here", None),
        ("Z", None),
        ("都不对", None),
    ],
)
def test_a_choice_is_answered_by_its_labels_in_order(text: str, answer: str | None) -> None:
    assert parse_answer("multiple_choice", text, ["A", "B", "C", "D"]) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("v=s/t=5\n最终答案：5 m/s\n（完）", "5 m/s"),
        ("The answer is: 42", "42"),
        ("没有写明结果", None),
    ],
)
def test_other_questions_are_answered_by_a_named_final_answer_only(text: str, answer: str | None) -> None:
    assert parse_answer("calculation", text) == answer
