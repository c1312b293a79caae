from __future__ import annotations

from typing import Any

import pytest

from tasks.bank.augment.free_response import make_free_response
from tasks.questions import Question
from tests.tasks.bank.augment.conftest import NOW, make_accepted, make_options


def free(**changes: Any) -> tuple[str, str, tuple[str, ...], str | None] | None:
    """Type, stem, answer and explanation of the variant; null where there is none."""
    variant = make_free_response(Question.from_row(make_accepted(**changes)), NOW)
    if variant is None:
        return None
    content = variant.content
    return content.question_type, content.stem, content.answer, content.explanation


@pytest.mark.parametrize(
    ("stem", "language", "kind", "freed"),
    [
        ("A tree with 8 leaves has at most ( ) nodes.", "en", "fill_in_the_blank", None),
        ("The capital of France is", "en", "fill_in_the_blank", "The capital of France is ____"),
        ("How many nodes has the tree?", "en", "short_answer", None),
        ("满二叉树第六层的结点数为", "zh", "fill_in_the_blank", "满二叉树第六层的结点数为____"),
        ("太极拳最早是由谁所创？", "zh", "short_answer", None),
    ],
)
def test_a_choice_becomes_its_stem_with_the_text_of_the_key(
    stem: str, language: str, kind: str, freed: str | None
) -> None:
    assert free(stem=stem, language=language) == (kind, freed or stem, ("111",), "Count the level above.")


@pytest.mark.parametrize(
    "stem",
    [
        "Which of the following is prime?",
        "All of these are trees except",
        "The statement that is not true is",
        "下列属于质数的是（ ）",
        "说法不正确的是",
        "Does B follow from C?",
    ],
)
def test_a_stem_that_speaks_of_its_options_stays_a_choice(stem: str) -> None:
    language = "en" if stem.isascii() else "zh"
    assert free(stem=stem, language=language) is None


def test_several_keys_are_several_answers_and_never_more_than_there_are_blanks() -> None:
    assert free(stem="Name the primes.", answer=["A", "C"]) == (
        "short_answer",
        "Name the primes.",
        ("39", "111"),
        "Count the level above.",
    )
    assert free(answer=["A", "C"]) is None


def test_an_option_about_the_others_and_an_explanation_with_a_letter_do_not_come_along() -> None:
    assert free(options=make_options("39", "none of the above"), answer=["A"]) is None
    found = free(explanation="故选C。")
    assert found is not None
    assert found[3] is None


def test_a_statement_is_to_be_judged_with_its_reason_where_the_source_gives_one() -> None:
    statement: dict[str, Any] = {"question_type": "true_false", "options": [], "answer": ["false"]}
    assert free(stem="月球自己发光。", language="zh", **statement, explanation="它反射太阳光。") == (
        "short_answer",
        "判断下面的说法是否成立，并说明理由。\n月球自己发光。",
        ("不成立。它反射太阳光。",),
        "它反射太阳光。",
    )
    assert free(stem="The Moon shines by itself.", **statement, explanation=None) is None


def test_other_types_are_answered_freely_already() -> None:
    assert free(stem="Discuss.", question_type="essay", options=[], answer=["A view."]) is None
