"""Headings whose number is a word that nobody listed: `السؤال الأول: …`, `Osa kaksi: …`.

What proves them is the paper: their first word comes again, each time with another second one, and every list of questions
begins at 1 right below one of them.
"""

from __future__ import annotations

import re

from tasks.ingest.layout.pieces import IndexedLines, rewrite

_HEADING = re.compile(r"\s*(?P<word>[^\W\d_]{2,16})\s+(?P<which>[^\W\d_]{2,16})\s*[:：]\s*")
# `السؤال الأول: 1- ب`: answers on the line of the heading
_FIRST = re.compile(r"[（(]?1\s*[-–.、:：)）]")
_LEAST_HEADINGS = 2


def write_worded_headings(lines: IndexedLines) -> IndexedLines:
    """Write `السؤال الأول: …` as `Part 1: …`, where every list of numbers begins below such a line."""
    pieces, labels = lines.pieces, lines.labels
    firsts = [place for place, label in lines.numbered.items() if label.value == 1]
    if len(firsts) < _LEAST_HEADINGS:
        return lines
    heads = {place - 1: _HEADING.match(pieces[place - 1].text) for place in firsts if place}
    words = {match["word"] for match in heads.values() if match is not None}
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
    return lines.replace(
        {
            place: rewrite(pieces[place], match.end(), f"Part {numbers[match['which']]}: ")
            for place, match in found.items()
        }
    )
