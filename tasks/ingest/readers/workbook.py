"""Spreadsheets to rows of text: values by calamine, what formatting says by openpyxl."""

from __future__ import annotations

import html
import io
import zipfile
from datetime import date, datetime, time, timedelta
from typing import Any

from lxml import etree

from schemas import patterns as re
from schemas.errors import DocumentError
from tasks.ingest.readers.archives import open_package, read_part
from tasks.ingest.readers.docx_elements import parse_xml
from tasks.ingest.readers.docx_styles import is_ink
from tasks.ingest.readers.extraction import WHOLE_CELL, Extraction, Marked, Sheet
from tasks.ingest.readers.number_formats import write_date, write_number, write_time
from tasks.ingest.readers.numbering import local_name, read_attribute, read_integer
from tasks.ingest.readers.scripts import lower_text, raise_text
from tasks.ingest.readers.sheet_pictures import mark_pictures

# By sheet and (row, column) from 0, the text of the cells that show another than their value.
Shown = dict[str, dict[tuple[int, int], str]]

MAX_CELLS = 5_000_000
MAX_SECOND_PASS_BYTES = 8 * 1024 * 1024
# cells that hold something: rows that were coloured from end to end reach to the last column, and their cells are empty
_REFERENCE = re.compile(
    rb"""<(?:x:)?c\b[^>]*?\br=["']([A-Z]{1,3})(\d{1,7})["'][^>]*+(?<!/)>(?!\s*(?:<(?:x:)?v\s*(?:/>|>\s*</(?:x:)?v>)\s*)?</(?:x:)?c>)"""
)
_ROW_REFERENCE = re.compile(rb"""<(?:x:)?row\b[^>]*?\br=["'](\d{1,7})["']""")


