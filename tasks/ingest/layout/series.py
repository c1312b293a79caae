"""What repeats in the lines of a paper.

There are series of marks at their beginnings, lines that close questions, and lines that ask.

The beginning of every line is read as a mark: a word or a sign before it, a numeral, what closes it. Marks of one family
that run on are a series. No title and no type needs to be known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.grammar import answer_mark, begins_asking, may_open_answer, not_counting
from tasks.ingest.words.labels import Label, read_number
from tasks.ingest.words.once import once_a_paper
from tasks.ingest.words.signs import ends_asking

# A word or a few signs, a numeral, and what closes it; a lead such as `得分` may stand before it.
_MARK = re.compile(
    r"\s*+(?:(?P<lead>[^\W\d_]{2,6})\s++(?=[^\W\d_]*\s*[一二三四五六七八九十]{1,3}\s*[、.．。,，:：]))?"
    r"(?P<tag>[\[【(（][^\])】）\d]{1,8}[\])】）]\s*+(?=\d))?"
    r"(?P<open>[（(\[【<《]?)\s*+(?P<word>(?:[A-Za-z]{2,10}|[Qq])\s*[.:#]?\s*+(?:[Nn][or]?[.°º]\s*+)?(?=[\dIVXA-H一二三四五六七八九十])|第\s*|问题|题目?|试题|习题|例题?|部分)?+"
    r"(?P<numeral>\d{1,3}(?!\d)|[一二三四五六七八九十]{1,3}|[①-⑳]|[Ⅰ-Ⅻ]|[IVX]{1,5}(?![A-Za-z])|[A-H](?![A-Za-z])|"
    r"(?:One|Two|Three|Four|Five|Six|Seven|Eight|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT)\b)"
    r"(?P<unit>\s*(?:大题|小题|部分|题|卷|篇|节)?)(?P<close>\s?[）)\]】>》]?\s?[.．、。,，:：;；—–-]{0,2})(?P<gap>\s*)"
)
_MAY_MARK = re.compile(r"\s*[（(\[【<《\dA-Z一-十第问题试习例部①-⑳Ⅰ-Ⅻ二三四五六七八九得]")
# `1a) Describe`: a number that the label of its first part closes
_FIRST_PART = re.compile(r"\s?[aA]\s?[)）.]\s*\S")
_STOP, _BRACKET = re.compile(r"[.．、。,，:：;；—–-]"), re.compile(r"[）)\]】>》]")
# So many marks make a series.
MIN_RUN = 3


class SeriesMark(NamedTuple):
    """The mark at the beginning of a line: which line, where it ends, its value and family."""

    place: int
    end: int
    value: int
    family: str


class Repeated:
    """What repeats in the lines of a paper, found once for all its readings."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        # by place, of which lines it is known that they are read though no part of a question, as contracts ask for them
        self.known: dict[int, bool] = {}

    @cached_property
    def labels(self) -> dict[int, Label]:
        """The numbers that open lines, by the offset of the line."""
        return {piece.start: label for piece in self._pieces if (label := piece.label) is not None}

    @cached_property
    def in_order(self) -> list[Piece]:
        """The lines by their offsets."""
        return sorted(self._pieces, key=lambda piece: piece.start)

    @cached_property
    def marks(self) -> list[SeriesMark]:
        """What `read_marks_of` finds."""
        return read_marks_of(self._pieces)

    @cached_property
    def runs(self) -> list[list[SeriesMark]]:
        """What `list_runs` finds."""
        return list_runs(self.marks)

    @cached_property
    def closing(self) -> tuple[str, list[int]]:
        """What `find_closing` finds."""
        return find_closing(self._pieces)

    @cached_property
    def asking(self) -> list[int]:
        """What `find_asking` finds."""
        return find_asking(self._pieces)

    @cached_property
    def tasks(self) -> list[int]:
        """What `find_tasks` finds."""
        return find_tasks(self._pieces)


def read_marks_of(pieces: Sequence[Piece]) -> list[SeriesMark]:
    """The marks at the beginning of lines."""
    found: list[SeriesMark] = []
    for place, piece in enumerate(pieces):
        if _MAY_MARK.match(piece.text) is None:
            continue
        mark = read_series_mark(place, piece.text)
        if mark is not None:
            found.append(mark)
    return found


