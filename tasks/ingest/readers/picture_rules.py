"""Lines drawn on the picture of a page: blanks to fill in, tables and frames.

A detector of text sees neither. They are found as strokes longer than any letter has, and read as the drawn lines of a PDF are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

from tasks.ingest.readers.pdf_figures import Edges
from tasks.ingest.readers.pdf_pages import Row
from tasks.ingest.readers.pdf_rows import read_table
from tasks.ingest.readers.pdf_rules import Grid, Rule, find_blanks, find_grids
from tasks.ingest.words.cleaning import is_cjk

# A letter and where it begins, in pixels.
Letter = tuple[str, float]
# Places of rules are told in points of a page whose usual print is so high.
PRINT = 10.0
# In sizes of the print: no stroke of a letter is so long, no drawn line so thick; pieces so near are one line.
LEAST_RULE, MOST_THICK, NEAREST = 1.6, 0.3, 0.4
# A blank is so long at least, and has no ink above it so high; its line lies so far below or above the foot of the text.
LEAST_BLANK, CLEAR, BELOW, ABOVE = 1.3, 0.6, 0.35, 0.45
# Text begins or ends so near to a blank of its line.
TOUCHING = 1.5
BLANK = "____"
# What the line of a blank is read as.
_AS_LINE = " _-—–－一ー.·。"
# In sizes of the print: so far on both sides of a gap between columns a box is looked at, and so wide it has no ink there.
GUTTER, CLEAR_GUTTER = 0.8, 0.4
# Lines whose middles are so far apart, in sizes of the print, may still be next to each other.
NEXT_LINE = 4.0
# A table that is higher than this share of the page, with cells of many lines, only lays out the page.
TALL, MANY_LINES = 0.3, 3
# A frame that is no table parts what stands in it, if it says no more, from what stands beside it: `得分`, `评卷人`.
LONGEST_FRAMED = 5
# Specks beside so few signs in a cell are dirt.
_SPECKS, MOST_SPECKED = " .·•。,，'‘’`:：;；", 2
# A box to tick is no higher, in sizes of the print.
HIGHEST_TICK = 2.5


@dataclass
class Strokes:
    """The drawn lines of a picture (`height` pixels high) whose print is `size` pixels high.

    `ink` is 1 where the picture is dark. Rules are in pixels, the origin at the lower left.
    """

    ink: Any
    height: int
    size: float
    level: list[Rule]
    upright: list[Rule]

    @property
    def points(self) -> float:
        """How many points a pixel is, of a page whose usual print is `PRINT` points high."""
        return PRINT / self.size

    def find_tables(self) -> list[Grid]:
        """The ruled tables and frames, in points."""
        return find_grids(
            *(
                [
                    Rule(rule.at * self.points, rule.low * self.points, rule.high * self.points)
                    for rule in some
                ]
                for some in (self.level, self.upright)
            ),
            with_frames=True,
        )

    def cut_boxes(self, boxes: list[Row], letters: list[list[Letter]], gutter: float | None) -> None:
        """Cut the boxes that run over the gap between two columns, where no ink is in it.

        Lines of both columns stand right above or below them; what has none on one side is a title, or a line across both.
        """
        if gutter is None:
            return
        sides = [box for box in boxes if box.right < gutter], [box for box in boxes if box.left > gutter]
        for at, box in enumerate(list(boxes)):
            if not box.left + box.size < gutter < box.right - box.size:
                continue
            if not all(any(_is_next(box, other) for other in side) for side in sides):
                continue
            band = self.ink[
                max(0, int(self.height - box.top)) : max(0, int(self.height - box.bottom)),
                int(gutter - GUTTER * box.size) : int(gutter + GUTTER * box.size) + 1,
            ]
            clear = [index for index, column in enumerate(band.T) if int(column.sum()) < 2]
            begin = cut_text(box, letters[at], gutter)
            left, right = box.text[:begin].rstrip(), box.text[begin:].lstrip()
            if not _is_run(clear, CLEAR_GUTTER * box.size) or not left or not right:
                continue
            first = len("".join(left.split()))
            boxes.append(replace(box, text=right, left=gutter))
            letters.append(letters[at][first:])
            boxes[at] = replace(box, text=left, right=gutter)
            letters[at] = letters[at][:first]

    def find_blanks(self, grids: Sequence[Grid]) -> list[Rule]:
        """The level lines, or parts of them, that nothing stands on and that frame nothing."""
        near = NEAREST * self.size
        blanks: list[Rule] = []
        for rule in find_blanks(_join(self.level, near), ()):
            middle = (rule.low + rule.high) / 2 * self.points
            if any(grid.holds(middle, rule.at * self.points) for grid in grids) or any(
                rule.low - near <= other.at <= rule.high + near
                and other.low - near <= rule.at <= other.high + near
                for other in self.upright
            ):
                continue
            if not any(self._is_box(rule, other) for other in self.level):
                blanks += self._find_clear(rule)
        return blanks

    def _is_box(self, rule: Rule, other: Rule) -> bool:
        """Whether two level lines are the upper and the lower edge of a box to tick."""
        near, apart = NEAREST * self.size, abs(rule.at - other.at)
        if (
            not near < apart < HIGHEST_TICK * self.size
            or abs(rule.low - other.low) > near
            or abs(rule.high - other.high) > near
        ):
            return False
        top, foot = sorted(int(self.height - at) for at in (rule.at, other.at))
        reach = max(2, int(0.15 * self.size))
        sides = [
            self.ink[top : foot + 1, max(0, int(x) - reach) : int(x) + reach + 1].max(axis=1).mean()
            for x in (rule.low, rule.high)
        ]
        return bool(min(sides) > 0.7)

    def _find_clear(self, rule: Rule) -> list[Rule]:
        """The stretches of a line that have no ink above them."""
        import numpy

        foot = int(self.height - rule.at - max(2, 0.15 * self.size))
        band = self.ink[max(0, foot - int(CLEAR * self.size)) : max(0, foot)]
        if not len(band):
            return []
        first, last = max(0, int(rule.low)), min(band.shape[1], int(rule.high) + 1)
        marked = numpy.flatnonzero(band[:, first:last].sum(axis=0) > 1) + first
        edges = [first - 1, *marked.tolist(), last]
        return [
            Rule(rule.at, float(left + 1), float(right - 1))
            for left, right in pairwise(edges)
            if right - left > LEAST_BLANK * self.size
        ]


def _is_next(box: Row, other: Row) -> bool:
    """Whether a box stands on the line above another one, or on the line below it."""
    return abs(box.bottom + box.top - other.bottom - other.top) < 2 * NEXT_LINE * box.size


def _is_run(places: Sequence[int], least: float) -> bool:
    """Whether so many of the places follow each other."""
    longest = run = 0
    for place, before in zip(places, [None, *places], strict=False):
        run = run + 1 if before is not None and place == before + 1 else 1
        longest = max(longest, run)
    return longest >= least


def find_strokes(picture: Any, boxes: Sequence[Row]) -> Strokes:
    """Find the drawn lines of a picture of which OCR read these boxes."""
    import cv2
    import numpy

    gray = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    size = median(box.size for box in boxes) if boxes else 0.015 * gray.shape[1]
    ink: Any = cv2.adaptiveThreshold(gray, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 12)
    length, gap = max(8, int(LEAST_RULE * size)), 3
    found: list[list[Rule]] = []
    for is_upright in (False, True):
        shown = numpy.ascontiguousarray(ink.T) if is_upright else ink
        lines = cv2.morphologyEx(shown, cv2.MORPH_CLOSE, numpy.ones((1, gap), numpy.uint8))
        lines = cv2.morphologyEx(lines, cv2.MORPH_OPEN, numpy.ones((1, length), numpy.uint8))
        _, _, stats, _ = cv2.connectedComponentsWithStats(lines, connectivity=8)
        rules = [
            (float(left), float(left + wide), top + tall / 2)
            for left, top, wide, tall, _ in stats[1:].tolist()
            if tall <= MOST_THICK * size + 0.01 * wide
        ]
        height = gray.shape[0]
        found.append(
            [Rule(at, height - high, height - low) for low, high, at in rules]
            if is_upright
            else [Rule(height - at, low, high) for low, high, at in rules]
        )
    return Strokes(ink, gray.shape[0], size, *found)


def _join(rules: Sequence[Rule], near: float) -> list[Rule]:
    """Lines whose ends meet are one."""
    joined: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: rule.low):
        at = next(
            (
                at
                for at, other in enumerate(joined)
                if abs(other.at - rule.at) <= near and 0 <= rule.low - other.high + near <= 2 * near
            ),
            None,
        )
        if at is None:
            joined.append(rule)
        else:
            joined[at] = Rule(joined[at].at, joined[at].low, rule.high)
    return joined


def write_blanks(
    boxes: list[Row], letters: list[list[Letter]], blanks: Sequence[Rule], drawings: Sequence[Edges] = ()
) -> None:
    """Write every blank into the box that it lies in, or as a box beside those of its line.

    `letters` says of each box where its letters begin; those read on a blank are its line, and are taken away. Lines in
    drawings are no blanks.
    """
    for blank in sorted(blanks, key=lambda blank: blank.low):
        middle = (blank.low + blank.high) / 2
        if any(
            left <= middle <= right and bottom <= blank.at <= top for left, bottom, right, top in drawings
        ):
            continue
        line = [
            at
            for at, box in enumerate(boxes)
            if -BELOW * box.size <= blank.at - box.bottom <= ABOVE * box.size
            and box.left - TOUCHING * box.size <= blank.high
            and box.right + TOUCHING * box.size >= blank.low
        ]
        if not line:
            continue
        inside = next((at for at in line if boxes[at].left <= middle <= boxes[at].right), None)
        if inside is None:
            beside = min(line, key=lambda at: abs((boxes[at].left + boxes[at].right) / 2 - middle))
            boxes.append(replace(boxes[beside], text=BLANK, left=blank.low, right=blank.high))
            letters.append([])
        else:
            boxes[inside].text, letters[inside] = _write_blank(boxes[inside], letters[inside], blank)


def _write_blank(box: Row, letters: Sequence[Letter], blank: Rule) -> tuple[str, list[Letter]]:
    """What a box says with the blank, and where its letters are then."""
    before = cut_text(box, letters, blank.low)
    after = max(before, cut_text(box, letters, blank.high))
    if box.text[before:after].strip(_AS_LINE):
        # Places are known too roughly: nothing is taken away
        before = after = cut_text(box, letters, (blank.low + blank.high) / 2)
        first = len("".join(box.text[:before].split()))
        if 0 < first < len(letters) and letters[first][1] - letters[first - 1][1] < LEAST_BLANK * box.size:
            return box.text, list(letters)
    left, right = box.text[:before].rstrip(" _"), box.text[after:].lstrip(" _")
    part_left = " " if left and not is_cjk(left[-1]) else ""
    part_right = " " if right[:1].isalnum() and not is_cjk(right[0]) else ""
    first, last = len("".join(left.split())), len("".join(right.split()))
    signs = [(sign, blank.low + at * (blank.high - blank.low) / 4) for at, sign in enumerate(BLANK)]
    known = [*letters[:first], *signs, *letters[len(letters) - last :]] if letters else []
    return f"{left}{part_left}{BLANK}{part_right}{right}", known


def cut_text(box: Row, letters: Sequence[Letter], x: float) -> int:
    """How many characters of a box's text stand left of a place, by the middles of its letters."""
    text = box.text
    shown = [at for at, character in enumerate(text) if not character.isspace()]
    if [text[at] for at in shown] != [letter for letter, _ in letters]:
        return round(len(text) * (x - box.left) / max(box.right - box.left, 1.0))
    starts = [start for _, start in letters]
    ends = [*starts[1:], box.right]
    usual = median(end - start for start, end in zip(starts, ends, strict=True)) if starts else 0.0
    return next(
        (
            at
            for at, start, end in zip(shown, starts, ends, strict=True)
            if start + min(end - start, usual) / 2 > x
        ),
        len(text),
    )


