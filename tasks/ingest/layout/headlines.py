"""Questions told by print alone: lines of one look, each above what answers it.

A larger type, a heading of Markdown, a colour, a highlight, an underline or bold print may do so. Titles of articles do as well:
some headlines must ask, or have a line below that opens an answer, or be the numbered questions, and what stands below must
not ask.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.layout.headings import read_heading
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.emphasis import KINDS
from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.grammar import answer_mark, asking, asks_by_topic, begins_asking, may_open_answer
from tasks.ingest.words.labels import KNOWN_NUMBERS
from tasks.ingest.words.signs import ends_with_mark

_LEAST, _LONGEST = 5, 100
_STANDS_OUT, _LARGER = 0.7, 1.0
# Of the headlines so many ask, have text below, open an answer below; of what is below so much may ask or offer.
_LEAST_ASKING, _LEAST_FOLLOWED, _LEAST_MARKED, _MOST_BELOW = 0.33, 0.7, 0.7, 0.3
_LOOKED_BELOW, _LATEST, _EARLY = 3, 0.2, 12
_LEVEL = re.compile(r"\s*(?:>\s*)*(#{1,6})\s+\S")
_STOP = re.compile(r"[.。;；:：,，!！]\s*$|://")
_OPTION = re.compile(r"\s*(?:[（(\[]?[Aa]\s*[)）\].．、:：]|[-*+]?\s*\[.?\])")


@dataclass(frozen=True)
class Headlines:
    """Which lines are questions by their look, by their places.

    `titles` are lines of the same look that head others. `are_numbered`: they are the numbered lines of the paper.
    `are_marked`: a word opens the answer below each, so that what stands above it is asked too.
    """

    asked: tuple[int, ...] = ()
    titles: tuple[int, ...] = ()
    are_numbered: bool = False
    are_marked: bool = False


NO_HEADLINES = Headlines()


def find_headlines(pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int]) -> Headlines:
    """The questions that a paper shows by how it prints their lines; none in most papers."""
    looks = _gather_looks(pieces, lines, starts)
    levels = {look: places for look, places in looks.items() if look not in KINDS}
    larger = {place for places in levels.values() for place in places}
    if len(larger) >= _LEAST:
        # levels whose lines ask are of questions; of others only what closes with a question mark
        asking = {look for look, places in levels.items() if _share_asking(pieces, places) >= _LEAST_ASKING}
        picked = {
            place
            for look, places in levels.items()
            for place in places
            if look in asking or ends_with_mark(pieces[place].text)
        }
        for places in (picked, *_list_largest(levels)):
            found = _judge(pieces, places)
            if found.asked:
                return found
    for kind in KINDS:
        found = _judge(pieces, looks.get(kind, set()))
        if found.asked:
            return found
    return NO_HEADLINES


def find_titles(
    pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int]
) -> dict[int, list[int]]:
    """Titles of one look below which numbers begin at 1, and the numbered lines below each.

    By places; most titles of that look have such numbers, which count whatever form they have: `1 Name …` below one
    title, `1) Name …` below the next.
    """
    found: dict[int, list[int]] = {}
    for places in _list_largest(_gather_looks(pieces, lines, starts)):
        # a title above another one, or above nothing, is none of these
        titles = sorted(place for place in places if pieces[place].label is None and place + 1 not in places)
        own: dict[int, list[int]] = {}
        for title, end in pairwise([*titles, len(pieces)]):
            run: list[int] = []
            for place in range(title + 1, end):
                label = pieces[place].label
                if label is not None and label.style in _COUNTING and label.value == len(run) + 1:
                    run.append(place)
                elif not run:
                    break
            if len(run) > 1:
                own[title] = run
        if len(own) >= max(_LEAST_TITLES, _LEAST_FOLLOWED * len(titles)) and len(own) > len(found):
            found = own
    return found


_COUNTING = (*KNOWN_NUMBERS, "bare")
_LEAST_TITLES, _MOST_LOOKS = 4, 8


def _gather_looks(
    pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int]
) -> dict[str, set[int]]:
    """The places of the short lines of each look."""
    own = [lines[bisect_right(starts, piece.start) - 1] for piece in pieces]
    weights = Counter[float]()
    for line in own:
        weights[line.look.size] += len(line.text)
    usual = max(weights, key=lambda size: weights[size], default=0.0)
    looks: dict[str, set[int]] = {}
    for place, (piece, line) in enumerate(zip(pieces, own, strict=True)):
        if piece.kind == "table" or len(piece.text) > _LONGEST or not any(map(str.isalpha, piece.text)):
            continue
        if piece.label is not None and piece.label.style not in KNOWN_NUMBERS:
            continue
        if _STOP.search(piece.text) and not _asks(piece):
            continue
        for look in _list_looks(line, usual):
            looks.setdefault(look, set()).add(place)
    return looks


def _list_largest(looks: Mapping[str, set[int]]) -> list[set[int]]:
    """The looks that most lines have; a paper has few that say anything."""
    return sorted(looks.values(), key=len, reverse=True)[:_MOST_LOOKS]


def count_asked(lines: Sequence[Piece], headlines: Headlines) -> int:
    """How many lines of a question ask: the first, or all above the one that opens the answer."""
    if not headlines.are_marked:
        return 1
    return next((at for at, line in enumerate(lines) if at and _find_answer(line) >= 0), len(lines))


def cut_answer_mark(lines: Sequence[Piece]) -> Sequence[Piece]:
    """The lines of an answer without what opens it."""
    begin = _find_answer(lines[0])
    rest = [lines[0].cut(begin), *lines[1:]] if begin >= 0 else lines
    return rest if rest[0].text.strip() else rest[1:]


def _list_looks(line: Line, usual: float) -> Iterator[str]:
    level = _LEVEL.match(line.text)
    if level is not None:
        yield level[1]
    if usual and line.look.size >= usual + _LARGER:
        yield f"{line.look.size}"
    length = len(line.text.strip()) - line.label_length
    for kind in KINDS:
        # what stands out in two ways is counted once
        shown = sum(last - first for first, last, own in line.emphasis if own == kind)
        if shown >= _STANDS_OUT * length > 0:
            yield kind


def _asks(piece: Piece) -> bool:
    text = piece.text[piece.label.end if piece.label is not None else 0 :].strip()
    return ends_with_mark(text) or begins_asking(text) or asks_by_topic(text)


def _share_asking(pieces: Sequence[Piece], places: set[int]) -> float:
    asked = [place for place in places if place + 1 not in places]
    return sum(_asks(pieces[place]) for place in asked) / len(asked) if asked else 0.0


def _judge(pieces: Sequence[Piece], places: set[int]) -> Headlines:
    """The lines of one look as questions, if they are."""
    if len(places) < _LEAST:
        return NO_HEADLINES
    ordered = sorted(places)
    titles = [
        place
        for place in ordered
        if place + 1 in places and not _asks(pieces[place]) and not ends_with_mark(pieces[place].text)
    ]
    titled = set(titles)
    asked = [place for place in ordered if place not in titled]
    ends = [*(right for _, right in pairwise(asked)), len(pieces)]
    below = [
        pieces[place + 1 : min(end, place + 1 + _LOOKED_BELOW)]
        for place, end in zip(asked, ends, strict=True)
    ]
    count = len(asked)
    followed = sum(map(bool, below))
    if (
        count < _LEAST
        or followed < _LEAST_FOLLOWED * count
        or ordered[0] > max(_EARLY, _LATEST * len(pieces))
        or sum(_opens_questions(some) for some in below) > _MOST_BELOW * count
        or sum(1 for place in asked if (head := read_heading(pieces[place].text)) and head.fine)
        > _MOST_BELOW * count
    ):
        return NO_HEADLINES
    numbered = sum(1 for place in asked if (label := pieces[place].label) is not None and not label.is_weak)
    share = _share_asking(pieces, places)
    # numbered lines that ask are answered below by rules of their own, or offer something; below titles of
    # which none asks may be tasks
    is_numbered = (
        numbered == followed == count
        and 0 < share <= _MOST_BELOW
        and _explain(pieces, asked, below)
        and sum(_sets_task(some) for some in below) <= _MOST_BELOW * count
    )
    marked = sum(
        any(_find_answer(piece) >= 0 for piece in pieces[place + 1 : end])
        for place, end in zip(asked, ends, strict=True)
    )
    is_marked = marked >= _LEAST_MARKED * count
    if not (is_numbered or is_marked) and (share < _LEAST_ASKING or numbered > _MOST_BELOW * count):
        return NO_HEADLINES
    return Headlines(tuple(asked), tuple(titles), is_numbered, is_marked)


def _explain(pieces: Sequence[Piece], asked: Sequence[int], below: Sequence[Sequence[Piece]]) -> bool:
    """Whether what stands below most titles is longer than they are."""
    longer = sum(
        max(len(one.text) for one in some) > len(pieces[place].text)
        for place, some in zip(asked, below, strict=True)
        if some
    )
    return 2 * longer >= len(asked)


def _sets_task(below: Sequence[Piece]) -> bool:
    """Whether lines below a headline ask for something anywhere: `…, find its speed`."""
    return any(asking().search(piece.text) for piece in below)


def _opens_questions(below: Sequence[Piece]) -> bool:
    """Whether lines below a headline ask or offer something themselves."""
    return any(
        ends_with_mark(piece.text) or begins_asking(piece.text.lstrip()) or _OPTION.match(piece.text)
        for piece in below
    )


def _find_answer(piece: Piece) -> int:
    """Where the text of an answer begins on the line that opens it, -1 on others."""
    mark = answer_mark().match(piece.text) if may_open_answer(piece.text.lstrip()[:1]) else None
    if mark is None or not (mark[1].strip(" *_") or mark.end() >= len(piece.text.rstrip())):
        return -1
    return mark.end()
