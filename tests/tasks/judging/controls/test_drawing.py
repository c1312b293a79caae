"""Control answers: what they say, and how they are drawn."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from schemas.judgements import CONTROL_KINDS
from tasks.exam import extract_answer
from tasks.judging.controls.drawing import (
    CONTROL_SHARES,
    ControlQuestion,
    count_asked,
    count_kinds,
    draw_controls,
    write_echo,
    write_nonsense,
    write_other,
    write_reference,
    write_wrong_option,
)
from tasks.judging.controls.trials import TRIAL_CONTROLS, list_built_in, list_control_trials
from tasks.judging.keys import check_key
from tasks.questions import QuestionContent


def make_content(question_type: str, answer: list[str], **changes: Any) -> QuestionContent:
    options = [{"label": label, "text": f"text {label}"} for label in "ABCD"]
    row = {
        "question_type": question_type,
        "language": "en",
        "stem": "What is it?",
        "options": options if question_type == "multiple_choice" else [],
        "answer": answer,
        "explanation": "Because it is.",
        "discipline": "Law",
    }
    return QuestionContent.from_row({**row, **changes})


def make_pool(
    disciplines: int = 4, each: int = 30, *, question_type: str = "multiple_choice", texts: int = 0
) -> list[ControlQuestion]:
    """Questions by number; with `texts` they ask about so many texts."""
    pool = []
    for number in range(disciplines * each):
        content = make_content(
            question_type,
            ["ABCD"[number % 4] if question_type == "multiple_choice" else f"answer {number}."],
            stem=f"Question {number}?",
        )
        cluster = f"text {number % texts}" if texts else f"q{number}"
        pool.append(ControlQuestion(f"q{number}", cluster, f"Discipline {number % disciplines}", content))
    return pool


def test_kinds_are_those_of_the_table_and_add_up() -> None:
    assert tuple(CONTROL_SHARES) == CONTROL_KINDS
    assert count_kinds(60) == dict(CONTROL_SHARES)
    for size in (0, 1, 7, 30, 61, 600):
        assert sum(count_kinds(size).values()) == size
        assert sum(count_kinds(size, is_asked=True).values()) == size
        assert "empty" not in count_kinds(size, is_asked=True)
    assert count_asked(60) == 56


@pytest.mark.parametrize(
    ("question_type", "answer", "right", "wrong"),
    [
        ("multiple_choice", ["B"], "B", {"A", "C", "D"}),
        ("multiple_choice", ["A", "C"], "AC", {"B", "D"}),
        ("true_false", ["true"], "true", {"false"}),
        ("true_false", ["false"], "false", {"true"}),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_reference_is_right_and_a_wrong_option_wrong_by_the_key_as_they_are_read(
    question_type: str, answer: list[str], right: str, wrong: set[str], language: str
) -> None:
    content = make_content(question_type, answer, language=language)
    reference, spoiled = write_reference(content), write_wrong_option(content)
    assert reference is not None and spoiled is not None
    assert extract_answer(content.bare, reference) == right
    assert extract_answer(content.bare, spoiled) in wrong
    assert "Because it is." in reference and "Because it is." in spoiled
    assert check_key(content, extract_answer(content.bare, reference)) == "right"
    assert check_key(content, extract_answer(content.bare, spoiled)) == "wrong"


@pytest.mark.parametrize(
    "explanation", [None, " ", "So the answer is A.", "因此选 B。", "It is false: ten is even."]
)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("question_type", "answer"), [("true_false", "true"), ("true_false", "false"), ("multiple_choice", "A")]
)
def test_a_wrong_option_is_well_explained_by_words_that_do_not_take_it_back(
    explanation: str | None, language: str, question_type: str, answer: str
) -> None:
    content = make_content(question_type, [answer], explanation=explanation, language=language)
    found = write_wrong_option(content)
    assert found is not None
    assert ("Checked point by point" if language == "en" else "逐条核对") in found
    assert check_key(content, extract_answer(content.bare, found)) == "wrong"


def test_what_a_question_does_not_allow_is_not_written() -> None:
    assert write_wrong_option(make_content("short_answer", ["x"])) is None
    assert write_wrong_option(make_content("multiple_choice", list("ABCD"))) is None
    assert write_reference(make_content("essay", [])) is None
    choice = make_content("multiple_choice", ["B"])
    assert write_other(choice, make_content("multiple_choice", ["B"])) is None, "it may be right"
    assert write_other(choice, make_content("multiple_choice", ["C"])) == "C\nC. text C\nBecause it is."
    assert (
        write_other(make_content("short_answer", ["a dog"]), make_content("short_answer", ["A dog barks"]))
        is None
    )
    short = make_content("short_answer", ["outcome 1."])
    assert write_other(short, make_content("short_answer", ["outcome 13."])) is None, (
        "marks aside it holds it"
    )
    assert write_other(short, make_content("short_answer", ["none"], explanation="Of Outcome 1")) is None
    truth = make_content("true_false", ["true"])
    assert write_other(truth, make_content("short_answer", ["True"])) is None, "another type says the same"
    assert write_other(truth, make_content("short_answer", ["False"])) is not None
    assert write_other(choice, make_content("essay", [])) is None
    assert write_other(choice, make_content("short_answer", ["x"], language="zh")) is None


def test_nonsense_names_no_option_and_an_echo_is_the_question() -> None:
    for language in ("zh", "en"):
        for answer in ("true_false", "multiple_choice"):
            content = make_content(answer, ["true" if answer == "true_false" else "A"], language=language)
            text = write_nonsense(content)
            assert text == write_nonsense(content)
            assert extract_answer(content.bare, text) is None
    assert (
        write_echo(make_content("multiple_choice", ["A"]))
        == "What is it?\nA. text A\nB. text B\nC. text C\nD. text D"
    )


def test_the_same_seed_draws_the_same_and_another_others() -> None:
    pool = make_pool()
    first, again, other = (draw_controls(pool, 60, seed) for seed in ("s", "s", "t"))
    assert first == again == draw_controls(list(reversed(pool)), 60, "s")
    assert first != other
    assert [one.number for one in first] == list(range(1, 61))
    # By lot, not by kind.
    assert [one.kind for one in first] != sorted(one.kind for one in first)


def test_kinds_are_spread_over_disciplines_and_no_text_has_two_of_a_kind() -> None:
    drawn = draw_controls(make_pool(texts=40), 60, "s")
    assert Counter(one.kind for one in drawn) == Counter(CONTROL_SHARES)
    for kind in CONTROL_SHARES:
        of_kind = [one.question for one in drawn if one.kind == kind]
        assert max(Counter(one.cluster for one in of_kind).values()) == 1
        counts = Counter(one.discipline for one in of_kind)
        assert max(counts.values()) - min(counts.values()) <= 1 and len(counts) == 4
    assert all((one.other_uuid is not None) == (one.kind == "other") for one in drawn)
    assert all(one.other_uuid != one.question.question_uuid for one in drawn)


def test_a_bank_without_choices_gives_the_place_of_wrong_options_to_the_others() -> None:
    counts = Counter(one.kind for one in draw_controls(make_pool(question_type="short_answer"), 60, "s"))
    assert sum(counts.values()) == 60
    assert (counts["wrong_option"], counts["reference"], counts["empty"]) == (0, 20, 4)


def test_a_small_pool_gives_what_it_can() -> None:
    drawn = draw_controls(make_pool(1, 3), 60, "s")
    assert max(Counter(one.kind for one in drawn).values()) == 3
    assert draw_controls([], 60, "s") == []


def test_the_built_in_ones_are_thirty_in_two_languages_and_of_every_asked_kind() -> None:
    trials = list_control_trials()
    assert len(trials) == TRIAL_CONTROLS == 30
    assert trials == list_control_trials()
    assert {one.name for one in trials} == {*CONTROL_SHARES} - {"empty"}
    assert Counter(one.question.language for one in trials) == {"zh": 15, "en": 15}
    assert len({json.dumps(one.question.as_row()) for one in trials}) > 10
    for language in ("zh", "en"):
        for question in list_built_in(language):
            reference = write_reference(question.content)
            assert reference is not None
            assert check_key(question.content, extract_answer(question.content.bare, reference)) != "wrong"
