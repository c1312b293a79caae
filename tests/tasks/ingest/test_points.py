"""What counts points and questions is read alike in every language."""

from __future__ import annotations

import re

import pytest

from tasks.ingest.layout import furniture
from tasks.ingest.layout.announcements import read_announcement, read_each, read_sum
from tasks.ingest.layout.headings import ONLY_WORTH
from tasks.ingest.words.points import BRACKETED, BRACKETED_SUM, COUNTS, read_points
from tasks.ingest.words.word_lists import WORDS

WORTH = {
    "（5分）": 5, "（本题满分12分）": 12, "（本小题3分）": 3, "[2 marks]": 2, "(3 pts.)": 3, "(2 scores)": 2, "[1 mk]": 1, "(4M)": 4,
    "(max. 3 Punkte)": 3, "(2 P.)": 2, "(3 BE)": 3, "(1,5 points)": 1.5, "[2 puntos]": 2, "(0,5 ptos.)": 0.5, "(2 pontos)": 2, "(2 valores)": 2,
    "(3 punti)": 3, "(5 баллов)": 5, "(1 балл)": 1, "(2 б.)": 2, "(4 бали)": 4, "(3 pkt)": 3, "(2 punkty)": 2, "（3点）": 3, "【4點】": 4, "(3점)": 3,
    "(2 punten)": 2, "(10 puan)": 10, "(2,5 điểm)": 2.5, "(2đ)": 2, "(5 poin)": 5, "(total 6 marks)": 6, "(6 marks total)": 6, "(/2)": 2, "(valor: 2,5)": 2.5, "(0–2 pkt)": 2, "（满分：10）": 10, "(... / 3 pts)": 3,
}  # fmt: skip


@pytest.mark.parametrize("text", WORTH)
def test_a_bracket_says_what_a_question_is_worth(text: str) -> None:
    assert re.fullmatch(BRACKETED, text) is not None
    assert read_points(text) == WORTH[text]


def test_every_word_for_points_is_read_behind_its_number() -> None:
    for word in (*WORDS["point_words"], *WORDS["point_signs"]):
        assert re.fullmatch(BRACKETED, f"(2 {word})") is not None, word
    for word in (*WORDS["total_words"], *WORDS["worth_words"]):
        assert re.fullmatch(BRACKETED, f"({word}: 2 pts)") is not None, word
    for word in WORDS["each_words"]:
        assert read_each(f"{word} 2 pts") == 2, word


@pytest.mark.parametrize(
    "text", ["（30分钟）", "(5 M)", "(2p)", "(2019)", "(5 pointers)", "(Fig. 2)", "(1815)", "(12)", "(2 km)", "（3分之1）", "(2 bal.t)"]
)  # fmt: skip
def test_other_brackets_are_worth_nothing(text: str) -> None:
    assert re.fullmatch(BRACKETED, text) is None
    assert re.search(COUNTS, text) is None


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("（每小题2分，共10分）", 2), ("(je 2 Punkte)", 2), ("2 Punkte je Aufgabe", 2), ("chaque question 2 points", 2), ("1,5 point par réponse", 1.5),
        ("2 puntos cada una", 2), ("(cada questão 2 pontos)", 2), ("2 punti per ogni risposta", 2), ("по 3 балла", 3), ("2 балла за каждый вопрос", 2),
        ("每題3分", 3), ("（各 4 点）", 4), ("(각 5점)", 5), ("3 points each", 3), ("each question carries 2 marks", 2), ("mỗi câu 2 điểm", 2), ("5分/题", 5),
    ],
)  # fmt: skip
def test_a_heading_says_what_each_question_is_worth(text: str, each: float) -> None:
    assert read_each(text) == each


@pytest.mark.parametrize(
    "text",
    [
        "teaching 5 points",
        "每组3人共6分",
        "各部分共20分",
        "每错一个扣1分",
        "20 Punkte",
        "共4小题，6-8题各5分，第9题10分",
        "Je weiter, desto 2 km",
    ],
)
def test_what_is_not_worth_of_each_question_is_not_taken_for_it(text: str) -> None:
    assert read_each(text) is None


@pytest.mark.parametrize(
    ("text", "counts", "total"),
    [
        ("Teil A: Auswahl (10 Aufgaben, je 2 Punkte, insgesamt 20 Punkte)", 10, 20), ("Часть 1 (всего 12 баллов, по 3 балла)", 4, 12),
        ("一、選擇題（每題2分，共20分）", 10, 20), ("Parte A (total 6 puntos, 2 puntos cada una)", 3, 6), ("Part A (5 questions, total 10 marks)", 5, 10),
        ("Część I (12 pkt, po 3 pkt)", 4, 12), ("1부 (각 5점, 총 20점)", 4, 20),
    ],
)  # fmt: skip
def test_a_heading_announces_its_questions_and_their_sum(text: str, counts: int | None, total: float) -> None:
    announced = read_announcement(text)
    assert (announced.counts[0] if announced else None) == counts
    assert read_sum(text) == total


@pytest.mark.parametrize(
    "text", ["100 marks", ": [6 x 2 = 12 marks]", "(100 Punkte)", " (20%)", "Answer all questions 70 pts"]
)
def test_a_heading_may_say_nothing_but_what_it_is_worth(text: str) -> None:
    assert ONLY_WORTH.fullmatch(text) is not None


@pytest.mark.parametrize(
    ("text", "is_furniture"),
    [("Total marks: 100", True), ("[Total 75 points]", True), ("Total 12 km", False)],
)
def test_a_sum_at_the_end_of_a_paper_is_no_question(text: str, is_furniture: bool) -> None:
    assert (furniture._PAPER_END.fullmatch(text) is not None) is is_furniture


def test_a_reference_in_brackets_is_no_sum_of_points() -> None:
    assert re.fullmatch(BRACKETED_SUM, "[120]") is None
    assert re.fullmatch(BRACKETED_SUM, "[3+5=8]") is not None
