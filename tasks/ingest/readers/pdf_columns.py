"""The order of a page's rows: columns found and read one after the other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from tasks.ingest.readers.extraction import Extraction
from tasks.ingest.readers.pdf_pages import Page, Row
from tasks.ingest.words.labels import parse_label

# A column that ends soon has at least this share of a page's rows.
SHORT_COLUMN = 0.1


def repair_order(pages: list[Page], extraction: Extraction) -> None:
    """Put a page into geometric order where that makes its question numbers run better."""
    changed: list[int] = []
    for number, page in enumerate(pages, start=1):
        body = [row for row in page.rows if not row.is_furniture]
        if len(body) < 4:
            continue
        if order_score(body) >= 0:
            # in two clean columns a line beside another is no stray
            settled = body if count_crossings(body, page.width) in (1, 2) else settle_strays(body, page.width)
            if settled is not body:
                page.rows = [row for row in page.rows if row.is_furniture] + settled
            continue
        ordered = order_rows(body, page.width)
        if order_score(ordered) > order_score(body):
            page.rows = [row for row in page.rows if row.is_furniture] + ordered
            changed.append(number)
    if changed:
        extraction.warnings.append(
            f"The reading order of {len(changed)} page(s) was repaired by position: {changed[:10]}."
        )


def count_crossings(rows: list[Row], width: float) -> int:
    """How often the text goes from one column to the other; 0 where there is one column.

    The shorter column has at least a tenth of the rows.
    """
    border = find_column_border(rows, width, SHORT_COLUMN)
    if border is None or sum(1 for row in rows if row.left > border - 10) < 5:
        return 0
    sides = [row.left > border - 10 for row in rows if row.right < border + 10 or row.left > border - 10]
    return sum(1 for left, right in pairwise(sides) if left != right)


def settle_strays(rows: list[Row], width: float) -> list[Row]:
    """Move the few rows of a one-column page that break the downward order to their height.

    They are boxes and stamps.
    """
    if find_column_border(rows, width) is not None:
        return rows
    # the longest run of rows that only goes down; rows on one height count as going down
    best: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        before = max(
            (
                (best[other][0], other)
                for other in range(max(0, index - 60), index)
                if rows[other].bottom > row.bottom - row.size
            ),
            default=(0, -1),
        )
        best.append((before[0] + 1, before[1]))
    place = max(range(len(rows)), key=lambda index: best[index][0])
    kept: set[int] = set()
    while place >= 0:
        kept.add(place)
        place = best[place][1]
    if len(kept) == len(rows) or len(kept) < 0.75 * len(rows):
        return rows
    ordered = [rows[index] for index in sorted(kept)]
    for index, row in enumerate(rows):
        if index not in kept:
            spot = next((at for at, other in enumerate(ordered) if other.bottom < row.bottom), len(ordered))
            ordered.insert(spot, row)
    return ordered


def order_score(rows: list[Row]) -> int:
    """Count the backward steps (negative) between question numbers in this order of rows.

    0 is perfect.
    """
    values: list[int] = []
    for row in rows:
        label = parse_label(row.text)
        if label is not None and label.style == "num" and not label.is_weak:
            values.append(label.value)
    return -sum(1 for left, right in pairwise(values) if right < left and right != 1)


def order_rows(rows: list[Row], width: float, border: float | None = None) -> list[Row]:
    """Return rows column by column, from top to bottom.

    A column border is an upright gap in the page's middle.
    """
    border = border if border is not None else find_column_border(rows, width)
    if border is None:
        return _top_down(rows)
    left = [row for row in rows if (row.left + row.right) / 2 < border and row.right < border + 10]
    right = [row for row in rows if row.left > border - 10]
    spanning = [row for row in rows if row not in left and row not in right]
    return order_columns(left, right, spanning)


def order_columns(left: list[Row], right: list[Row], spanning: list[Row]) -> list[Row]:
    """Return the left column and the right one, from one row that spans both to the next."""
    ordered: list[Row] = []
    edges = sorted((row.bottom for row in spanning), reverse=True)
    last = float("inf")
    for edge in [*edges, float("-inf")]:
        ordered += _top_down([row for row in left if edge < row.bottom <= last])
        ordered += _top_down([row for row in right if edge < row.bottom <= last])
        ordered += [row for row in spanning if row.bottom == edge]
        last = edge
    return ordered


def _top_down(rows: list[Row]) -> list[Row]:
    """Sort by rows of equal height, then from left to right."""
    ordered: list[Row] = []
    band: list[Row] = []
    for row in sorted(rows, key=lambda row: -(row.top + row.bottom)):
        if band and abs((band[0].top + band[0].bottom) - (row.top + row.bottom)) > band[0].size:
            ordered += sorted(band, key=lambda item: item.left)
            band = []
        band.append(row)
    return ordered + sorted(band, key=lambda item: item.left)


def find_column_border(rows: list[Row], width: float, share: float = 0.2) -> float | None:
    """Return the x of an upright gap between two columns, or None where there is none.

    Each of the columns has this share of the rows.
    """
    best: tuple[int, float] | None = None
    lefts, rights = sorted([row.left for row in rows]), sorted([row.right for row in rows])
    narrow = [row for row in rows if row.right - row.left <= 4]
    for step in range(30, 71, 2):
        x = width * step / 100
        left = bisect_right(rights, x + 2)
        right = len(rows) - bisect_left(lefts, x - 2)
        both = sum(1 for row in narrow if row.right <= x + 2 and row.left >= x - 2)
        crossing = len(rows) - left - right + both
        if crossing <= 0.1 * len(rows) and min(left, right) >= share * len(rows):
            score = crossing * 100 + abs(step - 50)
            if best is None or score < best[0]:
                best = (score, x)
    return best[1] if best else None
