"""Marks for the pictures of a PDF page, each after the character that it follows."""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from schemas import patterns as re
from tasks.ingest.readers.pdf_figures import MOST_PATHS, Edges, find_middle, is_within
from tasks.ingest.readers.pdf_lines import OPTION, find_column_border
from tasks.ingest.readers.pdf_pages import Character, Row, View
from tasks.ingest.readers.pdf_rules import PageObject, read_bounds
from tasks.ingest.readers.picture_form import is_rule

# Pictures lower or narrower than this (in points) are rules, dots and parts of letters.
MIN_PICTURE = 7.0
# A line of print is so high.
_PRINT_HEIGHT = 10.0
# Shares of a page: what reaches further into it is no head or foot.
_HEAD = 0.11
# In points: so far below its upper edge a picture begins, and so wide is a gap that parts two lines.
_BEGINS, _PARTS = 12.0, 12.0


def mark_pictures(
    characters: list[Character],
    pictures: Sequence[tuple[Edges, bool]],
    view: View,
    keep: Callable[..., str],
    drawn: Callable[[], tuple[Mapping[int, int], Sequence[tuple[Edges, int]]]],
    heads: Sequence[Edges],
    loud: Collection[Edges],
) -> list[Character]:
    """Put a mark for every picture after the character that it follows.

    One above all text of its column stands before what is below it. Logos and backgrounds get none. `keep` gives the
    mark for a picture in such a box; beside a box stands whether it is a formula. `heads` are the pictures of the page
    before, and on the first page its own: one in the same place may be a head or a foot. The marks of `loud` ones are in
    colour.
    """
    placed: list[tuple[int, Character]] = []
    order, shapes = drawn() if pictures else ({}, ())
    drawn_at = sorted(
        (order[one.drawn_by], at)
        for at, one in enumerate(characters)
        if one.drawn_by in order and not one.text.isspace()
    )
    segments = _list_segments(characters) if pictures else []
    border, asking = _read_layout(segments, view.width)
    boxes = [box for box, _ in pictures]
    named = _find_named(characters, boxes, border or view.width) if len(pictures) > 1 else {}
    offered = [] if border is not None else _list_stacks(segments)
    for number, (box, is_formula) in enumerate(pictures):
        left, bottom, right, top = box
        height = view.height
        middle = (bottom + top) / 2
        size = right - left, top - bottom
        is_small = (min(size) < MIN_PICTURE or is_rule(*size, _PRINT_HEIGHT)) and not is_formula
        is_mark = is_small or not 0.08 < middle / height < 0.92
        is_repeated = any(_is_same(box, other) for other in heads)
        if is_mark and not is_small and not is_repeated:  # no head of a page is so tall, or stands at letters
            is_mark = number not in named and max(bottom, height - top) > (1 - _HEAD) * height
        if number > 200 or is_mark or (right - left) * (top - bottom) > 0.5 * height * height:
            continue
        if not is_formula and _closes_page(characters, pictures, box, height):
            continue
        first, last = (0.0, view.width)
        if border is not None and (left >= border or right <= border):
            first, last = (border, last) if left >= border else (first, border)
        column = [
            index for index, other in enumerate(characters) if first <= (other.left + other.right) / 2 <= last
        ]
        above = [
            index
            for index in column
            if characters[index].bottom >= middle
            and characters[index].left < right
            and characters[index].right > left - 0.5 * height
            and not (border is not None and characters[index].bottom > 0.92 * height)
        ]
        # on the line beside which it begins, or in which it stands, else behind the last line above it
        beside = _list_beside(characters, column, left, top - min(_BEGINS, (top - bottom) / 2))
        beside = beside or _list_beside(characters, column, left, middle)
        is_margin = all(row.left >= right - 2 for row, _ in asking)
        asked = [
            (row, end)
            for row, end in asking
            if bottom <= row.bottom <= top and (is_margin or -2 <= row.left - right < _BESIDE)
        ]
        stacks = [stack for stack in offered if _stands_beside(box, stack, pictures)]
        own = min((at for shape, at in shapes if is_within(shape, box)), default=-1)
        found = _find_drawn(characters, drawn_at, box, own)
        if found is not None and _is_asked_beyond(characters[found[0]], asking, right):
            found = None
        found = named.get(number, found)
        if found is not None:
            at, near = found
            if near is not None:
                begin = max(left, near.right)  # a picture above its letter begins left of it
                mark = replace(
                    near, x=begin, left=begin, right=max(right, begin + 1), breaks=False, spaced=False
                )
            else:
                mark = _make_mark(left, right, bottom, min(top, bottom + 12))
        elif ((len(asked) == 1 and not beside) or stacks) and not is_formula:
            opening, at = stacks[0][0] if stacks else asked[0]
            edge, low = opening.left, opening.bottom - opening.size / 2
            mark = _make_mark(edge, edge + right - left, low, low + 2)
        elif beside:
            at = max(beside, key=lambda index: characters[index].right)
            near = characters[at]
            if top - bottom > 2 * (near.top - near.bottom):  # beside the text, not in it: below its line
                line = [  # with what of it runs into the picture
                    index
                    for index in column
                    if abs(characters[index].y - near.y) < 2 and characters[index].left < right
                ]
                at = max(line)
                low = near.bottom - 14
                mark = _make_mark(left, right, low, low + 12)
            else:
                mark = replace(near, x=left, left=left, right=right, breaks=False, spaced=False)
        elif above:
            at = min(above, key=lambda index: (round(characters[index].y), -index))
            # where the next question of the same line begins
            others = (row.left for row, _ in asking if _is_beyond(row, characters[at], right))
            beyond = min(others, default=view.width)
            while (
                at + 1 < len(characters)
                and abs(characters[at + 1].y - characters[at].y) < 2
                and characters[at + 1].left < beyond - 1
            ):
                at += 1
            low = bottom if beyond == view.width else characters[at].bottom - 4
            mark = _make_mark(left, right, low, min(max(top, low), low + 12))
        else:
            below = [
                index
                for index in column
                if characters[index].top <= middle
                and characters[index].left < right
                and characters[index].right > left
            ]
            highest = max((round(characters[index].y) for index in below), default=0)
            at = min((index for index in below if round(characters[index].y) == highest), default=0)
            while at and abs(characters[at - 1].y - characters[at].y) < 2:
                at -= 1  # to the beginning of its line
            at -= 1
            mark = _make_mark(left, right, bottom, min(top, bottom + 12))
        mark.text = keep(*box, is_formula=is_formula)
        mark.is_coloured = mark.is_coloured or box in loud
        placed.append((at, mark))
    # the last of the page first: of one place the lower ones, and of one height the right ones
    for at, mark in sorted(placed, key=lambda pair: (-pair[0], round(pair[1].top / _BEGINS), -pair[1].left)):
        characters.insert(at + 1, mark)
    return characters


