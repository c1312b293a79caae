"""Pictures that a second reader points at, by number or by their place on a page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import count

from schemas import patterns as re
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import find_marks, read_picture_number
from tasks.ingest.readers.page_boxes import WHOLE, Box
from tasks.ingest.second_reader.areas import PagePictures
from tasks.ingest.second_reader.shown import Pointed, ShownLines
from tasks.ingest.words.answers import ANSWER_MARK

# `picture 3`; a reader also writes `[image 3]`
_PICTURE = re.compile(r"\W*(?:picture|image)\W*(\d{1,6})\W*", re.IGNORECASE)
# `page 2: 120 340 480 560`
_AREA = re.compile(r"\W*page\W*(\d{1,4})" + 4 * r"\D+(\d{1,4})" + r"\W*", re.IGNORECASE)
_MOST_AREAS = 200
# So much of a line that answers must a picture of a page hold to show it.
_SHOWS_LINE = 0.3
# A shorter line may be the letter of a part of a picture.
_LEAST_WORDS = 6


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

    def cut_areas(self, texts: Iterable[Pointed], pages: PagePictures) -> None:
        """Cut out the areas of pages that are pointed at, without the lines that are."""
        lines = {span.line for span in texts if not span.picture}
        for (page, area), mark in self._areas.items():
            text = pages.cut(page, area, self._list_boxes(page, lines))
            start = self._shown.starts[mark.line]
            if text:
                self.cut_out[mark.picture] = Piece(text, start, start, (start,) * len(text), page=page)

    def find_telling(self, printed: Iterable[Pointed], pages: PagePictures) -> set[int]:
        """The pictures whose box on its page holds a line that answers."""
        own = list(enumerate(self._shown.lines[: self._shown.own]))
        whole = {at for at, line in own if line.box and ANSWER_MARK.match(line.text)}
        whole |= {span.line for span in printed if self._is_line(span)}
        # an answer in a line of text may stand beside a picture of this line, and not in an area without a mark
        told = whole | {span.line for span in printed if not span.picture}
        found: set[int] = set()
        for number, lines in (*((one, whole) for one in self._marks), *((one, told) for one in self.cut_out)):
            place = pages.find_place(self._read_mark(number))
            if place is not None:
                boxes = self._list_boxes(place[0], lines)
                found |= (
                    {number} if any(_measure_held(box, place[1]) >= _SHOWS_LINE for box in boxes) else set()
                )
        return found

    def _is_line(self, span: Pointed) -> bool:
        """Whether what is pointed at is a line, or the words that it holds."""
        text = self._shown.lines[span.line].text.strip()
        return span.is_whole or _LEAST_WORDS < len(text) <= span.last - span.first

    def _read_mark(self, number: int) -> re.Match[str] | None:
        if number in self.cut_out:
            return next(find_marks(self.cut_out[number].text), None)
        return self._shown.pictures[number][1]

    def _list_boxes(self, page: int, places: Iterable[int]) -> list[Box]:
        """Where lines of the paper stand on a page."""
        lines = [self._shown.lines[at] for at in places if at < self._shown.own]
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
        marks = [self._read_mark(number) for number in (*(span.picture for span in named), *self.cut_out)]
        numbers = (read_picture_number(mark) for mark in marks if mark is not None)
        return frozenset(number for number in numbers if number is not None)

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
