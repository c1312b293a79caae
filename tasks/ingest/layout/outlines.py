"""Further readings of a paper: which of its marks head sections, and which count questions.

Marks are found by their own repetition. The beginning of every line is read as a mark: a word or a sign before it, a
numeral, what closes it. Marks of one family that run on are a series. A series may head sections where the numbers of
another start again below its lines, or its lines name types or announce counts; a series may count questions where it
runs through the paper. No title and no type needs to be known.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from tasks.ingest.layout.announcements import read_announcement
from tasks.ingest.layout.headings import Heading, read_heading, read_marks
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.grammar import not_counting
from tasks.ingest.words.labels import Label, read_number
from tasks.ingest.words.lexicon import find_type_by_pattern, find_type_in_title, match_exactly

# A word or a few signs, a numeral, and what closes it; a lead such as `得分` may stand before it.
_MARK = re.compile(
    r"\s*+(?:(?P<lead>[^\W\d_]{2,6})\s++(?=[^\W\d_]*\s*[一二三四五六七八九十]{1,3}\s*[、.．。,，:：]))?"
    r"(?P<tag>[\[【(（][^\])】）\d]{1,8}[\])】）]\s*+(?=\d))?"
    r"(?P<open>[（(\[【<《]?)\s*+(?P<word>(?:[A-Za-z]{2,10}|[Qq])\s*[.:#]?\s*+(?=[\dIVXA-H一二三四五六七八九十])|第\s*|问题|题目?|试题|习题|例题?|部分)?+"
    r"(?P<numeral>\d{1,3}(?!\d)|[一二三四五六七八九十]{1,3}|[①-⑳]|[Ⅰ-Ⅻ]|[IVX]{1,5}(?![A-Za-z])|[A-H](?![A-Za-z])|"
    r"(?:One|Two|Three|Four|Five|Six|Seven|Eight|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT)\b)"
    r"(?P<unit>\s*(?:大题|小题|部分|题|卷|篇)?)(?P<close>\s?[）)\]】>》]?\s?[.．、。,，:：;；—–-]{0,2})(?P<gap>\s*)"
)
_MAY_MARK = re.compile(r"\s*[（(\[【<《\dA-Z一-十第问题试习例部①-⑳Ⅰ-Ⅻ二三四五六七八九得]")
# `1a) Describe`: a number that the label of its first part closes
_FIRST_PART = re.compile(r"\s?[aA]\s?[)）.]\s*\S")
_STOP, _BRACKET = re.compile(r"[.．、。,，:：;；—–-]"), re.compile(r"[）)\]】>》]")
_MIN_RUN, _LONGEST_GAP, _LOOK_BACK = 3, 30, 60
_LONGEST_TITLE = 90


class SeriesMark(NamedTuple):
    """The mark at the beginning of a line: which line, where it ends, its value and family."""

    place: int
    end: int
    value: int
    family: str


@dataclass(frozen=True)
class Outline:
    """What marks sections and questions in one reading, by the offsets of lines in the raw text.

    `headings` are lines that head sections, `titles` those that only continue them; `alone` says that no others do. `numbers` are the marks of questions: the
    index at which each ends on its line, and its value. `hidden` are numbered lines that count nothing. `family` names the marks for a person.
    `dropped` are lines that a program printed between questions. `is_counted`: the questions have no numbers, those of `numbers`
    only count them, and no other numbered line begins one. `is_answered`: what stands below the line that asks is its answer.
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
    is_answered: bool = False
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
    starts: Collection[int],
    heads: Mapping[int, bool],
    silent: frozenset[int] = frozenset(),
    has_others: bool = True,
) -> Iterator[Outline]:
    """Other readings that the marks of a paper allow, the likeliest first.

    `starts` are the places of the questions that the first reading found, `heads` those of its headings.
    """
    marks = read_marks_of(pieces)
    numberings = _list_numberings(marks, pieces, starts)
    outlines: list[Outline] = []
    for counted in (_read_closed(pieces), _read_alternating(pieces)):
        if counted is not None and len(counted.numbers) > len(starts):
            yield counted
    sections = _list_sections(marks, pieces, heads)
    titled = _find_titled(pieces, heads, {mark.place for mark in marks})
    if titled:
        outlines.append(Outline(titled))
    for headings, titles in sections:
        outlines.append(Outline(headings, titles))
        if has_others:
            outlines.append(Outline(headings, titles, alone=True))
    for family, numbers in numberings:
        outlines.append(Outline(numbers=numbers, family=family))
        outlines.extend(Outline(headings, titles, numbers, family=family) for headings, titles in sections)
        if has_others:
            outlines.append(Outline(numbers=numbers, alone=True, family=family))
    if silent:
        # what is numbered before the questions, and asks nothing, is first left out of every other reading
        outlines = [Outline(hidden=silent), *(replace(one, hidden=silent) for one in outlines)]
    yield from outlines


