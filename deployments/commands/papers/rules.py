"""What must hold of a question, and how it is learnt: rules list|check, ingest learn."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from deployments.command_line.printing import print_result
from schemas.counting import say_count
from schemas.settings import load_settings
from tasks.operations.validation import check_questions, read_rule_notes
from tasks.running import Progress
from warehouse.lake import open_lake

rules_app = typer.Typer(no_args_is_help=True)


@rules_app.command("list")
def list_() -> None:
    """Every rule with what must hold, whether it refuses, and what to do.

    With --json, each rule also has an example that breaks it.

    Example: proctor rules list
    """
    notes = read_rule_notes().values()
    lines = [
        f"{note.name} ({note.about}, {'refuses' if note.refuses else 'doubt'}): {note.texts[1]} {note.advice[1]}"
        for note in notes
    ]
    rows: list[dict[str, Any]] = [asdict(note) | {"example": dict(note.example)} for note in notes]
    print_result({"rules": rows}, lines=lines, then="proctor rules check")


@rules_app.command()
def check(
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the page. Default: PROCTOR_HOME/validation.")
    ] = None,
) -> None:
    """Hold every original and every variant to all rules, and write a page for editors.

    The page shows what failed, and where.

    The page shows questions; it is for editors, not for candidates. What a rule refuses has no place in the bank already.

    Example: proctor rules check --out editors
    """
    settings = load_settings()
    with open_lake(settings, read_only=True) as lake, Progress("rules: questions") as progress:
        found, page = check_questions(lake, out or settings.home / "validation", advance=progress.advance)
    counts = dict(found.counts.most_common())
    print_result(
        {"originals": found.originals, "variants": found.variants, "broken": counts, "page": str(page)},
        lines=[
            f"{say_count(found.originals, 'original')} and {say_count(found.variants, 'variant')} checked.",
            *[f"{name}: {count}" for name, count in counts.items()],
            f"page: {page}",
        ],
    )


def learn(
    truth: Annotated[
        list[Path] | None,
        typer.Option("--truth", help="Folder of papers with truth files; may be given several times."),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Take the new fit into use for what is read from now on.")
    ] = False,
) -> None:
    """Fit the confidence again on what review decided, and report what that would change.

    A question that was accepted as it was read is right; one whose type, text, options or answer were edited, or that was
    rejected as unclear, unanswered or badly formatted, is wrong. Nothing takes effect without --apply, and what has landed keeps
    its confidence until it is read again.

    Example: proctor ingest learn --truth papers-read-by-eye
    """
    from tasks.ingest import learn_confidence, make_options

    settings = load_settings()
    with open_lake(settings, read_only=not apply) as lake:
        report = learn_confidence(
            lake, truth or [], make_options(settings=settings), getpass.getuser(), apply=apply
        )
    lines = [
        report.table,
        "",
        f"Fitted on {say_count(report.question_count, 'question')} of {say_count(report.paper_count, 'paper')}: {report.version} "
        f"(in use so far: {report.old_version}).",
        f"Landed questions that would rise above the threshold: {report.raised}; that would fall below: {report.lowered}.",
        f"Landed papers that would be held: {len(report.held)}; that would be no longer: {len(report.released)}.",
        *(f"  held: {path}" for path in report.held),
        *(f"  no longer held: {path}" for path in report.released),
        "It holds for what is read from now on. `proctor ingest --again` reads landed papers again."
        if report.is_applied
        else "Nothing was changed. --apply takes it into use.",
    ]
    print_result(asdict(report), lines=lines)
