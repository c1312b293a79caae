"""A reading that somebody points at: what is not in the paper is refused."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tasks.ingest.content.drafts import Draft
from tasks.ingest.readers.extraction import Extraction, Line, Sheet
from tasks.ingest.second_reader import ShownLines, ShownPaper, make_window, read_pointed, show_lines
from tasks.ingest.second_reader.requests import end_window, join_replies
from tests.hunts import tries

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


def ask_one(text: str, **question: Any) -> Draft:
    shown = show(text)
    (found,) = point({"number": "1", "stem": "0", **question}, shown=shown)
    return found


@pytest.mark.parametrize(
    ("line", "number", "stem"),
    [
        ("14. 2，5，10，17，___", "14", "2，5，10，17，___"),
        ("17．2022年产量增长约", "17", "2022年产量增长约"),
        ("5.5 m of rope weigh how much?", "5", "5.5 m of rope weigh how much?"),
        ("In 3 minutes it boils. Why?", "3", "In 3 minutes it boils. Why?"),
        ("Hi i am what?", "i", "Hi i am what?"),
        ("第一次世界大战何时开始？", "一", "第一次世界大战何时开始？"),
        ("第3题 潮汐由什么引起？", "3", "潮汐由什么引起？"),
        ("[单选]3.潮汐由什么引起？", "3", "潮汐由什么引起？"),
        ("Problem n. 3 — Why do tides rise?", "3", "Why do tides rise?"),
        ("3 Why do tides rise?", "3", "Why do tides rise?"),
        ("Part VI Suppose that tides rise.", "VI", "Suppose that tides rise."),
        ("Question 4 (20 marks) Consider the tides.", "4", "Consider the tides."),
        ("(a) Consider the tides.", "1(a)", "Consider the tides."),
        ("1. (a) Consider the tides.", "1(a)", "Consider the tides."),
        ("1.2 Consider the tides.", "1.2", "Consider the tides."),
        ("a tide of 3 m: why?", "3(a)", "a tide of 3 m: why?"),
        ("０3．潮汐由什么引起？", "3", "潮汐由什么引起？"),
    ],
)
def test_the_number_of_a_question_is_cut_off_and_nothing_else(line: str, number: str, stem: str) -> None:
    assert ask_one(line, number=number, type="short_answer").stem == stem


@pytest.mark.parametrize(
    ("offered", "texts"),
    [
        (["A. 1 km", "B. 2 km"], ["1 km", "2 km"]),
        (["A branded pen", "A gold watch"], ["A branded pen", "A gold watch"]),
        (["①②", "②③"], ["①②", "②③"]),
        (["A地", "B地"], ["地", "地"]),
        (["а) вода;", "б) лёд;"], ["вода;", "лёд;"]),
        (["1. Wait", "2. Run"], ["Wait", "Run"]),
        (["[x] cork", "[ ] iron"], ["cork", "iron"]),
        (["1 km", "2 km"], ["1 km", "2 km"]),
        (["1.5 km", "2.5 km"], ["1.5 km", "2.5 km"]),
        (["I. iron", "II. cork"], ["iron", "cork"]),
        (["(i) iron", "(ii) cork"], ["iron", "cork"]),
        (["I float", "You float"], ["I float", "You float"]),
        (["İstanbul", "ßrom"], ["İstanbul", "ßrom"]),
        (["Ｂ．铁", "Ｃ．木"], ["铁", "木"]),
    ],
)
def test_options_lose_their_labels_and_no_text(offered: list[str], texts: list[str]) -> None:
    options = {letter: str(place) for place, letter in enumerate("AB", start=1)}
    found = ask_one("\n".join(["1. Which?", *offered]), type="single_choice", options=options)
    assert [text for _, text in found.options] == texts


def test_options_quoted_without_their_labels_keep_what_looks_like_one() -> None:
    found = ask_one(
        "1. How far?\nA. 1 km  B. 2.5 km  C. A型",
        type="single_choice",
        options={"A": "1:1 km", "B": "1:2.5 km", "C": "1:A型"},
    )
    assert [text for _, text in found.options] == ["1 km", "2.5 km", "A型"]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        # the line of the answer in a range of the stem, and of an option
        ("1. Why do tides rise?\nAnswer: the Moon pulls.", {"stem": "0-1", "answer": "1"}),
        # a part of it
        (
            "1. Which floats? Answer: cork",
            {"stem": "0:1. Which floats? Answer: cork", "answer": "0:Answer: cork"},
        ),
        # the letter in brackets, not the one in a word
        ("1. THE CAPITAL OF FRANCE IS ( A )", {"answer": "0:A", "key": "A", "options": {"A": "0:CAPITAL"}}),
    ],
)
def test_no_stem_shows_its_answer(text: str, question: dict[str, Any]) -> None:
    found = ask_one(text, type="short_answer", **question)
    assert found.answer
    assert "Moon" not in found.stem and "cork" not in found.stem and "( A )" not in found.stem


def test_the_keys_of_other_questions_are_cut_out_of_a_shared_text() -> None:
    shown = show(
        "The sea (B) is deep (A).\n1. What is it?\nA. a lake\nB. water\n2. How is it?\nA. deep\nB. low"
    )
    first, second = point(
        {"number": "1", "type": "single_choice", "material": "0", "stem": "1", "options": {"A": "2", "B": "3"},
         "answer": "0:(B)", "key": "B"},
        {"number": "2", "type": "single_choice", "material": "0", "stem": "4", "options": {"A": "5", "B": "6"},
         "answer": "0:(A)", "key": "A"},
        shown=shown,
    )  # fmt: skip
    assert (first.answer, second.answer) == (["B"], ["A"])
    assert first.material == second.material == "The sea is deep ."


def test_an_option_is_no_answer_unless_something_marks_it() -> None:
    options = {"A": "1", "B": "2"}
    plain = ask_one(
        "1. Which floats?\nA. iron\nB. cork", type="single_choice", options=options, answer="2", key="B"
    )
    assert plain.answer == []
    ticked = ask_one(
        "1. Which floats?\nA. iron\nB. cork ✓", type="single_choice", options=options, answer="2:✓", key="B"
    )
    assert (ticked.answer, ticked.options[1][1]) == (["B"], "cork")


def test_of_a_row_of_keys_each_number_has_its_own() -> None:
    lines = [
        "1. Which floats?",
        "A. iron",
        "B. cork",
        "11. Which sinks?",
        "A. iron",
        "B. cork",
        "1. B 2. A 11. A",
    ]
    one, eleven = point(
        {"number": "1", "type": "single_choice", "stem": "0", "options": {"A": "1", "B": "2"},
         "answer": "6:1. B", "key": "B"},
        {"number": "11", "type": "single_choice", "stem": "3", "options": {"A": "4", "B": "5"},
         "answer": "6:11. A", "key": "A"},
        shown=show("\n".join(lines)),
    )  # fmt: skip
    assert (one.answer, eleven.answer) == (["B"], ["A"])


def test_answers_keep_numbers_that_look_like_the_questions() -> None:
    found = ask_one(
        "3. How long?\nAnswer: 3.5 metres", number="3", type="short_answer", answer="1:3.5 metres"
    )
    assert found.answer == ["3.5 metres"]


def test_hundreds_of_keys_in_one_row_are_read_in_a_moment() -> None:
    row = " ".join(f"{number}. {'AB'[number % 2]}" for number in range(1, 301))
    lines = [row, *[f"{number}. Which floats? A. iron B. cork" for number in range(1, 301)]]
    questions = [
        {"number": str(number), "type": "single_choice", "stem": f"{number}:Which floats?",
         "options": {"A": f"{number}:iron", "B": f"{number}:cork"}, "answer": f"0:{number}. {'AB'[number % 2]}",
         "key": "AB"[number % 2]}
        for number in range(1, 301)
    ]  # fmt: skip
    found = point(*questions, shown=show("\n".join(lines)))
    assert [one.answer for one in found] == [["AB"[number % 2]] for number in range(1, 301)]


def test_a_long_row_of_keys_without_numbers_is_given_out_in_order() -> None:
    keys = "ABBA" * 65
    lines = [keys, *[f"{number}. Which floats? A. iron B. cork" for number in range(1, len(keys) + 1)]]
    questions = [
        {"number": str(number), "type": "single_choice", "stem": f"{number}:Which floats?",
         "options": {"A": f"{number}:iron", "B": f"{number}:cork"}, "answer": f"0:{key}", "key": key}
        for number, key in enumerate(keys, start=1)
    ]  # fmt: skip
    found = point(*questions, shown=show("\n".join(lines)))
    assert "".join(one.answer[0] for one in found) == keys


def test_a_line_that_announces_questions_still_does_where_it_is_taken_for_one() -> None:
    said = {
        "questions": [{"number": str(number), "stem": [str(at)]} for number, at in enumerate((1, 2, 3), 1)]
    }
    reading = read_pointed(show("Mills\nAnswer all 7 questions.\n1. What turns?\n2. What grinds?"), said)
    assert [breach.contract for breach in reading.split.checked.breaches] == ["announced_total"]
    assert reading.split.checked.score < 0.5


CLOZE = "Fill in the blanks.\nThe (1) tide rises twice a day,\nas the (2) gravitation of the (3) Moon pulls.\n(4) gravity"


@pytest.mark.parametrize(
    "asked",
    [
        {"material": "1-3", "stem": "0"},
        {"material": ["1", "2", "3"]},
        {"stem": "1-3"},
        {"stem": ["0", "1-3"]},
    ],
)
def test_words_that_fill_a_shared_text_are_shown_with_none_of_its_questions(asked: dict[str, Any]) -> None:
    places = {"1": "1:tide", "2": "2:gravitation", "3": "2:Moon", "4": "3:gravity"}
    stems = {} if "stem" in asked else {number: {"stem": place} for number, place in places.items()}
    drafts = point(
        *(
            {"number": number, "type": "fill_in_the_blank", "answer": place, **asked, **stems.get(number, {})}
            for number, place in places.items()
        ),
        shown=show(CLOZE),
    )
    assert [draft.answer for draft in drafts] == [["tide"], ["gravitation"], ["Moon"], ["gravity"]]
    for draft in drafts:
        shown = f"{draft.material or ''}\n{draft.stem}"
        assert not any(word in shown for word in ("tide", "gravitation", "Moon", "gravity"))
        assert "The (1) ____ rises twice a day,\nas the (2) ____ of the (3) ____ pulls.\n(4) ____" in shown


def test_a_passage_keeps_the_words_that_a_reader_finds_in_it() -> None:
    text = "Read.\nTides rise because the Moon pulls.\n1. Why do tides rise?\n2. What pulls?"
    one, other = point(
        {"number": "1", "type": "short_answer", "material": "1", "stem": "2", "answer": "1:because the Moon pulls"},
        {"number": "2", "type": "short_answer", "material": "1", "stem": "3", "answer": "1"},
        shown=show(text),
    )  # fmt: skip
    assert one.answer == other.answer == []
    assert one.material == other.material == "Tides rise because the Moon pulls."


def test_the_blank_that_was_filled_is_the_one_behind_its_number() -> None:
    (found,) = point(
        {"number": "2", "type": "fill_in_the_blank", "stem": "0", "answer": "0:gravitation"},
        shown=show("All gravitation pulls, and (2) gravitation of the Moon most."),
    )
    assert found.stem == "All gravitation pulls, and (2) ____ of the Moon most."


def test_a_text_that_may_print_an_answer_that_was_not_found_is_doubted() -> None:
    (found,) = point({"number": "5", "type": "fill_in_the_blank", "stem": "13", "answer": "13:Pariss"})
    assert (found.answer, "text_holds_answer" in found.notes) == ([], True)


FLOATS = "1. Which floats?\nA. iron\nB. cork\nC. wood\nAnswer: BC"
OFFERED = {"A": "1", "B": "2", "C": "3"}


@pytest.mark.parametrize(
    "key", ["BC", "B,C", "bc", "Ｂ、Ｃ", "B and C", ["B", "C"], ["b", ["c"]], [["B", None], "C"], "(BC)"]
)
def test_a_key_is_read_however_a_reader_writes_it(key: object) -> None:
    found = ask_one(FLOATS, type="multiple_answer", options=OFFERED, answer="4:Answer: BC", key=key)
    assert (found.answer, found.notes) == (["B", "C"], ["assisted"])


@pytest.mark.parametrize("key", [True, "True", "T", "对", ["true"]])
def test_a_judgement_is_read_however_a_reader_writes_it(key: object) -> None:
    found = ask_one("1. Cork floats.\nThat is so.", type="true_false", answer="1", key=key)
    assert (found.question_type, found.answer) == ("true_false", ["true"])


@pytest.mark.parametrize(
    "options",
    [
        {"c": 3, "a": [[1]], "b": "2"},
        {"Ｃ": "3", "Ａ": "1|A. iron", "Ｂ": "2: cork"},
        {"1": "1", "2": "2", "3": "3"},
        {"(A)": ["1", "1:iron"], "B.": ["2", None], "C)": ["3", "3"]},
    ],
)
def test_options_are_read_however_a_reader_names_them(options: dict[str, Any]) -> None:
    key = "23" if "1" in options else "BC"
    found = ask_one(FLOATS, type="multiple_answer", options=options, answer="4:BC", key=key)
    assert found.options == [("A", "iron"), ("B", "cork"), ("C", "wood")]
    assert (found.answer, found.notes) == (["B", "C"], ["assisted"])


@pytest.mark.parametrize("name", ["9" * 5000, "", "Б", "11", "AB"])
def test_options_of_no_known_name_are_refused(name: str) -> None:
    question = {"number": "1", "type": "single_choice", "stem": "0", "options": {"A": "1", name: "2"}}
    assert read_pointed(show(FLOATS), {"questions": [question]}).refused == ("1",)


def test_a_question_whose_options_have_a_gap_is_doubted() -> None:
    found = ask_one(FLOATS, type="single_choice", options={"A": "1", "C": "3"})
    assert "option_missing" in found.notes


@pytest.mark.parametrize("part", ["stem", "material", "options"])
def test_nothing_of_an_answer_file_is_shown_to_candidates(part: str) -> None:
    place: object = {"A": "3", "B": "4"} if part == "options" else "3"
    question = {"number": "1", "type": "short_answer", "stem": "0", part: place}
    found = read_pointed(
        show("1. Why?\nA. iron\nB. cork", "1. Since it floats.\nAll of it."), {"questions": [question]}
    )
    assert (found.split.drafts, found.refused) == ([], ("1",))


def test_a_line_that_is_named_twice_is_read_once() -> None:
    assert ask_one("1. Why do tides rise?\nSay how.", stem=["0", ["0:tides", "0-1"], "1"]).stem == (
        "Why do tides rise?\nSay how."
    )


def test_what_is_asked_explains_nothing() -> None:
    found = ask_one("1. Why do tides rise?", type="short_answer", explanation="0")
    assert (found.stem, found.explanation) == ("Why do tides rise?", None)


@pytest.mark.hunt
def test_whatever_is_replied_questions_hold_only_what_the_paper_says() -> None:
    draw = random.Random(30)
    known = {character for character in f"{PAPER}1. B 2. √____" if character.isalnum()}
    said: list[Any] = [
        *(None, True, False, 0, 3, -1, 4.5, 10**30, "", "９", "2-5", "1-999999999", "1-400", "5-2", "4:", "4:A set"),
        *("3:太阳", "4| A set", "13:Paris", "15:B", "16:√", "19", "20:B", ["2"], [["2"], ["3"]], [], {}, {"line": 2}),
        *("9" * 5000, "\ud800", "true", "A,C", "Ｂ", "F", ["A", None], {"A": "5", "B": "6"}, {"B": 6, "A": "5", "": "7"}),
        *({"Ａ": 5, "ｂ": 6}, {"1": 5, "2": "6"}, {"A": None}, "single_choice", "true_false", "essay", "1(a)", "第一题", "*+?(["),
    ]  # fmt: skip
    names = ("number", "type", "stem", "material", "options", "answer", "key", "explanation")
    shown = show(key="1. B\n2. √")
    paper, made = ShownPaper([line.text for line in shown.lines], shown.own, [0] * shown.own), 0
    for _ in range(tries(100, 300)):
        entries = [
            {name: draw.choice(said) for name in names if draw.random() < 0.8}
            | {"stem": draw.choice(("9", "4", "2"))}
            for _ in range(4)
        ]
        reply = {
            "questions": [*entries[:3], draw.choice(said)],
            "keys": entries[3:],
            "sections": draw.choice(said),
        }
        _, kept = end_window(reply, make_window(paper, 0, draw.choice((50, 16_000))))
        for draft in read_pointed(shown, json.loads(json.dumps(join_replies([kept, reply])))).split.drafts:
            texts = [draft.stem, draft.material or "", *(text for _, text in draft.options)]
            assert {character for text in texts for character in text if character.isalnum()} <= known
            made += 1
    assert made > 100


def test_keys_of_several_windows_go_to_the_questions_of_their_section() -> None:
    def ask(answer: str = "") -> list[dict[str, Any]]:
        return [
            {"number": number, "stem": ["1"], **({"answer": answer} if answer else {})} for number in "123"
        ]

    keys = [{"number": number, "answer": f"{section}{number}"} for section in "ab" for number in "123"]
    # section A is answered beside its questions and once more in the key: B keeps its own
    joined = join_replies([{"questions": ask("here")}, {"questions": ask()}, {"keys": keys}])
    assert [one["answer"] for one in joined["questions"]] == ["here"] * 3 + ["b1", "b2", "b3"]
    # keys of B alone are not those of A, which needs none
    joined = join_replies([{"questions": [*ask("here"), *ask()]}, {"keys": keys[3:]}])
    assert [one["answer"] for one in joined["questions"]] == ["here"] * 3 + ["b1", "b2", "b3"]
