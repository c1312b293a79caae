"""Figures that a PDF draws with lines (circuits, graphs, geometry), with their labels."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from ctypes import c_float
from itertools import pairwise
from statistics import median
from typing import Any, Final

from schemas import patterns as re
from tasks.ingest.readers.pdf_pages import Character, Row, View
from tasks.ingest.readers.pdf_rules import Grid, PageObject, is_slanted, join_groups, read_bounds

Edges = tuple[float, float, float, float]

# A page with more is text that was turned into outlines, or a map: its paths are not looked at.
MOST_PATHS: Final = 1_500
# In points: how far parts of a figure may stand apart, how small it may be, what of it must be longer than a letter.
_REACH, _LEAST_LONG, _LEAST_SHORT, _LEAST_PART = 5.0, 36.0, 26.0, 24.0
# Signs of roots, heads of arrows and round corners go less far both ways.
_LEAST_SLANT: Final = 7.0
# Without such a line: a figure this tall, of so many paths, with so many heads of arrows, which go this far both ways.
_TALL, _MANY_PATHS, _LEAST_HEADS, _LEAST_HEAD = 60.0, 8, 2, 1.5
_LARGEST_HEAD: Final = 14.0
# Larger ones are frames of the page.
_MOST_AREA: Final = 0.4
# More text than this, or a longer line of it, is a box of text.
_MOST_LETTERS, _LONGEST_LABEL, _FEW_LETTERS = 90, 14, 8
# Labels stand so near to what they name.
_NEAR: Final = 14.0
# Pictures that share so much of the smaller one are one, laid over each other.
_LEAST_SHARED: Final = 0.2
# So many lines of so many letters run over a ground.
_LONG_LINE, _MANY_LINES = 24, 3
# What begins an option or a question is none, nor is the number of a question, or the letter of an option below the middle of its figure.
_BEGINS: Final = re.compile(r"[（(]?(?:(?:[A-Ha-h]|\d{1,3})[)）.．、：:](?!\d)|第\s*\d{1,3}\s*题)")


def find_figures(
    objects: Sequence[PageObject],
    raw: Any,
    view: View,
    grids: Sequence[Grid],
    characters: Sequence[Character],
) -> list[Edges]:
    """Left, lower, right and upper edge of every figure that a page draws, with labels."""
    framed = _find_framed(objects, raw, view, characters)
    paths = [item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_PATH]
    if not paths or len(paths) > MOST_PATHS:
        return framed
    boxes = [(view.box(*read_bounds(item, raw)), item) for item in paths]
    bars = _find_bars([edges for edges, _ in boxes], characters)
    tables = [grid for grid in grids if not _is_graph(grid, boxes, raw)]
    tables = [grid for grid in tables if not _is_chart(grid, bars)]
    tables = [grid for grid in tables if not _is_circuit(grid, [edges for edges, _ in boxes], characters)]
    parts = [
        (edges, item)
        for edges, item in boxes
        if edges[2] - edges[0] <= 0.85 * view.width
        and edges[3] - edges[1] <= 0.6 * view.height
        and not any(grid.holds((edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2) for grid in tables)
        and not _is_frame(edges, characters)
    ]
    found = framed
    groups = [
        members
        for members in _cluster([edges for edges, _ in parts], 1)
        # a frame around text is no part of what is drawn in it
        if not _is_text(_unite([parts[place][0] for place in members]), characters, len(members))
    ]
    for members in _join_over(groups, [edges for edges, _ in parts]):
        box = _unite([parts[place][0] for place in members])
        longest = max(max(e[2] - e[0], e[3] - e[1]) for e in (parts[place][0] for place in members))
        if (
            _has_size(box, view)
            and longest >= (_LEAST_PART if len(members) > 1 else _TALL)
            and (
                any(is_within(bar, box) for bar in bars)
                or _is_drawn([parts[place][1] for place in members], box[3] - box[1], raw)
            )
            and not _is_text(box, characters, len(members))
        ):
            found.append(_take_beside(_take_labels(box, characters), [edges for edges, _ in parts]))
    for scale in _find_scales([edges for edges, _ in boxes], characters):
        if not any(_share(scale, other) > 0 for other in found):  # no axis of a graph
            found.append(scale)
    return found


# So many bars of one width stand on one line, none so thin as a root sign is, and their heights differ by so much.
_LEAST_BARS, _THINNEST_BAR, _LEAST_RISE = 3, 5.0, 4.0


def _find_bars(boxes: Sequence[Edges], characters: Sequence[Character]) -> list[Edges]:
    """The bars of charts, without text in them: shaded cells of one row are of one height."""
    found: list[Edges] = []
    for low, high, along, across in ((1, 3, 0, 2), (0, 2, 1, 3)):
        rows: dict[tuple[int, int], list[Edges]] = {}
        for box in boxes:
            if min(box[2] - box[0], box[3] - box[1]) >= _THINNEST_BAR:
                rows.setdefault((round(box[low]), round(box[across] - box[along])), []).append(box)
        for row in rows.values():
            heights = [box[high] - box[low] for box in row]
            if (
                len({round(box[along]) for box in row}) >= _LEAST_BARS
                and max(heights) - min(heights) >= _LEAST_RISE
                and not any(holds(box, one) for box in row for one in characters)
            ):
                found += row
    return found


def _is_chart(grid: Grid, bars: Sequence[Edges]) -> bool:
    """Whether bars stand in most of a grid: its lines are those of a chart."""
    own = [box for box in bars if grid.holds((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)]
    if not own:
        return False
    left, bottom, right, top = _unite(own)
    return (
        max(
            (right - left) / (grid.columns[-1] - grid.columns[0]),
            (top - bottom) / (grid.rows[0] - grid.rows[-1]),
        )
        >= 0.5
        and len(own) >= _LEAST_BARS
    )


# A scale is so long, with so many strokes at most so high across it, one as far from the other.
_LEAST_SCALE, _LEAST_STEPS, _HIGHEST_STEP = 80.0, 4, 14.0


def _find_scales(boxes: Sequence[Edges], characters: Sequence[Character]) -> list[Edges]:
    """The scales of a page, such as number lines, with what points at them."""
    steps = [box for box in boxes if box[2] - box[0] < 3 < box[3] - box[1] <= _HIGHEST_STEP]
    found = []
    for line in boxes:
        if line[2] - line[0] < _LEAST_SCALE or line[3] - line[1] >= 3:
            continue
        middle = (line[1] + line[3]) / 2
        across = sorted(
            {
                round((box[0] + box[2]) / 2)
                for box in steps
                if box[1] - 1 <= middle <= box[3] + 1 and line[0] - 2 <= box[0] <= line[2] + 2
            }
        )
        gaps = [after - before for before, after in pairwise(across)]
        if len(across) < _LEAST_STEPS or max(gaps) - min(gaps) > 3:
            continue
        own = [
            box
            for box in boxes
            if is_within(box, (line[0] - 2, line[1] - 2 * _NEAR, line[2] + 2, line[3] + 2 * _NEAR))
        ]
        found.append(_take_labels(_unite([line, *own]), characters))
    return found


def _is_circuit(grid: Grid, boxes: Sequence[Edges], characters: Sequence[Character]) -> bool:
    """Whether a shape around a letter at most stands on the edge of a grid: no table has one."""
    outer = grid.columns[0], grid.rows[-1], grid.columns[-1], grid.rows[0]
    wide, tall = outer[2] - outer[0], outer[3] - outer[1]
    return any(
        _THINNEST_BAR <= box[2] - box[0] <= wide / 2
        and _THINNEST_BAR <= box[3] - box[1] <= tall / 2
        and any(
            outer[first] < (box[first] + box[last]) / 2 < outer[last]
            and any(box[low] < edge - 2 and edge + 2 < box[high] for edge in (outer[low], outer[high]))
            for first, last, low, high in ((0, 2, 1, 3), (1, 3, 0, 2))
        )
        and sum(holds(box, one) for one in characters) <= 1
        for box in boxes
    )


# A letter drawn as a shape has so many strokes, one of them a curve; letters of a formula stand so near, in sizes of the
# print; so long is the bar of a fraction, and so many shapes are a page of text that was turned into outlines.
_LEAST_STROKES, _SEARCHED, _BIG_SIGN, _LONGEST_BAR, _MOST_SHAPES = 6, 40, 4.0, 20.0, 3_000
_GLYPHS_APART: Final = 0.45
# Circles and bullets of a page are all of one size; one character in so many drawn ones may be said.
_LEAST_SHAPES, _MOST_SAID = 5, 5


def find_outlines(
    objects: Sequence[PageObject],
    raw: Any,
    view: View,
    figures: Sequence[Edges],
    characters: Sequence[Character],
) -> list[Edges]:
    """The boxes of formulas whose letters a page draws as shapes: no character says them."""
    paths = [item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_PATH]
    if not characters or len(paths) > _MOST_SHAPES:
        return []
    glyphs = [item for item in paths if _is_curved(item, raw)]
    if not glyphs:
        return []
    size = median(one.size for one in characters)
    bars = [item for item in paths if raw.FPDFPath_CountSegments(item) < _LEAST_STROKES]
    shapes = [view.box(*read_bounds(item, raw)) for item in glyphs]
    rules = [view.box(*read_bounds(item, raw)) for item in bars]
    parts = [box for box in shapes if max(box[2] - box[0], box[3] - box[1]) <= _BIG_SIGN * size]
    count = len(parts)
    if len({(round(box[2] - box[0]), round(box[3] - box[1])) for box in parts}) < _LEAST_SHAPES:
        return []
    parts += [
        box for box in rules if box[3] - box[1] < 0.3 * size and 0 < box[2] - box[0] <= _LONGEST_BAR * size
    ]
    reach = _GLYPHS_APART * size
    found = []
    for members in _cluster([(a - reach, b, c + reach, d) for a, b, c, d in parts], 1):
        box = _unite([parts[place] for place in members])
        if (
            (drawn := sum(place < count for place in members)) > 0
            and not any(_share(box, figure) > 0 for figure in figures)
            and _MOST_SAID * sum(_count_letters(box, characters).values()) <= drawn
            and (drawn > 1 or _follows_text(box, characters))  # a bullet stands before all text
        ):
            found.append(box)
    return found


def _follows_text(box: Edges, characters: Sequence[Character]) -> bool:
    middle = (box[1] + box[3]) / 2
    return any(one.bottom - 2 <= middle <= one.top + 2 and one.right <= box[0] + 2 for one in characters)


def _is_curved(item: Any, raw: Any) -> bool:
    strokes = raw.FPDFPath_CountSegments(item)
    return strokes >= _LEAST_STROKES and any(
        raw.FPDFPathSegment_GetType(raw.FPDFPath_GetPathSegment(item, place)) == raw.FPDF_SEGMENT_BEZIERTO
        for place in range(min(strokes, _SEARCHED))
    )


def _take_beside(box: Edges, parts: Sequence[Edges]) -> Edges:
    """The box with the shapes right beside it, no higher and no lower, as arrows into it."""
    beside = [
        edges
        for edges in parts
        if min(edges[2] - edges[0], edges[3] - edges[1]) >= _LEAST_SLANT
        and box[1] <= edges[1]
        and edges[3] <= box[3]
        and (0 <= box[0] - edges[2] <= _NEAR or 0 <= edges[0] - box[2] <= _NEAR)
    ]
    return _unite([box, *beside])


def _find_framed(
    objects: Sequence[PageObject], raw: Any, view: View, characters: Sequence[Character]
) -> list[Edges]:
    """The figures that a page takes over whole, as drawings of other programs are."""
    found = []
    for item in (item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_FORM):
        parts = [
            raw.FPDFFormObj_GetObject(item, place) for place in range(raw.FPDFFormObj_CountObjects(item))
        ]
        paths = [one for one in parts if raw.FPDFPageObj_GetType(one) == raw.FPDF_PAGEOBJ_PATH]
        if not 2 <= len(paths) <= MOST_PATHS:
            continue
        box = view.box(*_read_shown(item, parts, raw))
        if (
            _has_size(box, view)
            and _is_drawn(paths, box[3] - box[1], raw)
            and sum(_count_letters(box, characters).values()) <= max(_MOST_LETTERS, 2 * len(paths))
        ):
            found.append(_take_labels(box, characters))
    return found


def _read_shown(form: Any, parts: Sequence[Any], raw: Any) -> Edges:
    """What is seen of the parts of a drawing through the window that a page shows it by."""
    from pypdfium2 import PdfMatrix

    shown = [own for part in parts if (own := read_seen(part, raw)) is not None]
    matrix = raw.FS_MATRIX()
    if not shown or not raw.FPDFPageObj_GetMatrix(form, matrix):
        return read_bounds(form, raw)
    left, bottom, right, top = _unite(shown)
    placed = PdfMatrix.from_raw(matrix)
    corners = [placed.on_point(x, y) for x in (left, right) for y in (bottom, top)]
    across, up = zip(*corners, strict=True)
    return min(across), min(up), max(across), max(up)


def read_seen(item: Any, raw: Any) -> Edges | None:
    """The box of what is seen of an object through the windows that cut it, or None.

    Raises:
        PdfiumError: where pdfium knows no place of it.
    """
    left, bottom, right, top = read_bounds(item, raw)
    clip = raw.FPDFPageObj_GetClipPath(item)
    for at in range(max(0, raw.FPDFClipPath_CountPaths(clip))):
        points = []
        for place in range(raw.FPDFClipPath_CountPathSegments(clip, at)):
            x, y = c_float(), c_float()
            raw.FPDFPathSegment_GetPoint(raw.FPDFClipPath_GetPathSegment(clip, at, place), x, y)
            points.append((x.value, y.value))
        if points:
            across, up = zip(*points, strict=True)
            left, bottom = max(left, min(across)), max(bottom, min(up))
            right, top = min(right, max(across)), min(top, max(up))
    return (left, bottom, right, top) if left <= right and bottom <= top else None


def _has_size(box: Edges, view: View) -> bool:
    """Whether a box is neither a sign nor a frame of the page."""
    width, height = box[2] - box[0], box[3] - box[1]
    return (
        max(width, height) >= _LEAST_LONG
        and min(width, height) >= _LEAST_SHORT
        and width * height <= _MOST_AREA * view.width * view.height
    )


def _join_over(groups: Sequence[list[int]], boxes: Sequence[Edges]) -> list[list[int]]:
    """The groups of paths; those over each other are one, as a curve and its axes are."""
    joined: list[tuple[Edges, list[int]]] = []
    for members in groups:
        box = _unite([boxes[place] for place in members])
        over = [other for other in joined if _share(box, other[0]) >= _LEAST_SHARED]
        while over:
            joined = [other for other in joined if other not in over]
            box = _unite([box, *(other for other, _ in over)])
            members = [*members, *(place for _, places in over for place in places)]
            over = [other for other in joined if _share(box, other[0]) >= _LEAST_SHARED]
        joined.append((box, members))
    return [members for _, members in joined]


def _is_drawn(paths: Sequence[Any], height: float, raw: Any) -> bool:
    """Whether something is slanted: a long line or a curve, or heads of arrows in a tall figure."""
    if any(is_slanted(item, raw, _LEAST_SLANT) for item in paths):
        return True
    if height >= _LEAST_SHORT / 2 and _count_arrows(paths, raw) >= _LEAST_HEADS:
        return True
    if height < _TALL or len(paths) < _MANY_PATHS:
        return False
    return sum(is_slanted(item, raw, _LEAST_HEAD) for item in paths) >= _LEAST_HEADS


def _count_arrows(paths: Sequence[Any], raw: Any) -> int:
    """How many long lines end in a head: strokes on both sides, or a shape around the line."""
    boxes = [read_bounds(item, raw) for item in paths]
    heads = [
        box
        for box, item in zip(boxes, paths, strict=True)
        if max(box[2] - box[0], box[3] - box[1]) <= _LARGEST_HEAD and is_slanted(item, raw, _LEAST_HEAD)
    ]
    count = 0
    for left, low, right, high in boxes:
        across, up = (left + right) / 2, (low + high) / 2
        if max(right - left, high - low) < _LEAST_PART or min(right - left, high - low) >= 3:
            continue
        is_level = right - left > high - low
        for x, y in ((left, up), (right, up)) if is_level else ((across, low), (across, high)):
            sides = {
                round(((head[1] + head[3]) / 2 - y if is_level else (head[0] + head[2]) / 2 - x) / 2)
                for head in heads
                if head[0] - 2 < x < head[2] + 2 and head[1] - 2 < y < head[3] + 2
            }
            count += sides == {0} or (len(sides) == 2 and sum(sides) == 0)
    return count


# So many slanted lines run from border to border of columns, so near to these, up or down by so much at least and so much
# of a row at most.
_LEAST_STEPPED, _AT_BORDER, _LEAST_STEP, _MOST_OF_ROW = 3, 3.0, 3.0, 0.7


def _is_graph(grid: Grid, boxes: Sequence[tuple[Edges, Any]], raw: Any) -> bool:
    """Whether curves run through the cells of a grid: a graph's, not a table's.

    A line from corner to corner strikes a cell out.
    """
    wide, tall = grid.columns[-1] - grid.columns[0], grid.rows[0] - grid.rows[-1]
    cell = max(wide / max(len(grid.columns) - 1, 1), tall / max(len(grid.rows) - 1, 1))
    highest = _MOST_OF_ROW * tall / max(len(grid.rows) - 1, 1)
    stepped = 0
    for edges, item in boxes:
        is_long = max(edges[2] - edges[0], edges[3] - edges[1]) > max(1.5 * cell, 0.4 * min(wide, tall))
        is_step = edges[3] - edges[1] < highest and any(
            edges[0] - _AT_BORDER <= left and right <= edges[2] + _AT_BORDER
            for left, right in pairwise(grid.columns)
        )
        if not (is_long or is_step) or not grid.holds((edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2):
            continue
        if is_long and is_slanted(item, raw, _LEAST_SLANT):
            return True
        stepped += is_step and is_slanted(item, raw, _LEAST_STEP)
        if stepped >= _LEAST_STEPPED:
            return True
    return False


def holds(box: Edges, one: Character | Row) -> bool:
    """Whether a character or a row stands in a box."""
    return box[0] <= (one.left + one.right) / 2 <= box[2] and box[1] <= find_middle(one) <= box[3]


def find_middle(one: Character | Row) -> float:
    """The height at which the middle of a character or of a row stands."""
    return (one.bottom + one.top) / 2


def is_within(inner: Edges, outer: Edges) -> bool:
    """Whether a box lies in another."""
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def join_pictures(boxes: Sequence[Edges], characters: Sequence[Character]) -> list[Edges]:
    """The pictures of a page; those over each other are one, and what text runs over is none."""
    kept: list[Edges] = []
    ordered = sorted(characters, key=find_middle)
    middles = [find_middle(one) for one in ordered]
    for box in boxes:
        if _is_ground(box, ordered[bisect_left(middles, box[1]) : bisect_right(middles, box[3])]):
            continue
        over = [other for other in kept if _share(box, other) >= _LEAST_SHARED]
        kept = [other for other in kept if other not in over]
        kept.append(_unite([box, *over]))
    return kept


def _is_ground(box: Edges, characters: Sequence[Character]) -> bool:
    lines = _count_letters(box, characters).values()
    return sum(count > _LONG_LINE for count in lines) >= _MANY_LINES


def _count_letters(box: Edges, characters: Sequence[Character]) -> dict[int, int]:
    """How much print each line of a box has; a Chinese character counts twice."""
    lines: dict[int, int] = {}
    for one in characters:
        if holds(box, one) and not one.text.isspace():
            line = round(one.y / 3)
            lines[line] = lines.get(line, 0) + (2 if one.text > "\u2e80" else 1)
    return lines


def _share(one: Edges, other: Edges) -> float:
    """How much of the smaller of two boxes lies in the other."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    tall = min(one[3], other[3]) - max(one[1], other[1])
    if wide <= 0 or tall <= 0:
        return 0.0
    return wide * tall / max(min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)), 1.0)


