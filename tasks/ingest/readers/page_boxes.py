"""Where the lines of a page stand on it as people see it, in thousandths."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tasks.ingest.readers.extraction import Line

WHOLE = 1000
# (left, top, right, bottom), the origin at the upper left of the page.
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """How coordinates become thousandths of a page: across · (x, y, 1), down · (x, y, 1)."""

    across: tuple[float, float, float]
    down: tuple[float, float, float]

    def place(self, left: float, bottom: float, right: float, top: float) -> Box:
        """The box of two opposite corners, cut at the edges of the page."""
        # written out: every line of every paper comes by here
        by_x, by_y, begin = self.across
        x1, x2 = by_x * left + by_y * bottom + begin, by_x * right + by_y * top + begin
        by_x, by_y, begin = self.down
        y1, y2 = by_x * left + by_y * bottom + begin, by_x * right + by_y * top + begin
        if x1 > x2:
            x1, x2 = x2, x1
        if y1 > y2:
            y1, y2 = y2, y1
        return _cut(x1), _cut(y1), _cut(x2), _cut(y2)


@dataclass(frozen=True, slots=True)
class PictureFrame:
    """The same for a picture of a page that was levelled before it was read.

    Coordinates are pixels of the levelled picture (`height` high) with the origin at the lower left; `find_source` says
    where they were in the picture as it is shown, with the origin at the upper left; `width_shown`, `height_shown` are its size.
    """

    height: float
    width_shown: float
    height_shown: float
    find_source: Callable[[float, float], tuple[float, float]]

    def place(self, left: float, bottom: float, right: float, top: float) -> Box:
        """The box of two opposite corners, its ends and middle, cut at the edges of the page."""
        points = [
            self.find_source(x, self.height - y)
            for x in (left, (left + right) / 2, right)
            for y in (bottom, top)
        ]
        xs = [x / self.width_shown * WHOLE for x, _ in points]
        ys = [y / self.height_shown * WHOLE for _, y in points]
        return _cut(min(xs)), _cut(min(ys)), _cut(max(xs)), _cut(max(ys))


def frame_page(page: Any, raw: Any) -> Frame:
    """The frame of a page of a PDF, with the crop box and the rotation that are shown."""
    # PDFium answers in whole pixels: three points of a large picture give the map to a hundredth of a point.
    scale, reach = 1_000, 1_000
    x, y = ctypes.c_int(), ctypes.c_int()

    def show(at_x: int, at_y: int) -> tuple[float, float]:
        size = WHOLE * scale
        raw.FPDF_PageToDevice(page.raw, 0, 0, size, size, 0, at_x, at_y, ctypes.byref(x), ctypes.byref(y))
        return x.value / scale, y.value / scale

    origin, right, up = show(0, 0), show(reach, 0), show(0, reach)
    return Frame(
        ((right[0] - origin[0]) / reach, (up[0] - origin[0]) / reach, origin[0]),
        ((right[1] - origin[1]) / reach, (up[1] - origin[1]) / reach, origin[1]),
    )


def list_boxes(lines: Sequence[Line]) -> list[int]:
    """The boxes of the lines of a document, one after the other, four numbers each.

    Empty where a format has none. A line without a box of its own (0, 0, 0, 0) keeps the others in step.
    """
    if not any(line.box for line in lines) or any("\n" in line.text for line in lines):
        return []
    return [number for line in lines for number in (line.box or (0, 0, 0, 0))]


def _cut(value: float) -> int:
    return 0 if value < 0 else WHOLE if value > WHOLE else int(value + 0.5)
