"""PDF text in reading order, rebuilt from the characters and their places.

The order of the content stream is the right one for nearly every exam paper, two-column ones included; it
is replaced by a geometric order only where question numbers show that it is wrong.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import IMAGE, Extraction, Line
from tasks.ingest.readers.page_boxes import Frame, PictureFrame, frame_page
from tasks.ingest.readers.pdf_rules import (
    SCAN_COVER,
    Grid,
    PageObject,
    Rule,
    find_blanks,
    find_grids,
    list_objects,
    measure_recreated,
    measure_scan,
    read_bounds,
    read_rules,
)
from tasks.ingest.readers.scripts import SYMBOL_FONT, lower_text, raise_text
from tasks.ingest.words.cleaning import is_cjk, join_wrapped
from tasks.ingest.words.headers import find_question_header
from tasks.ingest.words.labels import parse_label

OPTION = re.compile(r"\s*[（(]?[A-J]\s*[)）.．、]")
MAX_PAGES = 2000
BROKEN_SHARE = 0.01
# Above this share of unreadable characters a page is better read by OCR than as it stands.
UNREADABLE_SHARE = 0.3
# Where so much of a page's text is another program's OCR, the page is read by our own.
RECREATED_SHARE = 0.5
# A column that ends soon has at least this share of a page's rows.
SHORT_COLUMN = 0.1
# A stamp on a page that is a picture has fewer characters than a paper has.
STAMP_CHARACTERS = 150
# Pictures lower or narrower than this (in points) are rules, dots and parts of letters.
MIN_PICTURE = 7.0


@dataclass
class Row:
    """One line of a page with its box in points (origin at the lower left)."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    is_furniture: bool = False
    wraps: bool = False
    cells: tuple[str, ...] = ()
    table: int = 0


@dataclass
class Page:
    """The rows of one page in reading order, and what could not be read on it."""

    width: float
    height: float
    rows: list[Row] = field(default_factory=list)
    characters: int = 0
    broken: int = 0
    has_images: bool = False
    is_scan: bool = False
    frame: Frame | PictureFrame | None = None
    slope: float = 0.0


def read_pdf(data: bytes) -> tuple[Extraction, list[int]]:
    """Return the lines of a PDF and the numbers (from 1) of the pages that only OCR could read.

    Raises:
        DocumentError: `encrypted` or `corrupt`.
    """
    import pypdfium2
    import pypdfium2.raw as raw

    try:
        document = pypdfium2.PdfDocument(data)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise DocumentError(
                "encrypted", "The PDF is password protected. Save it without a password."
            ) from error
        raise DocumentError("corrupt", "The PDF is damaged or cut off. Export it again.") from error
    if count == 0:
        raise DocumentError("corrupt", "The PDF has no page. Export it again.")
    extraction = Extraction(
        converter="pypdfium2", converter_version=str(pypdfium2.version.PYPDFIUM_INFO), page_count=count
    )
    if count > MAX_PAGES:
        extraction.warnings.append(f"Only the first {MAX_PAGES} of {count} pages were read.")
    pages: list[Page] = []
    for index in range(min(count, MAX_PAGES)):
        try:
            page = document[index]
            pages.append(_read_page(page, raw))
            page.close()
        except pypdfium2.PdfiumError:
            extraction.warnings.append(f"Page {index + 1} is damaged and was left out.")
            pages.append(Page(0, 0))
    document.close()
    mark_furniture(pages)
    _repair_order(pages, extraction)
    for page_rows in pages:
        _settle_pictures(page_rows.rows)
    mark_wraps(pages)
    unreadable: list[int] = []
    for number, page_rows in enumerate(pages, start=1):
        if page_rows.broken > BROKEN_SHARE * max(page_rows.characters, 1):
            extraction.warnings.append(
                f"Page {number}: {page_rows.broken} of {page_rows.characters} characters have no meaning in the font."
            )
            extraction.notes.append("broken_font")
        if (
            (page_rows.characters < 8 and page_rows.has_images)
            or page_rows.is_scan
            or (page_rows.broken > UNREADABLE_SHARE * max(page_rows.characters, 1))
        ):
            unreadable.append(number)
        extraction.lines.extend(
            Line(
                row.text,
                page=number,
                kind=_kind(row),
                cells=row.cells,
                table=_table_id(number, row),
                box=place_row(page_rows.frame, row),
            )
            for row in page_rows.rows
            if row.text.strip()
        )
    return extraction, unreadable


