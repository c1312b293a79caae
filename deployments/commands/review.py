"""The expert review gate from the command line: review assign, export, import, status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deployments.commands.options import AsJson

if TYPE_CHECKING:
    from warehouse.ledger.engine import Ledger

review_app = typer.Typer(
    no_args_is_help=True,
    help="The expert review gate: assign questions, export and import workbooks, see how far it is.",
)


def add_commands(app: typer.Typer) -> None:
    """Register this module's commands."""
    app.add_typer(review_app, name="review")


@review_app.command()
def assign(
    batch_id: Annotated[
        str, typer.Option("--batch", help="Name of the batch; default: month and a hash.")
    ] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also questions that a closed batch left undecided.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Give every question that waits to the annotators of its discipline.

    Example: proctor review assign
    """
    from dataclasses import asdict

    from deployments.output import print_result
    from schemas.errors import GateError
    from schemas.settings import load_settings
    from tasks.review.assignment import assign_batch, read_annotators
    from tasks.review.landing import read_unreviewed
    from warehouse.lake.store import open_lake
    from warehouse.ledger.engine import now_text, open_ledger

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        with open_lake(settings, read_only=True) as lake:
            questions = read_unreviewed(lake)
        if not read_annotators(ledger):
            raise GateError(
                "There are no annotators to assign questions to. Add them with "
                "`proctor exam user add NAME --role annotator --discipline History`."
            )
        summary = assign_batch(ledger, batch_id or None, questions, None, settings, now_text(), again=again)
    lines = [
        f"Batch {summary.batch_id}: {summary.question_count} questions, {summary.assignment_count} assignments, "
        f"due {str(summary.due_at)[:10]}",
        *[f"    {name}: {load}" for name, load in summary.loads.items()],
    ]
    if not summary.is_new:
        lines = [
            "Nothing new to assign: every question that waits lies in a batch already (proctor review status)."
        ]
    print_result(asdict(summary), as_json=as_json, lines=lines)


@review_app.command("export")
def export_workbooks(
    folder: Annotated[Path, typer.Argument(help="Folder for the workbooks; one per annotator.")],
    batch_id: Annotated[str, typer.Option("--batch", help="The batch; default: every open one.")] = "",
    as_json: AsJson = False,
) -> None:
    """Write one Excel workbook per annotator, with drop-down lists and instructions in Chinese and English.

    Example: proctor review export workbooks
    """
    from deployments.output import print_result
    from schemas.settings import load_settings
    from tasks.review.batches import list_batches
    from tasks.review.channels.workbook.writing import export_batch
    from warehouse.ledger.engine import open_ledger

    with open_ledger(load_settings().ledger_address) as ledger:
        names = (
            [batch_id]
            if batch_id
            else [b["batch_id"] for b in list_batches(ledger) if b["status"] != "closed"]
        )
        folder.mkdir(parents=True, exist_ok=True)
        paths = [path for name in names for path in export_batch(ledger, name, folder)]
    print_result(
        {"workbooks": [str(path) for path in paths]},
        as_json=as_json,
        lines=[str(path) for path in paths] or ["No batch is open: nothing to export."],
    )


@review_app.command("import")
def import_workbooks(
    paths: Annotated[list[Path], typer.Argument(help="Filled-in workbooks.")],
    go_on: Annotated[
        bool, typer.Option("--continue/--no-continue", help="When a batch is complete, start what follows.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Record the decisions of filled-in workbooks: all of a file's, or none, with every fault named.

    The last decision of a batch starts what follows: an event on a running server with a worker, else here and now.

    Example: proctor review import workbooks/*.xlsx
    """
    from dataclasses import asdict

    from deployments.output import print_note, print_result
    from schemas.errors import ProctorError
    from schemas.settings import load_settings
    from tasks.review.channels.workbook.reading import import_workbook
    from warehouse.ledger.engine import now_text, open_ledger

    imported: list[dict[str, Any]] = []
    refused: list[str] = []
    with open_ledger(load_settings().ledger_address) as ledger:
        for path in paths:
            try:
                imported.append({"path": str(path)} | asdict(import_workbook(ledger, path, now_text())))
            except ProctorError as error:
                refused.append(str(error))
                print_note(f"Error: {error}")
        disputes = _assign_disputes(ledger, {str(one["batch_id"]) for one in imported})
    complete = sorted({str(one["batch_id"]) for one in imported if one["is_complete"]})
    result: dict[str, Any] = {"imported": imported, "refused": refused, "complete_batches": complete}
    result["adjudications"] = disputes
    if go_on:
        from deployments.continuation import continue_review

        for name in complete:
            result |= {"continued": continue_review(name)}
    print_result(result, as_json=as_json)
    if refused:
        raise typer.Exit(1)


def _assign_disputes(ledger: Ledger, batches: set[str]) -> list[dict[str, Any]]:
    """Give what reviewers disagree on to an adjudicator as soon as it shows; exported with the next workbooks."""
    from dataclasses import asdict

    from tasks.review.batches import assign_adjudicators
    from warehouse.ledger.engine import now_text

    assigned = [assign_adjudicators(ledger, name, now_text()) for name in sorted(batches)]
    return [asdict(one) for one in assigned if one.assigned_count or one.unassigned]


@review_app.command()
def status(as_json: AsJson = False) -> None:
    """How far every batch is, and who still owes decisions.

    Example: proctor review status
    """
    from dataclasses import asdict

    from deployments.output import print_result
    from schemas.settings import load_settings
    from tasks.review.batches import list_batches, read_progress
    from warehouse.ledger.engine import now_text, open_ledger

    with open_ledger(load_settings().ledger_address) as ledger:
        batches = [asdict(read_progress(ledger, b["batch_id"], now_text())) for b in list_batches(ledger)]
    lines = []
    for batch in batches:
        states = ", ".join(f"{count} {state}" for state, count in sorted(batch["states"].items()))
        late = " OVERDUE" if batch["is_overdue"] else ""
        lines.append(f"{batch['batch_id']}  {batch['status']}  due {batch['due_at'][:10]}{late}  {states}")
        lines += [
            f"    {a['annotator']}: {a['decided_count']} of {a['assigned_count']}"
            for a in batch["annotators"]
        ]
    print_result({"batches": batches}, as_json=as_json, lines=lines or ["There is no review batch."])
