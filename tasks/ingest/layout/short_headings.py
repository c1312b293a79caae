"""Headings of sections that a key shortens: `Ex. 2  1b 2c` for `Exercise 2. Choose …`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite

_HEADING = re.compile(r"\s*(?P<word>[^\W\d_]{4,12})\s+(?P<number>\d{1,2})(?!\d)")
_SHORT = re.compile(
    r"\s*(?P<word>[^\W\d_]{1,12})\.?\s?(?P<number>\d{1,2})(?![\d.]\d)\s*[.:：)）]?\s+(?=[（(]?1(?:\s*[.:：)）、=–-](?!\d)|[A-Za-z](?![A-Za-z])|\s.*(?<!\d)2(?!\d)))"
)
_LEAST = 2


def write_short_headings(lines: IndexedLines) -> IndexedLines:
    """Put headings of an answer part, shortened or with answers in their line, above these.

    All sections of the paper are named once more below their last heading, in their order, each before its first number.
    """
    found = [(place, match) for place, match in lines.find(_HEADING, str.isalpha, tables=False).items()]
    changed: dict[int, list[Piece]] = {}
    for word, own in groupby(sorted(found, key=_fold), key=lambda one: one[1]["word"].casefold()):
        heads = sorted(own, key=lambda one: one[0])
        count = _count(heads)
        if count < _LEAST or not all(heads_list(lines, place) for place, _ in heads[:count]):
            continue
        keyed = [
            (place, match)
            for place, match in lines.find(_SHORT, str.isalpha, tables=False).items()
            if place > heads[count - 1][0] and _shortens(match["word"], word)
        ]
        if [int(match["number"]) for _, match in keyed] != [*range(1, count + 1)]:
            continue
        for place, match in keyed:
            piece, full = lines.pieces[place], heads[0][1]["word"]
            head = rewrite(piece.cut(0, match.end()), match.end(), f"{full} {match['number']}")
            changed[place] = [head, piece.cut(match.end())]
    return lines.part(changed)


def _fold(one: tuple[int, re.Match[str]]) -> str:
    return one[1]["word"].casefold()


def _count(heads: Sequence[tuple[int, re.Match[str]]]) -> int:
    """How many headings count from 1 before they begin again."""
    count = 0
    for _, match in heads:
        if int(match["number"]) != count + 1:
            break
        count += 1
    return count


def heads_list(lines: IndexedLines, place: int) -> bool:
    """Whether the next number below a heading is a first one of another style."""
    below = next((label for at, label in lines.numbered.items() if at > place), None)
    own = lines.labels[place]
    return below is not None and below.value == 1 and (own is None or own.style != below.style)


def _shortens(short: str, word: str) -> bool:
    return word.startswith(short.casefold())
