"""Further readings of a paper: which of its marks head sections, and which count questions.

A series of marks may head sections, or count questions where it runs through the paper; each such reading is an outline,
which the contracts of the paper judge.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from tasks.ingest.layout.headings import Heading
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import MIN_RUN, Repeated, SeriesMark, by_family
from tasks.ingest.layout.series_headings import find_titled, list_sections, make_heading
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import find_type_in_title

_LONGEST_GAP = 30
_LONGEST_COUNTER, _LEAST_COUNTERS = 16, 5


@dataclass(frozen=True)
class Outline:
    """What marks sections and questions in one reading, by the offsets of lines in the raw text.

    `headings` are lines that head sections, `titles` those that only continue them; `alone` says that no others do. `numbers` are the marks of questions: the
    index at which each ends on its line, and its value. `hidden` are numbered lines that count nothing. `family` names the marks for a person.
    `dropped` are lines that a program printed between questions. `is_counted`: the questions have no numbers, those of `numbers`
    only count them, and no other numbered line begins one.
    `given`: the numbers count questions wherever they lead, and head no section.
    """

    headings: Mapping[int, Heading] = field(default_factory=dict)
    titles: frozenset[int] = frozenset()
    numbers: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    alone: bool = False
    family: str = ""
    dropped: frozenset[int] = frozenset()
    is_counted: bool = False
    given: bool = False

    def label(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The lines with the labels that they have in this reading; their text stays as it is."""
        return [self._label(piece) for piece in pieces if piece.start not in self.dropped]

    def _label(self, piece: Piece) -> Piece:
        if piece.start in self.headings:
            return replace(piece, kind="body")
        if piece.start in self.hidden:
            return piece.with_label(None)
        mark = self.numbers.get(piece.start)
        label = piece.label
        if mark is not None:
            if (
                not self.given
                and label is not None
                and (label.style, label.value) == ("num", mark[1])
                and not label.is_weak
            ):
                return piece
            own = piece.text[: mark[0]].strip()
            return piece.with_label(Label("num", mark[1], mark[0], own, is_given=self.given))
        if self.numbers and label is not None and label.style in (_COUNTING if self.is_counted else _WORDED):
            return piece.with_label(None)  # else it would be taken for the number of a question
        return piece


_WORDED = ("word", "wordp")
_COUNTING = (*_WORDED, "num", "bare", "circ", "bracket")


def propose_outlines(
    pieces: Sequence[Piece],
    repeated: Repeated,
    starts: Collection[int],
    heads: Mapping[int, bool],
    silent: frozenset[int] = frozenset(),
    has_others: bool = True,
) -> Iterator[Outline]:
    """Other readings that the marks of a paper allow, the likeliest first.

    `repeated` is what repeats in the lines, `starts` are the places of the questions that the first reading found, `heads` those of its headings.
    """
    marks = repeated.marks
    numberings = _list_numberings(marks, pieces, starts)
    outlines: list[Outline] = []
    counted = _read_closed(pieces, *repeated.closing)
    if counted is not None and len(counted.numbers) > len(starts):
        yield counted
    sections = list_sections(marks, pieces, heads)
    titled = find_titled(pieces, heads, {mark.place for mark in marks})
    if titled:
        outlines.append(Outline(titled))
    for headings, titles in sections:
        outlines.append(Outline(headings, titles))
        if has_others:
            outlines.append(Outline(headings, titles, alone=True))
    for family, numbers in numberings:
        outlines.append(Outline(numbers=numbers, family=family))
        if has_others:
            outlines.append(Outline(numbers=numbers, alone=True, family=family))
    if silent:
        # what is numbered before the questions, and asks nothing, is first left out of every other reading
        outlines = [Outline(hidden=silent), *(replace(one, hidden=silent) for one in outlines)]
    yield from outlines


def add_headings(
    outline: Outline, places: Collection[int], pieces: Sequence[Piece], marks: Sequence[SeriesMark]
) -> Outline:
    """The same reading with headings where a question holds a line that announces others."""
    by_place = {pieces[mark.place].start: mark for mark in marks}
    headings = dict(outline.headings)
    for index, piece in enumerate(pieces):
        if piece.start in places:
            mark = by_place.get(piece.start) or SeriesMark(index, 0, 0, "")
            heading, _ = make_heading(mark, pieces, len(pieces), marks)
            headings[piece.start] = replace(
                heading,
                is_question=False,
                fine=heading.fine or find_type_in_title(heading.title),
                rest=len(piece.text),
            )
    return replace(outline, headings=headings)


