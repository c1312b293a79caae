"""Correcting by hand how a paper is divided.

A person marks lines. The same readers then read the archived original again, in a child process, with these marks as
evidence: the same marks give the same questions. A correction that is kept is a row; later papers of its source try it too.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schemas.documents import DOCUMENT_TEXTS, DOCUMENTS, LAYOUTS
from schemas.errors import ConflictError, DocumentError, UsageError
from schemas.questions import PICTURES, QUESTIONS
from schemas.settings import Settings
from tasks.ingest.archiving import archive_document
from tasks.ingest.documents import IngestOptions, ParsedDocument, Source, make_options, parse_sources
from tasks.ingest.intake import name_source
from tasks.ingest.layout.corrections import parse_correction, write_correction
from tasks.ingest.learning import read_fit_in_use
from tasks.ingest.originals import find_archived
from tasks.ingest.removal import HELD, read_released, release_document
from warehouse.lake import Batch, Lake


@dataclass(frozen=True)
class PaperAsRead:
    """A paper, the lines of its text, and the questions that were read in it.

    `lines` are (offset, text); `pages` the offsets at which its pages begin; `marks` the JSON of the last correction.
    """

    document: dict[str, Any]
    text: str
    lines: Sequence[tuple[int, str]]
    pages: Sequence[int]
    questions: Sequence[dict[str, Any]]
    marks: str
    is_released: bool

    @property
    def state(self) -> str:
        """How it stands; another reading, a correction or its release makes another state."""
        stands = f"{self.document['ingested_at']} {self.is_released} {self.marks}"
        return hashlib.sha256(stands.encode()).hexdigest()


def add_known(lake: Lake, options: IngestOptions) -> IngestOptions:
    """The options with what this home knows: the fit in use, and how people divided papers."""
    corrections: dict[str, str] = {}
    layouts: dict[str, list[str]] = {}
    for row in lake.read("layouts_in_use").to_dicts():
        corrections[row["document_id"]] = row["marked_lines"]
        layouts.setdefault(row["source"], []).append(row["marked_lines"])
    return replace(options, confidence_fit=read_fit_in_use(lake), corrections=corrections, layouts=layouts)


def list_held(lake: Lake) -> list[dict[str, Any]]:
    """The papers that are held, and those in whose text no question was found; oldest first."""
    return lake.read("papers_to_correct").to_dicts()


def open_paper(lake: Lake, document_id: str) -> PaperAsRead | None:
    """A paper as it was read; None where there is no such one, or nothing was read of it."""
    rows = lake.read("document_as_read", {"document_id": document_id}).to_dicts()
    if not rows:
        return None
    row = rows[0]
    text, pages = str(row.pop("text")), tuple(row.pop("page_offsets") or ())
    row.pop("line_boxes")
    questions = lake.read("questions_beside_decisions", {"document_id": document_id}).to_dicts()
    kept = lake.read("corrections_of_document", {"document_id": document_id})["marked_lines"].to_list()
    return PaperAsRead(
        row,
        text,
        list_lines(text),
        pages,
        questions,
        kept[-1] if kept else "[]",
        bool(read_released(lake, [document_id])),
    )


def list_lines(text: str) -> list[tuple[int, str]]:
    """The lines of a text that hold anything, with the offset at which each begins."""
    lines: list[tuple[int, str]] = []
    place = 0
    for line in text.split("\n"):
        if line.strip():
            lines.append((place, line))
        place += len(line) + 1
    return lines


def read_again(lake: Lake, settings: Settings, paper: PaperAsRead, marks: str) -> ParsedDocument:
    """Read the archived original of a paper with a person's marks; nothing is landed.

    Raises:
        UsageError: the marks are none.
        DocumentError: the original was deleted, or cannot be read any more.
    """
    correction = parse_correction(marks)
    document = paper.document
    own = write_correction(correction, paper.text)
    options = add_known(lake, make_options(source_kind=document["source_kind"], settings=settings))
    options = replace(
        options,
        corrections={str(document["document_id"]): own} if correction.lines else {},
        layouts={} if correction.lines else options.layouts,
    )
    with TemporaryDirectory(prefix="proctor-again-") as name:
        path = lay_out_original(lake, settings, document, Path(name))
        (parsed,) = parse_sources([Source(path, path)], options, 1)
    if parsed.text is None:
        raise DocumentError(str(parsed.document["status"]), str(parsed.document["error"]))
    same = {
        name: document[name]
        for name in ("document_name", "source_path", "discipline", "sub_discipline", "source_kind")
    }
    return replace(
        parsed,
        document=parsed.document | same,
        questions=[
            row
            | {"document_name": same["document_name"], "source_kind": same["source_kind"]}
            | {name: row[name] or same[name] for name in ("discipline", "sub_discipline")}
            for row in parsed.questions
        ],
    )


def lay_out_original(lake: Lake, settings: Settings, document: dict[str, Any], folder: Path) -> Path:
    """The archived original under its own name in a folder, files without questions beside it.

    Raises:
        DocumentError: the original was deleted.
    """
    archived = find_archived(settings.archive_dir, str(document["sha256"]))
    if archived is None:
        raise DocumentError("deleted", "The original was deleted from the archive: it cannot be read again.")
    path = folder / Path(str(document["document_name"])).name
    shutil.copyfile(archived, path)
    source = name_source(document["source_path"])
    rows = lake.read("key_files_of_source", {"folder": source}).to_dicts() if source else []
    for row in rows:
        found = find_archived(settings.archive_dir, row["sha256"])
        beside = folder / Path(str(row["document_name"])).name
        if found is not None and not beside.exists():
            shutil.copyfile(found, beside)
    return path


def keep_correction(
    lake: Lake,
    settings: Settings,
    paper: PaperAsRead,
    marks: str,
    person: str,
    *,
    release: bool = False,
    seen: str | None = None,
) -> ParsedDocument:
    """Land a paper as a person's marks divide it; with `release` whatever contracts say.

    `seen` is the state that the person has before them; null for that of `paper`. The same marks again replace nothing, whatever was
    seen: whose answer was lost sends them twice.

    Raises:
        UsageError: the marks are none, or no question is found with them.
        DocumentError: the original was deleted, or cannot be read any more.
        ConflictError: the paper was changed since, before it was read again or meanwhile; nothing is kept.
    """
    own = write_correction(parse_correction(marks), paper.text)
    _check_unchanged(paper, own, paper.state if seen is None else seen)
    parsed = read_again(lake, settings, paper, marks)
    if not parsed.questions:
        raise UsageError("With these marks no question is found. Mark more lines.")
    document_id = str(paper.document["document_id"])
    # Reading took seconds, in which somebody else may have kept theirs.
    _check_unchanged(open_paper(lake, document_id), own, paper.state)
    now = datetime.now(UTC)
    archive_document(settings.archive_dir, parsed)
    batches = [
        Batch("documents", document_id, DOCUMENTS.frame([parsed.document | {"ingested_at": now}])),
        Batch("document_texts", document_id, DOCUMENT_TEXTS.frame([parsed.text or {}])),
        Batch("questions", document_id, QUESTIONS.frame(parsed.questions)),
        Batch("pictures", document_id, PICTURES.frame(parsed.pictures)),
    ]
    kept = lake.read("corrections_of_document", {"document_id": document_id})["marked_lines"].to_list()
    if not kept or kept[-1] != own:
        row = {
            "document_id": document_id,
            "source": name_source(paper.document["source_path"]),
            "marked_lines": own,
            "corrected_by": person,
            "corrected_at": now,
        }
        unit = f"{document_id}/{len(kept) + 1}" if kept else document_id
        batches.append(Batch("layouts", unit, LAYOUTS.frame([row])))
    lake.land_together(batches, stage="ingest")
    if release and parsed.document["status"] == HELD:
        release_document(lake, document_id, "Corrected and looked at on the web desk.", person)
    return parsed


def _check_unchanged(paper: PaperAsRead | None, own: str, seen: str) -> None:
    if paper is None or (paper.state != seen and paper.marks != own):
        raise ConflictError(
            "The paper was corrected, released or read again since it was shown. Open it again."
        )
