"""Reading pictures of pages: RapidOCR finds and reads boxes of text, our own merging makes rows and columns of them."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tasks.ingest.readers.extraction import Extraction, Line
from tasks.ingest.readers.pdf import (
    Page,
    Row,
    find_column_border,
    mark_furniture,
    mark_wraps,
    order_rows,
    order_score,
)
from tasks.ingest.words.cleaning import is_cjk
from tasks.ingest.words.lexicon import find_type_in_title

RESOLUTION = 150
MAX_SIDE = 3000
# A box read with less confidence than this is noise (smudges, stamps, figures).
FLOOR = 0.5
UNSURE = 0.8
# Degrees: below the first a page counts as level, beyond the second it is not a page askew but turned.
MIN_TILT = 0.4
MAX_TILT = 8
# From the start of a character to that of the next one, in pitches of the Chinese characters of its line.
CJK_PITCH = 1.4
LATIN_PITCH = 1.15
SURE_PITCH = 2.2

# The classifier of direction turns lines of photographed pages upside down that stand upright: half of what was missed.
ENGINE = {
    "Global.log_level": "critical",
    "Global.use_cls": False,
    "EngineConfig.onnxruntime.intra_op_num_threads": 2,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}

_Box = tuple[list[tuple[float, float]], str, float]


def is_ocr_installed() -> bool:
    """True where the extra `ocr` is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime", "cv2"))


def read_pages(data: bytes, pages: list[int], time_limit_s: float) -> tuple[list[Line], list[str], list[str]]:
    """Read the given pages (from 1) of a PDF; returns lines, warnings and notes.

    Pages that do not fit into the time limit are left out and reported.
    """
    import pypdfium2

    started = time.monotonic()
    engine = _make_engine()
    document = pypdfium2.PdfDocument(data)
    read: list[tuple[int, Page]] = []
    scores: list[float] = []
    longest = 0.0
    for place, number in enumerate(pages):
        begun = time.monotonic()
        if begun - started + longest * 1.2 > time_limit_s:
            missed = [str(page) for page in pages[place:]]
            break
        page = document[number - 1]
        scale = min(RESOLUTION / 72, MAX_SIDE / max(page.get_size()))
        picture = page.render(scale=scale).to_numpy()
        read.append((number, _read_picture(engine, picture, scores)))
        longest = max(longest, time.monotonic() - begun)
    else:
        missed = []
    document.close()
    warnings = []
    if missed:
        warnings.append(
            f"{len(missed)} of {len(pages)} scanned pages did not fit into the time limit and were not read: "
            f"{', '.join(missed[:10])}. Raise the limit or split the document."
        )
    return _make_lines(read), warnings, _judge(scores)