def place_row(frame: Frame | PictureFrame | None, row: Row, slope: float = 0.0) -> tuple[int, ...]:
    """Where a row stands on its page as shown; `slope` is the rise per point to the right that was taken out of it."""
    if frame is None:
        return ()
    if not slope:
        return frame.place(row.left, row.bottom, row.right, row.top)
    rises = sorted((slope * row.left, slope * row.right))
    return frame.place(row.left, row.bottom + rises[0], row.right, row.top + rises[1])


def _kind(row: Row) -> str:
    if row.is_furniture:
        return "furniture"
    if row.cells:
        return "table"
    return "wrapped" if row.wraps else "body"


def _table_id(page: int, row: Row) -> int:
    return page * 1000 + row.table if row.table else 0


# not frozen: a page has thousands of them, and freezing takes three times as long
@dataclass(slots=True)
class _Character:
    """A character of the text layer and its place; `breaks` and `spaced`: what the layer puts before it."""

    text: str
    x: float
    y: float
    left: float
    right: float
    bottom: float
    top: float
    size: float
    breaks: bool = False
    spaced: bool = False
    is_turned: bool = False


def _read_page(page: Any, raw: Any) -> Page:
    width, height = page.get_size()
    result = Page(width, height, frame=frame_page(page, raw))
    objects = list_objects(page, raw)
    shown = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_PATH)
    result.has_images = any(kind in shown for kind, _ in objects[:202])
    characters = _set_aside_turned(_read_characters(page, raw, result), result)
    level, upright = read_rules(objects, raw)
    grids = find_grids(level, upright)
    result.is_scan = _is_scan(result, objects, raw)
    if result.characters >= 8:
        characters = _place_pictures(characters, objects, raw, height)
    _build_rows(result, characters, [], find_blanks(level, grids))
    kept = _keep_tables(result, characters, grids)
    if kept:
        result.rows = [row for row in result.rows if row.is_furniture]
        _build_rows(result, characters, kept, find_blanks(level, kept))
    return result


def _is_scan(page: Page, objects: Sequence[PageObject], raw: Any) -> bool:
    """Whether a picture covers the page and its text is no print: a scanner's invisible reading, a stamp, a few strokes.

    So is a scan that was made editable: its letters are cut out of the picture, its text is what that program took them for.
    """
    if measure_recreated(objects, raw) >= RECREATED_SHARE:
        return True
    covered, hidden = measure_scan(objects, raw, page.width * page.height)
    return covered >= SCAN_COVER and (hidden >= 0.5 or page.characters < STAMP_CHARACTERS)


def _read_characters(page: Any, raw: Any, result: Page) -> list[_Character]:
    """Return the characters of a page in content order; count those that have no meaning."""
    text_page = page.get_textpage()
    handle = text_page.raw
    x, y, box = ctypes.c_double(), ctypes.c_double(), raw.FS_RECTF()
    # every character takes several calls: what they need is looked up and wrapped once
    at_x, at_y, at_box = ctypes.pointer(x), ctypes.pointer(y), ctypes.pointer(box)
    read_code, read_origin = raw.FPDFText_GetUnicode, raw.FPDFText_GetCharOrigin
    read_box, read_size, read_angle = (
        raw.FPDFText_GetLooseCharBox,
        raw.FPDFText_GetFontSize,
        raw.FPDFText_GetCharAngle,
    )
    count = broken = 0
    high = 0
    breaks = spaced = False
    found: list[_Character] = []
    for index in range(raw.FPDFText_CountChars(handle)):
        code = read_code(handle, index)
        if code in (0x0D, 0x0A):
            breaks = True
            continue
        if code == 0x20:
            if raw.FPDFText_IsGenerated(handle, index):
                spaced, high = True, 0
                continue
            text, high = " ", 0
        elif 0x20 < code < 0xD800:
            text, high = chr(code), 0
        else:
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            if 0xDC00 <= code < 0xE000:
                code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00) if high else 0
            high = 0
            if 0xF020 <= code <= 0xF0FF and code - 0xF000 in SYMBOL_FONT:
                code = ord(SYMBOL_FONT[code - 0xF000])
            is_hyphen = code in (0xFFFE, 0x02)
            broken += not is_hyphen and (code in (0, 0xFFFD, 0xFFFF) or 0xE000 <= code < 0xF900)
            text = "-" if is_hyphen else ("\ufffd" if code in (0, 0xFFFF) else chr(code))
        count += 1
        read_origin(handle, index, at_x, at_y)
        read_box(handle, index, at_box)
        angle = read_angle(handle, index)
        found.append(
            _Character(
                text,
                x.value,
                y.value,
                box.left,
                box.right,
                box.bottom,
                box.top,
                read_size(handle, index),
                breaks,
                spaced,
                angle != 0.0 and abs(math.sin(angle)) > 0.5,
            )
        )
        breaks = spaced = False
    result.characters += count
    result.broken += broken
    text_page.close()
    return found


