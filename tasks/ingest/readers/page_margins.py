"""Marks and numbers in the margins of a page, put where their text ends or begins.

`[7M]`, `6` or `L3/CO1   6` stand in a column of their own beside the first line of a question, and are written or seen between its
lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.readers.pdf_lines import starts_anew
from tasks.ingest.readers.pdf_pages import Row
from tasks.ingest.words.points import SMALL_SUM

_WORTH = rf"[\[(（]?\s*{SMALL_SUM}\s*[\])）]?"
_CODE = r"(?:(?:C?L?O|CLO|BT?L?|RBT|PO|PSO|K|L|U)[-: ]?\d[,;/& ]*){1,4}"
_MARK = re.compile(rf"\s*(?:{_CODE}\s*{_WORTH}|{_WORTH}\s*{_CODE}|{_WORTH}|{_CODE})\s*")
# So many marks make a column, of which so many stand between the rows of a text.
LEAST_MARKS, LEAST_WITHIN = 3, 2
# How far the right edges of a column's marks may lie apart, in sizes of their print; marks may be centred.
APART = 1.4
# A paragraph ends where the next row lies lower by more than so many sizes of its print, or is centred: it begins so far into it.
LEAST_SPACE, CENTRED = 1.1, 0.3
_GAP = " " * 12


def settle_margins(rows: list[Row]) -> None:
    """Put the marks of a margin after the last row of the paragraph that they stand beside.

    A page has a margin where marks end at one place on the right, and some of them stand between the rows of a text that
    ends before them, alone or at the end of a row.
    """
    alone = [row for row in rows if _is_open(row) and _MARK.fullmatch(row.text)]
    cut = {id(row): found for row in rows if (found := _cut_tail(row)) is not None}
    column = _find_column(rows, alone, cut)
    held: list[tuple[Row, str]] = []
    for row in column:
        if id(row) in cut:
            row.text, mark, row.right = cut[id(row)]
            held.append((row, mark))
    for row in column:
        beside = None if id(row) in cut else _find_beside(rows, row)
        if beside is not None and not any(other is beside for other, _ in held):
            held.append((beside, row.text.strip()))
            rows.remove(row)
    for row, mark in held:
        last = _find_last(rows, row, [other for other, _ in held])
        last.text = f"{last.text}{_GAP}{mark.strip()}"


def _is_open(row: Row) -> bool:
    return not row.is_furniture and not row.cells


def _cut_tail(row: Row) -> tuple[str, str, float] | None:
    """A row without the mark that closes it, the mark, and where the rest ends; or None."""
    if not _is_open(row) or not row.gaps or _MARK.fullmatch(row.text):
        return None
    return next(
        (
            (row.text[:count], row.text[count:], right)
            for count, right in row.gaps
            if count and _MARK.fullmatch(row.text, count)
        ),
        None,
    )


def _find_column(
    rows: Sequence[Row], alone: Sequence[Row], cut: Mapping[int, tuple[str, str, float]]
) -> list[Row]:
    """The rows that are marks of a margin, or end in one; empty where a page has no margin."""
    marked = [row for row in rows if id(row) in cut or row in alone]
    best: list[Row] = []
    for one in marked:
        column = [row for row in marked if abs(row.right - one.right) <= APART * one.size]
        if len(column) < max(LEAST_MARKS, len(best) + 1):
            continue
        within = [row for row in column if id(row) not in cut or _find_last(rows, row, column) is not row]
        if len(within) < LEAST_WITHIN:
            continue
        left = min((row.left for row in column if id(row) not in cut), default=one.right)
        low, high = min(row.bottom for row in column), max(row.top for row in column)
        texts = [
            cut[id(row)][2] if id(row) in cut else row.right
            for row in rows
            if _is_open(row) and len(row.text) > 30 and low <= row.bottom <= high and row not in alone
        ]
        if texts and 4 * sum(1 for right in texts if right > left) <= len(texts):
            best = column
    return best


def _find_beside(rows: Sequence[Row], mark: Row) -> Row | None:
    """The row of text on whose height a mark stands."""
    middle = (mark.bottom + mark.top) / 2
    near = [
        row
        for row in rows
        if _is_open(row) and row.right <= mark.left + 2 and row.bottom <= middle <= row.top
    ]
    return max(near, key=lambda row: row.right, default=None)


def _find_last(rows: Sequence[Row], first: Row, held: Sequence[Row]) -> Row:
    """The last row of the paragraph that a row opens."""
    place = next(index for index, row in enumerate(rows) if row is first)
    last = first
    for row in rows[place + 1 :]:
        if (
            not _is_open(row)
            or (starts_anew(row.text) and row.left <= first.left + first.size)
            or any(row is other for other in held)
            or last.bottom - row.top > LEAST_SPACE * last.size
            or row.top > last.top
            or row.left < first.left - 2 * first.size
            or row.left > first.left + CENTRED * (first.right - first.left)
            or abs(row.size - last.size) > 0.3 * last.size
        ):
            break
        last = row
    return last


# A number of a group of rows, and the mark of the first of them.
_NUMBER = re.compile(r"\s*Q?\s*[.]?\s*(\d{1,2})\s*[.)]?\s*", re.IGNORECASE)
_FIRST = re.compile(r"\s*[(\[]?(?:[aA]|i)[.)\]]?\s{2,}\S|\s*[(\[]?(?:[aA]|i)[.)\]]\s*\S")
LEAST_NUMBERS = 3


def settle_numbers(rows: list[Row]) -> None:
    """Put numbers that tables centre beside `a`, `b`, `c` before the first of these."""
    numbers = [
        (row, int(match[1])) for row in rows if _is_open(row) and (match := _NUMBER.fullmatch(row.text))
    ]
    firsts = [row for row in rows if _is_open(row) and _FIRST.match(row.text)]
    numbers = [(row, value) for row, value in numbers if any(row.right <= first.left + 2 for first in firsts)]
    values = [value for _, value in numbers]
    if len(values) < LEAST_NUMBERS or any(right != left + 1 for left, right in pairwise(values)):
        return
    pairs: list[tuple[Row, Row]] = []
    for row, _ in numbers:
        above = [first for first in firsts if first.baseline >= row.baseline - 0.5 * row.size]
        nearest = min(above, key=lambda first: first.baseline, default=None)
        if nearest is None or any(nearest is first for _, first in pairs):
            return
        pairs.append((row, nearest))
    if not any(_lies_below(row, first) for row, first in pairs):
        return
    for row, first in pairs:
        number = row.text.strip()
        # its own cell closes it
        first.text = f"{number}{'.' if number[-1].isdigit() else ''} {first.text.lstrip()}"
        first.left = row.left
        first.gaps = ()
        rows.remove(row)


def _lies_below(row: Row, first: Row) -> bool:
    return first.baseline - row.baseline > 0.5 * row.size
