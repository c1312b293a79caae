"""Cleaned lines that remember where they stand in the raw text, and what each begins with."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from schemas import patterns as re
from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.answers import read_bare_truth
from tasks.ingest.words.cleaning import clean_line, join_wrapped
from tasks.ingest.words.grammar import opens_answer
from tasks.ingest.words.labels import Label, counts_questions, may_label, parse_label

_UNREAD = Label("", 0, 0, "")


# not frozen: that takes three times as long to make, and a piece is made for every option of every question
@dataclass(slots=True)
class Piece:
    """A cleaned line or part of one, never changed.

    `start` and `end` are offsets into the raw text. `wraps` says that the sentence runs on in the next piece; runs of
    white space are still there. A piece of kind `questions` stands for a whole table of questions, whose place in the
    list of them is `table`.
    """

    text: str
    start: int
    end: int
    sources: Sequence[int]
    kind: str = "body"
    wraps: bool = False
    page: int = 0
    label_length: int = 0
    table: int = -1
    _label: Label | None = field(default=_UNREAD, init=False, repr=False, compare=False)

    def cut(self, first: int, last: int | None = None) -> Piece:
        """Return the part of the piece between two indices of its text."""
        last = len(self.text) if last is None else last
        text = self.text[first:last]
        sources = self.sources[first:last]
        start = sources[0] if sources else self.end
        end = sources[-1] + 1 if sources else start
        is_tail = last == len(self.text)
        # not replace(): pieces are cut for every option of every question, and it takes three times as long
        return Piece(
            text, start, self.end if is_tail else end, sources, self.kind, self.wraps and is_tail, self.page
        )

    def begin_at(self, start: int) -> Piece:
        """Return the piece with another place for its beginning."""
        return self._change(start, self._label)

    def with_label(self, label: Label | None) -> Piece:
        """The piece with another label than its text shows by itself."""
        return self._change(self.start, label)

    def _change(self, start: int, label: Label | None) -> Piece:
        changed = Piece(
            self.text,
            start,
            self.end,
            self.sources,
            self.kind,
            self.wraps,
            self.page,
            self.label_length,
            self.table,
        )
        changed._label = label
        return changed

    @property
    def label(self) -> Label | None:
        """The label printed at the start of the piece."""
        if self._label is _UNREAD:
            self._label = parse_label(self.text)
        return self._label


# What closes the line that is written above options that several questions share.
SHARED_OPTIONS = "题共用备选答案"
# a bar between cells, a tab or a wide gap, and the letter behind it
BESIDE = re.compile(r"(?:^|\s*\|\s*|\t\s*|\s{3,})(?=[（(]?(?P<letter>[A-Za-z])\s*[)）.．、:：]\s*\S)")
# What is written for the number of a passage, so that it is known as the material of the questions below it.
PASSAGE = "【材料】："


def rewrite(piece: Piece, end: int, mark: str, begin: int = 0) -> Piece:
    """Put `mark` in the place of the characters from `begin` to `end` of a line."""
    source = piece.sources[begin] if begin < len(piece.sources) else piece.start
    text = f"{piece.text[:begin]}{mark}{piece.text[end:]}"
    sources = (*piece.sources[:begin], *([source] * len(mark)), *piece.sources[end:])
    return replace(piece, text=text, sources=sources, label_length=0)


def say(piece: Piece, text: str) -> Piece:
    """A line with a text that the paper does not print there, in the place of another."""
    return replace(piece, text=text, sources=(piece.start,) * len(text), kind="body", label_length=0)


def run_on(head: Piece, rest: Piece) -> Piece:
    """A line with another before it; each of its characters keeps its place."""
    return replace(
        rest,
        text=head.text + rest.text,
        sources=(*head.sources, *rest.sources),
        start=head.start,
        label_length=0,
    )


def make_pieces(lines: Sequence[Line], starts: Sequence[int]) -> list[Piece]:
    """Clean the lines of a document; blank lines and page furniture are left out."""
    pieces: list[Piece] = []
    is_marked_up = (
        sum(1 for line in lines if line.text.lstrip()[:1] in _MARKS and _SIGNED.match(line.text)) >= 2
    )
    framed = _find_framed(lines)
    for place, (line, start) in enumerate(zip(lines, starts, strict=True)):
        if line.kind == "furniture" or not line.text.strip():
            continue
        if place in framed and _FRAME.fullmatch(line.text) is not None:
            continue
        text, sources = clean_line(line.text)
        text = _write_digits(_write_bars(text) if place in framed else text)
        begin = start
        if is_marked_up:
            text, sources = _strip_markup(text, sources)
            begin = start + sources[0] if sources else start
        if not text.strip():
            continue
        if len(text) > MAX_RUN:
            text, sources = _shorten_runs(text, sources)
        piece = Piece(
            text,
            begin,
            start + len(line.text),
            range(start, start + len(sources))
            if isinstance(sources, range)
            else tuple([start + source for source in sources]),
            "body" if line.kind == "wrapped" else line.kind,
            line.kind == "wrapped",
            line.page,
            line.label_length,
        )
        if pieces and pieces[-1].wraps and _runs_on(pieces[-1], piece):
            pieces[-1] = _join(pieces[-1], piece)
        elif len(text) > MAX_LINE:
            pieces.extend(_part_long(piece))
        else:
            pieces.append(piece)
    return pieces


# What may begin a question, an option, a point of a list or an answer in a form of which no rule knows.
_MAY_BEGIN = re.compile(
    r"\s*(?:_|[（(\[【]?\s*(?:[A-Za-z]|\d{1,3})?\s*[^\w\s《“\"‘'（(\[]|[A-Z](?:\s|$)|[（(\[]\s*\w{0,3}\s*[)）\]]|"
    # `問 7`, `NO.2`
    r"[^\W\d_]{1,8}\s*[.．]?\s*\d{1,3}(?![\w年月日.．%]))"
)
# A capital begins a sentence, but below a comma or a word that needs another one.
_CAPITAL = re.compile(r"\s*[“\"‘'(]?[A-ZÀ-Þ][a-zà-ÿ]")
_LEADS_ON = re.compile(r"(?:,|\b(?:the|of|and|or|to|an?|in|by|for|with|from|on|at|as|that|is|are|was))\s*$")
_OFFERS = re.compile(r"\s*[（(\[]?\s*[A-Za-z]\s*[)）\].．、:：>]")
# A blank, what a question is worth, or a mark in the margin may close a line; a short line with a colon names what stands below.
_CLOSED = re.compile(
    r"(?:_|[（(\[]\s*\d{1,3}\s*(?:分|marks?|points?|pts?)?\s*[)）\]]|\s{4}(?![（(]?[A-Ha-h]\s*[.．、)）])\S.{0,12})\s*$",
    re.IGNORECASE,
)
_NAMES = re.compile(r"[^:：]{1,15}[:：]\s*|(?:[A-Z][\w’']*\s*){1,3}")
_STOP = re.compile(r"[.。!！?？;；]\s*$")
_LEFT_OPEN = re.compile(r"[（(【\[《“][^）)】\]》”]{0,200}$")


def _runs_on(upper: Piece, lower: Piece) -> bool:
    """Whether a line that a margin cut goes on in this one, for sure.

    Where it is doubted they stay two lines, whose text is joined where both are of one question.
    """
    if not (upper.kind == lower.kind == "body" and len(upper.text) + len(lower.text) < MAX_LINE):
        return False
    if _CLOSED.search(upper.text) is not None or _NAMES.fullmatch(lower.text) is not None:
        return False
    label = lower.label
    if _LEFT_OPEN.search(upper.text) is not None and (label is None or label.is_weak):
        return _OFFERS.match(lower.text) is None
    if label is not None or _MAY_BEGIN.match(lower.text) is not None:
        return False
    if read_bare_truth(lower.text) is not None or opens_answer(lower.text):
        return False
    is_capital = _CAPITAL.match(lower.text) is not None
    if _STOP.search(upper.text) is not None:
        # prose goes on below a sentence that ends with its line: in full lines, or in Chinese to the next stop
        is_chinese = not lower.text.lstrip()[:1].isascii() and _STOP.search(lower.text) is not None
        return lower.wraps or (is_chinese and not is_capital)
    return not is_capital or _LEADS_ON.search(upper.text) is not None


def _join(upper: Piece, lower: Piece) -> Piece:
    """One line of two that a margin parted; each character keeps its place."""
    head, tail = upper.text.rstrip(), lower.text.lstrip()
    text = join_wrapped(head, tail)
    kept = len(text) - len(tail)
    first = len(lower.text) - len(tail)
    # a space between two words stands where the second one begins
    own = (*upper.sources[: min(kept, len(head))], *lower.sources[first : first + max(0, kept - len(head))])
    return Piece(
        text,
        upper.start,
        lower.end,
        (*own, *lower.sources[first:]),
        upper.kind,
        lower.wraps,
        upper.page,
        upper.label_length,
    )


# `├──┼──┤`, `+---+---+`: a row of a table's frame in plain text
_FRAME = re.compile(r"\s*(?:[┌┏╔╭├┣╠└┗╚╰][\s\u2500-\u257f]*|\+(?:[-=]{2,}\+){2,})\s*")
_ROW = re.compile(r"\s*[│┃║|](?=.*[│┃║|]\s*$)")
_BARS = str.maketrans("│┃║", "|||")


def _find_framed(lines: Sequence[Line]) -> set[int]:
    """The places of rows between two lines of a frame or more, and of these lines."""
    found: set[int] = set()
    run: list[int] = []
    frames = 0
    for place, text in enumerate((*(line.text for line in lines), "")):
        is_frame = _FRAME.fullmatch(text) is not None
        if is_frame or _ROW.match(text) is not None:
            run.append(place)
            frames += is_frame
            continue
        if 1 < frames < len(run):
            found.update(run)
        run, frames = [], 0
    return found


def _write_bars(text: str) -> str:
    """Write the upright lines of a frame as bars between cells, the outer ones as spaces."""
    begin, end = len(text) - len(text.lstrip()), len(text.rstrip()) - 1
    if text[begin] == "|":
        return text
    return f"{text[:begin]} {text[begin + 1 : end].translate(_BARS)} {text[end + 1 :]}"


# `١- `, `२. `, `๓) `: the number of a question or an answer in the digits of its script, first on a line or after a wide gap
_DIGITS = re.compile(r"(?:^\s*[（(]?|\s{2}|:\s)(?P<number>(?:(?![0-9])\d){1,3})(?=\s?[-–.)\]:،,]\s)")


def _write_digits(text: str) -> str:
    """Write the numbers that count in known digits; what is asked keeps its own."""
    if text.isascii() or _DIGITS.search(text) is None:
        return text
    return _DIGITS.sub(_write_number, text)


def _write_number(match: re.Match[str]) -> str:
    lead = match[0][: match.start("number") - match.start()]
    return lead + "".join(str(unicodedata.digit(digit)) for digit in match["number"])


# Wider gaps and longer lines to write on say nothing more, and a pattern that looks at each of their ends takes for ever.
MAX_RUN = 60
MAX_LINE = 4_000
_RUN = re.compile(rf"([\s_.=*~…·—–-])\1{{{MAX_RUN},}}")


def _shorten_runs(text: str, sources: Sequence[int]) -> tuple[str, Sequence[int]]:
    """Cut runs of one filling character down to the longest that mean anything."""
    if _RUN.search(text) is None:
        return text, sources
    kept: list[str] = []
    places: list[int] = []
    position = 0
    for match in _RUN.finditer(text):
        end = match.start() + MAX_RUN
        kept.append(text[position:end])
        places.extend(sources[position:end])
        position = match.end()
    kept.append(text[position:])
    places.extend(sources[position:])
    return "".join(kept), places


def _part_long(piece: Piece) -> list[Piece]:
    """Part a line that is longer than any printed one at white space or stops; its parts run on."""
    parts: list[Piece] = []
    first = 0
    while len(piece.text) - first > MAX_LINE:
        window = piece.text[first + MAX_LINE // 2 : first + MAX_LINE]
        at = max(window.rfind(sign) for sign in " 。；;，,")
        last = first + (MAX_LINE // 2 + at + 1 if at >= 0 else MAX_LINE)
        parts.append(replace(piece.cut(first, last), wraps=True))
        first = last
    parts.append(piece.cut(first))
    return parts


# a heading, the fence of a program, or bold print
_SIGNED = re.compile(r"\s*(?:#{1,6}\s+\S|```[\w+#.-]*\s*$|\*\*[^\s*][^*]{0,60}(?<=[^\s*])\*\*)")
_MARKS = ("#", "`", "*")
_MARKUP = re.compile(
    r"^\s*(?:>\s*)*#{1,6}\s+|^\s*(?:>\s*)+(?=\S)|\*\*|^\s*```[\w+#.-]*\s*$|<br\s*/?>|\\(?=[_*#+>-])"
)


def _strip_markup(text: str, sources: Sequence[int]) -> tuple[str, list[int]]:
    """Take the heading and bold marks of Markdown out of a line."""
    kept: list[int] = []
    position = 0
    for match in _MARKUP.finditer(text):
        kept.extend(range(position, match.start()))
        position = match.end()
    kept.extend(range(position, len(text)))
    return "".join(text[index] for index in kept), [sources[index] for index in kept]


def join_pieces(pieces: Sequence[Piece]) -> str:
    """Join pieces to one text: wrapped lines run together, others keep their line break."""
    text = ""
    runs_on = False
    for index, piece in enumerate(pieces):
        if index == 0:
            text = piece.text.strip()
        elif runs_on or _is_hyphenated(text, piece.text):
            text = join_wrapped(text, piece.text)
        else:
            text = f"{text}\n{piece.text.rstrip()}"
        runs_on = piece.wraps
    return text


def _is_hyphenated(text: str, following: str) -> bool:
    """Whether a word is cut at the end of a line: `the follow-` above `ing data types`."""
    if not text.endswith("-") or not text[-3:-1].isalpha():
        return False
    return text[-3:-1].islower() and following.lstrip()[:2].isalpha() and following.lstrip()[:2].islower()


SHORT = 4


class IndexedLines:
    """Lines that are never changed.

    A rule that rewrites some of them makes new ones; else it returns what it was given. `openings` are the places of
    the lines by their first character after white space (empty for a blank line), `short` the places of those with
    fewer than four characters between their white space.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces

    @cached_property
    def openings(self) -> dict[str, list[int]]:
        """The places of the lines by their first character."""
        openings: dict[str, list[int]] = {}
        for place, piece in enumerate(self.pieces):
            openings.setdefault(piece.text.lstrip()[:1], []).append(place)
        return openings

    @cached_property
    def short(self) -> list[int]:
        """The places of the shortest lines, in order."""
        return [place for place, piece in enumerate(self.pieces) if len(piece.text.strip()) < SHORT]

    def replace(self, changed: Mapping[int, Piece], left_out: Collection[int] = ()) -> IndexedLines:
        """The lines with others in the places that are named, and without some."""
        if not left_out and all(self.pieces[place] is piece for place, piece in changed.items()):
            return self
        pieces = list(self.pieces)
        for place, piece in changed.items():
            pieces[place] = piece
        return IndexedLines([piece for place, piece in enumerate(pieces) if place not in left_out])

    def write(
        self, found: Mapping[int, re.Match[str]], words: Callable[[re.Match[str]], str]
    ) -> IndexedLines:
        """The lines with other words in the place of all that a pattern matched at their beginning."""
        return self.replace(
            {place: rewrite(self.pieces[place], match.end(), words(match)) for place, match in found.items()}
        )

    def part(self, parts: Mapping[int, Sequence[Piece]]) -> IndexedLines:
        """The lines with several, or none, in the places that are named."""
        if not parts:
            return self
        return IndexedLines(
            [one for place, piece in enumerate(self.pieces) for one in parts.get(place, [piece])]
        )

    def find(
        self,
        pattern: re.Pattern[str],
        opening: Collection[str] | Callable[[str], bool],
        *,
        tables: bool = True,
    ) -> dict[int, re.Match[str]]:
        """The matches of a pattern at the beginning of lines, by place.

        `opening` tells with which characters such lines begin, `tables` whether rows of tables count.
        """
        places = self.open_where(opening) if callable(opening) else self.open_with(opening)
        return {
            place: match
            for place in places
            if (tables or self.pieces[place].kind != "table")
            and (match := pattern.match(self.pieces[place].text)) is not None
        }

    def open_with(self, characters: Collection[str]) -> list[int]:
        """The places of the lines that begin with one of these characters, in order."""
        openings = self.openings
        if len(characters) < len(openings):
            found = [openings[first] for first in characters if first in openings]
        else:
            found = [places for first, places in openings.items() if first in characters]
        return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))

    def open_where(self, test: Callable[[str], bool]) -> list[int]:
        """The places of the lines whose first character passes a (quick) test, in order."""
        return sorted(
            chain.from_iterable(places for first, places in self.openings.items() if first and test(first))
        )

    def open_with_sign(self) -> list[int]:
        """The places of the lines that begin with neither a letter, a digit nor `_`."""
        return self.open_where(is_sign)

    @cached_property
    def text(self) -> str:
        """All lines, one below the other: one search in it spares a search in each."""
        return "\n".join([piece.text for piece in self.pieces])

    @cached_property
    def labels(self) -> list[Label | None]:
        """The label of every line."""
        labels: list[Label | None] = [None] * len(self.pieces)
        for place in self.open_where(may_label):
            labels[place] = self.pieces[place].label
        return labels

    @cached_property
    def numbered(self) -> dict[int, Label]:
        """The labels of the lines whose numbers count questions without help, by place, in order."""
        return {at: label for at, label in enumerate(self.labels) if counts_questions(label)}


def is_sign(character: str) -> bool:
    """Whether a character is neither a letter nor a digit nor an underscore."""
    return not (character.isalnum() or character == "_")
