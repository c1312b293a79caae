"""What several questions choose from: a second column beside their numbers, or a box of words above them."""

from __future__ import annotations

import re
from dataclasses import replace

from tasks.ingest.layout.headings import INSTRUCTION, SHARES, STRONG_STYLES, read_heading
from tasks.ingest.layout.options import offers_options_in, option_text, split_options
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.words.labels import KNOWN_NUMBERS, Label

# a bar between cells, a tab or a wide gap, and the letter behind it
_BESIDE = re.compile(r"(?:^|\s*\|\s*|\t\s*|\s{3,})(?=[（(]?(?P<letter>[A-Za-z])\s*[)）.．、:：]\s*\S)")
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
            first, last = (lines.labels[one] for one in (place, place + len(items) - 1))
            kept += [*([_lead(items[0], first, last)] if first and last else []), *options, *items]
            place = end
        else:
            kept.append(lines.pieces[place])
            place += 1
    return lines if len(kept) == len(lines.pieces) else IndexedLines(kept)


def _lead(head: Piece, first: Label, last: Label) -> Piece:
    """A line, at the place of another, that says which questions share the options below it."""
    text = f"{first.value}～{last.value}题共用备选答案"
    return replace(
        head, text=text, sources=(head.start,) * len(text), label_length=0, kind="body", wraps=False
    )


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
        beside = [*_BESIDE.finditer(piece.text)]  # a second letter is an option of the same question
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


# the lines of a box, of a question below it, and those above it that may say what it is for; the longest word or sentence in it
_MOST_LINES, _MOST_OF_ITEM, _LINES_ABOVE, _LONGEST_OFFERED = 14, 3, 3, 90
_PLACE = re.compile(r"_{2,}|[（(\[【]\s*[)）\]】]")
_MATCHES = re.compile(r"(?i)\bmatch\b|配对|匹配|连线|连一连|搭配")


def write_banks(lines: IndexedLines) -> IndexedLines:
    """Say of a box of lettered words that the questions below it, each with one place for a word, share it."""
    kept: list[Piece] = []
    place = 0
    while place < len(lines.pieces):
        bank = _read_bank(lines, place) if lines.pieces[place].text.lstrip(" |")[:1] in _BANK_STARTS else None
        if bank is None:
            kept.append(lines.pieces[place])
            place += 1
        else:
            written, place = bank
            kept += written
    return lines if len(kept) == len(lines.pieces) else IndexedLines(kept)


_BANK_STARTS = frozenset("Aa（(①")


def _read_bank(lines: IndexedLines, begin: int) -> tuple[list[Piece], int] | None:
    """The lines of a box of words from a place on, written as shared options, and the first question below it."""
    first = next((at for at in range(begin, begin + _MOST_LINES) if _counts(lines, at)), begin)
    items = _list_items(lines, first) if first > begin else []
    head, last = (lines.labels[items[at][0]] for at in (0, -1)) if items else (None, None)
    if len(items) < _LEAST_ROWS or head is None or last is None:
        return None
    above = [piece.text for piece in lines.pieces[max(begin - _LINES_ABOVE, 0) : begin]]
    if any(map(SHARES.match, above[-1:])) or any(_parts(lines, at) for at in range(begin + 1, first)):
        return None
    number = next((at for at in range(begin - 1, -1, -1) if _counts(lines, at) or _parts(lines, at)), -1)
    between = [piece.text for piece in lines.pieces[max(number + 1, begin - _LINES_ABOVE) : begin]]
    if number >= 0 and _counts(lines, number) and not any(map(INSTRUCTION.search, between)):
        return None  # these are the options of the question above
    texts = [[lines.pieces[at].text for at in item] for item in items]
    if any(offers_options_in(text, True) for text in texts):
        return None
    if any(len(_PLACE.findall("\n".join(text))) != 1 for text in texts) and not any(
        map(_MATCHES.search, above)
    ):
        return None
    split = split_options(lines.pieces[begin:first], True)
    if split is None or split.stem or split.notes or len(split.options) < _LEAST_ROWS:
        return None
    label, own = split.options[-1]
    ends = next((at for at in range(1, len(own)) if not own[at - 1].wraps), len(own))
    split.options[-1] = (label, own[:ends])  # below the box stands at most an example
    offered = [(label, pieces, option_text(pieces)) for label, pieces in split.options]
    if not all(0 < len(text) <= _LONGEST_OFFERED for _, _, text in offered):
        return None
    written = [*own[ends:], _lead(lines.pieces[begin], head, last)]
    for label, pieces, _ in offered:
        opening, *rest = pieces
        written += [replace(rewrite(opening, 0, f"{label}. "), kind="body"), *rest]
    return written, first


def _counts(lines: IndexedLines, place: int) -> bool:
    label = lines.labels[place] if place < len(lines.pieces) else None
    return label is not None and not label.is_weak and label.style in KNOWN_NUMBERS


def _parts(lines: IndexedLines, place: int) -> bool:
    """Whether a line heads a section."""
    label = lines.labels[place]
    is_part = label is not None and not label.is_weak and label.style in STRONG_STYLES
    return is_part or read_heading(lines.pieces[place].text) is not None


def _list_items(lines: IndexedLines, first: int) -> list[list[int]]:
    """The places of the lines of each of the questions that count on from a place."""
    items = [[first]]
    for place in range(first + 1, len(lines.pieces)):
        label, own = lines.labels[place], lines.labels[items[-1][0]]
        if label is not None and own is not None and not label.is_weak:
            if (label.style, label.value) != (own.style, own.value + 1):
                break
            items.append([place])
        elif len(items[-1]) == _MOST_OF_ITEM or read_heading(lines.pieces[place].text):
            break
        else:
            items[-1].append(place)
    return items
