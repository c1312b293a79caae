"""Rows made of the boxes that OCR read, with what the pages of a document have in common.

A page alone may hold too little to show its columns, or the margin that is sealed: the sheets of one paper are cut and printed alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from tasks.ingest.readers.figures import place_drawings, place_tables
from tasks.ingest.readers.pdf_figures import Edges
from tasks.ingest.readers.pdf_lines import find_column_border, order_columns, order_score
from tasks.ingest.readers.pdf_pages import Page, Row
from tasks.ingest.words.cleaning import is_cjk
from tasks.ingest.words.labels import parse_label

# Fewer boxes make no two columns.
LEAST_BOXES = 12
# A column has such a share of the boxes; the last one of a paper may have less, where more numbers run on by columns.
COLUMN_SHARES = (0.2, 0.05)
# All but one row of what is no column are narrower than so much of the page.
NARROW = 0.2
# Widths of two sheets of one size differ by less; so many boxes may cross the gap that other sheets have.
SAME_SIZE, MOST_ACROSS = 0.02, 0.1
# So many short boxes without numbers or letters, one above the other left of all text, are a sealed margin; or what it says.
LEAST_MARGIN, LONGEST_MARGIN = 4, 4
SEALED = frozenset("装订线密封姓名学号班级专业院系考场座位")
# A line of text has such a share of the width of its page; of so many the left edge is known.
MIN_LINE, LEAST_LINES = 0.18, 3


@dataclass
class SeenPage:
    """A page whose boxes are in no order yet, with its tables and drawings.

    `slope` of the page: how far its lines rise per pixel to the right.
    """

    page: Page
    boxes: list[Row]
    tables: list[list[Row]]
    drawings: list[Edges]


def lay_out(seen: Sequence[SeenPage]) -> None:
    """Put the boxes of all pages in rows, column by column, from top to bottom.

    Boxes on one height belong to one row; wide gaps inside a row stay visible as several spaces. The slope of a page is
    taken out first.
    """
    for one, margin in zip(seen, find_margins(seen), strict=True):
        one.page.rows += [replace(one.boxes[index], is_furniture=True) for index in sorted(margin)]
        one.boxes = [box for index, box in enumerate(one.boxes) if index not in margin]
    levels = [_level(one.boxes, one.page.slope) for one in seen]
    borders = [find_border(level, one.page.width) for level, one in zip(levels, seen, strict=True)]
    for one, level, own in zip(seen, levels, borders, strict=True):
        border = own
        if own is None:
            alike = [
                other
                for near, found, other in zip(seen, levels, borders, strict=True)
                if near is not one
                and len(found) >= LEAST_BOXES
                and abs(near.page.width - one.page.width) <= SAME_SIZE * one.page.width
                and abs(near.page.height - one.page.height) <= SAME_SIZE * one.page.height
            ]
            shown = [other for other in alike if other is not None]
            if shown and 2 * len(shown) >= len(alike) and _are_parted(level, median(shown), one.page.width):
                border = median(shown)
        rows = place_tables(_merge_columns(level, border, one.page.width), one.tables)
        one.page.rows = [*place_drawings(rows, one.drawings), *one.page.rows]
        one.page.characters = sum(len(row.text) for row in one.page.rows)


def find_margins(seen: Sequence[SeenPage]) -> list[set[int]]:
    """The boxes of each page that are of a sealed margin.

    They are written downwards, left of where all lines begin. Few are, where the same stands there on another sheet, or where they say what such a margin says.
    """
    found = [_list_outer(one.boxes, one.page.width) for one in seen]

    def comes_back(place: int, box: Row) -> bool:
        return any(
            other.text.strip() == box.text.strip()
            and abs(other.left - box.left) < box.size
            and abs(other.bottom - box.bottom) < box.size
            for at, one in enumerate(seen)
            if at != place
            for other in (one.boxes[index] for index in found[at])
        )

    return [
        outer
        if len(outer) >= LEAST_MARGIN
        else {
            index
            for index in outer
            if _is_sealed(one.boxes[index].text) or comes_back(place, one.boxes[index])
        }
        for place, (one, outer) in enumerate(zip(seen, found, strict=True))
    ]


def _list_outer(boxes: Sequence[Row], width: float) -> set[int]:
    """The short boxes without numbers or letters that end where no line has begun."""
    lefts = sorted(box.left for box in boxes if box.right - box.left >= MIN_LINE * width)
    if len(lefts) < LEAST_LINES:
        return set()
    edge = lefts[len(lefts) // 20]
    return {
        index
        for index, box in enumerate(boxes)
        if box.right < edge
        and len(box.text.strip()) <= LONGEST_MARGIN
        and not any(letter.isascii() and letter.isalnum() for letter in box.text)
        and not any(letter in "一二三四五六七八九十" for letter in box.text)
    }


def _is_sealed(text: str) -> bool:
    letters = [letter for letter in text if letter.isalnum()]
    return bool(letters) and all(letter in SEALED for letter in letters)


def _level(boxes: Sequence[Row], slope: float) -> list[Row]:
    return [
        replace(box, bottom=box.bottom - slope * box.left, top=box.top - slope * box.left) for box in boxes
    ]


def _merge_columns(level: list[Row], border: float | None, width: float) -> list[Row]:
    if border is None:
        return merge_rows(level)
    left, right, spanning = _part_columns(level, border, 0.1 * width)
    return order_columns(merge_rows(left), merge_rows(right), merge_rows(spanning))


def find_border(level: list[Row], width: float) -> float | None:
    """The x of the gap between two columns of a page by what it shows itself, or None."""
    whole = merge_rows(level)
    for share in COLUMN_SHARES:
        border = find_gutter(level, width, share)
        if border is None:
            continue
        left, right, _ = _part_columns(level, border, 0.1 * width)
        # columns whose boxes pair up on the same heights are options side by side or marks, not text columns
        if _are_paired(left, right) or _is_narrow(left, right, width):
            return None
        gain = _count_in_order(_merge_columns(level, border, width)) - _count_in_order(whole)
        return border if gain > 0 or (gain == 0 and share == COLUMN_SHARES[0]) else None
    return None


def _are_parted(level: list[Row], border: float, width: float) -> bool:
    """Whether the columns of other sheets part the boxes of this one as well."""
    across = sum(1 for box in level if box.left < border - 2 and box.right > border + 2)
    left, right, _ = _part_columns(level, border, 0.1 * width)
    return across <= MOST_ACROSS * len(level) and bool(left and right) and not _are_paired(left, right)


def find_gutter(boxes: Sequence[Row], width: float, share: float = COLUMN_SHARES[0]) -> float | None:
    """The x of the gap between two columns, with the fewest boxes across it, or None."""
    border = find_column_border(list(boxes), width, share) if len(boxes) >= LEAST_BOXES else None
    if border is None:
        return None
    near = [border + width * step / 400 for step in range(-12, 13)]

    def count_across(x: float) -> tuple[int, float]:
        return sum(1 for box in boxes if box.left < x - 2 and box.right > x + 2), abs(x - border)

    return min(near, key=count_across)


def _part_columns(boxes: list[Row], border: float, reach: float) -> tuple[list[Row], list[Row], list[Row]]:
    """The boxes of the left column, of the right one, and those across both."""
    columns: tuple[list[Row], list[Row], list[Row]] = ([], [], [])
    for box in boxes:
        is_across = box.left < border - reach and box.right > border + reach
        is_right = (box.left + box.right) / 2 > border
        columns[2 if is_across else int(is_right)].append(box)
    return columns


def _count_in_order(rows: list[Row]) -> int:
    """How many rows begin with a question number, less three for every step back."""
    labels = [parse_label(row.text) for row in rows]
    numbers = sum(1 for label in labels if label is not None and label.style == "num" and not label.is_weak)
    return numbers + 3 * order_score(rows)


def _are_paired(left: list[Row], right: list[Row]) -> bool:
    """Whether the right column only continues lines of the left one: B beside A."""
    letters = [row.text.lstrip("（( ")[:1] for row in right if len(row.text) > 1]
    marks = sum(1 for letter in letters if letter in "BCD")
    return bool(right) and marks > 0.5 * len(right) and letters.count("A") < 0.2 * marks


def _is_narrow(left: list[Row], right: list[Row], width: float) -> bool:
    """Whether the right column holds marks, options, cells or names beside the left one's lines."""
    widths = [sorted(row.right - row.left for row in rows) for rows in (left, right)]
    if not all(widths):
        return False
    one, other = (each[len(each) // 2] for each in widths)
    labels = [parse_label(row.text) for row in right]
    counts = any(label is not None and label.style == "num" and not label.is_weak for label in labels)
    return other < 0.2 * one or (not counts and widths[1][-2:][0] < NARROW * width)


def merge_rows(boxes: list[Row]) -> list[Row]:
    """The rows of boxes that stand on one height, from top to bottom."""
    rows: list[list[Row]] = []
    for box in sorted(boxes, key=lambda box: -(box.top + box.bottom)):
        middle = (box.top + box.bottom) / 2
        for row in reversed(rows[-4:]):
            anchor = max(row, key=lambda item: item.right - item.left)
            if abs((anchor.top + anchor.bottom) / 2 - middle) < 0.6 * max(anchor.size, box.size) and not any(
                min(item.right, box.right) - max(item.left, box.left)
                > 0.5 * min(item.right - item.left, box.right - box.left)
                for item in row
            ):
                row.append(box)
                break
        else:
            rows.append([box])
    return [_join_row(sorted(row, key=lambda item: item.left)) for row in rows]


def _join_row(row: list[Row]) -> Row:
    text = row[0].text
    gaps: list[tuple[int, float]] = []
    for left, right in pairwise(row):
        gap = right.left - left.right
        if gap > 0.3 * left.size:
            gaps.append((len(text), left.right))
        if gap > 1.5 * left.size:
            text += " " * min(int(gap / left.size) + 1, 8) + right.text
        elif gap > 0.3 * left.size and not (is_cjk(text[-1]) and is_cjk(right.text[0])):
            text += " " + right.text
        elif gap >= 0 and (text[-1] + right.text[0]).isascii() and (text[-1] + right.text[0]).isalnum():
            text += " " + right.text  # two boxes are two words, however near
        else:
            text += right.text
    return Row(
        text,
        row[0].left,
        max(item.right for item in row),
        min(item.bottom for item in row),
        max(item.top for item in row),
        max(item.size for item in row),
        baseline=min(item.bottom for item in row),
        gaps=tuple(gaps),
        sure=sum(len(item.text) * item.sure for item in row) / sum(len(item.text) for item in row),
    )
