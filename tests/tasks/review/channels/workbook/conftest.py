"""A batch of three questions as workbooks, and what a person does to them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from schemas.errors import WorkbookError
from schemas.settings import Settings
from tasks.review.assigning import Annotator, assign_batch
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.reading import read_workbooks
from tasks.review.channels.workbook.writing import export_batch, name_workbook
from tasks.review.recording import RefusedSubmission, SubmissionReceipt
from tests.tasks.review.conftest import LATER, NOW, make_frame, make_question, make_settings, open_annotated
from tests.tasks.review.kit import record_submission
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning

TWO = [Annotator("chen"), Annotator("dai")]
QUESTIONS = [
    make_question(1),
    make_question(2, stem="=1+1 equals ( )."),
    make_question(
        3,
        question_type="true_false",
        stem="@ is a letter.",
        options=[],
        answer=["false"],
        explanation="-1 mark for guessing",
    ),
]


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The workbooks of a batch of three questions for chen and dai: written once, copied."""
    settings = make_settings(tmp_path_factory.mktemp("exported"))
    with open_annotated(settings) as ledger:
        assign_batch(ledger, "b1", make_frame(QUESTIONS), TWO, settings, NOW)
        export_batch(ledger, "b1", settings.home / "out")
    return settings.home / "out"


@pytest.fixture
def folder(exported: Path, ledger: Ledger, settings: Settings, tmp_path: Path) -> Path:
    """Those workbooks, and a ledger that has the batch."""
    assign_batch(ledger, "b1", make_frame(QUESTIONS), TWO, settings, NOW)
    return Path(shutil.copytree(exported, tmp_path / "out"))


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / name_workbook("b1", "chen")


def find_column(sheet: Worksheet, name: str) -> int:
    columns = (*layout.list_columns("en"), *layout.list_columns("zh"))
    headers = {column.header for column in columns if column.name == name}
    return next(cell.column for cell in sheet[1] if cell.value in headers)


def name_place(path: Path, name: str) -> str:
    """How a message names a column: its letter and its header."""
    sheet = load_workbook(path)[layout.SHEET]
    place = find_column(sheet, name)
    return f"column {layout.name_column(place)} ({sheet.cell(1, place).value})"


def expect(path: Path, message: str) -> str:
    """The message with the place of each column that it names, as in `{decision}`."""
    return re.sub(r"\{(\w+)\}", lambda found: name_place(path, found.group(1)), message)


def fill(path: Path, **cells: dict[int, Any]) -> None:
    """Write values into columns by name and row, as a person would."""
    book = load_workbook(path)
    sheet = book[layout.SHEET]
    for name, values in cells.items():
        for row, value in values.items():
            sheet.cell(row, find_column(sheet, name)).value = value
    book.save(path)


def make_text(path: Path, name: str, row: int) -> None:
    """Make text of what openpyxl takes for a formula, as the column's format does elsewhere."""
    book = load_workbook(path)
    sheet = book[layout.SHEET]
    sheet.cell(row, find_column(sheet, name)).data_type = "s"
    book.save(path)


def change(path: Path, edit: Callable[[Workbook], None]) -> None:
    book = load_workbook(path)
    edit(book)
    book.save(path)


def import_workbook(ledger: Ledger, path: Path, now: str) -> SubmissionReceipt:
    """Read a file and record it as the desk does, whole or not at all."""
    (read,) = read_workbooks(ledger, [path], all_or_nothing=True)
    if isinstance(read, RefusedSubmission):
        raise WorkbookError(read.message)
    return record_submission(ledger, read, now)


def count_decisions(ledger: Ledger) -> int:
    with ledger.read() as connection:
        return len(assigning.read_decisions(connection, "b1"))


def refuse(ledger: Ledger, path: Path) -> str:
    """Import a file that must be refused; nothing of it may land."""
    before = count_decisions(ledger)
    with pytest.raises(WorkbookError) as refusal:
        import_workbook(ledger, path, LATER)
    assert count_decisions(ledger) == before
    return str(refusal.value)
