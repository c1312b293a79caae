"""Texts with numbered gaps and nothing to choose from: each is one question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.announcements import read_announcement
from tasks.ingest.layout.headings import STRONG_STYLES, read_heading
from tasks.ingest.layout.pieces import IndexedLines, Piece, rewrite
from tasks.ingest.words.labels import Label, counts_questions, is_sure

# `56 ______ (go)`, `____57`, `(58) ____`, and among these `59     (go)`, where the line to write on was lost
_GAP = re.compile(
    r"_+\s?[（(]?(?<!\d)(\d{1,3})(?!\d)[）)]?[_\s]*|[（(]?(?<![\d.])(\d{1,3})(?![\d.])[）)]?(?:\s?_+|\s{2,}|\s?(?=[（(][^（()）\d]{1,16}[)）]))"
)
_LEAST_GAPS, _LEAST_LINED, _MOST_BETWEEN, _MOST_ABOVE = 5, 0.5, 3, 12


class _Gap(NamedTuple):
    """Where a number stands for a gap: its line, its value, and what it takes of the line."""

    place: int
    value: int
    begin: int
    end: int
    is_lined: bool


def write_numbered_gaps(lines: IndexedLines) -> IndexedLines:
    """Make one question of every text whose gaps count on from the questions above it.

    The gaps are written `56 ____`. At least five follow each other, no line between them has a number of its own, and none
    below it is a question that one of them may have.
    """
    changed: dict[int, Piece] = {}
    begin = 0
    for run in _list_runs(lines):
        first, last, numbers = run[0].place, run[-1].place, [gap.value for gap in run]
        if first < begin or not _counts_on(lines, run) or _is_asked(lines, run):
            continue
        for gap in reversed(run):
            piece = changed.get(gap.place, lines.pieces[gap.place])
            changed[gap.place] = rewrite(piece, gap.end, f"{gap.value} ____ ", gap.begin).with_label(None)
        while first and run[0].place - first < _MOST_ABOVE and not _begins(lines, first - 1):
            first -= 1
        label = Label("num", numbers[0], 0, f"{numbers[0]}-{numbers[-1]}.", is_given=True)
        changed[first] = changed.get(first, lines.pieces[first]).with_label(label)
        begin = last + 1
    return lines.replace(changed) if changed else lines


def _list_runs(lines: IndexedLines) -> Iterator[list[_Gap]]:
    gaps = [
        _Gap(place, int(match[1] or match[2]), *match.span(), "_" in match[0])
        for place, piece in enumerate(lines.pieces)
        if piece.kind != "table" and ("_" in piece.text or "  " in piece.text)
        for match in _GAP.finditer(piece.text)
    ]
    used: set[int] = set()
    for at, gap in enumerate(gaps):
        if at in used:
            continue
        run, own = [gap], [at]
        for other, following in enumerate(gaps[at + 1 :], start=at + 1):
            if following.place - run[-1].place > _MOST_BETWEEN:
                break
            if following.value == run[-1].value + 1:
                run.append(following)
                own.append(other)
        if len(run) >= _LEAST_GAPS and sum(one.is_lined for one in run) >= _LEAST_LINED * len(run):
            used.update(own)
            yield run


def _counts_on(lines: IndexedLines, run: list[_Gap]) -> bool:
    """Whether a question above has the number before the first gap, or a heading announces all."""
    above = lines.pieces[: run[0].place]
    if run[0].value > 1:
        return any(counts_questions(piece.label) and piece.label.value == run[0].value - 1 for piece in above)
    near = (read_announcement(piece.text) for piece in above[-_MOST_BETWEEN:])
    return any(one is not None and len(run) in one.counts for one in near)


def _is_asked(lines: IndexedLines, run: list[_Gap]) -> bool:
    """Whether lines have the numbers of gaps, or other questions begin between them."""
    first, last = run[0], run[-1]
    inside = lines.pieces[first.place + 1 : last.place + 1]
    below = lines.pieces[first.place + 1 :]
    return any(is_sure(piece.label, STRONG_STYLES) for piece in inside) or any(
        counts_questions(piece.label) and first.value <= piece.label.value <= last.value for piece in below
    )


def _begins(lines: IndexedLines, place: int) -> bool:
    """Whether a line heads a section or has a number."""
    piece = lines.pieces[place]
    is_head = read_heading(piece.text) is not None or read_announcement(piece.text) is not None
    return place in lines.numbered or is_sure(piece.label, STRONG_STYLES) or is_head
