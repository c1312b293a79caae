"""Exam papers to questions: documents are parsed one by one in guarded child processes."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from schemas.errors import DocumentError, UsageError
from schemas.settings import Settings
from schemas.vocabulary import SOURCE_KINDS
from tasks.ingest.answer_files import find_answered, find_companions
from tasks.ingest.guard.client import ask
from tasks.ingest.intake import name_source, show_name, take_in
from tasks.ingest.mapping import read_discipline_map, read_mapping
from tasks.ingest.second_reader import ShownPaper
from tasks.questions.identity import compute_document_id


@dataclass(frozen=True)
class IngestOptions:
    """How documents are read. Limits hold for each document.

    `discipline_map` maps a part of a path, or a pattern, to a discipline (`Engineering`,
    `Engineering/Software Engineering` or a course name); `mapping_file` is a YAML with `columns` and `disciplines`;
    questions below `confidence_threshold` get the status `low_confidence`. A paper is held of which less than `hold_least_right`
    is expected to be read right, or whose reading breaks its own contracts for more than `hold_most_broken` of its questions;
    `confidence_fit` is the JSON of the fit to use, null for the one that comes with the program. `source_kind` holds for every document;
    without it path and first lines tell, else it is `other`.
    `corrections` are how people divided papers, by document, and `layouts` the same by source for later papers.
    `spool` is a folder for copies of what was read, so that a file may change or go afterwards. `shows_lines`: every document comes with
    what a second reader is shown of it, with `shows_pictures` also its pictures.
    """

    time_limit_s: float = 120
    memory_limit_mb: int = 3000
    max_bytes: int = 200_000_000
    use_ocr: bool = True
    discipline_map: Mapping[str, str] | None = None
    mapping_file: Path | None = None
    confidence_threshold: float = 0.6
    hold_least_right: float = 0.5
    hold_most_broken: float = 0.5
    confidence_fit: str | None = None
    source_kind: str | None = None
    corrections: Mapping[str, str] = field(default_factory=dict)
    layouts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    spool: Path | None = None
    shows_lines: bool = False
    shows_pictures: bool = False

    def shown_to(self, *, sees_pictures: bool) -> IngestOptions:
        """The same for a second reader that sees pictures, or does not."""
        return replace(self, shows_lines=True, shows_pictures=sees_pictures)


@dataclass(frozen=True)
class Source:
    """A file, the path by which it is known, and the folder that was named.

    Attributes:
        path: where it lies.
        name: relative to the folder that was named, that folder included.
        root: that folder, below which no link is followed; null for a file that was named itself.
    """

    path: Path
    name: Path
    root: Path | None = None


@dataclass(frozen=True)
class ParsedDocument:
    """What became of one document: its row, its raw text (None when unreadable), its questions.

    `copy` is the content as it was read, where a spool was given. `pictures` are the rows of those that its questions hold,
    `picture_bytes` their content by hash. `shown` is what a second reader is shown of it, where that was asked for; `refused` are the numbers of
    questions in which such a reader pointed at what is not there.
    """

    document: dict[str, Any]
    text: dict[str, Any] | None
    questions: list[dict[str, Any]]
    path: Path
    copy: Path | None = None
    pictures: list[dict[str, Any]] = field(default_factory=list)
    picture_bytes: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    shown: ShownPaper | None = None
    refused: tuple[str, ...] = ()


def make_options(
    discipline_map: Path | str | None = None,
    mapping_file: Path | str | None = None,
    source_kind: str | None = None,
    *,
    use_ocr: bool = True,
    settings: Settings | None = None,
) -> IngestOptions:
    """Read and check what a person may set; `settings` say when a paper is held.

    So a mistake is reported before anything is read. Where no map of disciplines is named, the home's own holds.

    Raises:
        UsageError: for a map file that is absent or wrong, or a source kind that does not exist.
    """
    if source_kind is not None and source_kind not in SOURCE_KINDS:
        raise UsageError(f"{source_kind!r} is no source kind. Use one of {', '.join(SOURCE_KINDS)}.")
    read_mapping(mapping_file)
    options = IngestOptions(
        use_ocr=use_ocr,
        discipline_map=_read_disciplines(discipline_map, settings),
        mapping_file=Path(mapping_file) if mapping_file else None,
        source_kind=source_kind,
    )
    if settings is None:
        return options
    return replace(
        options, hold_least_right=settings.hold_least_right, hold_most_broken=settings.hold_most_broken
    )


def _read_disciplines(named: Path | str | None, settings: Settings | None) -> dict[str, str] | None:
    """What a file that was named says of papers' disciplines, else what the home knows."""
    if named:
        return read_discipline_map(named)
    is_known = settings is not None and settings.disciplines_path.exists()
    return read_discipline_map(settings.disciplines_path) if settings is not None and is_known else None


