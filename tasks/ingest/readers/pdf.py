"""PDF text in reading order, rebuilt from the characters and their places.

The order of the content stream is the right one for nearly every exam paper, two-column ones included; it
is replaced by a geometric order only where question numbers show that it is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from schemas.errors import DocumentError
from tasks.ingest.readers.extraction import Extraction, FoundPicture, Line, Look
from tasks.ingest.readers.page_ink import LEAST_INK, LEAST_PATHS, MOST_INK, measure_ink
from tasks.ingest.readers.page_margins import settle_margins, settle_numbers
from tasks.ingest.readers.pdf_characters import read_characters, set_aside_margin, set_aside_turned
from tasks.ingest.readers.pdf_figures import (
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
from tasks.ingest.readers.pdf_lines import mark_furniture, mark_wraps, repair_order
from tasks.ingest.readers.pdf_pages import (
    Character,
    Page,
    View,
    find_view,
    list_emphasis,
    name_kind,
    number_table,
    place_row,
)
from tasks.ingest.readers.pdf_picture_marks import list_drawn, mark_pictures
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
                emphasis=list_emphasis(row),
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
        drawn = list_drawn(objects, raw, view)
        result.images = images
        heads = before.images if number > 1 else images
        characters = mark_pictures(characters, pictures, view, keep, drawn, heads, loud)
    kept = keep_tables(result, characters, grids)
    build_rows(result, characters, kept, find_blanks(level, kept or grids, upright), level)
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
