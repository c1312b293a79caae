"""The parts of a paper that hold answers, at its end or between two of its parts."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from schemas import patterns as re
from tasks.ingest.content.number_runs import LEAST_GIVEN, NumberRun, NumberRuns, find_run, list_values
from tasks.ingest.content.region_titles import MAX_HEADING, find_region_headings, is_region_heading
from tasks.ingest.layout.headings import (
    FIRST_OPTION,
    RUN_OF_KEYS,
    STRONG_STYLES,
    has_options_ahead,
    is_chapter,
    read_heading,
)
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.options import offers_options
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.grammar import answer_mark, asking, may_open_answer
from tasks.ingest.words.labels import COUNTING, Label, is_sure
from tasks.questions import has_blank


def take_regions(pieces: list[Piece]) -> tuple[list[list[Piece]], list[list[Piece]]]:
    """Separate question parts from answer parts.

    An answer part ends where questions continue: at a further chapter or paper, at the heading of a section that was not asked
    before, or at the next number.
    """
    bodies: list[list[Piece]] = []
    regions: list[list[Piece]] = []
    rest = pieces
    headings = find_region_headings(pieces)
    first_answered = _FirstAnswered(pieces)
    shown = _Shown()
    while rest:
        index = find_region(rest, headings, first_answered, shown)
        if index is None:
            bodies.append(rest)
            regions.append([])
            break
        end = _find_end(_Above(rest), index, headings)
        bodies.append(rest[: _find_title(rest, index)])
        regions.append(rest[index + 1 : end])
        rest = rest[end:]
        headings = [heading - end for heading in headings if heading >= end]
    return bodies, regions


def _find_title(pieces: Sequence[Piece], index: int) -> int:
    """Where an answer part's title begins: `SCIENCE – SUGGESTED` above `ANSWERS`."""
    above = pieces[index - 1] if index else None
    is_wrapped = (
        above is not None
        and above.label is None
        and above.kind != "table"
        and _TITLE_BEGUN.search(above.text) is not None
        and is_region_heading(f"{above.text.rstrip()} {pieces[index].text.lstrip()}")
    )
    return index - is_wrapped


_TITLE_BEGUN = re.compile(r"\w\s+[-–—]\s+[A-Za-z]+\s*$")


def _find_end(above: _Above, index: int, headings: Sequence[int]) -> int:
    """Where the answer part that begins at an index ends, and questions continue."""
    pieces = above.pieces
    above.look_to(index)
    run = above.run
    style = run.style if run is not None else ""
    known = above.list_marks(style)
    given: set[int] = set()
    is_open = True  # no section of the answers has been seen among those of the questions
    for place in range(index + 1, len(pieces)):
        piece = pieces[place]
        if place > index + 1:
            if is_chapter(piece.text) and has_options_ahead(pieces[place : place + 60]):
                return place
            if _opens_further(above, place):
                return place
        if not is_open:
            continue
        mark = _read_section_mark(piece, style)
        label = piece.label
        if mark is not None and known:
            if _is_next(mark, known) and (mark.label is not None or _asks_again(pieces, place, headings)):
                return place
            is_open = False
        elif (
            label is not None
            and not label.is_weak
            and run is not None
            and (run.style, run.last + 1) == (label.style, label.value)
            and len(given) >= LEAST_GIVEN * run.count
            and len(read_key_line(piece.text)) < 2
            and _asks_again(pieces, place, headings)
        ):
            return place
        elif (
            label is not None
            and run is not None
            and (run.style, run.first) == (label.style, label.value)
            and len(given) >= run.count > 1
            and max(headings[-1:], default=0) > place
            and not above.is_asked(piece)
            and has_options_ahead(pieces[place : place + _ASKING_LINES])
        ):
            return place - (pieces[place - 1].label is None)  # `B卷`: another paper below its name
        if run is not None and len(given) < run.count:
            given.update(value for value in list_values(piece) if run.first <= value <= run.last)
    return len(pieces)


_ASKING_LINES = 12


def _asks_again(pieces: Sequence[Piece], place: int, headings: Sequence[int]) -> bool:
    """Whether questions begin here: they offer options, or further answers follow them."""
    return any(heading > place for heading in headings) or has_options_ahead(
        pieces[place : place + _ASKING_LINES]
    )


@dataclass(frozen=True)
class _SectionMark:
    """What heads a section: its number, and the name of its type or its title."""

    label: Label | None
    name: str
    is_named: bool = False