def _cluster(boxes: Sequence[Edges], least: int = 2) -> list[list[int]]:
    """The places of boxes that touch each other, directly or by others, `least` of them or more."""
    order = sorted(range(len(boxes)), key=lambda place: boxes[place][0])
    links: list[tuple[int, int]] = []
    open_: list[int] = []
    for place in order:
        left, bottom, _, top = boxes[place]
        open_ = [other for other in open_ if boxes[other][2] + _REACH >= left]
        links += [
            (place, other)
            for other in open_
            if boxes[other][1] - _REACH <= top and boxes[other][3] + _REACH >= bottom
        ]
        open_.append(place)
    return [members for members in join_groups(len(boxes), links) if len(members) >= least]


def _unite(boxes: Sequence[Edges]) -> Edges:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _is_frame(box: Edges, characters: Sequence[Character]) -> bool:
    """Whether one shape stands around a line so long that no figure holds it."""
    is_large = min(box[2] - box[0], box[3] - box[1]) >= _TALL
    return is_large and max(_count_letters(box, characters).values(), default=0) > 2 * _LONGEST_LABEL


def _is_text(box: Edges, characters: Sequence[Character], path_count: int) -> bool:
    """Whether a box is to be read: few lines around many letters are formulas or frames."""
    lines = _count_letters(box, characters)
    letters, longest = sum(lines.values()), max(lines.values(), default=0)
    is_labelled = box[3] - box[1] >= _TALL and longest <= _FEW_LETTERS
    return (
        letters > _MOST_LETTERS
        or (letters > max(_FEW_LETTERS, 2 * path_count) and not is_labelled)
        or longest > 2 * _LONGEST_LABEL
    )


