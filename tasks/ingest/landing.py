"""Land parsed documents: originals first, then rows.

It is done in chunks, so that a kill at any moment loses nothing. Where several processes ingest the same papers each
document is one process's at a time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from schemas.documents import DOCUMENT_TEXTS, DOCUMENTS
from schemas.errors import DocumentError, StoreError
from schemas.ledger.engine import Job
from schemas.questions import PICTURES, QUESTIONS
from schemas.settings import Settings
from schemas.table import Table
from tasks.ingest.answer_files import find_companion
from tasks.ingest.archiving import archive_document
from tasks.ingest.corrected import add_known
from tasks.ingest.documents import IngestOptions, ParsedDocument, Source, list_sources, parse_sources
from tasks.ingest.intake import close_spool, open_spool, show_name, take_in
from tasks.ingest.mapping import read_mapping
from tasks.ingest.readers.keeping import drop_read
from tasks.ingest.removal import HELD, read_released
from tasks.ingest.words.warnings import NOT_KEPT, NOT_READ
from tasks.running import Progress
from tasks.running.claiming import POLL_S
from warehouse.lake import Batch, Lake, open_lake
from warehouse.ledger.engine.leases.jobs import defer_jobs, end_jobs, take_jobs
from warehouse.ledger.engine.leases.presence import Presence

if TYPE_CHECKING:
    from tasks.ingest.documents import Source
    from tasks.ingest.second_reader import AssistanceSummary, Assistant
    from warehouse.ledger.engine.ledger import Ledger

# A landing costs about as much as parsing a paper; a chunk keeps it below a tenth, and a kill repeats only a chunk.
DOCUMENTS_PER_LANDING = 100
QUESTIONS_PER_LANDING = 5_000
# Outcomes that another program or another moment may change: read again on the next run.
TRANSIENT = ("needs_libreoffice", "needs_ocr", "timeout", "crashed")


@dataclass
class IngestSummary:
    """What an ingest did: counts, and which documents have problems (paths, never content).

    `documents` by status, `questions` by type, `question_statuses` by status, those of held papers apart; `without_discipline` counts documents with
    questions that no annotator can be found for; `held` names the papers that are held whole, and why; `losses` are the warnings that something was perhaps not read; a skipped document was landed before; `assistance` says what a model
    was asked, where one was.
    """

    documents: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    question_statuses: Counter[str] = field(default_factory=Counter)
    without_discipline: int = 0
    problems: list[dict[str, str]] = field(default_factory=list)
    held: list[dict[str, str]] = field(default_factory=list)
    held_questions: int = 0
    losses: list[dict[str, str]] = field(default_factory=list)
    skipped: int = 0
    quarantined: int = 0
    assistance: AssistanceSummary | None = None

    def as_counts(self) -> dict[str, object]:
        """Plain values for Prefect and for `--json`."""
        return {
            "documents": dict(self.documents),
            "questions": dict(self.questions),
            "question_statuses": dict(self.question_statuses),
            "documents_without_discipline": self.without_discipline,
            "question_count": sum(self.questions.values()),
            "skipped_documents": self.skipped,
            "quarantined_rows": self.quarantined,
            "problems": self.problems,
            "held": self.held,
            "held_questions": self.held_questions,
            "losses": self.losses,
            "assistance": self.assistance.as_counts() if self.assistance else None,
        }


# What is to land of a document as it was read, asked right before it lands; None leaves what has landed of it before.
LastLook = Callable[[ParsedDocument, IngestSummary], ParsedDocument | None]


def land_documents(
    lake: Lake,
    settings: Settings,
    paths: Sequence[Path],
    *,
    again: bool = False,
    options: IngestOptions | None = None,
    workers: int | None = None,
    assistant: Assistant | None = None,
    ledger: Ledger | None = None,
) -> IngestSummary:
    """Parse and land every document under `paths` that is not landed yet: see `land_sources`.

    Raises UsageError for a path that does not exist or a map that cannot be used.
    """
    return land_sources(
        lake,
        settings,
        list_sources(paths),
        again=again,
        options=options,
        workers=workers,
        assistant=assistant,
        ledger=ledger,
    )


def land_sources(
    lake: Lake,
    settings: Settings,
    sources: Sequence[Source],
    *,
    again: bool = False,
    options: IngestOptions | None = None,
    workers: int | None = None,
    assistant: Assistant | None = None,
    ledger: Ledger | None = None,
    last_look: LastLook | None = None,
) -> IngestSummary:
    """Parse and land every source that is not landed yet.

    With `ledger` several processes, on one host or many, may ingest the same papers at once: each document is read by one of them.

    The same bytes are ingested once, whatever their name; a run that was killed continues where it was. `again` reads
    documents again that are landed; `assistant` asks a model where the rules are unsure; `last_look` sees each document before it lands.
    Raises UsageError for a map that cannot be used.
    """
    options = options or IngestOptions()
    read_mapping(options.mapping_file)  # a fault of the mapping is reported before anything is read
    spool = open_spool(settings.archive_dir)
    if assistant is not None:
        options = options.shown_to(sees_pictures=assistant.model.sees_pictures)
    options = add_known(lake, replace(options, spool=spool))
    summary = IngestSummary(assistance=assistant.new_summary() if assistant else None)
    count = workers or settings.workers
    try:
        # Who asks for documents to be read again wants it done, whatever others do.
        shared = None if again else ledger
        with (
            Progress("ingest: documents", len(sources)) as progress,
            DocumentShare(shared, lambda hashes: _read_known(lake, hashes), 2 * count) as share,
        ):
            new = _skip_known(None if again else lake, sources, summary, progress, options.max_bytes)
            while True:
                for chunk in _group(_count(parse_sources(share.take(new), options, count), progress)):
                    _land_chunk(lake, settings, chunk, summary, assistant, options, last_look)
                    share.release([str(one.path) for one in chunk])
                if not share.left:
                    break
                time.sleep(POLL_S)
                new, share.left = iter(share.left), []
            summary.skipped += share.landed_by_others
            progress.advance(share.landed_by_others)
    finally:
        close_spool(spool)
    return summary


def find_nothing_new(
    settings: Settings, paths: Sequence[Path], options: IngestOptions
) -> IngestSummary | None:
    """What an ingest of `paths` would say where every document is landed already.

    None where a document is to be read, or where there is no lake. Nothing is written.

    Raises:
        UsageError: as `land_documents` does.
    """
    read_mapping(options.mapping_file)
    sources = list_sources(paths)
    summary = IngestSummary()
    try:
        with open_lake(settings, read_only=True) as lake:
            first = next(_skip_known(lake, sources, summary, None, options.max_bytes), None)
    except StoreError:
        return None  # what is wrong with the lake is said where it is written
    return summary if first is None else None


def _read_known(lake: Lake, hashes: Sequence[str]) -> set[str]:
    """Which of these SHA-256 belong to documents that need not be read again."""
    rows = lake.read_rows("documents_settled", {"hashes": list(hashes), "transient": list(TRANSIENT)})
    return {str(sha256) for (sha256,) in rows}


def _skip_known(
    lake: Lake | None,
    sources: Sequence[Source],
    summary: IngestSummary,
    progress: Progress | None,
    max_bytes: int,
) -> Iterator[tuple[Source, str]]:
    """Only the files, each with its hash, whose bytes are new.

    They are neither landed (in `lake`, if one is given) nor met earlier in this run. Of two files with the same bytes
    the one beside which an answer file lies is read.
    """
    met: set[str] = set()
    ordered = sorted(sources, key=lambda source: find_companion(source.path) is None)
    for start in range(0, len(ordered), DOCUMENTS_PER_LANDING):
        chunk = [
            (source, _hash_file(source, max_bytes))
            for source in ordered[start : start + DOCUMENTS_PER_LANDING]
        ]
        known = set() if lake is None else _read_known(lake, [sha256 for _, sha256 in chunk])
        for source, sha256 in chunk:
            if sha256 in met or sha256 in known:
                summary.skipped += 1
                if progress is not None:
                    progress.advance()
                continue
            met.add(sha256)
            yield source, sha256


def _count(documents: Iterator[ParsedDocument], progress: Progress) -> Iterator[ParsedDocument]:
    """The documents, each counted as soon as it is read: few papers land together, at the end."""
    for parsed in documents:
        progress.advance()
        yield parsed


def _group(documents: Iterator[ParsedDocument]) -> Iterator[list[ParsedDocument]]:
    """The documents in chunks that land together."""
    chunk: list[ParsedDocument] = []
    size = 0
    for parsed in documents:
        chunk.append(parsed)
        size += len(parsed.questions)
        if len(chunk) >= DOCUMENTS_PER_LANDING or size >= QUESTIONS_PER_LANDING:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _hash_file(source: Source, max_bytes: int) -> str:
    try:
        return take_in(source.path, max_bytes, root=source.root).sha256
    except DocumentError:
        return f"unreadable:{show_name(source.path)}"


def _land_chunk(
    lake: Lake,
    settings: Settings,
    chunk: Sequence[ParsedDocument],
    summary: IngestSummary,
    assistant: Assistant | None,
    options: IngestOptions,
    last_look: LastLook | None,
) -> None:
    now = datetime.now(UTC)
    batches = []
    if assistant is not None and summary.assistance is not None:
        from tasks.models import read_call_frames

        asked = [str(one.document["document_id"]) for one in chunk if assistant.is_asked(one)]
        chunk = assistant.help_with(chunk, options, summary.assistance)
        calls = read_call_frames(assistant.ledger, dict.fromkeys(asked, now.strftime("%Y-%m")))
        batches += [Batch("llm_calls", unit, frame) for unit, frame in calls.items() if frame.height]
    for parsed in chunk:
        drop_read(parsed.copy)
    if last_look is not None:
        chunk = [seen for one in chunk if (seen := last_look(one, summary)) is not None]
    for parsed in chunk:
        archive_document(settings.archive_dir, parsed)
    batches += _list_batches(DOCUMENTS, chunk, [[one.document | {"ingested_at": now}] for one in chunk])
    batches += _list_batches(DOCUMENT_TEXTS, chunk, [[one.text] if one.text else [] for one in chunk])
    batches += _list_batches(QUESTIONS, chunk, [one.questions for one in chunk])
    batches += _list_batches(PICTURES, chunk, [one.pictures for one in chunk])
    landings = lake.land_together(batches, stage="ingest")
    summary.quarantined += sum(landing.rejected_count for landing in landings)
    held = [str(parsed.document["document_id"]) for parsed in chunk if parsed.document["status"] == HELD]
    released = read_released(lake, held)
    for parsed in chunk:
        status, path = str(parsed.document["status"]), str(parsed.document["source_path"])
        reason = str(parsed.document["error"] or "")
        if parsed.document["document_id"] in released:
            status = "released"
        summary.documents[status] += 1
        if status == HELD:
            summary.held.append({"document": path, "reason": reason})
            summary.held_questions += len(parsed.questions)
            continue
        summary.questions.update(str(question["question_type"]) for question in parsed.questions)
        summary.question_statuses.update(str(question["status"]) for question in parsed.questions)
        summary.without_discipline += any(question["discipline"] is None for question in parsed.questions)
        summary.losses.extend(
            {"document": path, "warning": warning}
            for warning in parsed.document["warnings"]
            if warning.startswith((NOT_READ, NOT_KEPT))
        )
        if status not in ("parsed", "released"):
            summary.problems.append({"document": path, "status": status, "error": reason})


def _list_batches(
    table: Table, chunk: Sequence[ParsedDocument], rows: Sequence[list[dict[str, Any]]]
) -> list[Batch]:
    """The rows of each document as a batch of its own, all parts of one frame."""
    frame = table.frame([row for own in rows for row in own])
    batches: list[Batch] = []
    first = 0
    for one, own in zip(chunk, rows, strict=True):
        batches.append(Batch(table.name, str(one.document["document_id"]), frame.slice(first, len(own))))
        first += len(own)
    return batches


# Kind of the jobs, by the hash of the document.
JOB = "document"


class DocumentShare:
    """The documents of one ingest that fall to this process. A context manager.

    Args:
        ledger: where those that are being read are jobs; null where nobody else can be at work.
        list_landed: which of these hashes have landed by now.
        group: documents taken at once.
    """

    def __init__(
        self, ledger: Ledger | None, list_landed: Callable[[Sequence[str]], set[str]], group: int
    ) -> None:
        self._ledger = ledger
        self._presence = None if ledger is None else Presence(ledger)
        self._list_landed = list_landed
        self._group = group
        self._names: dict[str, str] = {}
        # What others are, or were, reading.
        self.left: list[tuple[Source, str]] = []
        self.landed_by_others = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._presence is not None:
            self._presence.close()

    def take(self, found: Iterator[tuple[Source, str]]) -> Iterator[Source]:
        """Those of the documents that nobody else is reading; the others are in `left`.

        Those are there for the taking once who reads them has let go of them without landing them: it was killed, or could not read
        them. Take them when everything taken before has landed and was let go of: otherwise two processes would wait for each
        other.
        """
        while group := list(islice(found, self._group)):
            yield from self._take_some(group)

    def release(self, paths: Sequence[str]) -> None:
        """Let go of documents that have landed, by their paths."""
        self._end([self._names.pop(path) for path in paths if path in self._names])

    def _take_some(self, group: Sequence[tuple[Source, str]]) -> Iterator[Source]:
        if self._ledger is None or self._presence is None:
            yield from (source for source, _ in group)
            return
        waiting, holder = [Job(kind=JOB, name=sha256) for _, sha256 in group], self._presence.holder
        with self._ledger.write() as connection:
            defer_jobs(connection, waiting)
            names = [job.name for job in waiting]
            taken = {job.name for job in take_jobs(connection, holder, JOB, len(names), names=names)}
        # What another process landed between our first look at the lake and our claim is done.
        landed = self._list_landed(sorted(taken)) if taken else set()
        self._end(landed)
        self.landed_by_others += len(landed)
        for source, sha256 in group:
            if sha256 not in taken:
                self.left.append((source, sha256))
            elif sha256 not in landed:
                self._names[str(source.path)] = sha256
                yield source

    def _end(self, names: Collection[str]) -> None:
        if names and self._ledger is not None and self._presence is not None:
            with self._ledger.write() as connection:
                end_jobs(connection, JOB, names, self._presence.holder)