def read_image(data: bytes) -> Extraction:
    """Read one picture of a page.

    Raises:
        DocumentError: `corrupt` when it is no picture that can be decoded.
    """
    import cv2
    import numpy

    from schemas.errors import DocumentError

    picture = cv2.imdecode(numpy.frombuffer(data, dtype=numpy.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise DocumentError(
            "corrupt", "The picture is damaged or cut off. Save it again as PNG, JPEG or PDF."
        )
    side = max(picture.shape[:2])
    if side > MAX_SIDE:
        factor = MAX_SIDE / side
        picture = cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    scores: list[float] = []
    page = _read_picture(_make_engine(), picture, scores)
    return Extraction(
        converter="rapidocr",
        converter_version=read_version(),
        lines=_make_lines([(1, page)]),
        page_count=1,
        notes=_judge(scores),
    )


def read_version() -> str:
    """Return the version of the OCR package."""
    from importlib.metadata import version

    return version("rapidocr")


def _make_engine() -> Any:
    import logging

    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return RapidOCR(params=dict(ENGINE))


def _read_picture(engine: Any, picture: Any, scores: list[float]) -> Page:
    """Return the rows of one picture in reading order; coordinates are pixels with the origin at the lower left."""
    height, width = picture.shape[:2]
    page = Page(float(width), float(height))
    found = _find_boxes(engine, picture)
    tilt = measure_tilt(picture)
    if abs(tilt) >= MIN_TILT:
        found = _unite(found, _find_turned(engine, picture, tilt))
    boxes: list[Row] = []
    for corners, text, score in found:
        scores.append(score)
        if score < FLOOR or not text.strip():
            continue
        xs, ys = [float(point[0]) for point in corners], [float(point[1]) for point in corners]
        slant = abs(ys[1] - ys[0])
        tall = max(ys) - min(ys) - slant
        size = max(tall * 0.8, 6.0)
        middle = height - (max(ys) + min(ys)) / 2
        boxes.append(Row(text, min(xs), max(xs), middle - size * 0.6, middle + size * 0.6, size))
    page.rows = merge_boxes(boxes, float(width), _measure_slope([box[0] for box in found]))
    page.characters = sum(len(row.text) for row in page.rows)
    return page


def _find_boxes(engine: Any, picture: Any) -> list[_Box]:
    found = engine(picture, return_word_box=True)
    if found.boxes is None:
        return []
    words = found.word_results or [()] * len(found.txts)
    return [
        (
            [(float(x), float(y)) for x, y in corners],
            restore_gaps(str(text), _read_starts(word)),
            float(score),
        )
        for corners, text, score, word in zip(found.boxes, found.txts, found.scores, words, strict=True)
    ]


def _read_starts(words: Sequence[Any]) -> list[tuple[str, float]]:
    """The characters of a box and where each begins, from left to right."""
    starts: list[tuple[str, float]] = []
    for text, _, corners in words:
        left, right = float(corners[0][0]), float(corners[1][0])
        letters = [letter for letter in str(text) if not letter.isspace()]
        starts += [
            (letter, left + place * (right - left) / len(letters)) for place, letter in enumerate(letters)
        ]
    return starts


def restore_gaps(text: str, starts: Sequence[tuple[str, float]]) -> str:
    """Put back the spaces that OCR drops between Chinese terms and before option labels.

    `starts` are the characters of the text, without spaces, with the abscissa at which each begins. What is wider than
    the usual pitch of the Chinese characters of the box by nearly half (places are known to a quarter) is a gap.
    """
    letters = [letter for letter in text if not letter.isspace()]
    if letters != [letter for letter, _ in starts] or len(letters) < 5:
        return text
    steps = [right - left for (_, left), (_, right) in pairwise(starts)]
    pitches = sorted(
        step
        for step, one, other in zip(steps, letters, letters[1:], strict=False)
        # stops have a width of their own
        if is_cjk(one) and is_cjk(other) and one.isalnum() and other.isalnum()
    )
    if len(pitches) < 4:
        return text
    pitch = pitches[len(pitches) // 2]
    # where places are known only to half a pitch, a step of one and a half says nothing
    sure = SURE_PITCH if _measure_grain(pitches) > 0.3 * pitch else 0.0
    parts: list[str] = []
    place = -1
    for index, character in enumerate(text):
        parts.append(character)
        if character.isspace():
            continue
        place += 1
        following = text[index + 1 : index + 2]
        if not following or following.isspace() or not following.isalnum() or not character.isalnum():
            continue
        usual = max(CJK_PITCH if is_cjk(character) else LATIN_PITCH, sure)
        if steps[place] > usual * pitch:
            parts.append(" " * max(1, min(round(steps[place] / pitch - 1), 8)))
    return "".join(parts)


def _measure_grain(steps: Sequence[float]) -> float:
    """The finest distance between two sizes of steps (sorted), sizes within two pixels being one; 0 for one size."""
    jumps = [right - left for left, right in pairwise(steps) if right - left > 2]
    return min(jumps, default=0.0)


def _find_turned(engine: Any, picture: Any, angle: float) -> list[_Box]:
    """Read the page turned by an angle (a tilted line is easily missed) and give the boxes in its own coordinates."""
    import cv2

    height, width = picture.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    back = cv2.getRotationMatrix2D((width / 2, height / 2), -angle, 1.0)
    turned = cv2.warpAffine(picture, turn, (width, height), borderValue=(255, 255, 255))
    return [
        (
            [
                (back[0][0] * x + back[0][1] * y + back[0][2], back[1][0] * x + back[1][1] * y + back[1][2])
                for x, y in corners
            ],
            text,
            score,
        )
        for corners, text, score in _find_boxes(engine, turned)
    ]


def _unite(first: list[_Box], second: list[_Box]) -> list[_Box]:
    """Unite two readings of one page: of boxes that cover each other the one with more text, surely read, stays."""
    kept = list(first)
    for box in second:
        rivals = [other for other in kept if _cover(box[0], other[0]) > 0.4]
        if not rivals:
            kept.append(box)
        elif sum(len(other[1]) * other[2] for other in rivals) < 0.95 * len(box[1]) * box[2]:
            kept = [other for other in kept if not any(other is rival for rival in rivals)]
            kept.append(box)
    return kept


def _cover(one: list[tuple[float, float]], other: list[tuple[float, float]]) -> float:
    """The share of the smaller of two boxes that the other covers, measured along their middle lines."""
    left = max(min(x for x, _ in one), min(x for x, _ in other))
    right = min(max(x for x, _ in one), max(x for x, _ in other))
    width = min(max(x for x, _ in box) - min(x for x, _ in box) for box in (one, other))
    if right <= left:
        return 0.0
    middle = (left + right) / 2
    heights = [abs(box[3][1] - box[0][1]) for box in (one, other)]
    distance = abs(_height_at(one, middle) - _height_at(other, middle))
    return (right - left) / max(width, 1.0) if distance < 0.6 * max(heights) else 0.0


def _height_at(box: list[tuple[float, float]], x: float) -> float:
    """The height of a box's middle line at x; corners run clockwise from the upper left."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = box
    start, end = ((x0 + x3) / 2, (y0 + y3) / 2), ((x1 + x2) / 2, (y1 + y2) / 2)
    share = (x - start[0]) / (end[0] - start[0]) if end[0] != start[0] else 0.0
    return start[1] + share * (end[1] - start[1])


def measure_tilt(picture: Any) -> float:
    """Return the angle in degrees by which turning makes the rows of ink and paper alternate most sharply."""
    import cv2

    gray = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    factor = 900 / max(gray.shape)
    if factor < 1:
        gray = cv2.resize(gray, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    # local thresholds: shadows and the dark surroundings of a photograph are not ink
    ink = cv2.adaptiveThreshold(gray, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 15, 12)
    height, width = ink.shape
    # only marks of the size of characters count: borders, rules and the edges of a photograph lie level anyway
    count, labels, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8)
    wide, tall = stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]
    is_character = (wide < 0.06 * width) & (tall < 0.04 * height) & (wide * tall >= 6)
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


def _measure_slope(boxes: Any) -> float:
    """The slope of the text lines of a page photographed askew: the median over the longer boxes."""
    slopes = [
        -(float(box[1][1]) - float(box[0][1])) / (float(box[1][0]) - float(box[0][0]))
        for box in boxes
        if float(box[1][0]) - float(box[0][0]) > 150
    ]
    return sorted(slopes)[len(slopes) // 2] if slopes else 0.0


def merge_boxes(boxes: list[Row], width: float, slope: float = 0.0) -> list[Row]:
    """Merge boxes into rows, column by column, from top to bottom.

    Boxes on one height belong to one row; wide gaps inside a row stay visible as several spaces. `slope`
    (rise per pixel to the right) is taken out first.
    """
    level = [
        Row(
            box.text, box.left, box.right, box.bottom - slope * box.left, box.top - slope * box.left, box.size
        )
        for box in boxes
    ]
    border = find_column_border(level, width) if len(level) >= 12 else None
    if border is not None:
        columns = order_rows(level, width)
        by_column = [
            [row for row in columns if row.right < border + 10],
            [row for row in columns if row.left > border - 10],
        ]
        spanning = [row for row in columns if not (row.right < border + 10 or row.left > border - 10)]
        # columns whose boxes pair up on the same heights are options side by side, not text columns
        if not _are_paired(by_column[0], by_column[1]):
            merged = [row for column in by_column for row in _merge_rows(column)]
            ordered = order_rows([*merged, *_merge_rows(spanning)], width)
            if order_score(ordered) >= order_score(_merge_rows(level)):
                return ordered
    return _merge_rows(level)


def _are_paired(left: list[Row], right: list[Row]) -> bool:
    """Whether the right column only continues lines of the left one: option B beside option A."""
    marks = sum(1 for row in right if row.text.lstrip("（( ")[:1] in "BCD" and len(row.text) > 1)
    return bool(right) and marks > 0.5 * len(right)


def _merge_rows(boxes: list[Row]) -> list[Row]:
    rows: list[list[Row]] = []
    for box in sorted(boxes, key=lambda box: -(box.top + box.bottom)):
        middle = (box.top + box.bottom) / 2
        for row in reversed(rows[-4:]):
            anchor = max(row, key=lambda item: item.right - item.left)
            if abs((anchor.top + anchor.bottom) / 2 - middle) < 0.6 * max(anchor.size, box.size) and not any(
                min(item.right, box.right) - max(item.left, box.left)
                > 0.5 * min(item.right - item.left, box.right - box.left)
                for item in row
            ):
                row.append(box)
                break
        else:
            rows.append([box])
    return [_join_row(sorted(row, key=lambda item: item.left)) for row in rows]


def _join_row(row: list[Row]) -> Row:
    text = row[0].text
    for left, right in pairwise(row):
        gap = right.left - left.right
        if gap > 1.5 * left.size:
            text += " " * min(int(gap / left.size) + 1, 8) + right.text
        elif gap > 0.3 * left.size and not (is_cjk(text[-1]) and is_cjk(right.text[0])):
            text += " " + right.text
        else:
            text += right.text
    return Row(
        text,
        row[0].left,
        max(item.right for item in row),
        min(item.bottom for item in row),
        max(item.top for item in row),
        max(item.size for item in row),
    )


def _make_lines(read: list[tuple[int, Page]]) -> list[Line]:
    pages = [page for _, page in read]
    mark_furniture(pages)
    mark_wraps(pages)
    lines: list[Line] = []
    for number, page in read:
        for row in page.rows:
            kind = "furniture" if row.is_furniture else ("wrapped" if row.wraps else "body")
            lines.append(Line(row.text, page=number, kind=kind))
    return repair_lines(lines)


# What the Chinese numbers of headings are taken for: strokes look like dashes, equals signs and kana.
_STROKES = {
    **dict.fromkeys("—–-－ー_一", "一"),
    **dict.fromkeys("=＝ニ二", "二"),
    **dict.fromkeys("三≡Ξ彡", "三"),
    **dict.fromkeys("+＋十", "十"),
    **dict.fromkeys("入人八", "八"),
}
_HEADING = re.compile(rf"\s*([{re.escape(''.join(_STROKES))}四五六七九])\s*([、.．])\s*(?=[^\s\d])")
_LOST_NUMBER = re.compile(r"\s*、\s*(?=[^\s\d])")
_CHINESE = "一二三四五六七八九十"
_OPTION_LABEL = re.compile(r"(?:^|(?<=[\s\u3000-\u9fff)）;；。]))[（(]?([A-E])\s*[.．、)）]")


def repair_lines(lines: Sequence[Line]) -> list[Line]:
    """Mend what OCR does to the marks of a paper: the strokes of 一、 and 二、, and options glued to their neighbour.

    A lost number before `、` is given back where the line names a type of questions. Nothing else is touched.
    """
    repaired: list[Line] = []
    last = 0
    for line in lines:
        text = line.text
        heading = _HEADING.match(text)
        lost = None if heading else _LOST_NUMBER.match(text)
        if heading and (heading.group(2) == "、" or heading.group(1) in _CHINESE):
            number = _STROKES.get(heading.group(1), heading.group(1))
            text = f"{number}、{text[heading.end() :]}"
            last = _CHINESE.index(number) + 1
        elif lost and len(text) < 80 and last < len(_CHINESE) and find_type_in_title(text) is not None:
            text = f"{_CHINESE[last]}、{text[lost.end() :]}"
            last += 1
        repaired.append(replace(line, text=_part_options(text)))
    return _repair_options(_repair_numbers(repaired))


_LETTER = re.compile(r"\s*[（(]?([A-F])\s*[)）.．、]")


def _repair_options(lines: list[Line]) -> list[Line]:
    """Give back the letters that ticks cover: lines between `A)` and `C)` are options where they are as many as are missing."""
    letters = [
        (index, match.group(1)) for index, line in enumerate(lines) if (match := _LETTER.match(line.text))
    ]
    repaired = list(lines)
    for (first, left), (last, right) in pairwise(letters):
        missing = ord(right) - ord(left) - 1
        between = range(first + 1, last)
        if (
            missing < 1
            or len(between) != missing
            or any(_NUMBER.match(lines[index].text) for index in between)
        ):
            continue
        if any(len(lines[index].text) > 120 or lines[index].kind == "furniture" for index in between):
            continue
        for place, index in enumerate(between, start=1):
            text = re.sub(r"^\s*[（(]?[A-Za-z]?[)）.]\s*", "", lines[index].text).strip()
            repaired[index] = replace(lines[index], text=f"{chr(ord(left) + place)}) {text}")
    return repaired


_NUMBER = re.compile(r"\s*(\d{1,2})\s*[.．、)）]\s*(?=\S)")
# `3How`, `L5. Write`: the stop lost, a stroke of a tick read as a letter
_GLUED_NUMBER = re.compile(
    r"\s*(?:[A-PR-Za-pr-z|/](?=\d{1,2}[.．]))?(\d{1,2})\s?(?:[.．]\s*)?(?=[A-Z][a-z]+\b)"
)
_HEADLESS = re.compile(r"\s*[.．]\s*(?=[A-Z][a-z])")


def _repair_numbers(lines: Sequence[Line]) -> list[Line]:
    """Give back the stop behind a number that goes on, and a number of which only the stop is left."""
    repaired: list[Line] = []
    last = 0
    for line in lines:
        text = line.text
        number = _NUMBER.match(text)
        glued = _GLUED_NUMBER.match(text) if number is None else None
        headless = _HEADLESS.match(text) if number is None and glued is None else None
        if number is not None:
            last = int(number.group(1))
        elif glued is not None and last <= int(glued.group(1)) <= last + 2:
            last = int(glued.group(1))
            text = f"{last}. {text[glued.end() :]}"
        elif headless is not None and last:
            last += 1
            text = f"{last}. {text[headless.end() :]}"
        repaired.append(replace(line, text=text))
    return repaired


def _part_options(text: str) -> str:
    """`A.SPN B.SRT C.HRRND.RR` → `… C.HRRN D.RR`, where the other labels of the line leave no doubt."""
    labels = [match.group(1) for match in _OPTION_LABEL.finditer(text)]
    if len(labels) < 3 or labels != sorted(set(labels)):
        return text
    for letter in "ABCD":
        glued = list(re.finditer(rf"(?<=[A-Za-z0-9]){letter}(?=[.．、]\s*\S)", text))
        if letter not in labels and len(glued) == 1:
            text = f"{text[: glued[0].start()]} {text[glued[0].start() :]}"
    return text


def _judge(scores: list[float]) -> list[str]:
    """The notes for every question of a document that was read by OCR."""
    if not scores:
        return ["ocr"]
    unsure = sum(1 for score in scores if score < UNSURE) / len(scores)
    return ["ocr", "ocr_unsure"] if unsure > 0.3 else ["ocr"]