def _read_section_mark(piece: Piece, counting: str) -> _SectionMark | None:
    heading = read_heading(piece.text)
    if heading is not None:
        name = heading.fine.name if heading.fine is not None else heading.title
        return _SectionMark(heading.label, name, is_named=True)
    label = piece.label
    is_mark = is_sure(label, (*STRONG_STYLES, "word")) and label.style != counting
    return _SectionMark(label, "") if is_mark else None


def _is_next(mark: _SectionMark, known: Sequence[_SectionMark]) -> bool:
    """Whether a section follows those that are known: by its number, or by a type of its own."""
    if mark.label is not None:
        last = next(
            (
                one.label
                for one in reversed(known)
                if one.label is not None and one.label.style == mark.label.style
            ),
            None,
        )
        return last is not None and mark.label.value == last.value + 1
    return all(one.name != mark.name for one in known)


_NEXT_LINES = 6


def _opens_further(above: _Above, place: int) -> bool:
    """Whether a further paper begins here: its first question offers options and is new."""
    pieces = above.pieces
    heading = read_heading(pieces[place].text)
    if heading is None or heading.fine is None or heading.label is None or heading.label.value != 1:
        return False
    following = pieces[place + 1 : place + 1 + _NEXT_LINES]
    first = next((piece for piece in following if piece.label is not None and piece.label.value == 1), None)
    if first is None or len(read_key_line(first.text)) > 1:
        return False
    return offers_options(following, True) and not above.is_asked(first)


# So many characters tell one line from another, and more where several begin alike: `Which of the following …`.
_OPENING, _LONG_OPENING = 16, 80


class _Above:
    """What stands above a line, where such lines are asked about one after the other.

    Each line is looked at once, as long as they come in their order: a workbook of a thousand chapters has as many.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self._begin()

    def _begin(self) -> None:
        self._count = 0
        self._runs = NumberRuns()
        self._marks: list[_SectionMark] = []
        self._openings: Counter[str] = Counter()
        self._lines: set[str] = set()

    def look_to(self, index: int) -> None:
        """Look at all lines above this one, and at no other."""
        if index < self._count:
            self._begin()
        for piece in self.pieces[self._count : index]:
            self._runs.add(piece)
            if (mark := _read_section_mark(piece, "")) is not None:
                self._marks.append(mark)
            line = _fold_question(piece)
            self._openings[line[:_OPENING]] += 1
            self._lines.add(line)
        self._count = index

    @property
    def run(self) -> NumberRun | None:
        """The last run of numbers that counts questions."""
        return self._runs.find_last()

    def list_marks(self, counting: str) -> list[_SectionMark]:
        """What heads sections, where numbers of this style count questions."""
        return [
            mark for mark in self._marks if mark.is_named or not mark.label or mark.label.style != counting
        ]

    def is_asked(self, piece: Piece) -> bool:
        """Whether a line begins like one above, as far as tells it from the others."""
        line = _fold_question(piece)
        alike = self._openings[line[:_OPENING]]
        return alike == 1 or (alike > 1 and (line in self._lines or line[:_OPENING] in self._lines))


def _fold_question(piece: Piece) -> str:
    """The beginning of a line without its number, white space and signs."""
    body = piece.text[piece.label.end :] if piece.label is not None else piece.text
    return _SIGNS.sub("", body)[:_LONG_OPENING]


_SIGNS = re.compile(r"[\W_]+")


_OPENING_STYLES = (*COUNTING, "cn", "part")


_OFFERS = re.compile(r"\s*[（(]?A\s*[)）.．、]\s*\S.*\s[（(]?B\s*[)）.．、]|\s*[（(]?A\s*[)）.．、]\s*\S{4,}")
_ASKS = re.compile(r"\s*(?:(?:答|解)\s*[:：]|\d{1,3}\s*[.．、].*[？?]\s*$)")


def find_region(
    pieces: Sequence[Piece],
    headings: Sequence[int] | None = None,
    first_answered: _FirstAnswered | None = None,
    shown: _Shown | None = None,
) -> int | None:
    """Return the index of the line that opens the answer part at the end of a paper, or None.

    `headings` are those of `find_region_headings`, and `first_answered` and `shown` are of a paper that ends with these pieces,
    where they are known.

    A line `参考答案` that stands after a single question introduces only that question's answer: the
    answer part must begin with a heading, a key table, or a number that starts over.
    """
    marks = find_region_headings(pieces) if headings is None else headings
    if not marks:
        return _find_keyed(pieces)
    announced = _Announced(pieces, marks)
    shown = shown or _Shown()
    if len(marks) > 2 and len(marks) > 0.05 * len(pieces) and not shown.do_most_open(announced, marks):
        return None  # printed after every question
    answered = (first_answered or _FirstAnswered(pieces)).find(len(pieces))
    marks = [index for index in marks if index >= answered and (index >= 5 or not _is_title(pieces, index))]
    if marks != announced.marks:
        announced = _Announced(pieces, marks)
    for index in marks:
        if index + 1 == len(pieces) or (index == 0 and len(pieces) > 40):
            continue
        if announced.opens(index) and shown.do_alike_open(announced, pieces[index].text.strip()):
            return index
    return None


_LEAST_ANSWERED = 3


class _FirstAnswered:
    """Where a paper, or what is left of it, begins to answer its questions one by one.

    A title of solutions above it, `Solution to the final exam`, names the paper; its answers stand below the options.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces

    @cached_property
    def _offered(self) -> list[int]:
        return [place for place, piece in enumerate(self._pieces) if FIRST_OPTION.match(piece.text)]

    @cached_property
    def _marked(self) -> list[int]:
        return [
            place
            for place, piece in enumerate(self._pieces)
            if may_open_answer(piece.text.lstrip()[:1])
            and (mark := answer_mark().match(piece.text)) is not None
            and mark[1].strip()
        ]

    def find(self, size: int) -> int:
        """The place of the first option among the last lines, so many, that are answered, else 0."""
        begun = len(self._pieces) - size
        offered = bisect_left(self._offered, begun)
        count = len(self._offered) - offered
        if count < _LEAST_ANSWERED:
            return 0
        first = self._offered[offered]
        marked = len(self._marked) - bisect_left(self._marked, first)
        return first - begun if marked >= max(_LEAST_ANSWERED, LEAST_GIVEN * count) else 0


