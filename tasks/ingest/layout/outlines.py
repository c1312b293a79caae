"""Further readings of a paper: which of its marks head sections, and which count questions.

A series of marks may head sections, where the numbers of another start again below its lines or these name types or
announce counts, or it counts questions where it runs through the paper; each such reading is an outline, which the
contracts of the paper judge.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from schemas import patterns as re
from tasks.ingest.layout.announcements import read_announcement, read_each
from tasks.ingest.layout.headings import Heading, read_heading
from tasks.ingest.layout.headlines import Headlines
from tasks.ingest.layout.pieces import PASSAGE, Piece, rewrite
from tasks.ingest.layout.series import (
    MIN_RUN,
    TASKS_EACH,
    Repeated,
    SeriesMark,
    by_family,
    find_chain,
    run_up,
)
from tasks.ingest.words.answers import match_answer
from tasks.ingest.words.labels import KNOWN_NUMBERS, Label, is_sure
from tasks.ingest.words.lexicon import find_type_by_pattern, find_type_in_title, match_exactly
from tasks.ingest.words.points import COUNTS, POINTS
from tasks.ingest.words.signs import ends_asking, ends_with_mark

# the family of questions that are told by asking alone
ASKING = "asking"
_LONGEST_GAP = 30
_LEAST_CHAIN = 4
_LONGEST_COUNTER, _LEAST_COUNTERS = 16, 5


@dataclass(frozen=True)
class Outline:
    """What marks sections and questions in one reading, by the offsets of lines in the raw text.

    `headings` are lines that head sections; `alone` says that no others do. `numbers` are the marks of questions: the
    index at which each ends on its line, and its value. `hidden` are numbered lines that count nothing. `family` names the marks for a person.
    `dropped` are lines that a program printed between questions. `is_counted`: the questions have no numbers, those of `numbers`
    only count them, and no other numbered line begins one.
    `given`: the numbers count questions wherever they lead, and head no section. `passages` are numbered lines that open what
    the questions below them are about. `answers_below`: what stands below what is asked answers it.
    """

    headings: Mapping[int, Heading] = field(default_factory=dict)
    numbers: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()
    alone: bool = False
    family: str = ""
    dropped: frozenset[int] = frozenset()
    is_counted: bool = False
    given: bool = False
    passages: frozenset[int] = frozenset()
    answers_below: bool = False

    def label(self, pieces: Sequence[Piece]) -> list[Piece]:
        """The lines with the labels that they have in this reading; their text stays as it is."""
        return [self._label(piece) for piece in pieces if piece.start not in self.dropped]

    def _label(self, piece: Piece) -> Piece:
        if piece.start in self.headings:
            return replace(piece, kind="body")
        if piece.start in self.hidden:
            return piece.with_label(None)
        if piece.start in self.passages:
            return rewrite(piece, piece.label.end if piece.label is not None else 0, PASSAGE).with_label(None)
        mark = self.numbers.get(piece.start)
        label = piece.label
        if mark is not None:
            if not self.given and is_sure(label, ("num",)) and label.value == mark[1]:
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
    asked: Sequence[int] = (),
) -> Iterator[Outline]:
    """Other readings that the marks of a paper allow, the likeliest first.

    `repeated` is what repeats in the lines, `starts` are the places of the questions that the first reading found, `heads` those of its headings, `asked` the lines that
    print shows to be questions.
    """
    marks = repeated.marks
    numberings = _list_numberings(marks, pieces, starts)
    outlines: list[Outline] = []
    counted = _read_closed(pieces, *repeated.closing, frozenset(asked))
    if counted is not None and len(counted.numbers) > len(starts):
        yield counted
    if len(repeated.tasks) >= max(MIN_RUN, TASKS_EACH * len(starts)):
        yield _count_tasks(pieces, repeated.tasks)
    if len(repeated.asking) > len(starts):
        begins = [_find_begin(pieces, place) for place in repeated.asking]
        yield replace(_count_tasks(pieces, begins), answers_below=True, family=ASKING)
    lists = find_lists(pieces)
    if len(lists) >= max(_LEAST_LISTS, len(starts) + 1):
        yield _count_lists(pieces, lists)
    titled = find_titled(pieces, heads, {mark.place for mark in marks})
    if titled:
        outlines.append(Outline(titled))
    for headings in list_sections(marks, pieces, heads):
        outlines.append(Outline(headings))
        if has_others:
            outlines.append(Outline(headings, alone=True))
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


def _list_numberings(
    marks: Sequence[SeriesMark], pieces: Sequence[Piece], starts: Collection[int]
) -> list[tuple[str, dict[int, tuple[int, int]]]]:
    """The families of marks that may count questions and did not, those that run furthest first."""
    found: list[tuple[int, str, dict[int, tuple[int, int]]]] = []
    for family, own in by_family(marks).items():
        if not any(sign in family for sign in "1①") and not (family.startswith("一") and "(" in family):
            continue
        steps = sum(right.value == left.value + 1 for left, right in pairwise(own))
        if len(own) < 2 or steps < 0.5 * (len(own) - 1):
            continue
        numbers = {pieces[mark.place].start: (mark.end, mark.value) for mark in own}
        numbers |= _fill_gaps(own, pieces)
        fresh = sum(1 for start in numbers if start not in starts)
        if len(numbers) >= MIN_RUN and (fresh >= 2 or (fresh and len(numbers) > len(own))):
            found.append((steps, family, numbers))
    found.sort(key=lambda one: -one[0])
    return [(family, numbers) for _, family, numbers in found[:2]]


def count_on(pieces: Sequence[Piece], repeated: Repeated, starts: Collection[int]) -> list[Outline]:
    """The reading in which numbers count on, whatever stands before and behind them."""
    chain = find_chain(repeated.marks)
    numbers = {pieces[mark.place].start: (mark.end, mark.value) for mark in chain}
    is_mixed = len({mark.family for mark in chain}) > 1 and len(numbers) >= _LEAST_CHAIN
    return [Outline(numbers=numbers, family="count")] if is_mixed and set(numbers) - set(starts) else []


def _read_closed(
    pieces: Sequence[Piece], word: str, closing: Sequence[int], asked: Collection[int]
) -> Outline | None:
    """Questions without numbers, each of which ends with its answer; the next one follows it.

    What closes them is told by repetition: a word and one key after it, at the end of many lines.
    """
    if not closing:
        return None
    lines = [piece.text.strip() for piece in pieces]
    counters = _find_counters(lines)
    numbers: dict[int, tuple[int, int]] = {}
    begin = 0
    for place in closing:
        while begin in counters:
            begin += 1
        if not numbers or not _KEYED.search(lines[begin - 1]):
            # an answer in words may have further lines: the next question begins where one asks, if any does
            begin = next((at for at in range(begin, place) if ends_with_mark(lines[at])), begin)
        # or with the line that print shows to be a question
        begin = next((at for at in range(begin, place) if at in asked), begin)
        if begin < place:
            numbers[pieces[begin].start] = (0, len(numbers) + 1)
        begin = place + 1
    dropped = frozenset(pieces[place].start for place in counters)
    return Outline(numbers=numbers, dropped=dropped, is_counted=True, alone=True, family=word)


def head_by_print(pieces: Sequence[Piece], headlines: Headlines) -> Outline:
    """Questions that the print of their lines shows, below titles printed alike."""
    counted = _count_tasks(pieces, headlines.asked)
    return replace(counted, headings=_head(pieces, headlines.titles), family="print", answers_below=True)


def head_by_titles(pieces: Sequence[Piece], titles: Mapping[int, Sequence[int]]) -> Outline:
    """Sections below titles that print alone shows, and the numbers that begin at 1 below each."""
    numbers: dict[int, tuple[int, int]] = {}
    for run in titles.values():
        for label, place in ((pieces[place].label, place) for place in run):
            if label is not None:
                numbers[pieces[place].start] = (label.end, label.value)
    return Outline(_head(pieces, titles), numbers=numbers, alone=True, given=True, family="titles")


def _head(pieces: Sequence[Piece], places: Collection[int]) -> dict[int, Heading]:
    """Lines as titles of sections, whatever they say."""
    return {
        pieces[place].start: Heading(None, text, find_type_in_title(text), None, len(text), is_question=False)
        for place in places
        if (text := pieces[place].text)
    }


def _count_tasks(pieces: Sequence[Piece], tasks: Sequence[int]) -> Outline:
    """Questions without numbers, each of which is a line that sets a task."""
    numbers = {
        pieces[place].start: (label.end if (label := pieces[place].label) is not None else 0, value)
        for value, place in enumerate(tasks, start=1)
    }
    return Outline(numbers=numbers, is_counted=True, alone=True, family="tasks")


_OPTION = re.compile(r"\s*[（(\[]?(?P<letter>[A-Ha-h])(?:\s*[)）\].．、:：]\s*|\s{2,}|\t)(?=\S)")
_MOST_BETWEEN_OPTIONS, _LEAST_LISTS = 3, 5


def find_lists(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Where lists of options with a line to each begin, and the places behind them."""
    letters = {
        place: match["letter"].upper()
        for place, piece in enumerate(pieces)
        if piece.kind != "table" and (match := _OPTION.match(piece.text)) is not None
    }
    found: list[tuple[int, int]] = []
    run: list[int] = []
    for place, letter in letters.items():
        if run and letter == chr(ord("A") + len(run)) and place - run[-1] <= _MOST_BETWEEN_OPTIONS:
            run.append(place)
            continue
        if len(run) > 1:
            found.append((run[0], run[-1] + 1))
        run = [place] if letter == "A" else []
    return [*found, (run[0], run[-1] + 1)] if len(run) > 1 else found


