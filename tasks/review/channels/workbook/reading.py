"""Reading filled-in review workbooks: each becomes a submission to the desk, or is refused whole.

A file of another batch, of somebody else, or with a changed question is refused; all faults are reported at once, each
with sheet, row and column. Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.errors import ProctorError, WorkbookError
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.cells import render_shown_cells
from tasks.review.channels.workbook.identity import Identity, check_origin, read_identity
from tasks.review.channels.workbook.opening import open_workbook
from tasks.review.channels.workbook.rows import parse_row
from tasks.review.decision import GivenDecision
from tasks.review.desk import Refusal, Submission
from tasks.review.faults import Fault
from tasks.review.item import Item
from tasks.review.work import read_work
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

    from tasks.review.channels.workbook.rows import Row

# Enough to correct a file by; a workbook of another format would otherwise fill the screen.
MOST_REPORTED = 100


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the columns of a sheet stand."""

    columns: Mapping[str, layout.SheetColumn]
    positions: Mapping[str, int]

    def describe(self, row_number: int, fault: Fault) -> str:
        """The fault of a cell with sheet, row and column."""
        letter = layout.name_column(self.positions[fault.field] + 1)
        header = self.columns[fault.field].header
        return f"sheet {layout.SHEET!r}, row {row_number}, column {letter} ({header}): {fault.message}"


def read_workbooks(ledger: Ledger, paths: Iterable[Path]) -> list[Submission | Refusal]:
    """Every file as a submission, or as a refusal that names its faults."""
    found: list[Submission | Refusal] = []
    for path in paths:
        try:
            found.append(read_workbook(ledger, path))
        except ProctorError as error:
            found.append(Refusal(str(path), str(error)))
    return found


def read_workbook(ledger: Ledger, path: Path, *, annotator: str | None = None) -> Submission:
    """The decisions of a filled-in workbook; a row without a decision says nothing.

    Args:
        ledger: the ledger that knows what was handed out.
        path: the file.
        annotator: whose file it must be (a logged-in user); null takes the file's word.

    Raises:
        WorkbookError: the file is damaged, foreign, someone else's, or filled in wrongly; every fault with its place.
    """
    book = open_workbook(path)
    identity = read_identity(book, path.name)
    if annotator is not None and identity.annotator != annotator:
        raise WorkbookError(
            f"{path.name}: this is the workbook of {identity.annotator}, not of {annotator}. Nothing was imported."
        )
    work = read_work(ledger, identity.batch_id, identity.annotator, identity.role)
    items = {uuid: one.item for uuid, one in work.items()}
    check_origin(identity, items, path.name)
    wanted = {one.question_uuid: items[one.question_uuid] for one in identity.questions}
    decisions, faults = _parse_sheet(book, identity, wanted)
    if faults:
        raise WorkbookError(_render_faults(path, faults))
    return Submission(
        source=str(path),
        batch_id=identity.batch_id,
        annotator=identity.annotator,
        role=identity.role,
        channel="workbook",
        decisions=decisions,
        blank_count=len(wanted) - len(decisions),
    )


def _parse_sheet(
    book: Workbook, identity: Identity, items: Mapping[str, Item]
) -> tuple[list[GivenDecision], list[str]]:
    """The decisions of the sheet, and every fault found, each with its place."""
    sheet = book[layout.SHEET]
    columns = {column.name: column for column in layout.list_columns(identity.role)}
    described = [
        f"sheet {layout.SHEET!r}, cells {merged.coord}: they are merged; unmerge them, one row per question"
        for merged in sheet.merged_cells.ranges
    ]
    positions, header_faults = _find_columns(sheet, tuple(columns.values()))
    described += header_faults
    if header_faults:
        return [], described

    places = _Places(columns, positions)
    decisions: list[GivenDecision] = []
    seen: dict[str, int] = {}
    for row_number, row in enumerate(sheet.iter_rows(min_row=layout.FIRST_ROW), start=layout.FIRST_ROW):
        if all(cell.value is None for cell in row):
            continue
        values = {name: row[positions[name]] for name in columns}
        question_uuid = str(values["question_uuid"].value or "").strip()
        faults = _check_question_id(question_uuid, items, seen)
        if not faults:
            seen[question_uuid] = row_number
            given, faults = parse_row(values, items[question_uuid])
            faults = _check_shown_cells(values, items[question_uuid]) + faults
            if given is not None:
                decisions.append(given)
        described += [places.describe(row_number, fault) for fault in faults]
    described += [
        f"sheet {layout.SHEET!r}: the row of question {uuid} is missing; restore it, or export the workbook again"
        for uuid in sorted(set(items) - set(seen))
    ]
    return decisions, described


def _find_columns(
    sheet: Worksheet, columns: Sequence[layout.SheetColumn]
) -> tuple[dict[str, int], list[str]]:
    """Place of each column by its header; a moved column is found, a missing, doubled or added one is a fault."""
    by_header = {column.header: column.name for column in columns}
    places: dict[str, int] = {}
    faults = []
    for place, cell in enumerate(next(sheet.iter_rows(min_row=1, max_row=1), ())):
        if cell.value is None:
            continue
        name = by_header.get(str(cell.value).strip())
        where = f"sheet {layout.SHEET!r}, row 1, column {layout.name_column(place + 1)}"
        if name is None:
            faults.append(f"{where}: this column is not one of the workbook's; move its text into COMMENT")
        elif name in places:
            faults.append(f"{where}: the column {cell.value} is there twice")
        else:
            places[name] = place
    faults += [
        f"sheet {layout.SHEET!r}, row 1: the column {column.header!r} is missing; restore it, or export again"
        for column in columns
        if column.name not in places
    ]
    return places, faults


def _check_question_id(question_uuid: str, items: Mapping[str, Item], seen: Mapping[str, int]) -> list[Fault]:
    """The row belongs to a question of the workbook that no row above has."""
    if question_uuid not in items:
        message = "this question is not one of the workbook's; the ID was changed or a row was added"
        return [Fault("question_uuid", message)]
    if question_uuid in seen:
        message = f"the same question stands in row {seen[question_uuid]}; keep one of the rows"
        return [Fault("question_uuid", message)]
    return []


def _check_shown_cells(values: Row, item: Item) -> list[Fault]:
    """Nobody changed the question itself: a correction there would be lost."""
    return [
        Fault(name, "this cell was changed; restore it, and write a correction into the matching New… column")
        for name, text in render_shown_cells(0, item).items()
        if name not in ("row_number", "question_uuid") and _squeeze(values[name].value) != _squeeze(text)
    ]


def _squeeze(value: object) -> str:
    text = "" if value is None else str(value)
    return "".join(text.replace("_x000D_", "").split())


def _render_faults(path: Path, faults: Sequence[str]) -> str:
    shown = "\n".join(f"- {fault}" for fault in faults[:MOST_REPORTED])
    more = f"\n- and {len(faults) - MOST_REPORTED} more" if len(faults) > MOST_REPORTED else ""
    return (
        f"{path.name}: nothing was imported. Correct what is listed ({len(faults)}) and import the file again.\n"
        f"{shown}{more}"
    )
