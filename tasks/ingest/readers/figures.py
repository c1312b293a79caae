"""What beside the text of a scan is no part of its lines: figures and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from tasks.ingest.readers.extraction import IMAGE
from tasks.ingest.readers.pdf_figures import Edges, find_middle, holds, join_pictures
from tasks.ingest.readers.pdf_lines import find_column_border, starts_anew
from tasks.ingest.readers.pdf_pages import Row

# Shares of a page's width and height: drawn lines that hang together and are smaller are letters and rules.
MIN_WIDTH, MIN_HEIGHT, MAX_WIDTH = 0.06, 0.03, 0.6
# So many lines of running text, each with this share of the width, stand left of a figure that is beside text.
MIN_BESIDE, MIN_LINE = 3, 0.3
# Words in a figure are short; longer ones are a box of text.
LONGEST_LABEL = 14


# Lines that are longer run through no figure; a figure's ink is neither a letter's nor a photograph's share of its box.
LONGEST_IN_FIGURE, MOST_LETTERS, LEAST_INK, MOST_INK = 16, 120, 0.004, 0.4
# So long is the name of a part of a figure that reads as the letter of an option.
LONGEST_LETTER = 3
# Parts of a figure stand so near to each other, in shares of the page's width; its labels in sizes of their print.
REACH, NEAR_LABEL = 0.008, 0.6
# A line or a curve that is neither level nor upright, in sizes of the print: a table, a frame or a form has none.
LEAST_SLANTED = 2.0
LEAST_RULE = 0.015
# An area is wider than a stroke of print, in sizes of it, and so dark.
LEAST_AREA, DARK = 0.8, 170


def find_drawings(picture: Any, boxes: Sequence[Row]) -> list[Edges]:
    """The boxes (left, bottom, right, top) of what a page draws, with its labels.

    `boxes` are what OCR read, in pixels with the origin at the lower left. What touches the edge of the page is its
    shadow.
    """
    import cv2
    import numpy

    gray = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    height, width = gray.shape
    ink: Any = cv2.adaptiveThreshold(gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 12)
    for box in boxes:
        if len(box.text.strip()) > LONGEST_IN_FIGURE // 4:
            ink[
                max(0, int(height - box.top)) : max(0, int(height - box.bottom) + 1),
                max(0, int(box.left)) : max(0, int(box.right) + 1),
            ] = 0
    side = max(3, int(REACH * width))
    joined = cv2.dilate(ink, numpy.ones((side, side), numpy.uint8))
    _, names, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    size = median(box.size for box in boxes) if boxes else LEAST_RULE * width
    found = []
    for name, (left, top, wide, tall, _) in enumerate(stats[1:].tolist(), start=1):
        if (
            not MIN_WIDTH * width <= wide <= 0.85 * width
            or not MIN_HEIGHT * height <= tall <= MAX_WIDTH * height
            or min(left, top, width - left - wide, height - top - tall) <= 2
        ):
            continue
        cut = slice(top, top + tall), slice(left, left + wide)
        own = ink[cut] * (names[cut] == name)
        edges = (float(left), float(height - top - tall), float(left + wide), float(height - top))
        lengths = [len(box.text.strip()) for box in boxes if _runs_through(box, edges)]
        if (
            LEAST_INK <= float((own > 0).mean()) <= MOST_INK
            and max(lengths, default=0) <= LONGEST_IN_FIGURE
            and sum(lengths) <= MOST_LETTERS
            and (
                _is_slanted(own, LEAST_SLANTED * size, max(8, int(LEAST_RULE * width)))
                or _has_areas(gray[cut], int(LEAST_AREA * size))
            )
            and (lengths or not _is_of_pen(picture[cut], own))
        ):
            found.append(_take_labels(edges, boxes))
    return join_pictures(found, ())


def _runs_through(box: Row, edges: Edges) -> bool:
    """Whether print stands in a drawing, or runs into it as into a stroke of a pen."""
    shared = min(box.right, edges[2]) - max(box.left, edges[0])
    return edges[1] <= find_middle(box) <= edges[3] and shared > 0.2 * min(
        box.right - box.left, edges[2] - edges[0]
    )


def place_drawings(rows: Sequence[Row], drawings: Sequence[Edges]) -> list[Row]:
    """The rows with a mark for every drawing, below what is above it and what is beside it."""
    placed = list(rows)
    size = median(row.size for row in rows) if rows else 12.0
    for left, bottom, right, top in sorted(drawings, key=lambda edges: -edges[3]):
        at, end = _find_column(placed, (left + right) / 2)
        while at < end and find_middle(placed[at]) > top:
            at += 1
        while at < end and find_middle(placed[at]) > bottom and not starts_anew(placed[at].text):
            at += 1
        placed.insert(at, Row(IMAGE, left, right, bottom, top, size))
    return placed


def place_tables(rows: Sequence[Row], tables: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows with those of every table, below what stands above it in its column."""
    placed = list(rows)
    for table in tables:
        at, end = _find_column(placed, (table[0].left + table[0].right) / 2)
        while at < end and find_middle(placed[at]) > table[0].top:
            at += 1
        placed[at:at] = table
    return placed


