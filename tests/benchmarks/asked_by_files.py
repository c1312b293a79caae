"""A second reader that is asked by files: a model without an address can be measured.

Each request of a paper is `NAME/KEY.txt` in a folder, with what the model would see beside it (`KEY.page-3.png`,
`KEY.image-2.png`). Its reply is awaited as `KEY.json`. All papers ask at once, and the next window of a paper when it has a reply.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from schemas.settings import Settings
from tasks.ingest import IngestOptions, ParsedDocument
from tasks.ingest.second_reader import Assistant, ShownPaper
from tests.benchmarks.ingest_accuracy import make_document, read_document, read_options


@dataclass(frozen=True)
class _Files:
    """In the place of a client: a call is a file, its reply another."""

    folder: Path
    counts = ()

    async def __aenter__(self) -> _Files:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def complete(self, _: object, request: Any) -> SimpleNamespace:
        asked = "\n\n".join(one["content"] for one in request.messages) + request.salt
        key = hashlib.sha256(
            "".join([asked, *(one.sha256 for one in request.pictures)]).encode()
        ).hexdigest()[:12]
        folder = self.folder / re.sub(r"[^\w.]+", "_", str(request.unit))
        folder.mkdir(parents=True, exist_ok=True)
        for one in request.pictures:
            name = re.sub(r"\W+", "-", one.mark).strip("-")
            (folder / f"{key}.{name}.png").write_bytes(one.data)
        draft = folder / f"{key}.draft"
        draft.write_text(asked, encoding="utf-8")
        draft.replace(folder / f"{key}.txt")
        reply = folder / f"{key}.json"
        while not reply.exists():  # noqa: ASYNC110 - another program writes it
            await asyncio.sleep(1)
        return SimpleNamespace(status="answered", text=reply.read_text(encoding="utf-8"))


def read_by_files(
    papers: Iterable[Path], folder: Path, seen: list[tuple[Any, Any]]
) -> Iterator[tuple[Path, dict[str, Any], dict[str, Any], Sequence[tuple[Any, Any]]]]:
    """Papers as the rules and as both readers leave them, with what was met of pictures.

    `seen` is what the reader found and kept of the document that was read last. Who is asked sees pages and pictures. A paper
    that is not in doubt is not asked of, as in a run.
    """
    firsts: list[ParsedDocument] = []
    met: dict[tuple[Path, bool], list[tuple[Any, Any]]] = {}
    reading = threading.Lock()

    def read(path: Path, **more: Any) -> ParsedDocument:
        with reading:
            seen.clear()
            result = read_document(path, make_document(path), read_options(path) | more)
            met[path, "said" in more] = list(seen)
        shown = ShownPaper(**result["shown"]) if "shown" in result else None
        return ParsedDocument(
            result["document"],
            result["text"],
            result["questions"],
            path,
            pictures=result["pictures"],
            shown=shown,
            refused=tuple(result.get("refused", ())),
        )

    for path in papers:
        first = read(path, shows_lines=True, shows_pictures=True)
        kind = {".pdf": "application/pdf"}.get(path.suffix, "")
        firsts.append(
            replace(
                first, document={**first.document, "media_type": first.document.get("media_type") or kind}
            )
        )
    model: Any = SimpleNamespace(name="by-files", sees_pictures=True, max_concurrency=1_000)
    ledger: Any = None
    assistant = Assistant(ledger, Settings(), model)
    summary = assistant.new_summary()
    budget: Any = object()
    summary.budget = budget
    with (
        patch("tasks.models.ModelClient", lambda *_, **__: _Files(folder)),
        patch(
            "tasks.ingest.second_reader.asking.parse_as_said",
            lambda parsed, said, _: read(parsed.path, said=said),
        ),
    ):
        both = assistant.help_with(firsts, IngestOptions(), summary)
    print(summary.as_counts())
    for first, chosen in zip(firsts, both, strict=True):
        found = [*met[first.path, False], *met.get((first.path, True), ())]
        yield first.path, _as_result(first), _as_result(chosen), found


def _as_result(parsed: ParsedDocument) -> dict[str, Any]:
    return {"document": parsed.document, "questions": parsed.questions, "pictures": parsed.pictures}


__all__ = ["read_by_files"]
