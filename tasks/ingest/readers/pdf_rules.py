"""Lines drawn on a page of a PDF: the frames of tables, and blanks."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas import patterns as re
from tasks.ingest.readers.pdf_characters import is_bright
from tasks.ingest.readers.pdf_pages import Character, View

# In points: how thick a line may be, how far apart lines may lie that touch, how long the shortest blank is.
MAX_THICKNESS = 2.6
TOUCH = 3.0
MIN_BLANK = 9.0
MAX_PATHS = 6000
# A page with more lines than this is a drawing: nothing on it is a table or a blank.
MAX_CROSSINGS = 200_000
MAX_BLANKS = 400
MAX_GRIDS = 40
# Pictures that cover so much of a page are the page.
SCAN_COVER = 0.6
# Pictures pasted on a page that is a picture: how many, and which share of the page each covers.
MAX_PASTED = 3
MIN_PASTED, MAX_PASTED_SIZE = 0.005, 0.35


@dataclass(frozen=True)
class Rule:
    """A straight line; `low` to `high` are x of a level one at y, y of an upright one at x."""

    at: float
    low: float
    high: float

    def covers(self, place: float) -> bool:
        """Whether the line reaches a place along its direction, give or take `TOUCH`."""
        return self.low - TOUCH <= place <= self.high + TOUCH


@dataclass
class Grid:
    """A ruled table: its upright lines from left to right, its level lines from top to bottom."""

    columns: list[float]
    rows: list[float]
    level: list[Rule] = field(default_factory=list)
    upright: list[Rule] = field(default_factory=list)
    # of which cell each place between lines is part, as it is asked
    _cells: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict, init=False, repr=False)

    def holds(self, x: float, y: float) -> bool:
        """Whether a place lies within the outer lines."""
        return self.columns[0] <= x <= self.columns[-1] and self.rows[-1] <= y <= self.rows[0]

    def find_cell(self, x: float, y: float) -> tuple[int, int]:
        """(row, column) of the cell at a place, the first of those that no line parts."""
        row = next(
            index for index, edge in enumerate(self.rows[1:]) if y >= edge or index == len(self.rows) - 2
        )
        column = next(
            index
            for index, edge in enumerate(self.columns[1:])
            if x <= edge or index == len(self.columns) - 2
        )
        place = row, column
        if place not in self._cells:
            while column and not self._parts_columns(row, column):
                column -= 1
            while row and not self._parts_rows(row, column):
                row -= 1
            self._cells[place] = row, column
        return self._cells[place]

    def is_merged_up(self, row: int, column: int) -> bool:
        """Whether a cell is one with the cell above it."""
        return row > 0 and not self._parts_rows(row, column)

    def right_of(self, row: int, column: int) -> float:
        """The right edge of a cell."""
        for index in range(column + 1, len(self.columns) - 1):
            if self._parts_columns(row, index):
                return self.columns[index]
        return self.columns[-1]

    def _parts_columns(self, row: int, column: int) -> bool:
        middle = (self.rows[row] + self.rows[row + 1]) / 2
        return any(
            abs(rule.at - self.columns[column]) <= TOUCH and rule.covers(middle) for rule in self.upright
        )

    def _parts_rows(self, row: int, column: int) -> bool:
        middle = (self.columns[column] + self.columns[column + 1]) / 2
        return any(abs(rule.at - self.rows[row]) <= TOUCH and rule.covers(middle) for rule in self.level)


# the kind of an object on a page (a constant of pdfium) and its handle
PageObject = tuple[int, Any]


def list_objects(page: Any, raw: Any) -> list[PageObject]:
    """Return the objects of a page, those inside of form objects left out.

    By pdfium's own functions: wrapped one by one, objects cost more than all that is asked of them.

    Raises:
        PdfiumError: as `page.get_objects` does, where the page is damaged.
    """
    import pypdfium2

    handle = page.raw
    count = raw.FPDFPage_CountObjects(handle)
    found: list[PageObject] = []
    for index in range(count):
        item = raw.FPDFPage_GetObject(handle, index)
        kind = raw.FPDFPageObj_GetType(item) if item else raw.FPDF_PAGEOBJ_UNKNOWN
        if kind == raw.FPDF_PAGEOBJ_UNKNOWN:
            raise pypdfium2.PdfiumError(f"Object {index} of the page cannot be read.")
        found.append((kind, item))
    if count < 0:
        raise pypdfium2.PdfiumError("The objects of the page cannot be counted.")
    return found


def measure_scan(objects: Sequence[PageObject], raw: Any, area: float) -> tuple[float, float]:
    """Return the share of a page that its pictures cover, and of its texts that are invisible.

    The page has `area` square points. A scanner's own reading lies invisible over the picture, or behind it. Pictures
    in strips count together, those of forms, too.
    """
    covered = largest = 0.0
    texts = hidden = before = 0  # texts drawn before the largest picture lie behind it
    for kind, item in _open_forms(objects, raw):
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            edges = [ctypes.c_float() for _ in range(4)]
            if raw.FPDFPageObj_GetBounds(item, *edges):
                left, bottom, right, top = (edge.value for edge in edges)
                size = max(0.0, right - left) * max(0.0, top - bottom)
                covered += size
                if size > max(largest, 0.3 * area):
                    largest, before = size, texts
        elif kind == raw.FPDF_PAGEOBJ_TEXT:
            texts += 1
            hidden += raw.FPDFTextObj_GetTextRenderMode(item) == raw.FPDF_TEXTRENDERMODE_INVISIBLE
    return min(1.0, covered / max(area, 1.0)), max(hidden, before) / max(texts, 1)


# A program that makes a scan editable names its fonts so: `*SimSun-Bold-9121`, `Fd1483`.
_RECREATED_FONT = re.compile(rb"(?:[A-Z]{6}\+)?(?:\*.+-\d+|Fd\d{3,})$")
MAX_FONTS_ASKED = 200


def measure_recreated(objects: Sequence[PageObject], raw: Any) -> float:
    """The share of a page's texts whose letters a program cut out of a scan."""
    texts = [item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_TEXT][:MAX_FONTS_ASKED]
    name = ctypes.create_string_buffer(128)
    found = 0
    for item in texts:
        font = raw.FPDFTextObj_GetFont(item)
        if font and raw.FPDFFont_GetBaseFontName(font, name, len(name)):
            found += bool(_RECREATED_FONT.match(name.value))
    return found / max(len(texts), 1)