def read_series_mark(place: int, text: str) -> SeriesMark | None:
    """The mark at the beginning of a line; None where there is none.

    The line is the `place`-th of its paper.
    """
    mark = _read_mark(text)
    return None if mark is None else SeriesMark(place, *mark)


@once_a_paper
def _read_mark(text: str) -> tuple[int, int, str] | None:
    """Where the mark at the beginning of a line ends, its value and family."""
    match = _MARK.match(text)
    if match is None:
        return None
    kind = _kind(match["numeral"])
    value = ord(match["numeral"]) - ord("A") + 1 if kind == "A" else read_number(match["numeral"])
    if value is None or not 0 < value < 400:
        return None
    word = "".join(match["word"].split()).casefold().rstrip(".:#") if match["word"] else ""
    if word and not word.isascii() and not match["unit"].strip() and kind == "1" and word == "第":
        return None  # `第3个` counts no question
    close = match["close"]
    is_bracketed = bool(match["open"]) or _BRACKET.search(close) is not None
    has_stop = _STOP.search(close) is not None
    rest = text[match.end() :]
    if kind in ("A", "I") and not word and not has_stop and not is_bracketed:
        return None
    has_part = kind == "1" and _FIRST_PART.match(rest) is not None
    if not (word or is_bracketed or has_stop or match["unit"].strip() or len(match["gap"]) > 1 or has_part):
        return None
    if has_part and not (word or is_bracketed or has_stop):
        return match.end(), value, "1a"
    if kind == "1" and rest[:1].isdigit() and not match["gap"] and not word and "、" not in close:
        return None
    if word in not_counting():
        return None
    shape = "()" if match["open"] and is_bracketed else ")" if is_bracketed else "." if has_stop else " "
    family = f"{word}{kind}{match['unit'].strip()}{'' if word or match['unit'].strip() else shape}"
    return match.end(), value, family


def _kind(numeral: str) -> str:
    first = numeral[0]
    if first.isascii() and first.isdigit():
        return "1"
    if "①" <= first <= "⑳":
        return "①"
    if "Ⅰ" <= first <= "Ⅻ" or (numeral.isascii() and set(numeral) <= set("IVX")):
        return "I"
    return "A" if len(numeral) == 1 and first.isascii() else "one" if first.isascii() else "一"


_LEAST_OF_FAMILY = 0.7


def list_runs(marks: Sequence[SeriesMark]) -> list[list[SeriesMark]]:
    """The marks of each family that rise one by one through the paper and hardly begin again."""
    found: list[list[SeriesMark]] = []
    for family, own in by_family(marks).items():
        if family.strip("().") == "A" or sum(1 for mark in own if mark.value == 1) > 1:
            continue
        run = run_up(own, 1)
        if len(run) >= max(MIN_RUN, _LEAST_OF_FAMILY * len(own)):
            found.append(run)
    return found


def by_family(marks: Sequence[SeriesMark]) -> dict[str, list[SeriesMark]]:
    """The marks of each family, in the order of their lines."""
    found: dict[str, list[SeriesMark]] = defaultdict(list)
    for mark in marks:
        found[mark.family].append(mark)
    return dict(found)


def run_up(own: Sequence[SeriesMark], first: int) -> list[SeriesMark]:
    """The marks that rise one by one from the first, and may begin again at 1.

    The first is 2 where the one before it was read as a heading in another form.
    """
    run: list[SeriesMark] = []
    for mark in own:
        if mark.value == (run[-1].value + 1 if run else first) or (mark.value == 1 and len(run) > 1):
            run.append(mark)
    return run


def find_chain(marks: Sequence[SeriesMark]) -> list[SeriesMark]:
    """The longest count 1 2 3 … through marks in digits, in as few families as may be.

    `Q3.` may stand between `2.` and `4)`: who writes by hand changes the dress of a number, not the count.
    """
    best: dict[
        int, tuple[int, int, int]
    ] = {}  # value → changes, place in `marks`, of the chain that ends there
    before: dict[int, int] = {}
    last = -1
    for at, mark in enumerate(marks):
        if "1" not in mark.family:
            continue
        if mark.value == 1:
            changes, left = 0, -1
        elif mark.value - 1 in best:
            changes, left, _ = best[mark.value - 1]
            changes += marks[left].family != mark.family
        else:
            continue
        before[at] = left
        known = best.get(mark.value)
        if known is None or changes <= known[0]:
            best[mark.value] = (changes, at, left)
        if (
            last < 0
            or mark.value > marks[last].value
            or (mark.value == marks[last].value and best[mark.value][1] == at)
        ):
            last = at
    chain: list[SeriesMark] = []
    while last >= 0:
        chain.append(marks[last])
        last = before[last]
    return chain[::-1]