def _take_labels(box: Edges, characters: Sequence[Character]) -> Edges:
    """The box with the short words that stand at its edges, or are cut by them."""
    labels = [run for run in _list_runs(characters) if _is_label(run, box)]
    return _unite([box, *((one.left, one.bottom, one.right, one.top) for run in labels for one in run)])


def _list_runs(characters: Sequence[Character]) -> list[list[Character]]:
    """The characters that follow each other in lines without a gap."""
    runs: list[list[Character]] = []
    for one in sorted(
        (one for one in characters if not one.text.isspace()), key=lambda one: (round(one.y / 3), one.left)
    ):
        last = runs[-1][-1] if runs else None
        if last is not None and abs(last.y - one.y) < 3 and -2 <= one.left - last.right < one.size:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def is_loud(box: Edges, characters: Sequence[Character]) -> bool:
    """Whether the labels of a figure are in colour."""
    labels = [one for one in characters if holds(box, one) and not one.text.isspace()]
    return sum(one.is_coloured for one in labels) > len(labels) / 2


def leave_text(characters: Sequence[Character], figures: Sequence[Edges]) -> list[Character]:
    """The characters outside of all figures; a line of text that runs into one is left whole."""
    inside = {id(one) for one in characters if any(holds(box, one) for box in figures)}
    text: set[int] = set()
    for run in _list_runs(characters) if inside else ():
        outside = sum(id(one) not in inside for one in run)
        if _LEAST_OUTSIDE <= outside < len(run) and _measure(run) > _LONGEST_LABEL:
            text.update(map(id, run))
    return [one for one in characters if id(one) not in inside or id(one) in text]