def take_tables(
    boxes: Sequence[Row],
    letters: Sequence[Sequence[Letter]],
    strokes: Strokes,
    merge: Callable[..., list[Row]],
) -> tuple[list[list[Row]], set[int], list[Grid]]:
    """The rows of ruled tables, the numbers of the boxes in them, and all that is ruled.

    A box over several cells is cut where their lines are. `merge` makes lines of boxes. The word in a frame, such as
    `得分`, is a row by itself; frames that lay out whole stretches of text, and figures whose lines run through words, are
    left alone.
    """
    by = strokes.points
    tables: list[list[Row]] = []
    taken: set[int] = set()
    grids = strokes.find_tables()
    small = [_scale_row(box, by) for box in boxes]
    places = [[(letter, x * by) for letter, x in line] for line in letters]
    for grid in grids:
        held = {
            at
            for at, box in enumerate(small)
            if at not in taken and grid.holds((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        }
        if not held:
            continue
        if len(grid.columns) < 3 or (len(grid.columns) < 4 and len(grid.rows) < 3):
            if sum(len(boxes[at].text.strip()) for at in held) <= LONGEST_FRAMED:
                inner = merge([boxes[at] for at in sorted(held)])
                tables.append([replace(row, frame="cell") for row in inner])
                taken |= held
            continue
        _complete(grid, [small[at] for at in held])
        cells: dict[tuple[int, int], list[Row]] = {}
        cut = [_cut_box(small[at], places[at], grid) for at in sorted(held)]
        if any(_is_word(left.text[-1] + right.text[0]) for pieces in cut for left, right in pairwise(pieces)):
            continue
        for pieces in cut:
            for piece in pieces:
                place = (piece.left + piece.right) / 2, (piece.bottom + piece.top) / 2
                piece.text = _leave_out_specks(piece.text)
                cells.setdefault(grid.find_cell(*place), []).append(piece)
        rows = read_table(grid, {place: merge(inside) for place, inside in cells.items()})
        heavy = sum(1 for row in rows if max(cell.count("\n") for cell in row.cells) >= MANY_LINES)
        is_tall = grid.rows[0] - grid.rows[-1] > TALL * strokes.height * by
        if len(rows) > 1 and heavy * 2 <= len(rows) and not (is_tall and heavy):
            taken |= held
            tables.append([replace(_scale_row(row, 1 / by), table=len(tables) + 1) for row in rows])
    return tables, taken, grids


def _leave_out_specks(text: str) -> str:
    """What a cell says without the specks that were read beside a lone number or letter: `.D`."""
    core = text.strip(_SPECKS)
    return core if len(core) <= MOST_SPECKED and core.isalnum() else text


def _is_word(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.islower()


def _scale_row(row: Row, by: float) -> Row:
    return replace(
        row,
        left=row.left * by,
        right=row.right * by,
        bottom=row.bottom * by,
        top=row.top * by,
        size=row.size * by,
    )


def _complete(grid: Grid, boxes: Sequence[Row]) -> None:
    """Draw faint upright lines of a table on where no text runs over them."""
    for high, low in pairwise(grid.rows):
        inside = [box for box in boxes if low < (box.bottom + box.top) / 2 < high]
        for edge in grid.columns[1:-1]:
            if not any(box.left + 0.3 * box.size < edge < box.right - 0.3 * box.size for box in inside):
                grid.upright.append(Rule(edge, low, high))


def _cut_box(box: Row, letters: Sequence[Letter], grid: Grid) -> list[Row]:
    """A box cut at the upright lines that run through it."""
    middle = (box.bottom + box.top) / 2
    slack = 0.3 * box.size
    edges = [
        rule.at
        for rule in sorted(grid.upright, key=lambda rule: rule.at)
        if rule.low <= middle <= rule.high and box.left + slack < rule.at < box.right - slack
    ]
    pieces: list[Row] = []
    begin, left = 0, box.left
    for edge in [*edges, box.right]:
        end = len(box.text) if edge == box.right else max(begin, cut_text(box, letters, edge))
        text = box.text[begin:end]
        if text.strip(" |"):
            pieces.append(replace(box, text=text.strip("|"), left=left, right=edge))
        begin, left = end, edge
    return pieces
