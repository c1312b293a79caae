"""Two columns to be matched: numbered lines, beside each of which stands the next letter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tasks.ingest.layout.pieces import SHARED_OPTIONS, IndexedLines, Piece
from tasks.ingest.words.labels import KNOWN_NUMBERS, Label, parse_label

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
        if len(items) >= _LEAST_ROWS and _is_part(items[0]):
            if kept:
                kept[-1] = replace(kept[-1], wraps=False)
            kept += [*items, *options]  # of one question, which offers them to all its items
            place = end
        elif len(items) >= _LEAST_ROWS:
            first, last = items[0].label, items[-1].label
            lead = f"{first.value}～{last.value}{SHARED_OPTIONS}" if first and last else ""
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
    first = _read_label(lines.pieces[begin])
    if first is None or first.is_weak or first.style not in (*KNOWN_NUMBERS, *_PARTS):
        return items, options, begin
    place = begin
    for place in range(begin, len(lines.pieces)):
        piece, label = lines.pieces[place], _read_label(lines.pieces[place])
        if options and label is None and _runs_on(options[-1], piece):
            options[-1] = _join(options[-1], piece)
            continue
        beside = [*BESIDE.finditer(piece.text)]  # a second letter is an option of the same question
        if len(beside) != 1 or ord(beside[0]["letter"].upper()) != ord("A") + len(options):
            break
        left = piece.text[: beside[0].start()]
        is_next = label is not None and (label.style, label.value) == (first.style, first.value + len(items))
        if is_next and len(items) == len(options) and label is not None and left[label.end :].strip():
            begin_at = len(left) - len(left.lstrip(" _"))
            items.append(replace(piece.cut(begin_at, len(left)), kind="body"))
        elif left.strip(" |_"):
            break
        options.append(replace(piece.cut(beside[0].end()), kind="body"))
    else:
        place = len(lines.pieces)
    return items, options, place


# what numbers the items within one question
_PARTS = ("romanp", "romanl", "letterp")
_PLACE = re.compile(r"\s*_+\s*")


def _read_label(piece: Piece) -> Label | None:
    """The number of an item; the place for its letter may stand before it: `____ (i) lamp`."""
    if piece.label is not None or not piece.text.lstrip().startswith("_"):
        return piece.label
    lead = _PLACE.match(piece.text)
    label = parse_label(piece.text[lead.end() :]) if lead is not None else None
    return label._replace(end=label.end + lead.end()) if lead is not None and label is not None else None


def _is_part(item: Piece) -> bool:
    return item.label is not None and item.label.style in _PARTS


def lists_items(texts: Sequence[str]) -> bool:
    """Whether lines number the items of one question, which letters are to be given to."""
    labels = [parse_label(text) for text in texts]
    items = [label.value for label in labels if label is not None and label.style in _PARTS]
    return len(items) >= _LEAST_ROWS and items == [*range(1, len(items) + 1)]


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
