"""Tables that lay out a worksheet: a numbered task in every cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tasks.ingest.readers.extraction import PICTURE_MARK, Line
from tasks.ingest.words.grammar import asking

# So many cells, each with the next number, and so many in ten of them with a task: a picture, a blank, a sum.
_LEAST_CELLS, _LEAST_TASKS = 4, 6
_NUMBER = re.compile(rf"(?:\s*{PICTURE_MARK.pattern})*\s*[（(]?(?P<value>\d{{1,3}})\s*[.．、)）:：](?!\d)")
_TASK = re.compile(rf"{PICTURE_MARK.pattern}|__|[=＝?？]\s*$|[（(]\s*[)）]")
_OPTION = re.compile(r"\s*[（(]?(?P<letter>[A-H])\s*(?:[.．、)）:：]|(?=\s*\[))")
# `1. ____`, `2.（ ）`: a place for an answer
_PLACE = re.compile(r"\s*[（(]?\d{1,3}\s*[.．、)）:：][_（()）\s]*$")


def part_cells(lines: Sequence[Line], starts: Sequence[int]) -> tuple[Sequence[Line], Sequence[int]]:
    """The lines of a document, and where they begin, with such cells on lines of their own.

    Their numbers run on along the rows or down the columns. A grid of numbered answers, or of
    places for them, stays a table.
    """
    tables: dict[tuple[int, int], list[int]] = {}
    for at, line in enumerate(lines):
        if len(line.cells) > 1:
            tables.setdefault((line.table, line.page), []).append(at)
    parted: dict[int, list[tuple[Line, int]]] = {}
    for rows in tables.values():
        offered = [_find_offered(lines[at], starts[at]) for at in rows]
        if all(offered) and len(offered) > 1 and _count_on([own[0][0].text for own in offered]):
            parted |= dict(zip(rows, offered, strict=True))
            continue
        cells = [cell for at in rows for cell in _find_cells(lines[at], starts[at])]
        numbers = [_NUMBER.match(line.text) for line, _ in cells]
        values = [int(one["value"]) for one in numbers if one is not None]
        tasks = sum(1 for line, _ in cells if _sets_task(line.text))
        if (
            len(values) == len(cells) >= _LEAST_CELLS
            and sorted(values) == list(range(min(values), min(values) + len(values)))
            and 10 * tasks >= _LEAST_TASKS * len(cells)
        ):
            ordered = [cell for _, cell in sorted(zip(values, cells, strict=True), key=lambda pair: pair[0])]
            parted |= {at: [] for at in rows}
            parted[rows[0]] = ordered
    if not parted:
        return lines, starts
    pairs = [
        pair
        for at, (line, start) in enumerate(zip(lines, starts, strict=True))
        for pair in parted.get(at, [(line, start)])
    ]
    return [line for line, _ in pairs], [start for _, start in pairs]


def _find_offered(row: Line, start: int) -> list[tuple[Line, int]]:
    """The cells of a row of which the first is a numbered task and the others are its lettered options."""
    cells = _find_cells(row, start)
    letters = [one["letter"] if (one := _OPTION.match(line.text)) else "" for line, _ in cells[1:]]
    is_row = len(letters) > 1 and letters == [chr(ord("A") + at) for at in range(len(letters))]
    return cells if is_row and _NUMBER.match(cells[0][0].text) else []


def _count_on(texts: Sequence[str]) -> bool:
    """Whether texts begin with numbers that run on by one."""
    values = [int(one["value"]) for text in texts if (one := _NUMBER.match(text))]
    return values == list(range(values[0], values[0] + len(texts))) if values else False


def _sets_task(text: str) -> bool:
    return not _PLACE.match(text) and (_TASK.search(text) or asking().search(text)) is not None


def _find_cells(row: Line, start: int) -> list[tuple[Line, int]]:
    """The filled cells of a row as lines, with their places in the raw text."""
    found: list[tuple[Line, int]] = []
    place = 0
    for cell in row.cells:
        text = cell.strip().replace("\n", " ")
        if not text:
            continue
        place = row.text.find(text, place)
        if place < 0:
            return []
        found.append((replace(row, text=text, kind="body", cells=(), table=0, emphasis=()), start + place))
        place += len(text)
    return found
