"""The original that a question stands in, as archived at ingest.

With it come its text and the question's place.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.ingest.originals.place import Place, find_place
from tasks.ingest.readers.sniffing import MEDIA_TYPES
from warehouse.lake import Lake

_KINDS = {media_type: kind for kind, media_type in MEDIA_TYPES.items()}
# What LibreOffice lays out in pages, and what lies in rows.
OFFICE_KINDS = ("docx", "doc", "rtf", "odt", "word-xml")
SHEET_KINDS = ("xlsx", "xlsb", "xls", "ods", "excel-xml", "csv")


@dataclass(frozen=True)
class Original:
    """A paper of which one question is looked at.

    Attributes:
        sha256: of the original; names everything that is kept of it.
        name: its file name.
        kind: a key of `tasks.ingest.readers.sniffing.MEDIA_TYPES`.
        page_count: pages or sheets; null where the format has none.
        text: the whole text as read.
        page_offsets: where pages or sheets begin in it.
        start, end: the question's stretch of the text.
        place: where that is.
    """

    sha256: str
    name: str
    kind: str
    page_count: int | None
    text: str = field(repr=False)
    page_offsets: tuple[int, ...] = field(repr=False)
    start: int
    end: int
    place: Place


def read_original(lake: Lake, document_id: str, question_uuid: str) -> Original | None:
    """The original of a question found in a document.

    None where the lake has no place of it: a removed document.
    """
    rows = lake.read(
        "question_in_original", {"document_id": document_id, "question_uuid": question_uuid}
    ).to_dicts()
    if not rows or rows[0]["text_start"] is None or rows[0]["text_end"] is None:
        return None
    row = rows[0]
    offsets = tuple(row["page_offsets"] or ())
    start, end = int(row["text_start"]), int(row["text_end"])
    return Original(
        sha256=row["sha256"],
        name=row["document_name"],
        kind=_KINDS.get(row["media_type"], "text"),
        page_count=row["page_count"],
        text=row["text"],
        page_offsets=offsets,
        start=start,
        end=end,
        place=find_place(row["text"], offsets, row["line_boxes"] or (), start, end),
    )


def open_original(document: Mapping[str, Any], page_offsets: Sequence[int]) -> Original:
    """The original of a whole paper, from its row in `documents`."""
    return Original(
        sha256=str(document["sha256"]),
        name=str(document["document_name"]),
        kind=_KINDS.get(str(document["media_type"]), "text"),
        page_count=document["page_count"],
        text="",
        page_offsets=tuple(page_offsets),
        start=0,
        end=0,
        place=Place(0, 0),
    )


def find_archived(archive: Path, sha256: str) -> Path | None:
    """The archived original of that content; null when it was deleted."""
    beside = (f"{sha256}.txt", f"{sha256}.json")
    found = sorted(
        path
        for path in (archive / sha256[:2]).glob(f"{sha256}*")
        if path.name not in beside and not path.name.startswith(".")
    )
    return found[0] if found else None


def keep_file(source: Path, target: Path) -> None:
    """Move a finished file of the same file system to its place."""
    source.chmod(0o600)
    source.replace(target)


def keep_bytes(data: bytes, target: Path) -> None:
    """Write a file to its place at once."""
    # The name of a draft, so that a backup leaves out what a kill left of it.
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    draft.write_bytes(data)
    keep_file(draft, target)
