"""Two columns to be matched: numbered lines, beside each of which stands the next letter."""

from __future__ import annotations

import re
from dataclasses import replace

from tasks.ingest.layout.pieces import IndexedLines, Piece
from tasks.ingest.words.labels import KNOWN_NUMBERS

# a bar between cells, a tab or a wide gap, and the letter behind it
BESIDE = re.compile(r"(?:^|\s*\|\s*|\t\s*|\s{3,})(?=[（(]?(?P<letter>[A-Za-z])\s*[)）.．、:：]\s*\S)")
_LEAST_ROWS = 3


def write_matching(lines: IndexedLines) -> IndexedLines:
    """Part `9. lamp | A. gives light` into the options that the numbers share, and these."""
    if not any(label is not None and label.value > 1 for label in lines.labels):
        return lines
    kept: list[Piece] = []
    place = 0
    while place < len(lines.pieces):
        items, options, end = _read_rows(lines, place)
        if len(items) >= _LEAST_ROWS:
            first, last = items[0].label, items[-1].label
            lead = f"{first.value}～{last.value}题共用备选答案" if first and last else ""
            head = items[0]
            kept.append(replace(head, text=lead, sources=(head.start,) * len(lead), label_length=0))
            kept += [*options, *items]
            place = end
        else:
            kept.append(lines.pieces[place])
            place += 1
    return lines if len(kept) == len(lines.pieces) else IndexedLines(kept)


def _read_rows(lines: IndexedLines, begin: int) -> tuple[list[Piece], list[Piece], int]:
    """The numbered items and the lettered options of rows from a line on, and where they end."""
    items: list[Piece] = []
    options: list[Piece] = []
    first = lines.labels[begin]
    if first is None or first.is_weak or first.style not in KNOWN_NUMBERS:
        return items, options, begin
    place = begin
    for place in range(begin, len(lines.pieces)):
        piece, label = lines.pieces[place], lines.labels[place]
        if options and label is None and _runs_on(options[-1], piece):
            options[-1] = _join(options[-1], piece)
            continue
        beside = [*BESIDE.finditer(piece.text)]  # a second letter is an option of the same question
        if len(beside) != 1 or ord(beside[0]["letter"].upper()) != ord("A") + len(options):
            break
        left = piece.text[: beside[0].start()]
        is_next = label is not None and (label.style, label.value) == (first.style, first.value + len(items))
        if is_next and len(items) == len(options) and label is not None and left[label.end :].strip():
            items.append(replace(piece.cut(0, len(left)), kind="body"))
        elif left.strip(" |_"):
            break
        options.append(replace(piece.cut(beside[0].end()), kind="body"))
    else:
        place = len(lines.pieces)
    return items, options, place


def _runs_on(option: Piece, piece: Piece) -> bool:
    """Whether a line goes on with the sentence of the option above it."""
    text = piece.text.strip()
    return (
        piece.kind == "body"
        and text[:1].islower()
        and option.text.rstrip()[-1:] not in (".", "。", ";", "；")
        and BESIDE.search(piece.text) is None
    )


def _join(option: Piece, piece: Piece) -> Piece:
    body = f"{option.text.rstrip()} "
    sources = (*option.sources[: len(body) - 1], piece.start, *piece.sources)
    return replace(option, text=f"{body}{piece.text}", sources=sources, end=piece.end, wraps=piece.wraps)
