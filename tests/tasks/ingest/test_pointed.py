"""A reading that somebody points at: what is not in the paper is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.ingest.content.drafts import Draft
from tasks.ingest.readers.extraction import Extraction, Line, Sheet
from tasks.ingest.second_reader.pointed import ShownLines, read_pointed, show_lines

PAPER = """海洋学小测
一、单项选择题（每题2分）
1. 下列属于行星的是（ B ）
A 太阳  B 金星
2. A set of 1 and 2 holds how many elements?
A) 1
B) 2
C) 12
二、判断题
3. 潮汐由月球引起。
三、简答题
4. What is the average depth of the
Pacific Ocean? (5 points)
5. The capital of France is Paris.
参考答案
1-2 BB
3. √
4. About four
kilometres. It was measured by sonar."""


def show(text: str = PAPER, key: str = "") -> ShownLines:
    paper = Extraction("test", "1", [Line(line) for line in text.split("\n")])
    companion = Extraction("test", "1", [Line(line) for line in key.split("\n")]) if key else None
    return show_lines(paper, companion)


def point(*questions: dict[str, Any], shown: ShownLines | None = None, **said: Any) -> list[Draft]:
    return read_pointed(shown or show(), {"questions": list(questions), **said}).split.drafts


def test_a_choice_is_read_by_lines_and_by_quotations() -> None:
    one, other = point(
        {"number": "1", "type": "single_choice", "stem": "2", "options": {"A": "3:太阳", "B": "3:金星"},
         "answer": "2:( B )", "key": "B"},
        {"number": "2", "type": "single_choice", "stem": ["4"], "options": {"A": "5", "B": "6", "C": "7"},
         "answer": ["15:B"], "key": "B"},
        sections=[{"line": 1, "type": "single_choice"}],
    )  # fmt: skip
    assert (one.number_label, one.value, one.stem) == ("1", 1, "下列属于行星的是")
    assert (one.options, one.answer, one.marks) == ([("A", "太阳"), ("B", "金星")], ["B"], 2.0)
    assert other.stem == "A set of 1 and 2 holds how many elements?"
    assert other.options == [("A", "1"), ("B", "2"), ("C", "12")]
    assert other.answer == ["B"]
    assert PAPER[one.start : one.end] == "1. 下列属于行星的是（ B ）\nA 太阳  B 金星"


def test_judgements_and_free_answers_are_what_the_key_prints() -> None:
    judged, free = point(
        {"number": "3", "type": "true_false", "stem": "9", "answer": "16:√", "key": "true"},
        {"number": "4", "type": "short_answer", "stem": "11-12", "answer": "17-18"},
    )
    assert (judged.question_type, judged.answer) == ("true_false", ["true"])
    assert free.stem == "What is the average depth of the\nPacific Ocean?"
    assert free.marks == 5.0
    assert free.answer == ["About four\nkilometres. It was measured by sonar."]


def test_what_fills_a_sentence_leaves_a_gap() -> None:
    (filled,) = point({"number": "5", "type": "fill_in_the_blank", "stem": "13", "answer": "13:Paris"})
    assert (filled.stem, filled.answer) == ("The capital of France is ____.", ["Paris"])


@pytest.mark.parametrize(
    "question",
    [
        {"number": "9", "type": "short_answer", "stem": "9:潮汐由火星引起。"},
        {"number": "9", "type": "short_answer", "stem": "99"},
        {"number": "9", "type": "short_answer", "stem": "9-7"},
        {"number": "9", "type": "short_answer", "stem": "the tides"},
        {"number": "9", "type": "short_answer", "stem": 4.5},
        {"number": "9", "type": "short_answer"},
        {"number": "9", "type": "single_choice", "stem": "9", "options": {"A": "3:木星"}},
        {"number": "9", "type": "single_choice", "stem": "9", "options": {"AA": "3"}},
        {"number": "9", "type": "single_choice", "stem": "9", "options": ["3"]},
        {"number": "9", "type": "short_answer", "stem": "9", "material": "9:nothing of it"},
        {"number": "9", "type": "short_answer", "stem": {"line": 9}},
    ],
)
def test_what_is_not_in_the_paper_is_refused_and_counted(question: dict[str, Any]) -> None:
    found = read_pointed(show(), {"questions": [question, "no object"]})
    assert (found.split.drafts, found.refused) == ([], ("9",))


@pytest.mark.parametrize(
    "said", [{}, {"questions": None}, {"questions": 7, "sections": "x"}, {"sections": [3]}]
)
def test_a_reply_of_another_form_is_no_reading(said: dict[str, Any]) -> None:
    assert read_pointed(show(), said).split.drafts == []


def test_an_answer_that_is_not_printed_is_none_and_a_key_without_a_place_is_none() -> None:
    invented, alone = point(
        {"number": "3", "type": "true_false", "stem": "9", "answer": "16:错误", "key": "false"},
        {"number": "2", "type": "single_choice", "stem": "4", "options": {"A": "5", "B": "6"}, "key": "A"},
    )
    assert invented.answer == alone.answer == []


def test_a_key_that_is_not_in_what_is_pointed_at_is_doubted() -> None:
    shown = show("1. Which floats?\nA. iron\nB. cork\nThe second of them is right.")
    (one,) = point(
        {"number": "1", "type": "single_choice", "stem": "0", "options": {"A": "1", "B": "2"},
         "answer": "3", "key": "B"},
        shown=shown,
    )  # fmt: skip
    assert one.answer == ["B"]
    assert "key_by_reader" in one.notes


def test_a_letter_of_a_row_of_keys_answers_one_question() -> None:
    questions = [
        {"number": str(number), "type": "single_choice", "stem": "4", "options": {"A": "5", "B": "6"},
         "answer": "15:B", "key": "B"}
        for number in (1, 2, 3)
    ]  # fmt: skip
    assert [one.answer for one in point(*questions)] == [["B"], ["B"], []]


def test_an_answer_file_answers_and_asks_nothing() -> None:
    shown = show("1. Why do tides rise?\n2. Why do they fall?", "1. The Moon pulls.\n3. How so?")
    assert (shown.own, len(shown.lines)) == (2, 4)
    answered, *others = point(
        {"number": "1", "type": "short_answer", "stem": "0", "answer": "2"},
        {"number": "3", "type": "short_answer", "stem": "3"},
        shown=shown,
    )
    assert (answered.answer, others) == (["The Moon pulls."], [])


def test_rows_of_sheets_are_lines_and_print_that_stands_out_is_shown() -> None:
    sheet = Sheet(
        "Sheet1", [["1", "Which floats?", "iron\nore"], ["", " ", ""], ["2", "Which sinks?", "cork"]]
    )
    rows = show_lines(Extraction("test", "1", sheets=[sheet]), None).describe()
    assert rows["lines"] == ["1 | Which floats? | iron ore", "2 | Which sinks? | cork"]
    lines = [Line("A. cork", emphasis=((3, 7, "bold"),)), *[Line(f"line {number}") for number in range(4)]]
    assert show_lines(Extraction("test", "1", lines), None).describe()["lines"][0] == "A. ⟦cork⟧"


def test_what_a_paper_says_of_itself_holds_for_what_is_pointed_at_too() -> None:
    text = "一、判断题（共5题，每题2分）\n1. 潮汐由月球引起。（√）\n2. 海水是甜的。（×）"
    found = read_pointed(
        show(text),
        {
            "sections": [{"line": 0, "type": "true_false"}],
            "questions": [
                {"number": "1", "type": "true_false", "stem": "1", "answer": "1:(√)", "key": "true"}
            ],
        },
    )
    broken = {one.contract for one in found.split.checked.breaches}
    assert "announced_count" in broken
    assert found.split.checked.score < 0.5
