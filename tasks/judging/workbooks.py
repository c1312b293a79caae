"""The workbook in which a person marks responses: an explanation, rows, two columns to fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import UsageError, WorkbookError
from tasks.judging.judge import PutResponse
from tasks.judging.prompts import render_reference
from tasks.questions.forms import render_question
from tasks.review.marking import MarkSheet, open_workbook, read_sheet, write_sheets

_SHEET = "answers"
_GIVEN = ("key", "question", "reference", "response")
_WIDTHS = (18, 50, 50, 70, 24, 50)
_PERSON = "proctor-person:"


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
    def sheet(self) -> MarkSheet:
        """Its sheet of rows."""
        headers = (*_GIVEN, self.mark, self.note)
        return MarkSheet(_SHEET, self.command, headers, _WIDTHS, len(_GIVEN), tuple(self.marks))


@dataclass(frozen=True)
class MarkedRow:
    """A row as filled in, empty mark: left empty; `place` names file, sheet and row."""

    key: str
    mark: str
    note: str
    place: str


def check_workbook_path(path: Path) -> None:
    """Raise UsageError unless a workbook can be written there."""
    if path.suffix != ".xlsx" or not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: name a file .xlsx in a folder that exists.")


def write_workbook(
    path: Path, form: Form, rows: dict[str, tuple[PutResponse, str, str]], *, person: str = ""
) -> None:
    """Write a blind workbook of key → (response, mark and note to begin with), by key."""
    lines = [
        (key, render_question(put.question.bare), render_reference(put.question), put.response, mark, note)
        for key, (put, mark, note) in sorted(rows.items(), key=lambda row: row[0])
    ]
    keywords = f"{_PERSON}{person}" if person else None
    write_sheets(path, form.introduction, {form.sheet: lines}, keywords=keywords)


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
    return [_parse_row(cells, place, form) for place, cells in read_sheet(workbook, path.name, form.sheet)]


def _parse_row(texts: Sequence[str], place: str, form: Form) -> MarkedRow:
    mark, note = texts[len(_GIVEN)].removesuffix(".0"), texts[len(_GIVEN) + 1]
    if mark and mark not in form.marks:
        wanted = f"{', '.join(form.marks[:-1])} or {form.marks[-1]}"
        verb, them = ("are", "them") if form.mark.endswith("stars") else ("is", "it")
        raise WorkbookError(
            f"{place}, column E: the {form.mark} {verb} not {wanted}. Correct {them}, or leave the cell empty."
        )
    return MarkedRow(texts[0], mark, note, place)
