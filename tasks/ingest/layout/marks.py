"""The marks of a paper, found by their own repetition.

They are written in the forms that the rules know.

What the rules know already is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tasks.ingest.layout.answer_marks import write_answers, write_repeated_headings, write_repeated_keys
from tasks.ingest.layout.bullets import write_unlettered
from tasks.ingest.layout.exports import write_exports
from tasks.ingest.layout.headings import read_heading
from tasks.ingest.layout.indexed_lines import IndexedLines, is_sign
from tasks.ingest.layout.mending import (
    drop_decoration,
    drop_upright,
    open_cells,
    open_options,
    part_lines,
    write_bare_letters,
)
from tasks.ingest.layout.option_marks import write_digits, write_letters
from tasks.ingest.layout.pieces import Piece, rewrite
from tasks.ingest.layout.ticks import write_ticks
from tasks.ingest.words.grammar import (
    is_status_line,
    may_open_status,
)
from tasks.ingest.words.lexicon import match_exactly


def write_marks(pieces: Sequence[Piece]) -> IndexedLines:
    """Return the lines with unusual marks in usual forms.

    Every character keeps its place in the raw text.
    """
    lines = drop_decoration(
        write_ticks(write_exports(_drop_idle(open_options(open_cells(IndexedLines(pieces))))))
    )
    lines = write_bare_letters(drop_upright(part_lines(lines)))
    lines = _write_headings(lines)
    lines = write_digits(write_letters(lines))
    lines = write_unlettered(_cut_second_numbers(lines))
    return write_repeated_keys(write_answers(write_repeated_headings(lines)))


def _drop_idle(lines: IndexedLines) -> IndexedLines:
    """Leave out what a platform or a form prints around questions, and dotted lines to write on."""
    pieces = lines.pieces
    idle = {
        place for place in lines.open_where(may_open_status) if is_status_line(pieces[place].text.strip())
    }
    if ".." in lines.text:
        idle |= {
            place
            for place, piece in enumerate(pieces)
            if ".." in piece.text and _ANSWER_RULE.fullmatch(piece.text)
        }
    return IndexedLines([piece for place, piece in enumerate(pieces) if place not in idle]) if idle else lines


# a dotted line to write on, with the number of the point and its marks: `1 ………… [2]`
_ANSWER_RULE = re.compile(
    r"\s*(?:[（(]?(?:\d|[a-z]|[ivx]{1,4})[)）.]?)?\s*\.{20,}\s*(?:[（(\[]\s*\d{1,2}\s*(?:marks?|分)?\s*[)）\]])?\s*"
)


_HEADING = re.compile(
    r"\s*[^\w\s]?\s*(?:第\s*)?([一二三四五六七八九十]{1,3}|[Ⅰ-Ⅻ])\s*(?:大?题|部分)?\s*[^\w\s（(]{0,2}\s*(?=[（(]?[\u4e00-\u9fffA-Z])"
)
_TITLE = re.compile(r"[（(][^（()）]*[)）]|[^\u4e00-\u9fffA-Za-z（(/ -]|\s{2,}")
_SECTIONS = ("cn", "part", "roman", "cnp")


_HEADING_NUMERAL = re.compile("[一二三四五六七八九十Ⅰ-Ⅻ]")
_HEADING_STARTS = frozenset("第一二三四五六七八九十ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ")


def _may_open_heading(first: str) -> bool:
    return first in _HEADING_STARTS or is_sign(first)


def _write_headings(lines: IndexedLines) -> IndexedLines:
    """Write `一。单选题`, `【一】单选题`, `第一题 单选题`, `二 简答题` as `一、单选题`, where the rest names a type."""
    changed: dict[int, Piece] = {}
    for index in lines.open_where(_may_open_heading):
        piece = lines.pieces[index]
        text = piece.text
        if len(text) > 90 or not _HEADING_NUMERAL.search(text[:6]):
            continue
        match = _HEADING.match(text)
        if match is None or piece.kind == "table":
            continue
        heading = read_heading(text)
        if heading is not None and heading.label is not None and heading.label.style in _SECTIONS:
            continue
        title = _TITLE.split(text[match.end() :].strip(), maxsplit=1)[0].strip()
        if title.startswith(("题", "部分")) or match_exactly(title) is None:
            continue
        changed[index] = rewrite(piece, match.end(), f"{match.group(1)}、")
    return lines.replace(changed)


_SECOND = re.compile(r"\s*[,，]?\s*\d{1,3}\s*[.．、](?!\d)\s*(?=\S)|\s*[,，]\s*")


def _cut_second_numbers(lines: IndexedLines) -> IndexedLines:
    """Drop the number that a question had in the bank it was drawn from: `第 3 题,57、…`.

    That is done where most questions have one.
    """
    pieces = lines.pieces
    numbered = [
        (index, label.end)
        for index, label in enumerate(lines.labels)
        if label is not None and label.style == "word" and not label.is_weak
    ]
    seconds = [(index, end, _SECOND.match(pieces[index].text[end:])) for index, end in numbered]
    if len(numbered) < 5 or sum(1 for *_, match in seconds if match) < 0.7 * len(numbered):
        return lines
    return lines.replace(
        {
            index: rewrite(pieces[index], end + match.end(), " ", end)
            for index, end, match in seconds
            if match is not None
        }
    )
