"""Reading pictures of pages: RapidOCR reads boxes of text, we make rows of them."""

from __future__ import annotations

import importlib.util
import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from schemas import patterns as re
from tasks.ingest.readers.box_rows import SeenPage, find_gutter, lay_out, merge_rows
from tasks.ingest.readers.extraction import Extraction, Line, Look, is_picture
from tasks.ingest.readers.figures import (
    find_drawings,
    find_drawn_labels,
    find_labels,
)
from tasks.ingest.readers.levelling import find_marks, level_picture, link_marks
from tasks.ingest.readers.ocr_repair import repair_lines, restore_gaps
from tasks.ingest.readers.page_boxes import PictureFrame
from tasks.ingest.readers.page_margins import settle_margins, settle_numbers
from tasks.ingest.readers.pdf_lines import (
    begins_content,
    mark_furniture,
    mark_wraps,
    same_as_known,
    starts_anew,
)
from tasks.ingest.readers.pdf_pages import Page, Row, name_kind, number_table, place_row
from tasks.ingest.readers.pdf_rules import remove_additions
from tasks.ingest.readers.picture_rules import Letter, find_strokes, take_tables, write_blanks

RESOLUTION = 150
MAX_SIDE = 3000
# A box read with less confidence than this is noise (smudges, stamps, figures).
FLOOR = 0.5
# The classifier of direction turns lines of photographed pages upside down that stand upright: half of what was missed.
# One thread: documents are read side by side, and a second one waits by spinning (a quarter more CPU for the same lines).
ENGINE = {
    "Global.log_level": "critical",
    "Global.use_cls": False,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}

# Lines that are read less surely may stand on their heads; so many of the longest are read both ways.
UPRIGHT_SURENESS = 0.8
MOST_TRIED = 6
# A line that no box holds is read again from so many marks on, and kept where it is read so surely; so many lines a page.
LEAST_AGAIN = 8
SURE_AGAIN = 0.85
MAX_AGAIN = 400
# In sizes of the print: a sign of a number is so high at least, so large at most, and so near to the line that it counts.
LEAST_SIGN, MOST_SIGN, BESIDE, BESIDE_HEIGHT = 0.5, 1.6, 8.0, 0.7
SURE_BESIDE, MOST_SIGNS = 0.95, 4
_ALONE = re.compile(r"\s*([1-9]\d?)\s*[.．、]?\s*")
_BEGINS_PART = re.compile(r"\s*[(（]?(?:[a-e]|[ivx]{1,3}|[1-9])\s*[)）]|[ai]\s*$")
_BEGINS_QUESTION = re.compile(r"\s*[A-Z\u4e00-\u9fff“\"'(（]")
# Of a page that is partly text, OCR's part is kept where so many of its lines begin a question, an option or an answer.
LEAST_STARTS = 3
# So many rows at the top and at the foot of a page may be its header and footer.
OUTER_ROWS = 2
_DIGITS = re.compile(r"[\d一二三四五六七八九十]+")

# The corners of a box, what it says, how surely, and where its letters begin.
_Box = tuple[list[tuple[float, float]], str, float, list[Letter]]


class _UnreadError(Exception):
    """The engine failed at a picture."""