def remove_additions(page: Any, raw: Any) -> int:
    """Take away what is drawn over a page that only OCR reads.

    That is the strokes of a pen, and a slanting watermark.

    All that a page prints which is one picture is in the picture; white areas stay, since they cover something. Returns
    how many objects and annotations were removed. The page is then fit for rendering only.
    """
    objects = list_objects(page, raw)
    width, height = page.get_size()
    covered, _ = measure_scan(objects, raw, width * height)
    removed = [
        item
        for kind, item in objects
        if (kind in (raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_FORM) and _is_slanting(kind, item, raw))
        or (covered >= SCAN_COVER and kind == raw.FPDF_PAGEOBJ_PATH and not _is_white(item, raw))
    ]
    for item in removed:
        if raw.FPDFPage_RemoveObject(page.raw, item):
            raw.FPDFPageObj_Destroy(item)
    count = len(removed)
    if covered < SCAN_COVER:
        return count
    for item in _find_pasted(page, objects, raw):
        count += bool(raw.FPDFPage_RemoveObject(page.raw, item))
    names = ("INK", "HIGHLIGHT", "UNDERLINE", "SQUIGGLY", "STRIKEOUT", "LINE", "CIRCLE")
    pens = {getattr(raw, f"FPDF_ANNOT_{name}") for name in names}
    for index in range(raw.FPDFPage_GetAnnotCount(page.raw) - 1, -1, -1):
        note = raw.FPDFPage_GetAnnot(page.raw, index)
        kind = raw.FPDFAnnot_GetSubtype(note)
        raw.FPDFPage_CloseAnnot(note)
        if kind in pens:
            count += bool(raw.FPDFPage_RemoveAnnot(page.raw, index))
    return count


