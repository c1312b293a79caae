"""What may open an answer in the lines of an answer part, and what answers may count.

Both are listed in the order of the text: numbers, headings and keys on one side, questions, numbered blanks and the
headings of sections on the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from schemas import patterns as re
from tasks.ingest.content.drafts import Draft
from tasks.ingest.layout.headings import STRONG_STYLES, is_chapter
from tasks.ingest.layout.key_lines import read_key_line
from tasks.ingest.layout.pieces import Piece
from tasks.ingest.words.answers import TRUTH_KEY
from tasks.ingest.words.columns import find_role
from tasks.ingest.words.grammar import number_word
from tasks.ingest.words.labels import KNOWN_NUMBERS, parse_label
from tasks.ingest.words.lexicon import FineType


@dataclass
class KeyPart:
    """The lines with answers below one heading; `own` is the section that holds them."""

    pieces: Sequence[Piece]
    number: int | None = None
    fine: FineType | None = None
    own: int | None = None


@dataclass(frozen=True)
class KeyMark:
    """What may open an answer, or those of a section, and how surely it counts."""

    part: int
    piece: int
    begin: int
    end: int
    value: int | None
    style: str
    worth: float
    text: str | None = None
    fine: FineType | None = None
    own: int | None = None


@dataclass(frozen=True)
class Target:
    """A question, a numbered blank, or the heading of a section, as answers may count it."""

    value: int | None
    style: str
    draft: Draft | None = None
    section: int = 0
    fine: FineType | None = None
    is_alone: bool = False
    is_heading: bool = False


CAPITAL = "capital"
SECTIONS = ("cn", "cnp", "part", "roman", "word", CAPITAL)
HEADING = "heading"
_COUNTING = (*KNOWN_NUMBERS, "bare", "circ", "cn", "cnp", "roman", "letter", "part")


def list_marks(parts: Sequence[KeyPart]) -> list[KeyMark]:
    """The marks of all parts, in order."""
    marks: list[KeyMark] = []
    for place, part in enumerate(parts):
        if part.number is not None or part.fine is not None or part.own is not None:
            marks.append(KeyMark(place, -1, 0, 0, part.number, HEADING, 0.0, fine=part.fine, own=part.own))
        if read_run(part) is None:
            lines = (_list_line_marks(place, index, piece) for index, piece in enumerate(part.pieces))
            marks += _prefer_outer(_drop_further_parts(list(chain.from_iterable(lines)), part.pieces))
    return marks


def _drop_further_parts(marks: Sequence[KeyMark], pieces: Sequence[Piece]) -> list[KeyMark]:
    """The marks without `3(b)` after `3(a)`: the answer of question 3 has been opened."""
    kept: list[KeyMark] = []
    for mark in marks:
        is_part = _OF_PART.match(pieces[mark.piece].text) is not None
        if not (is_part and kept and (kept[-1].style, kept[-1].value) == (mark.style, mark.value)):
            kept.append(mark)
    return kept


def _prefer_outer(marks: Sequence[KeyMark]) -> list[KeyMark]:
    """The marks of a part, those worth more that lie in no list within another of their form."""
    found: list[KeyMark] = []
    runs: dict[str, list[int]] = {}  # the last numbers of the lists that are open, outer ones first
    for mark in marks:
        own = runs.setdefault(mark.style, [])
        value = mark.value or 0
        while own and value not in (1, own[-1] + 1) and any(value == last + 1 for last in own[:-1]):
            own.pop()
        if own and value == own[-1] + 1:
            own[-1] = value
        elif value == 1 or not own:
            own.append(value)
        found.append(replace(mark, worth=mark.worth + _OUTER) if len(own) == 1 else mark)
    return found


_OUTER = 0.1


def _list_line_marks(part: int, index: int, piece: Piece) -> list[KeyMark]:
    lead = _CAPITAL_LEAD.match(piece.text)
    if lead is not None:
        own = KeyMark(part, index, 0, lead.end(), ord(lead[1]) - ord("A") + 1, CAPITAL, 0.0)
        return [own, *_shift(_list_line_marks(part, index, piece.cut(lead.end())), lead.end())]
    titled = _TITLE_LEAD.match(piece.text)
    if titled is not None:
        inner = _list_line_marks(part, index, piece.cut(titled.end()))
        if len(inner) > 1:  # `Complete: 1. since 2. at`
            return _shift(inner, titled.end())
    keys = read_key_line(piece.text)
    if len(keys) == 1:
        end = piece.text.index(keys[0].text, piece.text.index(str(keys[0].number)))
        return [KeyMark(part, index, 0, end, keys[0].number, "num", 0.8)]
    if keys:
        at = 0
        marks = []
        for entry in keys:
            found = piece.text.find(str(entry.number), at)
            at = max(at, found)
            marks.append(KeyMark(part, index, max(found, 0), 0, entry.number, "num", 0.8, entry.text))
        return marks
    inline = split_inline(piece)
    if inline:
        style = "nump" if piece.text[inline[0][1] : inline[0][2]].strip()[:1] in tuple("（(") else "num"
        return [KeyMark(part, index, begin, end, number, style, 0.2) for number, begin, end in inline]
    of_part = _OF_PART.match(piece.text)
    if of_part is not None:
        return [KeyMark(part, index, 0, of_part.start(2), int(of_part[1]), "num", 0.3)]
    label = piece.label
    if label is None:
        named = _NAMED.match(piece.text)  # `問7 徳政令`
        return [KeyMark(part, index, 0, named.end(), int(named[1]), "num", 0.3)] if named is not None else []
    if label.style not in _COUNTING:
        return []
    worth = 0.0 if label.is_weak or label.style in ("bare", "circ") else 0.3
    own = KeyMark(part, index, 0, label.end, label.value, label.style, worth)
    if label.style not in SECTIONS:
        return [own]
    # `一、（一）1-5 BCABC`: a number within a number
    inner = _list_line_marks(part, index, piece.cut(label.end))
    return [own, *_shift(inner, label.end)]


def _shift(marks: Sequence[KeyMark], by: int) -> list[KeyMark]:
    return [replace(mark, begin=mark.begin + by, end=mark.end + by) for mark in marks]


# `C: 1) T 2) F`: the letter of the section before its answers
_CAPITAL_LEAD = re.compile(r"\s*([A-H])\s*[.．:：)]\s*(?=[（(]?\d{1,3}\s*[.．、)）:：])")

_TITLE_LEAD = re.compile(r"\s*(?!\d)[^\d:：。.]{2,32}[:：]\s*(?=[（(]?1\s*[.．、)）])")
_NAMED = re.compile(rf"\s*{number_word()}\s*(\d{{1,3}})(?!\d)\s*(?:小?题)?\s*[.．、:：)）]?\s*")
# `5(a) One mark for …`: the answer of a part of question 5, where what counts is the 5
_OF_PART = re.compile(r"\s*(?:Q\.?\s*)?(\d{1,2})\s*([(（][a-h][)）])")
_INLINE = re.compile(
    r"(?:^\s*+|(?<!\s)\s++|[；;。]\s*+)(?:((?:[（(]\s*)?)(\d{1,3})(?:\s*(?:[、)）．]|[.:：](?!\d))|[-–](?=\s+\D))|"
    rf"{number_word()}\s*(\d{{1,3}})(?!\d)\s*(?:小?题)?\s*[.．、:：)）]?)\s*"
)


_DIGIT = re.compile(r"\d")


def split_inline(piece: Piece) -> list[tuple[int, int, int]]:
    """The numbers of `1、44（…）  2、10  3、3(2)` that run 1 by 1, and where each begins and ends."""
    found = list(_INLINE.finditer(piece.text)) if _DIGIT.search(piece.text) else []
    # `1、…（2）…`: the bracketed number counts the points of the first answer
    found = [mark for mark in found if _form(mark) == _form(found[0])]
    if len(found) < 2 or (found[0].start() > 0 and piece.text[: found[0].start()].strip()):
        return _split_at_commas(piece.text)
    chosen = found[:1]
    for mark in found[1:]:
        if _read_value(mark) == _read_value(chosen[-1]) + 1:
            chosen.append(mark)
    return [(_read_value(mark), mark.start(), mark.end()) for mark in chosen] if len(chosen) > 1 else []


def _form(mark: re.Match[str]) -> tuple[bool, bool]:
    """Whether a number stands in brackets, and whether a dash closes it: `from 1- May`."""
    return bool(mark[1]), mark[0].rstrip()[-1:] in ("-", "–")


# `7 F (only plants), 8 T, 9 F`: numbers without a stop, each after a comma
_AFTER_COMMA = re.compile(r"(?:^\s*|[,，;；]\s*)(\d{1,3})\s+(?=[^\W\d_]|[√×])")


def _split_at_commas(text: str) -> list[tuple[int, int, int]]:
    """The numbers that stand first and after commas, where all of them run 1 by 1."""
    found = [(int(mark[1]), mark.start(), mark.end()) for mark in _AFTER_COMMA.finditer(text)]
    is_run = all(right[0] == left[0] + 1 for left, right in pairwise(found))
    return found if len(found) > 1 and is_run and not text[: found[0][1]].strip() else []


def _read_value(mark: re.Match[str]) -> int:
    return int(mark[2] or mark[3])


NUMBERED_BLANK = re.compile(r"【\s*(\d{1,2})\s*】")


def list_targets(drafts: Sequence[Draft], most: int) -> list[Target]:
    """Questions, headings and, where answers count so far, numbered blanks, in order."""
    counts = Counter(draft.section for draft in drafts)
    blanks = {
        id(draft): list(dict.fromkeys(map(int, NUMBERED_BLANK.findall(draft.stem))))
        if "【" in draft.stem
        else []
        for draft in drafts
    }
    by_blank = most > max((draft.value or 0 for draft in drafts), default=0)
    by_blank = by_blank and most <= max((max(found, default=0) for found in blanks.values()), default=0)
    targets: list[Target] = []
    section = None
    for place, draft in enumerate(drafts, start=1):
        label = parse_label(f"{draft.number_label} x") if draft.number_label else None
        style = label.style if label is not None else ""
        is_alone = counts[draft.section] == 1
        is_heading = is_alone and draft.value == draft.section_number and style in SECTIONS
        if draft.section != section and not is_heading:
            targets.append(Target(draft.section_number, HEADING, None, draft.section, draft.fine))
        section = draft.section
        value = draft.value if draft.value is not None else place
        for number in blanks[id(draft)] if by_blank and blanks[id(draft)] else [value]:
            targets.append(Target(number, style, draft, draft.section, draft.fine, is_alone, is_heading))
    return targets


# `一、②③②`, `三、× × √`, `二、AB ACD BC`: keys in the order of a section's questions
_BARE_RUN = re.compile(
    rf"(?:(?:[A-J①-⑩]|{TRUTH_KEY})[\s,，、;；.。|]*){{2,}}|(?:[a-j][\s,，、;；.。|]*){{2,}}|(?:[TF]){{2,}}"
)
_LONGEST_RUN = 400


def read_run(part: KeyPart) -> str | None:
    """The keys of a part that holds nothing else, and no numbers; None where it holds more."""
    texts = [piece.text.strip() for piece in part.pieces]
    for held in (texts, texts[1:] if part.number is not None else []):  # below its title, in any language
        text = " ".join(held)
        if held and len(text) <= _LONGEST_RUN and _BARE_RUN.fullmatch(text) is not None:
            return text
    return None


def look_ahead(parts: Sequence[KeyPart], mark: KeyMark) -> str:
    """What follows a mark, as far as it tells whether it fits a question."""
    if mark.text is not None or mark.piece < 0:
        return mark.text or ""
    pieces = parts[mark.part].pieces[mark.piece : mark.piece + 3]
    return " ".join([pieces[0].text[mark.end :], *(piece.text for piece in pieces[1:])])[:_AHEAD]


_AHEAD = 400


_CELLS = re.compile(r"\s*\|\s*|\s{2,}")
_ROW_START = re.compile(r"\s*(\d{1,2})(?:(?=[(（])|\s*\||\s{2,})\s*(?=\S)")
_WORTH_CELL = re.compile(r"\s*\d{1,2}\s*")
_LONGEST_HEADER, _NEAR_HEADER = 60, 2


def drop_headers(pieces: Sequence[Piece]) -> list[Piece]:
    """The lines of a key without the headers of its tables, as each page prints them again.

    Where a header ends with the marks, the number alone near it is what its first answer is worth; an answer that
    it cuts runs on below it: its number is not a further one.
    """
    kept: list[Piece] = []
    last: str | None = None
    since: int | None = None
    for place, piece in enumerate(pieces):
        roles = _read_roles(piece.text)
        if "answer" in roles:
            since = len(kept) if roles[-1] == "marks" else None
            continue
        start = _ROW_START.match(piece.text)
        is_near = since is not None and len(kept) - since <= _NEAR_HEADER
        if is_near and _WORTH_CELL.fullmatch(piece.text) is not None:
            below = pieces[place + 1].text if place + 1 < len(pieces) else ""
            if since != len(kept) or _ROW_START.match(below) is not None:
                since = None if since != len(kept) else since
                continue
        if (
            is_near
            and since == len(kept)
            and start is not None
            and start[1] == last
            and "|" not in piece.text
        ):
            piece = piece.cut(start.end()).with_label(None)
        if start is not None:
            last = start[1]
        elif is_chapter(piece.text) or (piece.label is not None and piece.label.style in STRONG_STYLES):
            last = None  # a further section counts anew
        kept.append(piece)
    return kept


def _read_roles(text: str) -> list[str]:
    """What the cells of a line of names say that columns hold; nothing for any other line."""
    cells = _CELLS.split(text.strip()) if len(text) <= _LONGEST_HEADER else []
    roles = [role for cell in cells if cell and (role := find_role(cell)) is not None]
    return roles if len(roles) == len(cells) > 1 else []
