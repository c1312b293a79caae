"""PDF text in reading order, rebuilt from the characters and their places.

The order of the content stream is the right one for nearly every exam paper, two-column ones included; it
is replaced by a geometric order only where question numbers show that it is wrong.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import Extraction, FoundPicture, Line, Look
from tasks.ingest.readers.page_ink import LEAST_INK, LEAST_PATHS, MOST_INK, measure_ink
from tasks.ingest.readers.page_margins import settle_margins, settle_numbers
from tasks.ingest.readers.pdf_characters import read_characters, set_aside_margin, set_aside_turned
from tasks.ingest.readers.pdf_figures import (
    MOST_PATHS,
    Edges,
    find_figures,
    find_outlines,
    is_loud,
    is_within,
    join_pictures,
    leave_text,
    read_seen,
)
from tasks.ingest.readers.pdf_fonts import count_odd, find_garbled, find_shift, is_chinese, list_foreign
from tasks.ingest.readers.pdf_formulas import cut_formulas, write_linear
from tasks.ingest.readers.pdf_lines import (
    OPTION,
    find_column_border,
    mark_furniture,
    mark_wraps,
    repair_order,
)
from tasks.ingest.readers.pdf_pages import (
    Character,
    Page,
    Row,
    View,
    find_view,
    name_kind,
    number_table,
    place_row,
)
from tasks.ingest.readers.pdf_rows import build_rows, keep_tables, settle_pictures, write_numbered_blanks
from tasks.ingest.readers.pdf_rules import (
    SCAN_COVER,
    Grid,
    PageObject,
    find_blanks,
    find_grids,
    list_objects,
    mark_highlighted,
    measure_recreated,
    measure_scan,
    read_bounds,
    read_rules,
)
from tasks.ingest.readers.picture_form import is_rule

MAX_PAGES = 2000
BROKEN_SHARE = 0.01
# Above this share of unreadable characters a page is better read by OCR than as it stands.
UNREADABLE_SHARE = 0.3
# Where so much of a page's text is another program's OCR, the page is read by our own.
RECREATED_SHARE = 0.5
# A stamp on a page that is a picture has fewer characters than a paper has.
STAMP_CHARACTERS = 150
# A page of fewer characters has no text.
FEW_CHARACTERS = 8
# Pictures that cover less of a page are no pictures of a page.
LEAST_PAGE = 0.3
# A picture needs so many bytes for every mark of print that it shows, however well it is packed.
MARK_BYTES = 12
# Pictures lower or narrower than this (in points) are rules, dots and parts of letters.
MIN_PICTURE = 7.0
# A line of print is so high.
_PRINT_HEIGHT = 10.0


def read_pdf(data: bytes) -> tuple[Extraction, dict[int, bool]]:
    """Return the lines of a PDF and the numbers (from 1) of the pages that OCR has to read.

    True stands beside those whose text layer is right as far as it goes.

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
            has_text = any(one.characters >= FEW_CHARACTERS and not one.is_scan for one in pages)
            before = pages[-1] if pages else Page(0, 0)
            pages.append(_read_page(page, raw, index + 1, extraction, before, has_text=has_text))
            page.close()
        except pypdfium2.PdfiumError:
            extraction.warnings.append(f"Page {index + 1} is damaged and was left out.")
            pages.append(Page(0, 0))
    document.close()
    if extraction.pictures:
        extraction.package = data
    _restore_shifted(pages, extraction)
    mark_furniture(pages)
    repair_order(pages, extraction)
    write_numbered_blanks(pages)
    for page_rows in pages:
        if extraction.pictures:
            settle_pictures(page_rows, extraction.pictures)
        settle_margins(page_rows.rows)
        settle_numbers(page_rows.rows)
    mark_wraps(pages)
    unreadable: dict[int, bool] = {}
    garbled = find_garbled([page_rows.odd for page_rows in pages])
    if garbled:
        extraction.warnings.append(
            f"The fonts of {len(garbled)} page(s) say other characters than they show: {[place + 1 for place in sorted(garbled)][:10]}."
        )
        extraction.notes.append("broken_font")
    for number, page_rows in enumerate(pages, start=1):
        if page_rows.broken > BROKEN_SHARE * max(page_rows.characters, 1):
            extraction.warnings.append(
                f"Page {number}: {page_rows.broken} of {page_rows.characters} characters have no meaning in the font."
            )
            extraction.notes.append("broken_font")
        if (
            (page_rows.characters < FEW_CHARACTERS and page_rows.has_images)
            or page_rows.is_scan
            or number - 1 in garbled
            or (page_rows.broken > UNREADABLE_SHARE * max(page_rows.characters, 1))
        ):
            unreadable[number] = False
        elif page_rows.is_mixed:
            unreadable[number] = True
        extraction.lines.extend(
            Line(
                row.text,
                page=number,
                kind=name_kind(row),
                cells=row.cells,
                emphasis=tuple(
                    (first, last, "colour")
                    for first, last in (((0, len(row.text)),) if row.is_coloured else row.colours)
                ),
                table=number_table(number, row),
                box=place_row(page_rows.frame, row),
                look=Look(round(2 * row.points) / 2, row.is_bold, round(row.left, 1), frame=row.frame),
            )
            for row in page_rows.rows
            if row.text.strip()
        )
    return extraction, unreadable


