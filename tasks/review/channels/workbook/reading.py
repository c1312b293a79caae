"""Reading filled-in review workbooks: the good rows of each become a submission to the desk.

A file of another batch, of somebody else, or with altered rows is refused whole. Rows that were filled in wrongly are
reported, each with sheet, row, column and value, and come back marked in a copy beside the file. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import ProctorError
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.card import compute_height
from tasks.review.channels.workbook.identity import (
    Identity,
    check_origin,
    note_read,
    read_identity,
)
from tasks.review.channels.workbook.parsing import SheetReading, parse_sheet, render_faults, render_message
from tasks.review.desk import read_work
from tasks.review.marking import open_workbook
from tasks.review.recording import RefusedSubmission, RowFault, Submission, name_unit
from tasks.review.words import Language
from warehouse.ledger.engine.ledger import Ledger
from warehouse.stores.whole_files import SHARED, writing_workbook

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

# Enough to correct a file by; a workbook of another format would otherwise fill the screen.
MOST_REPORTED = 100
MARK = ".to-correct"
# More than this many copies of one file are a mistake, not corrections.
_MOST_COPIES = 99


@dataclass(frozen=True)
class _File:
    """An opened workbook: whose it is, and what its sheet says."""

    path: Path
    book: Workbook
    identity: Identity
    reading: SheetReading

    def make_submission(self) -> Submission:
        """The decisions of the good rows."""
        decisions = self.reading.decisions
        return Submission(
            source=str(self.path),
            batch_id=self.identity.batch_id,
            annotator=self.identity.annotator,
            role=self.identity.role,
            channel="workbook",
            decisions=decisions,
            blank_count=len(self.identity.questions) - len(decisions),
            guideline_version=self.identity.guideline_version,
            old=self.reading.old,
        )

    def refuse(self, message: str) -> RefusedSubmission:
        """What of it cannot be recorded."""
        one = self.identity
        unit = name_unit(one.batch_id, one.annotator, one.role)
        return RefusedSubmission(str(self.path), message, tuple(self.reading.faults), unit)


def read_workbooks(
    ledger: Ledger, paths: Iterable[Path], *, all_or_nothing: bool = False
) -> list[Submission | RefusedSubmission]:
    """Every file as a submission of its good rows, and a refusal that names its bad ones.

    What was saved later counts after what was saved before. A corrected copy counts after the file that it is a copy of, and in its
    place for what was wrong. With `all_or_nothing` a file with a bad row is refused whole, and no copy is written.
    """
    ordered = sorted(paths, key=is_marked_copy)
    corrected = {(path.parent, name_original(path)) for path in ordered if is_marked_copy(path)}
    found: list[tuple[bool, datetime, Sequence[Submission | RefusedSubmission]]] = []
    for path in ordered:
        saved_at, read = datetime.min, list[Submission | RefusedSubmission]()
        is_corrected = not is_marked_copy(path) and (path.parent, name_original(path)) in corrected
        try:
            file = _open(ledger, path)
            saved_at = file.book.properties.modified or saved_at
            if all_or_nothing:
                is_good = not file.reading.faults
                read.append(file.make_submission() if is_good else file.refuse(_render_refusal(file)))
            else:
                read += _read_partly(file, is_corrected=is_corrected)
        except ProctorError as error:
            read.append(RefusedSubmission(str(path), str(error)))
        found.append((is_marked_copy(path), saved_at, read))
    return [one for _, _, some in sorted(found, key=lambda each: each[:2]) for one in some]


def _read_partly(file: _File, *, is_corrected: bool) -> Sequence[Submission | RefusedSubmission]:
    path, faults = file.path, file.reading.faults
    if not faults:
        return [file.make_submission()]
    if file.reading.is_whole:
        return [file.refuse(_render_refusal(file))]
    if is_corrected:
        return [file.make_submission()]
    # A row that is gone cannot be marked.
    can_be_marked = any(fault.row is not None for fault in faults)
    copy = write_marked_copy(file.book, path, file.reading, file.identity) if can_be_marked else None
    return [file.make_submission(), file.refuse(_render_return(file, copy))]


def _open(ledger: Ledger, path: Path) -> _File:
    book = open_workbook(path, keeps_rich_text=True)
    identity = read_identity(book, path.name)
    work = read_work(ledger, identity.batch_id, identity.annotator, identity.role)
    check_origin(identity, {uuid: one.item for uuid, one in work.items()}, path.name)
    return _File(path, book, identity, parse_sheet(book, identity, work))


def _render_refusal(file: _File) -> str:
    count, language = len(file.reading.faults), file.identity.language
    head = (
        f"{file.path.name}：没有导入任何内容。请更正下列 {count} 处后重新导入。"
        if language == "zh"
        else f"{file.path.name}: nothing was imported. Correct what is listed ({count}) and import the file again."
    )
    return f"{head}\n{render_faults(file.reading.faults, MOST_REPORTED, language)}"


def _render_return(file: _File, copy: Path | None) -> str:
    faults, is_zh = file.reading.faults, file.identity.language == "zh"
    good, bad = len(file.reading.decisions), len({fault.row for fault in faults if fault.row is not None})
    head = f"{file.path.name}：已读取 {good} 行。" if is_zh else f"{file.path.name}: {good} rows were good."
    if copy is not None:
        head = (
            f"{head[:-1]}，{bad} 行需要更正，已在 {copy.name} 中标出。请更正后导入该文件。"
            if is_zh
            else f"{head[:-1]}, {bad} must be corrected and are marked in {copy.name}. Correct them there and import that file."
        )
    if lost := sum(fault.row is None for fault in faults):
        head += (
            f"缺少 {lost} 行：请恢复，或重新导出。"
            if is_zh
            else f" {lost} are missing: restore them, or export the workbook again."
        )
    language = file.identity.language
    return f"{head}\n{render_faults(faults, MOST_REPORTED, language)}"


def name_original(path: Path) -> str:
    """The stem of the file's name without the mark of a copy that was to be corrected."""
    return path.stem.partition(MARK)[0]


