"""Areas of a page that a second reader points at: pictures of which no reader left a mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache, partial
from typing import Any

from tasks.ingest.readers.extraction import Extraction, FoundPicture, read_picture_number
from tasks.ingest.readers.page_boxes import WHOLE, Box

_DPI = 100
# In thousandths: by so much an area may be told too small; nothing smaller is a picture, nothing larger a part of its page.
_SLACK, _FURTHEST, _LEAST, _MOST = 8, 50, 12, 900
# So much darker or lighter than the paper is ink.
_INK = 24


class PagePictures:
    """The pictures of a document on its pages, to which areas of these may be added."""

    def __init__(self, extraction: Extraction) -> None:
        self._extraction = extraction
        # rendering a page takes longer than cutting all areas out of it
        self._draw = lru_cache(maxsize=2)(partial(_draw, extraction.package))

    def cut(self, page: int, area: Box, texts: Sequence[Box]) -> str:
        """The mark of a picture that is cut out of a page; "" where nothing is to be seen.

        `texts` are the boxes of lines that are pointed at as text: they are no part of it.
        """
        shown = self._draw(page)
        box = None if shown is None else fit_area(shown, area, texts)
        return "" if box is None else self._extraction.add_picture(FoundPicture(page=page, box=box))

    def find_place(self, mark: re.Match[str] | None) -> tuple[int, Box] | None:
        """The page of a picture and its box there, where it has one."""
        number = read_picture_number(mark) if mark is not None else None
        if number is None or number >= len(self._extraction.pictures):
            return None
        found = self._extraction.pictures[number]
        if found.package or not found.box:
            return None
        left, top, right, bottom = found.box
        return found.page, (left, top, right, bottom)


def _draw(package: bytes, page: int) -> Any:
    """A page in grey, by rows; None where the document has no such page."""
    import pypdfium2

    if not package.startswith(b"%PDF"):
        return None
    with closing(pypdfium2.PdfDocument(package)) as document:
        if not 0 < page <= len(document):
            return None
        return document[page - 1].render(scale=_DPI / 72, grayscale=True).to_numpy()


def fit_area(shown: Any, area: Box, texts: Sequence[Box]) -> Box | None:
    """The box of the ink in an area, with what of it crosses its edges; None for none."""
    import numpy

    grey = shown.reshape(shown.shape[0], shown.shape[1]).astype(int)
    ink = abs(grey - numpy.median(grey)) > _INK
    high, wide = ink.shape

    def scale(box: Sequence[int]) -> tuple[int, int, int, int]:
        left, top, right, bottom = (min(max(edge, 0), WHOLE) for edge in box)
        return (
            left * wide // WHOLE,
            top * high // WHOLE,
            -(-right * wide // WHOLE),
            -(-bottom * high // WHOLE),
        )

    for one in texts:
        left, top, right, bottom = scale(one)
        ink[top:bottom, left:right] = False
    grown = (area[0] - _SLACK, area[1] - _SLACK, area[2] + _SLACK, area[3] + _SLACK)
    left, top, right, bottom = scale(grown)
    least, first, most, last = scale(
        (area[0] - _FURTHEST, area[1] - _FURTHEST, area[2] + _FURTHEST, area[3] + _FURTHEST)
    )
    # out to the next edge that crosses no ink, where one is near
    left = next((at for at in range(left, least - 1, -1) if not ink[top:bottom, at].any()), left)
    right = next((at for at in range(right, most + 1) if not ink[top:bottom, at - 1].any()), right)
    top = next((at for at in range(top, first - 1, -1) if not ink[at, left:right].any()), top)
    bottom = next((at for at in range(bottom, last + 1) if not ink[at - 1, left:right].any()), bottom)
    rows, columns = ink[top:bottom, left:right].any(axis=1), ink[top:bottom, left:right].any(axis=0)
    if not rows.any():
        return None
    top, bottom = top + int(rows.argmax()), bottom - int(rows[::-1].argmax())
    left, right = left + int(columns.argmax()), right - int(columns[::-1].argmax())
    box = (left * WHOLE // wide, top * WHOLE // high, -(-right * WHOLE // wide), -(-bottom * WHOLE // high))
    sides = box[2] - box[0], box[3] - box[1]
    return box if min(sides) >= _LEAST and max(sides) <= _MOST else None
