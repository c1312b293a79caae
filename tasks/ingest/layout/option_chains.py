"""The marks of options (`A.`, `(B)`, `C、`) in lines, and the run of them that reads best."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from schemas import patterns as re
from tasks.ingest.words.cleaning import is_cjk
from tasks.ingest.words.labels import parse_label
from tasks.ingest.words.once import once_a_paper

MAX_OPTIONS = 10
LETTERS = "ABCDEFGHIJ"
# `(A)`, `A.`, `A)`, `A,`, `A  `, `(a)`, `a.`, `Ⓐ`, in the order in which they are tried
STYLES = ("bracketed", "stopped", "closed", "comma", "spaced", "small_bracketed", "small_stopped", "circled")
BULLETS = " \t|•·●○◯□☐▢◦▪-*✓✔√★☑→>="
TICKS = "✓✔√★☑*"
_TEXT = re.compile(r"\w|[^\s\w、,，.;；|]")
# `A 甲 B 乙`: on a line that begins with a letter single spaces separate options
_LETTER_LINE = re.compile(r"\s*[A-J](?:\s|[\u4e00-\u9fff“《])")
WEAK = ("comma", "spaced", "small_bracketed", "small_stopped")


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
# A letter and what may close it, in one look for all styles. It begins with the letter: a search skips to letters.
# Small letters count at the start of a line, behind white space, bullets and brackets.
_AHEAD = re.escape(BULLETS) + r"\s；;（(\["
_STRONG_MARK = re.compile(
    rf"([A-Ja-jⒶ-Ⓙ])(?<![^{_AHEAD}][a-j])(\s*)(?:([.．、:：)）\]】])(\s*)([.．、:：]\s*)?|(?<=[\sⒶ-Ⓙ]))"
)
_ANY_MARK = re.compile(
    rf"([A-Ja-jⒶ-Ⓙ])(?<![^{_AHEAD}][a-j])(\s*)(?:([.．、:：)）\]】,，;；])(\s*)([.．、:：]\s*)?|(?<=[\sⒶ-Ⓙ])|(?=[\u4e00-\u9fff“《]))"
)


@once_a_paper
def scan_line(text: str, is_choice: bool) -> _Scan:
    """The markers in a line, by style: begin, end, label, `at_start`, `has_gap`."""
    found: _Scan = {}
    lead = -1
    for match in (_ANY_MARK if is_choice else _STRONG_MARK).finditer(text):
        if lead < 0:
            lead = len(text) - len(text.lstrip(BULLETS))
        letter, close = match[1], match[3]
        if close is not None and close in ".．、:：" and letter <= "J" and not (is_choice and match[2]):
            styles = [("stopped", match.start(), match.end(4))]  # most of them
        else:
            styles = _list_styles(match, is_choice)
        for style, begin, end in styles:
            at_start = begin <= lead
            if not at_start and text[:begin].strip().isalpha() and _names_part(text, begin):
                continue
            before = begin - (begin > 1 and text[begin - 1] in TICKS)  # `A. wind   √B. water`
            has_gap = begin > 0 and (text[before - 1].isspace() or text[before - 1] in "|；;")
            if at_start or has_gap:
                if style == "spaced" and not (at_start or ends_wide(text, begin) or _LETTER_LINE.match(text)):
                    continue
            elif style in WEAK or not _is_boundary(text[begin - 1], style):
                continue
            label = letter if letter <= "J" else _read_token(letter)
            if style in found:
                found[style].append((begin, end, label, at_start, has_gap))
            else:
                found[style] = [(begin, end, label, at_start, has_gap)]
    return found or _NOTHING


def _names_part(text: str, begin: int) -> bool:
    """Whether a letter belongs to `Part A.` at the beginning of its line."""
    label = parse_label(text)
    return label is not None and label.style == "part" and begin < label.end


def _list_styles(match: re.Match[str], is_choice: bool) -> list[tuple[str, int, int]]:
    """The styles in which a letter may be read, and where the marker and its text begin."""
    letter, gap, close, _, second = match.groups()
    begin = match.start()
    if letter >= "Ⓐ":
        return [("circled", begin, match.end(2))]
    is_capital = letter <= "J"
    styles: list[tuple[str, int, int]] = []
    if is_choice and is_capital and (gap or close is None):
        styles.append(("spaced", begin, match.end(2)))
    if close is None:
        return styles
    if close in ",，;；":
        if is_capital:
            styles.append(("comma", begin, match.end(4)))
        return styles
    if close in ".．、:：":
        styles.append(("stopped" if is_capital else "small_stopped", begin, match.end(4)))
        return styles
    # behind a closing bracket one more stop belongs to the mark
    has_stop = second is not None and second[0] in ".．、"
    ahead = match.string[:begin].rstrip()
    if is_capital:
        if ahead[-1:] in ("（", "(", "[", "【"):
            styles.append(("bracketed", len(ahead) - 1, match.end()))
        if close in ")）":
            styles.append(("closed", begin, match.end() if has_stop else match.end(4)))
    elif close != "】":
        if is_choice and ahead[-1:] in ("（", "(", "["):
            styles.append(("small_bracketed", len(ahead) - 1, match.end() if has_stop else match.end(4)))
        if close != "]":
            styles.append(("small_stopped", begin, match.end(4)))
    return styles


# `①砂土 ②壤土`: offered answers only where the section says so and no letters stand
_CIRCLED_NUMBER = re.compile(r"([①-⑩])\s*[.．、]?\s*")


def scan_circled(text: str) -> list[tuple[int, int, str, bool, bool]]:
    """The circled numbers of a line as `scan_line` returns markers."""
    if not ("①" in text or "②" in text or "③" in text or "④" in text):
        return []
    lead = len(text) - len(text.lstrip(BULLETS))
    found: list[tuple[int, int, str, bool, bool]] = []
    for match in _CIRCLED_NUMBER.finditer(text):
        begin = match.start()
        has_gap = begin > 0 and (text[begin - 1].isspace() or text[begin - 1] in "|；;")
        if begin <= lead or has_gap or _is_boundary(text[begin - 1], ""):
            found.append((begin, match.end(), _read_token(match[1]), begin <= lead, has_gap))
    return found


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
    """Whether an option may begin right after this character: `(A)3(B)6`, `甲B.乙`."""
    if last in "。；;，,.．？?！!）)】》”":
        return True
    if style == "stopped" and (is_cjk(last) or last.isdigit()):
        return last not in "（(【[、—-"
    if style == "bracketed":
        return last not in "、或和与及为是选_" and not (last.isascii() and last.isalpha())
    return False


def find_chain(markers: Sequence[Marker], texts: Sequence[str]) -> list[Marker]:
    """Return the run of markers A, B, C … that reads best as options: each with text of its own."""
    if (
        4 <= len(markers) <= MAX_OPTIONS
        and "".join([mark.label for mark in markers]) == LETTERS[: len(markers)]
        and all(_has_text(texts, *pair) for pair in pairwise(markers))
    ):
        return list(markers)  # as most questions print them
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
        key = (len(chain) + 0.5 * sum(1 for mark in chain if mark.at_start) / max(len(chain), 1), start)
        if len(chain) >= 2 and key >= best_key:
            best, best_key = chain, key
    if len(best) >= 4:
        return best
    loose = _find_loose_chain(markers, texts)
    return loose if len(loose) > len(best) else best


def _find_loose_chain(markers: Sequence[Marker], texts: Sequence[str]) -> list[Marker]:
    """Markers whose labels are complete but out of order, or printed twice."""
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
    """Whether anything but separators stands between a marker and the next."""
    if following is not None and following.piece == mark.piece:
        return _TEXT.search(texts[mark.piece], mark.end, following.begin) is not None
    if _TEXT.search(texts[mark.piece], mark.end):
        return True
    last = following.piece if following is not None else len(texts)
    if any(_TEXT.search(text) for text in texts[mark.piece + 1 : last]):
        return True
    return following is not None and _TEXT.search(texts[last], 0, following.begin) is not None
