"""The original that a question stands in, its text, and the question's place."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks.ingest.readers.sniffing import MEDIA_TYPES
from warehouse.lake import Lake

# (left, top, right, bottom) in thousandths of the page as shown.
Box = tuple[int, int, int, int]
# Lines further apart than this are no one block: a figure stands between them, or another column begins.
MOST_GAP = 120
# A marked box reaches this much beyond its letters.
MARGIN = 4
MOST_BOXES = 40


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a stretch of a paper's text.

    Attributes:
        first_line, last_line: its lines in the text, from 0, the last included.
        first_page, last_page: pages or sheets, from 1; 0 where the format has none.
        boxes: marked boxes by page; empty where the paper was read before places were kept.
    """

    first_line: int
    last_line: int
    first_page: int = 0
    last_page: int = 0
    boxes: dict[int, list[Box]] = field(default_factory=dict)


def find_place(
    text: str, page_offsets: Sequence[int], line_boxes: Sequence[int], start: int, end: int
) -> Place:
    """The place of `text[start:end]` by the offsets of pages and four numbers for each line."""
    end = min(max(end, start), len(text))
    # the line break behind a stretch is none of it
    while end > start and text[end - 1].isspace():
        end -= 1
    first, last = text.count("\n", 0, start), text.count("\n", 0, end)
    first_page, last_page = bisect_right(page_offsets, start), bisect_right(page_offsets, max(end - 1, start))
    if not line_boxes or not page_offsets or len(line_boxes) != 4 * (text.count("\n") + 1):
        return Place(first, last, first_page, last_page)
    by_page: dict[int, list[Box]] = {}
    offset = text.rfind("\n", 0, start) + 1
    for line in range(first, last + 1):
        left, top, right, bottom = line_boxes[4 * line : 4 * line + 4]
        if right > left and bottom > top:
            by_page.setdefault(bisect_right(page_offsets, offset), []).append((left, top, right, bottom))
        offset = text.find("\n", offset) + 1
    boxes = {page: merge_boxes(found) for page, found in by_page.items()}
    return Place(first, last, first_page, last_page, boxes)


def merge_boxes(lines: Sequence[Box]) -> list[Box]:
    """The lines of one page as blocks: those that share some width and stand close."""
    blocks: list[Box] = []
    for line in lines:
        if blocks:
            block = blocks[-1]
            is_below = -MOST_GAP / 4 < line[1] - block[3] < MOST_GAP
            is_beside = line[1] < block[3] and line[3] > block[1]
            if min(line[2], block[2]) > max(line[0], block[0]) and (is_below or is_beside):
                blocks[-1] = join_boxes(block, line)
                continue
        blocks.append(line)
    return [_widen(block) for block in blocks[:MOST_BOXES]]


def join_boxes(one: Box, other: Box) -> Box:
    """The least box that holds both."""
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _widen(box: Box) -> Box:
    return (
        max(box[0] - MARGIN, 0),
        max(box[1] - MARGIN, 0),
        min(box[2] + MARGIN, 1000),
        min(box[3] + MARGIN, 1000),
    )


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
    """The original of a question found in a document; None where it was removed."""
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
        kind=name_kind(row["media_type"]),
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
        kind=name_kind(str(document["media_type"])),
        page_count=document["page_count"],
        text="",
        page_offsets=tuple(page_offsets),
        start=0,
        end=0,
        place=Place(0, 0),
    )


def name_kind(media_type: str) -> str:
    """The kind of a file by its media type, `text` for one that is not known."""
    return _KINDS.get(media_type, "text")


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