def is_ocr_installed() -> bool:
    """True where the extra `ocr` is installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("rapidocr", "onnxruntime", "cv2"))


def read_pages(
    data: bytes, pages: list[int], time_limit_s: float, known: Mapping[int, list[Line]] = MappingProxyType({})
) -> tuple[list[Line], list[str]]:
    """Read the given pages (from 1) of a PDF; returns lines and warnings.

    `known` has the lines that the text layer of some of them holds: they stay, and OCR reads what is beside them. Pages that do not fit into the time limit are left out and reported.
    """
    import pypdfium2
    import pypdfium2.raw as raw

    started = time.monotonic()
    engine = _make_engine()
    document = pypdfium2.PdfDocument(data)
    read: list[tuple[int, SeenPage]] = []
    warnings: list[str] = []
    longest = 0.0
    for place, number in enumerate(pages):
        begun = time.monotonic()
        if begun - started + longest * 1.2 > time_limit_s:
            missed = [str(page) for page in pages[place:]]
            break
        page = document[number - 1]
        remove_additions(page, raw)
        scale = min(RESOLUTION / 72, MAX_SIDE / max(page.get_size()))
        picture = page.render(scale=scale).to_numpy()
        try:
            boxes = [line.box for line in known.get(number, ()) if not is_picture(line.text.strip())]
            read.append((number, _read_picture(engine, picture, boxes)))
        except _UnreadError as error:
            warnings.append(f"Page {number} was not read by OCR: {error}")
        longest = max(longest, time.monotonic() - begun)
    else:
        missed = []
    document.close()
    if missed:
        warnings.append(
            f"{len(missed)} of {len(pages)} scanned pages did not fit into the time limit and were not read: "
            f"{', '.join(missed[:10])}. Raise the limit or split the document."
        )
    return _join_known(_make_lines(read), known), warnings


def read_image(data: bytes) -> Extraction:
    """Read one picture of a page.

    Raises:
        DocumentError: `corrupt` when it is no picture that can be decoded.
    """
    from schemas.errors import DocumentError

    if _decode(data) is None:
        raise DocumentError(
            "corrupt", "The picture is damaged or cut off. Save it again as PNG, JPEG or PDF."
        )
    return read_images([data])


def read_images(pictures: Sequence[bytes], time_limit_s: float = math.inf) -> Extraction:
    """Read pictures of pages in order; warnings name those that could not be read."""
    started = time.monotonic()
    engine = _make_engine()
    read: list[tuple[int, SeenPage]] = []
    warnings: list[str] = []
    for number, data in enumerate(pictures, start=1):
        spent = time.monotonic() - started
        if number > 1 and spent * number / (number - 1) > time_limit_s:
            warnings.append(
                f"{len(pictures) - number + 1} of {len(pictures)} pictures did not fit into the time limit and were "
                "not read. Raise the limit or split the document."
            )
            break
        picture = _decode(data)
        if picture is None:
            warnings.append(f"Picture {number} is damaged or in a format that cannot be read.")
            continue
        try:
            read.append((number, _read_picture(engine, picture)))
        except _UnreadError as error:
            name = f"Picture {number}" if len(pictures) > 1 else "The picture"
            warnings.append(f"{name} was not read by OCR: {error}")
    return Extraction(
        converter="rapidocr",
        converter_version=read_version(),
        lines=_make_lines(read) if read else [],
        page_count=len(pictures),
        warnings=warnings,
    )


def _decode(data: bytes) -> Any:
    """The picture, no side longer than OCR reads; None where it cannot be decoded."""
    import cv2
    import numpy

    picture = cv2.imdecode(numpy.frombuffer(data, dtype=numpy.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        return None
    side = max(picture.shape[:2])
    if side > MAX_SIDE:
        factor = MAX_SIDE / side
        picture = cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    return picture


def read_version() -> str:
    """Return the version of the OCR package."""
    from importlib.metadata import version

    return version("rapidocr")


def _make_engine() -> Any:
    import logging

    from rapidocr import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return RapidOCR(params=dict(ENGINE))


def _join_known(lines: list[Line], known: Mapping[int, list[Line]]) -> list[Line]:
    """The lines that OCR read, with those of the text layer put in at their height."""
    joined: list[Line] = [line for line in lines if line.page not in known]
    for number, typed in known.items():
        seen = [line for line in lines if line.page == number]
        if sum(1 for line in seen if starts_anew(line.text)) < LEAST_STARTS:
            joined += typed
            continue
        for line in typed:
            if is_picture(line.text.strip()):
                continue
            place = next((at for at, other in enumerate(seen) if _is_below(other, line)), len(seen))
            seen.insert(place, line)
        joined += seen
    return sorted(joined, key=lambda line: line.page)


def _is_below(line: Line, other: Line) -> bool:
    return bool(line.box and other.box) and line.box[1] > other.box[1]


def _read_picture(engine: Any, picture: Any, known: Sequence[tuple[int, ...]] = ()) -> SeenPage:
    """What one picture shows, without the boxes that are known."""
    import numpy

    tall_shown, wide_shown = picture.shape[:2]
    levelled = level_picture(picture)
    found = _find_boxes(engine, levelled.picture)
    find_source: Callable[[float, float], tuple[float, float]] = levelled.find_source
    turn = _find_turn(engine, levelled.picture, found)
    if turn:
        levelled = level_picture(numpy.ascontiguousarray(numpy.rot90(picture, turn)))
        found = _find_boxes(engine, levelled.picture)
        find_source = _turn_back(levelled.find_source, turn, wide_shown, tall_shown)
    picture = levelled.picture
    height, width = picture.shape[:2]
    page = Page(float(width), float(height))
    page.frame = PictureFrame(float(height), float(wide_shown), float(tall_shown), find_source)
    marks, size = find_marks(picture)
    found += _look_again(engine, picture, [box[0] for box in found], marks, size)
    found += _look_beside(engine, picture, found, marks, size)
    boxes: list[Row] = []
    letters: list[list[Letter]] = []
    for corners, text, score, starts in found:
        if score < FLOOR or not text.strip():
            continue
        xs, ys = [float(point[0]) for point in corners], [float(point[1]) for point in corners]
        slant = abs(ys[1] - ys[0])
        tall = max(ys) - min(ys) - slant
        size = max(tall * 0.8, 6.0)
        middle = height - (max(ys) + min(ys)) / 2
        row = Row(text, min(xs), max(xs), middle - size * 0.6, middle + size * 0.6, size, sure=score)
        if not (known and _is_known(page.frame.place(row.left, row.bottom, row.right, row.top), known)):
            boxes.append(row)
            letters.append(starts)
    # What was turned is cut out of the page as it is shown, and would lie on its side.
    drawings = [] if turn else find_drawings(picture, boxes)
    labels = find_labels(picture, boxes) | find_drawn_labels(drawings, boxes)
    page.slope = _measure_slope([box[0] for box in found])
    strokes = find_strokes(picture, boxes)
    strokes.cut_boxes(boxes, letters, find_gutter(boxes, float(width)))
    tables, taken, grids = take_tables(boxes, letters, strokes, merge_rows)
    write_blanks(boxes, letters, strokes.find_blanks(grids), drawings)
    page.rows = [replace(boxes[index], is_furniture=True) for index in sorted(labels - taken)]
    free = [box for index, box in enumerate(boxes) if index not in labels | taken]
    return SeenPage(page, free, tables, drawings)


def _find_turn(engine: Any, picture: Any, found: Sequence[_Box]) -> int:
    """By how many quarters, counterclockwise, the picture has to be turned to be read.

    Boxes higher than wide hold lines that run up or down; lines that stand on their heads are read unsurely. The longest
    ones are read both ways, and the surer way counts.
    """
    sized = sorted(
        ((max(wide, tall), tall > 1.5 * wide, one) for one in found for wide, tall in (_measure(one[0]),)),
        key=lambda item: -item[0],
    )
    total = sum(length for length, _, _ in sized)
    if not total:
        return 0
    is_upright = sum(length for length, is_tall, _ in sized if is_tall) > 0.5 * total
    sureness = sum(length * one[2] for length, _, one in sized) / total
    if not is_upright and sureness >= UPRIGHT_SURENESS:
        return 0
    longest = [one for _, is_tall, one in sized if is_tall == is_upright][:MOST_TRIED]
    turns = (1, 3) if is_upright else (0, 2)
    sure = {turn: _try_turn(engine, picture, longest, turn) for turn in turns}
    best = max(turns, key=lambda turn: sure[turn])
    return best if is_upright or sure[best] > sure[0] + 0.1 else 0


def _measure(corners: Sequence[tuple[float, float]]) -> tuple[float, float]:
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return max(xs) - min(xs), max(ys) - min(ys)


def _try_turn(engine: Any, picture: Any, boxes: Sequence[_Box], turn: int) -> float:
    """How surely the boxes are read where they are turned by so many quarters."""
    import numpy

    scores: list[float] = []
    for corners, *_ in boxes:
        xs, ys = [int(x) for x, _ in corners], [int(y) for _, y in corners]
        piece = picture[max(0, min(ys)) : max(ys) + 1, max(0, min(xs)) : max(xs) + 1]
        try:
            seen = _ask(engine, numpy.ascontiguousarray(numpy.rot90(piece, turn)), use_det=False)
        except _UnreadError:
            continue
        scores.append(float(seen.scores[0]) if seen.txts and seen.txts[0].strip() else 0.0)
    return sum(scores) / len(scores) if scores else 0.0


def _turn_back(
    find_source: Callable[[float, float], tuple[float, float]], turn: int, width: float, height: float
) -> Callable[[float, float], tuple[float, float]]:
    """Where pixels were in the picture before it was turned by so many quarters."""

    def find(x: float, y: float) -> tuple[float, float]:
        x, y = find_source(x, y)
        if turn == 1:
            return width - y, x
        return (width - x, height - y) if turn == 2 else (y, height - x)

    return find


def _is_known(box: tuple[int, ...], known: Sequence[tuple[int, ...]]) -> bool:
    """Whether half of a box lies in those that are known."""
    left, top, right, foot = box
    area = max((right - left) * (foot - top), 1)
    shared = sum(
        max(0, min(right, other[2]) - max(left, other[0])) * max(0, min(foot, other[3]) - max(top, other[1]))
        for other in known
        if other
    )
    return shared > 0.5 * area


def _look_again(
    engine: Any, picture: Any, corners: list[list[tuple[float, float]]], marks: Any, size: float
) -> list[_Box]:
    """Read the lines of marks that the detector passed over."""
    import cv2
    import numpy

    height, width = picture.shape[:2]
    covered = numpy.zeros((height, width), dtype=numpy.uint8)
    for box in corners:
        cv2.fillPoly(covered, [numpy.array(box, dtype=numpy.int32)], 255)
    found: list[_Box] = []
    for line in link_marks(marks, size)[:MAX_AGAIN]:
        across = marks[line, 0] + marks[line, 2] / 2
        down = marks[line, 1] + marks[line, 3] / 2
        if len(line) < LEAST_AGAIN or float((covered[down.astype(int), across.astype(int)] > 0).mean()) > 0.2:
            continue
        left, top = marks[line, :2].min(axis=0) - 0.3 * size
        right, foot = (marks[line, :2] + marks[line, 2:]).max(axis=0) + 0.3 * size
        if foot - top > 3 * size:
            continue
        again = _read_piece(engine, picture, (left, top, right, foot), SURE_AGAIN)
        if again is not None:
            found.append(again)
    return found


def _look_beside(engine: Any, picture: Any, found: Sequence[_Box], marks: Any, size: float) -> list[_Box]:
    """Read the numbers of questions that the detector passed over.

    They are signs alone, left of a line that begins as a question. A stroke is read as 1, so that number needs the letter of a part beside it.
    """
    import numpy

    if not len(marks):
        return []
    middles = marks[:, :2] + marks[:, 2:] / 2
    edges = [_measure_edges(box[0]) for box in found]
    is_free = (marks[:, 3] > LEAST_SIGN * size) & (marks[:, 2:].max(axis=1) < MOST_SIGN * size)
    for left, top, right, foot in edges:
        is_free &= ~((middles >= (left, top)) & (middles <= (right, foot))).all(axis=1)
    numbers: list[_Box] = []
    for (_, text, *_), (left, top, _, foot) in zip(found, edges, strict=True):
        begins = _BEGINS_PART.match(text) or _BEGINS_QUESTION.match(text)
        height = (top + foot) / 2
        if not begins or any(other[2] <= left and other[1] < height < other[3] for other in edges):
            continue
        apart = numpy.maximum((left - middles[:, 0]) / BESIDE, abs(middles[:, 1] - height) / BESIDE_HEIGHT)
        near = marks[is_free & (middles[:, 0] < left) & (apart < size)]
        if not 0 < len(near) <= MOST_SIGNS:
            continue
        around = (
            *(near[:, :2].min(axis=0) - 0.4 * size),
            *((near[:, :2] + near[:, 2:]).max(axis=0) + 0.4 * size),
        )
        box = _read_piece(engine, picture, around, SURE_BESIDE)
        number = _ALONE.fullmatch(box[1]) if box is not None else None
        if box is not None and number and (number[1] != "1" or _BEGINS_PART.match(text)):
            numbers.append((box[0], f"{number[1]}. ", box[2], []))
    return numbers


def _measure_edges(corners: Sequence[tuple[float, float]]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _read_piece(engine: Any, picture: Any, around: Sequence[float], least: float) -> _Box | None:
    """What a piece of a picture says, read as one line; None where it is read less surely."""
    import numpy

    left, top, right, foot = around
    piece = picture[max(0, int(top)) : int(foot) + 1, max(0, int(left)) : int(right) + 1]
    try:
        seen = _ask(engine, numpy.ascontiguousarray(piece), use_det=False)
    except _UnreadError:
        return None
    if not seen.txts or seen.scores[0] < least:
        return None
    corners = [(left, top), (right, top), (right, foot), (left, foot)]
    return [(float(x), float(y)) for x, y in corners], str(seen.txts[0]), float(seen.scores[0]), []


def _find_boxes(engine: Any, picture: Any) -> list[_Box]:
    """The boxes of a picture with what they say."""
    try:
        found = _ask(engine, picture, return_word_box=True)
    except _UnreadError:
        # the engine fails over a line whose characters it cannot place: the lines alone are worth reading
        found = _ask(engine, picture, return_word_box=False)
    if found.boxes is None:
        return []
    if getattr(found, "txts", None) is None:
        raise _UnreadError("the engine found lines and read none of them.")
    words = [starts for line in found.word_results or () if (starts := _read_starts(line))]
    boxes: list[_Box] = []
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        box = [(float(x), float(y)) for x, y in corners]
        letters = [letter for letter in str(text) if not letter.isspace()]
        # lines without words are missing from the list: what says the same characters belongs to the line
        place = next(
            (place for place, line in enumerate(words) if [letter for letter, _ in line] == letters), None
        )
        starts = [] if place is None else words.pop(place)
        boxes.append((box, restore_gaps(str(text), starts), float(score), starts))
    return boxes


def _ask(engine: Any, picture: Any, *, use_det: bool = True, return_word_box: bool = False) -> Any:
    """What the engine says of a picture.

    Every switch is named, since the engine keeps those of the call before.

    Raises:
        _UnreadError: where the engine fails.
    """
    try:
        return engine(picture, use_det=use_det, use_cls=False, use_rec=True, return_word_box=return_word_box)
    except MemoryError:
        raise
    except Exception as error:
        raise _UnreadError(f"the engine failed with {type(error).__name__}.") from error


def _read_starts(words: object) -> list[tuple[str, float]]:
    """The characters of a box and where each begins; [] where a word has no place."""
    starts: list[tuple[str, float]] = []
    for word in words if isinstance(words, tuple | list) else ():
        if not isinstance(word, tuple | list) or len(word) != 3 or word[2] is None:
            return []
        text, _, corners = word
        left, right = float(corners[0][0]), float(corners[1][0])
        letters = [letter for letter in str(text) if not letter.isspace()]
        starts += [
            (letter, left + place * (right - left) / len(letters)) for place, letter in enumerate(letters)
        ]
    return starts


def _measure_slope(boxes: Any) -> float:
    """The slope of the text lines of a page: the median over the longer boxes."""
    slopes = [
        -(float(box[1][1]) - float(box[0][1])) / (float(box[1][0]) - float(box[0][0]))
        for box in boxes
        if float(box[1][0]) - float(box[0][0]) > 150
    ]
    return sorted(slopes)[len(slopes) // 2] if slopes else 0.0


def _make_lines(read: list[tuple[int, SeenPage]]) -> list[Line]:
    lay_out([one for _, one in read])
    pages = [one.page for _, one in read]
    mark_furniture(pages)
    _mark_outer_rows(pages)
    for page in pages:
        settle_margins(page.rows)
        settle_numbers(page.rows)
    mark_wraps(pages)
    lines: list[Line] = []
    for (number, _), page in zip(read, pages, strict=True):
        for row in page.rows:
            box = place_row(page.frame, row, page.slope)
            points = 72 / RESOLUTION
            look = Look(round(row.size * points, 1), left=round(row.left * points, 1), frame=row.frame)
            line = Line(row.text, page=number, kind=name_kind(row), box=box, look=look, sure=row.sure)
            lines.append(replace(line, cells=row.cells, table=number_table(number, row)))
    return repair_lines(lines)


def _mark_outer_rows(pages: list[Page]) -> None:
    """Mark what comes back among the first or the last rows of pages."""
    if len(pages) < 2:
        return
    for outer in (slice(None, OUTER_ROWS), slice(-OUTER_ROWS, None)):
        places = [
            (number, row)
            for number, page in enumerate(pages)
            for row in [row for row in page.rows if not row.is_furniture and not is_picture(row.text)][outer]
        ]
        known: dict[str, str] = {}
        seen: dict[str, set[int]] = defaultdict(set)
        folded = [same_as_known(_DIGITS.sub("#", "".join(row.text.split())), known) for _, row in places]
        for (number, _), key in zip(places, folded, strict=True):
            seen[key].add(number)
        for (_, row), key in zip(places, folded, strict=True):
            is_frequent = len(key) >= 6 and len(seen[key]) >= max(2, round(0.6 * len(pages)))
            if is_frequent and not begins_content(row.text):
                row.is_furniture = True
