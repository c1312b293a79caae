"""A page of a PDF as it is read.

It holds its rows of text in reading order, and what else stands on it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tasks.ingest.readers.page_boxes import Frame, PictureFrame


@dataclass
class Row:
    """One line of a page with its box in points (origin at the lower left).

    `size` is measured by its height, `points` is what its font says. `is_bold`: nearly all of it; `frame` is `cell` for a row inside a ruled cell, that of no table, too.
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
    Chinese page has.
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


# not frozen: a page has thousands of them, and freezing takes three times as long
@dataclass(slots=True)
class Character:
    """A character of the text layer and its place.

    `breaks` and `spaced` say what the layer puts before it. `angle` (radians, counterclockwise) is that of the file.
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


def place_row(frame: Frame | PictureFrame | None, row: Row, slope: float = 0.0) -> tuple[int, ...]:
    """Where a row stands on its page as shown.

    `slope` is the rise per point to the right that was taken out of it.
    """
    if frame is None:
        return ()
    if not slope:
        return frame.place(row.left, row.bottom, row.right, row.top)
    rises = sorted((slope * row.left, slope * row.right))
    return frame.place(row.left, row.bottom + rises[0], row.right, row.top + rises[1])
