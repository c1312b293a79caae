"""Workbooks of layout 1 as they were written until it changed.

They may still be with annotators, so they must be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl.workbook import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from schemas.reviews import REJECT_REASONS
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES
from tasks.review.channels.workbook import earlier, layout
from tasks.review.channels.workbook.identity import Identity, WorkbookQuestion
from tasks.review.channels.workbook.writing import name_workbook
from tasks.review.decisions import Item
from tasks.review.desk import WorkItem, list_people, read_work
from warehouse.ledger.engine.ledger import Ledger

DECISION_WORDS = {"accept": "accept 通过", "edit": "edit 修改后通过", "reject": "reject 退回"}
REASON_WORDS = dict(
    zip(
        REJECT_REASONS,
        (
            "factual_error 事实错误",
            "irrelevant_answer 答非所问",
            "unclear 表述不清",
            "duplicate 重复",
            "misclassified 分类错误",
            "formatting 格式问题",
            "other 其他",
        ),
        strict=True,
    )
)


def export_earlier_batch(ledger: Ledger, batch_id: str, folder: Path) -> None:
    """One workbook per annotator, in layout 1, without decisions."""
    folder.mkdir(parents=True, exist_ok=True)
    for annotator, role in list_people(ledger, batch_id):
        export_earlier_workbook(
            ledger, batch_id, annotator, folder / name_workbook(batch_id, annotator, role), role=role
        )


def export_earlier_workbook(
    ledger: Ledger, batch_id: str, annotator: str, path: Path, *, role: str = "reviewer"
) -> None:
    _build_workbook(batch_id, annotator, role, read_work(ledger, batch_id, annotator, role)).save(path)


def _find_place(one: WorkItem) -> int:
    source = one.item.source
    assert source is not None and source.position is not None
    return source.position


def _identify(batch_id: str, annotator: str, role: str, items: Mapping[str, Item]) -> Identity:
    questions = [
        WorkbookQuestion(uuid, item.revision, earlier.compute_digest(batch_id, item))
        for uuid, item in sorted(items.items())
    ]
    return Identity(batch_id, annotator, role, questions, layout.EARLIER_VERSION)


def _build_workbook(
    batch_id: str,
    annotator: str,
    role: str,
    work: Mapping[str, WorkItem],
) -> Workbook:
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill, Protection

    columns = earlier.list_columns(role)
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
    for row_number, one in enumerate(sorted(work.values(), key=_find_place), start=1):
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
    items = {question_uuid: one.item for question_uuid, one in work.items()}
    _add_hidden_sheet(book, _identify(batch_id, annotator, role, items))
    return book


def _render_row(row_number: int, one: WorkItem) -> dict[str, str | int]:
    """The cells of a question by column name."""
    return earlier.render_shown_cells(row_number, one.item)


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
        ("decision", "A", len(DECISION_WORDS)),
        ("reject_reason", "B", len(REASON_WORDS)),
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
        tuple(DECISION_WORDS.values()),
        tuple(REASON_WORDS.values()),
        QUESTION_TYPES,
        DISCIPLINES,
    )
    for place, words in enumerate(lists, start=1):
        for row, word in enumerate(words, start=1):
            _write_text(sheet.cell(row, place), word)


def _add_hidden_sheet(book: Workbook, identity: Identity) -> None:
    sheet = book.create_sheet(layout.HIDDEN_SHEET)
    sheet.sheet_state = "veryHidden"
    sheet.protection.sheet = True
    head = (
        layout.FORMAT_NAME,
        str(layout.EARLIER_VERSION),
        identity.batch_id,
        identity.annotator,
        identity.role,
        identity.compute_checksum(),
    )
    for row, text in enumerate(head, start=1):
        _write_text(sheet.cell(row, 1), text)
    for row, listed in enumerate(identity.questions, start=7):
        _write_text(sheet.cell(row, 1), listed.question_uuid)
        sheet.cell(row, 2).value = listed.revision
        _write_text(sheet.cell(row, 3), listed.digest)
