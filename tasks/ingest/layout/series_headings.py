"""The lines of a series as headings of sections.

Which series may head them, and what each of its lines says.

A series may head sections where the numbers of another start again below its lines, or its lines name types or announce
counts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from tasks.ingest.layout.announcements import read_announcement
from tasks.ingest.layout.headings import Heading, read_heading, read_marks
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import SeriesMark, by_family, run_up
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import find_type_by_pattern, find_type_in_title, match_exactly

_LONGEST_TITLE, _LOOK_BACK = 90, 60

Sections = tuple[dict[int, Heading], frozenset[int]]


def list_sections(
    marks: Sequence[SeriesMark], pieces: Sequence[Piece], heads: Mapping[int, bool]
) -> list[Sections]:
    """The series whose lines may head sections and do not: headings, rests of titles."""
    found: list[tuple[int, Sections]] = []
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
        titles: set[int] = set()
        for at, mark in enumerate(run):
            last = run[at + 1].place if at + 1 < len(run) else len(pieces)
            heading, is_named = make_heading(mark, pieces, last, marks)
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
    return [one for _, sections in found[:2] for one in (*_count_alike(sections[0], pieces), sections)]


def _count_alike(headings: Mapping[int, Heading], pieces: Sequence[Piece]) -> list[Sections]:
    """The headings as questions where most of them are questions by themselves.

    `三、设……` beside `四、（14分）` above two numbered lines, or above a line of its own and then these: they are its parts.
    """
    own_text = {one.start for one, below in pairwise(pieces) if below.label is None}
    lists = {
        start
        for start, one in headings.items()
        if one.is_question is False and one.fine is None and (one.marks is not None or start in own_text)
    }
    if not lists or sum(1 for one in headings.values() if one.is_question) < len(lists):
        return []
    counted = {
        start: replace(one, is_question=True, rest=one.label.end if one.label is not None else one.rest)
        if start in lists
        else one
        for start, one in headings.items()
    }
    return [(counted, frozenset())]


_WORTH = re.compile(
    r"\s*(?P<title>[^\W\d][^（(:：.。?？]{1,60}?)\s*[（(][^()（）]{0,20}?\d+\s*(?:分|(?i:points?|pts?|marks?))[^()（）]{0,20}[)）]\s*[:：.]?\s*"
)
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
        read_marks(title),
        rest,
        is_question=not is_list if is_told else None,
    )
    return heading, is_list or bool(re.search(r"分|points?|marks?", title))


def _counts_parts(family: str) -> bool:
    """Whether marks of a family may as well number the parts of a question: (1), 1), ①."""
    return family.endswith(")") or "①" in family