_KEYED = re.compile(r"\s*(?:[（(\[][A-Ja-j][)）\]](?:\s|$)|[A-J][.。]?\s*$)")
_LEAST_KEYED = 3


def _find_keyed(pieces: Sequence[Piece]) -> int | None:
    """The line below which the numbers of the questions come again: `3. (C) Since …`, `3. C`."""
    keyed = [
        place
        for place, piece in enumerate(pieces)
        if is_sure(label := piece.label, COUNTING) and _KEYED.match(piece.text[label.end :]) is not None
    ]
    if len(keyed) < _LEAST_KEYED or keyed[0] < _LEAST_KEYED:
        return _find_titled(pieces)
    index = keyed[0] - 1
    run = find_run(pieces[:index])
    is_title = pieces[index].label is None and len(pieces[index].text.strip()) <= MAX_HEADING
    if not is_title or run is None or has_options_ahead(pieces[keyed[0] :]):
        return None
    return index if _answers_run(run, pieces[:index], pieces[keyed[0] :]) else None


# `阅卷参考`, `Sample responses`: titles of answers where what follows counts as the questions do; `参考书目` is none
_MAY_TITLE = re.compile(
    r"\W*(?:(?:本卷|全卷|[试習习]题|试卷|题目|各题|参考)?(?:[解讲]析|详解)|(?:阅卷|评阅|评卷|批阅|批改)(?:参考|要点|用)?|参考(?:要点|内容|思路|解法)|"
    r"(?i:(?:(?:suggested|expected|model|sample|(?:teacher|instructor|examiner|marker)(?:['’]?s)?)\s+)?(?:responses?|explanations?|rationales?|feedback|replies)|(?:suggested|expected|model) (?:points|content|wording)))\W*"
)


def _find_titled(pieces: Sequence[Piece]) -> int | None:
    """The one line below which as many numbers as questions above begin again, and nothing asks."""
    titles = [
        place
        for place, piece in enumerate(pieces)
        if piece.label is None
        and len(piece.text.strip()) <= _MAX_TITLED
        and _MAY_TITLE.fullmatch(piece.text) is not None
    ]
    for place in titles[-_LEAST_KEYED:]:
        run = find_run(pieces[:place])
        below = pieces[place + 1 :]
        counts = [label.value for piece in below if is_sure(label := piece.label, COUNTING)]
        if (
            run is not None
            and run.first == 1
            and run.count >= _LEAST_KEYED
            and counts == [*range(1, run.count + 1)]
            and _ask(pieces[:place], run.count)
            and not any(
                asking().search(piece.text[piece.label.end if piece.label else 0 :]) for piece in below
            )
            and not has_options_ahead(below)
        ):
            return place
    return None