# So many lines must close questions, and hardly any two of them stand together.
_LEAST_CLOSED, _MOST_CLOSE = 5, 0.2
_CLOSER = re.compile(
    r"(?P<word>[^\W\d_]{2,12}(?: [^\W\d_]{2,12}){0,2})(?:\s*[:：]|\s)\s*(?P<key>[A-Ja-j]{1,6}|[√×✓✗对错TF])\s*"
)


def find_closing(pieces: Sequence[Piece]) -> tuple[str, list[int]]:
    """The word of the answers that lines end with, `正确答案 B`, and these lines, if many."""
    lines = ["" if piece.kind == "table" else piece.text.strip() for piece in pieces]
    own = {place: match["word"] for place, text in enumerate(lines) if (match := _CLOSER.fullmatch(text))}
    words = Counter(own.values())
    usual = words.most_common(1)
    if not usual or usual[0][1] < _LEAST_CLOSED:
        return _find_answering(pieces, lines)
    word = usual[0][0]
    # the key may be missing, and the line may hold the last option too
    closer = re.compile(rf"{re.escape(word)}(?:\s*[:：]|\s+|$)\s*(?:[A-Ja-j]{{1,6}}|[√×✓✗对错TF])?$")
    closing = [
        place
        for place, text in enumerate(lines)
        if word in text
        and closer.search(text) is not None
        and (own.get(place, word) == word or words[own[place]] < _LEAST_CLOSED)
    ]
    close = sum(1 for left, right in pairwise(closing) if right == left + 1)
    return (word, closing) if close <= _MOST_CLOSE * len(closing) else ("", [])


def _find_answering(pieces: Sequence[Piece], lines: Sequence[str]) -> tuple[str, list[int]]:
    """What opens answers of any kind (`Answer: Jupiter`), and these lines, if many."""
    marks = {
        place: mark
        for place, text in enumerate(lines)
        if (":" in text or "：" in text)
        and may_open_answer(text[:1])
        and (mark := answer_mark().match(text)) is not None
        and mark[1].strip(" *_")
        and mark.end() < len(text)
    }
    numbered = sum(1 for piece in pieces if piece.label is not None and not piece.label.is_weak)
    close = sum(1 for left, right in pairwise(marks) if right == left + 1)
    if len(marks) < _LEAST_CLOSED or close > _MOST_CLOSE * len(marks) or 2 * numbered > len(marks):
        return "", []
    return next(iter(marks.values()))[0].strip(" :："), list(marks)


# So many lines must ask, and most of them stand two lines below the one before.
_LEAST_ASKING, _MOST_SPACED = 10, 0.7
_LONGEST_REPLY = 80


def find_asking(pieces: Sequence[Piece]) -> list[int]:
    """The lines that ask, where one line stands between most of them; else none."""
    asking = [place for place, piece in enumerate(pieces) if ends_asking(piece.text)]
    spaced = sum(
        1
        for left, right in pairwise(asking)
        if right == left + 2 and len(pieces[left + 1].text) <= _LONGEST_REPLY
    )
    return asking if len(asking) >= _LEAST_ASKING and spaced >= _MOST_SPACED * (len(asking) - 1) else []


# One line may stand between two tasks: the rest of a long one, or a title.
_NEAR_TASK = 2
_LETTERS = ("letter", "letterp", "part")
# Where questions hold so many tasks each, the tasks are the questions.
TASKS_EACH = 4


def find_tasks(pieces: Sequence[Piece]) -> list[int]:
    """The lines without a number that set a task, where most stand below another.

    A letter counts as no number: `a) Explain …` may be the first of a list.
    """
    setting = [
        place
        for place, piece in enumerate(pieces)
        if piece.kind != "table"
        and (piece.label is None or piece.label.style in _LETTERS)
        and not (text := piece.text[piece.label.end if piece.label else 0 :].lstrip())[:1].islower()
        and begins_asking(text)
        and any(map(str.isalpha, text))  # a line to write on sets no task
    ]
    near = sum(1 for left, right in pairwise(setting) if right <= left + _NEAR_TASK)
    return setting if len(setting) >= _LEAST_ASKING and near >= _MOST_SPACED * (len(setting) - 1) else []
