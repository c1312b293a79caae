"""Levelling pictures of pages.

A page held askew is turned, the bent lines of a photograph are straightened.

Detectors of text miss lines that bend, and cut boxes that hold two of them. The lines themselves show how the page
lies: the marks of ink that follow each other along a line give slopes all over the page; a smooth field through them is
followed from the middle of the page to both sides, and every column of pixels moves up or down to where its line is
level. Scanned pages that lie level are left as they are, to the pixel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

# Degrees: below the first a page counts as level, beyond the second it is not a page askew but turned.
MIN_TILT = 0.4
MAX_TILT = 8
# Slopes (pixels of rise per pixel to the right) are told apart from noise above this; steeper ones are not lines.
MIN_SLOPE = 0.012
MAX_SLOPE = 0.35
# Fewer marks on a page say nothing of its lines; more are dust, or a picture.
MIN_SAMPLES = 40
MAX_MARKS = 20_000
# Marks of a line that are compared: so many places apart, the median of so many on both sides.
REACHES = (6, 10, 16)
GROUP = 4
# The field of slopes: cells to the right and down, and how far a slope reaches in each round (shares of width and height).
COLUMNS, ROWS = 32, 48
ROUNDS = ((0.08, 0.05), (0.05, 0.03), (0.04, 0.02))
# Powers of the place in the first, coarse round: to the right, and down.
POWERS = (4, 3)


@dataclass
class _Slopes:
    """Slopes measured on a page: places and weights in pixels, downwards to the right."""

    x: Any
    y: Any
    slope: Any
    weight: Any

    def __len__(self) -> int:
        return len(self.x)

    def cells(self, width: int, height: int) -> tuple[Any, Any]:
        """The rows and columns of the cells of a field in which the slopes were measured."""
        import numpy

        rows = numpy.clip((self.y / height * ROWS).astype(int), 0, ROWS - 1)
        return rows, numpy.clip((self.x / width * COLUMNS).astype(int), 0, COLUMNS - 1)

    def read(self, field: Any, width: int, height: int) -> Any:
        """What a field says at the places of the slopes."""
        rows, columns = self.cells(width, height)
        return field[rows, columns]


@dataclass
class Levelled:
    """A levelled picture, and where its pixels were before.

    `turn` (2 × 3) turned them, `down` holds the row that each had then.
    """

    picture: Any
    turn: Any = None
    down: Any = None

    def find_source(self, x: float, y: float) -> tuple[float, float]:
        """Where a pixel of the levelled picture was in the one that was given."""
        import cv2

        if self.down is not None:
            height, width = self.down.shape[:2]
            y = float(self.down[min(max(int(y), 0), height - 1), min(max(int(x), 0), width - 1)])
        if self.turn is None:
            return x, y
        back = cv2.invertAffineTransform(self.turn)
        return float(back[0] @ (x, y, 1.0)), float(back[1] @ (x, y, 1.0))


def level_picture(picture: Any) -> Levelled:
    """Return a picture with level lines of text; the same one where they are level.

    It is height × width, gray or with channels.
    """
    slopes = _measure_slopes(picture)
    turned, turn = _turn(picture, _settle_tilt(measure_tilt(picture), slopes))
    slopes = slopes if turn is None else _measure_slopes(turned)
    height, width = turned.shape[:2]
    if len(slopes) < MIN_SAMPLES or not _is_bent(slopes, width, height):
        return Levelled(turned, turn)
    levelled, down = _straighten(turned, slopes)
    return Levelled(levelled, turn, down)


def measure_tilt(picture: Any) -> float:
    """The angle in degrees by which rows of ink and paper alternate most sharply."""
    import cv2

    gray = _to_gray(picture)
    factor = 900 / max(gray.shape)
    if factor < 1:
        gray = cv2.resize(gray, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    # local thresholds: shadows and the dark surroundings of a photograph are not ink
    ink = cv2.adaptiveThreshold(gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 15, 12)
    height, width = ink.shape
    # only marks of the size of characters count: borders, rules and the edges of a photograph lie level anyway
    count, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    wide, tall = stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]
    is_character = (wide < 0.06 * width) & (tall < 0.04 * max(height, width)) & (wide * tall >= 6)
    ink[~is_character[labels]] = 0
    if count < 30:
        return 0.0

    def sharpness(angle: float) -> float:
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
        rows = cv2.warpAffine(ink, turn, (width, height), flags=cv2.INTER_NEAREST).sum(
            axis=1, dtype="float64"
        )
        return float(((rows[1:] - rows[:-1]) ** 2).sum())

    coarse = max((step * 0.5 for step in range(-2 * MAX_TILT, 2 * MAX_TILT + 1)), key=sharpness)
    best = max((coarse + step * 0.125 for step in range(-3, 4)), key=sharpness)
    return best if sharpness(best) > 1.1 * sharpness(0.0) else 0.0


def _settle_tilt(tilt: float, slopes: _Slopes) -> float:
    """The tilt in degrees, unless the slopes of the lines contradict it."""
    import numpy

    if len(slopes) < MIN_SAMPLES:
        return tilt
    seen = math.degrees(math.atan(float(numpy.median(slopes.slope))))
    return tilt if abs(tilt - seen) < 1.0 else seen


def _turn(picture: Any, angle: float) -> tuple[Any, Any]:
    """Turn a picture about its middle; None instead of the turn where it is level."""
    import cv2

    if abs(angle) < MIN_TILT:
        return picture, None
    height, width = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    wide = round(abs(turn[0][0]) * width + abs(turn[0][1]) * height)
    tall = round(abs(turn[0][0]) * height + abs(turn[0][1]) * width)
    turn[0][2] += (wide - width) / 2
    turn[1][2] += (tall - height) / 2
    turned = cv2.warpAffine(picture, turn, (wide, tall), flags=cv2.INTER_CUBIC, borderValue=(255, 255, 255))
    return turned, turn


def _straighten(picture: Any, slopes: _Slopes) -> tuple[Any, Any]:
    """The picture with its columns moved so that lines are level, and the row of each pixel."""
    import cv2
    import numpy

    height, width = picture.shape[:2]
    across = numpy.tile(numpy.arange(width, dtype=numpy.float32), (height, 1))
    down = numpy.tile(numpy.arange(height, dtype=numpy.float32)[:, None], (1, width))
    levelled, seen = picture, slopes
    for number in range(1 + len(ROUNDS)):
        field = (
            _fit_field(seen, width, height)
            if number == 0
            else _smooth_field(seen, width, height, *ROUNDS[number - 1])
        )
        step = _follow(field, width, height)
        moved = cv2.remap(down, across, step, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        trial = cv2.remap(picture, across, moved, cv2.INTER_CUBIC, borderValue=(255, 255, 255))
        after = _measure_slopes(trial)
        if len(after) < 0.7 * len(slopes) or _bend(after.slope) > _bend(seen.slope):
            break
        levelled, seen, down = trial, after, moved
        if _bend(seen.slope) < MIN_SLOPE:
            break
    return levelled, down


def _is_bent(slopes: _Slopes, width: int, height: int) -> bool:
    """Whether neighbours agree that lines are not level: single slopes say little."""
    fields = (_fit_field(slopes, width, height), _smooth_field(slopes, width, height, *ROUNDS[0]))
    return all(_bend(slopes.read(field, width, height)) >= MIN_SLOPE for field in fields)


def _bend(slopes: Any) -> float:
    """How far lines are from level: the slope that one in ten exceeds."""
    import numpy

    return float(numpy.percentile(numpy.abs(slopes), 90))


def _to_gray(picture: Any) -> Any:
    import cv2

    return picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)


def _measure_slopes(picture: Any) -> _Slopes:
    """Measure along every line of marks how it rises or falls."""
    import numpy

    marks, size = find_marks(picture)
    found: list[tuple[float, float, float, float]] = []
    for line in link_marks(marks, size):
        middles = marks[line, 0] + marks[line, 2] / 2
        feet = marks[line, 1] + marks[line, 3]
        for reach in REACHES:
            for first in range(0, len(line) - reach, 2):
                near, far = (slice(first, first + GROUP), slice(first + reach - GROUP + 1, first + reach + 1))
                left, right = float(middles[near].mean()), float(middles[far].mean())
                if right - left < 2 * size:
                    continue
                start, end = float(numpy.median(feet[near])), float(numpy.median(feet[far]))
                slope = (end - start) / (right - left)
                if abs(slope) < MAX_SLOPE:
                    found.append(((left + right) / 2, (start + end) / 2, slope, right - left))
    table = numpy.array(found or numpy.zeros((0, 4)), dtype=float)
    return _Slopes(table[:, 0], table[:, 1], table[:, 2], table[:, 3])


def find_marks(picture: Any) -> tuple[Any, float]:
    """The boxes of marks that have the size of characters, and their usual height."""
    import cv2
    import numpy

    gray = _to_gray(picture)
    height, width = gray.shape
    block = max(15, (min(height, width) // 60) | 1)
    ink = cv2.adaptiveThreshold(gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, block, 12)
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    marks = stats[1:, :4].astype(float)
    wide, tall = marks[:, 2], marks[:, 3]
    longest = 0.05 * max(height, width)  # of a page in strips, too
    marks = marks[(wide * tall >= 12) & (wide < longest) & (tall < longest) & (tall > 3)]
    tall = marks[marks[:, 3] > 5, 3]
    if not len(tall) or len(marks) > MAX_MARKS:
        return numpy.zeros((0, 4)), 1.0
    size = float(numpy.median(tall))
    is_usual = (marks[:, 3] > 0.45 * size) & (marks[:, 3] < 2.2 * size) & (marks[:, 2] < 3.5 * size)
    return marks[is_usual], size


def link_marks(marks: Any, size: float) -> list[list[int]]:
    """The lines of a page: the numbers of the marks on each, from left to right."""
    import numpy

    order = numpy.argsort(marks[:, 0], kind="stable")
    left, top = marks[:, 0], marks[:, 1]
    right, foot = left + marks[:, 2], top + marks[:, 3]
    sorted_left = left[order]
    following = numpy.full(len(marks), -1)
    before = numpy.full(len(marks), -1)
    for mark in order:
        near = order[
            numpy.searchsorted(sorted_left, left[mark] + 1, side="right") : numpy.searchsorted(
                sorted_left, right[mark] + 1.6 * size, side="left"
            )
        ]
        shared = numpy.minimum(foot[near], foot[mark]) - numpy.maximum(top[near], top[mark])
        near = near[
            (shared > 0.4 * numpy.minimum(marks[near, 3], marks[mark, 3]))
            & (left[near] - right[mark] > -0.5 * marks[mark, 2])
        ]
        if not len(near):
            continue
        drop = numpy.abs((top[near] + foot[near]) - (top[mark] + foot[mark])) / 2
        target = near[numpy.argmin(numpy.maximum(left[near] - right[mark], 0) + 0.5 * drop)]
        following[mark] = target
        if before[target] < 0 or right[mark] > right[before[target]]:
            before[target] = mark
    lines: list[list[int]] = []
    for mark in order:
        if before[mark] >= 0 and following[before[mark]] == mark:
            continue
        line = [int(mark)]
        while (target := int(following[line[-1]])) >= 0 and before[target] == line[-1]:
            line.append(target)
        if len(line) > min(REACHES):
            lines.append(line)
    return lines


def _fit_field(slopes: _Slopes, width: int, height: int) -> Any:
    """A field of slopes (`ROWS` × `COLUMNS`) from a robustly fitted polynomial."""
    import numpy

    def powers(x: Any, y: Any) -> Any:
        x, y = x / width * 2 - 1, y / height * 2 - 1
        return numpy.stack([x**i * y**j for i in range(POWERS[0] + 1) for j in range(POWERS[1] + 1)], -1)

    terms = powers(slopes.x, slopes.y)
    base = slopes.weight / slopes.weight.max()
    # higher powers are held back: at the edges of the page they are the least known
    held = numpy.array([i + j for i in range(POWERS[0] + 1) for j in range(POWERS[1] + 1)], dtype=float)
    held = numpy.diag(held * 1e-3 * base.sum() + 1e-6)
    weight = base
    for _ in range(6):
        weighted = terms * weight[:, None]
        found = numpy.linalg.solve(weighted.T @ terms + held, weighted.T @ slopes.slope)
        weight = base * _trust(slopes.slope - terms @ found)
    x, y = numpy.meshgrid(
        (numpy.arange(COLUMNS) + 0.5) * width / COLUMNS, (numpy.arange(ROWS) + 0.5) * height / ROWS
    )
    return powers(x, y) @ found


def _smooth_field(slopes: _Slopes, width: int, height: int, right: float, down: float) -> Any:
    """A field of slopes: the mean of those near each place, level where there are none."""
    import cv2
    import numpy

    row, column = slopes.cells(width, height)
    base = slopes.weight / slopes.weight.mean()
    weight = base
    field = numpy.zeros((ROWS, COLUMNS))
    for _ in range(4):
        sums, weights = numpy.zeros((ROWS, COLUMNS)), numpy.zeros((ROWS, COLUMNS))
        numpy.add.at(sums, (row, column), slopes.slope * weight)
        numpy.add.at(weights, (row, column), weight)
        for table in (sums, weights):
            cv2.GaussianBlur(
                table, (0, 0), right * COLUMNS, table, down * ROWS, borderType=cv2.BORDER_CONSTANT
            )
        field = sums / (weights + 0.05 * max(float(numpy.median(weights)), 1e-9))
        weight = base * _trust(slopes.slope - field[row, column])
    return field


def _trust(residuals: Any) -> Any:
    """Weights from 1 for a slope that fits down to 0 for one that does not."""
    import numpy

    scale = max(1.5 * float(numpy.median(numpy.abs(residuals))), 0.02)
    return 1 / (1 + (residuals / (2 * scale)) ** 2)


def _follow(field: Any, width: int, height: int) -> Any:
    """Follow the field from the middle to both sides; the height before of every place."""
    import cv2
    import numpy

    stride, rung = 8, 4
    across = numpy.arange(0, width + stride, stride, dtype=numpy.float32)
    paths = numpy.zeros((len(range(0, height, rung)), len(across)), dtype=numpy.float32)
    middle = len(across) // 2
    paths[:, middle] = numpy.arange(0, height, rung)
    cells = field.astype(numpy.float32)

    def slope(x: float, y: Any) -> Any:
        columns = numpy.full((len(y), 1), x / width * COLUMNS - 0.5, dtype=numpy.float32)
        rows = (y / height * ROWS - 0.5).astype(numpy.float32)[:, None]
        return cv2.remap(cells, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)[:, 0]

    for side in (1, -1):
        place = middle
        while 0 <= place + side < len(across):
            here = paths[:, place]
            half = here + slope(float(across[place]), here) * side * stride / 2
            paths[:, place + side] = (
                here + slope(float(across[place]) + side * stride / 2, half) * side * stride
            )
            place += side
    x = numpy.tile(numpy.arange(width, dtype=numpy.float32) / stride, (height, 1))
    y = numpy.tile((numpy.arange(height, dtype=numpy.float32) / rung)[:, None], (1, width))
    return cv2.remap(paths, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
