"""What is read out of a response, and what is left alone."""

from __future__ import annotations

import pytest

from tasks.exam.answers import extract_answer
from tasks.questions import BareQuestion, Option

LABELS = ["A", "B", "C", "D"]


def choice(response: str, labels: list[str] = LABELS) -> str | None:
    options = tuple(Option(label, f"text {label}") for label in labels)
    return extract_answer(BareQuestion("multiple_choice", "zh", "?", None, options), response)


def truth(response: str) -> str | None:
    return extract_answer(BareQuestion("true_false", "zh", "?"), response)


def final(response: str) -> str | None:
    return extract_answer(BareQuestion("fill_in_the_blank", "zh", "?"), response)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("B", "B"),
        ("B.", "B"),
        ("(C) because it fits", "C"),
        ("**D**\n\nThe reason is plain.", "D"),
        ("A、C。理由如下", "AC"),
        ("CA", "AC"),
        ("选 B，因为……", "B"),
        ("答案：BD", "BD"),
        ("本题的正确答案是 C。A 错在……", "C"),
        ("The answer is (B), not A.", "B"),
        ("First I thought A.\nStep 2 rules it out.\nFinal answer: D. It is the only one left.", "D"),
        ("逐一分析：A 不对，B 也不对。\n最终答案：A 和 D，因为……", "AD"),
        ("Reasoning… \\boxed{\\text{C}}", "C"),
        ("A, B and D", "ABD"),
    ],
)
def test_labels_are_read_where_a_response_gives_them(response: str, expected: str) -> None:
    assert choice(response) == expected


@pytest.mark.parametrize(
    "response",
    [
        "",
        "A student asked whether it holds.",
        "Apple is a fruit.",
        "I cannot decide.",
        "E",
        "答案见上文",
        "All of them.",
    ],
)
def test_labels_are_not_guessed(response: str) -> None:
    assert choice(response) is None


def test_labels_follow_the_order_of_the_options() -> None:
    assert choice("②、①", ["①", "②", "③"]) == "①②"
    assert choice("A", []) is None


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("true", "true"),
        ("True. Because it is so.", "true"),
        ("**False** — it is not.", "false"),
        ("正确。因为……", "true"),
        ("不正确。正确的说法是……", "false"),
        ("错误，理由如下：正确的应为……", "false"),
        ("√", "true"),
        ("×", "false"),
        ("Not correct: the reverse holds.", "false"),
        ("答案：错误。", "false"),
        ("一步一步地想：这看上去正确，其实有反例。\n最终答案：错误，反例见上。", "false"),
        ("First it looks false. Final answer: true, since…", "true"),
        ("经分析，该说法是不正确的。", "false"),
        ("After all this, the statement is correct.", "true"),
    ],
)
def test_true_and_false_are_read_in_both_languages(response: str, expected: str) -> None:
    assert truth(response) == expected


@pytest.mark.parametrize(
    "response", ["", "对于这个问题，需要更多条件。", "It depends on the case.", "正弦函数是周期函数。"]
)
def test_true_and_false_are_not_guessed(response: str) -> None:
    assert truth(response) is None


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("步骤……\n最终答案：42 cm", "42 cm"),
        ("Answer: first; second\nbecause", "first; second"),
        ("so \\boxed{x = \\frac{1}{2}}", "x = \\frac{1}{2}"),
        ("An essay without any mark of its end", None),
        ("", None),
    ],
)
def test_other_types_give_what_stands_behind_the_last_mark(response: str, expected: str | None) -> None:
    assert final(response) == expected