_MAX_TITLED = 24


def _ask(pieces: Sequence[Piece], count: int) -> bool:
    """Whether numbered lines, all but one of so many, ask or offer options."""
    asking_ones = sum(1 for piece in pieces if piece.label and asking().search(piece.text))
    return asking_ones >= count - 1 or has_options_ahead(pieces)


def _answers_parts(label: Label, pieces: Sequence[Piece]) -> bool:
    """Whether `（1）…` below `答案要点：` answers the parts of the last question."""
    if label.style not in ("nump", "romanp", "letterp"):
        return False
    before = [piece.label for piece in pieces if piece.label is not None]
    if sum(1 for other in before if other.style == "num") < 2:
        return False
    for place, other in enumerate(reversed(before)):
        if other.style != label.style:
            break
        if other.value == 1:
            return place > 0
    return False


def _is_title(pieces: Sequence[Piece], index: int) -> bool:
    """Whether `… 试题及答案` names a paper with its answers: questions follow it."""
    if any(piece.label is not None for piece in pieces[:index]):
        return False
    rest = pieces[index + 1 :]
    if any(is_region_heading(piece.text) for piece in rest):
        return True
    asking = 0
    for piece in rest:
        if _OFFERS.match(piece.text) or _ASKS.match(piece.text) or has_blank(piece.text):
            asking += 1
        if asking > 1:
            return True
    return False


# behind a number: a key, alone or before its reason
_KEY_THEN = re.compile(r"\s*[（(]?[A-J√×✓✗]{1,6}[)）]?\s*(?:$|[.。:：]|[-–—=]\s)")


class _Announced:
    """Lines that announce answers, each looked at once, though the next ones ask for it again."""

    def __init__(self, pieces: Sequence[Piece], marks: Sequence[int]) -> None:
        self.pieces = pieces
        self.marks = marks
        self._opens: dict[int, bool] = {}
        self._ends: dict[int, int] = {}
        self._above = _Above(pieces)

    def opens(self, index: int) -> bool:
        """Whether answers to the questions above such a line follow it."""
        if index not in self._opens:
            self._opens[index] = _opens_answers(self, index)
        return self._opens[index]

    def find_end(self, index: int) -> int:
        """Where the part ends that such a line would open."""
        if index not in self._ends:
            self._ends[index] = _find_end(self._above, index, self.marks)
        return self._ends[index]


# So many of the lines that announce answers show whether most of them open a part.
_MOST_SHOWN, _LEAST_OPEN = 40, 0.6
# Fewer of the same words are no habit of a paper, and about so many show it.
_LEAST_ALIKE, _SOME_ALIKE = 5, 10


