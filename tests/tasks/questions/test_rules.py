from __future__ import annotations

from typing import Any

import pytest

from tasks.operations.validation import read_rule_notes
from tasks.operations.validation.questions import RuleNote
from tasks.questions.question import QuestionContent
from tasks.questions.rules import ANSWERABLE, RULES, find_broken_rules, find_unanswerable, is_sound_choice
from tasks.questions.variants.doubts import DOUBTS, find_doubts
from tests.tasks.bank.augment.conftest import make_accepted, make_options


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


QUESTION_RULES = [note for note in read_rule_notes().values() if note.name in {**RULES, **DOUBTS}]


def test_every_rule_and_doubt_is_told_in_words_with_an_example() -> None:
    told = {note.name: note.refuses for note in read_rule_notes().values()}
    assert {name: told[name] for name in RULES} == dict.fromkeys(RULES, True)
    assert {name: told[name] for name in DOUBTS} == dict.fromkeys(DOUBTS, False)


@pytest.mark.parametrize("note", QUESTION_RULES, ids=[note.name for note in QUESTION_RULES])
def test_the_example_of_a_rule_breaks_it_and_a_sound_question_does_not(note: RuleNote) -> None:
    find = find_broken_rules if note.refuses else find_doubts
    assert note.name in find(QuestionContent.from_row(make_accepted(**note.example)))
    assert find(QuestionContent.from_row(make_accepted())) == []


@pytest.mark.parametrize(
    ("changes", "doubts"),
    [
        ({"stem": "DNA复制时\ue00d需要哪种酶", "language": "zh"}, ["text_is_not_damaged"]),
        ({"stem": "It cost â€“ a lot of ( ) nodes."}, ["text_is_not_damaged"]),
        ({"stem": "如图所示，电路中的电流为（ ）。", "language": "zh"}, ["nothing_absent_is_referred_to"]),
        ({"stem": "如图所示，电流为（ ）。", "language": "zh", "material": "电路由两个电阻串联。"}, []),
        ({"stem": "在地图制图中使用最广泛的投影是（ ）。", "language": "zh"}, []),
        ({"stem": "She sat at the table with ( ) guests."}, []),
        ({"stem": "IBS", "question_type": "term_explanation", "options": [], "answer": ["A syndrome."]}, []),
        ({"stem": "Water boils at ( ) °C ________ 水在标准大气压下的沸点"}, []),
    ],
)
def test_doubts_are_raised_about_what_an_editor_should_see(
    changes: dict[str, Any], doubts: list[str]
) -> None:
    assert find_doubts(QuestionContent.from_row(make_accepted(**changes))) == doubts


@pytest.mark.parametrize("note", QUESTION_RULES, ids=[note.name for note in QUESTION_RULES])
def test_the_quick_look_at_a_choice_agrees_with_the_rules(note: RuleNote) -> None:
    content = QuestionContent.from_row(make_accepted(**note.example))
    if content.question_type == "multiple_choice":
        labels = [option.label for option in content.options]
        texts = [option.text for option in content.options]
        sound = is_sound_choice(content.stem, labels, texts, content.answer)
        assert sound == (not find_broken_rules(content))