# what stands before the number of a question, and what alone on its line is one
_ALONE = re.compile(r"\s*(?:[^\W\d_]{1,10}\s*)?[（(]?\d{1,3}\s?[.．、:：)）]?\s*")


def _count_lists(pieces: Sequence[Piece], lists: Sequence[tuple[int, int]]) -> Outline:
    """Each list of options ends a question.

    It begins at a number, behind an answer, a heading or the list above.
    """
    numbers: dict[int, tuple[int, int]] = {}
    behind = 0
    for first, end in lists:
        begin, cut = behind, 0
        for at in range(behind, first):
            text, label = pieces[at].text, pieces[at].label
            alone = _ALONE.fullmatch(text)
            if alone is not None or (label is not None and label.style in _LIST_NUMBERS):
                begin, cut = at, len(text) if label is None else label.end
            elif match_answer(text) is not None or read_heading(text) is not None:
                begin, cut = at + 1, 0
        if begin < first:
            numbers[pieces[begin].start] = (cut, len(numbers) + 1)
        behind = end
    return Outline(numbers=numbers, is_counted=True, alone=True, family="lists")


_LIST_NUMBERS = (*KNOWN_NUMBERS, "bare")
_MOST_WRAPPED = 3


def _find_begin(pieces: Sequence[Piece], place: int) -> int:
    """Where a question begins that a line asks: at a number near above, where no other asks."""
    for at in range(place, max(place - _MOST_WRAPPED, -1), -1):
        if at < place and ends_asking(pieces[at].text):
            break
        label = pieces[at].label
        if label is not None and label.style in KNOWN_NUMBERS:  # `2.1938年` may be one, too
            return at
    return place


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
_KEYED = re.compile(r"(?:[\s:：]|^)(?:[A-Ja-j]{1,6}|[√×✓✗对错TF])\s*$")
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


