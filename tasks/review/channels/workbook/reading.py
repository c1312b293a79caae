"""Reading filled-in review workbooks: the good rows of each become a submission to the desk.

A file of another batch, of somebody else, or with altered rows is refused whole. Rows that were filled in wrongly are
reported, each with sheet, row, column and value, and come back marked in a copy beside the file. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import ProctorError
from tasks.review.channels.workbook.identity import Identity, check_origin, read_identity
from tasks.review.channels.workbook.parsing import SheetReading, parse_sheet, render_faults
from tasks.review.channels.workbook.returning import is_marked_copy, name_original, write_marked_copy
from tasks.review.desk import read_work
from tasks.review.marking import open_workbook
from tasks.review.recording import RefusedSubmission, Submission, name_unit
from warehouse.ledger.engine.ledger import Ledger

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook

# Enough to correct a file by; a workbook of another format would otherwise fill the screen.
MOST_REPORTED = 100


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

    Args:
        ledger: the ledger that knows what was handed out.
        paths: the files; a corrected copy counts after the file that it is a copy of, and in its place for what was wrong.
        all_or_nothing: refuse a file with a bad row whole, and write no copy.
    """
    ordered = sorted(paths, key=is_marked_copy)
    corrected = {(path.parent, name_original(path)) for path in ordered if is_marked_copy(path)}
    found: list[Submission | RefusedSubmission] = []
    for path in ordered:
        is_corrected = not is_marked_copy(path) and (path.parent, name_original(path)) in corrected
        try:
            if all_or_nothing:
                file = _open(ledger, path)
                is_good = not file.reading.faults
                found.append(file.make_submission() if is_good else file.refuse(_render_refusal(file)))
            else:
                found += _read_partly(ledger, path, is_corrected=is_corrected)
        except ProctorError as error:
            found.append(RefusedSubmission(str(path), str(error)))
    return found


def _read_partly(
    ledger: Ledger, path: Path, *, is_corrected: bool
) -> Sequence[Submission | RefusedSubmission]:
    file = _open(ledger, path)
    faults = file.reading.faults
    if not faults:
        return [file.make_submission()]
    if file.reading.is_whole:
        return [file.refuse(_render_refusal(file))]
    if is_corrected:
        return [file.make_submission()]
    copy = write_marked_copy(file.book, path, file.reading, file.identity.language)
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


def _render_return(file: _File, copy: Path) -> str:
    faults, language = file.reading.faults, file.identity.language
    good, bad = len(file.reading.decisions), len({fault.row for fault in faults})
    head = (
        f"{file.path.name}：已读取 {good} 行，{bad} 行需要更正，已在 {copy.name} 中标出。请更正后导入该文件。"
        if language == "zh"
        else f"{file.path.name}: {good} rows were good, {bad} must be corrected and are marked in {copy.name}. "
        "Correct them there and import that file."
    )
    return f"{head}\n{render_faults(faults, MOST_REPORTED, language)}"
