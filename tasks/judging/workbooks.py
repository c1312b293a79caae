"""The form of every workbook in which a person marks responses.

It has a page that explains, a sheet of rows, and two columns to fill in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import UsageError, WorkbookError
from tasks.judging.judge import PutResponse
from tasks.judging.prompts import render_reference
from tasks.questions.forms import render_question
from tasks.review.channels import open_workbook

_SHEET = "answers"
_GIVEN = ("key", "question", "reference", "response")
_WIDTHS = (18, 50, 50, 70, 24, 50)
_CELL_LIMIT = 32_767
_PERSON = "proctor-person:"
_CUT_MARK = " […]"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@dataclass(frozen=True)
class Form:
    """One kind of workbook.

    Attributes:
        command: the command that writes it, for errors.
        introduction: lines of the first page.
        mark: header of the column with the mark, the fifth.
        marks: what may stand there; also offered as a list.
        note: header of the column beside it, free text.
    """

    command: str
    introduction: Sequence[str]
    mark: str
    marks: Sequence[str]
    note: str

    @property
    def headers(self) -> tuple[str, ...]:
        """All headers in order."""
        return (*_GIVEN, self.mark, self.note)


@dataclass(frozen=True)
class MarkedRow:
    """A row as it was filled in; an empty mark means left empty.

    `place` names file, sheet and row.
    """

    key: str
    mark: str
    note: str
    place: str


def compute_key(*parts: object) -> str:
    """The key of a response in a workbook: it does not tell whose response it is."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def check_workbook_path(path: Path) -> None:
    """Raise UsageError unless a workbook can be written there."""
    if path.suffix != ".xlsx" or not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: name a file .xlsx in a folder that exists.")


def write_workbook(
    path: Path, form: Form, rows: dict[str, tuple[PutResponse, str, str]], *, person: str = ""
) -> None:
    """Write a workbook of key → (response, mark and note to begin with).

    It is blind: the rows are in the order of the keys, which tells nothing.

    It names no candidate. A text beyond what a cell holds is cut, and marked. A workbook that is one person's names them among
    its properties, which spreadsheet programs keep.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.datavalidation import DataValidation

    workbook = Workbook()
    introduction = workbook.create_sheet("how to")
    for line in form.introduction:
        introduction.append([line])
    sheet = workbook.create_sheet(_SHEET)
    sheet.append(form.headers)
    for number, (key, (put, mark, note)) in enumerate(sorted(rows.items(), key=lambda row: row[0]), start=2):
        texts = (
            key,
            render_question(put.question.bare),
            render_reference(put.question),
            put.response,
            mark,
            note,
        )
        for column, text in enumerate(texts, start=1):
            cell = sheet.cell(number, column)
            cell.value = _fit_cell(text)
            cell.data_type = "s"  # a response that begins with "=" is a text, not a formula
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for index, width in enumerate(_WIDTHS):
        sheet.column_dimensions[chr(ord("A") + index)].width = width
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "B2"
    check = DataValidation(type="list", formula1=f'"{",".join(form.marks)}"', allow_blank=True)
    sheet.add_data_validation(check)
    check.add(f"E2:E{max(2, len(rows) + 1)}")
    del workbook["Sheet"]
    workbook.active = 1
    workbook.properties.keywords = f"{_PERSON}{person}" if person else None
    draft = path.with_name(path.name + ".draft")
    workbook.save(draft)
    draft.replace(path)


def read_workbook(path: Path, form: Form, *, person: str = "") -> list[MarkedRow]:
    """The rows of a filled-in workbook, marks as they stand there (`2.0` is `2`).

    Raises WorkbookError for a damaged or foreign file, one that was written for somebody else than `person`, a key that stands there twice, or a mark that is none of the form's.
    """
    workbook = open_workbook(path)
    named = str(workbook.properties.keywords or "").partition(_PERSON)[2]
    if person and named and named != person:
        raise WorkbookError(
            f"{path.name} was exported for {named}: nothing was imported. Import it with --user {named}, or export one for "
            f"{person}."
        )
    if _SHEET not in workbook.sheetnames:
        raise WorkbookError(
            f"{path.name} has no sheet {_SHEET!r}: it is not a workbook of `{form.command}`. Export it again."
        )
    lines = list(workbook[_SHEET].iter_rows(values_only=True))
    header = tuple(str(cell or "").strip() for cell in lines[0]) if lines else ()
    if header[: len(form.headers)] != form.headers:
        raise WorkbookError(
            f"{path.name}, sheet {_SHEET!r}, row 1: the headers are not {', '.join(form.headers)}. Put them back."
        )
    rows: dict[str, MarkedRow] = {}
    for number, cells in enumerate(lines[1:], start=2):
        if all(cell is None or not str(cell).strip() for cell in cells):
            continue
        row = _parse_row(cells, f"{path.name}, sheet {_SHEET!r}, row {number}", form)
        if row.key in rows:
            raise WorkbookError(
                f"{row.place}: its key stands in an earlier row already. Remove one of the two rows."
            )
        rows[row.key] = row
    return list(rows.values())


def _parse_row(cells: Sequence[Any], place: str, form: Form) -> MarkedRow:
    texts = ["" if cell is None else str(cell).strip() for cell in cells] + [""] * len(form.headers)
    mark, note = texts[len(_GIVEN)].removesuffix(".0"), texts[len(_GIVEN) + 1]
    if mark and mark not in form.marks:
        wanted = f"{', '.join(form.marks[:-1])} or {form.marks[-1]}"
        verb, them = ("are", "them") if form.mark.endswith("stars") else ("is", "it")
        raise WorkbookError(
            f"{place}, column E: the {form.mark} {verb} not {wanted}. Correct {them}, or leave the cell empty."
        )
    return MarkedRow(texts[0], mark, note, place)


def _fit_cell(text: str) -> str:
    clean = _FORBIDDEN.sub("\ufffd", text)
    return clean if len(clean) <= _CELL_LIMIT else clean[: _CELL_LIMIT - len(_CUT_MARK)] + _CUT_MARK
