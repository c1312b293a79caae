"""Pictures that a second reader points at, by number or by their place on a page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import count

from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import find_marks, read_picture_number
from tasks.ingest.readers.page_boxes import WHOLE, Box
from tasks.ingest.second_reader.areas import Cutter
from tasks.ingest.second_reader.shown import Pointed, ShownLines

# `picture 3`; a reader also writes `[image 3]`
_PICTURE = re.compile(r"\W*(?:picture|image)\W*(\d{1,6})\W*", re.IGNORECASE)
# `page 2: 120 340 480 560`
_AREA = re.compile(r"\W*page\W*(\d{1,4})" + 4 * r"\D+(\d{1,4})" + r"\W*", re.IGNORECASE)
_MOST_AREAS = 200
# So much of a line that answers must an area of a page hold to show it.
_SHOWS_LINE = 0.3


class PointedPictures:
    """The pictures of a paper by number, and of which of them was said where they belong.

    What is cut out of pages has the numbers after those of the marks.
    """

    def __init__(self, shown: ShownLines) -> None:
        self._shown = shown
        self._marks = {
            number: Pointed(line, mark.start(), mark.end(), picture=number)
            for number, (line, mark) in shown.pictures.items()
        }
        self._areas: dict[tuple[int, Box], Pointed] = {}
        self._next = count(len(self._marks) + 1)
        self.cut_out: dict[int, Piece] = {}
        self._placed: dict[int, list[Pointed]] = {}

    def is_named(self, reference: str) -> bool:
        """Whether a reference is one to a picture."""
        return (_PICTURE.fullmatch(reference) or _AREA.fullmatch(reference)) is not None

    def find(self, reference: str) -> Pointed | None:
        """The picture that a reference names; None where there is no such one."""
        named, area = _PICTURE.fullmatch(reference), _AREA.fullmatch(reference)
        if named is not None:
            return self._marks.get(int(named[1]))
        return None if area is None else self._find_area(*map(int, area.groups()))

    def _find_area(self, page: int, left: int, top: int, right: int, bottom: int) -> Pointed | None:
        own = enumerate(self._shown.lines[: self._shown.own])
        line = next((at for at, line in own if line.page == page), None)
        if line is None or not (left < right <= WHOLE and top < bottom <= WHOLE):
            return None
        area = page, (left, top, right, bottom)
        if area not in self._areas:
            if len(self._areas) >= _MOST_AREAS:
                return None
            self._areas[area] = Pointed(line, 0, 0, picture=next(self._next))
        return self._areas[area]

    def cut_areas(self, asked: Sequence[Pointed], printed: Sequence[Pointed], cut: Cutter | None) -> None:
        """Cut out the areas of pages that are pointed at, without the texts that are.

        None that candidates are to see may show what answers.
        """
        for (page, area), mark in self._areas.items() if cut is not None else ():
            told = self._list_boxes(page, printed)
            found = cut(page, area, [*told, *self._list_boxes(page, asked)]) if cut is not None else None
            if found is None or (
                mark in asked and any(_measure_held(box, found[1]) >= _SHOWS_LINE for box in told)
            ):
                continue
            start = self._shown.starts[mark.line]
            piece = Piece(found[0], start, start, (start,) * len(found[0]), page=page)
            self.cut_out[mark.picture] = piece

    def _list_boxes(self, page: int, spans: Iterable[Pointed]) -> list[Box]:
        """Where the lines of a page stand that are pointed at as text."""
        places = {span.line for span in spans if not span.picture and span.line < self._shown.own}
        lines = [self._shown.lines[at] for at in places]
        return [(box[0], box[1], box[2], box[3]) for line in lines if line.page == page and (box := line.box)]

    def is_there(self, span: Pointed) -> bool:
        """Whether what is pointed at is text, a picture with a mark, or was cut out of a page."""
        return not span.picture or span.picture in self._marks or span.picture in self.cut_out

    def place(self, spans: Iterable[Pointed]) -> frozenset[int]:
        """Let the pictures among these be nowhere but where they are named.

        Returns their numbers as the reader of the document has them.
        """
        named = [span for span in dict.fromkeys(spans) if span.picture in self._marks]
        for span in named:
            self._placed.setdefault(span.line, []).append(span)
        marks = [self._shown.pictures[span.picture][1] for span in named]
        marks += [mark for piece in self.cut_out.values() for mark in find_marks(piece.text)]
        return frozenset(number for mark in marks if (number := read_picture_number(mark)) is not None)

    def list_inside(self, lines: Sequence[Pointed], named: Collection[int]) -> tuple[set[int], list[Pointed]]:
        """The pictures that lines hold, and the marks of those that belong elsewhere."""
        inside = [(span, mark) for span in lines for mark in self._placed.get(span.line, ())]
        held = {mark.picture for span, mark in inside if span.holds(mark)}
        return held, list(dict.fromkeys(mark for _, mark in inside if mark.picture not in named))


def _measure_held(line: Box, area: Box) -> float:
    """How much of a line an area holds."""
    wide = min(line[2], area[2]) - max(line[0], area[0])
    tall = min(line[3], area[3]) - max(line[1], area[1])
    return max(wide, 0) * max(tall, 0) / max((line[2] - line[0]) * (line[3] - line[1]), 1)
