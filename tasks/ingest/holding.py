"""Papers that are held whole: which they are, and letting one go on.

A release is a row of its own. What was landed of the paper stays as it is, and so does the release when the same bytes are
read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.documents import DOCUMENT_RELEASES
from schemas.errors import UsageError
from tasks.ingest.removal import find_document
from warehouse.lake import Lake

HELD = "held"


@dataclass(frozen=True)
class Release:
    """A held paper that goes on; `is_new` unless somebody had released it before."""

    document_id: str
    document_name: str
    question_count: int
    is_new: bool


def read_released(lake: Lake, document_ids: list[str]) -> set[str]:
    """Which of these documents somebody has released."""
    if not document_ids:
        return set()
    return set(lake.read("documents_released", {"document_ids": document_ids})["document_id"])


def release_document(lake: Lake, name: str, reason: str, person: str) -> Release:
    """Let a held paper go on as it was read: its questions wait for review from then on.

    Doing it twice changes nothing; the first reason stays.

    Raises:
        UsageError: there is no such document, it is not held, or no reason is given.
    """
    if not reason.strip():
        raise UsageError("Say why the paper is released: --reason TEXT. It is kept with the document.")
    document = find_document(lake, name)
    document_id = str(document["document_id"])
    is_released = bool(read_released(lake, [document_id]))
    if document["status"] != HELD and not is_released:
        raise UsageError(
            f"{document['document_name']} is not held: its status is {document['status']}. "
            "`proctor documents list --status held` lists those that are."
        )
    if not is_released:
        row = {
            "document_id": document_id,
            "released_by": person,
            "reason": reason.strip(),
            "released_at": datetime.now(UTC),
        }
        lake.land("document_releases", document_id, DOCUMENT_RELEASES.frame([row]))
    return Release(
        document_id, str(document["document_name"]), int(document["question_count"]), not is_released
    )
