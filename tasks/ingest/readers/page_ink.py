"""What a page of a PDF shows that its text layer does not say.

Ink that looks like lines of print and lies under no character: pasted scans, screenshots, letters drawn as outlines.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.ingest.readers.page_boxes import WHOLE, Box, Frame
from tasks.ingest.readers.pdf_pages import Character

# Dots per inch at which ink is looked at; a mark of print is then at least five pixels high.
RESOLUTION = 100
MAX_SIDE = 2000
# Marks that follow each other in one line of print; an axis, a table of a figure or a formula has fewer.
LEAST_MARKS = 12
# So many marks in so many lines are a page, or part of one, that only OCR reads.
LEAST_INK, LEAST_LINES = 100, 5
# A page full of the smallest print has so many marks, and letters drawn as outlines are so many paths at least.
MOST_INK, LEAST_PATHS = 2_000, 300


@dataclass(frozen=True)
class Ink:
    """The marks in lines of print that no character of the text layer covers."""

    marks: int
    lines: int

    @property
    def is_text(self) -> bool:
        """Whether it is as much as a paragraph."""
        return self.marks >= LEAST_INK and self.lines >= LEAST_LINES


NO_INK = Ink(0, 0)


def measure_ink(page: Any, frame: Frame, characters: Sequence[Character], part: Box | None = None) -> Ink:
    """Measure a page of which the text layer has these characters, `frame` placing them on it.

    Only a part of it is looked at where one is given, in thousandths of the page as shown.

    Nothing is found where the extra `ocr` is not installed: nobody could read it.
    """
    if importlib.util.find_spec("cv2") is None:
        return NO_INK
    from tasks.ingest.readers.levelling import find_marks, link_marks

    page_width, page_height = page.get_size()
    begin, over, end, under = part or (0, 0, WHOLE, WHOLE)
    picture = page.render(
        scale=min(RESOLUTION / 72, MAX_SIDE / max(page_width, page_height)),
        grayscale=True,
        crop=(
            page_width * begin / WHOLE,
            page_height * (WHOLE - under) / WHOLE,
            page_width * (WHOLE - end) / WHOLE,
            page_height * over / WHOLE,
        ),
    ).to_numpy()
    picture = picture[:, :, 0] if picture.ndim == 3 else picture
    height, width = picture.shape
    across, down = width / max(end - begin, 1), height / max(under - over, 1)
    for one in characters:
        left, top, right, foot = frame.place(one.left, one.bottom, one.right, one.top)
        if right >= begin and left <= end and foot >= over and top <= under:
            picture[
                max(0, int((top - over) * down)) : max(0, int((foot - over) * down) + 2),
                max(0, int((left - begin) * across)) : max(0, int((right - begin) * across) + 2),
            ] = 255
    marks, size = find_marks(picture)
    found = [line for line in link_marks(marks, size) if len(line) >= LEAST_MARKS]
    return Ink(sum(map(len, found)), len(found))
