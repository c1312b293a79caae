"""The marks of options in lines, `A.` `(B)` `C、`, and the run A, B, C … of them that reads best."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tasks.ingest.words.cleaning import is_cjk

MAX_OPTIONS = 10


LETTERS = "ABCDEFGHIJ"


MARKERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("bracketed", re.compile(r"[（(\[【]\s*([A-J])\s*[)）\]】]\s*[.．、:：]?\s*")),
    ("stopped", re.compile(r"([A-J])\s*[.．、:：]\s*")),
    ("closed", re.compile(r"([A-J])\s*[)）]\s*[.．、]?\s*")),
    ("comma", re.compile(r"([A-J])\s*[,，;；]\s*")),
    ("spaced", re.compile(r"([A-J])(?:\s+|(?=[\u4e00-\u9fff“《]))")),
    ("small_bracketed", re.compile(r"[（(\[]\s*([a-j])\s*[)）\]]\s*[.．、]?\s*")),
    ("small_stopped", re.compile(r"([a-j])\s*[.．、:：)）]\s*")),
    ("circled", re.compile(r"([Ⓐ-Ⓙ])\s*")),
)


# of each of these sets a text must hold a character for the markers of a style to stand in it
_CAPITALS, _SMALL_LETTERS = frozenset("ABCDEFGHIJ"), frozenset("abcdefghij")


_NEEDED: dict[str, tuple[frozenset[str], ...]] = {
    "bracketed": (frozenset("（([【"), frozenset(")）]】"), _CAPITALS),
    "stopped": (frozenset(".．、:："), _CAPITALS),
    "closed": (frozenset(")）"), _CAPITALS),
    "comma": (frozenset(",，;；"), _CAPITALS),
    "spaced": (_CAPITALS,),
    "small_bracketed": (frozenset("（(["), frozenset(")）]"), _SMALL_LETTERS),
    "small_stopped": (frozenset(".．、:：)）"), _SMALL_LETTERS),
    "circled": (frozenset("ⒶⒷⒸⒹⒺⒻⒼⒽⒾⒿ"),),
}


BULLETS = " \t|•·●○◯□☐▢◦▪-*✓✔√★☑→>="


_TEXT = re.compile(r"\w|[^\s\w、,，.;；|]")


# `A 甲 B 乙`: on a line that begins with a letter single spaces separate options
_LETTER_LINE = re.compile(r"\s*[A-J](?:\s|[\u4e00-\u9fff“《])")


_SMALL = ("small_bracketed", "small_stopped")


WEAK = ("comma", "spaced", *_SMALL)


class Marker(NamedTuple):
    """An option label: piece and index where it begins, index where its text begins."""

    piece: int
    begin: int
    end: int
    label: str
    at_start: bool
    has_gap: bool


_Scan = dict[str, list[tuple[int, int, str, bool, bool]]]


_NOTHING: _Scan = {}


# Without one of these a line holds no marker: where no heading announces options, and where one does.
_ANY_STRONG = re.compile(r"[A-Ja-j]\s*[.．、:：)）\]】]|[Ⓐ-Ⓙ]")


_ANY = re.compile(r"[A-J](?:\s|[.．、:：)）\]】,，;；\u4e00-\u9fff“《])|[a-j]\s*[.．、:：)）\]]|[Ⓐ-Ⓙ]")


def find_markers(scans: Sequence[_Scan], style: str) -> list[Marker]:
    """The markers of one style in lines that were scanned, in order."""
    return [Marker(index, *mark) for index, scan in enumerate(scans) if scan for mark in scan.get(style, ())]


@lru_cache(maxsize=1 << 13)  # a line is looked at for its question's number, its options and its neighbours
def scan_line(text: str, is_choice: bool) -> _Scan:
    """Return begin, end, label, `at_start` and `has_gap` of the markers in a line, by style; never changed."""
    if not (_ANY if is_choice else _ANY_STRONG).search(text):
        return _NOTHING
    found: _Scan = {}
    characters = set(text)
    for style, pattern in MARKERS:
        if style in WEAK and not is_choice and style != "small_stopped":
            continue
        for needed in _NEEDED[style]:
            if needed.isdisjoint(characters):
                break
        else:
            marks = list(find_marks(text, style, pattern))
            if marks:
                found[style] = marks
    return found


def find_marks(text: str, style: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, str, bool, bool]]:
    """The markers of one style in a line, as `scan_line` returns them."""
    lead = len(text) - len(text.lstrip(BULLETS))
    for match in pattern.finditer(text):
        begin = match.start()
        at_start = begin <= lead
        has_gap = begin > 0 and (text[begin - 1].isspace() or text[begin - 1] in "|；;")
        if style == "spaced" and not (
            at_start or (has_gap and (ends_wide(text, begin) or _LETTER_LINE.match(text)))
        ):
            continue
        if style in _SMALL and not at_start and not has_gap:
            continue
        if style == "comma" and not at_start and not has_gap:
            continue
        if not at_start and not has_gap and not _is_boundary(text[begin - 1], style):
            continue
        token = match.group(1)
        label = _read_token(token)
        yield begin, match.end(), label, at_start, has_gap


def _read_token(token: str) -> str:
    """The letter of a printed label: A, a, Ⓐ and ① are all A."""
    code = ord(token)
    if 0x2460 <= code < 0x246A:
        return chr(code - 0x2460 + 65)
    return chr(code - 0x24B6 + 65) if 0x24B6 <= code < 0x24C0 else token.upper()


def ends_wide(text: str, end: int) -> bool:
    """Whether the text before `end` closes with two spaces, a tab or the bar of a table."""
    last = end
    while last and text[last - 1].isspace():
        last -= 1
    return end - last > 1 or text[end - 1] == "\t" or (last > 0 and text[last - 1] == "|")


def _is_boundary(last: str, style: str) -> bool:
    """Whether an option may begin right behind this character without white space (`(A)3(B)6`, `甲B.乙`)."""
    if last in "。；;，,.．？?！!）)】》”":
        return True
    if style == "stopped" and (is_cjk(last) or last.isdigit()):
        return last not in "（(【[、—-"
    if style == "bracketed":
        return last not in "、或和与及为是选_" and not (last.isascii() and last.isalpha())
    return False


def find_chain(markers: Sequence[Marker], texts: Sequence[str]) -> list[Marker]:
    """Return the run of markers A, B, C … that reads best as options: each with text of its own."""
    by_label: dict[str, list[int]] = {}
    for index, mark in enumerate(markers):
        by_label.setdefault(mark.label, []).append(index)
    starts = by_label.get("A", [])
    if not starts:
        return []
    best: list[Marker] = []
    best_key: tuple[float, int] = (0.0, 0)
    for start in starts:
        chain = [markers[start]]
        at = start
        while at >= 0:
            places = by_label.get(chr(ord(chain[-1].label) + 1), ())
            at = next(
                (
                    places[place]
                    for place in range(bisect_right(places, at), len(places))
                    if _has_text(texts, chain[-1], markers[places[place]])
                ),
                -1,
            )
            if at >= 0:
                chain.append(markers[at])
        if len(chain) < 2 or not _has_text(texts, chain[-1], None):
            chain = chain[:-1] if len(chain) > 2 and not _has_text(texts, chain[-1], None) else chain
        if len(chain) >= 2 and not _has_text(texts, chain[0], chain[1]):
            continue
        key = (len(chain) + 0.5 * sum(1 for mark in chain if mark.at_start) / max(len(chain), 1), start)
        if len(chain) >= 2 and key >= best_key:
            best, best_key = chain, key
    if len(best) >= 4:
        return best
    loose = _find_loose_chain(markers, texts)
    return loose if len(loose) > len(best) else best


def _find_loose_chain(markers: Sequence[Marker], texts: Sequence[str]) -> list[Marker]:
    """Return markers at line starts or behind gaps whose labels are complete but out of order, or printed twice.

    Columns read across give A C B D, list restarts lost in conversion give A A B C.
    """
    marks = [mark for mark in markers if mark.at_start or mark.has_gap]
    if not marks or not any(mark.at_start for mark in marks):
        return []
    first = next((index for index, mark in enumerate(marks) if mark.label == "A"), None)
    if first is None:
        return []
    marks = [
        mark
        for index, mark in enumerate(marks[first:], start=first)
        if _has_text(texts, mark, marks[index + 1] if index + 1 < len(marks) else None)
    ]
    labels = [mark.label for mark in marks]
    if not 3 <= len(marks) <= MAX_OPTIONS:
        return []
    expected = set(LETTERS[: len(marks)])
    if set(labels) == expected:
        return list(marks)
    is_repeat = (
        len(set(labels)) == len(labels) - 1
        and all(mark.at_start for mark in marks)
        and labels == sorted(labels)
    )
    is_gap = (
        len(set(labels)) == len(labels) and labels == sorted(labels) and ord(labels[-1]) - 65 <= len(labels)
    )
    return list(marks) if is_repeat or is_gap else []


def _has_text(texts: Sequence[str], mark: Marker, following: Marker | None) -> bool:
    """Whether anything but separators stands between a marker and the next: as in `_slice`, without cutting."""
    if following is not None and following.piece == mark.piece:
        return _TEXT.search(texts[mark.piece], mark.end, following.begin) is not None
    if _TEXT.search(texts[mark.piece], mark.end):
        return True
    last = following.piece if following is not None else len(texts)
    if any(_TEXT.search(text) for text in texts[mark.piece + 1 : last]):
        return True
    return following is not None and _TEXT.search(texts[last], 0, following.begin) is not None
