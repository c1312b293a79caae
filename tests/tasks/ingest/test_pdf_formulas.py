"""Formulas of PDF on several lines are written on one; what is no formula stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tasks.ingest.readers.pdf import read_pdf
from tasks.ingest.readers.pdf_fonts import find_signs
from tasks.ingest.readers.pdf_formulas import cut_formulas, write_linear
from tasks.ingest.readers.pdf_pages import Character, Page, Row
from tasks.ingest.readers.pdf_rows import build_rows
from tasks.ingest.readers.pdf_rules import Rule
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


def test_a_formula_that_is_lost_is_cut_out_once_with_the_line_that_it_is_in() -> None:
    boxes = []

    def keep(*box: float) -> str:
        boxes.append(box)
        return f"<{len(boxes)}>"

    rows = [
        make_row("1. Find A =", 50, 700),
        make_row("[formula]", 110, 712),
        make_row("[formula] 1 0", 110, 700),
        make_row("2. Name it.", 50, 600),
        make_row("a [formula] b", 50, 500),
    ]
    texts = [row.text for row in cut_formulas(rows, keep)]
    assert texts == ["1. Find A =", "<1>", " 1 0", "2. Name it.", "a <2> b"]
    # As wide as the lines beside it, as tall as its marks.
    assert boxes[0] == (50, 695.5, 175, 722.5)


def test_formulas_of_columns_and_options_beside_each_other_are_cut_out_each_alone() -> None:
    boxes = []

    def keep(*box: float) -> str:
        boxes.append(box)
        return f"<{len(boxes)}>"

    rows = [
        make_row("1. Find [formula] and", 50, 700),
        make_row("name it.", 50, 686),
        make_row("that [formula] is not", 320, 700),
        make_row("A. [formula]", 50, 600),
        make_row("B. [formula]", 112, 600),
        make_row("A. [formula] B. [formula]", 50, 500),
    ]
    texts = [row.text for row in cut_formulas(rows, keep)]
    assert texts[:3] == ["1. Find <1> and", "name it.", "that <2> is not"]
    # What has no picture of its own says that a formula is lost.
    assert texts[3:] == ["A. <3>", "B. <4>", "A. <5> B. [formula]"]
    assert [(left, right) for left, _, right, _ in boxes[:4]] == [
        (50, 155),
        (320, 425),
        (50, 110),
        (112, 172),
    ]


def test_questions_and_options_beside_each_other_stay_apart() -> None:
    rows = make_row("1. Name it.", 50, 700), make_row("2. Draw it.", 112, 700)
    assert write(*rows) == ["1. Name it.", "2. Draw it."]


def put(text: str, left: float, baseline: float = 700.0, size: float = 10.0) -> Character:
    """A character half as wide as its size."""
    return Character(
        text, left, baseline, left, left + 0.5 * size, baseline - 0.2 * size, baseline + size, size
    )


def build(characters: Sequence[Character], bars: Sequence[Rule] = ()) -> list[str]:
    page = Page(595, 842)
    build_rows(page, characters, [], [], bars)
    return [row.text for row in page.rows]


def test_an_accent_is_written_with_the_letter_that_it_stands_over() -> None:
    assert build([put("w", 50), put("ˆ", 50), put("x", 55)]) == ["w\u0302x"]
    assert build([put("˙", 50), put("y", 50), put("x", 55)]) == ["y\u0307x"]
    assert build([put("a", 50), put("\u0338", 55), put("=", 55), put("b", 60)]) == ["a=\u0338b"]
    assert build([put("&", 50), put("ˆ", 55), put(",", 60)]) == ["&ˆ,"]


def test_small_print_over_and_under_a_line_in_the_text_is_a_fraction() -> None:
    parts = [put("o", 50), put("1", 57, 704, 6), put("4", 57, 697, 6), put(".", 61)]
    assert build(parts, [Rule(702.5, 56.5, 60.5)]) == ["o 1/4."]
    assert build(parts) == ["o¹₄."]


def test_limits_beside_a_large_sign_are_read_from_below() -> None:
    characters = [
        put("∑", 50),
        put("∞", 56, 705, 6),
        put("i", 56, 697, 6),
        put("=", 59, 697, 6),
        put("a", 66),
    ]
    assert build(characters) == ["∑_{i=}^∞ a"]


def test_limits_over_and_under_a_large_sign_are_its_scripts_wherever_they_are_written() -> None:
    host = Row("1. Find ∑ of it", 50, 130, 698, 708, 10.0, baseline=700, signs=((9, 90.0, 98.0),))
    upper, lower = make_row("∞", 92, 712, 6.0), make_row("n=1", 90, 690, 6.0)
    assert write(upper, host, lower) == ["1. Find ∑_{n=1}^∞ of it"]
    assert write(make_row("7", 130, 712, 6.0), host) == ["7", "1. Find ∑ of it"]


def test_fonts_of_tex_that_have_no_table_are_known_by_their_names() -> None:
    assert find_signs("ABCDEF+CMEX10")[ord("X")] == "∑"
    assert find_signs("CMSY10")[0x0D] == "○"
    assert find_signs("SimSun") == find_signs("CMR10") == {}
    assert find_signs("CMSY7")[ord("0")] == "′"
    assert find_signs("MSAM10")[ord("6")] == "≤"


def write_with(bars: Sequence[Rule], *rows: Row) -> list[str]:
    return [row.text for row in write_linear(rows, bars, [])]


def test_a_fraction_of_small_print_behind_a_line_is_its_exponent() -> None:
    rows = make_row("Show (−1)", 50, 700), make_row("p+1", 96, 706, 4), make_row("2", 98, 699.5, 4)
    after = make_row("(mod p).", 108, 700)
    assert write_with([Rule(704.6, 96, 102)], *rows, after) == ["Show (−1)^{(p+1)/2} (mod p)."]


def test_an_exponent_and_its_own_are_one_wherever_the_file_writes_them() -> None:
    rows = make_row("1. Let e", 50, 700), make_row("2πh", 91, 706, 4), make_row("2", 97, 708.5, 4)
    assert write(*rows, make_row("m", 99.5, 706, 4)) == ["1. Let e^{2πh²m}"]


def test_what_hangs_behind_an_exponent_goes_on_with_it_or_stands_under_its_bar() -> None:
    raised, under = make_row("P = e⁻", 50, 700), make_row("2", 81, 697, 6)
    assert write(raised, make_row("p/q", 80, 706, 6)) == ["P = e^{−p/q}"]
    half = replace(raised, text="at most¹", right=80)
    assert write_with([Rule(702, 80, 85)], half, under) == ["at most 1/2"]
    assert write(half, under) == ["at most¹₂"]


def test_small_rows_behind_a_bracket_are_those_of_a_matrix() -> None:
    first = make_row("1. Find (", 50, 700)
    rows = ("4 6", 706), ("1 3", 700), ("0 2", 694)
    inside = [Row(text, 97, 106, y - 1, y + 5, 6.0, baseline=y) for text, y in rows]
    assert write(first, *inside, make_row(") now", 110, 700)) == ["1. Find (4 6; 1 3; 0 2) now"]
    assert write(first, inside[0], make_row(") now", 110, 700)) != ["1. Find (4 6; 1 3; 0 2) now"]


def make_tall(sign: str, left: float, low: float, high: float) -> list[Row]:
    middle = (low + high) / 2
    return [
        Row(sign, left, left + 4, middle, high, 10, baseline=high),
        Row(sign, left, left + 4, low, middle, 10, baseline=middle),
    ]


def test_brackets_in_pieces_are_whole_and_what_they_hold_is_one_line() -> None:
    inside = [make_row(text, 76, y) for text, y in (("a b", 715), ("c d", 700), ("e f", 685))]
    host, after = make_row("A =", 50, 700), make_row(", b = 1", 98, 700)
    opening, closing = make_tall("\uf8eb", 70, 680, 725), make_tall("\uf8f6", 94, 680, 725)
    assert write(host, *opening, *inside, *closing, after) == ["A = (a b; c d; e f), b = 1"]
    strokes = [
        [Row("|", x, x + 1, y - 3, y + 10, 10.0, baseline=y) for y in (707, 700, 693)] for x in (70, 94)
    ]
    assert write(host, *strokes[0], inside[1], *strokes[1]) == ["A = |c d|"]


def test_cases_behind_a_brace_are_one_line_and_a_brace_around_nothing_is_lost() -> None:
    brace = make_tall("\uf8f1", 70, 690, 720)
    cases = make_row("1, x > 0", 76, 710), make_row("0, x < 0", 76, 692)
    assert write(make_row("f =", 52, 702.5), *brace, *cases) == ["f = {1, x > 0; 0, x < 0"]
    assert write(make_row("f =", 52, 702.5), *brace) == ["f = [formula]"]


def test_dots_under_chinese_letters_are_emphasis_and_no_text() -> None:
    row = Row("下列不正确的是", 50, 120, 698, 708, 10.0, baseline=700)
    assert write(row, make_row("．", 72, 695)) == ["下列不正确的是"]
    assert write(make_row("a b c", 50, 700), make_row("．", 56, 695)) != ["a b c"]


def test_what_is_behind_a_script_that_begins_a_row_is_a_row_of_its_own() -> None:
    characters = [put("x", 50), put("n", 90, 706, 5), put("2", 90, 697.5, 5), put("y", 96, 700)]
    assert build(characters) == ["x", "n", "2", "y"]
    assert build([put("(", 50), put("1", 54, 703, 5), put("0", 54, 697, 5)])[0] == "("


def test_a_root_keeps_its_index_and_what_begins_under_it() -> None:
    assert build([put("√", 50, 701), put("3", 52, 705, 5), put("2", 56, 700), put("7", 61, 700)]) == ["∛27"]
    assert build([put("a", 44), put("√", 50, 701), put("2", 55, 700)]) == ["a√2"]


def test_lines_behind_a_brace_on_two_heights_are_cases() -> None:
    rows = make_row("f = {", 50, 700), make_row("1, x > 0;", 76, 708), make_row("0, x < 0", 76, 692)
    assert write(*rows) == ["f = {1, x > 0; 0, x < 0"]
    assert write(rows[0], rows[1]) == ["f = {", "1, x > 0;"]


def test_the_number_below_the_text_of_every_page_is_no_text() -> None:
    texts = (
        [(50, 760, "1. Name a river of France."), (296, 130, "1")],
        [(50, 760, "2. Name a lake."), (296, 130, "2")],
    )
    extraction, _ = read_pdf(make_pdf(texts))
    assert [line.kind for line in extraction.lines if line.text.isdecimal()] == ["furniture", "furniture"]
    wrong = [(50, 760, "1. Name a river of France."), (296, 130, "7")], texts[1]
    extraction, _ = read_pdf(make_pdf(wrong))
    assert next(line.kind for line in extraction.lines if line.text.isdecimal()) != "furniture"
