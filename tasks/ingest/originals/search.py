"""Lines of a question, looked for in the text layer of a PDF.

This is for papers whose places were not kept as they were read.

Word papers have no pages before LibreOffice lays them out; what it sets differs in spaces, numbers and signs from what
was read, so lines are compared by their letters and digits alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.ingest.originals.original import Box, join_boxes, merge_boxes
from tasks.ingest.readers.page_boxes import frame_page

# A line of fewer letters stands in many places: it is found only right behind one that was found.
LEAST_LETTERS = 6
# How far behind the last found line the next one is looked for, in letters.
REACH = 600
# A longer line is known by its beginning.
LONGEST = 60


@dataclass
class PageText:
    """The letters of one page, folded, and the number of the character that each came from."""

    letters: str
    sources: list[int]


def find_lines(pages: Sequence[PageText], lines: Sequence[str], share: float) -> dict[int, list[int]]:
    """The characters on which lines of a stretch stand, by page (from 0).

    Empty where none is found. `share` is how far into the paper the stretch begins, from 0 to 1: of several places the
    nearest is meant.
    """
    whole = "".join(page.letters for page in pages)
    wanted = [fold(line)[0] for line in lines]
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at]), default=None)
    if anchor is None or len(wanted[anchor]) < min(LEAST_LETTERS, max(map(len, wanted))) or not whole:
        return {}
    needle = wanted[anchor][:LONGEST]
    places = _find_all(whole, needle)
    if not needle or not places:
        return {}
    begin = min(places, key=lambda place: abs(place / len(whole) - share))
    found = [(begin, begin + _common_length(whole, begin, wanted[anchor]))]
    at = found[0][1]
    for line in wanted[anchor + 1 :]:
        place = whole.find(line[:LONGEST], at, at + REACH) if line else -1
        if place >= 0:
            at = place + _common_length(whole, place, line)
            found.append((place, at))
    at = begin
    for line in reversed(wanted[:anchor]):
        place = whole.rfind(line[:LONGEST], max(at - REACH, 0), at) if line else -1
        if place >= 0:
            found.append((place, min(place + _common_length(whole, place, line), at)))
            at = place
    return _name_characters(pages, found)


def fold(text: str) -> tuple[str, list[int]]:
    """Letters and digits of a text in one width and case, and the index that each came from."""
    letters: list[str] = []
    sources: list[int] = []
    for index, character in enumerate(text):
        for one in unicodedata.normalize("NFKC", character).casefold():
            if one.isalnum():
                letters.append(one)
                sources.append(index)
    return "".join(letters), sources


def read_page_text(page: Any, raw: Any) -> PageText:
    """The text layer of a page; sources are numbers of PDFium's characters."""
    text_page = page.get_textpage()
    codes = [
        raw.FPDFText_GetUnicode(text_page.raw, index)
        for index in range(raw.FPDFText_CountChars(text_page.raw))
    ]
    text_page.close()
    return PageText(*fold("".join(chr(code) if 0 < code < 0xD800 else " " for code in codes)))


def list_character_boxes(page: Any, raw: Any, characters: Sequence[int]) -> list[Box]:
    """Blocks around these characters of a page, in thousandths of it."""
    frame = frame_page(page, raw)
    text_page = page.get_textpage()
    box = raw.FS_RECTF()
    lines: list[Box] = []
    for character in characters:
        if not raw.FPDFText_GetLooseCharBox(text_page.raw, character, box):
            continue
        one = frame.place(box.left, box.bottom, box.right, box.top)
        last = lines[-1] if lines else None
        if last is not None and abs(one[3] - last[3]) < (last[3] - last[1]) / 2 and one[2] >= last[0]:
            lines[-1] = join_boxes(last, one)
        else:
            lines.append(one)
    text_page.close()
    return merge_boxes(lines)


def _find_all(text: str, needle: str) -> list[int]:
    places: list[int] = []
    at = text.find(needle) if needle else -1
    while at >= 0:
        places.append(at)
        at = text.find(needle, at + 1)
    return places


def _common_length(whole: str, place: int, line: str) -> int:
    """How much of a line stands at a place: a line known by its beginning may differ behind it."""
    length = min(len(line), LONGEST)
    while length < len(line) and whole[place + length : place + length + 1] == line[length]:
        length += 1
    return length


def _name_characters(pages: Sequence[PageText], spans: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    offset = 0
    for number, page in enumerate(pages):
        own = [
            page.sources[place - offset]
            for first, last in sorted(spans)
            for place in range(max(first, offset), min(last, offset + len(page.letters)))
        ]
        if own:
            found[number] = list(dict.fromkeys(own))
        offset += len(page.letters)
    return found
