"""Tables that lay out a worksheet: a numbered task in every cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from schemas import patterns as re
from tasks.ingest.readers.extraction import PICTURE_MARK, Line
from tasks.ingest.words.grammar import asking

# So many cells, each with the next number, and so many in ten of them with a task: a picture, a blank, a sum.
_LEAST_CELLS, _LEAST_TASKS = 4, 6
_NUMBER = re.compile(rf"(?:\s*{PICTURE_MARK.pattern})*\s*[（(]?(?P<value>\d{{1,3}})\s*[.．、)）:：](?!\d)")
_TASK = re.compile(rf"{PICTURE_MARK.pattern}|__|[=＝?？]\s*$|[（(]\s*[)）]")
_ALONE = re.compile(r"(?P<value>\d{1,3})")
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
    parted: dict[int, list[tuple[Line, int]]] = dict(_find_stacked(lines, starts))
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


def _find_stacked(
    lines: Sequence[Line], starts: Sequence[int]
) -> Iterator[tuple[int, list[tuple[Line, int]]]]:
    """Rows that begin with a number alone, each above rows of its lettered options."""
    blocks: list[list[int]] = []
    for at, line in enumerate(lines):
        filled = [cell.strip() for cell in line.cells]
        # what spans rows is in each of them
        above = lines[blocks[-1][0]].cells if blocks and at == blocks[-1][-1] + 1 else ()
        own = [cell for cell, first in zip(filled, above, strict=False) if cell and cell != first.strip()]
        if len(own) == 1 and filled[0] in ("", above[0].strip()):
            if _letter(own[0]) == chr(ord("A") + len(blocks[-1]) - 1):
                blocks[-1].append(at)
        elif len(filled) > 1 and _ALONE.fullmatch(filled[0]) and not any(map(_letter, filled[1:])):
            blocks.append([at])
    blocks = [block for block in blocks if len(block) > 2]
    matches = (_ALONE.fullmatch(lines[block[0]].cells[0].strip()) for block in blocks)
    values = [int(match["value"]) for match in matches if match is not None]
    if len(values) < 2 or values != list(range(values[0], values[0] + len(values))):
        return
    for block in blocks:
        row = lines[block[0]]
        text = row.text.replace(" | ", ".  ", 1).replace(" | ", "   ")
        yield (
            block[0],
            [(replace(row, text=text, kind="body", cells=(), table=0, emphasis=()), starts[block[0]])],
        )
        for at in block[1:]:
            place = max(0, lines[at].text.rfind(" | ") + 3)
            text = lines[at].text[place:]
            yield (
                at,
                [(replace(row, text=text, kind="body", cells=(), table=0, emphasis=()), starts[at] + place)],
            )


def _letter(text: str) -> str:
    found = _OPTION.match(text)
    return found["letter"] if found else ""


def _find_offered(row: Line, start: int) -> list[tuple[Line, int]]:
    """The cells of a row that is a numbered task and its lettered options, else none."""
    cells = _find_cells(row, start)
    letters = [_letter(line.text) for line, _ in cells[1:]]
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
