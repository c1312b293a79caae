from __future__ import annotations

from typing import Any

import pytest

from tasks.questions.question import QuestionContent
from tasks.questions.rules import ANSWERABLE, RULES, find_broken_rules, find_unanswerable
from tests.tasks.augment.conftest import make_accepted, make_options


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({}, []),
        ({"stem": " \n"}, ["stem_is_not_empty"]),
        ({"answer": []}, ["answer_is_not_empty"]),
        ({"answer": ["C", " "]}, ["answer_is_not_empty", "key_is_among_labels"]),
        ({"options": make_options("39"), "answer": ["A"]}, ["choice_has_two_options"]),
        ({"options": [], "answer": ["A"]}, ["choice_has_two_options", "key_is_among_labels"]),
        (
            {"options": [{"label": "A", "text": "x"}, {"label": "C", "text": "y"}], "answer": ["A"]},
            ["labels_are_unique_and_sequential"],
        ),
        (
            {"options": [{"label": "A", "text": "x"}, {"label": "A", "text": "y"}], "answer": ["A"]},
            ["labels_are_unique_and_sequential"],
        ),
        ({"options": make_options("x", " ", "y")}, ["option_texts_are_not_empty"]),
        ({"options": make_options("x", "y z", " y  z ")}, ["option_texts_are_distinct"]),
        ({"answer": ["E"]}, ["key_is_among_labels"]),
        ({"answer": ["A", "A"]}, ["key_is_among_labels"]),
        ({"answer": ["A", "C", "D"]}, []),
        ({"question_type": "short_answer", "answer": ["Because."]}, ["only_choices_have_options"]),
        ({"question_type": "true_false", "options": [], "answer": ["false"]}, []),
        ({"question_type": "true_false", "options": [], "answer": ["yes"]}, ["truth_is_true_or_false"]),
        (
            {"question_type": "true_false", "options": [], "answer": ["true", "false"]},
            ["truth_is_true_or_false"],
        ),
    ],
)
def test_a_choice_or_statement_names_exactly_the_rules_it_breaks(
    changes: dict[str, Any], rules: list[str]
) -> None:
    assert find_broken_rules(QuestionContent.from_row(make_accepted(**changes))) == rules


@pytest.mark.parametrize(
    ("stem", "answer", "rules"),
    [
        ("Water boils at ____ °C and freezes at ____ °C.", ["100", "0"], []),
        ("Water boils at ____ °C and freezes at ____ °C.", ["100; 0"], []),
        ("水的沸点是（  ），冰点是（　）。", ["100、0"], []),
        ("Water boils at ____ °C and freezes at ____ °C.", ["100"], ["blanks_match_answers"]),
        ("Water boils at ____ °C.", ["100", "0"], ["blanks_match_answers"]),
        ("Water boils at one hundred degrees.", ["100"], ["blanks_match_answers"]),
        ("Water boils at ____ °C.", ["water, 100"], []),
        ("光合作用在____中进行，叶绿体含有叶绿素。", ["叶绿体"], ["stem_does_not_give_the_answer"]),
        ("光合作用在____中进行。", ["叶绿体"], []),
        ("1 + ____ = 3, so 2 + 1 = 3.", ["2"], []),
    ],
)
def test_a_fill_in_question_has_a_blank_per_answer_and_does_not_give_it_away(
    stem: str, answer: list[str], rules: list[str]
) -> None:
    language = "zh" if "中" in stem or "水" in stem else "en"
    row = make_accepted(stem, question_type="fill_in_the_blank", options=[], answer=answer, language=language)
    assert find_broken_rules(QuestionContent.from_row(row)) == rules


def test_a_short_answer_that_stands_in_its_stem_is_a_leak() -> None:
    row = make_accepted(
        "Which organelle, the Mitochondrion, makes ATP?",
        question_type="short_answer",
        options=[],
        answer=["mitochondrion"],
    )
    content = QuestionContent.from_row(row)
    assert find_broken_rules(content) == ["stem_does_not_give_the_answer"]
    assert find_unanswerable(content) == []


def test_every_answerable_rule_is_a_rule() -> None:
    assert set(ANSWERABLE) < set(RULES)
