"""Formulas of PDF on several lines are written on one; what is no formula stays."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.ingest.readers.pdf import read_pdf
from tasks.ingest.readers.pdf_formulas import write_linear
from tasks.ingest.readers.pdf_pages import Row
from tests.tasks.ingest.builders import make_pdf

Line = tuple[float, float, float, float]


def body(texts: Sequence[tuple[float, float, str]], lines: Sequence[Line]) -> list[str]:
    extraction, _ = read_pdf(make_pdf([texts], lines=[lines]))
    return [line.text for line in extraction.lines]


def test_a_fraction_is_written_on_the_line_that_it_stands_in() -> None:
    texts = [(50, 700, "1. Simplify f ="), (122, 707, "a + b"), (134, 693, "c"), (153, 700, "for all c.")]
    assert body(texts, [(120, 703, 150, 703)]) == ["1. Simplify f = (a + b)/c for all c."]


def test_a_fraction_in_a_fraction_keeps_its_order() -> None:
    texts = [(50, 695, "x ="), (74, 716, "a"), (74, 702, "b"), (74, 686, "c")]
    assert body(texts, [(72, 712, 82, 712), (70, 698, 84, 698)]) == ["x = (a/b)/c"]


def test_lines_of_a_box_are_no_bars_of_fractions() -> None:
    texts = [(104, 707, "50 MB"), (104, 691, "240 MB")]
    box = [(100, 703, 150, 703), (100, 680, 100, 720), (150, 680, 150, 720)]
    assert body(texts, box) == ["50 MB", "240 MB"]


def test_an_underlined_title_above_a_line_of_text_is_no_fraction() -> None:
    texts = [(50, 700, "Part One"), (50, 684, "Answer all questions in this part of the paper.")]
    assert body(texts, [(50, 698, 100, 698)]) == [text for _, _, text in texts]


def make_row(text: str, left: float, baseline: float, size: float = 10.0) -> Row:
    right = left + 0.5 * size * len(text)
    return Row(text, left, right, baseline - 2, baseline + 8, size, baseline=baseline)


def write(*rows: Row) -> list[str]:
    return [row.text for row in write_linear(rows, [], [])]


def test_a_limit_becomes_a_script_of_what_it_stands_under() -> None:
    rows = make_row("1. Find lim", 50, 700), make_row("n→0", 90, 692, 7.0), make_row("f(n)", 108, 700)
    assert write(*rows) == ["1. Find lim_{n→0} f(n)"]


def test_an_arrow_over_a_letter_does_not_cut_its_line() -> None:
    rows = make_row("the force m", 50, 700), make_row("→", 104, 707), make_row("a acts", 106, 700)
    assert write(*rows) == ["the force m→a acts"]


def test_pieces_of_a_large_bracket_are_a_formula_that_is_lost() -> None:
    assert write(make_row("x =", 50, 700), make_row("\ufffd 1", 90, 712)) == ["x =", "[formula]1"]


def test_questions_and_options_beside_each_other_stay_apart() -> None:
    rows = make_row("1. Name it.", 50, 700), make_row("2. Draw it.", 112, 700)
    assert write(*rows) == ["1. Name it.", "2. Draw it."]
