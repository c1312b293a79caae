"""A page of a PDF as it is read: its rows of text in reading order, and what else stands on it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Row:
    """One line of a page with its box in points (origin at the lower left)."""

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


@dataclass
class Page:
    """The rows of one page in reading order, and what could not be read on it."""

    width: float
    height: float
    rows: list[Row] = field(default_factory=list)
    characters: int = 0
    broken: int = 0
    has_images: bool = False
    is_scan: bool = False


# not frozen: a page has thousands of them, and freezing takes three times as long
@dataclass(slots=True)
class Character:
    """A character of the text layer and its place; `breaks` and `spaced`: what the layer puts before it."""

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
    is_turned: bool = False
