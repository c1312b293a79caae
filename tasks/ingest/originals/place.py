"""Where a question stands in its paper; pure.

The place is pages with boxes, rows of a sheet, or lines of the text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

# (left, top, right, bottom) in thousandths of the page as shown.
Box = tuple[int, int, int, int]
# Lines further apart than this are no one block: a figure stands between them, or another column begins.
MOST_GAP = 120
# A marked box reaches this much beyond its letters.
MARGIN = 4
MOST_BOXES = 40


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a stretch of a paper's text.

    Attributes:
        first_line, last_line: its lines in the text, from 0, the last included.
        first_page, last_page: pages or sheets, from 1; 0 where the format has none.
        boxes: marked boxes by page; empty where the paper was read before places were kept.
    """

    first_line: int
    last_line: int
    first_page: int = 0
    last_page: int = 0
    boxes: dict[int, list[Box]] = field(default_factory=dict)


def find_place(
    text: str, page_offsets: Sequence[int], line_boxes: Sequence[int], start: int, end: int
) -> Place:
    """The place of `text[start:end]`.

    `page_offsets` are the offsets at which pages begin, `line_boxes` four numbers for each line, or nothing.
    """
    end = min(max(end, start), len(text))
    # the line break behind a stretch is none of it
    while end > start and text[end - 1].isspace():
        end -= 1
    first, last = text.count("\n", 0, start), text.count("\n", 0, end)
    first_page, last_page = bisect_right(page_offsets, start), bisect_right(page_offsets, max(end - 1, start))
    if not line_boxes or not page_offsets or len(line_boxes) != 4 * (text.count("\n") + 1):
        return Place(first, last, first_page, last_page)
    by_page: dict[int, list[Box]] = {}
    offset = text.rfind("\n", 0, start) + 1
    for line in range(first, last + 1):
        left, top, right, bottom = line_boxes[4 * line : 4 * line + 4]
        if right > left and bottom > top:
            by_page.setdefault(bisect_right(page_offsets, offset), []).append((left, top, right, bottom))
        offset = text.find("\n", offset) + 1
    boxes = {page: merge_boxes(found) for page, found in by_page.items()}
    return Place(first, last, first_page, last_page, boxes)


def merge_boxes(lines: Sequence[Box]) -> list[Box]:
    """The lines of one page as blocks.

    A line joins the block above it where both share some width and stand close.
    """
    blocks: list[Box] = []
    for line in lines:
        if blocks:
            block = blocks[-1]
            is_below = -MOST_GAP / 4 < line[1] - block[3] < MOST_GAP
            is_beside = line[1] < block[3] and line[3] > block[1]
            if min(line[2], block[2]) > max(line[0], block[0]) and (is_below or is_beside):
                blocks[-1] = _join(block, line)
                continue
        blocks.append(line)
    return [_widen(block) for block in blocks[:MOST_BOXES]]


def _join(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _widen(box: Box) -> Box:
    return (
        max(box[0] - MARGIN, 0),
        max(box[1] - MARGIN, 0),
        min(box[2] + MARGIN, 1000),
        min(box[3] + MARGIN, 1000),
    )
