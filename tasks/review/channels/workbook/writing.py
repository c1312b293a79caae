"""Writing review workbooks: one .xlsx per annotator of a batch (`reading` reads them back).

Each question is a card next to the cells of its decision; a card longer than a row can be continues in the rows below.
The workbook knows what it is: a hidden sheet holds batch, annotator, role, questions and a checksum. Text is written
as text: a stem that begins with `=` is never a formula. Only the cells to fill in can be changed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from schemas.counting import say_count
from schemas.errors import UsageError
from schemas.ledger.review import GuidelineVersion
from tasks.review.batch import list_open_batches, read_batch
from tasks.review.channels.pictures import write_picture_sheet
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.card import CardParagraph, compute_height, render_card, split_card
from tasks.review.channels.workbook.cells import render_input_cells
from tasks.review.channels.workbook.guide import write_formulas, write_guide
from tasks.review.channels.workbook.identity import (
    Identity,
    WorkbookQuestion,
    compute_digest,
    compute_given_digest,
    compute_shown_digest,
    read_identity,
)
from tasks.review.channels.workbook.parsing import parse_sheet
from tasks.review.channels.workbook.rows import parse_texts
from tasks.review.channels.workbook.sheet import Formats, add_lists, set_up_page, write_text
from tasks.review.desk import WorkItem, list_people, read_work
from tasks.review.marking import begins_formula, open_workbook
from tasks.review.words import Language
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import guidelines
from warehouse.stores.whole_files import SHARED, writing_workbook


@dataclass(frozen=True)
class _Row:
    """A question ready to be written: the parts of its card, and what its cells to fill in hold."""

    one: WorkItem
    parts: Sequence[Sequence[CardParagraph]]
    inputs: Mapping[str, str]


def export_open_batches(
    ledger: Ledger, folder: Path, *, language: Language | None = None, archive: Path | None = None
) -> list[Path]:
    """Write the workbooks of every batch that takes decisions, pictures from `archive`; paths."""
    return [
        path
        for batch in list_open_batches(ledger)
        for path in export_batch(ledger, batch.batch_id, folder, language=language, archive=archive)
    ]


def export_batch(
    ledger: Ledger,
    batch_id: str,
    folder: Path,
    *,
    language: Language | None = None,
    archive: Path | None = None,
) -> list[Path]:
    """Write one workbook per annotator and role of the batch into `folder`; returns their paths.

    It holds the decisions given so far: exporting again loses nothing. Raises UsageError for an unknown batch.
    """
    with ledger.read() as connection:
        read_batch(connection, batch_id)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for annotator, role in list_people(ledger, batch_id):
        path = folder / name_workbook(batch_id, annotator, role)
        export_workbook(ledger, batch_id, annotator, path, role=role, language=language, archive=archive)
        paths.append(path)
    return paths


def name_workbook(batch_id: str, annotator: str, role: str = "reviewer") -> str:
    """File name of a workbook: safe on every system, different for different annotators."""
    safe = re.sub(r"[^\w.-]+", "_", annotator).strip("._") or "annotator"
    if safe != annotator:
        safe += "-" + hashlib.sha256(annotator.encode()).hexdigest()[:6]
    return f"review-{batch_id}-{safe}{'-adjudication' if role == 'adjudicator' else ''}.xlsx"


def export_workbook(
    ledger: Ledger,
    batch_id: str,
    annotator: str,
    path: Path,
    *,
    role: str = "reviewer",
    language: Language | None = None,
    archive: Path | None = None,
) -> None:
    """Write the workbook of one annotator, in their language.

    The default is the language of most of the questions. Raises UsageError when nothing is assigned to them
    in that role, and where the workbook of that name holds decisions that were not imported.
    """
    work = read_work(ledger, batch_id, annotator, role)
    if not work:
        raise UsageError(
            f"Nothing in review batch {batch_id!r} is assigned to {annotator} as {role}. "
            "See `proctor review status` for who reviews what."
        )
    chosen = language or layout.choose_language(one.item for one in work.values())
    with ledger.read() as connection:
        versions = guidelines.read_versions(connection)
    if path.exists():
        _check_imported(path, work)
    with writing_workbook(path, SHARED) as file:
        _write_workbook(file, (batch_id, annotator, role), chosen, work, versions, archive)


def _check_imported(path: Path, work: Mapping[str, WorkItem]) -> None:
    """Raises UsageError where the workbook there holds decisions that nobody imported."""
    book = open_workbook(path, keeps_rich_text=True)
    reading = parse_sheet(book, read_identity(book, path.name), work)
    known = {uuid: one.own.given for uuid, one in work.items() if one.own is not None}
    # A row with a fault was filled in, too; one of a question that was taken back is of no use to anybody.
    faulty = {
        fault.row for fault in reading.faults if fault.question_uuid is None or fault.question_uuid in work
    }
    if count := sum(known.get(one.question_uuid) != one for one in reading.decisions) + len(faulty):
        raise UsageError(
            f"{path} holds {say_count(count, 'decision that was', 'decisions that were')} not imported, and would be written over. Import them first: "
            f"proctor review import {path.parent} (rows that it refuses are marked in a copy). Or move it away."
        )


def _write_workbook(
    file: BytesIO,
    whose: tuple[str, str, str],
    language: Language,
    work: Mapping[str, WorkItem],
    versions: Sequence[GuidelineVersion],
    archive: Path | None,
) -> None:
    from xlsxwriter import Workbook

    batch_id, annotator, role = whose
    columns = layout.list_columns(language)
    book = Workbook(file, {"strings_to_formulas": False, "strings_to_urls": False})
    sheet = book.add_worksheet(layout.SHEET)
    formats = Formats(book)
    rows = [_prepare_row(one, language) for one in sorted(work.values(), key=lambda one: one.place)]
    for place, column in enumerate(columns):
        sheet.set_column(place, place, column.width, None, {"hidden": True} if column.is_hidden else {})
        write_text(
            sheet, 0, place, column.header, formats.header_input if column.is_input else formats.header
        )
    sheet.set_row(0, 33)
    at = layout.FIRST_ROW - 1
    for number, row in enumerate(rows, start=1):
        at = _write_question(sheet, formats, columns, at, number, row)
    set_up_page(sheet, columns, at, language)
    write_guide(book, formats, language, batch_id, annotator, versions)
    write_formulas(book, formats, language, [row.one.item for row in rows])
    add_lists(book, language)
    if archive is not None:
        write_picture_sheet(book, [row.one.item for row in rows], archive, language)
    identity = Identity(
        batch_id,
        annotator,
        role,
        _list_questions(batch_id, rows),
        language,
        versions[-1].version if versions else None,
    )
    hidden = book.add_worksheet(layout.HIDDEN_SHEET)
    hidden.very_hidden()
    hidden.protect()
    for place, values in enumerate(identity.list_rows()):
        for column_place, value in enumerate(values):
            write_text(hidden, place, column_place, value, None)
    book.close()


def _prepare_row(one: WorkItem, language: Language) -> _Row:
    question_type = one.item.content.question_type
    inputs = render_input_cells(one.own.given if one.own else None, question_type, language)
    # What would come back as another decision (too long, emptied) is not shown: an empty row keeps what was decided.
    is_unshown = False
    if one.own is not None:
        is_unshown = parse_texts(inputs, one.item)[0] != one.own.given
    card = render_card(one, language, is_kept_unshown=is_unshown)
    width = next(column.width for column in layout.list_columns(language) if column.name == "card")
    return _Row(one, split_card(card, width), {} if is_unshown else inputs)


def _list_questions(batch_id: str, rows: Sequence[_Row]) -> list[WorkbookQuestion]:
    return sorted(
        (
            WorkbookQuestion(
                row.one.item.question_uuid,
                row.one.item.revision,
                compute_digest(batch_id, row.one.item),
                compute_shown_digest(render_part(part) for part in row.parts),
                compute_given_digest(row.one.own.given if row.one.own and row.inputs else None),
            )
            for row in rows
        ),
        key=lambda listed: listed.question_uuid,
    )


def render_part(part: Sequence[CardParagraph]) -> str:
    """A part of a card as its cell holds it."""
    return "\n".join(paragraph.whole for paragraph in part)


def _write_question(
    sheet: Any, formats: Formats, columns: Sequence[layout.SheetColumn], at: int, number: int, row: _Row
) -> int:
    """Write a question's rows from row `at` on (from 0); returns the row after them."""
    places = {column.name: place for place, column in enumerate(columns)}
    for part_number, part in enumerate(row.parts, start=1):
        is_first = part_number == 1
        text = render_part(part)
        inputs = row.inputs if is_first else {}
        beside = [(inputs[column.name], column.width) for column in columns if inputs.get(column.name)]
        sheet.set_row(at, compute_height([(text, columns[places["card"]].width), *beside]))
        number_format = formats.number if is_first else formats.continued
        sheet.write_number(
            at, places["row_number"], number + (0 if is_first else part_number / 1000), number_format
        )
        _write_card(sheet, at, places["card"], part, formats, is_first=is_first)
        for column in columns:
            if column.is_input:
                value = inputs.get(column.name, "")
                cell = formats.input if is_first else formats.card_continued
                cell = formats.input_quoted if begins_formula(value) else cell
                write_text(sheet, at, places[column.name], value, cell)
        write_text(sheet, at, places["faults"], "", formats.fault)
        write_text(sheet, at, places["question_uuid"], row.one.item.question_uuid, formats.shown)
        sheet.write_number(at, places["revision"], row.one.item.revision, formats.shown)
        sheet.write_number(at, places["part"], part_number, formats.shown)
        at += 1
    return at


def _write_card(
    sheet: Any, at: int, place: int, part: Sequence[CardParagraph], formats: Formats, *, is_first: bool
) -> None:
    """The paragraphs one under another, headings bold, doubts in colour."""
    pieces: list[Any] = []
    for number, paragraph in enumerate(part):
        line_end = "\n" if number < len(part) - 1 else ""
        if paragraph.heading:
            pieces += [formats.doubt if paragraph.section == "doubts" else formats.heading, paragraph.heading]
        text = paragraph.text + line_end
        if text:
            pieces += [formats.head if paragraph.section == "head" else formats.plain, text]
    cell = formats.card if is_first else formats.card_continued
    if len(pieces) < 4:
        write_text(sheet, at, place, render_part(part), cell)
    else:
        sheet.write_rich_string(at, place, *pieces, cell)
