"""What stands beside the text of a scanned page and is no part of its lines.

These are words of figures, and the sealed margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from tasks.ingest.readers.pdf_lines import find_column_border
from tasks.ingest.readers.pdf_pages import Row

# Shares of a page's width and height: drawn lines that hang together and are smaller are letters and rules.
MIN_WIDTH, MIN_HEIGHT, MAX_WIDTH = 0.06, 0.03, 0.6
# So many lines of running text, each with this share of the width, stand left of a figure that is beside text.
MIN_BESIDE, MIN_LINE = 3, 0.3
# Words in a figure are short; longer ones are a box of text.
LONGEST_LABEL = 14
# So many short boxes without numbers or letters, one above the other left of all text, are a sealed margin.
LEAST_MARGIN, LONGEST_MARGIN = 4, 4


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


def find_margin(boxes: Sequence[Row], width: float) -> set[int]:
    """Return the numbers of the boxes of a sealed margin.

    Its characters are written downwards, left of where all lines begin.
    """
    lefts = sorted(box.left for box in boxes if box.right - box.left >= MIN_WIDTH * 3 * width)
    if len(lefts) < MIN_BESIDE:
        return set()
    edge = lefts[len(lefts) // 20]
    margin = {
        index
        for index, box in enumerate(boxes)
        if box.right < edge
        and len(box.text.strip()) <= LONGEST_MARGIN
        and not any(letter.isascii() and letter.isalnum() for letter in box.text)
        and not any(letter in "一二三四五六七八九十" for letter in box.text)
    }
    return margin if len(margin) >= LEAST_MARGIN else set()


def _find_figures(picture: Any) -> list[tuple[float, float, float, float]]:
    """The boxes (left, bottom, right, top) of drawings, the origin at the lower left.

    A drawing is connected ink that is both wide and tall.
    """
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
