"""proctor ingest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deployments.commands.options import AsJson


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.command()(ingest)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Papers, or folders of papers.")],
    again: Annotated[
        bool, typer.Option("--again", help="Read documents anew that are landed already.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read exam papers (Excel, Word, PDF, text) into documents and questions; then they wait for review.

    The same file twice is read once. Exit code 1 when a document could not be read; the others are landed.

    Example: proctor ingest papers/2026 extra/final.docx
    """
    from deployments.flow_runner import run_flow
    from deployments.output import print_result
    from tasks.ingest.documents import list_documents

    list_documents(paths)  # a path that does not exist is said before a server is started
    result = run_flow("ingest", paths=[str(path.resolve()) for path in paths], again=again)
    lines = [f"{count} documents {status}" for status, count in sorted(result["documents"].items())]
    lines += (
        [f"{result['skipped_documents']} documents were landed already"]
        if result["skipped_documents"]
        else []
    )
    lines += [f"{count} questions of type {name}" for name, count in sorted(result["questions"].items())]
    lines += [f"{p['document']}: {p['status']}. {p['error']}" for p in result["problems"]]
    if result["quarantined_rows"]:
        lines.append(f"{result['quarantined_rows']} rows are in quarantine: proctor sql quarantine_by_rule")
    if result["batch_id"]:
        lines.append(f"Review batch {result['batch_id']}: proctor review export FOLDER")
    elif result["waiting_questions"]:
        lines.append(f"{result['waiting_questions']} questions wait for annotators: proctor review assign")
    print_result(result, as_json=as_json, lines=lines)
    if any(problem["status"] not in ("no_questions",) for problem in result["problems"]):
        raise typer.Exit(1)
