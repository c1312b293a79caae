"""Words that nobody listed before the number of a question, or for that of a heading.

`ΕΡΩΤΗΣΗ 1`, `السؤال الأول: …`: what proves them is the paper. The word comes again, each time with the next number, where
nothing else counts; or each time with another second word, where every list of questions begins at 1 right below one of them.
"""

from __future__ import annotations

from collections import defaultdict

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.layout.sections import OPTION_A
from tasks.ingest.words.grammar import asking, not_counting
from tasks.ingest.words.signs import ends_asking

_NUMBERED = re.compile(
    r"\s*(?P<word>[^\W\d_][^\s\d.:：;,()（）\[\]_/–—-]{1,13})\.?\s+(?:[№#º°]\s?)?(?P<number>\d{1,3})(?![\d%‰°]|[.,:/]\d)"
    r"(?:\s*[.．:：)）\]–—-]{1,2}\s*|\s*$)"
)
# So many numbers must run on without a gap, and so many of them ask by a sign or offer options.
_LEAST_NUMBERED, _MOST_ASKING = 4, 0.6


def write_worded_numbers(lines: IndexedLines) -> IndexedLines:
    """Write `ΕΡΩΤΗΣΗ 1`, `Swali 2: …` as `1. `, `2. `, where one word alone counts from 1.

    Captions and days count as well: what is asked stands below the numbers, and nothing above the first of them.
    """
    pieces = lines.pieces
    if len(lines.numbered) > 2 or any(_asks(pieces[place]) for place in lines.numbered):
        return lines
    found: dict[str, list[tuple[int, re.Match[str]]]] = defaultdict(list)
    for place, piece in enumerate(pieces):
        match = _NUMBERED.match(piece.text) if piece.kind == "body" and lines.labels[place] is None else None
        if match is not None and match["word"].casefold() not in not_counting():
            found[match["word"].casefold()].append((place, match))
    for own in found.values():
        places = [place for place, _ in own]
        if (
            len(own) < _LEAST_NUMBERED
            or [int(match["number"]) for _, match in own] != [*range(1, len(own) + 1)]
            or any(map(_asks, pieces[: places[0]]))
        ):
            continue
        ends = [*places[1:], len(pieces)]
        asking = sum(any(map(_asks, pieces[place:end])) for place, end in zip(places, ends, strict=True))
        if asking >= _MOST_ASKING * len(own):
            return lines.write(dict(own), lambda match: f"{int(match['number'])}. ")
    return lines


def _asks(piece: Piece) -> bool:
    """Whether a line ends with what asks, as in a story it does not, or offers an option."""
    return ends_asking(piece.text) or OPTION_A.match(piece.text) is not None


_OFFERED = re.compile(
    r"\s*(?P<word>[^\W\d_]{3,12})\s*(?P<which>[1-8](?!\d)|[A-H](?![^\W_]))\s*[:：.．)）]\s*(?=\S)"
)
_SAID = re.compile(r"[:：]\s*(?P<key>(?P<word>[^\W\d_]{3,12})\s*(?P<which>[1-8A-H]))\s*[.。]?\s*$")
_LEAST_LISTS, _MOST_LISTS = 3, 0.7


def write_worded_options(lines: IndexedLines) -> IndexedLines:
    """Write `Option 1: hen` as `A. hen` and `Answer: Option 1` as `Answer: A`.

    The word counts from 1 again below most questions, and the answers name it.
    """
    pieces = lines.pieces
    offered: dict[str, list[tuple[int, re.Match[str]]]] = defaultdict(list)
    said: dict[str, list[tuple[int, re.Match[str]]]] = defaultdict(list)
    for place, piece in enumerate(pieces):
        if (match := _OFFERED.match(piece.text)) is not None and piece.kind == "body":
            offered[match["word"].casefold()].append((place, match))
        elif (match := _SAID.search(piece.text)) is not None:
            said[match["word"].casefold()].append((place, match))
    for word, own in offered.items():
        lists = sum(_read_which(match) == 1 for _, match in own)
        if lists < _LEAST_LISTS or len(said[word]) < _MOST_LISTS * lists:
            continue
        values = [(_read_which(match), place) for place, match in own]
        if any(
            value > 1 and (value - 1, place - 1) != before
            for before, (value, place) in zip([(0, -1), *values], values, strict=False)
        ):
            continue
        changed = {
            place: rewrite(pieces[place], match.end(), f"{_LETTERS[_read_which(match) - 1]}. ")
            for place, match in own
        }
        changed |= {
            place: rewrite(
                pieces[place], match.end("key"), _LETTERS[_read_which(match) - 1], match.start("key")
            )
            for place, match in said[word]
        }
        return lines.replace(changed)
    return lines


_LETTERS = "ABCDEFGH"


def _read_which(match: re.Match[str]) -> int:
    which = match["which"]
    return int(which) if which.isdecimal() else _LETTERS.index(which) + 1


_HEADING = re.compile(r"\s*(?P<word>[^\W\d_]{2,16})\s+(?P<which>[^\W\d_]{2,16})\s*[:：]\s*")
# `السؤال الأول: 1- ب`: answers on the line of the heading
_FIRST = re.compile(r"[（(]?1\s*[-–.、:：)）]")
_LEAST_HEADINGS = 2


def write_worded_headings(lines: IndexedLines) -> IndexedLines:
    """Write `السؤال الأول: …` as `Part 1: …`, where every list begins below such a line."""
    pieces, labels = lines.pieces, lines.labels
    firsts = [place for place, label in lines.numbered.items() if label.value == 1]
    if len(firsts) < _LEAST_HEADINGS:
        return lines
    heads = {place - 1: _HEADING.match(pieces[place - 1].text) for place in firsts if place}
    words = {match["word"] for match in heads.values() if match is not None}
    said = [(pieces[place], match) for place, match in heads.items() if match is not None]
    if all(match.end() == len(piece.text) for piece, match in said) or any(
        asking().search(match[0]) for _, match in said
    ):
        return lines  # `Translate words:` says how to answer and would be lost
    if None in heads.values() or len(heads) < len(firsts) or len(words) != 1:
        return lines
    word = words.pop()
    numbers: dict[str, int] = {}
    found: dict[int, re.Match[str]] = {}
    for place, piece in enumerate(pieces):
        match = _HEADING.match(piece.text) if labels[place] is None and piece.kind == "body" else None
        if match is None or match["word"] != word:
            continue
        if place in heads or match["which"] in numbers or _FIRST.match(piece.text, match.end()):
            numbers.setdefault(match["which"], len(numbers) + 1)
            found[place] = match
    if len(numbers) < _LEAST_HEADINGS or any(place not in found for place in heads):
        return lines
    return lines.write(found, lambda match: f"Part {numbers[match['which']]}: ")