def _set_aside_turned(characters: list[_Character], page: Page) -> list[_Character]:
    """Take sideways text (the sealed margin of a paper) out of the flow; it is kept as furniture of the page."""
    turned = [character for character in characters if character.is_turned]
    if not turned or len(turned) > 0.3 * len(characters):
        return characters
    box = (
        min(item.left for item in turned),
        max(item.right for item in turned),
        min(item.bottom for item in turned),
        max(item.top for item in turned),
    )
    text = "".join((" " if item.spaced else "") + item.text for item in turned)
    page.rows.append(Row(text.strip(), *box, turned[0].size, is_furniture=True))
    return [character for character in characters if not character.is_turned]


def _place_pictures(
    characters: list[_Character], objects: Sequence[PageObject], raw: Any, height: float
) -> list[_Character]:
    """Put a mark for every picture behind the character that it follows; logos and backgrounds get none."""
    placed: list[tuple[int, _Character]] = []
    pictures = (item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_IMAGE)
    for number, picture in enumerate(pictures):
        left, bottom, right, top = read_bounds(picture, raw)
        middle = (bottom + top) / 2
        is_mark = min(right - left, top - bottom) < MIN_PICTURE or not 0.08 < middle / height < 0.92
        if number > 200 or is_mark or (right - left) * (top - bottom) > 0.5 * height * height:
            continue
        # on the line that it stands in, else behind the last line above it
        beside = [
            index
            for index, other in enumerate(characters)
            if other.bottom - 2 <= middle <= other.top + 2 and other.right <= left + 2
        ]
        above = [
            index
            for index, other in enumerate(characters)
            if other.bottom >= middle and other.left < right and other.right > left - 0.5 * height
        ]
        if beside:
            at = max(beside, key=lambda index: characters[index].right)
            near = characters[at]
            if top - bottom > 2 * (near.top - near.bottom):  # beside the text, not in it: below its line
                line = [index for index in beside if abs(characters[index].y - near.y) < 2]
                at = max(line)
                low = near.bottom - 14
                mark = _Character(IMAGE, left, low, left, right, low, low + 12, 10, True)
            else:
                mark = replace(near, text=IMAGE, x=left, left=left, right=right, breaks=False, spaced=False)
        elif above:
            at = min(above, key=lambda index: (round(characters[index].y), -index))
            while at + 1 < len(characters) and abs(characters[at + 1].y - characters[at].y) < 2:
                at += 1
            mark = _Character(IMAGE, left, bottom, left, right, bottom, min(top, bottom + 12), 10, True)
        else:
            continue
        placed.append((at, mark))
    for at, mark in sorted(placed, key=lambda pair: -pair[0]):
        characters.insert(at + 1, mark)
    return characters