def _find_pasted(page: Any, objects: Sequence[PageObject], raw: Any) -> list[Any]:
    """The few small, opaque pictures in shades that are pasted on the page.

    They lie over the picture that is the page, and are no layer of the scan. A scanner's layers are many, or as large
    as the page, or see-through, or in black and white.
    """
    width, height = page.get_size()
    pictures = [item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_IMAGE]
    sizes = [_measure_area(item, raw) / (width * height) for item in pictures]
    if not sizes or max(sizes) < SCAN_COVER:
        return []
    over = list(zip(pictures, sizes, strict=True))[sizes.index(max(sizes)) + 1 :]
    if len(over) > MAX_PASTED:
        return []
    details = raw.FPDF_IMAGEOBJ_METADATA()
    return [
        item
        for item, size in over
        if MIN_PASTED <= size <= MAX_PASTED_SIZE
        and not raw.FPDFPageObj_HasTransparency(item)
        and raw.FPDFImageObj_GetImageMetadata(item, page.raw, details)
        and details.bits_per_pixel >= 8
    ]


def _measure_area(item: Any, raw: Any) -> float:
    left, bottom, right, top = read_bounds(item, raw)
    return max(0.0, right - left) * max(0.0, top - bottom)


def _is_slanting(kind: int, item: Any, raw: Any) -> bool:
    """Whether a text, or all that a form holds, is text at a slant: neither level nor upright."""
    if kind == raw.FPDF_PAGEOBJ_TEXT:
        return _slants(_read_angle(item, raw))
    turn = _read_angle(item, raw)
    angles: list[float] = []
    for index in range(min(raw.FPDFFormObj_CountObjects(item), 200)):
        inner = raw.FPDFFormObj_GetObject(item, index)
        if raw.FPDFPageObj_GetType(inner) != raw.FPDF_PAGEOBJ_TEXT:
            return False
        angles.append(turn + _read_angle(inner, raw))
    return bool(angles) and all(_slants(angle) for angle in angles)


def _slants(angle: float) -> bool:
    return 0.3 < abs(math.sin(angle)) < 0.95


def _read_angle(item: Any, raw: Any) -> float:
    matrix = raw.FS_MATRIX()
    return math.atan2(matrix.b, matrix.a) if raw.FPDFPageObj_GetMatrix(item, matrix) else 0.0


def _is_white(item: Any, raw: Any) -> bool:
    fill, is_stroked = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item, fill, is_stroked)
    if not fill.value or is_stroked.value:
        return False
    parts = [ctypes.c_uint() for _ in range(4)]
    raw.FPDFPageObj_GetFillColor(item, *parts)
    return all(part.value >= 250 for part in parts[:3])


def _open_forms(objects: Sequence[PageObject], raw: Any) -> list[PageObject]:
    """The objects of a page and, one level deep, of its forms."""
    found: list[PageObject] = []
    for kind, item in objects[:2000]:
        if kind != raw.FPDF_PAGEOBJ_FORM:
            found.append((kind, item))
            continue
        for index in range(min(raw.FPDFFormObj_CountObjects(item), 500)):
            inner = raw.FPDFFormObj_GetObject(item, index)
            if inner:
                found.append((raw.FPDFPageObj_GetType(inner), inner))
    return found


def read_bounds(item: Any, raw: Any) -> tuple[float, float, float, float]:
    """Return the left, lower, right and upper edge of an object in points.

    Raises:
        PdfiumError: where pdfium knows no place of it.
    """
    import pypdfium2

    edges = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(item, *edges):
        raise pypdfium2.PdfiumError("An object of the page has no place.")
    left, bottom, right, top = (edge.value for edge in edges)
    return left, bottom, right, top


def read_rules(objects: Sequence[PageObject], raw: Any, view: View) -> tuple[list[Rule], list[Rule]]:
    """The level and the upright lines of a page as it is read, touching ones joined."""
    level: list[Rule] = []
    upright: list[Rule] = []
    paths = [item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_PATH]
    for item in paths[:MAX_PATHS]:
        left, bottom, right, top = view.box(*read_bounds(item, raw))
        if top - bottom <= MAX_THICKNESS < right - left:
            level.append(Rule((top + bottom) / 2, left, right))
        elif right - left <= MAX_THICKNESS < top - bottom:
            upright.append(Rule((left + right) / 2, bottom, top))
        elif _is_stroked(item, raw):
            for start, end in _read_segments(item, raw):
                (x, y), (next_x, next_y) = view.place(*start), view.place(*end)
                if abs(y - next_y) < 0.5 and abs(x - next_x) > MAX_THICKNESS:
                    level.append(Rule((y + next_y) / 2, min(x, next_x), max(x, next_x)))
                elif abs(x - next_x) < 0.5 and abs(y - next_y) > MAX_THICKNESS:
                    upright.append(Rule((x + next_x) / 2, min(y, next_y), max(y, next_y)))
    return _join(level), _join(upright)


