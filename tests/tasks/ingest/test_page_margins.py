"""Marks in the margin of a page stand after the text that they belong to."""

from __future__ import annotations

from tasks.ingest.readers.page_margins import settle_margins, settle_numbers
from tasks.ingest.readers.pdf import read_pdf
from tasks.ingest.readers.pdf_pages import Row
from tests.tasks.ingest.builders import make_pdf


def row(text: str, left: float, baseline: float, width: float | None = None, gap: int = 0) -> Row:
    """A row of 5 points a character.

    The text before its last `gap` characters and spaces ends before a wide gap.
    """
    right = left + (width if width is not None else 5.0 * len(text))
    before = text[: len(text) - gap].rstrip() if gap else ""
    gaps = ((len(before), left + 5.0 * len(before)),) if before else ()
    return Row(text, left, right, baseline - 2, baseline + 8, 10.0, baseline=baseline, gaps=gaps)


def settle(rows: list[Row]) -> list[str]:
    settle_margins(rows)
    return [" ".join(one.text.split()) for one in rows]


def test_marks_between_the_lines_of_a_question_stand_after_its_last_line() -> None:
    rows = [
        row("1. a) Explain how a keel keeps a boat upright in a", 50, 700),
        row("[7M]", 480, 700, 20),
        row("strong wind.", 70, 688),
        row("[6M]", 480, 670, 20),
        row("b) Describe the parts of a rudder and say what they", 60, 670),
        row("are made of.", 70, 658),
        row("2. Compare a sloop with a ketch.      [7M]", 50, 640, 450, gap=10),
    ]
    assert settle(rows) == [
        "1. a) Explain how a keel keeps a boat upright in a",
        "strong wind. [7M]",
        "b) Describe the parts of a rudder and say what they",
        "are made of. [6M]",
        "2. Compare a sloop with a ketch. [7M]",
    ]


def test_a_word_between_alternatives_ends_a_question() -> None:
    rows = [
        row("1. Explain how a keel keeps a boat upright in a wind", 50, 700),
        row("CO1   6", 470, 700, 30),
        row("(OR)", 250, 688),
        row("2. Describe the parts of a rudder and what each does", 50, 676),
        row("CO2   6", 470, 676, 30),
        row("in a following sea.", 60, 664),
        row("3. Compare a sloop with a ketch and with a plain yawl", 50, 652),
        row("CO2   8", 470, 652, 30),
    ]
    assert settle(rows) == [
        "1. Explain how a keel keeps a boat upright in a wind CO1 6",
        "(OR)",
        "2. Describe the parts of a rudder and what each does",
        "in a following sea. CO2 6",
        "3. Compare a sloop with a ketch and with a plain yawl CO2 8",
    ]


def test_numbers_at_the_ends_of_a_table_without_rules_stay_in_their_rows() -> None:
    rows = [
        row(f"Hull {place}   9:0{place}   30      {place}", 50, 700 - 12 * place, 400, gap=8)
        for place in range(1, 6)
    ]
    before = [one.text for one in rows]
    settle_margins(rows)
    assert [one.text for one in rows] == before


def test_a_margin_of_a_page_is_found_whatever_the_file_writes_first() -> None:
    lines: list[tuple[float, float, str]] = []
    for place in range(3):
        height = 700 - 40 * place
        lines += [
            (500, height, "06"),
            (50, height, f"{place + 1}. Explain the use of the spar and of the boom, and"),
        ]
        lines += [(66, height - 12, "say where each of them is fixed.")]
    extraction, _ = read_pdf(make_pdf([lines]))
    assert [" ".join(line.text.split()) for line in extraction.lines] == [
        text
        for place in range(3)
        for text in (
            f"{place + 1}. Explain the use of the spar and of the boom, and",
            "say where each of them is fixed. 06",
        )
    ]


def test_numbers_in_the_middle_of_their_rows_stand_before_the_first_of_them() -> None:
    rows: list[Row] = []
    for place in range(3):
        height = 700 - 40.0 * place
        rows += [
            row("a     Explain the use of a fender.", 80, height),
            row(str(place + 1), 50, height - 12),
            row("b     Name two kinds of knot.", 80, height - 12),
            row("c     Say what a cleat is for.", 80, height - 24),
        ]
    settle_numbers(rows)
    assert [" ".join(one.text.split()) for one in rows] == [
        text
        for place in range(3)
        for text in (
            f"{place + 1}. a Explain the use of a fender.",
            "b Name two kinds of knot.",
            "c Say what a cleat is for.",
        )
    ]


def test_numbers_of_a_figure_stay_where_they_are() -> None:
    rows = [row("a) Add the weights of the figure.", 80, 700)]
    rows += [row(text, 60, 680 - 12.0 * place) for place, text in enumerate(("4", "1", "2"))]
    before = [one.text for one in rows]
    settle_numbers(rows)
    assert [one.text for one in rows] == before
