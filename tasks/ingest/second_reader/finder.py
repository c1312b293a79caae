"""Where what a second reader points at stands in a paper, and what of it is claimed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile

from schemas import patterns as re
from tasks.ingest.layout.pieces import Piece, make_pieces, rewrite
from tasks.ingest.readers.extraction import IMAGE, PICTURE_MARK, blank_picture_numbers
from tasks.ingest.second_reader.labels import find_behind
from tasks.ingest.second_reader.pointed_pictures import PointedPictures
from tasks.ingest.second_reader.shown import (
    CLOSES,
    OPENS,
    SHOWN_PICTURE,
    Pointed,
    ShownLines,
    as_list,
)
from tasks.ingest.words.answers import ANSWER_MARK

_REFERENCE = re.compile(r"\s*(\d{1,6})\s*(?:[-–~]\s*(\d{1,6})\s*$|[:：|](.*)|$)", re.DOTALL)
_MOST_LINES = 400
# What stands in a sentence for the words that fill it
_GAP = "____"


class Finder:
    """Looks up what is pointed at; knows what of the paper is claimed."""

    def __init__(self, shown: ShownLines) -> None:
        self.shown = shown
        self._folded: dict[int, tuple[str, list[int]]] = {}
        self._quoted: dict[tuple[int, str], list[tuple[int, int]]] = {}
        # which characters of a line are those of answers
        self._answers: dict[int, bytearray] = {}
        # the printed keys of all questions by line: none of them is shown with another question
        self._keys: dict[int, list[Pointed]] = {}
        self.pictures = PointedPictures(shown)
        self._pieces: dict[int, list[Piece]] = {}
        for piece in make_pieces(shown.lines, shown.starts):
            self._pieces.setdefault(bisect_right(shown.starts, piece.start) - 1, []).append(piece)

    def find(self, references: object) -> list[Pointed] | None:
        """The spans that references name, each once; [] for none, None where one is not there.

        Text comes first, for a number or a label stands before it.
        """
        named: dict[Pointed, None] = {}
        for reference in as_list(references):
            found = self._find_one(reference)
            if found is None:
                return None
            named |= dict.fromkeys(found)
        whole = {span.line for span in named if span.is_whole}
        spans = [span for span in named if span.is_whole or span.picture or span.line not in whole]
        first = next((at for at, span in enumerate(spans) if not span.picture), 0)
        return [*spans[first : first + 1], *spans[:first], *spans[first + 1 :]]

    def _find_one(self, reference: object) -> list[Pointed] | None:
        if self.pictures.is_named(str(reference)):
            mark = self.pictures.find(str(reference))
            return None if mark is None else [mark]
        match = _REFERENCE.fullmatch(str(reference))
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < len(self.shown.lines) or last - first > _MOST_LINES:
            return None
        quote = (match[3] or "").strip()
        if not quote:
            return [self.whole(at) for at in range(first, last + 1)]
        shown = [self.pictures.find(mark[0]) for mark in SHOWN_PICTURE.finditer(quote)]
        marks = [mark for mark in shown if mark is not None]
        if len(marks) < len(shown):
            return None
        for at in self.list_near(first):
            for place in self.list_quoted(at, quote):
                span = self._span(at, *place)
                if all(span.holds(mark) for mark in marks):
                    return [span, *marks]
        return None

    def list_near(self, line: int) -> list[int]:
        """A line and its neighbours: a number may be off by one."""
        return [at for at in (line, line + 1, line - 1) if 0 <= at < len(self.shown.lines)]

    def whole(self, at: int) -> Pointed:
        """A line as a whole."""
        return Pointed(at, 0, len(self.shown.lines[at].text), is_whole=True)

    def _span(self, at: int, first: int, last: int) -> Pointed:
        text = self.shown.lines[at].text
        return Pointed(at, first, last, not text[:first].strip() and not text[last:].strip())

    def list_quoted(self, at: int, quote: str) -> list[tuple[int, int]]:
        """Where a line holds a quotation: white space, width of characters and blanks do not count."""
        needle, _ = fold_quoted(SHOWN_PICTURE.sub(IMAGE, quote))
        if (at, needle) not in self._quoted:
            self._quoted[at, needle] = list(self._search(at, needle))
        return self._quoted[at, needle]

    def _search(self, at: int, needle: str) -> Iterator[tuple[int, int]]:
        line = self.shown.lines[at].text
        if at not in self._folded:
            self._folded[at] = fold_quoted(line)
        text, offsets = self._folded[at]
        place = text.find(needle) if needle else -1
        while place >= 0:
            yield offsets[place], _end_mark(line, offsets[place + len(needle) - 1] + 1)
            place = text.find(needle, place + 1)

    def claim_answer(self, line: int, quote: str, number: str) -> Pointed | None:
        """The place of a short answer on a line that answers nothing yet and is no part of a word.

        That behind the number of its question, else one that stands out in print, else the first.
        """
        for at in self.list_near(line) if SHOWN_PICTURE.search(quote) is None else ():
            text = self.shown.lines[at].text
            taken = self._answers.setdefault(at, bytearray(len(text) + 1))
            behind = {*find_behind(text, number)}
            fitting = (
                (first, last)
                for first, last in self.list_quoted(at, quote)
                if (first in behind or not any(taken[first:last])) and _is_apart(text, first, last)
            )
            places = list(islice(fitting, _MOST_PLACES))
            if not places:
                continue
            first, last = min(
                places,
                key=lambda place: (
                    place[0] not in behind,
                    not self._stands_out(at, place),
                    not _is_set_apart(text, *place),
                ),
            )
            taken[first:last] = b"x" * (last - first)
            return Pointed(at, first, last)
        return None

    def keep_keys(self, spans: Iterable[Pointed]) -> None:
        """Let these be printed keys, which no question shows."""
        for span in spans:
            self._keys.setdefault(span.line, []).append(span)

    def list_keys(self, spans: Iterable[Pointed]) -> list[Pointed]:
        """The printed keys on the lines of these spans."""
        return [key for line in {span.line for span in spans} for key in self._keys.get(line, ())]

    def is_marked(self, span: Pointed) -> bool:
        """Whether something on a line, print or a sign, marks what is pointed at."""
        line = self.shown.lines[span.line]
        shows = any(first < span.last and span.first < last for first, last, _ in line.emphasis)
        return shows or (_MARKS.search(line.text) or ANSWER_MARK.match(line.text)) is not None

    def prints(self, number: str, at: int) -> bool:
        """Whether a line or the one above it prints a number."""
        wanted, _ = fold_quoted(number)
        above = self.shown.lines[at - 1].text if at else ""
        return bool(wanted) and wanted in fold_quoted(f"{above} {self.shown.lines[at].text}")[0]

    def _stands_out(self, at: int, place: tuple[int, int]) -> bool:
        return any(first <= place[0] and place[1] <= last for first, last, _ in self.shown.lines[at].emphasis)

    def read_before(self, span: Pointed) -> str:
        """What stands right before what is pointed at, on its line."""
        return self.shown.lines[span.line].text[max(0, span.first - _BESIDE) : span.first]

    def claim(self, spans: Iterable[Pointed]) -> None:
        """Let characters be those of an answer."""
        for span in spans:
            taken = self._answers.setdefault(span.line, bytearray(len(self.shown.lines[span.line].text) + 1))
            taken[span.first : span.last] = b"x" * (span.last - span.first)

    def list_claimed(self, pieces: Sequence[Piece]) -> frozenset[int]:
        """The beginnings of the paper's lines that answers stand in."""
        starts, found = [piece.start for piece in pieces], set()
        for at, spans in self._answers.items():
            if any(spans) and at < self.shown.own:
                begin = self.shown.starts[at]
                end = begin + len(self.shown.lines[at].text)
                found.update(starts[bisect_left(starts, begin) : bisect_right(starts, end)])
        return frozenset(found)

    def make_pieces(self, spans: Sequence[Pointed], without: Sequence[Pointed] = ()) -> list[Piece]:
        """Cleaned lines of these spans; blanks stand where they hold what fills a sentence.

        A picture that is named stays where one of its lines holds it, else it is a line of its own.
        """
        answers = {one.line for one in without if one.is_whole}
        lines = [span for span in spans if not span.picture and span.line not in answers]
        held, hidden = self.pictures.list_inside(lines, {span.picture for span in spans})
        inside: dict[int, list[Pointed]] = {}
        for one in (*(one for one in without if not one.picture), *hidden):
            inside.setdefault(one.line, []).append(one)
        return [part for span in spans if span.picture not in held for part in self._take(span, inside)]

    def _take(self, span: Pointed, inside: Mapping[int, Sequence[Pointed]]) -> list[Piece]:
        if (cut_out := self.pictures.cut_out.get(span.picture)) is not None:
            return [cut_out]
        without = () if span.picture else inside.get(span.line, ())
        pieces = self._pieces.get(span.line, ())
        return [part for piece in pieces for part in self._cut(piece, span, without)]

    def make_option(self, spans: Sequence[Pointed], answer: Sequence[Pointed]) -> list[Piece]:
        """The same, for what may be the answer as a whole: then it is shown."""
        left, whole = self.make_pieces(spans, answer), self.make_pieces(spans)
        # a picture is as much as a sign
        text, other = (
            "".join(PICTURE_MARK.sub("0", piece.text) for piece in pieces) for pieces in (left, whole)
        )
        is_mark = sum(map(str.isalnum, text)) == sum(map(str.isalnum, other))
        return left if is_mark or _WORDS.search(text) else whole

    def _cut(self, piece: Piece, span: Pointed, without: Sequence[Pointed]) -> list[Piece]:
        start = self.shown.starts[span.line]

        def place(part: Piece, offset: int) -> int:
            return bisect_left(part.sources, start + offset)

        part = piece if span.is_whole else piece.cut(place(piece, span.first), place(piece, span.last))
        inside = {
            (max(one.first, span.first), min(one.last, span.last), one.fills and not one.is_whole)
            for one in without
            if one.first < span.last and span.first < one.last
        }
        for begin, end, fills in sorted(inside, reverse=True):
            first, last = place(part, begin), place(part, end)
            if first < last:
                part = rewrite(part, last, _GAP if fills else "", first)
        return [part] if part.text.strip() else []