def read_workbook(data: bytes, kind: str) -> Extraction:
    """Return the sheets of an xlsx, xlsb, xls or ods file as rows of text.

    Merged cells are filled. Whole numbers lose their `.0`, percentages and superscripts are written as shown, hidden
    sheets are marked, hidden rows and columns kept and reported.

    Raises:
        DocumentError: `corrupt`, `encrypted`, `zip_bomb`, or `too_large` when the used range is too wide to read.
    """
    import python_calamine

    needs_formats = False
    package: zipfile.ZipFile | None = None
    unsaved: dict[str, set[tuple[int, int]]] = {}
    shown: Shown = {}
    marked: dict[str, dict[str, Marked]] = {}
    if kind in ("xlsx", "xlsb", "ods"):
        package = open_package(data)
        if kind == "xlsx":
            check_extents(package)
            unsaved = _find_unsaved(package)
            needs_formats = _has_formats(package) and len(data) <= MAX_SECOND_PASS_BYTES
        elif kind == "ods":
            unsaved, shown = _read_ods(package)
    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    except python_calamine.PasswordError as error:
        raise DocumentError(
            "encrypted", "The workbook is password protected. Save it without a password."
        ) from error
    except (python_calamine.CalamineError, OSError, ValueError) as error:
        raise DocumentError(
            "corrupt", "The workbook is damaged or cut off. Save it again in Excel."
        ) from error
    extraction = Extraction(
        converter="calamine", converter_version=str(getattr(python_calamine, "__version__", "unknown"))
    )
    if needs_formats:
        shown, marked = _read_formats(data, extraction)
    total = 0
    for meta in workbook.sheets_metadata:
        if str(meta.typ).rpartition(".")[2] not in ("WorkSheet", "DialogSheet"):
            continue
        try:
            sheet = workbook.get_sheet_by_name(meta.name)
        except (python_calamine.CalamineError, OSError, ValueError):
            extraction.warnings.append(f"Sheet {len(extraction.sheets) + 1} is damaged and was left out.")
            continue
        height, width = sheet.height, sheet.width
        total += height * width
        if total > MAX_CELLS:
            raise DocumentError(
                "too_large", f"The workbook uses more than {MAX_CELLS} cells. Split it into several files."
            )
        rows = [[write_cell(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
        for (row, column), text in shown.get(meta.name, {}).items():
            if row < len(rows) and column < len(rows[row]):
                rows[row][column] = text
        _fill_merged(rows, sheet)
        is_hidden = str(meta.visible).rpartition(".")[2] != "Visible"
        lost = unsaved.get(meta.name, set())
        if lost:
            row, column = min(lost)
            extraction.warnings.append(
                f"Sheet {meta.name!r}: {len(lost)} cells are formulas whose results the file does not hold (the first in row "
                f"{row + 1}, column {column + 1}); they were read as empty. Open it in Excel and save it, then ingest it again."
            )
        extraction.sheets.append(
            Sheet(meta.name, rows, is_hidden=is_hidden, marked=marked.get(meta.name, {}), unsaved=lost)
        )
    extraction.page_count = len(extraction.sheets)
    if package is not None and kind == "xlsx":
        mark_pictures(extraction, package, data)
    if not extraction.sheets:
        raise DocumentError("corrupt", "The workbook has no sheet that can be read. Save it again in Excel.")
    return extraction


def check_extents(package: zipfile.ZipFile) -> None:
    """Refuse sheets whose outermost cells span more than `MAX_CELLS`.

    One cell at XFD1048576 aborts the reader.

    Raises:
        DocumentError: `too_large`.
    """
    for name in package.namelist():
        if not re.match(r"xl/worksheets/[^/]+\.xml$", name):
            continue
        part = read_part(package, name)
        last_row = last_column = 0
        first_row = first_column = 1 << 30
        for match in _REFERENCE.finditer(part):
            column = 0
            for letter in match.group(1):
                column = column * 26 + letter - 64
            row = int(match.group(2))
            last_row, last_column = max(last_row, row), max(last_column, column)
            first_row, first_column = min(first_row, row), min(first_column, column)
        rows = [int(match.group(1)) for match in _ROW_REFERENCE.finditer(part)]
        if rows and last_row == 0:
            last_row, first_row, last_column, first_column = max(rows), min(rows), 1, 1
        area = max(last_row, 0) * max(last_column, 0)
        if area > MAX_CELLS or last_column > 16_384 or last_row > 1_048_576:
            raise DocumentError(
                "too_large",
                f"A sheet reaches to row {last_row}, column {last_column}. Delete the stray cells outside its table.",
            )


# a formula without a result; `t="str"` with an empty result is a formula whose text is empty
_UNSAVED = re.compile(
    rb"""<(?:x:)?c\b(?![^>]*\bt=["']str["'])[^>]*?\br=["']([A-Z]{1,3})(\d{1,7})["'][^>]*>\s*"""
    rb"""<(?:x:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:x:)?f>)\s*(?:<(?:x:)?v\s*/>|<(?:x:)?v>\s*</(?:x:)?v>)?\s*</(?:x:)?c>"""
)
_SHEET = re.compile(rb"<(?:\w+:)?sheet\b[^>]*>")
_TARGET = re.compile(rb"<(?:\w+:)?Relationship\b[^>]*>")


def _find_unsaved(package: zipfile.ZipFile) -> dict[str, set[tuple[int, int]]]:
    """The cells of each sheet, (row, column) from 0, whose formula was never computed."""
    names = set(package.namelist())
    book, links = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
    if not {book, links} <= names:
        return {}
    targets = {
        _attribute(link, b"Id"): _attribute(link, b"Target")
        for link in _TARGET.findall(read_part(package, links))
    }
    found: dict[str, set[tuple[int, int]]] = {}
    for sheet in _SHEET.findall(read_part(package, book)):
        target = targets.get(_attribute(sheet, b"id"), "")
        part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        if part not in names:
            continue
        cells: set[tuple[int, int]] = set()
        for match in _UNSAVED.finditer(read_part(package, part)):
            column = 0
            for letter in match.group(1):
                column = column * 26 + letter - 64
            cells.add((int(match.group(2)) - 1, column - 1))
        if cells:
            found[_attribute(sheet, b"name")] = cells
    return found


def _attribute(tag: bytes, name: bytes) -> str:
    match = re.search(rb"""[\s:]""" + name + rb"""=["']([^"']*)["']""", tag)
    return html.unescape(match.group(1).decode("utf-8", errors="replace")) if match else ""


def write_cell(value: Any) -> str:
    """Write a cell's value as people read it: 1, not 1.0; dates in ISO form; TRUE."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        # a cell holds fifteen digits: 0.1 + 0.2 is 0.3
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}".upper()
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time(0) else value.isoformat(sep=" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return str(value)


def _fill_merged(rows: list[list[str]], sheet: Any) -> None:
    """Fill all rows of every merged area with its text, not its columns."""
    for area in sheet.merged_cell_ranges or []:
        (first_row, first_column), (last_row, last_column) = area
        if last_row - first_row > 5000 or last_row <= first_row or first_row >= len(rows):
            continue
        text = rows[first_row][first_column] if first_column < len(rows[first_row]) else ""
        for row in rows[first_row + 1 : last_row + 1]:
            if first_column < len(row) and not row[first_column]:
                row[first_column] = text
        del last_column


def _has_formats(package: zipfile.ZipFile) -> bool:
    """Whether values alone would lose superscripts, number formats, or what stands out."""
    names = package.namelist()
    texts = (name for name in names if re.match(r"xl/(?:sharedStrings|worksheets/[^/]+)\.xml$", name))
    if any(b"rPr>" in read_part(package, name) for name in texts):
        return True
    if "xl/styles.xml" not in names:
        return False
    part = read_part(package, "xl/styles.xml")
    used = re.search(rb"<cellXfs\b.*?</cellXfs>", part, re.DOTALL)
    cells = used.group(0) if used else b""
    if b"vertAlign" in part or re.search(rb'numFmtId="(?!0"|49")\d+"', cells):
        return True
    # more than the plain font or the plain fill in use
    return len(set(re.findall(rb'(?:fontId|fillId)="(\d+)"', cells))) > 1


def _read_formats(data: bytes, extraction: Extraction) -> tuple[Shown, dict[str, dict[str, Marked]]]:
    """By sheet, the cells shown otherwise than their value, and those that stand out."""
    import openpyxl
    from openpyxl.cell.rich_text import CellRichText, TextBlock

    shown: Shown = {}
    marked: dict[str, dict[str, Marked]] = {}
    try:
        workbook = openpyxl.load_workbook(io.BytesIO(data), rich_text=True, data_only=True)
    except Exception:  # openpyxl raises many kinds; the values are there without it
        extraction.warnings.append(
            "Formats (superscripts, percentages) could not be read; the bare values were used."
        )
        return shown, marked
    # a workbook has few styles and many cells: every style is looked at once
    looks: dict[int, tuple[str, list[str]]] = {}
    for sheet in workbook.worksheets:
        cells: dict[tuple[int, int], str] = {}
        # what stands out in any colour goes before one colour, as stripes behind the rows are another
        kinds: dict[str, Marked] = {"highlight": {}, "colour": {}, "bold": {}, "underline": {}}
        for row in sheet.iter_rows():
            for cell in row:
                value, text = cell.value, None
                if value is None or cell.row is None or cell.column is None:
                    continue
                place = (cell.row - 1, cell.column - 1)
                number_format = "General"
                emphasis: list[str] = []
                if cell.has_style:
                    style = cell.style_id
                    if style not in looks:
                        looks[style] = (cell.number_format or "General", _find_emphasis(cell))
                    number_format, emphasis = looks[style]
                if isinstance(value, CellRichText):
                    text = ""
                    for run in value:
                        written = _write_run(run)
                        for kind in _list_font(run.font) if isinstance(run, TextBlock) else ():
                            span = (len(text), len(text) + len(written))
                            kinds.setdefault(kind, {}).setdefault(place, []).append(span)
                        text += written
                elif isinstance(value, int | float) and not isinstance(value, bool):
                    text = write_number(value, number_format)
                elif isinstance(value, date):
                    text = write_date(value, number_format)
                elif isinstance(value, time):
                    text = write_time(value, number_format)
                if text is not None:
                    cells[place] = text
                for kind in emphasis:
                    kinds.setdefault(kind, {})[place] = [WHOLE_CELL]
        shown[sheet.title], marked[sheet.title] = cells, kinds
    return shown, marked


def _find_emphasis(cell: Any) -> list[str]:
    kinds = _list_font(cell.font)
    fill = cell.fill
    if fill is not None and fill.patternType == "solid":
        front = fill.fgColor
        if front is not None and not (front.type == "rgb" and str(front.rgb)[-6:] == "FFFFFF"):
            kinds += ["highlight", f"highlight {front.value}"]
    return kinds


def _list_font(font: Any) -> list[str]:
    if font is None:
        return []
    kinds = ["bold"] * bool(font.b) + ["underline"] * (font.u not in (None, "none"))
    colour = font.color
    if colour is None:
        return kinds
    if colour.type == "theme":
        stands_out = colour.theme > _LAST_INK
    else:
        shown = _find_indexed(colour.indexed) if colour.type == "indexed" else str(colour.rgb)
        stands_out = not is_ink(shown[-6:])
    return [*kinds, "colour", f"colour {colour.value}"] if stands_out else kinds


_LAST_INK = 3  # the first colours of a theme are those of text and paper


def _find_indexed(place: int) -> str:
    from openpyxl.styles.colors import COLOR_INDEX

    return COLOR_INDEX[place] if 0 <= place < len(COLOR_INDEX) else ""


def _write_run(run: Any) -> str:
    if isinstance(run, str):
        return run
    text = str(run.text)
    if run.font.vertAlign == "superscript":
        return raise_text(text)
    return lower_text(text) if run.font.vertAlign == "subscript" else text


_CONTENT = "content.xml"
# A formula is repeated over a range where it is the same; an empty row is repeated to the end of the sheet.
_MOST_REPEATED = 70


def _read_ods(package: zipfile.ZipFile) -> tuple[dict[str, set[tuple[int, int]]], Shown]:
    """By sheet, the cells whose formula has no result, and what numbers and dates are shown as.

    Places are (row, column) from 0.

    Raises:
        DocumentError: `corrupt` for a content that is no well-formed XML.
    """
    lost: dict[str, set[tuple[int, int]]] = {}
    shown: Shown = {}
    if _CONTENT not in package.namelist():
        return lost, shown
    for table in parse_xml(read_part(package, _CONTENT), _CONTENT).iter("{*}table"):
        cells: set[tuple[int, int]] = set()
        texts: dict[tuple[int, int], str] = {}
        row = 0
        for line in table.iter("{*}table-row"):
            height = read_integer(line, "number-rows-repeated") or 1
            column = 0
            for cell in line:
                width = read_integer(cell, "number-columns-repeated") or 1
                is_shown = read_attribute(cell, "value-type") in _SHOWN
                if is_shown or _is_unsaved(cell):
                    places = {
                        (row + down, column + right)
                        for down in range(min(height, _MOST_REPEATED))
                        for right in range(min(width, _MOST_REPEATED))
                    }
                    # not what a comment says
                    lines = cell.iterfind("{*}p") if is_shown else ()
                    text = "\n".join("".join(map(str, line.itertext())) for line in lines).strip()
                    texts |= dict.fromkeys(places, text) if text else {}
                    cells |= places if not is_shown else set()
                column += width
            row += height
        name = read_attribute(table, "name") or ""
        shown[name] = texts
        if cells:
            lost[name] = cells
    return lost, shown


_SHOWN = ("float", "percentage", "currency", "date", "time")


def _is_unsaved(cell: etree._Element) -> bool:
    return (
        local_name(cell) == "table-cell"
        and read_attribute(cell, "formula") is not None
        and read_attribute(cell, "value-type") is None
        and not "".join(str(text) for text in cell.itertext()).strip()
    )
