"""Numbered lists before the first question that ask nothing: rules for candidates.

What a list is shows beside the one after it: rules stand below a title of such or speak of the examination, none of them
asks by its signs, and below them the numbers begin again at 1, most of them with a question mark, a blank or options.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from tasks.ingest.layout.headings import has_options_ahead, read_heading
from tasks.ingest.layout.options import offers_options_in
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sections import names_rules
from tasks.ingest.layout.series import SeriesMark, read_marks_of
from tasks.ingest.words.grammar import begins_asking, conduct
from tasks.ingest.words.labels import HEADING
from tasks.ingest.words.lexicon import find_type_by_pattern
from tasks.ingest.words.points import COUNTS_POINTS, QUESTION
from tasks.ingest.words.signs import asks_by_sign

# So many lines of a paper are searched for rules, and no more stand in one list.
_FIRST_LINES, _MOST_RULES = 60, 20
# So many rules make a list, and so many questions show what one is.
_LEAST_RULES, _LEAST_QUESTIONS = 2, 3
_OF_CONDUCT, _MOST_ASK = 0.5, 0.5
_WORTH = re.compile(COUNTS_POINTS)
_COUNTS = re.compile(rf"\d\s*(?:[^\W\d_]+\s+){{0,2}}{QUESTION}")
# `【须知】1、…；2、…；3、…` in one line: numbers behind a title of rules
_INLINE = re.compile(r"(?:^|[\s:：;；.。\]】*])\(?([1-9])\s?[.．、)）](?!\d)")
_LEAST_INLINE = 2
_FRAME = " \t【】[]〔〕*#>:：()（）"


def leave_out_front_lists(pieces: list[Piece]) -> list[Piece]:
    """The lines of a paper without the lists of rules that stand before its first question."""
    marks = [mark for mark in read_marks_of(pieces) if _counts(mark)]
    out: set[int] = set()
    begin = 0
    while (size := _measure_list(marks, begin)) >= _LEAST_RULES or (
        size and _lists_inside(pieces[marks[begin].place].text)
    ):
        rest = _skip_heads(marks, begin + size)
        if not _are_rules(pieces, marks[begin : begin + size]) or not _are_questions(pieces, marks, rest):
            break
        out.update(mark.place for mark in marks[begin : begin + size])
        above = marks[begin].place - 1
        if above >= 0 and names_rules(pieces[above].text):
            out.add(above)  # alone it would name what follows
        begin = rest
    begin = _skip_heads(marks, begin)
    if _are_questions(pieces, marks, begin):
        first = min(marks[begin].place, _FIRST_LINES)
        out.update(place for place in range(first) if _lists_inside(pieces[place].text))
    return [piece for place, piece in enumerate(pieces) if place not in out] if out else pieces


def _counts(mark: SeriesMark) -> bool:
    return mark.family.strip("().") in ("1", "一", "①") or "1" in mark.family


def _skip_heads(marks: Sequence[SeriesMark], begin: int) -> int:
    """The first mark from one on that counts in digits and begins at 1, else the end."""
    return next(
        (at for at in range(begin, len(marks)) if "一" not in marks[at].family and marks[at].value == 1),
        len(marks),
    )


def _measure_list(marks: Sequence[SeriesMark], begin: int) -> int:
    """How many marks from one on rise one by one in one form; 0 where they do not begin at 1."""
    if begin >= len(marks) or marks[begin].value != 1:
        return 0
    size = 1
    for left, right in pairwise(marks[begin : begin + _MOST_RULES]):
        if right.value != left.value + 1 or right.family != left.family:
            break
        size += 1
    return size


def _are_rules(pieces: Sequence[Piece], rules: Sequence[SeriesMark]) -> bool:
    """Whether the lines of a list are sentences that ask nothing, below no title of a section."""
    first, last = rules[0].place, rules[-1].place
    if last > _FIRST_LINES or any(_heads(piece) for piece in pieces[:first]):
        return False
    if not first or _COUNTS.search(pieces[first - 1].text) is not None:
        return False  # rules have a title; `5 Written questions` is one of questions
    texts = [pieces[mark.place].text[mark.end :].strip() for mark in rules]
    between = pieces[first : last + 1]
    if has_options_ahead(between) or any(asks_by_sign(piece.text) for piece in between):
        return False
    # what is asked without a sign may stand below a title that no list knows: rules speak of the examination
    told = sum(conduct().search(text) is not None for text in texts)
    is_titled = names_rules(pieces[first - 1].text)
    return (is_titled or told >= _OF_CONDUCT * len(texts)) and sum(
        map(begins_asking, texts)
    ) < _MOST_ASK * len(texts)


def _heads(piece: Piece) -> bool:
    """Whether a line heads a section, so that a list below it may be what is asked."""
    label = piece.label
    return (
        (label is not None and label.style in HEADING)
        or (
            (heading := read_heading(piece.text)) is not None
            and (heading.fine is not None or bool(_WORTH.search(piece.text)))
        )
        or find_type_by_pattern(piece.text[:160]) is not None
    )


def _are_questions(pieces: Sequence[Piece], marks: Sequence[SeriesMark], begin: int) -> bool:
    """Whether most numbers of a list have a question mark, a blank or options below them."""
    size = _measure_list(marks, begin)
    if size < _LEAST_QUESTIONS:
        return False
    own = marks[begin : begin + size]
    after = marks[begin + size].place if begin + size < len(marks) else len(pieces)
    shown = 0
    for mark, end in zip(own, [*(mark.place for mark in own[1:]), after], strict=True):
        texts = [piece.text for piece in pieces[mark.place : min(end, mark.place + 14)]]
        shown += any(map(asks_by_sign, texts[:3])) or offers_options_in(texts, True)
    return shown >= _MOST_ASK * size


def _lists_inside(text: str) -> bool:
    """Whether a line names rules and holds a list of them."""
    found = [*_INLINE.finditer(text)]
    return (
        len(found) >= _LEAST_INLINE
        and [int(match[1]) for match in found] == list(range(1, len(found) + 1))
        and names_rules(text[: found[0].start(1)].strip(_FRAME))
        and not asks_by_sign(text)
    )