def _build_rows(
    page: Page, characters: Sequence[_Character], grids: Sequence[Grid], blanks: Sequence[Rule]
) -> None:
    """Fill a page with rows; the characters of a table become its rows where its first one stands."""
    reader = _RowBuilder(page, blanks)
    tables: dict[int, dict[tuple[int, int], list[_Character]]] = {}
    places: dict[int, int] = {}
    for character in characters:
        number = None
        if grids:
            x, y = (character.left + character.right) / 2, (character.bottom + character.top) / 2
            number = next((at for at, grid in enumerate(grids) if grid.holds(x, y)), None)
        if number is None:
            if character.breaks:
                reader.note_break()
            if character.spaced:
                reader.note_space()
            reader.add(character)
            continue
        if number not in tables:
            reader.finish()
            tables[number], places[number] = {}, len(page.rows)
        tables[number].setdefault(grids[number].find_cell(x, y), []).append(character)
    reader.finish()
    for number in sorted(tables, key=lambda number: -places[number]):
        rows = _read_table(grids[number], tables[number], blanks)
        page.rows[places[number] : places[number]] = [replace(row, table=number + 1) for row in rows]


def _read_table(
    grid: Grid, cells: Mapping[tuple[int, int], Sequence[_Character]], blanks: Sequence[Rule]
) -> list[Row]:
    """Return the rows of a ruled table; a cell that is one with the cell above repeats its text in `cells`."""
    rows: list[Row] = []
    above = [""] * (len(grid.columns) - 1)
    for index in range(len(grid.rows) - 1):
        texts: list[str] = []
        shown: list[str] = []
        size = 10.0
        for column in range(len(grid.columns) - 1):
            inside = cells.get((index, column), ())
            text = _read_cell(inside, grid.right_of(index, column), blanks)
            size = inside[0].size if inside else size
            shown.append(text)
            texts.append(above[column] if not text and grid.is_merged_up(index, column) else text)
        above = texts
        if any(shown):
            rows.append(
                Row(
                    " | ".join(text.replace("\n", " ") for text in shown),
                    grid.columns[0],
                    grid.columns[-1],
                    grid.rows[index + 1],
                    grid.rows[index],
                    size,
                    cells=tuple(texts),
                )
            )
    return rows


def _read_cell(characters: Sequence[_Character], edge: float, blanks: Sequence[Rule]) -> str:
    page = Page(0, 0)
    reader = _RowBuilder(page, blanks)
    for character in characters:
        if character.breaks:
            reader.note_break()
        if character.spaced:
            reader.note_space()
        reader.add(character)
    reader.finish()
    text = ""
    for place, row in enumerate(page.rows):
        before = page.rows[place - 1] if place else None
        if before is None:
            text = row.text.strip()
        elif before.right + _first_word_width(row) > edge - 0.9 * row.size and not _starts_anew(row.text):
            text = join_wrapped(text, row.text)
        else:
            text = f"{text}\n{row.text.strip()}"
    return text


def _keep_tables(page: Page, characters: Sequence[_Character], grids: Sequence[Grid]) -> list[Grid]:
    """Leave out the frames that lay out whole stretches of text: they are read in the order of the content."""
    kept: list[Grid] = []
    for grid in grids:
        trial = Page(page.width, page.height)
        _build_rows(trial, characters, [grid], ())
        rows = [row for row in trial.rows if row.cells]
        if not rows:
            continue
        is_tall = grid.rows[0] - grid.rows[-1] > 0.3 * page.height
        heavy = sum(1 for row in rows if max(cell.count("\n") for cell in row.cells) > 3)
        is_question_table = find_question_header([list(row.cells) for row in rows]) is not None
        if is_question_table or (heavy * 2 <= len(rows) and not (is_tall and heavy)):
            kept.append(grid)
    return kept