def add_headings(outline: Outline, places: Collection[int], pieces: Sequence[Piece]) -> Outline:
    """The same reading with headings where a question holds a line that announces others."""
    marks = read_marks_of(pieces)
    by_place = {pieces[mark.place].start: mark for mark in marks}
    headings = dict(outline.headings)
    for index, piece in enumerate(pieces):
        if piece.start in places:
            mark = by_place.get(piece.start) or SeriesMark(index, 0, 0, "")
            heading, _ = _make_heading(mark, pieces, len(pieces), marks)
            headings[piece.start] = replace(
                heading,
                is_question=False,
                fine=heading.fine or find_type_in_title(heading.title),
                rest=len(piece.text),
            )
    return replace(outline, headings=headings)


def read_marks_of(pieces: Sequence[Piece]) -> list[SeriesMark]:
    """The marks at the beginning of lines."""
    found: list[SeriesMark] = []
    for place, piece in enumerate(pieces):
        if _MAY_MARK.match(piece.text) is None:
            continue
        mark = read_series_mark(place, piece.text)
        if mark is not None:
            found.append(mark)
    return found


def read_series_mark(place: int, text: str) -> SeriesMark | None:
    """The mark at the beginning of a line; None where there is none.

    The line is the `place`-th of its paper.
    """
    mark = _read_mark(text)
    return None if mark is None else SeriesMark(place, *mark)


@lru_cache(maxsize=1 << 14)  # the tagger and every search for readings ask it of the same lines
def _read_mark(text: str) -> tuple[int, int, str] | None:
    """Where the mark at the beginning of a line ends, its value and family."""
    match = _MARK.match(text)
    if match is None:
        return None
    kind = _kind(match["numeral"])
    value = ord(match["numeral"]) - ord("A") + 1 if kind == "A" else read_number(match["numeral"])
    if value is None or not 0 < value < 400:
        return None
    word = "".join(match["word"].split()).casefold().rstrip(".:#") if match["word"] else ""
    if word and not word.isascii() and not match["unit"].strip() and kind == "1" and word == "第":
        return None  # `第3个` counts no question
    close = match["close"]
    is_bracketed = bool(match["open"]) or _BRACKET.search(close) is not None
    has_stop = _STOP.search(close) is not None
    rest = text[match.end() :]
    if kind in ("A", "I") and not word and not has_stop and not is_bracketed:
        return None
    has_part = kind == "1" and _FIRST_PART.match(rest) is not None
    if not (word or is_bracketed or has_stop or match["unit"].strip() or len(match["gap"]) > 1 or has_part):
        return None
    if has_part and not (word or is_bracketed or has_stop):
        return match.end(), value, "1a"
    if kind == "1" and rest[:1].isdigit() and not match["gap"] and not word and "、" not in close:
        return None
    if word in not_counting():
        return None
    shape = "()" if match["open"] and is_bracketed else ")" if is_bracketed else "." if has_stop else " "
    family = f"{word}{kind}{match['unit'].strip()}{'' if word or match['unit'].strip() else shape}"
    return match.end(), value, family


