"""The lines of an original around a question: rows of cells, or lines of text."""

from __future__ import annotations

from dataclasses import dataclass

from schemas import patterns as re
from tasks.ingest.originals.original import SHEET_KINDS, Original

# Lines shown before and behind the stretch, and the most of the stretch itself.
LINES_AROUND, ROWS_AROUND = 8, 3
MOST_LINES = 200
# Of a line that is only near the stretch, so many characters are shown.
LONGEST_NEAR = 300
_SHEET_TITLE = re.compile(r"\[([^\t]*)\]")


@dataclass(frozen=True, slots=True)
class ExcerptLine:
    """A line or row, its number from 1 in the text or sheet, and its cells."""

    number: int
    cells: tuple[str, ...]
    is_marked: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is shown of an original that has no pages, or whose pages cannot be drawn.

    Attributes:
        sheet: name of the sheet; empty for text, and for a sheet without a name.
        lines: the lines in order; `number` tells where some were left out.
        is_table: whether they are rows of cells.
    """

    sheet: str
    lines: tuple[ExcerptLine, ...]
    is_table: bool


def make_excerpt(original: Original) -> Excerpt:
    """The stretch of a question with what stands around it."""
    return _cut_rows(original) if original.kind in SHEET_KINDS else _cut_lines(original)


def _cut_lines(original: Original) -> Excerpt:
    lines = original.text.split("\n")
    first, last = original.place.first_line, original.place.last_line
    shown = range(max(first - LINES_AROUND, 0), min(last + LINES_AROUND + 1, len(lines)))
    found = [
        ExcerptLine(at + 1, (_shorten(lines[at], first <= at <= last),), first <= at <= last)
        for at in list(shown)[:MOST_LINES]
    ]
    return Excerpt("", tuple(found), is_table=False)


def _cut_rows(original: Original) -> Excerpt:
    lines = original.text.split("\n")
    first, last = original.place.first_line, original.place.last_line
    begin, end, name = _find_sheet(original, lines)
    shown = range(max(first - ROWS_AROUND, begin), min(last + ROWS_AROUND + 1, end))
    header = next((at for at in range(begin, end) if lines[at].strip()), begin)
    numbers = [header, *(at for at in shown if at != header)][:MOST_LINES]
    rows = [
        ExcerptLine(
            at - begin + 1,
            tuple(_shorten(cell.replace("⏎", "\n"), first <= at <= last) for cell in lines[at].split("\t")),
            first <= at <= last,
        )
        for at in numbers
    ]
    return Excerpt(name, tuple(rows), is_table=True)


def _find_sheet(original: Original, lines: list[str]) -> tuple[int, int, str]:
    """The first row of the question's sheet, the row after its last one, and its name."""
    if original.kind == "csv":
        return 0, len(lines), ""
    offsets, text = original.page_offsets, original.text
    if offsets:
        number = original.place.first_page - 1
        begin = text.count("\n", 0, offsets[number])
        end = text.count("\n", 0, offsets[number + 1]) if number + 1 < len(offsets) else len(lines)
    else:  # read before the places of sheets were kept: their names stand alone on their lines
        titles = [at for at, line in enumerate(lines) if _SHEET_TITLE.fullmatch(line)]
        begin = max((at for at in titles if at <= original.place.first_line), default=0)
        end = min((at for at in titles if at > original.place.first_line), default=len(lines))
    title = _SHEET_TITLE.fullmatch(lines[begin])
    return (begin + 1, end, title.group(1)) if title else (begin, end, "")


def _shorten(text: str, is_marked: bool) -> str:
    return text if is_marked or len(text) <= LONGEST_NEAR else f"{text[:LONGEST_NEAR]}…"