def _restore_shifted(pages: Sequence[Page], extraction: Extraction) -> None:
    """Write what characters show whose fonts count from a wrong place, else count them broken."""
    foreign = sum((page.foreign for page in pages), Counter[str]())
    if not foreign:
        return
    shown = find_shift(list(foreign))
    if shown:
        extraction.warnings.append(
            f"The fonts count {len(shown)} Chinese characters from a wrong place: they were read as what they show."
        )
    for page in pages:
        if not shown:
            page.broken += page.foreign.total()
        elif page.foreign:
            for row in page.rows:
                row.text = row.text.translate(shown)
                row.cells = tuple(cell.translate(shown) for cell in row.cells)


def _read_page(
    page: Any, raw: Any, number: int, extraction: Extraction, before: Page, *, has_text: bool
) -> Page:
    result = Page(0, 0, asked=before.asked)
    characters = read_characters(page, raw, result)
    view = find_view(page, raw, characters)
    view.move(characters)
    texts = [one.text for one in characters]
    result.odd = count_odd(texts)
    foreign = list_foreign(texts)
    if foreign and is_chinese(result.odd[1], texts):
        result.foreign = foreign
    result.width, result.height, result.frame = view.width, view.height, view.frame
    objects = list_objects(page, raw)
    mark_highlighted(characters, objects, raw, view)
    shown = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_PATH)
    characters = set_aside_margin(set_aside_turned(characters, result, view), result)
    level, upright = read_rules(objects, raw, view)
    grids = find_grids(level, upright, characters=characters)
    covered, hidden = measure_scan(objects, raw, view.width * view.height)
    result.is_scan = _is_scan(result, objects, covered, hidden, raw)
    if result.is_scan and hidden < 0.5 and result.characters >= FEW_CHARACTERS:
        # what covers the page may be its ground
        is_made = measure_recreated(objects, raw) >= RECREATED_SHARE
        result.is_scan = is_made or _is_mixed(page, characters, objects, covered, view, raw)
    # else OCR reads it
    is_few = result.characters < FEW_CHARACTERS
    is_open = not result.is_scan and (not is_few or (has_text and _is_end(objects, covered, raw)))
    result.has_images = not is_open and any(kind in shown for kind, _ in objects[:202])
    result.is_mixed = is_open and _is_mixed(page, characters, objects, covered, view, raw)

    def keep(*box: float, is_formula: bool = False) -> str:
        place = view.frame.place(*box)
        return extraction.add_picture(FoundPicture(page=number, box=place, is_formula=is_formula))

    if is_open or not is_few:
        figures = find_figures(objects, raw, view, grids, characters)
        loud = {box for box in figures if is_loud(box, characters)}
        if figures:
            characters = leave_text(characters, figures)
            grids = [grid for grid in grids if not any(is_within(_frame(grid), box) for box in figures)]
        images = [
            view.box(*seen)
            for kind, item in objects
            if kind == raw.FPDF_PAGEOBJ_IMAGE and (seen := read_seen(item, raw)) is not None
        ]
        images = [
            box
            for box in images
            if not any(is_within(box, figure) for figure in figures)
            and (box[2] - box[0]) * (box[3] - box[1]) < SCAN_COVER * view.width * view.height
        ]
        images = join_pictures(images, characters) if images else images
        pictures = [(box, False) for box in (*images, *figures)]
        pictures += [
            (box, True) for box in find_outlines(objects, raw, view, [*images, *figures], characters)
        ]
        drawn = _list_drawn(objects, raw, view)
        result.images = images
        heads = before.images if number > 1 else images
        characters = _place_pictures(characters, pictures, view, keep, drawn, heads, loud)
    kept = keep_tables(result, characters, grids)
    build_rows(result, characters, kept, find_blanks(level, kept or grids), level)
    result.rows = write_linear(result.rows, level, upright)
    result.rows = cut_formulas(result.rows, partial(keep, is_formula=True))
    for row in result.rows if grids else ():
        middle = (row.left + row.right) / 2, (row.bottom + row.top) / 2
        if not row.is_furniture and any(grid.holds(*middle) for grid in grids):
            row.frame = "cell"
    return result


