"""Numbers of formulas, which count no questions: `(4)` on a line below `E = mc²      (3)`."""

from __future__ import annotations

from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.layout.pieces import IndexedLines

_ALONE = re.compile(r"\s*[（(](\d{1,2})[)）]\s*")
_BEHIND = re.compile(r"\s{3}[（(](\d{1,2})[)）]\s*$")
_LEAST = 3


def drop_equation_numbers(lines: IndexedLines) -> IndexedLines:
    """Take the labels from lines that are the number of a formula alone.

    Told by formulas of the paper that end with their number: those and the lone ones count on from each other.
    """
    alone = lines.find(_ALONE, "（(", tables=False)
    found = {
        place: int(match[1]) for place, match in alone.items() if match.end() == len(lines.pieces[place].text)
    }
    if not found:
        return lines
    closing = {
        place: int(match[1])
        for place, piece in enumerate(lines.pieces)
        if "=" in piece.text
        and (match := _BEHIND.search(piece.text)) is not None
        and piece.text.index("=") < match.start()
    }
    numbers = [value for _, value in sorted((found | closing).items())]
    counts = all(right == left + 1 for left, right in pairwise(numbers))
    if not closing or len(numbers) < _LEAST or not counts:
        return lines
    return lines.replace({place: lines.pieces[place].with_label(None) for place in found})
