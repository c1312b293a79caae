"""Reading a filled-in review workbook: all of its decisions are recorded, or none.

A file of another batch, of somebody else, or with a changed question is refused whole; all faults are reported at
once, each with sheet, row and column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.errors import DocumentError, WorkbookError
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.identity import Identity, compute_checksum, compute_digest, read_work
from tasks.review.channels.workbook.writing import FIRST_ROW, HIDDEN_FIRST_ROW, name_column
from tasks.review.decisions import GivenDecision, find_faults, record_decisions
from warehouse.ledger.engine import Ledger

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

MOST_FILE_BYTES = 64 * 1024 * 1024
# Enough to correct a file by; a workbook of another format would otherwise fill the screen.
MOST_REPORTED = 100


@dataclass(frozen=True)
class ImportSummary:
    """What an imported workbook held and changed. `blank_count` rows had no decision: what was given before stays."""

    batch_id: str
    annotator: str
    role: str
    new_count: int
    changed_count: int
    unchanged_count: int
    blank_count: int
    is_complete: bool


def import_workbook(ledger: Ledger, path: Path, now: str, *, annotator: str | None = None) -> ImportSummary:
    """Record the decisions of a filled-in workbook: all of them, or none.

    The same file again changes nothing; a later file of the same annotator replaces the decisions it holds. A row
    without a decision says nothing: what was given for it before stays.

    Args:
        ledger: the ledger.
        path: the file.
        now: the present moment as ISO text in UTC.
        annotator: whose file it must be (a logged-in user); null takes the file's word.

    Raises:
        WorkbookError: the file is damaged, foreign, someone else's, or filled in wrongly; every fault with its place.
        GateError: the batch is closed.
    """
    book = open_workbook(path)
    identity = _parse_identity(book, path)
    if annotator is not None and identity.annotator != annotator:
        raise WorkbookError(
            f"{path.name}: this is the workbook of {identity.annotator}, not of {annotator}. Nothing was imported."
        )
    rows, _ = read_work(ledger, identity.batch_id, identity.annotator, identity.role)
    _check_origin(identity, rows, path)
    wanted = {question_uuid for question_uuid, _, _ in identity.questions}
    given, faults = _parse_rows(book, identity, {uuid: row for uuid, row in rows.items() if uuid in wanted})
    if faults:
        raise WorkbookError(_render_faults(path, faults))
    summary = record_decisions(
        ledger, identity.batch_id, identity.annotator, given, "workbook", now, role=identity.role
    )
    return ImportSummary(
        batch_id=identity.batch_id,
        annotator=identity.annotator,
        role=identity.role,
        new_count=summary.new_count,
        changed_count=summary.changed_count,
        unchanged_count=summary.unchanged_count,
        blank_count=len(wanted) - len(given),
        is_complete=summary.is_complete,
    )


def open_workbook(path: Path) -> Workbook:
    """Open a workbook that came from outside; raises WorkbookError when it is too large, damaged, or no workbook."""
    from openpyxl import load_workbook

    from tasks.ingest.archives import open_package

    try:
        size = path.stat().st_size
    except OSError as error:
        raise WorkbookError(f"{path.name}: the file cannot be read ({type(error).__name__}).") from None
    if size > MOST_FILE_BYTES:
        raise WorkbookError(
            f"{path.name}: {size} bytes; a review workbook has at most {MOST_FILE_BYTES}. It was not opened."
        )
    try:
        with open_package(path.read_bytes()) as package:
            if "xl/workbook.xml" not in package.namelist():
                raise WorkbookError(
                    f"{path.name}: this is no .xlsx workbook. Save it as .xlsx and import it again."
                )
            _check_no_entities(package, path)
    except DocumentError as error:
        raise WorkbookError(f"{path.name}: {error}") from None
    try:
        return load_workbook(path, keep_links=False)
    # openpyxl raises whatever its parsers raise (KeyError, ParseError, TypeError …) on a damaged part.
    except Exception as error:
        raise WorkbookError(
            f"{path.name}: the workbook is damaged ({type(error).__name__}). Ask for it again, or save it anew."
        ) from None


def _check_no_entities(package: Any, path: Path) -> None:
    """Spreadsheet programs never write a document type; it is only good for entity attacks."""
    for name in package.namelist():
        if not name.endswith((".xml", ".rels")):
            continue
        with package.open(name) as part:
            head = part.read(4096)
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise WorkbookError(
                f"{path.name}: its part {name} declares a document type or encoding that no spreadsheet program "
                "writes. It was not opened."
            )


def _parse_identity(book: Workbook, path: Path) -> Identity:
    """Who and what the workbook says it is; raises WorkbookError when the hidden sheet is missing or altered."""
    if layout.HIDDEN_SHEET not in book.sheetnames or layout.SHEET not in book.sheetnames:
        raise WorkbookError(
            f"{path.name}: this is not a review workbook of Proctor (its sheets are "
            f"{', '.join(repr(name) for name in book.sheetnames[:10])}). Import the file that `proctor review export` wrote."
        )
    sheet = book[layout.HIDDEN_SHEET]
    head = [sheet.cell(row, 1).value for row in range(1, HIDDEN_FIRST_ROW)]
    damaged = WorkbookError(
        f"{path.name}: sheet {layout.HIDDEN_SHEET!r} was altered, so it is not certain what the rows belong to. "
        "Export the workbook again and copy the decisions into it. Nothing was imported."
    )
    if head[0] != layout.FORMAT_NAME or not all(isinstance(part, str) for part in head):
        raise damaged
    if head[1] != str(layout.FORMAT_VERSION):
        raise WorkbookError(
            f"{path.name}: it was written by another version of Proctor (format {head[1]!s:.10}, this one reads "
            f"{layout.FORMAT_VERSION}). Export it again."
        )
    questions: list[tuple[str, int, str]] = []
    for row in sheet.iter_rows(min_row=HIDDEN_FIRST_ROW, max_col=3, values_only=True):
        if row[0] is None and row[1] is None:
            continue
        if not (isinstance(row[0], str) and isinstance(row[1], int | float) and isinstance(row[2], str)):
            raise damaged
        questions.append((row[0], int(row[1]), row[2]))
    batch_id, annotator, role, checksum = (str(part) for part in head[2:6])
    if checksum != compute_checksum(batch_id, annotator, role, questions):
        raise damaged
    return Identity(batch_id, annotator, role, checksum, questions)


def _check_origin(identity: Identity, rows: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """The workbook belongs to a batch of this ledger, and its questions to this annotator."""
    if not rows:
        raise WorkbookError(
            f"{path.name}: it belongs to review batch {identity.batch_id!r} of {identity.annotator} ({identity.role}), "
            "and this ledger has no such work. Import it where it was exported."
        )
    foreign = [
        uuid
        for uuid, revision, digest in identity.questions
        if uuid not in rows or rows[uuid]["revision"] != revision or compute_digest(rows[uuid]) != digest
    ]
    if foreign:
        raise WorkbookError(
            f"{path.name}: {len(foreign)} of its {len(identity.questions)} questions (first {foreign[0]}) are not what "
            f"batch {identity.batch_id!r} of this ledger gave to {identity.annotator}. Export it again; nothing was imported."
        )


def _parse_rows(
    book: Workbook, identity: Identity, rows: Mapping[str, Mapping[str, Any]]
) -> tuple[list[GivenDecision], list[str]]:
    """The decisions of the sheet, and every fault found, each with its place."""
    sheet = book[layout.SHEET]
    columns = layout.list_columns(identity.role)
    faults = [
        f"sheet {layout.SHEET!r}, cells {merged.coord}: they are merged; unmerge them, one row per question"
        for merged in sheet.merged_cells.ranges
    ]
    places, header_faults = _find_columns(sheet, columns)
    faults += header_faults
    if header_faults:
        return [], faults

    given: list[GivenDecision] = []
    seen: dict[str, int] = {}
    for row_number, cells in enumerate(sheet.iter_rows(min_row=FIRST_ROW), start=FIRST_ROW):
        if all(cell.value is None for cell in cells):
            continue

        def say(name: str, message: str, row_number: int = row_number) -> None:
            letter = name_column(places[name] + 1)
            header = next(known.header for known in columns if known.name == name)
            faults.append(f"sheet {layout.SHEET!r}, row {row_number}, column {letter} ({header}): {message}")

        values = {column.name: cells[places[column.name]] for column in columns}
        question_uuid = str(values["question_uuid"].value or "").strip()
        if question_uuid not in rows:
            say(
                "question_uuid",
                "this question is not one of the workbook's; the ID was changed or a row was added",
            )
            continue
        if question_uuid in seen:
            say(
                "question_uuid",
                f"the same question stands in row {seen[question_uuid]}; keep one of the rows",
            )
            continue
        seen[question_uuid] = row_number
        _check_shown_cells(values, rows[question_uuid], say)
        one = _parse_row(values, rows[question_uuid], say)
        if one is not None:
            given.append(one)
    faults += [
        f"sheet {layout.SHEET!r}: the row of question {uuid} is missing; restore it, or export the workbook again"
        for uuid in sorted(set(rows) - set(seen))
    ]
    return given, faults


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
        where = f"sheet {layout.SHEET!r}, row 1, column {name_column(place + 1)}"
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


def _check_shown_cells(
    values: Mapping[str, Any], item: Mapping[str, Any], say: Callable[[str, str], None]
) -> None:
    """Nobody changed the question itself: a correction there would be lost."""
    expected = layout.render_shown_cells(0, item)
    for name, text in expected.items():
        if name not in ("row_number", "question_uuid") and _squeeze(values[name].value) != _squeeze(text):
            say(
                name,
                "this cell was changed; restore it, and write a correction into the matching New… column",
            )


def _parse_row(
    values: Mapping[str, Any], item: Mapping[str, Any], say: Callable[[str, str], None]
) -> GivenDecision | None:
    """The decision of one row; null when it has none or is faulty (then `say` was told)."""
    texts: dict[str, str] = {}
    is_sound = True
    for column in layout.INPUT_COLUMNS:
        try:
            texts[column.name] = _read_text(values[column.name])
        except ValueError as error:
            say(column.name, str(error))
            is_sound = False
    if not is_sound:
        return None
    filled = [name for name, text in texts.items() if text]
    if not filled:
        return None
    if not texts["decision"]:
        say("decision", f"the decision is missing, but {', '.join(filled)} is filled in")
        return None
    decision = layout.parse_word(texts["decision"], layout.DECISION_WORDS)
    if decision is None:
        say("decision", "the decision is not one of accept, edit, reject; choose from the list")
        return None
    reason = None
    if texts["reject_reason"]:
        reason = layout.parse_word(texts["reject_reason"], layout.REASON_WORDS)
        if reason is None:
            say(
                "reject_reason",
                f"the reason is not one of {', '.join(layout.REASON_WORDS)}; choose from the list",
            )
            return None
    edited = _parse_edits(texts, item["content"], say)
    if edited is None:
        return None
    one = GivenDecision(item["question_uuid"], decision, reason, texts["comment"] or None, edited or None)
    found = find_faults(item["content"], one)
    for fault in found:
        name = fault.field if fault.field in texts else f"new_{fault.field}"
        say(name if name in texts else "decision", fault.message)
    return None if found else one


def _parse_edits(
    texts: Mapping[str, str], content: Mapping[str, Any], say: Callable[[str, str], None]
) -> dict[str, Any] | None:
    """Corrected fields; null when one cannot be read. The new type decides how a new answer is read."""
    edited: dict[str, Any] = {}
    question_type = str(content["question_type"])
    is_sound = True
    for column in layout.INPUT_COLUMNS:
        if not column.is_edit or not texts[column.name]:
            continue
        name = column.name.removeprefix("new_")
        try:
            edited[name] = layout.parse_edit(name, texts[column.name], question_type)
        except ValueError as error:
            say(column.name, str(error))
            is_sound = False
            continue
        if name == "question_type":
            question_type = edited[name]
    return edited if is_sound else None


def _read_text(cell: Any) -> str:
    """The text of a cell that was filled in; raises ValueError for a formula, an error or a date."""
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        raise ValueError("this is a formula; write the text itself")
    if cell.data_type == "e":
        raise ValueError("this cell holds a spreadsheet error; write the text again")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, str):
        return value.replace("_x000D_", "").replace("\r\n", "\n").strip()
    raise ValueError(
        "the spreadsheet made a date or time of this; format the cell as text and write it again"
    )


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
