"""Documents that were ingested: documents list, show, release, remove."""

from __future__ import annotations

import getpass
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from deployments.command_line.printing import ask_whether, is_json, print_result, print_rows
from schemas.counting import say_count
from schemas.documents import DOCUMENT_STATUSES
from schemas.errors import UsageError, suggest
from schemas.settings import load_settings
from warehouse.lake.reading import LakeReader, Rows

# Imported within a function: what brings Polars or SQLAlchemy. Not every command here needs it.

documents_app = typer.Typer(no_args_is_help=True)

Document = Annotated[str, typer.Argument(help="File name of the document, or the beginning of its id.")]


@documents_app.command("list")
def list_documents(
    status: Annotated[str, typer.Option("--status", help="Only documents of this status.")] = "",
) -> None:
    """List documents: id, name, status, how many questions were found, discipline.

    With `--status held` the reason stands beside each, and what share of it is expected to be right.

    Example: proctor documents list --status held
    """
    known = (*DOCUMENT_STATUSES, "released")
    if status and status not in known:
        raise UsageError(
            f"--status {status!r} is unknown.{suggest(status, known)} Use one of {', '.join(known)}."
        )
    with LakeReader(load_settings()) as lake:
        if status == "held":
            rows = lake.read("held_documents_listed")
            if not is_json():
                rows = Rows(rows.columns, [(str(row[0])[:13], *row[1:]) for row in rows.rows])
            print_rows(rows)
            return
        rows = lake.read("documents_listed", {"status": status or None})
    if not is_json():
        # As much of the id as `documents show` and `remove` need to know it by.
        rows = Rows(rows.columns, [(str(row[0])[:13], *row[1:]) for row in rows.rows])
    print_rows(rows)


@documents_app.command()
def show(document: Document) -> None:
    """Show what is known of a document, and where its questions are: no text of them.

    Example: proctor documents show final-2025.docx
    """
    from tasks.ingest import find_document
    from warehouse.lake import open_lake

    with open_lake(load_settings(), read_only=True) as lake:
        found = find_document(lake, document)
        params = {"document_id": found["document_id"]}
        kinds = lake.read("question_types_of_document", params)
        versions = lake.read("bank_versions_of_document", params)
    result = found | {
        "question_types": dict(kinds.rows()),
        "bank_versions": versions["bank_version"].to_list(),
    }
    print_result(result)


@documents_app.command()
def release(
    document: Document, reason: Annotated[str, typer.Option("--reason", help="Why; kept with the document.")]
) -> None:
    """Let a held paper go on as it was read: its questions then wait for review.

    Who released it, when and why is kept; what was landed stays as it is. Doing it twice changes nothing.

    Example: proctor documents release final-2025.docx --reason "looked at it: the two missing questions are pictures"
    """
    from tasks.ingest import release_document
    from tasks.review import open_waiting_batch
    from warehouse.lake import open_lake

    settings = load_settings()
    with open_lake(settings) as lake:
        released = release_document(lake, document, reason, getpass.getuser())
    waiting = open_waiting_batch(settings)
    word = "Released" if released.is_new else "Was released before:"
    lines = [
        f"{word} {released.document_name} ({released.document_id[:13]}): {say_count(released.question_count, 'question goes', 'questions go')} to review."
    ]
    print_result(asdict(released) | waiting, lines=lines, then="proctor review status")


@documents_app.command()
def remove(
    document: Document,
    reason: Annotated[
        str, typer.Option("--reason", help="Why; kept with the document.")
    ] = "ingested by mistake",
    purge: Annotated[
        bool,
        typer.Option(
            "--purge",
            help="Also delete the archived original, all that was read of it, and earlier states of the lake.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a document that should not have been ingested, with its questions.

    The record that it was there stays.

    Questions that wait in an open review batch are withdrawn from it, as long as nobody has decided on them. The same file
    is not ingested again unless `proctor ingest --again` asks for it. Exit code 3 once its questions are in the bank, or
    annotators have decided on them.

    Example: proctor documents remove wrong-paper.pdf --reason "not an exam paper"
    """
    from tasks.ingest import find_document, remove_document
    from warehouse.lake import open_lake
    from warehouse.ledger.engine.opening import open_ledger

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        found = find_document(lake, document)
        if not yes and not is_json() and sys.stdin.isatty():
            ask_whether(
                f"Remove {found['document_name']} with {say_count(found['question_count'], 'question')}?",
                abort=True,
            )
        removal = remove_document(
            lake,
            ledger,
            (settings.archive_dir, settings.exam_pictures_dir, settings.pages_dir),
            found["document_id"],
            reason,
            purge=purge,
        )
    lines = [
        f"Removed {removal.document_name} ({removal.document_id[:13]}): {say_count(removal.question_count, 'question')}."
    ]
    if removal.withdrawn_from:
        lines.append(
            f"Withdrawn from the review batch {', '.join(removal.withdrawn_from)}. Of workbooks that were exported before, "
            "the other rows are taken."
        )
    if purge:
        lines.append(
            f"Deleted {removal.deleted_files} files: the original, what was read of it, pictures of its pages; and what the lake "
            "had of it before. Backups that were made before still hold it."
        )
    print_result(asdict(removal), lines=lines, then="proctor documents list")