# So many characters of a line that runs into a figure stand beside it.
_LEAST_OUTSIDE: Final = 2


def _measure(run: Sequence[Character]) -> int:
    return sum(2 if one.text > "\u2e80" else 1 for one in run)


def _is_label(run: Sequence[Character], box: Edges) -> bool:
    """Whether words stand so near to a figure, and are so short, that they are its own."""
    length = _measure(run)
    if length > _LONGEST_LABEL:
        return False
    if any(holds(box, one) for one in run):
        return True
    if _BEGINS.match("".join(one.text for one in run)) or _is_letter_below(run, box):
        return False
    middle = (run[0].bottom + run[0].top) / 2
    is_beside = box[1] <= middle <= box[3] and (
        0 <= box[0] - run[-1].right <= _NEAR or 0 <= run[0].left - box[2] <= _NEAR
    )
    near = (box[0] - _NEAR, box[1] - _NEAR, box[2] + _NEAR, box[3] + _NEAR)
    return is_beside or (length <= _LONGEST_LABEL // 2 and all(holds(near, one) for one in run))


def _is_letter_below(run: Sequence[Character], box: Edges) -> bool:
    one = run[0]
    middle = (box[0] + box[2]) / 2
    is_letter = len(run) == 1 and one.text in "ABCDEFGH"
    return (
        is_letter
        and (one.bottom + one.top) / 2 < box[1]
        and abs((one.left + one.right) / 2 - middle) < 0.12 * (box[2] - box[0])
    )
