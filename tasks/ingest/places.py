"""Where a piece of text that somebody copied from a paper stands in the paper."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from tasks.ingest.layout.pieces import Piece, make_pieces
from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.answers import read_key

Span = tuple[int, int]

# What a copyist writes differently without changing a word: width, quotes, dashes, brackets.
_FORMS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | str.maketrans(
    "“”‘’–—―−【】＿", "\"\"''----[]_"
)
_LABEL_STOPS = (".", "、", ")", ":", ",", "。", "")


class Places:
    """A window `text[start:stop]` of a paper, to be searched.

    White space, width of characters and blanks do not count in a search. Spans are offsets into the whole text, the end
    exclusive.
    """

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.text = text
        self.stop = stop
        self._folded, self._offsets = _fold(text, start, stop)

    def find_lines(self, wanted: object, begin: int, limit: int | None = None) -> list[Span] | None:
        """The spans of the lines of a piece, one after the other.

        [] for an empty piece, None when it is not there.
        """
        if wanted is None or (isinstance(wanted, str) and not wanted.strip()):
            return []
        if not isinstance(wanted, str):
            return None
        spans: list[Span] = []
        cursor = begin
        for line in wanted.split("\n"):
            needle, _ = _fold(line, 0, len(line))
            if not needle:
                continue
            span = self._find(needle, cursor, self.stop if limit is None else limit)
            if span is None:
                return None
            spans.append(span)
            cursor = span[1]
        return spans

    def find_labelled(self, label: str, wanted: object, begin: int) -> list[Span] | None:
        """As `find_lines`, but first where the label stands right before; None for nothing."""
        if not isinstance(wanted, str) or not wanted.strip():
            return None
        mark, _ = _fold(label, 0, len(label))
        first = wanted.strip().split("\n")[0]
        needle, _ = _fold(first, 0, len(first))
        for form in dict.fromkeys((mark, mark.lower())) if mark else ():
            for stop in _LABEL_STOPS:
                span = self._find(f"{form}{stop}{needle}", begin, self.stop)
                if span is not None:
                    place = bisect_left(self._offsets, span[0]) + len(form) + len(stop)
                    return self.find_lines(wanted, self._offsets[place])
        return self.find_lines(wanted, begin)

    def find_answer(self, wanted: object, begin: int, limit: int, used: Sequence[Span]) -> list[Span]:
        """The spans of a printed answer outside stem and options; [] when there is none."""
        if isinstance(wanted, list):
            wanted = "".join(str(one) for one in wanted)
        if not isinstance(wanted, str) or not wanted.strip():
            return []
        if read_key(wanted) is None and len(wanted.strip()) > 2:
            return self.find_lines(wanted, max(last for _, last in used), limit) or []
        letters = r"[\s,，、;；]*".join(re.escape(one) for one in "".join(wanted.split()))
        for match in re.finditer(rf"(?<![A-Za-z]){letters}(?![A-Za-z])", self.text[begin:limit]):
            span = (begin + match.start(), begin + match.end())
            if all(span[1] <= first or span[0] >= last for first, last in used):
                return [span]
        return []

    def find_number(self, wanted: str, begin: int) -> tuple[str, int]:
        """The printed number right before a stem, and where it begins."""
        earliest = max(0, begin - 24)
        match = re.search(rf"{re.escape(wanted)}\s*[.．、:：)）]?\s*$", self.text[earliest:begin])
        if not wanted or match is None:
            return "", begin
        place = earliest + match.start()
        return self.text[place:begin].strip(), place

    def make_pieces(self, spans: Sequence[Span], prefix: str = "") -> list[Piece]:
        """Cleaned lines of these spans, broken where the copy breaks them."""
        lines: list[Line] = []
        starts: list[int] = []
        for first, last in spans:
            position = first
            parts = self.text[first:last].split("\n")
            for index, part in enumerate(parts):
                lead = "" if lines else prefix
                kind = "wrapped" if index + 1 < len(parts) else "body"
                lines.append(Line(lead + part, kind=kind))
                starts.append(max(0, position - len(lead)))
                position += len(part) + 1
        return make_pieces(lines, starts)

    def _find(self, needle: str, begin: int, limit: int) -> Span | None:
        place = self._folded.find(needle, bisect_left(self._offsets, begin))
        if place < 0:
            return None
        first, last = self._offsets[place], self._offsets[place + len(needle) - 1] + 1
        return (first, last) if last <= limit else None


def _fold(text: str, start: int, stop: int) -> tuple[str, list[int]]:
    """The characters without white space, blanks as one `_`, and the offset of each in the text."""
    characters: list[str] = []
    offsets: list[int] = []
    for place in range(start, stop):
        character = text[place]
        if character.isspace() or character in "\u200b\ufeff\u00ad":
            continue
        character = character.translate(_FORMS)
        if character == "_" and characters and characters[-1] == "_":
            continue
        characters.append(character)
        offsets.append(place)
    return "".join(characters), offsets
