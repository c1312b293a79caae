"""Logs of chats and notes with callouts: what is split of them, and what stays as it is."""

from __future__ import annotations

from tasks.ingest.readers.extraction import join_lines
from tasks.ingest.readers.plain_text import read_text
from tasks.ingest.splitting import split_lines

CHAT = """Ms Reed  19:30
1. What guides ships at night?
A. a lighthouse
B. a windmill
C. a well
Tom  19:31
C!
Ann  19:31
is it B?
Ms Reed  19:34
Answer: A
Ms Reed  19:35
2. What grinds grain?
A. a lighthouse
B. a windmill
C. a well
Tom  19:36
[image]
Ms Reed  19:40
Answer: B
"""


def read(text: str) -> list[tuple[str, list[str]]]:
    """The stem and the answer of each question of a text file."""
    lines = read_text(text.encode()).lines
    _, starts, _ = join_lines(lines)
    return [(draft.stem, draft.answer) for draft in split_lines(lines, starts).drafts]


def test_of_a_chat_is_split_what_whoever_asks_has_said() -> None:
    assert read(CHAT) == [("What guides ships at night?", ["A"]), ("What grinds grain?", ["B"])]


def test_what_others_said_in_a_chat_stays_in_the_text() -> None:
    lines = read_text(CHAT.encode()).lines
    assert join_lines(lines)[0].split() == CHAT.split()
    assert [line.text for line in lines if line.kind == "furniture"][1:3] == ["Tom  19:31", "C!"]


def test_times_of_a_log_within_a_question_are_no_chat() -> None:
    log = "\n".join(f"{name}  19:3{minute}" for minute, name in enumerate(("bell", "lamp") * 4))
    text = f"1. What does this log of a lighthouse tell?\n{log}\n2. Who wrote it?\n3. Who read it?\n"
    assert all(line.kind == "body" for line in read_text(text.encode()).lines)


def test_an_answer_that_notes_fold_away_is_an_answer() -> None:
    text = (
        "1. What guides ships at night?\n> [!success]- Answer\n> A lighthouse.\n"
        "2. What grinds grain?\n> [!success]- Answer\n> A windmill.\n"
    )
    assert [answer for _, answer in read(text)] == [["A lighthouse."], ["A windmill."]]


def test_two_signs_of_equality_in_code_highlight_nothing() -> None:
    text = "1. What is (a ==b && c== d)?\n2. What is (x ==y && z== w)?\n"
    assert [line.text for line in read_text(text.encode()).lines] == [*text.split("\n")]