def _make_mark(left: float, right: float, bottom: float, top: float) -> Character:
    """The mark of a picture, still without its text, that begins a line of its own."""
    return Character("", left, bottom, left, right, bottom, top, 10, True)


def list_drawn(
    objects: Sequence[PageObject], raw: Any, view: View
) -> Callable[[], tuple[Mapping[int, int], Sequence[tuple[Edges, int]]]]:
    """When a page draws its texts, by their addresses, and its shapes, with their boxes."""

    def read() -> tuple[Mapping[int, int], Sequence[tuple[Edges, int]]]:
        texts = {
            ctypes.cast(item, ctypes.c_void_p).value or 0: at
            for at, (kind, item) in enumerate(objects)
            if kind == raw.FPDF_PAGEOBJ_TEXT
        }
        few = sum(1 for kind, _ in objects if kind == raw.FPDF_PAGEOBJ_PATH) <= MOST_PATHS
        shapes = [
            (view.box(*read_bounds(item, raw)), at)
            for at, (kind, item) in enumerate(objects)
            if kind != raw.FPDF_PAGEOBJ_TEXT and (few or kind != raw.FPDF_PAGEOBJ_PATH)
        ]
        return texts, shapes

    return read


# In points: so near to a picture that it floats around is the number of its question.
_BESIDE = 20.0


def _read_layout(
    segments: Sequence[tuple[Row, int]], width: float
) -> tuple[float | None, list[tuple[Row, int]]]:
    """Where two columns of a page part; where there are none, its lines that begin questions."""
    plain = [row for row, _ in segments if not OPTION.match(row.text)]
    border = find_column_border(plain, width) if len(plain) >= _FEW_ROWS else None
    asking = [(row, end) for row, end in segments if _ASKED.match(row.text)]
    if border is not None and (len(plain) >= _LEAST_ROWS or any(row.left >= border for row, _ in asking)):
        return border, []
    return None, asking


