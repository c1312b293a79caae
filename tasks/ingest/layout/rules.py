"""Rules for candidates: numbered lists that ask nothing and are left out.

They stand below a title of such or speak of the examination, and below them numbers begin again at 1. Before the first
question of a paper, where titles are of any kind, what a list is shows beside the one after it: most of that one has a
question mark, a blank or options.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from schemas import patterns as re
from tasks.ingest.layout.headings import has_options_ahead, read_heading
from tasks.ingest.layout.options import offers_options_in
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.sections import Section
from tasks.ingest.layout.series import SeriesMark, read_marks_of
from tasks.ingest.words.grammar import asking, begins_asking, conduct, is_instruction_title, names_subject
from tasks.ingest.words.labels import COUNTING, HEADING, is_sure
from tasks.ingest.words.lexicon import find_type_by_pattern
from tasks.ingest.words.once import once_a_paper
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
    marks = _read_counts(pieces)
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
        if names_rules(pieces[above].text):
            out.add(above)  # alone it would name what follows
        begin = rest
    begin = _skip_heads(marks, begin)
    if _are_questions(pieces, marks, begin):
        first = min(marks[begin].place, _FIRST_LINES)
        out.update(place for place in range(first) if _lists_inside(pieces[place].text))
    return [piece for place, piece in enumerate(pieces) if place not in out] if out else pieces


def leave_out_rules(section: Section, is_last: bool) -> list[Piece]:
    """The lines of a section without a list of rules for candidates: `Instructions:`, `1. …`.

    It ends where the questions begin to count at 1, or with the section where others follow. Where none do, what the section
    begins with decides: below a title that only names rules there is nothing else.
    """
    pieces = section.pieces
    title = next((place for place, piece in enumerate(pieces) if names_rules(piece.text)), None)
    is_headed = section.number is not None and not section.begins_below
    if title is None or (is_headed and names_subject(pieces[0].text)):
        return pieces  # `Part 2: Rules` asks about them
    marks = [
        SeriesMark(place, label.end, label.value, label.style)
        for place, piece in enumerate(pieces)
        if is_sure(label := piece.label, COUNTING) and piece.kind != "table"
    ]
    first = marks[0].place if marks else len(pieces)
    if title >= first or (marks and (first > title + _NEAR or marks[0].family == "word")):
        return pieces  # what is counted is no list of rules right below their title
    size = _measure_list(marks, 0)
    if size and marks[size:] and marks[size].value == 1:
        return [*pieces[:title], *pieces[marks[size].place :]]
    if size and size == len(marks) and not is_last and not _ask(pieces[first:]):
        return pieces[:title]
    asks = names_subject(pieces[0].text) and _show_questions(pieces[first:])
    return [] if is_instruction_title(pieces[0].text) and not asks else pieces


# So few lines below their title rules begin.
_NEAR = 2
_NAMES_RULES = re.compile(
    r"(?i:\binstructions?\b)[^.:：]{0,24}[:：]\s*$|(?:须知|注意事项|规则)\s*[:：]?\s*$|\s*(?i:directions|instructions)\s*[:：]"
)


@once_a_paper
def names_rules(text: str) -> bool:
    """Whether a line stands above rules for candidates."""
    return is_instruction_title(text) or _NAMES_RULES.search(text) is not None


def _ask(pieces: Sequence[Piece]) -> bool:
    """Whether lines hold a question or options, or more than half set a task."""
    tasks = sum(1 for piece in pieces if asking().search(piece.text) is not None)
    return _show_questions(pieces) or tasks > _MOST_ASK * len(pieces)


def _show_questions(pieces: Sequence[Piece]) -> bool:
    """Whether lines have a question mark, a blank or options."""
    return has_options_ahead(pieces) or any(
        asks_by_sign(piece.text) or offers_options_in([piece.text], True) for piece in pieces
    )


def _read_counts(pieces: Sequence[Piece]) -> list[SeriesMark]:
    """The marks of lines that count in digits, a word before them or none, or in Chinese."""
    return [
        mark
        for mark in read_marks_of(pieces)
        if mark.family.strip("().") in ("1", "一", "①") or "1" in mark.family
    ]


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
    if _show_questions(pieces[first : last + 1]):
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