class _RowBuilder:
    """Groups characters, given in content order, into rows: one baseline, moving right, scripts included."""

    def __init__(self, page: Page, blanks: Sequence[Rule] = ()) -> None:
        self.page = page
        self.blanks = blanks
        self.text: list[str] = []
        self.script: list[str] = []
        self.script_sign = 0
        self.baseline = 0.0
        self.size = 0.0
        self.box = [0.0, 0.0, 0.0, 0.0]
        self.last_right = 0.0
        self.last_x = 0.0
        self.has_space = False
        self.has_break = False

    def note_space(self) -> None:
        self.has_space = True

    def note_break(self) -> None:
        self.has_break = True

    def add(self, item: _Character) -> None:
        height = max(item.top - item.bottom, 0.1)
        size = height / 1.2
        if self.blanks and item.text.isspace() and self._is_underlined(item, size):
            self.has_space = True  # the line below it is read as a blank
            return
        if not self.text:
            self._start(item, size)
            return
        left, right, bottom, top = item.left, item.right, item.bottom, item.top
        rise = item.y - self.baseline
        gap = left - self.last_right
        # full-width brackets reach over their neighbours: the origin tells better than the box
        is_near = gap >= -0.6 * self.size or item.x >= self.last_x - 0.1 * self.size
        is_small = size < 0.86 * self.size
        if (
            abs(rise) <= (0.34 if not self.has_break else 0.3) * self.size
            and is_near
            and not (is_small and abs(rise) > 0.1 * self.size)
        ):
            if self.script:
                self._close_script()
            # less than a gap, and nothing that a space or a drawn line calls for
            if self.blanks or self.has_space or gap > 0.28 * self.size:
                self._space(gap, item)
            self.text.append(item.text)
        elif (
            is_small
            and 0.08 * self.size < abs(rise) < 0.85 * self.size
            and -0.5 * self.size <= gap <= 0.7 * self.size
        ):
            sign = 1 if rise > 0 else -1
            if self.script_sign != sign:
                self._close_script()
            self.script_sign = sign
            self.script.append(item.text)
        else:
            self.finish()
            self._start(item, size)
            return
        box = self.box
        if left < box[0]:
            box[0] = left
        if right > box[1]:
            box[1] = right
        if bottom < box[2]:
            box[2] = bottom
        if top > box[3]:
            box[3] = top
        self.last_right, self.last_x = right, item.x
        self.has_space = self.has_break = False

    def _space(self, gap: float, item: _Character) -> None:
        blank = self._blank_between(self.last_right, item.left)
        if blank:
            self.text.append(blank)
            return
        if not self.text or self.text[-1].isspace() or item.text.isspace():
            return
        if gap > 1.2 * self.size:
            # a wide gap separates columns or options: keep it visible as several spaces
            self.text.append(" " * min(int(gap / (0.5 * self.size)), 12))
        elif self.has_space or (
            gap > 0.28 * self.size and not (is_cjk(self.text[-1][-1]) and is_cjk(item.text))
        ):
            self.text.append(" ")

    def _is_underlined(self, item: _Character, size: float) -> bool:
        return any(
            -0.5 * size <= rule.at - item.y <= 0.12 * size
            and rule.low <= item.left + 0.3 * size
            and rule.high >= item.right - 0.3 * size
            for rule in self.blanks
        )

    def _blank_between(self, first: float, last: float) -> str:
        """The blank that a line drawn between two places of the row stands for, or ''."""
        slack = 0.5 * self.size
        for rule in self.blanks:
            is_below = -0.5 * self.size <= rule.at - self.baseline <= 0.12 * self.size
            if is_below and first - slack <= rule.low and rule.high <= last + slack:
                return "_" * max(4, min(int((rule.high - rule.low) / (0.5 * self.size)), 12))
        return ""

    def _blank_touching(self, first: float, last: float, is_before: bool) -> str:
        for rule in self.blanks:
            edge = rule.high if is_before else rule.low
            is_below = -0.5 * self.size <= rule.at - self.baseline <= 0.12 * self.size
            if is_below and first - 0.5 * self.size <= edge <= last + 0.5 * self.size:
                return "_" * max(4, min(int((rule.high - rule.low) / (0.5 * self.size)), 12))
        return ""

    def _start(self, item: _Character, size: float) -> None:
        self.text = [item.text]
        self.baseline, self.size = item.y, size
        self.box = [item.left, item.right, item.bottom, item.top]
        self.last_right, self.last_x = item.right, item.x
        self.has_space = self.has_break = False

    def _close_script(self) -> None:
        if self.script:
            text = "".join(self.script)
            self.text.append(raise_text(text) if self.script_sign > 0 else lower_text(text))
        self.script, self.script_sign = [], 0

    def finish(self) -> None:
        self._close_script()
        text = "".join(self.text)
        if self.blanks and text.strip():
            # a blank at the end of a row begins where its text ends, one at the beginning ends where it begins
            left, right, reach = self.box[0], self.last_right, 1.5 * self.size
            text = self._blank_touching(left - reach, left, is_before=True) + text.rstrip()
            text += self._blank_touching(right, right + reach, is_before=False)
        if text.strip():
            self.page.rows.append(
                Row(text.rstrip(), self.box[0], self.box[1], self.box[2], self.box[3], self.size)
            )
        self.text = []