def list_documents(paths: Sequence[Path]) -> list[Path]:
    """Return the files named and those below the folders named, sorted, each once.

    Hidden files and folders are skipped. Lock files (`~$…`), pipes and links in a folder are listed: they become rows with
    an error. A link that is named itself is followed.

    Raises:
        UsageError: when a path does not exist, or a folder holds no file.
    """
    found: set[Path] = set()
    for path in paths:
        if path.is_dir():
            inside = {
                file
                for file in path.rglob("*")
                if (file.is_symlink() or not file.is_dir())
                and not any(part.startswith(".") for part in file.relative_to(path).parts)
            }
            if not inside:
                raise UsageError(f"The folder {path} holds no file. Name a folder with papers in it.")
            found |= inside
        elif os.path.lexists(path):
            found.add(path)
        else:
            raise UsageError(f"{path} does not exist. Check the path.")
    return sorted(found)


def list_sources(paths: Sequence[Path]) -> list[Source]:
    """Return the files named and those below the folders named, each once.

    They come with the paths they are known by. `papers/2024` gives `2024/final.docx`. Where two of the paths end alike
    (`law/2024` and `history/2024`) both keep as many folders as tell them apart.

    Raises:
        UsageError: when a path does not exist, or a folder holds no file.
    """
    roots = list(dict.fromkeys(path.resolve() if path.exists() else path.absolute() for path in paths))
    names = _shorten(roots)
    sources: dict[Path, Source] = {}
    for root in roots:
        for file in list_documents([root]):
            known = sources.get(file)
            name = names[root] / file.relative_to(root) if file != root else names[root]
            if known is None or len(name.parts) > len(known.name.parts):
                sources[file] = Source(file, name, root if file != root else None)
    return [sources[file] for file in sorted(sources)]


def _shorten(roots: Sequence[Path]) -> dict[Path, Path]:
    """The shortest endings of these paths that are all different."""
    names = dict.fromkeys(roots, 1)
    while True:
        ends = {root: root.parts[-names[root] :] for root in roots}
        alike = [root for root in roots if sum(end == ends[root] for end in ends.values()) > 1]
        if not alike:
            return {root: Path(*(part for part in ends[root] if part != root.anchor)) for root in roots}
        for root in alike:
            names[root] += 1


def parse_document(path: Path, options: IngestOptions) -> ParsedDocument:
    """Read one document in a child process.

    A bad document gives a result with its status and error; it never raises.

    Raises:
        UsageError: when the mapping file of the options cannot be used.
    """
    return _parse(Source(path, Path(path.name)), options)


def parse_documents(paths: Iterable[Path], options: IngestOptions, workers: int) -> Iterator[ParsedDocument]:
    """Yield the result of every document in the order of the paths.

    Folders give their files, sorted. `workers` documents are read at once; paths are taken and results handed on as
    they come, so that memory stays flat.
    """
    return parse_sources(_expand(paths), options, workers)


_Outcome: TypeAlias = "queue.SimpleQueue[ParsedDocument | BaseException]"


def parse_sources(
    sources: Iterable[Source], options: IngestOptions, workers: int
) -> Iterator[ParsedDocument]:
    """Yield the result of every source in their order, as `parse_documents` does.

    What is begun is waited for at the end, what only waits is left.
    """
    # No pool of executors: a Ctrl-C can leave the locks of its queue and its results held, and its end then waits for ever.
    given: queue.SimpleQueue[tuple[Source, _Outcome] | None] = queue.SimpleQueue()

    def read() -> None:
        while (one := given.get()) is not None:
            source, outcome = one
            try:
                outcome.put(_parse(source, options))
            except BaseException as error:
                outcome.put(error)

    threads: list[threading.Thread] = []
    pending: deque[_Outcome] = deque()
    remaining, most = iter(sources), max(1, workers)
    try:
        while True:
            for source in islice(remaining, 2 * most - len(pending)):
                pending.append(queue.SimpleQueue())
                given.put((source, pending[-1]))
                if len(threads) < most:
                    thread = threading.Thread(target=read, name=f"ingest_{len(threads)}", daemon=True)
                    thread.start()
                    threads.append(thread)
            if not pending:
                break
            result = pending.popleft().get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        with contextlib.suppress(queue.Empty):
            while True:
                given.get_nowait()
        for _ in threads:
            given.put(None)
        for thread in threads:
            thread.join()


def render_document_json(parsed: ParsedDocument) -> str:
    """Return the document with its questions as JSON after schemas/data/document.schema.json.

    The text is kept apart.
    """
    value = {"schema_version": 1, "document": parsed.document, "questions": parsed.questions}
    return json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"