def _end_mark(text: str, place: int) -> int:
    """The end of a quotation behind the number of the picture that it ends with."""
    return place + 1 if text[place : place + 1] != blank_picture_numbers(text)[place : place + 1] else place


# Places of a short answer on a line that are weighed, and how far beside a place a label or a number stands.
_MOST_PLACES, _BESIDE = 40, 40
# what marks an option as right
_MARKS = re.compile(
    r"[√✓✔✅☑☒●◉★←⇐]|^\s*\*|\*\s*$|\[[xX√]\]|\([xX√]\)|[（(\[【]\s*(?:正确|答案|(?i:correct|right|answer))"
)
# a row of keys without numbers
_KEY_RUN = re.compile(r"[A-Ja-jTF√×]+")


def _is_apart(text: str, first: int, last: int) -> bool:
    """Whether a short answer is no part of a word or a number, and no label of an option."""
    before, behind = text[max(first - 1, 0) : first], text[last : last + 1]
    ends = ((before, text[first]), (behind, text[last - 1]))
    is_part = any(beside.isdigit() and own.isdigit() for beside, own in ends)
    opens = last - first == 1 and first < _BESIDE and not text[:first].strip(" \t*-([（【")
    is_label = opens and re.match(r"\s*[)）.．、:：\]】]\s*\S", text[last : last + 8])
    if is_part or is_label or before.islower() or behind.islower():
        return False
    if not any(one.isupper() and one.isascii() for one in (before, behind)):
        return True
    lead, rest = text[max(0, first - _BESIDE) : first], text[last : last + _BESIDE]
    beside = [*takewhile(str.isalpha, reversed(lead)), *takewhile(str.isalpha, rest)]
    return _KEY_RUN.fullmatch(text[first:last] + "".join(beside)) is not None