class _Shown:
    """Whether most lines that announce answers open a part, as a paper is taken apart.

    Of more than forty some are asked, counted from the last one and each once: a workbook of a thousand chapters would be
    looked through for each of them.
    """

    def __init__(self) -> None:
        self._opens: dict[int, bool] = {}
        self._said: dict[str, bool] = {}

    def do_alike_open(self, announced: _Announced, said: str) -> bool:
        """Whether lines of these words may open a part; asked once: they mean the same in all.

        `正确答案：` stands below every question of a section, above whatever the answer looks like.
        """
        if said not in self._said:
            alike = [mark for mark in announced.marks if announced.pieces[mark].text.strip() == said]
            some = alike[:: len(alike) // _SOME_ALIKE + 1]
            self._said[said] = len(alike) < _LEAST_ALIKE or self.do_most_open(announced, some)
        return self._said[said]

    def do_most_open(self, announced: _Announced, marks: Sequence[int]) -> bool:
        """Of these, in what is left of the paper."""
        step = 1
        while len(marks) > step * _MOST_SHOWN:
            step *= 2
        opens: list[bool] = []
        # in their order: one may ask what the one before it opens
        for mark in reversed(marks[::-step]):
            left = len(announced.pieces) - mark
            if step == 1 or left not in self._opens:
                self._opens[left] = announced.opens(mark)
            opens.append(self._opens[left])
        return sum(opens) >= _LEAST_OPEN * len(opens)


def _opens_answers(announced: _Announced, index: int) -> bool:
    pieces, marks = announced.pieces, announced.marks
    before, following = pieces[:index], pieces[index + 1 : index + 6]
    is_only = len(marks) == 1
    keyed = [
        piece
        for piece in following
        if piece.label and _KEY_THEN.match(piece.text[piece.label.end :]) is not None
    ]
    if len(keyed) > 1 and is_only:
        return True
    place = bisect_left(marks, index)
    begin = marks[place - 1] + 1 if place else 0
    run = find_run(pieces[begin:index])
    if run is not None and _answers_run(run, pieces[begin:index], pieces[index + 1 :]):
        if begin and _prints_again(pieces[begin:index], pieces[index + 1]) and not announced.opens(begin - 1):
            return False  # answers stand below each question: these are the parts of the last one
        further = next(iter(marks[place + 1 :]), None)
        if any(_asks_one(pieces, announced.find_end(mark)) for mark in marks[max(place - 1, 0) : place + 1]):
            return False
        if further is None or announced.find_end(index) <= further:
            return True
    for piece in following[:3]:
        text = piece.text
        if read_key_line(text) or read_heading(text) is not None:
            return True
        if is_only and any(map(str.isdigit, text)) and any(other.text == text for other in before):
            return True  # what stood above a question stands above its answer: `Aufgabe 1`
        label = piece.label
        if label is not None:
            if label.value == 1 and label.style == "cn" and _holds_answers(piece.cut(label.end)):
                return True
            if label.value == 1 and label.style in _OPENING_STYLES:
                if not before or any(one.kind == "questions" for one in before):
                    return True
                if not is_only:
                    return False
                # the numbers of an answer part look like those of the questions, and there is more than one question
                labels = (other.label for other in before)
                if not any(
                    other is not None and other.style in (label.style, _named(label)) and other.value > 1
                    for other in labels
                ):
                    return False
                return not _answers_parts(label, before)
            return False
    return False


def _named(label: Label) -> str:
    """The style of questions that answers call by name: `Question 1` answers `1.`"""
    return "num" if label.style == "word" else label.style


def _holds_answers(piece: Piece) -> bool:
    """Whether what follows `一、` are answers: `√××√`, `1.北 2.南`."""
    return RUN_OF_KEYS.fullmatch(piece.text.strip()) is not None or list_values(piece)[:2] == [1, 2]


def _asks_one(pieces: Sequence[Piece], place: int) -> bool:
    """Whether `（二）（20 分）` opens one more question: the answers above are of one."""
    label = pieces[place].label if place + 1 < len(pieces) else None
    below = pieces[place + 1].label if label is not None else None
    return (
        label is not None
        and label.style == "cnp"
        and read_heading(pieces[place].text) is None
        and (below is None or below.style not in COUNTING)
    )


def _prints_again(asked: Sequence[Piece], answer: Piece) -> bool:
    """Whether the first of several answers begins as the line with its number above does."""
    own = [piece for piece in asked if piece.label and answer.label and piece.label.text == answer.label.text]
    said = [_fold_question(piece)[:_AGAIN] for piece in own]
    return any(text and _fold_question(answer).startswith(text) for text in said)


# So many letters of a part are enough to know it again.
_AGAIN = 8


def _answers_run(run: NumberRun, asked: Sequence[Piece], following: Sequence[Piece]) -> bool:
    """Whether answers count as the questions above them do."""
    values: list[int] = []
    for piece in following[: len(asked) + 2]:
        found = list_values(piece)
        label = piece.label
        if not values and (
            not found
            or not run.first <= found[0] <= run.last
            or (label is not None and _answers_parts(label, asked))
        ):
            return False
        if found and found[0] == (values[-1] + 1 if values else found[0]) and found[-1] <= run.last:
            values += found
        elif (
            values
            and found == [run.last + 1]
            and label is not None
            and label.style not in (run.style, *STRONG_STYLES)
        ):
            return False  # a list that counts on: points of an answer
        elif is_region_heading(piece.text):
            break
    if run.count == 1:
        return values == [run.first] and run.first > 1
    if values[:1] != [run.first]:  # the keys of the others stand elsewhere
        return len(values) > 1 and values[-1] == run.last
    return len(values) >= max(2, LEAST_GIVEN * run.count)