# A page of fewer lines has no columns, or none in which no question begins.
_FEW_ROWS, _LEAST_ROWS = 6, 12
# What begins a question, and offers nothing.
_ASKED = re.compile(r"\s*(?:[(（]?\d{1,3}\s*[.．、:：)）](?!\d)|[^\W\d]+\s+\d{1,3}\s*[.:：)])")


def _list_segments(characters: Sequence[Character]) -> list[tuple[Row, int]]:
    """The lines of a page, parted at wide gaps, and beside each the last of its characters."""
    order = sorted(range(len(characters)), key=lambda at: (-round(characters[at].y), characters[at].left))
    found: list[tuple[Row, int]] = []
    for at in order:
        one = characters[at]
        row, end = found[-1] if found else (None, at)
        if row is None or abs(row.baseline - one.y) >= 2 or one.left - row.right > _PARTS:
            row = Row(one.text, one.left, one.right, one.bottom, one.top, one.size, baseline=one.y)
            found.append((row, at))
            continue
        row.text += f" {one.text}" if one.spaced else one.text
        row.right = max(row.right, one.right)
        found[-1] = row, max(at, end)
    return found


def _list_stacks(segments: Sequence[tuple[Row, int]]) -> list[list[tuple[Row, int]]]:
    """The options of a page that stand below each other, each stack after the line above it."""
    stacks: list[list[tuple[Row, int]]] = []
    for before, one in pairwise(segments):
        letter = OPTION.match(one[0].text) and one[0].text.strip(" (（")[0]
        if letter == "A" and not OPTION.match(before[0].text):
            stacks.append([before, one])
        elif letter and stacks and letter == chr(ord("A") + len(stacks[-1]) - 1):
            stacks[-1].append(one)
    return [stack for stack in stacks if len(stack) > 2]


def _stands_beside(
    box: Edges, stack: Sequence[tuple[Row, int]], pictures: Sequence[tuple[Edges, bool]]
) -> bool:
    """Whether a picture, and no other, begins right of a stack of options."""
    options = [row for row, _ in stack[1:]]
    top, foot = options[0].top + 2, options[-1].bottom

    def begins(other: Edges) -> bool:
        return foot < other[3] - min(_BEGINS, (other[3] - other[1]) / 2) <= top

    right = max(row.right for row in options)
    is_tall = box[3] - box[1] > 2 * (options[0].top - options[0].bottom)
    return is_tall and begins(box) and box[0] >= right and sum(begins(one) for one, _ in pictures) == 1


def _find_named(
    characters: Sequence[Character], boxes: Sequence[Edges], border: float
) -> dict[int, tuple[int, Character | None]]:
    """The end of the letter at each picture, where all letters of a line have one."""
    lines: dict[tuple[int, bool], list[int]] = {}
    ends: dict[int, int] = {}
    for at, one in enumerate(characters):
        closing = characters[at + 1] if at + 1 < len(characters) else None
        is_closed = closing is not None and closing.text in _CLOSES
        if (
            one.text in _OFFERED
            and (is_closed or closing is None or closing.breaks or _is_apart(one, closing))
            and (
                one.breaks
                or (one.spaced and is_closed)
                or not at
                or characters[at - 1].text in _OPENS
                or _is_apart(characters[at - 1], one)
            )
        ):
            lines.setdefault((round(one.y), one.left < border), []).append(at)
            ends[at] = at + is_closed
    found: dict[int, tuple[int, Character | None]] = {}
    for relate in (_stands_left, _stands_below, _stands_above):
        near: dict[int, int] = {}
        for number, box in enumerate(boxes):
            if number not in found:
                own = [
                    at
                    for letters in lines.values()
                    for at in letters
                    if relate(characters[at], characters[ends[at]], box)
                ]
                if own:
                    near[number] = min(own, key=lambda at: _measure_apart(characters[at], boxes[number]))
        named: dict[int, int] = {}
        for letters in lines.values():
            own_line = {number: at for number, at in near.items() if at in letters}
            if len(own_line) == len(letters) == len(set(own_line.values())) > 1:
                named |= own_line
        if _run_from_first([characters[at].text for at in sorted(named.values())]):
            found |= {number: (ends[at], characters[ends[at]]) for number, at in named.items()}
    return found