def _expand(paths: Iterable[Path]) -> Iterator[Source]:
    """Every file with its path relative to the folder that was given."""
    for path in paths:
        if path.is_dir():
            for file in list_documents([path]):
                yield Source(file, Path(path.resolve().name) / file.relative_to(path), path)
        else:
            yield Source(path, Path(path.name))


def _parse(source: Source, options: IngestOptions) -> ParsedDocument:
    path = source.path
    document = _new_document(path, source.name, options)
    try:
        content = take_in(path, options.max_bytes, options.spool, root=source.root)
    except DocumentError as error:
        with contextlib.suppress(OSError):
            document["size_bytes"] = path.stat(follow_symlinks=source.root is None).st_size
        return _refuse(path, document, error.code, str(error))
    document["size_bytes"] = content.size
    document["sha256"] = content.sha256
    document["document_id"] = compute_document_id(content.sha256)
    if content.size == 0:
        return _refuse(
            path, document, "empty", "The file has no bytes. Save it again, or leave it out.", content.copy
        )
    return _read(path, content.copy, document, options)


def parse_as_said(parsed: ParsedDocument, said: str, options: IngestOptions) -> ParsedDocument | None:
    """The same document as a second reader divides it; None where the file is another one.

    `said` is JSON as of pointed.py. It is read from its copy where there is one.
    """
    path = parsed.path
    if parsed.copy is None:
        try:
            if take_in(path, options.max_bytes).sha256 != parsed.document["sha256"]:
                return None
        except DocumentError:
            return None
    document = _new_document(path, Path(str(parsed.document["source_path"])), options)
    same = ("document_id", "sha256", "document_name", "source_path", "size_bytes", "media_type")
    document |= {name: parsed.document[name] for name in same}
    return _read(path, parsed.copy, document, options, said)


def _read(
    path: Path, copy: Path | None, document: dict[str, Any], options: IngestOptions, said: str | None = None
) -> ParsedDocument:
    """Have a document read in a child process, with its answer file."""
    companions, answered = find_companions(path), find_answered(path)
    request = {
        "path": path.absolute().as_posix(),  # not resolved: a link has the name that its reader gave it
        "content": str(copy) if copy else None,
        "document": document,
        "options": {
            **{name: getattr(options, name) for name in _AS_THEY_ARE},
            "discipline_map": dict(options.discipline_map or {}),
            "mapping_file": str(options.mapping_file.resolve()) if options.mapping_file else None,
            "correction": options.corrections.get(document["document_id"]),
            "layouts": list(options.layouts.get(name_source(document["source_path"]), ())),
            "companion": str(companions[0]) if len(companions) == 1 else None,
            "answered": None if answered is None else str(answered),
            "companion_doubt": [companion.name for companion in companions[1:] and companions],
            "said": said,
        },
    }
    reply = ask(request)
    if "ok" in reply:
        result = reply["ok"]
        pictures, picture_bytes = take_data(result["pictures"])
        for picture in pictures:
            picture["document_id"] = document["document_id"]
        shown = result.get("shown")
        return ParsedDocument(
            result["document"],
            result["text"],
            result["questions"],
            path,
            copy,
            pictures,
            picture_bytes,
            ShownPaper(**shown) if shown else None,
            tuple(result.get("refused", ())),
        )
    if reply["failed"] == "usage":
        raise UsageError(reply["message"])
    return _refuse(path, document, reply["failed"], reply["message"], copy)


# The options that a request names as they are.
_AS_THEY_ARE = (
    *("time_limit_s", "memory_limit_mb", "use_ocr", "confidence_threshold", "hold_least_right"),
    *("hold_most_broken", "confidence_fit", "source_kind", "shows_lines", "shows_pictures"),
)


def _new_document(path: Path, source: Path, options: IngestOptions) -> dict[str, Any]:
    return {
        "document_id": compute_document_id(f"path:{show_name(source)}"),
        "sha256": "",
        "document_name": show_name(Path(path.name)),
        "source_path": show_name(source),
        "size_bytes": 0,
        "media_type": "application/octet-stream",
        "page_count": None,
        "converter": None,
        "language": None,
        "discipline": None,
        "sub_discipline": None,
        "source_kind": options.source_kind or "other",
        "status": "crashed",
        "error": None,
        "question_count": 0,
        "warnings": [],
        "expected_right_rate": None,
        "confidence_version": None,
        "reading": None,
    }


def _refuse(
    path: Path, document: dict[str, Any], status: str, error: str, copy: Path | None = None
) -> ParsedDocument:
    return ParsedDocument({**document, "status": status, "error": error}, None, [], path, copy)


def take_data(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """The rows of pictures that a reader's process sent, and apart from them the bytes by hash."""
    data = {str(row["sha256"]): base64.b64decode(row["data"]) for row in rows}
    return [{name: value for name, value in row.items() if name != "data"} for row in rows], data
