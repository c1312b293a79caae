"""A question's number before a number, which looks like one of a chapter: `6.20 世纪 60 年代`."""

from __future__ import annotations

from collections import Counter

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines, Piece
from tasks.ingest.words.labels import Label, counts_questions

_NUMBERED = re.compile(r"\s*((\d{1,2})[.．])(?=[1-9]\d?\s)")


def part_lone_chapters(lines: IndexedLines) -> IndexedLines:
    """Take the first number alone for a question's where questions count through it.

    Nothing else may be of the chapter.
    """
    found = {
        place: match
        for place, match in lines.find(_NUMBERED, str.isdecimal, tables=False).items()
        if (label := lines.pieces[place].label) is not None and label.style == "sub"
    }
    chapters = Counter(match[2] for match in found.values())
    changed: dict[int, Piece] = {}
    for place, match in found.items():
        if chapters[match[2]] > 1:
            continue
        value = int(match[2])
        above = (changed.get(at, lines.pieces[at]).label for at in range(place - 1, -1, -1))
        below = (lines.pieces[at].label for at in range(place + 1, len(lines.pieces)) if at not in found)
        last, following = (next(filter(counts_questions, labels), None) for labels in (above, below))
        is_next = last is not None and (last.style, last.value) == ("num", value - 1)
        if is_next and (following is None or following.value != value):
            label = Label("num", value, match.end(), match[1], is_weak=True)
            changed[place] = lines.pieces[place].with_label(label)
    return lines.replace(changed)