def _settle_pictures(rows: list[Row]) -> None:
    """Move the mark of a picture beside a paragraph behind the paragraph: before the next number or option."""
    for index in range(len(rows) - 2, -1, -1):
        place = index
        while (
            rows[place].text == IMAGE
            and place + 1 < len(rows)
            and place < index + 8
            and rows[place + 1].text != IMAGE
            and not rows[place + 1].cells
            and not _starts_anew(rows[place + 1].text)
        ):
            rows[place], rows[place + 1] = rows[place + 1], rows[place]
            place += 1


_NUMBERS = re.compile(r"[\d一二三四五六七八九十]+")


def mark_furniture(pages: list[Page]) -> None:
    """Mark repeated headers and footers, and printed page numbers, near the upper and lower edges."""
    seen: dict[tuple[str, int], set[int]] = defaultdict(set)
    places: list[tuple[int, Row, tuple[str, int]]] = []
    known: dict[str, str] = {}
    for number, page in enumerate(pages):
        for row in page.rows:
            if not (row.bottom > page.height * 0.9 or row.top < page.height * 0.1):
                continue
            folded = _NUMBERS.sub("#", "".join(row.text.split()))
            key = (same_as_known(folded, known), round(row.bottom / 12))
            seen[key].add(number)
            places.append((number, row, key))
            if is_page_number(row.text, number + 1, len(pages)):
                row.is_furniture = True
    needed = max(2, round(0.6 * len(pages)))
    for _, row, key in places:
        count = len(seen[key] | seen[(key[0], key[1] + 1)] | seen[(key[0], key[1] - 1)])
        # text that begins like a question is no header, however often it comes back
        label = parse_label(row.text)
        if (
            count >= needed
            and len(pages) > 1
            and (label is None or label.is_weak)
            and not OPTION.match(row.text)
        ):
            row.is_furniture = True


def same_as_known(text: str, known: dict[str, str]) -> str:
    """Return the text met before that this one is, give or take a letter that OCR misread."""
    if text in known:
        return known[text]
    if len(text) >= 6:
        for other in list(known)[-40:]:
            if abs(len(other) - len(text)) <= 2 and SequenceMatcher(None, other, text).ratio() > 0.85:
                known[text] = known[other]
                return known[other]
    known[text] = text
    return text


def is_page_number(text: str, number: int, count: int) -> bool:
    """True for `第3页，共6页`, `Page 3 of 6`, `- 3 -`, `3/6` and the bare number of this page."""
    folded = "".join(text.split())
    if re.fullmatch(r"[▒▓\-—–]*第\d+页[,，/]?[（(]?(?:共\d+页)?[)）]?[▒▓\-—–]*", folded):
        return True
    if re.fullmatch(r"(?i)page\d+(?:of\d+)?", folded) or re.fullmatch(r"[-—–·.]+\d+[-—–·.]+", folded):
        return True
    if re.fullmatch(r"\d+/\d+", folded):
        return int(folded.split("/")[0]) == number
    return folded.isdecimal() and int(folded) in (number, number - 1, number + 1) and count > 1


