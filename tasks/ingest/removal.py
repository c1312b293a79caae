"""Remove a document that should not have been ingested, or let a held one go on.

The questions of a removed one leave the lake. Its row in `documents` remains, with the status `removed` and the reason,
so that the same file is not ingested again unless it is asked for (`--again`). What has become part of a bank version
cannot be removed, only retired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.documents import DOCUMENT_RELEASES, DOCUMENT_TEXTS, DOCUMENTS
from schemas.errors import GateError, UsageError
from schemas.questions import PICTURES, QUESTIONS
from tasks.questions.pictures import name_picture
from warehouse.lake import Batch, Lake
from warehouse.lake.upkeep import purge_catalog, purge_files
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review.withdrawal import delete_work, read_open_work

REMOVED = "removed"
# Where texts of a paper land.
_TEXTS = ("document_texts", "questions", "quarantine")


@dataclass(frozen=True)
class Removal:
    """What was removed: counts, and the open batches that lost questions."""

    document_id: str
    document_name: str
    question_count: int
    withdrawn_from: tuple[str, ...]
    deleted_files: int


def find_document(lake: Lake, name: str) -> dict[str, Any]:
    """The document of that name, or whose id begins so.

    Raises:
        UsageError: when none or several do.
    """
    found = lake.read("documents_named", {"name": name}).to_dicts()
    if not found:
        raise UsageError(
            f"There is no document {name!r}; `proctor documents list` shows their ids and names."
        )
    if len(found) > 1:
        several = ", ".join(f"{row['document_id'][:13]} ({row['document_name']})" for row in found[:8])
        raise UsageError(f"{name!r} fits {len(found)} documents: {several}. Give more of the id.")
    return found[0]


def remove_document(
    lake: Lake, ledger: Ledger, folders: Sequence[Path], name: str, reason: str, *, purge: bool = False
) -> Removal:
    """Empty the document's unit and record why.

    With `purge` its files in `folders` are deleted too: the archive's, and the pictures of its pages, whose rows stay as long as they do.
    So are the files and snapshots in which the lake still has its text; no earlier state of the lake can be read then.

    Doing it twice changes nothing. Raises GateError once the bank holds a question of it, an accepted decision makes one
    ready for the bank, or an annotator of an open batch has decided on one.
    """
    document = find_document(lake, name)
    document_id = str(document["document_id"])
    _check_unpublished(lake, document)
    questions = lake.read("question_types_of_document", {"document_id": document_id})["question_count"].sum()
    # The ledger first: after a kill between the two, the same command finds the rows in the lake and ends the work.
    withdrawn = _withdraw(ledger, document)
    if document["status"] != REMOVED:
        row = document | {"status": REMOVED, "error": f"Removed: {reason}", "question_count": 0}
        lake.land_together(
            [
                Batch("documents", document_id, DOCUMENTS.frame([row])),
                Batch("document_texts", document_id, DOCUMENT_TEXTS.frame([])),
                Batch("questions", document_id, QUESTIONS.frame([])),
            ],
            stage="ingest",
        )
    deleted = _purge(lake, folders, document) if purge else 0
    return Removal(document_id, str(document["document_name"]), int(questions), withdrawn, deleted)


def _check_unpublished(lake: Lake, document: dict[str, Any]) -> None:
    name, params = document["document_name"], {"document_id": document["document_id"]}
    versions = lake.read("bank_versions_of_document", params)["bank_version"].to_list()
    if versions:
        raise GateError(
            f"{name}: its questions are in bank version {', '.join(map(str, versions))}, and what was published stays. "
            "Keep the document."
        )
    accepted = lake.read("accepted_questions_of_document", params).height
    if accepted:
        raise GateError(
            f"{name}: annotators have accepted {accepted} of its questions, and the next bank version takes them up. "
            "Keep the document."
        )


def _withdraw(ledger: Ledger, document: dict[str, Any]) -> tuple[str, ...]:
    with ledger.write() as connection:
        work = read_open_work(connection, str(document["document_id"]))
        for one in work:
            if one.decision_count:
                raise GateError(
                    f"{document['document_name']}: annotators have decided on its questions in the open review batch "
                    f"{one.batch_id} ({one.decision_count} decisions). Let them reject its questions, or remove it after "
                    "the batch is closed."
                )
        for one in work:
            delete_work(connection, one)
    return tuple(one.batch_id for one in work)


def _purge(lake: Lake, folders: Sequence[Path], document: dict[str, Any]) -> int:
    """Delete what folders, then the lake, keep of a document; how many files of folders."""
    params, sha256 = {"document_id": document["document_id"]}, str(document["sha256"])
    pictures = lake.read("pictures_of_document_alone", params)["sha256"]
    # Those that annotators made of it have units of their own.
    units = lake.read("pictures_of_document", params)["landing_unit"].unique(maintain_order=True)
    found = [
        path
        for folder in folders
        for path in (
            *sorted([*(folder / sha256[:2]).glob(f"{sha256}.*"), *folder.glob(f"{sha256}.*")]),
            *(path for path in (name_picture(folder, picture) for picture in pictures) if path.exists()),
        )
    ]
    for path in found:
        path.unlink(missing_ok=True)
    # Last: by them the files are found, after a kill and after a removal that left the files.
    lake.land_together([Batch("pictures", unit, PICTURES.frame([])) for unit in units], stage="ingest")
    purge_files(lake, _TEXTS)
    purge_catalog(lake.settings, _TEXTS)
    return len(found)


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
