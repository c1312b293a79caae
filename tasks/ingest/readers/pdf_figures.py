"""Figures that a PDF draws with lines (circuits, graphs, geometry), with their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tasks.ingest.readers.pdf_pages import Character
from tasks.ingest.readers.pdf_rules import Grid, PageObject, is_slanted, read_bounds
from tasks.ingest.readers.pdf_view import View

Edges = tuple[float, float, float, float]

# A page with more is text that was turned into outlines, or a map: its paths are not looked at.
MOST_PATHS: Final = 1_500
# In points: how far parts of a figure may stand apart, how small it may be, what of it must be longer than a letter.
_REACH, _LEAST_WIDTH, _LEAST_HEIGHT, _LEAST_PART = 5.0, 36.0, 26.0, 24.0
# Signs of roots, heads of arrows and round corners go less far both ways.
_LEAST_SLANT: Final = 7.0
# Larger ones are frames of the page.
_MOST_AREA: Final = 0.4
# More text than this, or a longer line of it, is a box of text.
_MOST_LETTERS, _LONGEST_LABEL, _FEW_LETTERS = 90, 14, 8
# Labels stand so near to what they name.
_NEAR: Final = 14.0
# What begins an option or a question is none, nor is the letter of an option below the middle of its figure.
_BEGINS: Final = re.compile(r"[（(]?(?:[A-Ha-h]|\d{1,3})[)）.．、：:]")


def find_figures(
    objects: Sequence[PageObject],
    raw: Any,
    view: View,
    grids: Sequence[Grid],
    characters: Sequence[Character],
) -> list[Edges]:
    """Left, lower, right and upper edge of every figure that a page draws, with labels.

    What is made of level and upright lines alone is a table, a frame or a blank, and none.
    """
    paths = [item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_PATH]
    if len(paths) < 2 or len(paths) > MOST_PATHS:
        return []
    parts: list[tuple[Edges, Any]] = []
    for item in paths:
        edges = view.box(*read_bounds(item, raw))
        middle = (edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2
        is_frame = edges[2] - edges[0] > 0.85 * view.width or edges[3] - edges[1] > 0.6 * view.height
        if not is_frame and not any(grid.holds(*middle) for grid in grids):
            parts.append((edges, item))
    found = []
    for members in _cluster([edges for edges, _ in parts]):
        box = _unite([parts[place][0] for place in members])
        width, height = box[2] - box[0], box[3] - box[1]
        is_sized = width >= _LEAST_WIDTH and height >= _LEAST_HEIGHT
        if (
            not is_sized
            or width * height > _MOST_AREA * view.width * view.height
            or max(max(e[2] - e[0], e[3] - e[1]) for e in (parts[place][0] for place in members))
            < _LEAST_PART
            or not any(is_slanted(parts[place][1], raw, _LEAST_SLANT) for place in members)
            or _is_text(box, characters, len(members))
        ):
            continue
        found.append(_take_labels(box, characters))
    return found


def holds(box: Edges, one: Character) -> bool:
    """Whether a character stands in a box."""
    x, y = (one.left + one.right) / 2, (one.bottom + one.top) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def is_within(inner: Edges, outer: Edges) -> bool:
    """Whether a box lies in another."""
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _cluster(boxes: Sequence[Edges]) -> list[list[int]]:
    """The places of boxes that touch each other, directly or by others."""
    order = sorted(range(len(boxes)), key=lambda place: boxes[place][0])
    parents = list(range(len(boxes)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    open_: list[int] = []
    for place in order:
        left, bottom, _, top = boxes[place]
        open_ = [other for other in open_ if boxes[other][2] + _REACH >= left]
        for other in open_:
            if boxes[other][1] - _REACH <= top and boxes[other][3] + _REACH >= bottom:
                parents[root(place)] = root(other)
        open_.append(place)
    groups: dict[int, list[int]] = {}
    for place in range(len(boxes)):
        groups.setdefault(root(place), []).append(place)
    return [members for members in groups.values() if len(members) > 1]


def _unite(boxes: Sequence[Edges]) -> Edges:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _is_text(box: Edges, characters: Sequence[Character], path_count: int) -> bool:
    """Whether what stands in the box is to be read rather than looked at.

    Roots and fractions of a formula, and frames, are few lines around many letters.
    """
    lines: dict[int, int] = {}
    for one in characters:
        if holds(box, one) and not one.text.isspace():
            line = round(one.y / 3)
            lines[line] = lines.get(line, 0) + (2 if one.text > "\u2e80" else 1)
    letters = sum(lines.values())
    return (
        letters > _MOST_LETTERS
        or letters > max(_FEW_LETTERS, 2 * path_count)
        or max(lines.values(), default=0) > 2 * _LONGEST_LABEL
    )


def _take_labels(box: Edges, characters: Sequence[Character]) -> Edges:
    """The box with the short words that stand at its edges."""
    near = (box[0] - _NEAR, box[1] - _NEAR, box[2] + _NEAR, box[3] + _NEAR)
    runs: list[list[Character]] = []
    for one in sorted(
        (one for one in characters if not one.text.isspace()), key=lambda one: (round(one.y / 3), one.left)
    ):
        last = runs[-1][-1] if runs else None
        if last is not None and abs(last.y - one.y) < 3 and -2 <= one.left - last.right < one.size:
            runs[-1].append(one)
        else:
            runs.append([one])
    labels = [
        run
        for run in runs
        if len(run) <= _LONGEST_LABEL // 2
        and all(holds(near, one) for one in run)
        and not _BEGINS.match("".join(one.text for one in run))
        and not _is_letter_below(run, box)
    ]
    return _unite([box, *((one.left, one.bottom, one.right, one.top) for run in labels for one in run)])


def _is_letter_below(run: Sequence[Character], box: Edges) -> bool:
    one = run[0]
    middle = (box[0] + box[2]) / 2
    is_letter = len(run) == 1 and one.text in "ABCDEFGH"
    return (
        is_letter and one.top < box[1] and abs((one.left + one.right) / 2 - middle) < 0.12 * (box[2] - box[0])
    )
