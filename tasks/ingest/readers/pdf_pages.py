"""A page of a PDF as it is read: its rows in reading order, and what else stands on it.

It is turned so that most of its characters stand upright: files keep coordinates as they were drawn; /Rotate, a crop box
and sideways text put another page before the reader.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.ingest.readers.page_boxes import Frame, PictureFrame, frame_page


@dataclass
class Row:
    """One line of a page with its box in points (origin at the lower left).

    `size` is measured by its height, `points` is what its font says. `is_bold`, `is_coloured`: nearly all of it; `marks` are the stretches that are, with `bold` or `colour`; `frame` is `cell` for a row inside a ruled cell, that of no table, too.
    `gaps` says of every wide gap how many characters stand before it, and where they end. `sure` is how sure OCR was.
    `signs` are its large signs, which may have limits: at which character each ends, and its left and right edge.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    is_furniture: bool = False
    wraps: bool = False
    cells: tuple[str, ...] = ()
    table: int = 0
    is_bold: bool = False
    is_coloured: bool = False
    marks: tuple[tuple[int, int, str], ...] = ()
    # where numbers stand amid a drawn line, and that text: others may have been put in its place
    underlined: tuple[tuple[int, int], ...] = ()
    shown: str = ""
    frame: str = ""
    points: float = 0.0
    baseline: float = 0.0
    gaps: tuple[tuple[int, float], ...] = ()
    sure: float = 1.0
    signs: tuple[tuple[int, float, float], ...] = ()


@dataclass
class Page:
    """The rows of one page in reading order, and what could not be read on it.

    `is_scan`: only OCR reads it. `is_mixed`: OCR reads most of it, the text layer the rest. `odd`: how many
    characters stand where texts have none, and how many letters there are. `foreign`: the characters of other scripts than a
    Chinese page has. `asked`: the upright lines of the last table of questions, here or on a
    page before, and the names of its columns. `images`: the places of its pictures.
    """

    width: float
    height: float
    rows: list[Row] = field(default_factory=list)
    characters: int = 0
    broken: int = 0
    has_images: bool = False
    is_scan: bool = False
    is_mixed: bool = False
    odd: tuple[int, int] = (0, 0)
    foreign: Counter[str] = field(default_factory=Counter)
    frame: Frame | PictureFrame | None = None
    slope: float = 0.0
    asked: tuple[list[float], list[str]] = field(default_factory=lambda: ([], []))
    images: list[tuple[float, float, float, float]] = field(default_factory=list)


# not frozen: a page has thousands of them, and freezing takes three times as long
@dataclass(slots=True)
class Character:
    """A character of the text layer, its place, and what the layer puts before it.

    `drawn_by` is the address of the object of the page that draws it.
    """

    text: str
    x: float
    y: float
    left: float
    right: float
    bottom: float
    top: float
    size: float
    breaks: bool = False
    spaced: bool = False
    angle: float = 0.0
    is_heavy: bool = False
    is_coloured: bool = False
    drawn_by: int = 0


def place_row(frame: Frame | PictureFrame | None, row: Row, slope: float = 0.0) -> tuple[int, ...]:
    """Where a row stands on its page as shown; `slope` had been taken out of it."""
    if frame is None:
        return ()
    if not slope:
        return frame.place(row.left, row.bottom, row.right, row.top)
    rises = sorted((slope * row.left, slope * row.right))
    return frame.place(row.left, row.bottom + rises[0], row.right, row.top + rises[1])


def name_kind(row: Row) -> str:
    """What a row is as a line of a document: furniture, a table's row, text that goes on or not."""
    if row.is_furniture:
        return "furniture"
    if row.cells:
        return "table"
    return "wrapped" if row.wraps else "body"


def list_emphasis(row: Row) -> tuple[tuple[int, int, str], ...]:
    """The stretches of a row that stand out, as a line of a document has them."""
    whole = [kind for kind, is_whole in (("colour", row.is_coloured), ("bold", row.is_bold)) if is_whole]
    return (*((0, len(row.text), kind) for kind in whole), *(one for one in row.marks if one[2] not in whole))