_LONGEST_TITLE, _LOOK_BACK = 90, 60


def list_sections(
    marks: Sequence[SeriesMark], pieces: Sequence[Piece], heads: Mapping[int, bool]
) -> list[dict[int, Heading]]:
    """The headings of the series whose lines may head sections and do not."""
    found: list[tuple[int, dict[int, Heading]]] = []
    for family, own in by_family(marks).items():
        kind = family.strip("().")
        if kind == "A":
            # letters label options, unless each stands before the name of a type
            own = [mark for mark in own if _names_type(pieces[mark.place].text[mark.end :])]
        if kind in ("1", "①") or len(own) < 2:
            continue
        first = 2 if any(place < pieces[own[0].place].start for place in heads) and own[0].value == 2 else 1
        run = run_up(own, first)
        if len(run) < 2:
            continue
        support = 0
        headings: dict[int, Heading] = {}
        for at, mark in enumerate(run):
            last = run[at + 1].place if at + 1 < len(run) else len(pieces)
            heading, is_named = make_heading(mark, pieces, last, marks)
            support += is_named
            headings[pieces[mark.place].start] = heading
        if _stand_alone(run, pieces):
            support = len(run)
        is_new = any(
            place not in heads or heading.is_question not in (None, heads[place])
            for place, heading in headings.items()
        )
        if is_new and support >= 0.5 * len(run):
            found.append((support, headings))
    found.sort(key=lambda one: -one[0])
    return [one for _, headings in found[:2] for one in (*_count_alike(headings, pieces), headings)]


