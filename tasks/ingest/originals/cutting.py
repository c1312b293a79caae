"""Pictures that a person makes: cut out of a page again, or a file in the place of one."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import DocumentError
from schemas.questions import PICTURES
from schemas.settings import Settings
from tasks.ingest.originals.original import Original, keep_file
from tasks.ingest.originals.pages import DRAW_SECONDS, ask_child, find_pages_source
from tasks.questions.pictures import name_picture
from warehouse.lake import Batch, Lake

LARGEST_FILE = 20 * 1024 * 1024


@dataclass(frozen=True)
class MadePicture:
    """A picture in the archive that the lake may not know: its row, without the document."""

    sha256: str
    row: dict[str, Any] = field(repr=False)


def cut_picture(settings: Settings, original: Original, page: int, box: Sequence[int]) -> MadePicture:
    """Cut a box, in thousandths of the page, out of a page (from 1); its bytes are kept.

    Raises:
        DocumentError: the original cannot be shown, or nothing is to be seen there.
    """
    left, top, right, bottom = (max(0, min(1000, int(edge))) for edge in box)
    if right - left < 5 or bottom - top < 5:
        raise DocumentError("nothing_there", "The part of the page is too small to be a picture.")
    asked = {
        "task": "cut",
        "source": str(find_pages_source(settings, original)),
        "kind": original.kind,
        "page": page,
        "box": [left, top, right, bottom],
    }
    return _keep(settings, asked, {"picture_kind": "page", "page": page, "box": [left, top, right, bottom]})


def take_picture(settings: Settings, data: bytes) -> MadePicture:
    """Keep a file that somebody gives as a picture, in its normal form.

    Raises:
        DocumentError: it is damaged, too large, no picture, or shows nothing.
    """
    if len(data) > LARGEST_FILE:
        raise DocumentError("too_large", f"The picture has more than {LARGEST_FILE // 2**20} MB.")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "given"
        source.write_bytes(data)
        asked = {"task": "take", "source": str(source)}
        return _keep(settings, asked, {"picture_kind": "image", "page": 0, "box": []})


def land_picture(lake: Lake, document_id: str, made: MadePicture) -> None:
    """Let the lake know whose picture it is; one that the document has is not landed again."""
    known = lake.read("pictures_of_document", {"document_id": document_id})["sha256"].to_list()
    if made.sha256 not in known:
        row = made.row | {"document_id": document_id}
        lake.land_together(
            [Batch("pictures", f"{document_id}/{made.sha256}", PICTURES.frame([row]))], stage="review"
        )


def _keep(settings: Settings, asked: dict[str, Any], place: dict[str, Any]) -> MadePicture:
    settings.archive_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=settings.archive_dir) as folder:
        draft = Path(folder) / "picture"
        made = ask_child(asked | {"target": str(draft)}, DRAW_SECONDS)
        target = name_picture(settings.archive_dir, made["sha256"])
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            keep_file(draft, target)
    return MadePicture(made["sha256"], {**made, **place})
