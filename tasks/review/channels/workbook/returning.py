"""The file that goes back to an annotator.

It is their own file, with each bad row marked and what is wrong with it in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.card import compute_height
from tasks.review.channels.workbook.parsing import SheetReading, render_message
from tasks.review.recording import RowFault
from tasks.review.words import Language

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

MARK = ".to-correct"
# More than this many copies of one file are a mistake, not corrections.
_MOST_COPIES = 99


def name_original(path: Path) -> str:
    """The stem of the file's name without the mark of a copy that was to be corrected."""
    return path.stem.partition(MARK)[0]


def is_marked_copy(path: Path) -> bool:
    """Whether the file's name is that of a copy that was to be corrected."""
    return MARK in path.stem


def write_marked_copy(book: Workbook, path: Path, reading: SheetReading, language: Language) -> Path:
    """Write the workbook beside `path` with its faults marked; returns where.

    A copy that is there already may hold somebody's work, so it is never overwritten: one that says the same is left
    as it is, otherwise the name gets a number.
    """
    _mark(book, reading, language)
    for number in range(1, _MOST_COPIES + 1):
        suffix = MARK if number == 1 else f"{MARK}-{number}"
        copy = path.with_name(f"{name_original(path)}{suffix}.xlsx")
        if copy == path:
            continue
        if not copy.exists():
            break
        if _says_the_same(copy, book):
            return copy
    partial = copy.with_name(copy.name + ".part")
    book.save(partial)
    partial.replace(copy)
    return copy


def _mark(book: Workbook, reading: SheetReading, language: Language) -> None:
    from openpyxl.comments import Comment
    from openpyxl.styles import Alignment, Font, PatternFill

    sheet = book[layout.SHEET]
    red, orange = PatternFill("solid", fgColor="FFFFC7CE"), PatternFill("solid", fgColor="FFFFEB9C")
    place = reading.columns.get("faults")
    if place is None:
        place = sheet.max_column
        sheet.cell(1, place + 1).value = layout.list_columns("en")[5].header
    letter = layout.name_column(place + 1)
    sheet.column_dimensions[letter].hidden = False
    sheet.column_dimensions[letter].width = 24
    for row in range(layout.FIRST_ROW, sheet.max_row + 1):
        sheet.cell(row, place + 1).value = None
    by_row: dict[int, list[RowFault]] = {}
    for fault in reading.faults:
        if fault.row is not None:
            by_row.setdefault(fault.row, []).append(fault)
    for row, faults in by_row.items():
        cell = sheet.cell(row, place + 1)
        cell.value = "\n".join(f"{fault.header}: {render_message(fault, language)}" for fault in faults)
        cell.data_type = "s"
        cell.alignment = Alignment(wrap_text=True, vertical="top")
        cell.font = Font(color="FFC00000", bold=True)
        cell.fill = orange
        size = sheet.row_dimensions[row]
        size.height = max(size.height or 0, compute_height([(cell.value, 24)]))
        for fault in faults:
            if fault.column is not None:
                bad = sheet[f"{fault.column}{row}"]
                bad.fill = red
                bad.comment = Comment(render_message(fault, language), "Proctor")
    if by_row:
        sheet.sheet_view.selection[-1].activeCell = f"{letter}{min(by_row)}"
        sheet.sheet_view.selection[-1].sqref = f"{letter}{min(by_row)}"


def _says_the_same(copy: Path, book: Workbook) -> bool:
    from openpyxl import load_workbook

    try:
        other = load_workbook(copy)[layout.SHEET]
    except Exception:  # openpyxl raises many kinds; a copy that cannot be read is somebody's all the same
        return False
    return _list_values(other.iter_rows(values_only=True)) == _list_values(
        book[layout.SHEET].iter_rows(values_only=True)
    )


def _list_values(rows: Iterable[Sequence[object]]) -> list[tuple[str, ...]]:
    return [tuple("" if value is None else str(value) for value in row) for row in rows]
