"""Land parsed documents: originals first, then rows, in chunks, so that a kill at any moment loses nothing."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from schemas.documents import DOCUMENT_TEXTS, DOCUMENTS
from schemas.questions import QUESTIONS
from schemas.settings import Settings
from tasks.ingest.documents import (
    IngestOptions,
    ParsedDocument,
    list_documents,
    parse_documents,
    render_document_json,
)
from tasks.progress import Progress
from warehouse.lake.store import Batch, Lake

# A landing costs about as much as parsing a paper; a chunk keeps it below a tenth, and a kill repeats only a chunk.
DOCUMENTS_PER_LANDING = 100
QUESTIONS_PER_LANDING = 5_000
# Outcomes that another program or another moment may change: read again on the next run.
TRANSIENT = ("needs_libreoffice", "needs_ocr", "timeout", "crashed")


@dataclass
class IngestSummary:
    """What an ingest did: counts, and which documents have problems (names, never content)."""

    documents: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    problems: list[dict[str, str]] = field(default_factory=list)
    skipped: int = 0
    quarantined: int = 0

    def as_counts(self) -> dict[str, object]:
        """Plain values for Prefect and for `--json`."""
        return {
            "documents": dict(self.documents),
            "questions": dict(self.questions),
            "question_count": sum(self.questions.values()),
            "skipped_documents": self.skipped,
            "quarantined_rows": self.quarantined,
            "problems": self.problems,
        }


def land_documents(
    lake: Lake, settings: Settings, paths: Sequence[Path], *, again: bool = False
) -> IngestSummary:
    """Parse and land every document under `paths` that is not landed yet.

    The same bytes are ingested once, whatever their name. Raises UsageError for a path that does not exist.
    """
    files = list_documents(paths)
    summary = IngestSummary()
    known = set() if again else _read_known(lake)
    options = IngestOptions()
    with Progress("ingest: documents", len(files)) as progress:
        new = _skip_known(files, known, summary, progress)
        chunk: list[ParsedDocument] = []
        size = 0
        for parsed in parse_documents(new, options, settings.workers):
            chunk.append(parsed)
            size += len(parsed.questions)
            if len(chunk) >= DOCUMENTS_PER_LANDING or size >= QUESTIONS_PER_LANDING:
                _land_chunk(lake, settings, chunk, summary, progress)
                chunk, size = [], 0
        if chunk:
            _land_chunk(lake, settings, chunk, summary, progress)
    return summary


def archive_document(archive: Path, parsed: ParsedDocument) -> None:
    """Keep the original by its content hash, with its TXT and JSON beside it; written once, atomically."""
    sha256 = str(parsed.document["sha256"])
    folder = archive / sha256[:2]
    folder.mkdir(parents=True, exist_ok=True)
    original = folder / f"{sha256}{parsed.path.suffix.lower()}"
    if not original.exists():
        _write_atomically(original, parsed.path.read_bytes())
    if parsed.text is not None:
        _write_atomically(folder / f"{sha256}.txt", str(parsed.text["text"]).encode())
    _write_atomically(folder / f"{sha256}.json", render_document_json(parsed).encode())


def _read_known(lake: Lake) -> set[str]:
    """SHA-256 of the documents that need not be read again."""
    rows = lake.query(
        "select sha256 from documents where not list_contains($transient, status)",
        {"transient": list(TRANSIENT)},
    )
    return set(rows["sha256"].to_list())


def _skip_known(
    files: Sequence[Path], known: set[str], summary: IngestSummary, progress: Progress
) -> Iterator[Path]:
    """Only the files whose bytes are neither landed nor met earlier in this run."""
    met = set(known)
    for path in files:
        sha256 = _hash_file(path)
        if sha256 in met:
            summary.skipped += 1
            progress.advance()
            continue
        met.add(sha256)
        yield path


def _hash_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return f"unreadable:{path}"


def _land_chunk(
    lake: Lake,
    settings: Settings,
    chunk: Sequence[ParsedDocument],
    summary: IngestSummary,
    progress: Progress,
) -> None:
    now = datetime.now(UTC)
    batches = []
    for parsed in chunk:
        archive_document(settings.archive_dir, parsed)
        unit = str(parsed.document["document_id"])
        batches.append(Batch("documents", unit, DOCUMENTS.frame([parsed.document | {"ingested_at": now}])))
        texts = [] if parsed.text is None else [parsed.text]
        batches.append(Batch("document_texts", unit, DOCUMENT_TEXTS.frame(texts)))
        batches.append(Batch("questions", unit, QUESTIONS.frame(parsed.questions)))
    landings = lake.land_together(batches, stage="ingest")
    summary.quarantined += sum(landing.rejected_count for landing in landings)
    for parsed in chunk:
        status = str(parsed.document["status"])
        summary.documents[status] += 1
        summary.questions.update(str(question["question_type"]) for question in parsed.questions)
        if status != "parsed":
            summary.problems.append(
                {
                    "document": str(parsed.document["document_name"]),
                    "status": status,
                    "error": str(parsed.document["error"] or ""),
                }
            )
    progress.advance(len(chunk))


def _write_atomically(path: Path, data: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(data)
    draft.replace(path)