def is_marked_copy(path: Path) -> bool:
    """Whether the file's name is that of a copy that was to be corrected."""
    return MARK in path.stem


def write_marked_copy(book: Workbook, path: Path, reading: SheetReading, identity: Identity) -> Path:
    """Write the workbook beside `path` with its faults marked; returns where.

    A copy that is there already may hold somebody's work, so it is never overwritten: one that says the same is left
    as it is, otherwise the name gets a number. Its good rows were read: in the copy they are nothing new.
    """
    _mark(book, reading, identity.language)
    note_read(book, identity, reading.said)
    for number in range(1, _MOST_COPIES + 1):
        suffix = MARK if number == 1 else f"{MARK}-{number}"
        copy = path.with_name(f"{name_original(path)}{suffix}.xlsx")
        if copy == path:
            continue
        if not copy.exists():
            break
        if _says_the_same(copy, book):
            return copy
    with writing_workbook(copy, SHARED) as file:
        book.save(file)
    return copy


def _mark(book: Workbook, reading: SheetReading, language: Language) -> None:
    from openpyxl.comments import Comment
    from openpyxl.styles import Alignment, Font, PatternFill

    sheet = book[layout.SHEET]
    red, orange = PatternFill("solid", fgColor="FFFFC7CE"), PatternFill("solid", fgColor="FFFFEB9C")
    place = reading.columns["faults"]
    letter = layout.name_column(place + 1)
    sheet.column_dimensions[letter].hidden = False
    sheet.column_dimensions[letter].width = 24
    for (row, column), cell in sheet._cells.items():
        if row >= layout.FIRST_ROW and column == place + 1:
            cell.value = None
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
    return _read_values(other) == _read_values(book[layout.SHEET])


def _read_values(sheet: Worksheet) -> dict[tuple[int, int], str]:
    return {place: str(cell.value) for place, cell in sheet._cells.items() if cell.value not in (None, "")}
