"""The archive: every original by the hash of its content, what was read of it beside it."""

from __future__ import annotations

import re
from pathlib import Path

from tasks.ingest.documents import ParsedDocument, render_document_json
from tasks.ingest.originals import keep_bytes, keep_file
from tasks.questions.pictures import name_picture


def archive_document(archive: Path, parsed: ParsedDocument) -> None:
    """Keep the original by its content hash, with its TXT and JSON beside it.

    The pictures of its questions are kept by their own hashes.

    It is written once, atomically.
    """
    sha256 = str(parsed.document["sha256"])
    if not sha256:
        return  # it could not be opened: there is nothing to keep
    folder = archive / sha256[:2]
    folder.mkdir(parents=True, exist_ok=True)
    original = folder / name_original(sha256, parsed.path)
    if not original.exists():
        if parsed.copy is not None:
            keep_file(parsed.copy, original)
        else:
            keep_bytes(parsed.path.read_bytes(), original)
    if parsed.text is not None:
        keep_bytes(str(parsed.text["text"]).encode(), folder / f"{sha256}.txt")
    for name, data in parsed.picture_bytes.items():
        path = name_picture(archive, name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            keep_bytes(data, path)
    keep_bytes(render_document_json(parsed).encode(), folder / f"{sha256}.json")


def name_original(sha256: str, path: Path) -> str:
    """The name of an original in the archive; a JSON file is set apart from what was read in it."""
    suffix = path.suffix.lower() if re.fullmatch(r"\.[\w-]{1,12}", path.suffix, re.ASCII) else ""
    return f"{sha256}.original{suffix}" if suffix in ("", ".txt", ".json") else f"{sha256}{suffix}"
