"""Whose workbook a file is: the hidden sheet, and whether it still is what was handed out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schemas.errors import WorkbookError
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.cells import render_shown_cells
from tasks.review.item import Item

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """A question of a workbook: its revision, and a hash of what its row shows."""

    question_uuid: str
    revision: int
    digest: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What the hidden sheet says: batch, annotator, role, and every question with its revision and digest."""

    batch_id: str
    annotator: str
    role: str
    questions: Sequence[ListedQuestion] = field(repr=False)

    def compute_checksum(self) -> str:
        """A hash over the whole identity: an altered hidden sheet does not match its own."""
        questions = [(one.question_uuid, one.revision, one.digest) for one in self.questions]
        text = json.dumps(
            [layout.FORMAT_VERSION, self.batch_id, self.annotator, self.role, questions], ensure_ascii=False
        )
        return hashlib.sha256(text.encode()).hexdigest()


def identify_workbook(batch_id: str, annotator: str, role: str, items: Mapping[str, Item]) -> Identity:
    """The identity of a workbook with these questions."""
    questions = [
        ListedQuestion(uuid, item.revision, compute_digest(batch_id, item))
        for uuid, item in sorted(items.items())
    ]
    return Identity(batch_id, annotator, role, questions)


def compute_digest(batch_id: str, item: Item) -> str:
    """A hash of what the row shows, without its number and without others' decisions, which may come later."""
    text = json.dumps([batch_id, render_shown_cells(0, item)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def read_identity(book: Workbook, file_name: str) -> Identity:
    """Who and what the workbook says it is; raises WorkbookError when the hidden sheet is missing or altered."""
    if layout.HIDDEN_SHEET not in book.sheetnames or layout.SHEET not in book.sheetnames:
        raise WorkbookError(
            f"{file_name}: this is not a review workbook of Proctor (its sheets are "
            f"{', '.join(repr(name) for name in book.sheetnames[:10])}). Import the file that `proctor review export` wrote."
        )
    sheet = book[layout.HIDDEN_SHEET]
    head = [sheet.cell(row, 1).value for row in range(1, layout.HIDDEN_FIRST_ROW)]
    damaged = WorkbookError(
        f"{file_name}: sheet {layout.HIDDEN_SHEET!r} was altered, so it is not certain what the rows belong to. "
        "Export the workbook again and copy the decisions into it. Nothing was imported."
    )
    if head[0] != layout.FORMAT_NAME or not all(isinstance(part, str) for part in head):
        raise damaged
    if head[1] != str(layout.FORMAT_VERSION):
        raise WorkbookError(
            f"{file_name}: it was written by another version of Proctor (format {head[1]!s:.10}, this one reads "
            f"{layout.FORMAT_VERSION}). Export it again."
        )
    questions: list[ListedQuestion] = []
    for uuid, revision, digest in sheet.iter_rows(
        min_row=layout.HIDDEN_FIRST_ROW, max_col=3, values_only=True
    ):
        if uuid is None and revision is None:
            continue
        if not (isinstance(uuid, str) and isinstance(revision, int | float) and isinstance(digest, str)):
            raise damaged
        questions.append(ListedQuestion(uuid, int(revision), digest))
    batch_id, annotator, role, checksum = (str(part) for part in head[2:6])
    identity = Identity(batch_id, annotator, role, questions)
    if checksum != identity.compute_checksum():
        raise damaged
    return identity


def check_origin(identity: Identity, items: Mapping[str, Item], file_name: str) -> None:
    """Pass when the workbook's questions are those that this ledger gave to its annotator; raises WorkbookError."""
    if not items:
        raise WorkbookError(
            f"{file_name}: it belongs to review batch {identity.batch_id!r} of {identity.annotator} ({identity.role}), "
            "and this ledger has no such work. Import it where it was exported."
        )
    foreign = [
        one.question_uuid
        for one in identity.questions
        if (item := items.get(one.question_uuid)) is None
        or item.revision != one.revision
        or compute_digest(identity.batch_id, item) != one.digest
    ]
    if foreign:
        raise WorkbookError(
            f"{file_name}: {len(foreign)} of its {len(identity.questions)} questions (first {foreign[0]}) are not what "
            f"batch {identity.batch_id!r} of this ledger gave to {identity.annotator}. Export it again; nothing was imported."
        )