def _find_column(rows: Sequence[Row], x: float) -> tuple[int, int]:
    """Where the rows of the column begin and end that a place of the page is in."""
    begins = [
        at
        for at, (row, following) in enumerate(pairwise(rows), start=1)
        if find_middle(following) > row.top + 9 * row.size
    ]
    columns = list(pairwise([0, *begins, len(rows)]))
    return next(
        (
            column
            for column in reversed(columns)
            if x >= min((row.left for row in rows[slice(*column)]), default=0)
        ),
        columns[0],
    )


def _is_slanted(ink: Any, length: float, rule: int) -> bool:
    """Whether a stroke of this length (in pixels) is part of no level or upright line."""
    import cv2
    import numpy

    level, upright = (
        cv2.morphologyEx(ink, cv2.MORPH_OPEN, numpy.ones(shape, numpy.uint8))
        for shape in ((1, rule), (rule, 1))
    )
    ruled = cv2.dilate(cv2.max(level, upright), numpy.ones((3, 3), numpy.uint8))
    ink = cv2.subtract(ink, ruled)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    return any(
        max(wide, tall) >= length and min(wide, tall) >= length / 4
        for _, _, wide, tall, _ in stats[1:].tolist()
    )


# So much more colour than the paper has the ink of a pen, of 255.
LEAST_COLOUR = 16


def _is_of_pen(shown: Any, ink: Any) -> bool:
    """Whether ink is one open stroke in colour: a tick, or a mark in the margin."""
    import cv2
    import numpy

    if shown.ndim == 2:
        return False
    colour: Any = shown.max(axis=2).astype(int) - shown.min(axis=2)
    if numpy.median(colour[ink > 0]) - numpy.median(colour[ink == 0]) < LEAST_COLOUR:
        return False
    side = max(3, int(REACH * shown.shape[1]))
    closed = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, numpy.ones((side, side), numpy.uint8))
    outlines, around = cv2.findContours(closed, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    outer = [outline for outline, one in zip(outlines, around[0], strict=True) if one[3] < 0]
    areas = sorted((cv2.contourArea(outline) for outline in outer), reverse=True)
    has_hole = any(
        one[3] >= 0 and cv2.contourArea(outline) > 0.1 * areas[0]
        for outline, one in zip(outlines, around[0], strict=True)
    )
    return not has_hole and (len(areas) == 1 or areas[1] < 0.2 * areas[0])


def _has_areas(shown: Any, side: int) -> bool:
    """Whether a drawing has several dark areas wider than strokes: bars, parts of a map."""
    import cv2
    import numpy

    dark = (shown < DARK).astype(numpy.uint8)
    areas = cv2.morphologyEx(dark, cv2.MORPH_OPEN, numpy.ones((side, side), numpy.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(areas, connectivity=8)
    tall = {round(height / side) for _, _, _, height, _ in stats[1:].tolist()}
    return len(tall) > 1


def _take_labels(edges: Edges, boxes: Sequence[Row]) -> Edges:
    """The box with the short words that stand at its edges, or are cut by them."""
    left, bottom, right, top = edges
    for box in boxes:
        near = NEAR_LABEL * box.size
        reach = (edges[0] - near, edges[1] - near, edges[2] + near, edges[3] + near)
        if len(box.text.strip()) <= LONGEST_LABEL and (
            holds(edges, box) or (holds(reach, box) and not starts_anew(box.text))
        ):
            left, bottom = min(left, box.left), min(bottom, box.bottom)
            right, top = max(right, box.right), max(top, box.top)
    return left, bottom, right, top


def find_drawn_labels(drawings: Sequence[Edges], boxes: Sequence[Row]) -> set[int]:
    """The boxes that drawings have taken; what begins a question or an option is none."""
    return {
        at
        for at, box in enumerate(boxes)
        if len(text := box.text.strip()) <= (LONGEST_LETTER if starts_anew(text) else LONGEST_IN_FIGURE)
        and any(holds(edges, box) for edges in drawings)
    }


def find_labels(picture: Any, boxes: Sequence[Row]) -> set[int]:
    """Return the numbers of the boxes that are written in or around a figure beside text.

    The text is running text. `boxes` have pixels of the picture as coordinates, with the origin at the lower left.
    """
    width = picture.shape[1]
    labels: set[int] = set()
    figures = _find_figures(picture)
    if not figures or (len(boxes) >= 12 and find_column_border(list(boxes), float(width)) is not None):
        return labels
    for left, bottom, right, top in figures:
        beside = [
            box
            for box in boxes
            if box.right - box.left >= MIN_LINE * width
            and box.right < left + 0.3 * (right - left)
            and box.top > bottom
            and box.bottom < top
        ]
        if len(beside) < MIN_BESIDE:
            continue
        edge = max(box.right for box in beside)
        reach = 2.5 * median(box.size for box in beside)
        inside = {
            index
            for index, box in enumerate(boxes)
            if box.left >= edge and bottom - reach < (box.bottom + box.top) / 2 < top + reach
        }
        if inside and median(len(boxes[index].text) for index in inside) <= LONGEST_LABEL:
            labels |= inside
    return labels


def _find_figures(picture: Any) -> list[tuple[float, float, float, float]]:
    """The boxes of drawings: connected ink that is both wide and tall."""
    import cv2

    gray = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    height, width = gray.shape
    ink = cv2.adaptiveThreshold(gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 12)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    return [
        (float(left), float(height - top - tall), float(left + wide), float(height - top))
        for left, top, wide, tall, _ in stats[1:].tolist()
        if MIN_WIDTH * width <= wide <= MAX_WIDTH * width and tall >= MIN_HEIGHT * height
    ]
