"""GIFT and Aiken, the text formats of learning platforms."""

from __future__ import annotations

from pathlib import Path

from tasks.ingest.documents import IngestOptions, parse_document
from tests.tasks.ingest.builders import write

GIFT = r"""// questions of the harbour
::Q1:: What is kept in a granary? {=Corn ~Oil ~Coal}
::Q2:: A lighthouse guides ships. {T}

What turns in a stream? {
~a lamp # no
=a mill wheel # yes
~a gate \= door
}
The canal is filled with {=water =fresh water}.
Describe a harbour. {}
"""
GIFT_MORE = r"""// rivers
$CATEGORY: Rivers

::Q1:: Two of these rivers are in Asia. {
  ~%50%Mekong
  ~%50%Ganges
  ~%-100%Volga
}

::Q2:: Match each river with its country. {
  =Loire -> France
  =Tagus -> Portugal
}

::Q3:: How long is the Rhine, in kilometres? {#1230:20}

::Q4:: Rivers freeze at the {=surface} first.
"""
AIKEN = """What is kept in a granary?
A. Corn
B. Oil
C. Coal
ANSWER: A

What guides ships?
A) A mill
B) A lamp
C) A road
ANSWER: B

Which of these turns?
A. A wall
B. A wheel
ANSWER: B
"""


def read(folder: Path, text: str) -> list[tuple[str, str, list[str], list[str]]]:
    parsed = parse_document(write(folder, "bank.txt", text), IngestOptions())
    assert parsed.document["warnings"] == []
    return [
        (
            question["question_type"],
            question["stem"],
            [option["text"] for option in question["options"]],
            question["answer"],
        )
        for question in parsed.questions
    ]


def test_a_gift_file_gives_its_questions_with_their_keys(tmp_path: Path) -> None:
    assert read(tmp_path, GIFT) == [
        ("multiple_choice", "What is kept in a granary?", ["Corn", "Oil", "Coal"], ["A"]),
        ("true_false", "A lighthouse guides ships.", [], ["true"]),
        ("multiple_choice", "What turns in a stream?", ["a lamp", "a mill wheel", "a gate = door"], ["B"]),
        ("fill_in_the_blank", "The canal is filled with ____ .", [], ["water"]),
        ("essay", "Describe a harbour.", [], []),
    ]


def test_a_gift_file_written_in_html_is_read_as_a_browser_shows_it(tmp_path: Path) -> None:
    text = "::1::[html]<p>What guides <b>ships</b> &amp; boats?</p>{=<p>A lamp</p> ~A mill}\n\n::2:: x<y holds. {T}\n"
    assert read(tmp_path, text) == [
        ("multiple_choice", "What guides ships & boats?", ["A lamp", "A mill"], ["A"]),
        ("true_false", "x<y holds.", [], ["true"]),
    ]


def test_an_aiken_file_gives_its_questions_with_their_keys(tmp_path: Path) -> None:
    assert read(tmp_path, AIKEN) == [
        ("multiple_choice", "What is kept in a granary?", ["Corn", "Oil", "Coal"], ["A"]),
        ("multiple_choice", "What guides ships?", ["A mill", "A lamp", "A road"], ["B"]),
        ("multiple_choice", "Which of these turns?", ["A wall", "A wheel"], ["B"]),
    ]


def test_a_program_in_braces_is_no_gift(tmp_path: Path) -> None:
    text = "1. What does f return?\nint f(int x) { y = x; return y; }\n2. What does g return?\nint g() { return 1; }\n"
    parsed = parse_document(write(tmp_path, "c.txt", text), IngestOptions())
    assert [question["number_label"] for question in parsed.questions] == ["1.", "2."]


def test_shares_pairs_and_numbers_of_a_gift_file_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, GIFT_MORE) == [
        ("multiple_choice", "Two of these rivers are in Asia.", ["Mekong", "Ganges", "Volga"], ["A", "B"]),
        ("multiple_choice", "Loire", ["France", "Portugal"], ["A"]),
        ("multiple_choice", "Tagus", ["France", "Portugal"], ["B"]),
        ("short_answer", "How long is the Rhine, in kilometres?", [], ["1230"]),
        ("fill_in_the_blank", "Rivers freeze at the ____ first.", [], ["surface"]),
    ]