def _frame(grid: Grid) -> Edges:
    """The outer edges of a grid, less than a point within them."""
    return grid.columns[0] + 1, grid.rows[-1] + 1, grid.columns[-1] - 1, grid.rows[0] - 1


def _is_end(objects: Sequence[PageObject], covered: float, raw: Any) -> bool:
    """Whether a page of next to no text shows a small picture, as where a paper ends."""
    return covered < LEAST_PAGE and all(
        kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_TEXT) for kind, _ in objects
    )


def _is_scan(page: Page, objects: Sequence[PageObject], covered: float, hidden: float, raw: Any) -> bool:
    """Whether a picture covers the page and its text is no print.

    The text is then a scanner's invisible reading, a stamp, or a few strokes.

    A scan that was made editable counts, too: its letters are cut out of the picture, its text is what that program
    took them for.
    """
    if measure_recreated(objects, raw) >= RECREATED_SHARE:
        return True
    return covered >= SCAN_COVER and (hidden >= 0.5 or page.characters < STAMP_CHARACTERS)


def _is_mixed(
    page: Any,
    characters: Sequence[Character],
    objects: Sequence[PageObject],
    covered: float,
    view: View,
    raw: Any,
) -> bool:
    """Whether a page shows more print than its text layer holds.

    There are pasted scans below a typed title. The page is looked at only where its pictures, which cover so much of it,
    and what is drawn on it can hold so much.
    """
    letters = len([None for one in characters if one.text.isalnum()])
    drawn = sum(1 for kind, _ in objects if kind == raw.FPDF_PAGEOBJ_PATH)
    is_drawn = drawn >= LEAST_PATHS
    least = max(letters, LEAST_INK)
    if (drawn if is_drawn else 0) + MOST_INK * covered <= least:
        return False
    shown: tuple[int, int, int, int] | None = None
    if not is_drawn and not any(kind == raw.FPDF_PAGEOBJ_FORM for kind, _ in objects):
        pictures = [item for kind, item in objects if kind == raw.FPDF_PAGEOBJ_IMAGE]
        if sum(raw.FPDFImageObj_GetImageDataRaw(item, None, 0) for item in pictures) <= MARK_BYTES * least:
            return False
        boxes = [view.frame.place(*view.box(*read_bounds(item, raw))) for item in pictures]
        shown = (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )
    ink = measure_ink(page, view.frame, characters, shown)
    return ink.is_text and ink.marks > letters


