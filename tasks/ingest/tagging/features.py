"""What a tagger sees of the lines of a paper.

How each begins and ends, how it looks, what repeats, and its neighbours.

No feature holds a word of the text, but that a line speaks of marks, of a question or of an answer: what was learned from papers
of one subject or language holds for others.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from tasks.ingest.layout.pieces import Piece
from tasks.ingest.layout.series import SeriesMark, read_marks_of
from tasks.ingest.readers.extraction import Line

_OPTION = re.compile(r"\s*[（(\[]?[A-Ha-h][)）\].．、:：]\s*\S")
_OPTIONS_INLINE = re.compile(r"\bA\s*[.．、)）].+\bB\s*[.．、)）]")
_ANSWER = re.compile(
    r"\s*[【\[（(]?\s*(?:参考|正确|标准)?(?:答案|答|解析|解|分析|(?i:answers?|ans|solution|key|explanation)\b)\s*[】\])）]?\s*[:：]?"
)
_BLANK = re.compile(r"_{3,}|[（(]\s*[)）]|﹍|…{2,}")
_KEYS = re.compile(r"\s*\d+\s*[-–~]\s*\d+\s*[A-D]")
_MARKS = re.compile(r"分|points?\b|marks?\b")
_ENDS = {"?": "?", "？": "?", "。": ".", ".": ".", "．": ".", ":": ":", "：": ":", ";": ";", "；": ";"}
_LENGTHS, _SHARES, _COUNTS = (3, 12, 30, 80), (0.3, 0.6, 0.85), (1, 3, 8)
_REPEATS, _PLACES = (0.01, 0.05, 0.15), (0.05, 0.9)
_SAME_LEFT, _FAR_LEFT, _SAME_SIZE, _WIDE_INDENT = 2.0, 25.0, 0.6, 5


def describe_lines(pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int]) -> list[list[str]]:
    """The features of every line, its own first.

    `starts` are the offsets of `lines` in the raw text.
    """
    own = _describe_each(pieces, lines, starts)
    described: list[list[str]] = []
    last = len(own) - 1
    for index, (style, value, series, step, count, kind, ends, looks) in enumerate(own):
        features = [
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
        for step_to in (-2, -1, 1, 2, 3):
            place = index + step_to
            if 0 <= place <= last:
                other = own[place]
                features += [
                    f"{step_to}s{other[0]}v{other[1]}",
                    f"{step_to}p{other[3]}",
                    f"{step_to}k{other[5]}",
                    f"{step_to}e{other[6]}",
                    f"{step_to}l{other[7]}",
                    f"{step_to}s{other[0]}k{other[5]}s{style}",
                    f"{step_to}k{other[5]}e{ends}",
                ]
            else:
                features.append(f"{step_to}none")
        described.append(features)
    return described


_Own = tuple[str, str, str, str, str, str, str, str]


def _describe_each(pieces: Sequence[Piece], lines: Sequence[Line], starts: Sequence[int]) -> list[_Own]:
    """What each line shows by itself.

    Its label and its value, its series, whether it goes on, the length of the series, its kind, its end and its looks.
    """
    marks = {mark.place: mark for mark in read_marks_of(pieces)}
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
            if _ANSWER.match(text)
            else "o"
            if _OPTION.match(text)
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