# What a letter of an option is, and what closes it; so near below its picture it stands, in points and in sizes.
_OFFERED, _CLOSES, _UNDER, _BELOW = frozenset("ABCDEFGH"), frozenset(".．、)）"), 8.0, 2.2
# In points: so far right of its letter.
_OPENS, _RIGHT_OF = frozenset("(（"), 30.0


def _stands_left(letter: Character, end: Character, box: Edges) -> bool:
    return box[1] <= find_middle(letter) <= box[3] and -2 <= box[0] - end.right <= _RIGHT_OF


def _stands_below(letter: Character, _: Character, box: Edges) -> bool:
    return box[0] - _UNDER <= letter.left <= box[2] and -_UNDER <= box[1] - letter.top <= _BELOW * letter.size


def _stands_above(letter: Character, _: Character, box: Edges) -> bool:
    return box[0] - _UNDER <= letter.left <= box[2] and -_UNDER <= letter.bottom - box[3] <= letter.size


def _measure_apart(letter: Character, box: Edges) -> float:
    """How far a letter stands from a picture, above, below or left of it."""
    return max(0.0, box[1] - letter.top, letter.bottom - box[3], box[0] - letter.right)


def _run_from_first(letters: Sequence[str]) -> bool:
    """Whether letters run on from A, again and again."""
    expected = "A"
    for letter in letters:
        if letter not in ("A", expected):
            return False
        expected = chr(ord(letter) + 1)
    return bool(letters) and letters[0] == "A"


def _is_apart(one: Character, other: Character) -> bool:
    return abs(one.y - other.y) >= 2 or other.left - one.right > 3 or one.text.isspace()


def _closes_page(
    characters: Sequence[Character], pictures: Sequence[tuple[Edges, bool]], own: Edges, height: float
) -> bool:
    """Whether a narrow picture stands far below all else of its page: a seal, a code."""
    left, _, right, top = own
    floors = [one.bottom for one in characters if one.top > 0.08 * height]
    floors += [box[1] for box, _ in pictures if box != own]
    return right - left < _NARROW * height and bool(characters) and min(floors, default=0.0) - top > _FAR


# In points: so far below all else on its page stands what closes it; so wide it is at most, as a share of the height.
_FAR, _NARROW = 60.0, 0.4


def _is_same(one: Edges, other: Edges) -> bool:
    return all(abs(edge - own) < 3 for edge, own in zip(one, other, strict=True))


def _list_beside(
    characters: Sequence[Character], column: Sequence[int], left: float, level: float
) -> list[int]:
    """The characters of a column left of a place at the same height."""
    return [
        index
        for index in column
        if characters[index].bottom - 2 <= level <= characters[index].top + 2
        and characters[index].right <= left + 2
    ]


# In points: so near to the foot of a picture is the baseline of the line that it stands in.
_ON_LINE = 2.5


def _find_drawn(
    characters: Sequence[Character], drawn_at: Sequence[tuple[int, int]], box: Edges, own: int
) -> tuple[int, Character | None] | None:
    """The character after which a page draws a picture that stands there, and one in its line.

    It stands in the line of the character before it or after it, or below the one and above the other. Elsewhere the
    order of drawing says nothing: a picture that floats is drawn before or after all that is beside it.
    """
    place = bisect_left(drawn_at, (own, 0))
    if own < 0 or not place:
        return None
    before, after = drawn_at[place - 1][1], drawn_at[place][1] if place < len(drawn_at) else None
    left, bottom, right, top = box
    last, following = characters[before], characters[after] if after is not None else None
    if last.right <= left + 2 and abs(last.y - bottom) <= _ON_LINE:
        return before, last
    if last.bottom < top - 2 or any(
        top - 2 <= one.bottom < last.bottom - 2 and one.left < right and one.right > left
        for one in characters
        if not one.text.isspace()
    ):
        return None  # it is drawn apart from the text right above it
    if following is not None and following.left >= right - 2 and abs(following.y - bottom) <= _ON_LINE:
        return before, following
    return (before, None) if following is None or following.top <= bottom + 2 else None


def _is_beyond(row: Row, one: Character, right: float) -> bool:
    """Whether a row stands in the line of a character and begins right of a place."""
    return abs(row.baseline - one.y) < 2 and row.left >= right


def _is_asked_beyond(one: Character, asking: Sequence[tuple[Row, int]], right: float) -> bool:
    """Whether a character is of a question that begins in its line, right of a place."""
    return any(_is_beyond(row, one, right) and row.left <= one.left for row, _ in asking)