def _place_pictures(
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
    for number, ((left, bottom, right, top), is_formula) in enumerate(pictures):
        height = view.height
        middle = (bottom + top) / 2
        size = right - left, top - bottom
        is_small = (min(size) < MIN_PICTURE or is_rule(*size, _PRINT_HEIGHT)) and not is_formula
        is_mark = is_small or not 0.08 < middle / height < 0.92
        is_repeated = any(_is_same((left, bottom, right, top), other) for other in heads)
        if is_mark and not is_small and not is_repeated:  # no head of a page is so tall, or stands at letters
            is_mark = number not in named and max(bottom, height - top) > (1 - _HEAD) * height
        if number > 200 or is_mark or (right - left) * (top - bottom) > 0.5 * height * height:
            continue
        if not is_formula and _closes_page(characters, pictures, (left, bottom, right, top), height):
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
        stacks = [stack for stack in offered if _stands_beside((left, bottom, right, top), stack, pictures)]
        own = min((at for box, at in shapes if is_within(box, (left, bottom, right, top))), default=-1)
        found = _find_drawn(characters, drawn_at, (left, bottom, right, top), own)
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
                mark = Character("", left, bottom, left, right, bottom, min(top, bottom + 12), 10, True)
        elif ((len(asked) == 1 and not beside) or stacks) and not is_formula:
            opening, at = stacks[0][0] if stacks else asked[0]
            edge, low = opening.left, opening.bottom - opening.size / 2
            mark = Character("", edge, low, edge, edge + right - left, low, low + 2, 10, True)
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
                mark = Character("", left, low, left, right, low, low + 12, 10, True)
            else:
                mark = replace(near, x=left, left=left, right=right, breaks=False, spaced=False)
        elif above:
            at = min(above, key=lambda index: (round(characters[index].y), -index))
            beyond = min(  # where the next question of the same line begins
                (
                    row.left
                    for row, _ in asking
                    if abs(row.baseline - characters[at].y) < 2 and row.left >= right
                ),
                default=view.width,
            )
            while (
                at + 1 < len(characters)
                and abs(characters[at + 1].y - characters[at].y) < 2
                and characters[at + 1].left < beyond - 1
            ):
                at += 1
            low = bottom if beyond == view.width else characters[at].bottom - 4
            mark = Character("", left, low, left, right, low, min(max(top, low), low + 12), 10, True)
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
            mark = Character("", left, bottom, left, right, bottom, min(top, bottom + 12), 10, True)
        mark.text = keep(left, bottom, right, top, is_formula=is_formula)
        mark.is_coloured = mark.is_coloured or (left, bottom, right, top) in loud
        placed.append((at, mark))
    # the last of the page first: of one place the lower ones, and of one height the right ones
    for at, mark in sorted(placed, key=lambda pair: (-pair[0], round(pair[1].top / _BEGINS), -pair[1].left)):
        characters.insert(at + 1, mark)
    return characters


def _list_drawn(
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


def _stands_left(letter: Character, end: Character, box: Edges) -> bool:
    return box[1] <= _middle(letter) <= box[3] and -2 <= box[0] - end.right <= _RIGHT_OF


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


def _middle(one: Character) -> float:
    return (one.bottom + one.top) / 2


def _is_apart(one: Character, other: Character) -> bool:
    return abs(one.y - other.y) >= 2 or other.left - one.right > 3 or one.text.isspace()


# What a letter of an option is, and what closes it; so near below its picture it stands, in points and in sizes.
_OFFERED, _CLOSES, _UNDER, _BELOW = frozenset("ABCDEFGH"), frozenset(".．、)）"), 8.0, 2.2
# In points: so far right of its letter.
_OPENS, _RIGHT_OF = frozenset("(（"), 30.0
# Shares of a page: what reaches further into it is no head or foot.
_HEAD = 0.11

# In points: so far below its upper edge a picture begins, and so wide is a gap that parts two lines.
_BEGINS, _PARTS = 12.0, 12.0
# In points: so near to a picture that it floats around is the number of its question.
_BESIDE = 20.0
# A page of fewer lines has no columns, or none in which no question begins.
_FEW_ROWS, _LEAST_ROWS = 6, 12
# In points: so far below all else on its page stands what closes it; so wide it is at most, as a share of the height.
_FAR, _NARROW = 60.0, 0.4
# What begins a question, and offers nothing.
_ASKED = re.compile(r"\s*(?:[(（]?\d{1,3}\s*[.．、:：)）](?!\d)|[^\W\d]+\s+\d{1,3}\s*[.:：)])")


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


def _is_same(one: Edges, other: Edges) -> bool:
    return all(abs(edge - own) < 3 for edge, own in zip(one, other, strict=True))


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


def _closes_page(
    characters: Sequence[Character], pictures: Sequence[tuple[Edges, bool]], own: Edges, height: float
) -> bool:
    """Whether a narrow picture stands far below all else of its page: a seal, a code."""
    left, _, right, top = own
    floors = [one.bottom for one in characters if one.top > 0.08 * height]
    floors += [box[1] for box, _ in pictures if box != own]
    return right - left < _NARROW * height and bool(characters) and min(floors, default=0.0) - top > _FAR


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