# A box of a highlighter is as high as a line or two of print, and not as wide as a bar of the page.
_LEAST_HIGH, _MOST_HIGH, _MOST_HIGHLIGHTS = 5.0, 32.0, 100
# So many boxes of one width on so many of the lines are the stripes of a table.
_LEAST_STRIPES, _MOST_MARKED = 3, 0.3


def mark_highlighted(
    characters: Sequence[Character], objects: Sequence[PageObject], raw: Any, view: View
) -> None:
    """Take characters on a ground in colour for print in colour."""
    boxes: list[tuple[float, float, float, float]] = []
    paint = [ctypes.c_uint() for _ in range(4)]
    fill, is_stroked = ctypes.c_int(), ctypes.c_int()
    for kind, item in objects[:MAX_PATHS]:
        if kind != raw.FPDF_PAGEOBJ_PATH:
            continue
        left, bottom, right, top = view.box(*read_bounds(item, raw))
        if not _LEAST_HIGH <= top - bottom <= _MOST_HIGH or right - left < _LEAST_HIGH:
            continue
        raw.FPDFPath_GetDrawMode(item, fill, is_stroked)
        if fill.value and raw.FPDFPageObj_GetFillColor(item, *paint) and is_bright(paint):
            boxes.append((left, bottom, right, top))
    if not 0 < len(boxes) <= _MOST_HIGHLIGHTS:
        return
    marked = [
        one
        for one in characters
        if any(
            left <= (one.left + one.right) / 2 <= right and bottom <= (one.bottom + one.top) / 2 <= top
            for left, bottom, right, top in boxes
        )
    ]
    edges = Counter((round(left), round(right)) for left, _, right, _ in boxes)
    lines = [len({round(one.y) for one in group}) for group in (marked, characters)]
    if max(edges.values()) >= _LEAST_STRIPES and lines[0] >= _MOST_MARKED * lines[1]:
        return  # every other row of a table is in colour
    for one in marked:
        one.is_coloured = True


def _is_stroked(item: Any, raw: Any) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    return bool(raw.FPDFPath_GetDrawMode(item, fill, stroke)) and bool(stroke.value)