def _kind(numeral: str) -> str:
    first = numeral[0]
    if first.isascii() and first.isdigit():
        return "1"
    if "①" <= first <= "⑳":
        return "①"
    if "Ⅰ" <= first <= "Ⅻ" or (numeral.isascii() and set(numeral) <= set("IVX")):
        return "I"
    return "A" if len(numeral) == 1 and first.isascii() else "one" if first.isascii() else "一"


class Repeated:
    """What repeats in the lines of a paper, found once for all its readings."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces

    @cached_property
    def runs(self) -> list[list[SeriesMark]]:
        """What `list_runs` finds."""
        return list_runs(self._pieces)

    @cached_property
    def closing(self) -> tuple[str, list[int]]:
        """What `find_closing` finds."""
        return find_closing(self._pieces)

    @cached_property
    def asking(self) -> list[int]:
        """What `find_asking` finds."""
        return find_asking(self._pieces)


_LEAST_OF_FAMILY = 0.7


def list_runs(pieces: Sequence[Piece]) -> list[list[SeriesMark]]:
    """The marks of each family that rise one by one through the paper and hardly begin again."""
    found: list[list[SeriesMark]] = []
    for family, own in _by_family(read_marks_of(pieces)).items():
        if family.strip("().") == "A" or sum(1 for mark in own if mark.value == 1) > 1:
            continue
        run = _run_up(own, 1)
        if len(run) >= max(_MIN_RUN, _LEAST_OF_FAMILY * len(own)):
            found.append(run)
    return found


def _by_family(marks: Sequence[SeriesMark]) -> dict[str, list[SeriesMark]]:
    found: dict[str, list[SeriesMark]] = defaultdict(list)
    for mark in marks:
        found[mark.family].append(mark)
    return dict(found)


def _count_steps(marks: Sequence[SeriesMark]) -> int:
    return sum(1 for left, right in pairwise(marks) if right.value == left.value + 1)


def _list_numberings(
    marks: Sequence[SeriesMark], pieces: Sequence[Piece], starts: Collection[int]
) -> list[tuple[str, dict[int, tuple[int, int]]]]:
    """The families of marks that may count questions and did not, those that run furthest first."""
    found: list[tuple[int, str, dict[int, tuple[int, int]]]] = []
    for family, own in _by_family(marks).items():
        if not any(sign in family for sign in "1①") and not (family.startswith("一") and "(" in family):
            continue
        steps = _count_steps(own)
        if len(own) < 2 or steps < 0.5 * (len(own) - 1):
            continue
        numbers = {pieces[mark.place].start: (mark.end, mark.value) for mark in own}
        numbers |= _fill_gaps(own, pieces)
        fresh = sum(1 for start in numbers if start not in starts)
        if len(numbers) >= _MIN_RUN and (fresh >= 2 or (fresh and len(numbers) > len(own))):
            found.append((steps, family, numbers))
    found.sort(key=lambda one: -one[0])
    listed = [(family, numbers) for _, family, numbers in found[:2]]
    bare = _find_bare_run(pieces)
    return [*listed, ("1", bare)] if any(start not in starts for start in bare) else listed


_BARE = re.compile(r"\s*([1-9]\d?)\s+(?=\(?[A-Za-z\u4e00-\u9fff“\"])")
_FAR, _USUAL_GAP = 4, 2.5
_MOST_RUNS = 32


def _find_bare_run(pieces: Sequence[Piece]) -> dict[int, tuple[int, int]]:
    """Numbers that nothing closes, from 1 on one by one.

    They are as far apart as questions are, and rows of a table are not.
    """
    runs: dict[int, list[tuple[float, list[tuple[int, int, int]]]]] = defaultdict(list)
    for place, piece in enumerate(pieces):
        match = _BARE.match(piece.text) if piece.kind != "table" and "|" not in piece.text else None
        if match is None:
            continue
        value, mark = int(match[1]), (place, match.end(), int(match[1]))
        before = [(score + min(place - run[-1][0], _FAR), run) for score, run in runs[value - 1]]
        score, run = max(before, key=lambda one: (one[0], one[1][-1][0]), default=(0.0, []))
        if not run and value > 1:
            continue
        own = runs[value]
        own.append((score, [*run, mark]))
        if len(own) > 2 * _MOST_RUNS:  # a bank counts from 1 again and again
            runs[value] = [max(own, key=lambda one: one[0]), *own[-_MOST_RUNS:]]
    found = [one for several in runs.values() for one in several]
    score, best = max(found, key=lambda one: one[0], default=(0.0, []))
    is_spread = len(best) >= _MIN_RUN and score >= _USUAL_GAP * (len(best) - 1)
    return {pieces[place].start: (end, value) for place, end, value in best} if is_spread else {}


# So many lines must close questions, and hardly any two of them stand together.
_LEAST_CLOSED, _MOST_CLOSE = 5, 0.2
_CLOSER = re.compile(
    r"(?P<word>[^\W\d_]{2,12}(?: [^\W\d_]{2,12}){0,2})(?:\s*[:：]|\s)\s*(?P<key>[A-Ja-j]{1,6}|[√×✓✗对错TF])\s*"
)
_LONGEST_COUNTER, _LEAST_COUNTERS = 16, 5


def _read_closed(pieces: Sequence[Piece]) -> Outline | None:
    """Questions without numbers, each of which ends with its answer; the next one follows it.

    What closes them is told by repetition: a word and one key after it, at the end of many lines.
    """
    word, closing = find_closing(pieces)
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


# So many lines must ask, and most of them stand two lines below the one before.
_LEAST_ASKING, _MOST_SPACED = 10, 0.7
_LONGEST_REPLY = 80
_ASKING = re.compile(r"[（(]\s*[)）]|_{2,}|[？?]\s*$")


def _read_alternating(pieces: Sequence[Piece]) -> Outline | None:
    """Questions without options and most without numbers: a line asks, one below it answers."""
    asking = find_asking(pieces)
    numbers = {
        pieces[place].start: (label.end if label is not None and label.style == "num" else 0, count)
        for count, place in enumerate(asking, start=1)
        for label in [pieces[place].label]
    }
    return Outline(numbers=numbers, is_counted=True, is_answered=True, alone=True) if numbers else None


def find_asking(pieces: Sequence[Piece]) -> list[int]:
    """The lines that ask, where one line stands between most of them; else none."""
    asking = [place for place, piece in enumerate(pieces) if _ASKING.search(piece.text) is not None]
    spaced = sum(
        1
        for left, right in pairwise(asking)
        if right == left + 2 and len(pieces[left + 1].text) <= _LONGEST_REPLY
    )
    return asking if len(asking) >= _LEAST_ASKING and spaced >= _MOST_SPACED * (len(asking) - 1) else []


def find_closing(pieces: Sequence[Piece]) -> tuple[str, list[int]]:
    """The word of the answers that lines end with, `正确答案 B`, and these lines, if many."""
    lines = ["" if piece.kind == "table" else piece.text.strip() for piece in pieces]
    own = {place: match["word"] for place, text in enumerate(lines) if (match := _CLOSER.fullmatch(text))}
    words = Counter(own.values())
    usual = words.most_common(1)
    if not usual or usual[0][1] < _LEAST_CLOSED:
        return "", []
    word = usual[0][0]
    # the key may be missing, and the line may hold the last option too
    closer = re.compile(rf"{re.escape(word)}(?:\s*[:：]|\s+|$)\s*(?:[A-Ja-j]{{1,6}}|[√×✓✗对错TF])?$")
    closing = [
        place
        for place, text in enumerate(lines)
        if word in text
        and closer.search(text) is not None
        and (own.get(place, word) == word or words[own[place]] < _LEAST_CLOSED)
    ]
    close = sum(1 for left, right in pairwise(closing) if right == left + 1)
    return (word, closing) if close <= _MOST_CLOSE * len(closing) else ("", [])


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


_Sections = tuple[dict[int, Heading], frozenset[int]]


def _list_sections(
    marks: Sequence[SeriesMark], pieces: Sequence[Piece], heads: Mapping[int, bool]
) -> list[_Sections]:
    """The series whose lines may head sections and do not: headings, rests of titles."""
    found: list[tuple[int, _Sections]] = []
    for family, own in _by_family(marks).items():
        kind = family.strip("().")
        if kind == "A":
            # letters label options, unless each stands before the name of a type
            own = [mark for mark in own if _names_type(pieces[mark.place].text[mark.end :])]
        if kind in ("1", "①") or len(own) < 2:
            continue
        first = 2 if any(place < pieces[own[0].place].start for place in heads) and own[0].value == 2 else 1
        run = _run_up(own, first)
        if len(run) < 2 or any(_floats(mark, pieces) for mark in run):
            continue
        support = 0
        headings: dict[int, Heading] = {}
        titles: set[int] = set()
        for at, mark in enumerate(run):
            last = run[at + 1].place if at + 1 < len(run) else len(pieces)
            heading, is_named = _make_heading(mark, pieces, last, marks)
            support += is_named
            headings[pieces[mark.place].start] = heading
            if mark.end == len(pieces[mark.place].text) and heading.title and not heading.is_question:
                titles.add(pieces[mark.place + 1].start)
        if _stand_alone(run, pieces):
            support = len(run)
        is_new = any(
            place not in heads or heading.is_question not in (None, heads[place])
            for place, heading in headings.items()
        )
        if is_new and support >= 0.5 * len(run):
            found.append((support, (headings, frozenset(titles))))
    found.sort(key=lambda one: -one[0])
    return [sections for _, sections in found[:2]]


_WORTH = re.compile(
    r"\s*(?P<title>[^\W\d][^（(:：.。?？]{1,60}?)\s*[（(][^()（）]{0,20}?\d+\s*(?:分|(?i:points?|pts?|marks?))[^()（）]{0,20}[)）]\s*[:：.]?\s*"
)
_LINES_BELOW = 4


def _find_titled(
    pieces: Sequence[Piece], heads: Mapping[int, bool], marked: Collection[int]
) -> dict[int, Heading]:
    """Titles without a numeral that name what a section is worth, two at least.

    Each stands above numbers that begin at 1.
    """
    found: dict[int, Heading] = {}
    for place, piece in enumerate(pieces):
        is_plain = len(piece.text) <= _LONGEST_TITLE and place not in marked
        match = _WORTH.fullmatch(piece.text) if is_plain else None
        below = (
            [one.label for one in pieces[place + 1 : place + 1 + _LINES_BELOW]] if match is not None else []
        )
        first = next((one for one in below if one is not None), None)
        if match is None or first is None or first.value != 1 or piece.label is not None:
            continue
        title = match["title"]
        fine = find_type_in_title(title)
        found[piece.start] = Heading(
            None, title, fine, read_marks(piece.text), len(piece.text), is_question=False
        )
    is_new = any(start not in heads for start in found)
    return found if len(found) > 1 and is_new else {}


def _floats(mark: SeriesMark, pieces: Sequence[Piece]) -> bool:
    """Whether a box with a title stands below the first line of a question, between 1 and 2.

    Then where it stands tells nothing.
    """
    if not mark.place or "|" not in pieces[mark.place].text[: mark.end]:
        return False
    above = pieces[mark.place - 1].label
    if above is None or above.is_weak or above.value != 1:
        return False
    below = (one.label for one in pieces[mark.place + 1 :])
    following = next((one for one in below if one is not None and one.style == above.style), None)
    return following is not None and following.value == 2


def _stand_alone(run: Sequence[SeriesMark], pieces: Sequence[Piece]) -> bool:
    """Whether every mark of a series is all that stands on its line, and has text below it."""
    return all(mark.end == len(pieces[mark.place].text.rstrip()) for mark in run) and all(
        right - left > 1 for left, right in pairwise([*(mark.place for mark in run), len(pieces)])
    )


def _names_type(text: str) -> bool:
    """Whether a title up to its first bracket or colon is the name of a type."""
    return match_exactly(_TITLE_STOP.split(text.strip(), maxsplit=1)[0].strip()) is not None


_TITLE_STOP = re.compile(r"[（(:：\[]|\s{2,}")


def _run_up(own: Sequence[SeriesMark], first: int) -> list[SeriesMark]:
    """The marks that rise one by one from the first, and may begin again at 1.

    The first is 2 where the one before it was read as a heading in another form.
    """
    run: list[SeriesMark] = []
    for mark in own:
        if mark.value == (run[-1].value + 1 if run else first) or (mark.value == 1 and len(run) > 1):
            run.append(mark)
    return run


def _make_heading(
    mark: SeriesMark, pieces: Sequence[Piece], last: int, marks: Sequence[SeriesMark]
) -> tuple[Heading, bool]:
    """The heading on a line of a series, and whether its text or what follows shows it."""
    piece = pieces[mark.place]
    title = piece.text[mark.end :].strip() or _continue_title(mark, pieces, last)
    known = read_heading(f"一、{title}") if title else None
    first = bisect_right(marks, mark.place, key=lambda one: one.place)
    counting: list[SeriesMark] = []
    for one in islice(marks, first, None):
        if one.place >= last or len(counting) == 2:
            break
        if one.family != mark.family and any(sign in one.family for sign in "1①"):
            counting.append(one)
    lists = len(counting) > 1 and counting[0].value == 1 and counting[1].value in (1, 2)
    if counting and not lists:
        # numbers that run on from the section above
        before = next(
            (
                one
                for one in reversed(marks[max(first - _LOOK_BACK, 0) : first])
                if one.family == counting[0].family
            ),
            None,
        )
        lists = before is not None and counting[0].value == before.value + 1
    announced = read_announcement(title) is not None
    # the line below a numeral may name a type by chance: it is a title where numbers follow
    is_titled = bool(piece.text[mark.end :].strip()) or bool(counting)
    is_list = lists or announced or (is_titled and known is not None and known.fine is not None)
    fine = (
        known.fine
        if known is not None
        else find_type_in_title(title)
        if len(title) <= _LONGEST_TITLE
        else None
    )
    if is_list and fine is None:
        lead = [one.text for one in pieces[mark.place + 1 : min(mark.place + 4, last)] if one.label is None]
        fine = next((found for text in lead if (found := find_type_by_pattern(text[:160]))), None)
    is_long = len(title) > _LONGEST_TITLE
    rest = mark.end if piece.text[mark.end :].strip() and (is_long or not is_list) else len(piece.text)
    style = "part" if mark.family[:1].isalpha() else "cn"
    label = Label(style, mark.value, mark.end, piece.text[: mark.end].rpartition("|")[2].strip())
    # numbers in brackets below a heading without a type may be parts of what stands above them: its own lines tell
    is_told = announced or fine is not None or not is_list or not _counts_parts(counting[0].family)
    heading = Heading(
        label,
        title,
        fine if is_list else None,
        read_marks(title),
        rest,
        is_question=not is_list if is_told else None,
    )
    return heading, is_list or bool(re.search(r"分|points?|marks?", title))


def _counts_parts(family: str) -> bool:
    """Whether marks of a family may as well number the parts of a question: (1), 1), ①."""
    return family.endswith(")") or "①" in family


def _continue_title(mark: SeriesMark, pieces: Sequence[Piece], last: int) -> str:
    """The line below a mark that stands alone, where that line is its title."""
    below = pieces[mark.place + 1] if mark.place + 1 < last else None
    if (
        below is None
        or len(below.text) > _LONGEST_TITLE
        or below.label is not None
        or below.text.rstrip()[-1:] in "?？"
    ):
        return ""
    return below.text.strip()
