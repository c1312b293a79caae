"""What stands below the last question of a section and is no part of it, told by the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas import patterns as re
from tasks.ingest.layout.headings import FIRST_OPTION
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.readers.extraction import PICTURE_MARK
from tasks.ingest.words.answers import find_explanation
from tasks.ingest.words.grammar import answer_mark, asking
from tasks.ingest.words.points import CLOSING
from tasks.ingest.words.signs import POINTS_BELOW, asks_by_sign, ends_in_blank, ends_with_mark

# So many questions show what questions of a section are made of, and so many of other sections those of the paper.
_LEAST_ALIKE, _LEAST_OTHERS = 2, 4
# Such a share of them must end as the last one does.
_ALIKE, _OTHERS_ALIKE = 0.5, 0.75
# A tail is short: what is longer may be a text to be read.
_MOST_LINES, _MOST_LETTERS = 3, 160


def find_tails(questions: Sequence[tuple[int, Sequence[Piece]]]) -> Mapping[int, int]:
    """Questions with something foreign below them, by place, and how many lines are their own.

    `questions` are the lines of each with the number of its section. Where no other question of a section has as many paragraphs, and
    those that others have too close the last one as they close the others, what follows is none of it: `Good luck!`, a footer, what
    somebody wrote below. What asks, answers, explains, is listed or drawn stays.
    """
    shapes = [_read_shape(lines) for _, lines in questions]
    by_section: dict[int, list[int]] = {}
    for place, (section, _) in enumerate(questions):
        by_section.setdefault(section, []).append(place)
    tails: dict[int, int] = {}
    for places in by_section.values():
        *others, last = places
        least, share = _LEAST_ALIKE, _ALIKE
        if len(others) < least and last == len(questions) - 1:
            others = [place for place, shape in enumerate(shapes[:-1]) if shape.kind == shapes[last].kind]
            least, share = _LEAST_OTHERS, _OTHERS_ALIKE
        if len(others) >= least:
            own = _count_own([shapes[place] for place in others], shapes[last], share)
            if own is not None:
                tails[last] = own
    return tails


@dataclass(frozen=True)
class _Shape:
    """What a question ends with: its paragraphs, or those of its answer where it has one."""

    lines: Sequence[Piece]
    kind: str
    ends: Sequence[int]


def _read_shape(lines: Sequence[Piece]) -> _Shape:
    begin = next((at for at, line in enumerate(lines) if answer_mark().match(line.text)), 0)
    offers = any(FIRST_OPTION.match(line.text) for line in lines)
    kind = "answered" if begin else "offering" if offers else "free"
    ends = [
        at for at, line in enumerate(lines, start=1) if at > begin and (not line.wraps or at == len(lines))
    ]
    return _Shape(lines, kind, ends)


def _count_own(others: Sequence[_Shape], last: _Shape, share: float) -> int | None:
    """How many lines of the last question are its own; None where the others do not tell."""
    most = max(len(one.ends) for one in others)
    if len(last.ends) <= most or {one.kind for one in others} != {last.kind} or last.kind == "offering":
        return None
    own = last.ends[most - 1] if most else 0
    rest = last.lines[own:]
    if not own or len(rest) > _MOST_LINES or sum(len(line.text) for line in rest) > _MOST_LETTERS:
        return None
    close = _close(last.lines[own - 1].text)
    if _close(rest[-1].text) in (close, ".", "?"):
        return None  # a further sentence, or a further line of an answer that has no stops
    alike = sum(1 for one in others if _close(one.lines[-1].text) == close)
    shows_more = any(POINTS_BELOW.search(line.text) for line in last.lines[:own])
    may_belong = shows_more or any(_may_belong(line, last.lines) for line in rest)
    return None if alike < share * len(others) or may_belong else own


def _close(text: str) -> str:
    """What a text ends with: a question mark, points, a blank, a stop or a letter."""
    if ends_with_mark(text):
        return "?"
    if CLOSING.search(text):
        return "p"
    if ends_in_blank(text):
        return "_"
    last = text.rstrip()[-1:]
    return "w" if last.isalnum() else "." if last in ".。!！" else last


# A text that is said, a hint, what is told of something, `要求：六百字`, a formula or a program.
_IS_SHOWN = re.compile(r"^[（(\"“‘«「『《]|[:：](?!\s*$)|[=<>^√∑∫{}]|\\")
# `E.截石位`, `8。奥斯陆协议`: an option, a part or a question that nothing has taken for one
_LABELLED = re.compile(r"\s*[（(\[]?(?:[A-Za-z]\s*[.．、)）\]]|\d)")


def _may_belong(line: Piece, beside: Sequence[Piece]) -> bool:
    """Whether a line asks, answers, explains or goes on with a list, or shows what is asked."""
    text = line.text.strip()
    return (
        line.label is not None
        or line.kind != "body"
        or PICTURE_MARK.search(text) is not None
        or asks_by_sign(text)
        or asking().search(text) is not None
        or _LABELLED.match(text) is not None
        or _IS_SHOWN.search(text) is not None
        or answer_mark().match(text) is not None
        or find_explanation(text) is not None
        or (not line.text[:1].isalnum() and [one.text[:1] for one in beside].count(line.text[:1]) > 1)
    )
