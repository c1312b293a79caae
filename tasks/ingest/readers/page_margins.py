"""Marks in the margin of a page, put where the text that they belong to ends.

`[7M]`, `6` or `L3/CO1   6` stand in a column of their own beside the first line of a question, and are written or seen between its
lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.readers.pdf_lines import starts_anew
from tasks.ingest.readers.pdf_pages import Row

_WORTH = r"[\[(（]?\s*\d{1,2}(?:\s*[+xX×=]\s*\d{1,3}){0,4}\s*(?:M|分|(?i:marks?|points?|pts?))?\s*[\])）]?"
_CODE = r"(?:(?:C?L?O|CLO|BT?L?|RBT|PO|PSO|K|L|U)[-: ]?\d[,;/& ]*){1,4}"
_MARK = re.compile(rf"\s*(?:{_CODE}\s*{_WORTH}|{_WORTH}\s*{_CODE}|{_WORTH}|{_CODE})\s*")
_TAIL = re.compile(rf"(?<=\S)\s{{3,}}({_MARK.pattern})$")
# So many marks make a column, of which so many stand alone.
LEAST_MARKS, LEAST_ALONE = 3, 2
# How far the right edges of a column's marks may lie apart, in points; marks may be centred.
APART = 14.0
# A paragraph ends where the next row lies lower by more than so many sizes of its print, or is centred: it begins so far into it.
LEAST_SPACE, CENTRED = 1.1, 0.3
_GAP = " " * 12


def settle_margins(rows: list[Row]) -> None:
    """Put the marks of a margin after the last row of the paragraph that they stand beside.

    A page has a margin where marks end at one place on the right, and some of them stand alone between the rows of a text
    that ends before them.
    """
    alone = [row for row in rows if _is_open(row) and _MARK.fullmatch(row.text)]
    edge = _find_edge(alone, rows)
    if edge is None:
        return
    beginning = min(row.left for row in alone if abs(row.right - edge) <= APART)
    marks: list[tuple[Row, str]] = []
    for row in rows:
        found = _cut_tail(row)
        if found is not None and abs(row.right - edge) <= APART and found[2] < beginning:
            row.text, mark, row.right = found
            marks.append((row, mark))
    standing = [row for row in alone if abs(row.right - edge) <= APART]
    for row in standing:
        beside = _find_beside(rows, row)
        if beside is not None and not any(other is beside for other, _ in marks):
            marks.append((beside, row.text.strip()))
            rows.remove(row)
    held = [row for row, _ in marks]
    for row, text in marks:
        last = _find_last(rows, row, held)
        last.text = f"{last.text}{_GAP}{text.strip()}"


def _is_open(row: Row) -> bool:
    return not row.is_furniture and not row.cells


def _cut_tail(row: Row) -> tuple[str, str, float] | None:
    """A row without the mark that closes it, the mark, and where the rest ends; None where it has no such mark."""
    tail = _TAIL.search(row.text) if _is_open(row) and row.gaps else None
    if tail is None:
        return None
    return next(
        ((row.text[:count], tail.group(1), right) for count, right in row.gaps if count == tail.start()), None
    )


def _find_edge(alone: Sequence[Row], rows: Sequence[Row]) -> float | None:
    """Where the marks of a margin end on the right; None where a page has no such margin."""
    cut = {id(row): found for row in rows if (found := _cut_tail(row)) is not None}
    ends = [row.right for row in rows if id(row) in cut]
    best: tuple[int, float] | None = None
    for one in alone:
        standing = [other for other in alone if abs(other.right - one.right) <= APART]
        left = min(other.left for other in standing)
        count = len(standing) + sum(1 for end in ends if abs(end - one.right) <= APART)
        low, high = min(other.bottom for other in standing), max(other.top for other in standing)
        texts = [
            row
            for row in rows
            if _is_open(row) and len(row.text) > 30 and low <= row.bottom <= high and row not in standing
        ]
        beyond = sum(1 for row in texts if (cut[id(row)][2] if id(row) in cut else row.right) > left)
        if count >= LEAST_MARKS and len(standing) >= LEAST_ALONE and texts and 4 * beyond <= len(texts):
            best = max(best or (0, 0.0), (count, one.right))
    return best[1] if best else None


def _find_beside(rows: Sequence[Row], mark: Row) -> Row | None:
    """The row of text on whose height a mark stands."""
    middle = (mark.bottom + mark.top) / 2
    near = [row for row in rows if _is_open(row) and row.right <= mark.left + 2 and row.bottom <= middle <= row.top]
    return max(near, key=lambda row: row.right, default=None)


def _find_last(rows: Sequence[Row], first: Row, held: Sequence[Row]) -> Row:
    """The last row of the paragraph that a row opens."""
    place = next(index for index, row in enumerate(rows) if row is first)
    last = first
    for row in rows[place + 1 :]:
        if (
            not _is_open(row)
            or starts_anew(row.text)
            or any(row is other for other in held)
            or last.bottom - row.top > LEAST_SPACE * last.size
            or row.top > last.top
            or row.left > first.left + CENTRED * (first.right - first.left)
            or abs(row.size - last.size) > 0.3 * last.size
        ):
            break
        last = row
    return last
