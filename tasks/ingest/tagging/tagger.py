"""The learned tagger: what each line is, by a conditional random field over all lines.

It sees how each line begins and ends, how it looks, what repeats, and its neighbours. No feature holds a word of the text, but
that a line speaks of marks, of a question or of an answer: what was learned of one subject or language holds for others.

Its tags are a proposal, one more reading that the contracts of the paper judge. It was trained on readings whose contracts
hold (`python -m tests.benchmarks.ingest_tagger --fit tasks/ingest/tagging/tagger.crf`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

from tasks.ingest.layout.announcements import read_each
from tasks.ingest.layout.headings import Heading, read_heading
from tasks.ingest.layout.outlines import Outline
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import Repeated, SeriesMark, read_marks_of, read_series_mark
from tasks.ingest.readers.extraction import Line
from tasks.ingest.words.labels import Label
from tasks.ingest.words.lexicon import find_type_in_title

if TYPE_CHECKING:
    from pycrfsuite import Tagger

_OPTION = re.compile(r"\s*[（(\[]?[A-Ha-h][)）\].．、:：]\s*\S")
_OPTIONS_INLINE = re.compile(r"\A(?>.*?\bA\s*+[.．、)）]).+?\bB\s*+[.．、)）]")
_ANSWER = re.compile(
    r"\s*[【\[（(]?\s*(?:参考|正确|标准)?(?:答案|答|解析|解|分析|(?i:answers?|ans|solution|key|explanation)\b)\s*[】\])）]?\s*[:：]?"
)
# begins with a sign and looks back at it: a search skips to these
_BLANK = re.compile(r"[_（(﹍…](?:(?<=_)__|(?<=[（(])\s*[)）]|(?<=﹍)|(?<=…)…)")
# What these two may begin with, after white space.
_ANSWER_STARTS = frozenset("【[（(参正标答解分AaSsKkEe\u017f\u212a")
_OPTION_STARTS = frozenset("（([ABCDEFGHabcdefgh")
_KEYS = re.compile(r"\s*\d+\s*[-–~]\s*\d+\s*[A-D]")
_MARKS = re.compile(r"分|points?\b|marks?\b")
_ENDS = {"?": "?", "？": "?", "。": ".", ".": ".", "．": ".", ":": ":", "：": ":", ";": ";", "；": ";"}
_LENGTHS, _SHARES, _COUNTS = (3, 12, 30, 80), (0.3, 0.6, 0.85), (1, 3, 8)
_REPEATS, _PLACES = (0.01, 0.05, 0.15), (0.05, 0.9)
_SAME_LEFT, _FAR_LEFT, _SAME_SIZE, _WIDE_INDENT = 2.0, 25.0, 0.6, 5


def describe_lines(
    pieces: Sequence[Piece],
    lines: Sequence[Line],
    starts: Sequence[int],
    marks: Sequence[SeriesMark] | None = None,
) -> list[list[str]]:
    """The features of every line, its own first.

    `starts` are the offsets of `lines` in the raw text, `marks` those of `pieces` where they are known.
    """
    own = _describe_each(pieces, lines, starts, read_marks_of(pieces) if marks is None else marks)
    # three of four lines look like another one: what they show is put in words once
    words = {one: (_name_own(one), [_name_shown(one, step_to) for step_to in _STEPS]) for one in set(own)}
    told = [words[one] for one in own]
    described: list[list[str]] = []
    last = len(own) - 1
    for index, (style, *_, ends, _) in enumerate(own):
        features = [*told[index][0]]
        for at, step_to in enumerate(_STEPS):
            place = index + step_to
            if 0 <= place <= last:
                shown, beside, kind = told[place][1][at]
                features += shown
                features.append(f"{beside}{style}")
                features.append(f"{kind}{ends}")
            else:
                features.append(f"{step_to}none")
        described.append(features)
    return described


_STEPS = (-2, -1, 1, 2, 3)
_Own = tuple[str, str, str, str, str, str, str, str]


def _name_own(own: _Own) -> list[str]:
    """What a line shows, as its own features."""
    style, value, series, step, count, kind, ends, looks = own
    return [
        f"s{style}",
        f"v{value}",
        f"f{series}",
        f"p{step}",
        f"n{count}",
        f"k{kind}",
        f"e{ends}",
        f"l{looks}",
        f"s{style}v{value}p{step}",
        f"s{style}p{step}f{series}",
        f"f{series}n{count}p{step}",
        f"s{style}e{ends}",
        f"s{style}k{kind}",
        f"s{style}l{looks}",
        f"s{style}f{series}n{count}",
    ]


def _name_shown(own: _Own, step: int) -> tuple[list[str], str, str]:
    """What a line shows, as features of the one so many steps before it."""
    style, value, _, goes_on, _, kind, ends, looks = own
    return (
        [
            f"{step}s{style}v{value}",
            f"{step}p{goes_on}",
            f"{step}k{kind}",
            f"{step}e{ends}",
            f"{step}l{looks}",
        ],
        f"{step}s{style}k{kind}s",
        f"{step}k{kind}e",
    )


def _describe_each(
    pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int], found_marks: Sequence[SeriesMark]
) -> list[_Own]:
    """What each line shows by itself: label, series, kind, end and looks."""
    marks = {mark.place: mark for mark in found_marks}
    series, steps = _follow(marks)
    counts = Counter(mark.family for mark in marks.values())
    looks = [lines[max(bisect_right(starts, piece.start) - 1, 0)].look for piece in pieces]
    left = _usual(round(look.left) for look in looks)
    size = _usual(round(look.size) for look in looks)
    shapes = [_shape(piece.text) for piece in pieces]
    repeats = Counter(shapes)
    found: list[_Own] = []
    total = len(pieces)
    for index, (piece, look) in enumerate(zip(pieces, looks, strict=True)):
        text = piece.text
        label, mark = piece.label, marks.get(index)
        value = label.value if label is not None else mark.value if mark is not None else 0
        body = text.strip()
        kind = (
            "t"
            if piece.kind == "table"
            else "k"
            if body[:1].isdigit() and _KEYS.match(text)
            else "a"
            if body[:1] in _ANSWER_STARTS and _ANSWER.match(text)
            else "o"
            if body[:1] in _OPTION_STARTS and _OPTION.match(text)
            else "i"
            if "A" in text and _OPTIONS_INLINE.search(text)
            else "-"
        )
        blank = "_" if _BLANK.search(text) else "m" if _MARKS.search(text) else ""
        lean = look.left - left
        found.append(
            (
                "-" if label is None else f"{label.style}{'w' if label.is_weak else ''}",
                str(value) if value < 3 else "n" if value < 100 else "b",
                "-"
                if mark is None
                else f"{'1' if '1' in mark.family or '①' in mark.family else 'x'}{_bin(series[mark.family], _SHARES)}",
                "-" if mark is None else "1" if mark.value == 1 else steps[index],
                "0" if mark is None else str(_bin(counts[mark.family], _COUNTS)),
                f"{kind}{'题' if '题' in text else ''}",
                f"{_ENDS.get(body[-1:], '')}{blank}{_bin(len(text), _LENGTHS)}{'w' if piece.wraps else ''}",
                f"{'b' if look.is_bold else ''}{'' if abs(lean) < _SAME_LEFT else '<' if lean < 0 else '>' if lean < _FAR_LEFT else '»'}"
                f"{'' if abs(look.size - size) < _SAME_SIZE else '-' if look.size < size else '+'}"
                f"{_bin(repeats[shapes[index]] / total, _REPEATS)}{_indent(text)}{_bin(index / total, _PLACES)}",
            )
        )
    return found


def _follow(marks: dict[int, SeriesMark]) -> tuple[dict[str, float], dict[int, str]]:
    """What share of each series runs on, and of every mark whether it does."""
    last: dict[str, int] = {}
    good: Counter[str] = Counter()
    total: Counter[str] = Counter()
    steps: dict[int, str] = {}
    for place, mark in marks.items():
        before = last.get(mark.family)
        if before is not None:
            total[mark.family] += 1
            good[mark.family] += mark.value == before + 1
        steps[place] = "+" if before is not None and mark.value == before + 1 else "?"
        last[mark.family] = mark.value
    return {family: good[family] / total[family] if total[family] else 0.0 for family in last}, steps


def _bin(value: float, limits: Sequence[float]) -> int:
    return bisect_right(limits, value)


def _indent(text: str) -> int:
    width = len(text) - len(text.lstrip())
    return 0 if not width else 1 if width < _WIDE_INDENT else 2


def _usual(values: Iterable[int]) -> int:
    counted = Counter(values)
    return counted.most_common(1)[0][0] if counted else 0


def _shape(text: str) -> str:
    """The first three characters by kind: digit, small letter, capital, Han, else themselves."""
    return _name_kinds(text.lstrip()[:3])


@lru_cache(maxsize=1 << 13)
def _name_kinds(signs: str) -> str:
    return "".join(
        "9"
        if sign.isdigit()
        else "a"
        if "a" <= sign <= "z"
        else "A"
        if "A" <= sign <= "Z"
        else "中"
        if "\u4e00" <= sign <= "\u9fff"
        else sign
        for sign in signs
    )


# A question begins on the line; it heads a section; it is an option; it goes on with a question; it belongs to none.
START, HEADING, OPTION, INSIDE, OUTSIDE = "S", "H", "O", "I", "X"
MODEL = "tagger.crf"
# So few lines show no form that repeats.
LEAST_LINES = 40
# One question below the other: fewer may be any lines.
LEAST_STARTS = 2
_LONGEST_TITLE = 120


def tag_lines(
    pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int], repeated: Repeated | None = None
) -> list[str]:
    """The tag of every line, none in a paper too short to have a form."""
    if len(pieces) < LEAST_LINES:
        return [""] * len(pieces)
    tagger, _ = open_model()
    marks = None if repeated is None else repeated.marks
    return list(tagger.tag(describe_lines(pieces, lines, starts, marks)))


@lru_cache(maxsize=2)
def open_model(model: bytes | None = None) -> tuple[Tagger, bytes]:
    """A tagger, with the bytes that it reads from: it takes no copy of them."""
    from pycrfsuite import Tagger

    data = model or resources.files("tasks.ingest.tagging").joinpath(MODEL).read_bytes()
    tagger = Tagger()
    tagger.open_inmemory(data)
    return tagger, data


def compare_with_tags(pieces: Sequence[Piece], tags: Sequence[str], starts: Collection[int]) -> float:
    """How far the beginnings of a reading's questions are those of the tags.

    The F1 of the two sets, 1.0 without tags.

    A line of difference is none: a number may stand alone above its question.
    """
    if not any(tags):
        return 1.0
    tagged = [place for place, tag in enumerate(tags) if tag == START]
    begun = [place for place, piece in enumerate(pieces) if piece.start in starts]
    agreed = at = 0
    for place in begun:
        while at < len(tagged) and tagged[at] < place - 1:
            at += 1
        if at < len(tagged) and tagged[at] <= place + 1:
            agreed += 1
            at += 1
    return 2 * agreed / max(len(tagged) + len(starts), 1)


def propose_by_tags(pieces: Sequence[Piece], tags: Sequence[str]) -> list[Outline]:
    """The readings that tags make, below the headings of rules and below their own."""
    numbers: dict[int, tuple[int, int]] = {}
    hidden: set[int] = set()
    headings: dict[int, Heading] = {}
    last = 0
    for place, (piece, tag) in enumerate(zip(pieces, tags, strict=True)):
        if tag == START:
            end, last = _read_number(place, piece, last)
            numbers[piece.start] = (end, last)
        elif tag == HEADING:
            headings[piece.start] = _make_heading(place, piece)
            last = 0 if _begins_again(pieces, tags, place) else last
        elif piece.label is not None:
            hidden.add(piece.start)
    if len(numbers) < LEAST_STARTS:
        return []
    own = Outline(numbers=numbers, hidden=frozenset(hidden - set(headings)), family="learned", given=True)
    if not headings:
        return [own]
    return [
        own,
        Outline(
            headings=headings,
            numbers=numbers,
            hidden=frozenset(hidden),
            alone=True,
            family="learned",
            given=True,
        ),
    ]


def _read_number(place: int, piece: Piece, last: int) -> tuple[int, int]:
    """Where the number of a question ends on its line, and its value or the next one."""
    label = piece.label
    if label is not None and not label.is_weak:
        return label.end, label.value
    mark = read_series_mark(place, piece.text)
    if mark is not None:
        return mark.end, mark.value
    if label is not None:
        return label.end, label.value
    return 0, last + 1


def _begins_again(pieces: Sequence[Piece], tags: Sequence[str], place: int) -> bool:
    """Whether the first question below a heading has no number, or the number 1."""
    for piece, tag in zip(pieces[place + 1 :], tags[place + 1 :], strict=True):
        if tag == START:
            return piece.label is None or piece.label.value == 1
    return True


def _make_heading(place: int, piece: Piece) -> Heading:
    known = read_heading(piece.text)
    if known is not None:
        return known
    mark = read_series_mark(place, piece.text)
    title = piece.text[mark.end if mark is not None else 0 :].strip()
    label = Label("cn", mark.value, mark.end, piece.text[: mark.end].strip()) if mark is not None else None
    fine = find_type_in_title(title) if len(title) <= _LONGEST_TITLE else None
    return Heading(label, title, fine, read_each(title), len(piece.text), is_question=False)
