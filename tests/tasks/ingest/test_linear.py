"""Time grows with the size of a paper, whatever it consists of."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from tasks.ingest.readers.docx import read_docx
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.splitting import prepare_pieces
from tests.benchmarks.ingest_mutations import read_lines
from tests.hunts import tries
from tests.tasks.ingest.builders import make_docx, numbering, paragraph, table

MADE: dict[str, Callable[[int], list[str]]] = {
    "one line of prose": lambda size: ["1. " + "The river flows past the harbour, " * (size // 34)],
    "one line of Chinese": lambda size: ["1、" + "当地居民发现，茶园改变了。" * (size // 13)],
    "underscores": lambda size: ["1. " + "_" * size],
    "spaces": lambda size: ["1. a" + " " * size + "b"],
    "brackets": lambda size: ["1. " + "(" * size],
    "digits": lambda size: ["1" * size],
    "keys on one line": lambda size: [" ".join(f"{number}. A" for number in range(size // 6))],
    "short questions": lambda size: [f"{number}. Name it." for number in range(1, size // 12)],
    "one question again and again": lambda size: ["1. What is it? ( )"] * (size // 19),
    "options without an end": lambda size: ["1. Which?", *(["A. one"] * (size // 7))],
    "sections that announce too much": lambda size: [
        line
        for number in range(size // 40)
        for line in (
            f"得分  第{number % 9 + 1}题 判断题（共8分，每小题2分）",
            "1. 铁比铜轻。（ ）",
            "3. 铁会沉。（ ）",
        )
    ],
    "numbers that nothing closes, again and again": lambda size: [
        line
        for number in range(size // 60)
        for line in (f"{number % 20 + 1} carries the bridge", "words below it", "and more", "of them")
    ],
    "prose": lambda size: ["The river flows past the old harbour and the mill."] * (size // 51),
}


def measure(lines: list[str]) -> float:
    started = time.process_time()
    read_lines(lines)
    return time.process_time() - started


@pytest.mark.hunt
@pytest.mark.parametrize("name", MADE)
def test_time_does_not_grow_with_the_square_of_the_text(name: str) -> None:
    """Eight times the text would take 64 times as long.

    Other work on the machine can only slow it down, so the best of three counts.

    A quarter of the text would take a sixteenth of that square, so a sixteenth of the grace is given.
    """
    read_lines(MADE[name](2_000))
    small, grace = tries(3_125, 12_500), tries(19, 300) / 1000
    measured: list[tuple[float, float]] = []
    while not measured or (measured[-1][1] > 24 * measured[-1][0] + grace and len(measured) < 3):
        measured.append((measure(MADE[name](small)), measure(MADE[name](8 * small))))
    assert measured[-1][1] <= 24 * measured[-1][0] + grace, measured


@pytest.mark.parametrize("lines", [["x" * 200_000], ["1. " + "_" * 100_000], ["地" * 200_000]])
def test_a_line_of_any_length_is_read_at_once(lines: list[str]) -> None:
    """The first form took 36 to 50 s."""
    assert measure(lines) < 10


def nest_boxes(size: int) -> bytes:
    inner = paragraph("1. Name it.")
    for _ in range(size):
        inner = f"<w:p><w:r><w:pict><v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox></w:pict></w:r></w:p>"
    return make_docx([inner])


def box(text: str) -> str:
    content = f"<wps:txbx><w:txbxContent>{paragraph(text)}</w:txbxContent></wps:txbx>"
    choice = f'<mc:Choice Requires="wps"><w:drawing>{content}</w:drawing></mc:Choice>'
    return f"<w:r><mc:AlternateContent>{choice}</mc:AlternateContent></w:r>"


def nest_tables(size: int) -> bytes:
    inner = paragraph("1. Name it.")
    for _ in range(size):
        inner = f"<w:tbl><w:tr><w:tc>{inner}{paragraph('x')}</w:tc></w:tr></w:tbl>"
    return make_docx([inner])


WORD: dict[str, Callable[[int], bytes]] = {
    "text boxes in text boxes": nest_boxes,
    "tables in tables": nest_tables,
    "text boxes of one paragraph": lambda size: make_docx(
        [f"<w:p>{''.join(box(f'{number}. Name it.') for number in range(size))}</w:p>"]
    ),
    "tabs": lambda size: make_docx([f"<w:p>{'<w:r><w:tab/></w:r>' * size}</w:p>"]),
    "runs in and out of bold print": lambda size: make_docx(
        [f"<w:p>{'<w:r><w:rPr><w:b/></w:rPr><w:t>A</w:t></w:r><w:r><w:t>b</w:t></w:r>' * size}</w:p>"]
    ),
    "a table of one row": lambda size: make_docx([table([["A"] * size])]),
    "a table of one column": lambda size: make_docx([table([["1", "A"]] * size)]),
    "automatic numbers": lambda size: make_docx(
        [paragraph("Name it.", number=(1, place % 3)) for place in range(size)],
        {"numbering.xml": numbering([[("decimal", "%1."), ("lowerLetter", "%2)"), ("decimal", "%1.%2.%3")]])},
    ),
    "a list of its own for every paragraph": lambda size: make_docx(
        [paragraph("Name it.", number=(place + 1, 0)) for place in range(size)],
        {"numbering.xml": numbering([[("decimal", "%1.")]] * size)},
    ),
}


def count_calls(read: Callable[[Any], object], data: Any) -> int:
    """How many calls reading takes, of Python and of C: the same on every machine."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        read(data)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", WORD)
def test_steps_for_a_word_document_grow_with_its_size(name: str) -> None:
    """Four times the document would take sixteen times the steps."""
    small, large = (count_calls(read_docx, WORD[name](size)) for size in (50, 200))
    assert large <= 6 * small + 1_000, (small, large)


BANKS: dict[str, Callable[[int], list[str]]] = {
    "options on one line": lambda size: [
        line for number in range(1, size) for line in (f"{number}. Which lamp?", "A. red  B. blue  C. green")
    ]
}


@pytest.mark.parametrize("name", BANKS)
def test_steps_for_a_bank_grow_with_its_questions(name: str) -> None:
    def prepare(texts: list[str]) -> object:
        lines = [Line(text) for text in texts]
        return prepare_pieces(lines, join_lines(lines)[1])

    prepare(BANKS[name](20))
    small, large = (count_calls(prepare, BANKS[name](size)) for size in (150, 600))
    assert large <= 6 * small, (small, large)


def list_chapters(size: int) -> list[str]:
    return [
        line
        for number in range(1, size)
        for line in (
            f"Chapter {number}",
            f"1. What carries bridge {number}?",
            "A. the pier  B. the lamp",
            f"2. Which mill is number {number}?",
            "A. the old one  B. the new one",
            "Answers",
            "1. A  2. B",
        )
    ]


def test_short_chapters_with_their_answers_are_read_at_once() -> None:
    """Four times as many took six times the steps, and a workbook of 5 MB five times as long."""
    read_lines(list_chapters(3))
    small, large = (count_calls(read_lines, list_chapters(size)) for size in (50, 200))
    assert large <= 4.5 * small, (small, large)