def number_table(page: int, row: Row) -> int:
    """The number of a row's table among those of its document; 0 for none."""
    return page * 1000 + row.table if row.table else 0


# So many characters, and more than half of the page, decide which way a page is read.
LEAST_TURNING = 20
_QUARTER = math.pi / 2
_Affine = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class View:
    """How points of a page's file become points of the page as it is read."""

    width: float
    height: float
    frame: Frame
    map: _Affine | None
    angle: float

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the file is."""
        if self.map is None:
            return x, y
        a, b, c, d, e, f = self.map
        return a * x + c * y + e, b * x + d * y + f

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """Where a box of the file is: its left, lower, right and upper edge."""
        if self.map is None:
            return left, bottom, right, top
        x1, y1 = self.place(left, bottom)
        x2, y2 = self.place(right, top)
        return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)

    def move(self, characters: Sequence[Character]) -> None:
        """Put characters, read where they are in the file, where they are on the page."""
        if self.map is None:
            return
        for one in characters:
            one.x, one.y = self.place(one.x, one.y)
            one.left, one.bottom, one.right, one.top = self.box(one.left, one.bottom, one.right, one.top)


def find_view(page: Any, raw: Any, characters: Sequence[Character]) -> View:
    """The view of a page, whose characters are given as the file has them."""
    width, height = page.get_size()
    rotation = raw.FPDFPage_GetRotation(page.raw) % 4
    turn = _find_turn(characters, rotation)
    shown = frame_page(page, raw)
    (by_x, by_y, begin), (down_x, down_y, down) = shown.across, shown.down
    across, up = width / 1000, height / 1000
    to_shown = (by_x * across, -down_x * up, by_y * across, -down_y * up, begin * across, (1000 - down) * up)
    level = Frame((1000 / width, 0.0, 0.0), (0.0, -1000 / height, 1000.0)) if width and height else shown
    if turn == 0:
        is_plain = (
            max(abs(one - other) for one, other in zip(to_shown, (1, 0, 0, 1, 0, 0), strict=True)) < 0.01
        )
        return View(
            width, height, shown if is_plain else level, None if is_plain else to_shown, rotation * _QUARTER
        )
    # from the page as shown to the page as read, and back
    on = {1: (0, -1, 1, 0, 0, width), 2: (-1, 0, 0, -1, width, height), 3: (0, 1, -1, 0, height, 0)}[turn]
    back = {1: (0, 1, -1, 0, width, 0), 2: (-1, 0, 0, -1, width, height), 3: (0, -1, 1, 0, 0, height)}[turn]
    a, b, c, d, e, f = back
    frame = Frame(
        (a * 1000 / width, c * 1000 / width, e * 1000 / width),
        (-b * 1000 / height, -d * 1000 / height, 1000 - f * 1000 / height),
    )
    size = (height, width) if turn % 2 else (width, height)
    return View(*size, frame, _chain(to_shown, on), (rotation + turn) * _QUARTER)


def _find_turn(characters: Sequence[Character], rotation: int) -> int:
    """By how many quarters most characters are turned, counterclockwise."""
    if rotation == 0 and not any(one.angle for one in characters):
        return 0
    counts = [0, 0, 0, 0]
    for one in characters:
        # the dashes of a sealed margin are no text
        if one.text.isalnum():
            counts[round(one.angle / _QUARTER) % 4 if one.angle else 0] += 1
    total = sum(counts)
    most = max(range(4), key=lambda turn: counts[turn])
    return (most - rotation) % 4 if total >= LEAST_TURNING and counts[most] * 2 > total else 0


def _chain(first: _Affine, then: _Affine) -> _Affine:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (p * a + r * b, q * a + s * b, p * c + r * d, q * c + s * d, p * e + r * f + t, q * e + s * f + u)
