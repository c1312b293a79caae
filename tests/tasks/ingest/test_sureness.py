"""What OCR and a scanner's own reading say of lines becomes notes of their question alone."""

from __future__ import annotations

from typing import Any

from tasks.ingest.contracts import Checked
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.readers.formats import compare_readings
from tasks.ingest.reading import doubt_unread, note_sureness


def ocr(text: str, sure: float, agreed: float | None = None, page: int = 1) -> Line:
    return Line(text, page=page, sure=sure, agreed=agreed, box=(100, 100 * page, 900, 100 * page + 20))


def note(lines: list[Line], *spans: tuple[int, int]) -> list[list[str]]:
    """The notes of questions that reach from one line to another."""
    _, starts, _ = join_lines(lines)
    rows: list[dict[str, Any]] = [
        {"text_start": starts[first], "text_end": starts[last] + len(lines[last].text), "parse_notes": []}
        for first, last in spans
    ]
    note_sureness(rows, lines, starts)
    return [row["parse_notes"] for row in rows]


def test_a_question_is_unsure_where_its_own_lines_are() -> None:
    lines = [ocr("1. What is a keel made of?", 0.995), ocr("2. Whqt is a rudd6r for?", 0.91)]
    assert note(lines, (0, 0), (1, 1)) == [["ocr"], ["ocr", "ocr_unsure"]]


def test_a_page_that_has_text_is_not_read_by_ocr() -> None:
    lines = [Line("1. What is a keel made of?", page=1), ocr("2. What is a rudder for?", 0.99, page=2)]
    assert note(lines, (0, 0), (1, 1)) == [[], ["ocr"]]


def test_two_readings_of_one_line_that_differ_are_noted() -> None:
    lines = [ocr("1. What is a keel made of?", 0.99, 1.0), ocr("2. What is a rudder for?", 0.99, 0.7)]
    assert note(lines, (0, 0), (1, 1)) == [["ocr"], ["ocr", "readings_differ"]]


def test_a_text_layer_of_another_page_says_nothing() -> None:
    lines = [ocr("1. What is a keel made of?", 0.99, 0.1), ocr("2. What is a rudder for?", 0.99, 0.0)]
    assert note(lines, (0, 0), (1, 1)) == [["ocr"], ["ocr"]]


def test_readings_are_compared_on_one_height_whatever_their_boxes() -> None:
    seen = ocr("What is a keel made of?", 0.99)
    layer = [
        Line("is a keel made of", page=1, box=(300, 102, 900, 118)),
        Line("What", page=1, box=(100, 104, 280, 118)),
        Line("Something below", page=1, box=(100, 140, 900, 160)),
    ]
    assert [line.agreed for line in compare_readings([seen], layer)] == [1.0]
    assert [line.agreed for line in compare_readings([seen], layer[:1])] == [13 / 17]
    typed = Line("What is a keel made of?", page=1, box=seen.box)
    assert compare_readings([typed], layer) == [typed]


def test_a_scan_whose_lines_are_in_a_script_that_was_not_read_is_held() -> None:
    lines = [ocr(f"{at}. What is a keel made of?", 0.99) for at in range(16)]
    read = Checked(kept=3)
    assert doubt_unread(read, lines) == read
    (breach,) = doubt_unread(read, [*lines, *(ocr("(c5) 4 (31) 94", 0.7) for _ in range(4))]).breaches
    assert (breach.contract, breach.size) == ("unread_lines", 4)
    assert breach.words.startswith("OCR could hardly read 4 of 20 lines:")
