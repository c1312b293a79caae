"""What a key alone says of an extracted answer."""

from __future__ import annotations

import pytest

from tasks.judging.keys import check_key
from tasks.questions import QuestionContent
from tests.tasks.models.simulation import make_question


@pytest.mark.parametrize(
    ("question_type", "key", "answer", "verdict"),
    [
        ("true_false", ["true"], "true", "right"),
        ("true_false", ["true"], "false", "wrong"),
        ("true_false", ["true"], None, None),
        ("multiple_choice", ["B", "A"], "AB", "right"),
        ("multiple_choice", ["B"], "AB", "wrong"),
        ("short_answer", ["x"], "x", None),
        ("essay", ["x"], "x", None),
        ("calculation", [], "360", None),
        ("calculation", ["360"], "360", "right"),
        ("calculation", ["360"], "３６０。", "right"),
        ("calculation", ["1,200"], "1200", "right"),
        ("calculation", ["0.50"], "0.5", "right"),
        ("calculation", ["360"], "361", "wrong"),
        ("calculation", ["-3"], "3", "wrong"),
        # One may be the other, rounded: a person would have to look.
        ("calculation", ["3.1416"], "3.14", None),
        ("calculation", ["3.1416"], "3.2", None),
        ("calculation", ["3.1416"], "3.5", "wrong"),
        # In other words, or with a unit: the key alone cannot say.
        ("calculation", ["360个"], "360", None),
        ("calculation", [r"\frac{1}{2}"], "0.5", None),
        ("fill_in_the_blank", ["sonnet"], "sonnet", "right"),
        ("fill_in_the_blank", ["sonnet"], "a sonnet", None),
        ("fill_in_the_blank", ["a", "b"], "a", None),
    ],
)  # fmt: skip
def test_the_key_alone_says_right_wrong_or_nothing(
    question_type: str, key: list[str], answer: str | None, verdict: str | None
) -> None:
    row = make_question(0, question_type=question_type, answer=key)
    assert check_key(QuestionContent.from_row(row), answer) == verdict