def _count_steps(marks: Sequence[SeriesMark]) -> int:
    return sum(1 for left, right in pairwise(marks) if right.value == left.value + 1)


def _list_numberings(
    marks: Sequence[SeriesMark], pieces: Sequence[Piece], starts: Collection[int]
) -> list[tuple[str, dict[int, tuple[int, int]]]]:
    """The families of marks that may count questions and did not, those that run furthest first."""
    found: list[tuple[int, str, dict[int, tuple[int, int]]]] = []
    for family, own in by_family(marks).items():
        if not any(sign in family for sign in "1①") and not (family.startswith("一") and "(" in family):
            continue
        steps = _count_steps(own)
        if len(own) < 2 or steps < 0.5 * (len(own) - 1):
            continue
        numbers = {pieces[mark.place].start: (mark.end, mark.value) for mark in own}
        numbers |= _fill_gaps(own, pieces)
        fresh = sum(1 for start in numbers if start not in starts)
        if len(numbers) >= MIN_RUN and (fresh >= 2 or (fresh and len(numbers) > len(own))):
            found.append((steps, family, numbers))
    found.sort(key=lambda one: -one[0])
    return [(family, numbers) for _, family, numbers in found[:2]]


def _read_closed(pieces: Sequence[Piece], word: str, closing: Sequence[int]) -> Outline | None:
    """Questions without numbers, each of which ends with its answer; the next one follows it.

    What closes them is told by repetition: a word and one key after it, at the end of many lines.
    """
    if not closing:
        return None
    lines = [piece.text.strip() for piece in pieces]
    counters = _find_counters(lines)
    tails = _list_tails(lines, closing)
    numbers: dict[int, tuple[int, int]] = {}
    begin = 0
    for place in closing:
        while begin in counters or (begin and _name_field(lines[begin]) in tails):
            begin += 1
        if begin < place:
            numbers[pieces[begin].start] = (0, len(numbers) + 1)
        begin = place + 1
    dropped = frozenset(pieces[place].start for place in counters)
    return Outline(numbers=numbers, dropped=dropped, is_counted=True, alone=True, family=word)


def _list_tails(lines: Sequence[str], closing: Sequence[int]) -> set[str]:
    """The names of the fields that stand below most answers: `解析：`, `Topic:`."""
    names = Counter(
        name for place in closing for text in lines[place + 1 : place + 4] if (name := _name_field(text))
    )
    return {name for name, count in names.items() if count >= _MOST_TAILS * len(closing)}


_MOST_TAILS = 0.5
_FIELD = re.compile(r"[^\w\s]?([^\W\d_]{2,12})\s*[^\w\s]?[:：]")


def _name_field(text: str) -> str:
    match = _FIELD.match(text)
    return match[1] if match is not None else ""


def _find_counters(lines: Sequence[str]) -> set[int]:
    """The lines that are alike but for a number that rises, as a program counts: `18/473 单选题`."""
    alike: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, text in enumerate(lines):
        number = re.match(r"\d+", text) if len(text) <= _LONGEST_COUNTER else None
        if number is not None:
            alike[_NO_LETTERS.sub("", text)].append((place, int(number[0])))
    found: set[int] = set()
    for form, own in alike.items():
        rising = sum(1 for left, right in pairwise(own) if left[1] < right[1])
        if len(form) > 1 and len(own) >= _LEAST_COUNTERS and rising >= 0.6 * (len(own) - 1):
            found.update(place for place, _ in own)
    return found


_NO_LETTERS = re.compile(r"[\W\d_]+")


_LOOSE = re.compile(
    r"\s*(?:[\[【(（][^\])】）\d]{1,8}[\])】）])?\s*[^\w\s]?\s*(\d{1,3})(?!\d)\s*[^\w\s]{0,2}\s*(?=\S)"
)


def _fill_gaps(own: Sequence[SeriesMark], pieces: Sequence[Piece]) -> dict[int, tuple[int, int]]:
    """Lines between two numbers of a series that begin with the missing ones in any form."""
    filled: dict[int, tuple[int, int]] = {}
    for at, left in enumerate(own):
        right = own[at + 1] if at + 1 < len(own) else None
        wanted = left.value + 1
        if right is not None and not wanted < right.value <= left.value + _LONGEST_GAP:
            continue
        for place in range(left.place + 1, right.place if right is not None else len(pieces)):
            match = _LOOSE.match(pieces[place].text)
            if match is not None and int(match[1]) == wanted and (right is None or wanted < right.value):
                filled[pieces[place].start] = (match.end(), wanted)
                wanted += 1
    return filled