def _is_set_apart(text: str, first: int, last: int) -> bool:
    """Whether brackets hold a short answer, or it ends its line."""
    before, behind = text[max(0, first - 4) : first], text[last : last + 8]
    is_held = re.search(r"[(（\[【:：]\s*$", before) and re.match(r"\s*(?:[)）\]】]|$)", behind)
    return is_held is not None or not behind.strip(" .。)）]】")


# more than a letter or a number that labels
_WORDS = re.compile(r"[^\W_]{2}|[^\W_]\W+[^\W_]|[\u2e80-\U0003ffff]")
# What a copyist writes otherwise without changing a word: width, quotes, dashes, brackets.
_FORMS = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | str.maketrans(
    "“”‘’–—―−【】＿", "\"\"''----[]_"
)
_LEFT_OUT = f"\u200b\ufeff\u00ad{OPENS}{CLOSES}"


def fold_quoted(text: str) -> tuple[str, list[int]]:
    """The characters without white space, blanks as one `_`, and the place of each in the text."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(blank_picture_numbers(text)):
        if character.isspace() or character in _LEFT_OUT:
            continue
        character = character.translate(_FORMS)
        if character == "_" and characters and characters[-1] == "_":
            continue
        characters.append(character)
        places.append(place)
    return "".join(characters), places