def mark_wraps(pages: list[Page]) -> None:
    """Mark the rows whose sentence continues in the next row: the next row's first word had no room any more."""
    edges: dict[float, float] = {}
    for page in pages:
        widest = sorted(row.right for row in page.rows if not row.is_furniture)[-2:]
        if widest:
            edges[page.width] = max(edges.get(page.width, 0.0), widest[0])
    for page in pages:
        rows = [row for row in page.rows if not row.is_furniture]
        border = _find_border(rows, page.width) if len(rows) > 8 else None
        left = min((row.left for row in rows), default=0.0)
        for row, following in pairwise(rows):
            edge = _column_edge(row, page, border, edges)
            is_next = following.top < row.top + row.size * 0.3 and row.bottom - following.top < row.size * 1.6
            is_wide = border is not None or row.right - row.left > 0.5 * (edge - left)
            is_full = row.right + _first_word_width(following) > edge - 0.5 * row.size
            row.wraps = (
                is_wide
                and is_full
                and is_next
                and following.left < row.left + 4 * row.size
                and not _starts_anew(following.text)
            )


def _find_border(rows: list[Row], width: float) -> float | None:
    """The border of two columns, of which the last may be short where the text goes to it once."""
    border = find_column_border(rows, width)
    if border is None and _count_crossings(rows, width) in (1, 2):
        border = find_column_border(rows, width, SHORT_COLUMN)
    return border


def _first_word_width(row: Row) -> float:
    text = row.text.lstrip()
    word = _LATIN_WORD.match(text)
    count = len(word.group(0)) if word else 1
    return count * (row.right - row.left) / max(len(text), 1)


_LATIN_WORD = re.compile(r"[\x21-\x7e]+")
_ANSWER = re.compile(
    r"\s*(?:【[^【】]{2,8}】|(?:(?:参考|正确|标准)?答案?|解|(?:答案|试题)?解析)\s*[:：]|"
    r"(?:Answers?|Ans|Solutions?|Key|Explanation)\s*[.:：])"
)


def _starts_anew(text: str) -> bool:
    """A row that begins with a number, an option label or the word for an answer begins something new."""
    if OPTION.match(text) or _ANSWER.match(text):
        return True
    label = parse_label(text)
    return label is not None and not label.is_weak


def _column_edge(row: Row, page: Page, border: float | None, edges: dict[float, float]) -> float:
    """The right edge of the text area: of the column on a two-column page, else the widest of all such pages."""
    if border is None:
        return edges.get(page.width, page.width)
    if row.right < border + 10:
        return max(other.right for other in page.rows if other.right < border + 10)
    return max(other.right for other in page.rows)


def _repair_order(pages: list[Page], extraction: Extraction) -> None:
    """Put a page into geometric order where that makes its question numbers run better."""
    changed: list[int] = []
    for number, page in enumerate(pages, start=1):
        body = [row for row in page.rows if not row.is_furniture]
        if len(body) < 4:
            continue
        apart = _part_columns(body, page.width)
        if apart is not None:
            page.rows = [row for row in page.rows if row.is_furniture] + apart
            changed.append(number)
            continue
        if order_score(body) >= 0:
            # in two clean columns a line beside another is no stray
            settled = (
                body if _count_crossings(body, page.width) in (1, 2) else settle_strays(body, page.width)
            )
            if settled is not body:
                page.rows = [row for row in page.rows if row.is_furniture] + settled
            continue
        ordered = order_rows(body, page.width)
        if order_score(ordered) > order_score(body):
            page.rows = [row for row in page.rows if row.is_furniture] + ordered
            changed.append(number)
    if changed:
        extraction.warnings.append(
            f"The reading order of {len(changed)} page(s) was repaired by position: {changed[:10]}."
        )


def _count_crossings(rows: list[Row], width: float) -> int:
    """How often the text goes from one column to the other, the shorter one with a tenth of the rows; 0 where there is one."""
    border = find_column_border(rows, width, SHORT_COLUMN)
    if border is None or sum(1 for row in rows if row.left > border - 10) < 5:
        return 0
    sides = [row.left > border - 10 for row in rows if row.right < border + 10 or row.left > border - 10]
    return sum(1 for left, right in pairwise(sides) if left != right)