def _count_alike(headings: Mapping[int, Heading], pieces: Sequence[Piece]) -> list[dict[int, Heading]]:
    """The headings as questions where most of them are questions by themselves.

    `三、设……` beside `四、（14分）` above two numbered lines, or above a line of its own and then these: they are its parts.
    """
    own_text = {one.start for one, below in pairwise(pieces) if below.label is None}
    lists = {
        start
        for start, one in headings.items()
        if one.is_question is False
        and one.fine is None
        and (one.marks is not None or start in own_text)
        and read_announcement(one.title) is None
    }
    if not lists or sum(1 for one in headings.values() if one.is_question) < len(lists):
        return []
    counted = {
        start: replace(one, is_question=True, rest=one.label.end if one.label is not None else one.rest)
        if start in lists
        else one
        for start, one in headings.items()
    }
    return [counted]


_COUNTED_TITLE = re.compile(rf"\s*(?P<title>[^\W\d][^（(:：.。?？]{{1,60}}?)\s*{COUNTS}\s*[:：.]?\s*")
_LINES_BELOW = 4


def find_titled(
    pieces: Sequence[Piece], heads: Mapping[int, bool], marked: Collection[int]
) -> dict[int, Heading]:
    """Titles without a numeral that name what a section is worth, two at least.

    Each stands above numbers that begin at 1.
    """
    found: dict[int, Heading] = {}
    for place, piece in enumerate(pieces):
        is_plain = len(piece.text) <= _LONGEST_TITLE and place not in marked
        match = _COUNTED_TITLE.fullmatch(piece.text) if is_plain else None
        below = (
            [one.label for one in pieces[place + 1 : place + 1 + _LINES_BELOW]] if match is not None else []
        )
        first = next((one for one in below if one is not None), None)
        if match is None or first is None or first.value != 1 or piece.label is not None:
            continue
        title = match["title"]
        fine = find_type_in_title(title)
        found[piece.start] = Heading(
            None, title, fine, read_each(piece.text), len(piece.text), is_question=False
        )
    is_new = any(start not in heads for start in found)
    return found if len(found) > 1 and is_new else {}


def _stand_alone(run: Sequence[SeriesMark], pieces: Sequence[Piece]) -> bool:
    """Whether every mark of a series is all that stands on its line, and has text below it."""
    return all(mark.end == len(pieces[mark.place].text.rstrip()) for mark in run) and all(
        right - left > 1 for left, right in pairwise([*(mark.place for mark in run), len(pieces)])
    )


def _names_type(text: str) -> bool:
    """Whether a title up to its first bracket or colon is the name of a type."""
    return match_exactly(_TITLE_STOP.split(text.strip(), maxsplit=1)[0].strip()) is not None


_TITLE_STOP = re.compile(r"[（(:：\[]|\s{2,}")


def make_heading(
    mark: SeriesMark, pieces: Sequence[Piece], last: int, marks: Sequence[SeriesMark]
) -> tuple[Heading, bool]:
    """The heading on a line of a series, and whether its text or what follows shows it."""
    piece = pieces[mark.place]
    title = piece.text[mark.end :].strip()
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
        read_each(title),
        rest,
        is_question=not is_list if is_told else None,
    )
    return heading, is_list or bool(re.search(POINTS, title))


def _counts_parts(family: str) -> bool:
    """Whether marks of a family may as well number the parts of a question: (1), 1), ①."""
    return family.endswith(")") or "①" in family
