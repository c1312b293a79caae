"""proctor ingest learn."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from deployments.command_line.printing import print_result
from deployments.commands.options import AsJson
from schemas.settings import load_settings


def learn(
    truth: Annotated[
        list[Path] | None,
        typer.Option("--truth", help="Folder of papers with truth files; may be given several times."),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Take the new fit into use for what is read from now on.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fit the confidence again on what review decided, and report what that would change.

    A question that was accepted as it was read is right; one whose type, text, options or answer were edited, or that was
    rejected as unclear, unanswered or badly formatted, is wrong. Nothing takes effect without --apply, and what has landed keeps
    its confidence until it is read again.

    Example: proctor ingest learn --truth papers-read-by-eye
    """
    from tasks.ingest import learn_confidence, make_options
    from warehouse.lake import open_lake

    settings = load_settings()
    with open_lake(settings, read_only=not apply) as lake:
        report = learn_confidence(
            lake, truth or [], make_options(settings=settings), getpass.getuser(), apply=apply
        )
    lines = [
        report.table,
        "",
        f"Fitted on {report.question_count} questions of {report.paper_count} papers: {report.version} "
        f"(in use so far: {report.old_version}).",
        f"Landed questions that would rise above the threshold: {report.raised}; that would fall below: {report.lowered}.",
        f"Landed papers that would be held: {len(report.held)}; that would be no longer: {len(report.released)}.",
        *(f"  held: {path}" for path in report.held),
        *(f"  no longer held: {path}" for path in report.released),
        "It holds for what is read from now on. `proctor ingest --again` reads landed papers again."
        if report.is_applied
        else "Nothing was changed. --apply takes it into use.",
    ]
    print_result(asdict(report), as_json=as_json, lines=lines)
