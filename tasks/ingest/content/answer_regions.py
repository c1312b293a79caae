"""The parts of a paper that hold answers.

They are regions at its end, and key lines and blocks inside its sections.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.content.key_regions import find_region, find_region_headings, is_region_heading
from tasks.ingest.content.keys import (
    KeySection,
    read_entries,
    read_table_keys,
    read_table_numbers,
    split_inline,
)
from tasks.ingest.layout.headings import is_chapter
from tasks.ingest.layout.key_lines import KeyEntry, read_key_line
from tasks.ingest.layout.options import offers_options
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sections import Section
from tasks.ingest.layout.signs import has_options_ahead
from tasks.ingest.words.answers import ANSWER_MARK, ANSWER_STARTS
from tasks.ingest.words.labels import Label


def take_regions(pieces: list[Piece]) -> tuple[list[list[Piece]], list[list[Piece]]]:
    """Separate question parts from answer parts.

    A chapter that begins inside an answer part ends it.
    """
    bodies: list[list[Piece]] = []
    regions: list[list[Piece]] = []
    rest = pieces
    headings = find_region_headings(pieces)
    while rest:
        index = find_region(rest, headings)
        while index is not None and _find_next_section(rest, index) is not None:
            # the answers of one section, read with it
            index = find_region(rest, [heading for heading in headings if heading > index])
        if index is None:
            bodies.append(rest)
            regions.append([])
            break
        end = len(rest)
        for place in range(index + 2, len(rest)):
            if is_chapter(rest[place].text) and has_options_ahead(rest[place : place + 60]):
                end = place
                break
        bodies.append(rest[:index])
        regions.append(rest[index + 1 : end])
        rest = rest[end:]
        headings = [heading - end for heading in headings if heading >= end]
    return bodies, regions


def _find_next_section(pieces: Sequence[Piece], index: int) -> int | None:
    """Return where questions continue after the answers of one section.

    That is at the heading with the next number. The answers of a whole paper begin with the first section again.
    """
    from tasks.ingest.layout.headings import read_heading

    before = (read_heading(pieces[place].text) for place in range(index - 1, -1, -1))
    last = next((found.label for found in before if found is not None and found.label is not None), None)
    if last is None:
        return None
    for place in range(index + 1, len(pieces)):
        heading = read_heading(pieces[place].text)
        if heading is not None and heading.label is not None:
            is_next = (heading.label.style, heading.label.value) == (last.style, last.value + 1)
            return place if is_next else None
    return None


def take_key_lines(section: Section, keys: list[KeySection]) -> list[Piece]:
    """Take key lines (`1、CDE 2、CD …`) out of a section: they answer its questions."""
    kept: list[Piece] = []
    found = KeySection(section.number, section.fine, title=section.title)
    pending: tuple[Piece, list[int]] | None = None
    block = _find_block(section)
    if block is not None:
        begin, offset = block
        answers = [section.pieces[begin].cut(offset), *section.pieces[begin + 1 :]]
        answers = [piece for piece in answers if piece.text.strip()]
        found.entries.extend(read_entries(Section(fine=section.fine, pieces=answers)))
    for piece in section.pieces[: block[0] if block is not None else None]:
        if pending is not None:
            cells = read_table_keys(piece.text, len(pending[1]))
            if cells:
                found.entries.extend(map(KeyEntry, pending[1], cells))
                pending = None
                continue
            kept.append(pending[0])
            pending = None
        numbers = read_table_numbers(piece.text)
        if numbers:
            pending = (piece, numbers)
            continue
        entries = read_key_line(piece.text)
        if len(entries) >= 2 and not offers_options([piece], True):
            if not found.entries and entries[0].number == 1 and len(kept) > 1 and _names_keys(kept[-1]):
                kept.pop()
            found.entries.extend(entries)
        elif not (len(piece.text) < 10 and piece is section.pieces[-1] and is_region_heading(piece.text)):
            kept.append(piece)
    if pending is not None:
        kept.append(pending[0])
    if found.entries:
        keys.append(found)
        while kept and is_region_heading(kept[-1].text):
            kept.pop()
    return kept


def _names_keys(piece: Piece) -> bool:
    """Whether a line is a word or two and nothing else, as what names the keys below it."""
    text = piece.text.strip(" :：-—=")
    return (
        len(text) <= 16 and piece.label is None and re.fullmatch(r"[^\W\d]+(?: [^\W\d]+)?", text) is not None
    )


def _find_block(section: Section) -> tuple[int, int] | None:
    """Return where the answers of a whole section begin below its questions.

    They look like `答案：1）… 2）…`; returned are the piece and the index. The first answer repeats the number of the first
    question, and there are several of both.
    """
    first: Label | None = None
    seen = 0
    for index, piece in enumerate(section.pieces):
        label = piece.label
        if label is not None and not label.is_weak and label.style in ("num", "nump", "paren", "bracket"):
            if first is None:
                first = label
            seen += label.style == first.style and label.value == first.value + seen
            continue
        if first is None or seen < 2 or piece.text.lstrip()[:1] not in ANSWER_STARTS:
            continue
        mark = ANSWER_MARK.match(piece.text)
        if mark is None:
            continue
        rest = piece.cut(mark.end())
        follows = rest if rest.text.strip() else None
        if follows is None and index + 1 < len(section.pieces):
            follows = section.pieces[index + 1]
        start = follows.label if follows is not None else None
        if start is None or (start.style, start.value) != (first.style, first.value):
            continue
        following = [other.label for other in section.pieces[index + 1 :]]
        goes_on = any(
            label is not None and label.style == first.style and label.value == first.value + 1
            for label in following
        )
        if goes_on or (follows is rest and len(split_inline(rest)) > 1):
            return index, mark.end()
    return None
