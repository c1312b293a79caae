"""Finding the offered options of a question: inline, stacked, in columns, behind tabs or automatic numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from tasks.ingest.layout.pieces import Piece, join_pieces
from tasks.ingest.words.cleaning import is_cjk
from tasks.ingest.words.kinds import are_truth_options

MAX_OPTIONS = 10
_LETTERS = "ABCDEFGHIJ"
_MARKERS: tuple[tuple[str, re.Pattern[str]], ...] = (
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
_BULLETS = " \t|•·●○◯□☐▢◦▪-*✓✔√★☑→>="
_STAR = re.compile(r"\s*(?:\*+|[✓✔√★☑→]|=>|->|>>)\s*$")
_CORRECT = re.compile(
    r"\s*(?:[（(\[]\s*(?:the )?(?:correct|right|key)(?: answer| option| choice)?\s*[)）\]]|(?:<-+|<=+|←)\s*(?:correct|answer|key)?(?: answer)?|[✓✔√★☑]|(?<=\s)\*+|(?<=\w)\*{1,3})\s*$",
    re.IGNORECASE,
)
# without one of these characters the two above match nothing
_STARRED = re.compile(r"[*✓✔√★☑→>]")
_MARKED = re.compile(r"[<←✓✔√★☑*)）\]]")
_TEXT = re.compile(r"\w|[^\s\w、,，.;；|]")
_CJK = "[\u4e00-\u9fff“《]"
_BREAK = re.compile(r"\s*\n\s*")
_BARS = re.compile(r"^\|\s+|\s+\|$")
_GLUED = re.compile(
    rf"\s*(?P<a>A)(?={_CJK})[^A-D]+(?P<b>B)(?={_CJK})[^A-D]+(?P<c>C)(?={_CJK})[^A-D]+(?:(?P<d>D)(?={_CJK})[^A-D]+)?"
)
# `①砂土 ②壤土`: offered answers only where the section says so and no letters stand
_CIRCLED_NUMBERS = ("circled_number", re.compile(r"([①-⑩])\s*[.．、]?\s*"))
# `A 甲 B 乙`: on a line that begins with a letter single spaces separate options
_LETTER_LINE = re.compile(r"\s*[A-J](?:\s|[\u4e00-\u9fff“《])")
_SMALL = ("small_bracketed", "small_stopped")
_WEAK = ("comma", "spaced", *_SMALL)


class Marker(NamedTuple):
    """An option label: piece and index where it begins, index where its text begins."""

    piece: int
    begin: int
    end: int
    label: str
    at_start: bool
    has_gap: bool


@dataclass
class OptionSplit:
    """The pieces of a stem, the options in order of their labels, notes, and the labels marked as correct."""

    stem: list[Piece]
    options: list[tuple[str, list[Piece]]]
    notes: list[str]
    starred: list[str] = field(default_factory=list)


def split_options(pieces: Sequence[Piece], is_choice: bool) -> OptionSplit | None:
    """Separate the options from the stem; None where there are none.

    `is_choice` (the section says so) accepts weaker marks: two options, labels without a stop, small letters.
    """
    chain = _find_best(pieces, is_choice)
    if chain is None:
        return _split_boxes(pieces)
    is_glued = not chain[1].has_gap and _GLUED.fullmatch(pieces[chain[0].piece].text) is not None
    notes = ["options_glued"] if is_glued else []
    labels = [mark.label for mark in chain]
    expected = list(_LETTERS[: len(chain)])
    if labels != expected:
        if sorted(labels) == expected:
            notes.append("options_out_of_order")
        elif len(set(labels)) < len(labels):
            notes.append("option_labels_repaired")
        else:
            notes.append("option_missing")
    contents = [
        _slice(pieces, mark, chain[index + 1] if index + 1 < len(chain) else None)
        for index, mark in enumerate(chain)
    ]
    if "option_labels_repaired" in notes:
        labels = expected
    options = sorted(zip(labels, contents, strict=True), key=lambda pair: pair[0])
    starred = _take_stars(chain, options, pieces)
    first = chain[0]
    stem = list(pieces[: first.piece])
    head = pieces[first.piece].cut(0, first.begin)
    if head.text.strip(_BULLETS):
        stem.append(head)
    return OptionSplit(stem, options, notes, starred)


def offers_options(pieces: Sequence[Piece], is_choice: bool) -> bool:
    """Whether `split_options` would find options; it costs half as much."""
    return offers_options_in([piece.text for piece in pieces], is_choice)


def offers_options_in(texts: Sequence[str], is_choice: bool) -> bool:
    """Whether `split_options` would find options in pieces with these texts."""
    if _find_best_in(tuple(texts), is_choice) is not None:
        return True
    boxes = [index for index, text in enumerate(texts) if not text[:1].isalnum() and _BOX.match(text)]
    return 2 <= len(boxes) <= MAX_OPTIONS and boxes[0] > 0


def _find_best(pieces: Sequence[Piece], is_choice: bool) -> tuple[Marker, ...] | None:
    """Return the markers of the style that reads best as options."""
    return _find_best_in(tuple([piece.text for piece in pieces]), is_choice)


@lru_cache(
    maxsize=1 << 9
)  # a question's lines are looked at for its number first, and soon after for its fields
def _find_best_in(texts: tuple[str, ...], is_choice: bool) -> tuple[Marker, ...] | None:
    best: tuple[float, str, list[Marker]] | None = None
    scans = [_scan(text, is_choice) for text in texts]
    counts: dict[str, int] = {}
    for scan in scans:
        for style, marks in scan.items():
            counts[style] = counts.get(style, 0) + len(marks)
    for style, _ in _MARKERS:
        count = counts.get(style, 0)
        if count < 2:
            continue  # two options at least
        handicap = 0.9 if style in _WEAK else 0
        if best is not None and count * 1.3 - handicap <= best[0]:
            continue  # even all of them together read no better
        chain = _find_chain(_find_markers(scans, style), texts)
        if style == "small_stopped" and not is_choice and not _are_plain_options(chain, texts):
            continue
        if len(chain) < (2 if is_choice else 3) and not (
            len(chain) == 2 and all(mark.at_start for mark in chain)
        ):
            continue
        score = len(chain) + sum(0.3 for mark in chain if mark.at_start) - handicap
        if best is None or score > best[0]:
            best = (score, style, chain)
    if best is not None:
        return tuple(_add_lone_first(best[2], _find_markers(scans, best[1])))
    if is_choice:
        return tuple(_find_circled(texts) or _find_glued(texts)) or None
    return None


def _add_lone_first(chain: list[Marker], markers: Sequence[Marker]) -> list[Marker]:
    """Put the `A.` of the line above before `A.` `B.` `C.`: a list that counts from the start again after its first paragraph.

    Converters of old Word files restart a list that way. The question's own line is no option.
    """
    first = chain[0]
    if first.label != "A" or len(chain) < 3 or not all(mark.at_start for mark in chain):
        return chain
    if [mark.piece for mark in chain] != list(range(first.piece, first.piece + len(chain))):
        return chain
    above = [mark for mark in markers if mark.piece == first.piece - 1 and mark.piece > 0]
    return [above[0], *chain] if len(above) == 1 and above[0].at_start and above[0].label == "A" else chain


_BOX = re.compile(r"\s*([○◯□☐▢])\s*(?=\S)")


def _split_boxes(pieces: Sequence[Piece]) -> OptionSplit | None:
    """Separate options without labels, each behind a circle or box to be ticked; they are called A, B, C … in order."""
    marks = [
        (index, match.end())
        for index, piece in enumerate(pieces)
        if not piece.text[:1].isalnum() and (match := _BOX.match(piece.text))
    ]
    if not 2 <= len(marks) <= MAX_OPTIONS or not marks[0][0]:
        return None
    options: list[tuple[str, list[Piece]]] = []
    for place, (index, end) in enumerate(marks):
        last = marks[place + 1][0] if place + 1 < len(marks) else len(pieces)
        options.append((_LETTERS[place], [pieces[index].cut(end), *pieces[index + 1 : last]]))
    return OptionSplit(list(pieces[: marks[0][0]]), options, [])


def _find_circled(texts: Sequence[str]) -> list[Marker] | None:
    """Return the circled numbers that offer answers where no letters do."""
    style, pattern = _CIRCLED_NUMBERS
    markers = [
        Marker(index, *mark)
        for index, text in enumerate(texts)
        if "①" in text or "②" in text or "③" in text or "④" in text
        for mark in _find_marks(text, style, pattern)
    ]
    chain = _find_chain(markers, texts) if len(markers) > 1 else []
    return chain if len(chain) > 1 else None


def _take_stars(
    chain: Sequence[Marker], options: list[tuple[str, list[Piece]]], pieces: Sequence[Piece]
) -> list[str]:
    """Return the labels that a star, a tick or `(correct)` marks, and take those marks out of the options.

    A mark on every option is a bullet and says nothing; a star may stand before the label or behind the text.
    """
    before = [
        mark.label
        for mark in chain
        if mark.begin
        and _STARRED.search(pieces[mark.piece].text)
        and _STAR.search(pieces[mark.piece].text[: mark.begin]) is not None
        and (mark.at_start or mark.has_gap or mark.begin)
    ]
    behind = [
        label
        for label, content in dict(options).items()
        if any(_MARKED.search(piece.text) for piece in content) and _CORRECT.search(option_text(content))
    ]
    if 0 < len(before) < len(chain):
        for place, (label, content) in enumerate(options):
            if len(content) and (star := _STAR.search(content[-1].text)) and label not in behind:
                last = content[-1].cut(0, star.start())
                options[place] = (label, [*content[:-1], last] if last.text.strip() else content[:-1])
        return before
    if 0 < len(behind) < len(chain):
        for place, (label, content) in enumerate(options):
            if label in behind:
                end = _CORRECT.search(content[-1].text)
                if end is None:
                    return []
                options[place] = (label, [*content[:-1], content[-1].cut(0, end.start())])
        return behind
    return []


def _find_glued(texts: Sequence[str]) -> list[Marker]:
    """Options on one line with nothing but their letters between them (`A甲B乙C丙D丁`); [] where there are none."""
    for index, text in enumerate(texts):
        match = _GLUED.fullmatch(text)
        if index and match:
            places = [match.start(group) for group in ("a", "b", "c", "d") if match.group(group)]
            return [
                Marker(index, place, place + 1, _LETTERS[order], order == 0, False)
                for order, place in enumerate(places)
            ]
    return []


def _are_plain_options(chain: Sequence[Marker], lines: Sequence[str]) -> bool:
    """Whether `a.` `b.` `c.` `d.` at line starts offer answers rather than count parts: short texts that ask nothing."""
    if len(chain) < 2 or not all(
        mark.at_start or (len(chain) > 3 and _ends_wide(lines[mark.piece], mark.begin)) for mark in chain
    ):
        return False
    pieces = [Piece(line, 0, len(line), ()) for line in lines]
    texts = [
        option_text(_slice(pieces, mark, following))
        for mark, following in zip(chain, [*chain[1:], None], strict=True)
    ]
    if len(chain) < 4:
        return are_truth_options(texts)
    return all(
        len(text) <= 60 and not re.search(r"[？?:：]|[(（]\s*\d+\s*(?:分|marks?|points?|pts?)", text)
        for text in texts
    ) and not any(
        re.match(
            r"(?i)(?:find|prove|show|explain|define|describe|calculate|compute|draw|write|state|list|give|discuss|determine|解释|简述|计算|证明|求)",
            text,
        )
        for text in texts
    )


_Scan = dict[str, list[tuple[int, int, str, bool, bool]]]
_NOTHING: _Scan = {}
# Without one of these a line holds no marker: where no heading announces options, and where one does.
_ANY_STRONG = re.compile(r"[A-Ja-j]\s*[.．、:：)）\]】]|[Ⓐ-Ⓙ]")
_ANY = re.compile(r"[A-J](?:\s|[.．、:：)）\]】,，;；\u4e00-\u9fff“《])|[a-j]\s*[.．、:：)）\]]|[Ⓐ-Ⓙ]")


def _find_markers(scans: Sequence[_Scan], style: str) -> list[Marker]:
    return [Marker(index, *mark) for index, scan in enumerate(scans) if scan for mark in scan.get(style, ())]


@lru_cache(maxsize=1 << 13)  # a line is looked at for its question's number, its options and its neighbours
def _scan(text: str, is_choice: bool) -> _Scan:
    """Return begin, end, label, `at_start` and `has_gap` of the markers in a line, by style; never changed."""
    if not (_ANY if is_choice else _ANY_STRONG).search(text):
        return _NOTHING
    found: _Scan = {}
    characters = set(text)
    for style, pattern in _MARKERS:
        if style in _WEAK and not is_choice and style != "small_stopped":
            continue
        for needed in _NEEDED[style]:
            if needed.isdisjoint(characters):
                break
        else:
            marks = list(_find_marks(text, style, pattern))
            if marks:
                found[style] = marks
    return found


def _find_marks(
    text: str, style: str, pattern: re.Pattern[str]
) -> Iterator[tuple[int, int, str, bool, bool]]:
    lead = len(text) - len(text.lstrip(_BULLETS))
    for match in pattern.finditer(text):
        begin = match.start()
        at_start = begin <= lead
        has_gap = begin > 0 and (text[begin - 1].isspace() or text[begin - 1] in "|；;")
        if style == "spaced" and not (
            at_start or (has_gap and (_ends_wide(text, begin) or _LETTER_LINE.match(text)))
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


def _ends_wide(text: str, end: int) -> bool:
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


def _find_chain(markers: Sequence[Marker], texts: Sequence[str]) -> list[Marker]:
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
    expected = set(_LETTERS[: len(marks)])
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


def _slice(pieces: Sequence[Piece], mark: Marker, following: Marker | None) -> list[Piece]:
    if following is not None and following.piece == mark.piece:
        return [pieces[mark.piece].cut(mark.end, following.begin)]
    found = [pieces[mark.piece].cut(mark.end)]
    last = following.piece if following is not None else len(pieces)
    found.extend(pieces[mark.piece + 1 : last])
    if following is not None:
        head = pieces[last].cut(0, following.begin)
        if head.text.strip(_BULLETS):
            found.append(head)
    return found


def option_text(pieces: Sequence[Piece]) -> str:
    """Return the text of one option on one line; the bar of a table cell is dropped."""
    text = join_pieces([piece for piece in pieces if piece.text.strip()])
    text = (_BREAK.sub(" ", text) if "\n" in text else text).strip().rstrip("○◯□☐▢ \t")
    if "|" not in text:
        return text.strip()
    if text.count("|") == 1:
        return text.strip("|").strip()
    # bars inside a formula (`|A|≠0`) stand without spaces
    return _BARS.sub("", text).strip()


def strip_separators(texts: Sequence[str]) -> list[str]:
    """Drop the semicolons that separate options (`3；` `6；` `9`), where most of them have one."""
    marked = sum(1 for text in texts if text.endswith(("；", ";")))
    if marked >= max(1, len(texts) - 1):
        return [text.rstrip("；; ") for text in texts]
    return list(texts)