def _read_segments(
    item: Any, raw: Any, *, with_curves: bool = False
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The straight lines of a path by their ends; with curves also those, by theirs."""
    import pypdfium2

    matrix = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, matrix):
        raise pypdfium2.PdfiumError("A line of the page has no place.")
    a, b, c, d, e, f = matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
    x, y = ctypes.c_float(), ctypes.c_float()
    start = last = begun = (0.0, 0.0)
    bent = 0
    for index in range(min(raw.FPDFPath_CountSegments(item), MAX_PATHS)):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        if not raw.FPDFPathSegment_GetPoint(segment, x, y):
            continue
        point = (a * x.value + c * y.value + e, b * x.value + d * y.value + f)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield last, point
        elif with_curves:
            # A curve is told by three points, of which the last is its end.
            begun = begun if bent % 3 else last
            bent += 1
            if bent % 3 == 0:
                yield begun, point
        if raw.FPDFPathSegment_GetClose(segment):
            yield point, start
        last = point


# Boxes and places are told in single precision.
_INEXACT = 0.1


def is_slanted(item: Any, raw: Any, least: float) -> bool:
    """Whether a path has a line or curve that goes at least so many points both ways.

    A curve may be drawn as many short lines that go the same two ways.
    """
    left, bottom, right, top = read_bounds(item, raw)
    if min(right - left, top - bottom) < least - _INEXACT:
        return False  # nothing reaches out of its box
    wide = tall = 0.0
    for (x, y), (next_x, next_y) in _read_segments(item, raw, with_curves=True):
        right_by, up_by = next_x - x, next_y - y
        if not (right_by * wide > 0 < up_by * tall):
            wide = tall = 0.0
        if right_by and up_by:
            wide, tall = wide + right_by, tall + up_by
        if min(abs(wide), abs(tall)) >= least:
            return True
    return False


def _join(rules: Sequence[Rule]) -> list[Rule]:
    joined: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.at), rule.low)):
        last = joined[-1] if joined else None
        if last is not None and abs(last.at - rule.at) <= 1.5 and rule.low <= last.high + 1.0:
            joined[-1] = Rule(last.at, last.low, max(last.high, rule.high))
        else:
            joined.append(rule)
    return joined


def join_groups(count: int, links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The numbers from 0 in groups of those that are linked, directly or by others."""
    parents = list(range(count))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for one, other in links:
        parents[root(one)] = root(other)
    groups: dict[int, list[int]] = {}
    for number in range(count):
        groups.setdefault(root(number), []).append(number)
    return [*groups.values()]


def find_grids(
    level: Sequence[Rule],
    upright: Sequence[Rule],
    *,
    characters: Sequence[Character] = (),
    with_frames: bool = False,
) -> list[Grid]:
    """The ruled tables that the lines of a page make; with frames those of fewer cells, too."""
    if len(level) * len(upright) > MAX_CROSSINGS:
        return []
    crossings = (
        (len(level) + other, one)
        for one, across in enumerate(level)
        for other, down in enumerate(upright)
        if across.covers(down.at) and down.covers(across.at)
    )
    grids: list[Grid] = []
    for members in join_groups(len(level) + len(upright), crossings):
        grid = Grid([], [])
        grid.level = [level[index] for index in members if index < len(level)]
        grid.upright = [upright[index - len(level)] for index in members if index >= len(level)]
        grid.columns = _distinct([rule.at for rule in grid.upright])
        edges = [rule.at for rule in grid.level]
        if with_frames:  # the line that closes a frame may be too faint to be seen
            edges += [edge for rule in grid.upright for edge in (rule.low, rule.high)]
        grid.rows = _distinct(edges)[::-1]
        is_table = len(grid.columns) >= 3 and len(grid.rows) >= (3 if len(grid.columns) < 4 else 2)
        if is_table and not with_frames:
            grid.rows = _distinct([*edges, *_find_open_ends(grid, characters)])[::-1]
        if is_table or (with_frames and len(grid.columns) >= 2 and len(grid.rows) >= 2):
            grids.append(grid)
    return grids[:MAX_GRIDS]


# So many characters beyond its end are more than the number of a page.
_LEAST_BEYOND = 20


def _find_open_ends(grid: Grid, characters: Sequence[Character]) -> list[float]:
    """Where all upright lines end without a level one: in a row that the end of a page cuts."""
    ends = [[rule for rule in grid.upright if abs(rule.at - column) <= TOUCH] for column in grid.columns]
    lowest, highest = min(rule.low for rule in grid.upright), max(rule.high for rule in grid.upright)
    return [
        place
        for place, reached, beyond in (
            (
                lowest,
                [min(rule.low for rule in rules) for rules in ends],
                [one for one in characters if one.top < lowest],
            ),
            (
                highest,
                [max(rule.high for rule in rules) for rules in ends],
                [one for one in characters if one.bottom > highest],
            ),
        )
        if all(abs(own - place) <= TOUCH for own in reached) and len(beyond) < _LEAST_BEYOND
    ]


def _distinct(places: Sequence[float]) -> list[float]:
    ordered = sorted(places)
    return [place for place, before in zip(ordered, [-1e9, *ordered], strict=False) if place - before > TOUCH]


def find_blanks(level: Sequence[Rule], grids: Sequence[Grid], upright: Sequence[Rule] = ()) -> list[Rule]:
    """Return the lines that may stand for something to fill in: those that frame no cells."""
    frames = {id(rule) for grid in grids for rule in grid.level}
    blanks = [rule for rule in level if id(rule) not in frames and rule.high - rule.low >= MIN_BLANK]
    # `得分 | ` beside a heading is two cells and no table.
    blanks = [rule for rule in blanks if not _frames_cells(rule, upright)]
    return blanks if len(blanks) <= MAX_BLANKS else []


def _frames_cells(rule: Rule, upright: Sequence[Rule]) -> bool:
    """Whether a level line ends at upright ones, and meets another between."""
    met = sorted(one.at for one in upright if one.covers(rule.at) and rule.covers(one.at))
    return len(met) > 2 and met[0] - rule.low <= TOUCH and rule.high - met[-1] <= TOUCH
