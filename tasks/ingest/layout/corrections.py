"""Lines that a person marked: headings, numbers, options, what is no question, the key.

A mark holds for its line and, where it is a number, an option or no question, for the lines of the paper that begin or read
alike. Kept without its place, by the shape of its line, it holds for later papers of the same source.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from schemas import patterns as re
from schemas.errors import UsageError
from tasks.ingest.layout.announcements import read_each
from tasks.ingest.layout.headings import Heading
from tasks.ingest.layout.outlines import Outline
from tasks.ingest.layout.pieces import Piece, rewrite, say
from tasks.ingest.words.labels import Label, read_number
from tasks.ingest.words.lexicon import find_fine_type, find_type_in_title

ROLES = ("heading", "number", "option", "nothing", "key")
# Types that a heading may be given, by the names of the finer types.
HEADING_TYPES = (
    "single_choice",
    "multiple_answer",
    "true_false",
    "fill_in_the_blank",
    "term_explanation",
    "short_answer",
    "material_analysis",
    "calculation",
    "essay",
)
MOST_MARKS = 5_000
_LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True)
class LineRole:
    """What a person says of the line at a place, or of every line of a shape."""

    line: int | str
    role: str
    fine: str | None = None


@dataclass(frozen=True)
class Correction:
    """How a person says that a paper is divided: its lines by place, or lines of a shape."""

    lines: tuple[LineRole, ...] = ()
    shapes: tuple[LineRole, ...] = ()

    def apply(self, pieces: Sequence[Piece]) -> tuple[list[Piece], Outline] | None:
        """The lines of a paper with these marks, and their outline; None where none is marked."""
        return _apply(self, pieces)


def parse_correction(text: str) -> Correction:
    """The correction in a JSON text: marks with `role`, `type`, and `place` or `shape`.

    Raises:
        UsageError: it is none.
    """
    try:
        marks = json.loads(text)
        if not isinstance(marks, list) or len(marks) > MOST_MARKS:
            raise ValueError(f"a list of at most {MOST_MARKS:,} marks is needed")
        for mark in marks:
            if mark["role"] not in ROLES or mark.get("type") not in (None, *HEADING_TYPES):
                raise ValueError(f"role {mark['role']!r}, type {mark.get('type')!r}")
        placed = [mark for mark in marks if mark.get("place") is not None]
        shaped = [mark for mark in marks if mark.get("place") is None]
        return Correction(
            tuple(LineRole(int(mark["place"]), mark["role"], mark.get("type")) for mark in placed),
            tuple(LineRole(str(mark["shape"]), mark["role"], mark.get("type")) for mark in shaped),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise UsageError(f"This is no correction of a paper: {error}. Mark the lines again.") from None


def write_correction(correction: Correction, text: str) -> str:
    """The JSON of a correction with the shapes of its lines in the paper's text.

    Raises:
        UsageError: more lines follow one another as options than a question of a paper is read with.
    """
    options = {one.line for one in correction.lines if one.role == "option"}
    place = count = 0
    for line in text.split("\n") if options else ():
        count = count + 1 if place in options else count if not line.strip() else 0
        if count > len(_LETTERS):
            raise UsageError(
                f"More than {len(_LETTERS)} lines in a row are marked as options. Mark the first {len(_LETTERS)} of a question, "
                "clear the others, and let the reviewer add them."
            )
        place += len(line) + 1
    marks = []
    for one in correction.lines:
        place = int(one.line)
        own = text[place:].partition("\n")[0]
        marks.append({"place": place, "role": one.role, "type": one.fine, "shape": shape_of(own, one.role)})
    return json.dumps(marks, ensure_ascii=False)


def generalise(text: str) -> Correction:
    """A kept correction for other papers: the shapes of its lines without their places."""
    marks = [mark for mark in json.loads(text) if mark["shape"]]
    shapes = {LineRole(mark["shape"], mark["role"], mark["type"]): None for mark in marks}
    return Correction(shapes=tuple(shapes))


# A lead of words or signs, a numeral, what closes it; the surest kind of numeral first.
_BEGINNINGS = tuple(
    re.compile(rf"(\s*+)([^\n\d]{{0,{lead}}}?)({numeral})(\s?(?:[^\w\s]{{1,3}}|题)?)(\s*)")
    for lead, numeral in (
        (12, r"\d{1,4}"),
        (4, r"[一二三四五六七八九十百]{1,4}"),
        (4, r"[①-⑳⑴-⒛]"),
        (2, r"(?<![^\W\d_])(?:[IVX]{1,5}|[ivx]{1,5}|[A-Za-z])(?![^\W\d_])"),
    )
)
_OPTION_MARK = re.compile(
    r"(?P<sign>\s*(?:[^\w\s]{1,3}\s?)?)"
    r"(?:(?P<label>[A-Ja-j]|\d{1,2}|[①-⑩]|[ivx]{1,4})\s?[)）\].．、:：】>]{1,2}(?!\d)|(?P<letter>[A-Ja-j])\s+|(?<=[^\w\s])\s*)\s*"
)
# Signs that belong to what follows them: `-5`, `€5`, `$x$`, `¿Dónde?`. Before a space or a word most are marks.
_PART_OF_TEXT = re.compile(r"[^\w\s]++(?!\s|[^\W\d_]{2}|[\u3040-\u9fff])|[^\w\s]*[\[({“‘\"'«¿¡$√¬\\%#@&/…]")
_COUNTED = re.compile(r"\d+|[一二三四五六七八九十百]+|[①-⑳]")
_LONGEST_SHAPE = 60


def shape_of(text: str, role: str) -> str:
    """How a number or an option begins, else the words of a line without what counts."""
    if role == "number":
        match = _match_beginning(text)
        return f"{_fold(match[2])}{_name_numeral(match[3])}{_fold(match[4] or '')}" if match else ""
    if role == "option":
        match = _OPTION_MARK.match(text)
        return re.sub(r"[A-Za-z]", "a", re.sub(r"\d+|[①-⑩]", "0", _fold(match[0]))) if match else ""
    return _fold(_COUNTED.sub("", text))[:_LONGEST_SHAPE]


def _match_beginning(text: str) -> re.Match[str] | None:
    return next((match for pattern in _BEGINNINGS if (match := pattern.match(text))), None)


def _fold(text: str) -> str:
    return "".join(text.split()).casefold()


def _name_numeral(numeral: str) -> str:
    if numeral.isdecimal() and numeral.isascii():
        return "0"
    if numeral[0] in "一二三四五六七八九十百":
        return "一"
    return "A" if numeral.isascii() and numeral.isalpha() else numeral[0] if len(numeral) > 1 else "①"


# Roles that hold for lines alike: a heading is one line, and its words may stand in questions.
_SPREAD = ("number", "option", "nothing")


def _apply(correction: Correction, pieces: Sequence[Piece]) -> tuple[list[Piece], Outline] | None:
    roles = _find_roles(correction, pieces)
    if not roles:
        return None
    printed = _find_numbers(roles, pieces)
    marks = _find_option_marks(roles, pieces)
    kept: list[Piece] = []
    headings: dict[int, Heading] = {}
    numbers: dict[int, tuple[int, int]] = {}
    section = last = letter = 0
    for index, piece in enumerate(pieces):
        role, fine = roles.get(index, ("", None))
        if role == "nothing":
            continue
        if role == "heading":
            section, last = section + 1, 0
            headings[piece.start] = _make_heading(piece, section, fine)
        elif role == "number":
            end, last = printed.get(index, (0, last + 1))
            numbers[piece.start] = (end, last)
        elif role == "option":
            piece = rewrite(piece, marks.get(index, 0), f"{_LETTERS[min(letter, len(_LETTERS) - 1)]}. ")
        elif role == "key":
            kept.append(say(piece, "参考答案"))
        letter = letter + 1 if role == "option" else 0
        kept.append(piece)
    return kept, Outline(headings=headings, numbers=numbers, family="marked by a person")


def _find_roles(correction: Correction, pieces: Sequence[Piece]) -> dict[int, tuple[str, str | None]]:
    """The role of every line that has one; a line's own mark goes before its shape's."""
    starts = [piece.start for piece in pieces]
    own: dict[int, tuple[str, str | None]] = {}
    for line in correction.lines:
        index = bisect_left(starts, int(line.line))
        if index < len(pieces):
            own[index] = (line.role, line.fine)
    shapes = {(one.role, str(one.line)): (one.role, one.fine) for one in correction.shapes}
    for index, (role, fine) in own.items():
        if role in _SPREAD:
            shapes.setdefault((role, shape_of(pieces[index].text, role)), (role, fine))
    if not shapes:
        return own
    wanted = {role for role, _ in shapes}
    found: dict[int, tuple[str, str | None]] = {}
    for index, piece in enumerate(pieces):
        for role in ROLES:
            if role in wanted and piece.text.strip():
                shape = shape_of(piece.text, role)
                if shape and (role, shape) in shapes:
                    found[index] = shapes[role, shape]
                    break
    return {**found, **own}


def _make_heading(piece: Piece, number: int, fine: str | None) -> Heading:
    title = piece.text.strip()
    kind = find_fine_type(fine) if fine else find_type_in_title(title)
    label = piece.label
    style = label.style if label is not None and label.style in ("cn", "part") else "cn"
    value = label.value if label is not None and label.style in ("cn", "part") else number
    return Heading(
        Label(style, value, 0, ""), title, kind, read_each(title), len(piece.text), is_question=False
    )


def _find_numbers(
    roles: Mapping[int, tuple[str, str | None]], pieces: Sequence[Piece]
) -> dict[int, tuple[int, int]]:
    """Where the printed number of a marked line ends, and its value, by the line's index.

    One in an unknown form is believed where lines alike count: in `What is 7 times 8?` nothing does, and all of it is the question.
    """
    found: dict[int, tuple[int, int]] = {}
    alike: dict[str, dict[int, tuple[int, int]]] = {}
    for index in sorted(index for index, (role, _) in roles.items() if role == "number"):
        text, label = pieces[index].text, pieces[index].label
        match = _match_beginning(text)
        value = read_number(match[3]) if match else None
        if match and value is not None:
            alike.setdefault(shape_of(text, "number"), {})[index] = (match.end(), value)
        if label is not None and not label.is_weak:
            found[index] = (label.end, label.value)
    for ends in alike.values():
        if _counts([value for _, value in ends.values()]):
            found |= ends
    return found


def _find_option_marks(
    roles: Mapping[int, tuple[str, str | None]], pieces: Sequence[Piece]
) -> dict[int, int]:
    """Where the printed mark of an option ends: a letter that counts, or a sign that all have."""
    runs: list[dict[int, re.Match[str] | None]] = []
    for index in sorted(index for index, (role, _) in roles.items() if role == "option"):
        if not runs or index - 1 not in runs[-1]:
            runs.append({})
        runs[-1][index] = _OPTION_MARK.match(pieces[index].text)
    ends: dict[int, int] = {}
    for run in runs:
        found = {index: match for index, match in run.items() if match is not None}
        labels = [one for match in found.values() if (one := match["label"] or match["letter"])]
        values = [_LETTERS.find(one.upper()) for one in labels], [read_number(one) for one in labels]
        is_counted = any(_counts(some) for some in values) or len(run) == len(labels) == 1
        signs = {match["sign"].strip() for match in found.values()}
        is_bullet = len(found) * 2 > len(run) and len(signs) == 1 and "" not in signs
        is_bullet &= not any(_PART_OF_TEXT.match(pieces[index].text.lstrip()) for index in found)
        for index, match in found.items():
            if is_counted and (match["label"] or (match["letter"] and len(run) > 1)):
                ends[index] = match.end()
            elif is_bullet:
                ends[index] = match.end("sign")
    return ends


def _counts(values: Sequence[int | None]) -> bool:
    """Whether printed numbers go up one by one, most of the time that they go up."""
    known = [value for value in values if value is not None]
    steps = [after - before for before, after in pairwise(known) if after > before]
    return steps.count(1) * 2 >= max(len(steps), 1)
