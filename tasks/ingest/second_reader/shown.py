"""What a second reader is shown of a paper: its numbered lines, then its answer file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from typing import Any

from schemas import patterns as re
from tasks.ingest.readers.extraction import (
    IMAGE,
    PICTURE_MARK,
    Extraction,
    Line,
    blank_picture_numbers,
    join_lines,
)

# A line is shown up to this length; what is longer holds no single question.
_LONGEST_SHOWN = 4_000


# Stretches that stand out stand between these signs where a line is shown.
OPENS, CLOSES = "⟦", "⟧"


# How the mark of a picture is shown that can be pointed at: by its number among those of the paper.
SHOWN_PICTURE = re.compile(rf"{re.escape(IMAGE[:-1])} (\d{{1,6}})\]")


# Where so large a part of the lines stands out, print says nothing.
_MOST_STANDING_OUT = 0.5


@dataclass(frozen=True)
class ShownPaper:
    """What a second reader is shown of a paper: its `own` lines, then those of its answer file.

    `pages` are the pages of its own lines, from 1; 0 where the format has none. `pictures` are small ones in base64 by their number
    in the lines, where they were asked for.
    """

    lines: Sequence[str] = field(repr=False)
    own: int
    pages: Sequence[int] = ()
    pictures: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Pointed:
    """Characters of one line, from `first` to `last`, or the line as a whole.

    `picture` is the number of the picture that was pointed at, whose mark these characters are (an area of a page has none); 0
    for text. `fills`: what stands there fills a sentence, and a blank is shown in its place.
    """

    line: int
    first: int
    last: int
    is_whole: bool = False
    picture: int = 0
    fills: bool = False

    def holds(self, mark: Pointed) -> bool:
        """Whether the mark of a picture is among these characters."""
        return self.line == mark.line and self.first <= mark.first < mark.last <= self.last


@dataclass(frozen=True)
class ShownLines:
    """The numbered lines of a paper; from `own` on they are those of its answer file."""

    lines: Sequence[Line]
    starts: Sequence[int]
    own: int

    @cached_property
    def pictures(self) -> Mapping[int, tuple[int, re.Match[str]]]:
        """The line and the mark of every picture, by the number that it is shown with."""
        marks = [
            (at, mark)
            for at, line in enumerate(self.lines)
            for mark in PICTURE_MARK.finditer(line.text)
            if mark["number"]
        ]
        return dict(enumerate(marks, start=1))

    def describe(self, drawn: Mapping[int, str] | None = None) -> dict[str, Any]:
        """What is shown of every line, the pages of the own ones, and drawn pictures."""
        standing_out = sum(1 for line in self.lines if line.emphasis)
        is_marked = standing_out <= _MOST_STANDING_OUT * len(self.lines)
        numbers = count(1)
        return {
            "lines": [_render(line, is_marked, numbers) for line in self.lines],
            "own": self.own,
            "pages": [line.page for line in self.lines[: self.own]],
            "pictures": {str(number): data for number, data in (drawn or {}).items()},
        }


def show_lines(paper: Extraction, companion: Extraction | None) -> ShownLines:
    """The lines of a paper and of its answer file that say anything; a file of records has none."""
    lines: list[Line] = []
    starts: list[int] = []
    own = after = 0
    for extraction in (paper, companion):
        found = [] if extraction is None else list_lines(extraction)
        text, offsets, _ = join_lines(found)
        for line, start in zip(found, offsets, strict=True):
            if line.kind != "furniture" and line.text.strip():
                lines.append(line)
                starts.append(after + start)
        after += len(text) + 1
        own = len(lines) if extraction is paper else own
    return ShownLines(lines, starts, own)


def list_lines(extraction: Extraction) -> list[Line]:
    """The lines of a document, the rows of sheets as lines."""
    rows = [row for sheet in extraction.sheets for row in sheet.rows if any(cell.strip() for cell in row)]
    return extraction.lines or [
        Line(" | ".join(cell.replace("\n", " ").strip() for cell in row)) for row in rows
    ]


def name_picture(number: int) -> str:
    """How the mark of a picture is shown."""
    return f"{IMAGE[:-1]} {number}]"


def _render(line: Line, is_marked: bool, numbers: Iterator[int]) -> str:
    text = line.text
    stretches = sorted({(first, last) for first, last, _ in line.emphasis}) if is_marked else []
    for first, last in reversed(_merge(stretches)):
        if text[first:last].strip():
            text = f"{text[:first]}{OPENS}{text[first:last]}{CLOSES}{text[last:]}"
    text = PICTURE_MARK.sub(
        lambda mark: f"{name_picture(next(numbers))} " if mark["number"] else mark[0], text
    )
    return " ".join(blank_picture_numbers(text).split())[:_LONGEST_SHOWN]


def _merge(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in stretches:
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def read_place(value: object) -> int | None:
    """The number of a line, None for what is none."""
    text = str(value).strip()
    return int(text) if text.isdecimal() and len(text) < 7 else None


def as_list(value: object) -> list[Any]:
    """What is a list, lists in it as their parts, nothing as none, all else as one."""
    found: list[Any] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += reversed(one)
        elif one is not None:
            found.append(one)
    return found
