"""Sheets in which a person marks what is shown, and what is read back of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from schemas import patterns as re
from schemas.errors import WorkbookError
from warehouse.stores.whole_files import SHARED, writing_workbook

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell import Cell, MergedCell
    from openpyxl.worksheet.worksheet import Worksheet

# A cell of a workbook holds no more.
_MOST_CHARACTERS = 32_767
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class MarkSheet:
    """A sheet of rows with one column of marks to fill in.

    Attributes:
        name: as its tab shows it.
        command: the command that writes it, for errors.
        headers: of all columns; the first is the key, which tells nothing of what the row is of.
        widths: of the columns, in characters.
        mark: the place of the column of marks, from 0.
        marks: what may stand there, offered as a list.
    """

    name: str
    command: str
    headers: tuple[str, ...]
    widths: tuple[int, ...]
    mark: int
    marks: Sequence[str]


class SheetRow(NamedTuple):
    """A row as it was filled in: its place for errors, and a text for every header."""

    place: str
    cells: list[str]


def compute_key(*parts: object) -> str:
    """The key of a row: it does not tell whose it is."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def write_sheets(
    path: Path,
    introduction: Sequence[str],
    sheets: Mapping[MarkSheet, Sequence[Sequence[str | None]]],
    *,
    keywords: str | None = None,
) -> None:
    """Write a page that explains and sheets with their rows, whole or not at all.

    A text beyond what a cell holds is cut, and marked. `keywords` stand among its properties, which spreadsheet programs keep.
    """
    from openpyxl import Workbook

    workbook = Workbook()
    page = workbook.create_sheet("how to")
    for line in introduction:
        page.append([line])
    for sheet, rows in sheets.items():
        _fill_sheet(workbook.create_sheet(sheet.name), sheet, rows)
    del workbook["Sheet"]
    workbook.active = 1
    workbook.properties.keywords = keywords
    with writing_workbook(path, SHARED) as file:
        workbook.save(file)


def read_sheet(workbook: Workbook, file: str, sheet: MarkSheet) -> Iterator[SheetRow]:
    """A sheet's rows that are not empty; WorkbookError for a foreign file or a key there twice."""
    if sheet.name not in workbook.sheetnames:
        raise WorkbookError(
            f"{file} has no sheet {sheet.name!r}: it is not a workbook of `{sheet.command}`. Export it again."
        )
    lines = [[_read_cell(cell) for cell in cells] for cells in workbook[sheet.name].iter_rows()]
    header = tuple(lines[0]) if lines else ()
    if header[: len(sheet.headers)] != sheet.headers:
        raise WorkbookError(
            f"{file}, sheet {sheet.name!r}, row 1: the headers are not {', '.join(sheet.headers)}. Put them back."
        )
    seen: dict[str, int] = {}
    for number, texts in enumerate(lines[1:], start=2):
        if not any(texts):
            continue
        place = f"{file}, sheet {sheet.name!r}, row {number}"
        if texts[0] in seen:
            raise WorkbookError(
                f"{place}, column A: the key stands in row {seen[texts[0]]} already. Remove one of the two rows."
            )
        seen[texts[0]] = number
        yield SheetRow(place, texts + [""] * (len(sheet.headers) - len(texts)))


def _read_cell(cell: Cell | MergedCell) -> str:
    """What is shown in a cell, as text: 100% is kept there as the number 1."""
    if isinstance(cell.value, int | float) and "%" in cell.number_format:
        return f"{100 * cell.value:.10g}%"
    return "" if cell.value is None else str(cell.value).strip()


def _fill_sheet(page: Worksheet, sheet: MarkSheet, rows: Sequence[Sequence[str | None]]) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.datavalidation import DataValidation

    page.append(sheet.headers)
    for number, texts in enumerate(rows, start=2):
        for column, text in enumerate(texts, start=1):
            cell = page.cell(number, column)
            cell.value = fit_cell(text or "", " […]")
            cell.data_type = "s"  # a text that begins with "=" is a text, not a formula
            # Nor does it become one where somebody edits the cell.
            cell.quotePrefix = begins_formula(text or "")
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    letters = [chr(ord("A") + place) for place in range(len(sheet.headers))]
    for letter, width in zip(letters, sheet.widths, strict=True):
        page.column_dimensions[letter].width = width
    for cell in page[1]:
        cell.font = Font(bold=True)
    page.freeze_panes = "B2"
    check = DataValidation(type="list", formula1=f'"{",".join(sheet.marks)}"', allow_blank=True)
    page.add_data_validation(check)
    check.add(f"{letters[sheet.mark]}2:{letters[sheet.mark]}{max(2, len(rows) + 1)}")


def begins_formula(text: str) -> bool:
    """Whether a spreadsheet program makes a formula of the text where somebody edits its cell."""
    return text.startswith(("=", "+", "-", "@"))


def clean_text(text: str) -> str:
    """The text without characters that a workbook cannot hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def fit_cell(text: str, mark: str) -> str:
    """The clean text, cut with that mark where it is longer than a cell can be."""
    clean = clean_text(text)
    return clean if len(clean) <= _MOST_CHARACTERS else clean[: _MOST_CHARACTERS - len(mark)] + mark
