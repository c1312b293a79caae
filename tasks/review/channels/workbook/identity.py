"""Whose workbook a file is: the hidden sheet, and whether it still is what was handed out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from schemas.errors import WorkbookError
from tasks.review.channels.workbook import layout
from tasks.review.decisions import GivenDecision, Item
from tasks.review.words import LANGUAGES, Language

if TYPE_CHECKING:
    from openpyxl.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet


@dataclass(frozen=True, slots=True)
class WorkbookQuestion:
    """A question of a workbook.

    Attributes:
        question_uuid: the question.
        revision: its revision.
        digest: a hash of what was handed out: its content and source.
        shown: a hash of its card as written.
        given: a hash of the decision that the row held when it was written; empty without one.
    """

    question_uuid: str
    revision: int
    digest: str
    shown: str = ""
    given: str = ""


@dataclass(frozen=True, slots=True)
class Identity:
    """What the hidden sheet holds; `guideline_version` is what it shows, or null."""

    batch_id: str
    annotator: str
    role: str
    questions: Sequence[WorkbookQuestion] = field(repr=False)
    language: Language = "en"
    guideline_version: int | None = None

    def compute_checksum(self) -> str:
        """A hash over the whole identity: an altered hidden sheet does not match its own."""
        listed = [
            (one.question_uuid, one.revision, one.digest, one.shown, one.given) for one in self.questions
        ]
        head: list[object] = [layout.FORMAT_VERSION, self.batch_id, self.annotator, self.role, self.language]
        head += [] if self.guideline_version is None else [self.guideline_version]
        return hashlib.sha256(json.dumps([*head, listed], ensure_ascii=False).encode()).hexdigest()

    def list_rows(self) -> list[tuple[str | int, ...]]:
        """The hidden sheet, row by row."""
        head = (
            layout.FORMAT_NAME,
            str(layout.FORMAT_VERSION),
            self.batch_id,
            self.annotator,
            self.role,
            self.compute_checksum(),
        )
        shown = (
            (self.language,) if self.guideline_version is None else (self.language, self.guideline_version)
        )
        return [
            *((text,) for text in head),
            shown,
            *((one.question_uuid, one.revision, one.digest, one.shown, one.given) for one in self.questions),
        ]


def note_read(book: Workbook, identity: Identity, said: Mapping[str, str]) -> None:
    """Let a workbook say nothing new by rows that were read; `said`: their hashes."""
    read = replace(
        identity,
        questions=[replace(one, given=said.get(one.question_uuid, one.given)) for one in identity.questions],
    )
    sheet = book[layout.HIDDEN_SHEET]
    sheet.delete_rows(1, sheet.max_row)
    for row in read.list_rows():
        sheet.append(row)


def compute_digest(batch_id: str, item: Item) -> str:
    """A hash of a question as handed out: what it is, not how it is rendered."""
    return _hash([batch_id, item.as_row(batch_id)["content"]])


def compute_shown_digest(parts: Iterable[str]) -> str:
    """A hash of a card, without spaces and line ends, which spreadsheet programs change."""
    return _hash([squeeze("".join(parts))])


def compute_given_digest(given: GivenDecision | None) -> str:
    """A hash of a decision; empty without one."""
    if given is None:
        return ""
    edit = given.edit.as_row() if given.edit else None
    return _hash([given.decision, given.reject_reason, given.comment, edit])


def squeeze(value: object) -> str:
    """A cell's text without spaces and the escapes by which a file holds control characters."""
    text = "" if value is None else str(value)
    return "".join(re.sub(r"_x005[Ff]_(?=x)", "_", text).replace("_x000D_", "").split())


def read_identity(book: Workbook, file_name: str) -> Identity:
    """Whose the workbook is; WorkbookError where its hidden sheet is missing or altered."""
    if layout.HIDDEN_SHEET not in book.sheetnames or layout.SHEET not in book.sheetnames:
        raise WorkbookError(
            f"{file_name}: this is not a review workbook of Proctor (its sheets are "
            f"{', '.join(repr(name) for name in book.sheetnames[:10])}). Import the file that `proctor review export` wrote."
        )
    sheet = book[layout.HIDDEN_SHEET]
    damaged = WorkbookError(
        f"{file_name}: sheet {layout.HIDDEN_SHEET!r} was altered, so it is not certain what the rows belong to. "
        "Export the workbook again and copy the decisions into it. Nothing was imported."
    )
    head = [sheet.cell(row, 1).value for row in range(1, 8)]
    if head[0] != layout.FORMAT_NAME or not all(isinstance(part, str) for part in head[:6]):
        raise damaged
    if head[1] != str(layout.FORMAT_VERSION):
        raise WorkbookError(
            f"{file_name}: it was written by another version of Proctor (format {head[1]!s:.10}, this one reads "
            f"{layout.FORMAT_VERSION}). Export it again and copy the decisions into it. Nothing was imported."
        )
    batch_id, annotator, role, checksum = (str(part) for part in head[2:6])
    if head[6] not in LANGUAGES:
        raise damaged
    shown = sheet.cell(7, 2).value
    identity = Identity(
        batch_id,
        annotator,
        role,
        _read_questions(sheet, damaged),
        cast("Language", head[6]),
        int(shown) if isinstance(shown, int | float) else None,
    )
    if checksum != identity.compute_checksum():
        raise damaged
    return identity


def _read_questions(sheet: Worksheet, damaged: WorkbookError) -> list[WorkbookQuestion]:
    questions: list[WorkbookQuestion] = []
    for uuid, revision, *digests in sheet.iter_rows(min_row=8, max_col=5, values_only=True):
        if uuid is None and revision is None:
            continue
        texts = ["" if digest is None else digest for digest in digests]
        # A spreadsheet program takes an empty text for an empty cell: no decision was there.
        if not (
            isinstance(uuid, str)
            and isinstance(revision, int | float)
            and all(isinstance(text, str) for text in texts)
        ):
            raise damaged
        questions.append(WorkbookQuestion(uuid, int(revision), *map(str, texts)))
    return questions


def check_origin(identity: Identity, items: Mapping[str, Item], file_name: str) -> None:
    """Raises WorkbookError where a question is not as this ledger gave it to the annotator.

    One that was taken back since is none: its row is looked at when the sheet is read.
    """
    if not items:
        raise WorkbookError(
            f"{file_name}: it belongs to review batch {identity.batch_id!r} of {identity.annotator} ({identity.role}), "
            "and this ledger has no such work. Import it where it was exported."
        )
    known = [one for one in identity.questions if one.question_uuid in items]
    foreign = [
        one.question_uuid
        for one in known or identity.questions
        if (item := items.get(one.question_uuid)) is None
        or item.revision != one.revision
        or compute_digest(identity.batch_id, item) != one.digest
    ]
    if foreign:
        raise WorkbookError(
            f"{file_name}: {len(foreign)} of its {len(identity.questions)} questions (first {foreign[0]}) are not what "
            f"batch {identity.batch_id!r} of this ledger gave to {identity.annotator}. Export it again; nothing was imported."
        )


def _hash(content: object) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
