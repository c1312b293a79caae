"""Cleaning, keys and counting: the small rules everything else stands on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.ingest.layout.headings import read_heading
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.numbers import Candidate, choose_questions
from tasks.ingest.layout.pieces import make_pieces
from tasks.ingest.layout.section_questions import split_section
from tasks.ingest.layout.sections import Section
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.words.answers import (
    read_bracketed_key,
    read_bracketed_truth,
    read_key,
    read_truth,
    split_fillings,
)
from tasks.ingest.words.cleaning import clean_line, clean_text, detect_language, join_wrapped, match_brackets
from tasks.ingest.words.labels import parse_label
from tasks.ingest.words.lexicon import match_type_name


@pytest.mark.parametrize(
    "text", ["x²+y³", "H₂O", "10⁻³", "①②⑩", "½", "25℃", "5㎡", "⑴", "ℝ", "f″(x)", "a…b", "《甲》（乙）：丙？"]
)
def test_cleaning_leaves_mathematics_and_chinese_marks_alone(text: str) -> None:
    assert clean_line(text)[0] == text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Ａ．１２３", "A．123"),
        ("a\u00a0b\u3000c", "a b c"),
        ("zero\u200bwidth\ufeff\u00ad", "zerowidth"),
        ("bell\x07", "bell"),
        ("⼤⼩", "大小"),
        ("ﬁnd ﬂow", "find flow"),
        ("e\u0301", "é"),
    ],
)
def test_characters_that_only_disturb_are_replaced(raw: str, expected: str) -> None:
    assert clean_line(raw)[0] == expected


@given(st.text(max_size=200))
def test_cleaning_is_idempotent_and_every_character_keeps_its_source(raw: str) -> None:
    raw = raw.replace("\n", " ")
    cleaned, sources = clean_line(raw)
    assert len(cleaned) == len(sources)
    assert all(0 <= source < max(len(raw), 1) for source in sources)
    assert list(sources) == sorted(sources)
    assert clean_line(cleaned)[0] == cleaned


@pytest.mark.parametrize(
    ("raw", "language", "expected"),
    [
        ("下列正确的是(   )。", "zh", "下列正确的是（）。"),
        ("is located in (   )", "en", "is located in ( )"),
        ("main() 返回什么", "zh", "main() 返回什么"),
        ("甲（乙)丙", "zh", "甲（乙）丙"),
        ("f(x） = 1", "en", "f(x) = 1"),
        ("a   b\t c", "en", "a b c"),
        ("一行\n\n\n二行", "zh", "一行\n\n二行"),
    ],
)
def test_space_and_brackets_are_settled(raw: str, language: str, expected: str) -> None:
    assert clean_text(raw, language) == expected


def test_brackets_that_match_are_not_touched() -> None:
    assert match_brackets("f(x)（甲）", "zh") == "f(x)（甲）"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("中国的", "首都", "中国的首都"),
        ("the capital", "of", "the capital of"),
        ("inter-", "national", "international"),
        ("用C", "语言", "用C语言"),
        ("the place __", "____ is named", "the place ______ is named"),
    ],
)
def test_wrapped_lines_are_joined_as_their_script_wants(left: str, right: str, expected: str) -> None:
    assert join_wrapped(left, right) == expected


@pytest.mark.parametrize(
    ("text", "language"), [("什么是TCP协议", "zh"), ("What is 中 here, tell me now", "en"), ("1+1=", None)]
)
def test_the_language_is_told_by_the_letters(text: str, language: str | None) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("text", "style", "value"),
    [
        ("一、选择题", "cn", 1), ("十二、题", "cn", 12), ("（三）题", "cnp", 3), ("1. x", "num", 1), ("12．x", "num", 12), ("3、x", "num", 3),
        ("(4) x", "nump", 4), ("5) x", "paren", 5), ("⑥x", "circ", 6), ("⑺x", "nump", 7), ("Q8. x", "word", 8), ("Question 9: x", "word", 9),
        ("第10题 x", "word", 10), ("Part II x", "part", 2), ("Section C: x", "part", 3), ("第四部分 x", "part", 4), ("IV. x", "roman", 4),
        ("(ii) x", "romanp", 2), ("【7】x", "bracket", 7), ("(c) x", "letterp", 3),
    ],
)  # fmt: skip
def test_printed_numbers_of_every_form_are_read(text: str, style: str, value: int) -> None:
    label = parse_label(text)
    assert label is not None
    assert (label.style, label.value) == (style, value)


@pytest.mark.parametrize(
    "text", ["2021年，甲", "3.14是什么", "x. 1", "甲、乙", "10 cm", "Partial sums", "Isaac. x"]
)
def test_ordinary_beginnings_are_no_sure_numbers(text: str) -> None:
    label = parse_label(text)
    assert label is None or label.is_weak


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("一、单项选择题（每题2分，共20分）", "single_choice"), ("二、多选题", "multiple_answer"), ("三、判断题：正确的打√", "true_false"),
        ("Part I Choose the best answer from the choices.（2 points each）", "single_choice"), ("Section B: True or False", "true_false"),
        ("II. Fill in the blanks (10 points)", "fill_in_the_blank"), ("五、名词解释(15 pts)", "term_explanation"), ("四、机制/架构设计题（共2小题）", "design"),
        ("六、论述题", "essay"), ("判断题", "true_false"), ("Part III Answer the following questions.（22 points）", "short_answer"),
        ("七、案例分析题", "case_analysis"), ("三、簡答題", "short_answer"),
    ],
)  # fmt: skip
def test_section_headings_set_the_type(text: str, name: str) -> None:
    heading = read_heading(text)
    assert heading is not None
    assert heading.fine is not None
    assert heading.fine.name == name


@pytest.mark.parametrize(
    "text",
    [
        "1. 阅读材料，回答问题。",
        "计算机网络试题",
        "三、在一个请求分页系统中，试计算缺页率是多少？",
        "Part IV Write a program to find the number.",
        "5. 判断下列命题是否成立",
    ],
)
def test_questions_and_titles_are_no_type_headings(text: str) -> None:
    assert read_heading(text) is None


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("单选", "single_choice"),
        ("多选题", "multiple_answer"),
        ("True/False", "true_false"),
        ("short_answer", "short_answer"),
        ("北京", None),
    ],
)
def test_type_cells_are_understood(cell: str, name: str | None) -> None:
    fine = match_type_name(cell)
    assert (fine.name if fine else None) == name


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("C", "ABCD", ["C"]), ("ＡＢ".translate({0xFF21: "A", 0xFF22: "B"}), "ABCD", ["A", "B"]), ("D、A", "ABCD", ["A", "D"]), ("A and C", "ABCD", ["A", "C"]),
        ("选B", "ABCD", ["B"]), ("E", "ABCD", None), ("AA", "ABCD", None), ("中国", "ABCD", None),
    ],
)  # fmt: skip
def test_keys_are_read_as_labels(text: str, labels: str, expected: list[str] | None) -> None:
    assert read_key(text, labels) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("√", "true"), ("×", "false"), ("对", "true"), ("F", "false"), ("正确。", "true"), ("甲", None)],
)
def test_judgements_are_read(text: str, expected: str | None) -> None:
    assert read_truth(text) == expected


def test_keys_leave_the_brackets_of_a_stem() -> None:
    found = read_bracketed_key("做到（ A ）与（ B ）相统一（见教材）", "ABCD")
    assert found is not None
    assert (found.answer, found.text) == (["A", "B"], "做到（）与（）相统一（见教材）")
    assert read_bracketed_key("关系 R(A, B) 的候选键", "ABCD") is None


def test_a_judgement_in_brackets_gives_its_correction() -> None:
    found = read_bracketed_truth("党的十七大以来。（ × ）(十八大以来）")
    assert found is not None
    assert (found.answer, found.text, found.remark) == (["false"], "党的十七大以来。", "十八大以来")


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("内能；卡诺", 2, ["内能", "卡诺"]),
        ("（1）甲（2）乙", 2, ["甲", "乙"]),
        ("甲 乙 丙", 3, ["甲", "乙", "丙"]),
        ("x, y", 1, ["x, y"]),
        ("甲、乙", 2, ["甲", "乙"]),
        ("SQL 语言 关系代数语言", 2, ["SQL 语言", "关系代数语言"]),
        ("SQL 语言 关系代数语言", 1, ["SQL 语言 关系代数语言"]),
    ],
)
def test_answers_of_several_blanks_are_separated(text: str, count: int, expected: list[str]) -> None:
    assert split_fillings(text, count) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1、C(D)  2、C  3、B", {1: "C(D)", 2: "C", 3: "B"}),
        ("1-5 ABCDD", {1: "A", 2: "B", 3: "C", 4: "D", 5: "D"}),
        ("1～3：AB CD ABC", {1: "AB", 2: "CD", 3: "ABC"}),
        ("10. × 11. √", {10: "×", 11: "√"}),
        ("1. A 2. B 3. 4. D", {1: "A", 2: "B", 4: "D"}),
        ("1. What is B", {}),
        ("(A) 3.  (B) 6.  (C) 9.", {}),
    ],
)
def test_key_lines_are_told_from_text(line: str, expected: dict[int, str]) -> None:
    assert {entry.number: entry.text for entry in read_key_line(line)} == expected


def count(values: list[int], carry: int | None = None) -> list[int]:
    candidates = [Candidate(value) for value in values]
    return choose_questions(candidates, carry, False)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4], [0, 1, 2, 3]),
        ([1, 1, 2, 3, 2, 1, 2, 3], [0, 4, 7]),
        ([1, 2, 4, 5], [0, 1, 2, 3]),
        ([1, 2, 3, 1, 2, 3], [0, 1, 2]),
    ],
    ids=["plain", "lists inside answers", "a gap", "a list inside the last answer"],
)
def test_lists_inside_answers_are_not_counted_as_questions(values: list[int], expected: list[int]) -> None:
    assert count(values) == expected


def test_numbering_may_go_on_from_the_section_before() -> None:
    assert count([8, 9, 10], carry=7) == [0, 1, 2]


def test_a_word_that_counts_from_one_again_opens_a_further_paper() -> None:
    texts = [
        line
        for number in (1, 2, 1, 2, 3, 4)
        for line in (f"Problem {number}", "Consider a wheel in a stream.", "[1] Find its speed.")
    ]
    lines = [Line(text) for text in texts]
    found, _ = split_section(Section(pieces=make_pieces(lines, join_lines(lines)[1])), None)
    assert [label.value for label, _, _ in found if label is not None] == [1, 2, 1, 2, 3, 4]


def test_a_weak_number_counts_only_in_sequence() -> None:
    candidates = [Candidate(1), Candidate(1949, is_weak=True), Candidate(2, is_weak=True), Candidate(3)]
    assert choose_questions(candidates, None, False) == [0, 2, 3]