def _part_columns(rows: list[Row], width: float) -> list[Row] | None:
    """Return the rows column by column where a page has two and its text goes to and fro between them; None where not.

    A short last column, whose lines a producer writes between those of the first, has too few rows to be found otherwise.
    """
    border = find_column_border(rows, width, SHORT_COLUMN)
    if border is None:
        return None
    texts = [row.text for row in rows if row.left > border - 10]
    if _count_crossings(rows, width) < 3 or len(texts) < 5 or sum(map(len, texts)) < 15 * len(texts):
        return None
    ordered = order_rows(rows, width, border)
    return ordered if order_score(ordered) >= order_score(rows) else None


def settle_strays(rows: list[Row], width: float) -> list[Row]:
    """Move the few rows of a one-column page that stand out of the downward order (boxes, stamps) to their height."""
    if find_column_border(rows, width) is not None:
        return rows
    # the longest run of rows that only goes down; rows on one height count as going down
    best: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        before = max(
            (
                (best[other][0], other)
                for other in range(max(0, index - 60), index)
                if rows[other].bottom > row.bottom - row.size
            ),
            default=(0, -1),
        )
        best.append((before[0] + 1, before[1]))
    place = max(range(len(rows)), key=lambda index: best[index][0])
    kept: set[int] = set()
    while place >= 0:
        kept.add(place)
        place = best[place][1]
    if len(kept) == len(rows) or len(kept) < 0.75 * len(rows):
        return rows
    ordered = [rows[index] for index in sorted(kept)]
    for index, row in enumerate(rows):
        if index not in kept:
            spot = next((at for at, other in enumerate(ordered) if other.bottom < row.bottom), len(ordered))
            ordered.insert(spot, row)
    return ordered


def order_score(rows: list[Row]) -> int:
    """Count the backward steps (negative) between the question numbers of rows in this order; 0 is perfect."""
    values: list[int] = []
    for row in rows:
        label = parse_label(row.text)
        if label is not None and label.style == "num" and not label.is_weak:
            values.append(label.value)
    return -sum(1 for left, right in pairwise(values) if right < left and right != 1)


def order_rows(rows: list[Row], width: float, border: float | None = None) -> list[Row]:
    """Return rows column by column, from top to bottom; a column border is an upright gap in the page's middle."""
    border = border if border is not None else find_column_border(rows, width)
    if border is None:
        return _top_down(rows)
    left = [row for row in rows if (row.left + row.right) / 2 < border and row.right < border + 10]
    right = [row for row in rows if row.left > border - 10]
    spanning = [row for row in rows if row not in left and row not in right]
    return order_columns(left, right, spanning)


def order_columns(left: list[Row], right: list[Row], spanning: list[Row]) -> list[Row]:
    """Return the left column and the right one, from one row that spans both to the next."""
    ordered: list[Row] = []
    edges = sorted((row.bottom for row in spanning), reverse=True)
    last = float("inf")
    for edge in [*edges, float("-inf")]:
        ordered += _top_down([row for row in left if edge < row.bottom <= last])
        ordered += _top_down([row for row in right if edge < row.bottom <= last])
        ordered += [row for row in spanning if row.bottom == edge]
        last = edge
    return ordered


def _top_down(rows: list[Row]) -> list[Row]:
    """Sort by rows of equal height, then from left to right."""
    ordered: list[Row] = []
    band: list[Row] = []
    for row in sorted(rows, key=lambda row: -(row.top + row.bottom)):
        if band and abs((band[0].top + band[0].bottom) - (row.top + row.bottom)) > band[0].size:
            ordered += sorted(band, key=lambda item: item.left)
            band = []
        band.append(row)
    return ordered + sorted(band, key=lambda item: item.left)


def find_column_border(rows: list[Row], width: float, share: float = 0.2) -> float | None:
    """Return the x of an upright gap between two columns, each with this share of the rows, or None where there is one."""
    best: tuple[int, float] | None = None
    for step in range(30, 71, 2):
        x = width * step / 100
        crossing = sum(1 for row in rows if row.left < x - 2 and row.right > x + 2)
        left = sum(1 for row in rows if row.right <= x + 2)
        right = sum(1 for row in rows if row.left >= x - 2)
        if crossing <= 0.1 * len(rows) and min(left, right) >= share * len(rows):
            score = crossing * 100 + abs(step - 50)
            if best is None or score < best[0]:
                best = (score, x)
    return best[1] if best else None
