"""Tables with every answer below its question: a narrow column has `a)` above `Ans`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.columns import Header, count_leads, fold_header, read_lead

# The columns that such a table becomes.
HEADER = Header(0, {"number": 0, "stem": 1, "answer": 2, "explanation": 3, "marks": 4})
_WIDTH = 5


@dataclass
class AnsweredRows:
    """All such tables, a question to a row below an empty header, and their places."""

    rows: list[list[str]] = field(default_factory=lambda: [[""] * _WIDTH])
    spans: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    lines: list[int] = field(default_factory=list)


def find_answered_rows(lines: Sequence[Line], starts: Sequence[int]) -> AnsweredRows | None:
    """The questions of the tables among the lines that have their answers below them, or None."""
    found = AnsweredRows()
    index, width, own, outer = 0, 0, 0, ""
    names: list[str] = []
    while index < len(lines):
        first = index
        while index < len(lines) and lines[index].table == lines[first].table:
            index += 1
        rows = [list(line.cells) for line in lines[first:index]] if lines[first].table else []
        leads = count_leads(rows)
        if leads and not width:
            width, own, names = len(rows[0]), leads, [fold_header(cell) for cell in rows[0]]
        elif not rows or not width or not (leads or len(rows[0]) == width):
            continue
        leads = leads or own
        beside = width - own - 1
        for place, cells in enumerate(rows, start=first):
            before = rows[place - first - 1] if place > first else []
            if cells[:leads] == before[:leads]:
                # one cell with the one above, whose text it repeats
                cells = ["" if cell == above else cell for cell, above in zip(cells, before, strict=False)]
            # a table within the text has columns of its own
            last = max(len(cells) - beside, leads + 1)
            row = [*cells[:leads], " | ".join(filter(str.strip, cells[leads:last])), *cells[last:]]
            if [fold_header(cell) for cell in row] != names or any(map(read_lead, row[:leads])):
                span = starts[place], starts[place] + len(lines[place].text)
                outer = _take_row(found, row, leads, outer, span)
            found.lines.append(place)
    _drop_headings(found)
    return found if len(found.rows) > 1 else None


def _take_row(found: AnsweredRows, row: list[str], leads: int, outer: str, span: tuple[int, int]) -> str:
    """Add a row to the question that it opens or goes on with; returns the outer number."""
    signs = [sign for cell in row[:leads] for sign in cell.split()]
    numbers = [sign for sign in signs if not (read_lead(sign) or "").startswith("answer")]
    main, margin = row[leads].strip(), "\n".join(cell for cell in row[leads + 1 :] if cell.strip())
    if numbers:
        outer = numbers[0] if row[0].split()[:1] == numbers[:1] else outer
        number = " ".join(dict.fromkeys([outer, *numbers])).strip()
        found.rows.append([number, main, "", "", margin])
        found.spans.append(span)
    if len(found.rows) == 1:
        return outer
    last = found.rows[-1]
    is_answer = len(signs) > len(numbers)
    if is_answer and not numbers:
        last[2], last[3] = _join(last[2], main or "\n"), _join(last[3], margin)
    elif not numbers:
        at = 2 if last[2] else 1
        last[at] = _join(last[at], main)
        last[3] = _join(last[3], margin) if last[2] else last[3]
    found.spans[-1] = found.spans[-1][0], span[1]
    return outer


def _join(upper: str, lower: str) -> str:
    return f"{upper}\n{lower}".strip("\n") if upper and lower else upper or lower


def _drop_headings(found: AnsweredRows) -> None:
    """Leave out the rows that only announce the questions below them: `1. Attempt any three:`."""
    kept = [
        place
        for place, (row, following) in enumerate(
            zip(found.rows, [*found.rows[1:], [""] * _WIDTH], strict=True)
        )
        if not place or row[2] or not following[0].startswith(f"{row[0]} ")
    ]
    found.rows = [found.rows[place] for place in kept]
    found.spans = [found.spans[place] for place in kept]
