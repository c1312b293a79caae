"""Writing review workbooks: one .xlsx per annotator of a batch (`reading` reads them back).

The workbook knows what it is: a hidden sheet holds batch, annotator, role, questions and a checksum. Text is written
as text: a stem that begins with `=` is never a formula. Identity columns are locked, what is chosen has a list.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.errors import UsageError
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.review.batch import list_open_batches, read_batch
from tasks.review.channels.workbook import cells, layout
from tasks.review.channels.workbook.identity import Identity, identify_workbook
from tasks.review.work import WorkItem, list_people, read_work
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet


def export_open_batches(ledger: Ledger, folder: Path) -> list[Path]:
    """Write the workbooks of every batch that still takes decisions into `folder`; returns their paths."""
    return [
        path for batch in list_open_batches(ledger) for path in export_batch(ledger, batch.batch_id, folder)
    ]


def export_batch(ledger: Ledger, batch_id: str, folder: Path) -> list[Path]:
    """Write one workbook per annotator and role of the batch into `folder`; returns their paths.

    A workbook holds the decisions given so far, so that exporting again loses nothing.
    Raises UsageError for an unknown batch.
    """
    with ledger.read() as connection:
        read_batch(connection, batch_id)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for annotator, role in list_people(ledger, batch_id):
        path = folder / name_workbook(batch_id, annotator, role)
        export_workbook(ledger, batch_id, annotator, path, role=role)
        paths.append(path)
    return paths


def name_workbook(batch_id: str, annotator: str, role: str = "reviewer") -> str:
    """File name of a workbook: safe on every system, different for different annotators."""
    safe = re.sub(r"[^\w.-]+", "_", annotator).strip("._") or "annotator"
    if safe != annotator:
        safe += "-" + hashlib.sha256(annotator.encode()).hexdigest()[:6]
    return f"review-{batch_id}-{safe}{'-adjudication' if role == 'adjudicator' else ''}.xlsx"


def export_workbook(
    ledger: Ledger, batch_id: str, annotator: str, path: Path, *, role: str = "reviewer"
) -> None:
    """Write the workbook of one annotator; raises UsageError when nothing is assigned to them in that role."""
    work = read_work(ledger, batch_id, annotator, role)
    if not work:
        raise UsageError(
            f"Nothing in review batch {batch_id!r} is assigned to {annotator} as {role}. "
            "See `proctor review status` for who reviews what."
        )
    workbook = _build_workbook(batch_id, annotator, role, work)
    partial = path.with_name(path.name + ".part")
    workbook.save(partial)
    partial.replace(path)


def _build_workbook(
    batch_id: str,
    annotator: str,
    role: str,
    work: Mapping[str, WorkItem],
) -> Workbook:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill, Protection

    columns = layout.list_columns(role)
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = layout.SHEET
    header_fill, input_fill = (
        PatternFill("solid", fgColor="FFDDE6F0"),
        PatternFill("solid", fgColor="FFFFF6DD"),
    )
    shown_fill = PatternFill("solid", fgColor="FFF2F2F2")
    wrap = Alignment(wrap_text=True, vertical="top")
    unlocked, locked = Protection(locked=False), Protection(locked=True)
    for place, column in enumerate(columns, start=1):
        cell = sheet.cell(1, place)
        _write_text(cell, column.header)
        cell.font, cell.alignment = Font(bold=True), wrap
        cell.fill = input_fill if column.is_input else header_fill
        sheet.column_dimensions[layout.name_column(place)].width = column.width
    for row_number, one in enumerate(sorted(work.values(), key=_reading_order), start=1):
        values = _render_row(row_number, one)
        for place, column in enumerate(columns, start=1):
            cell = sheet.cell(row_number + 1, place)
            value = values.get(column.name)
            if isinstance(value, str) and value:
                _write_text(cell, value)
            elif isinstance(value, int):
                cell.value = value
            cell.alignment = wrap
            cell.protection = unlocked if column.is_input else locked
            if not column.is_input:
                cell.fill = shown_fill
    _finish_sheet(sheet, columns, len(work))
    _add_lists(book)
    _add_instructions(book, batch_id, annotator)
    items = {question_uuid: one.item for question_uuid, one in work.items()}
    _add_hidden_sheet(book, identify_workbook(batch_id, annotator, role, items))
    return book


def _reading_order(one: WorkItem) -> tuple[str, str, int, str]:
    """Questions of one paper stay together and in its order."""
    item, source = one.item, one.item.source
    return (
        item.content.discipline or "",
        (source.document_name if source else None) or "",
        (source.position if source else None) or 0,
        item.question_uuid,
    )


def _render_row(row_number: int, one: WorkItem) -> dict[str, str | int]:
    """The cells of a question by column name: what is shown, and what was filled in before."""
    given = one.own.given if one.own else None
    return (
        cells.render_shown_cells(row_number, one.item)
        | {"decisions_so_far": cells.render_earlier_decisions(one.earlier)}
        | cells.render_input_cells(given, one.item.content.question_type)
    )


def _write_text(cell: Any, text: str) -> None:
    """Text, whatever it begins with; the quote prefix keeps it text when the cell is edited."""
    cell.value = text
    cell.data_type = "s"
    if text[:1] in "=+-@\t\r":
        cell.quotePrefix = True


def _finish_sheet(sheet: Worksheet, columns: Sequence[layout.SheetColumn], row_count: int) -> None:
    from openpyxl.worksheet.datavalidation import DataValidation

    names = [column.name for column in columns]
    last = row_count + 1
    sheet.freeze_panes = "C2"
    sheet.auto_filter.ref = f"A1:{layout.name_column(len(columns))}{last}"
    sheet.protection.sheet = True
    sheet.protection.formatColumns = False
    sheet.protection.formatRows = False
    sheet.protection.autoFilter = False
    sheet.protection.sort = False
    for name, letter, count in (
        ("decision", "A", len(layout.DECISION_WORDS)),
        ("reject_reason", "B", len(layout.REASON_WORDS)),
        ("new_question_type", "C", len(QUESTION_TYPES)),
        ("new_discipline", "D", len(DISCIPLINES)),
    ):
        validation = DataValidation(
            type="list",
            formula1=f"'{layout.LISTS_SHEET}'!${letter}$1:${letter}${count}",
            allow_blank=True,
            showErrorMessage=True,
            errorTitle="Proctor",
            error="Choose one of the list. 请从下拉列表中选择。",
        )
        column = layout.name_column(names.index(name) + 1)
        validation.add(f"{column}{layout.FIRST_ROW}:{column}{last}")
        sheet.add_data_validation(validation)


def _add_lists(book: Workbook) -> None:
    sheet = book.create_sheet(layout.LISTS_SHEET)
    sheet.sheet_state = "veryHidden"
    lists = (
        tuple(layout.DECISION_WORDS.values()),
        tuple(layout.REASON_WORDS.values()),
        QUESTION_TYPES,
        DISCIPLINES,
    )
    for place, words in enumerate(lists, start=1):
        for row, word in enumerate(words, start=1):
            _write_text(sheet.cell(row, place), word)


def _add_instructions(book: Workbook, batch_id: str, annotator: str) -> None:
    from openpyxl.styles import Alignment

    sheet = book.create_sheet(layout.INSTRUCTIONS_SHEET)
    sheet.column_dimensions["A"].width = 120
    lines = (f"Review batch 审核批次: {batch_id} · Annotator 审核人: {annotator}", "", *layout.INSTRUCTIONS)
    for row, line in enumerate(lines, start=1):
        _write_text(sheet.cell(row, 1), line)
        sheet.cell(row, 1).alignment = Alignment(wrap_text=True, vertical="top")
    sheet.protection.sheet = True


def _add_hidden_sheet(book: Workbook, identity: Identity) -> None:
    sheet = book.create_sheet(layout.HIDDEN_SHEET)
    sheet.sheet_state = "veryHidden"
    sheet.protection.sheet = True
    head = (
        layout.FORMAT_NAME,
        str(layout.FORMAT_VERSION),
        identity.batch_id,
        identity.annotator,
        identity.role,
        identity.compute_checksum(),
    )
    for row, text in enumerate(head, start=1):
        _write_text(sheet.cell(row, 1), text)
    for row, listed in enumerate(identity.questions, start=layout.HIDDEN_FIRST_ROW):
        _write_text(sheet.cell(row, 1), listed.question_uuid)
        sheet.cell(row, 2).value = listed.revision
        _write_text(sheet.cell(row, 3), listed.digest)
