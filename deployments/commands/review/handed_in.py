"""What channels of the review share: options, and how what was handed in is shown."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from deployments.command_line.printing import print_note, print_result
from deployments.commands.checks import has_published
from deployments.flow_runs import Continuation
from schemas.errors import UsageError
from tasks.review import LANGUAGES

Batch = Annotated[str, typer.Option("--batch", help="The batch; default: every open one.")]
Language = Annotated[
    str, typer.Option("--language", help="zh or en; default: the language of most of the questions.")
]
StartsNext = Annotated[
    bool, typer.Option("--continue/--no-continue", help="When a batch is complete, start what follows.")
]


def read_language(text: str) -> Literal["en", "zh"] | None:
    """The language that annotators get; None for that of most questions. Raises UsageError."""
    chosen = next((one for one in LANGUAGES if one == text), None)
    if text and chosen is None:
        raise UsageError(f"--language {text!r} is not one of {', '.join(LANGUAGES)}.")
    return chosen


def print_import(done: Continuation) -> None:
    """Print what came of decisions handed in by any channel; exit code 1 for a refusal."""
    for refusal in done.report.refusals:
        is_named = Path(refusal.source).name in refusal.message
        print_note(f"Error: {refusal.message if is_named else f'{refusal.source}: {refusal.message}'}")
    print_result(_collect_import(done), lines=_describe_import(done))
    if done.report.refusals:
        raise typer.Exit(1)


def _collect_import(done: Continuation) -> dict[str, Any]:
    """The plain values of an import, for `--json`."""
    report = done.report
    imported = []
    for receipt in report.receipts:
        row = asdict(receipt)
        is_complete = receipt.batch_id in report.complete_batches
        imported.append({"path": row.pop("source")} | row | {"is_complete": is_complete})
    return {
        "imported": imported,
        "refused": [refusal.message for refusal in report.refusals],
        "faults": [
            {"path": refusal.source, **asdict(fault)}
            for refusal in report.refusals
            for fault in refusal.faults
        ],
        "adjudications": [asdict(summary) for summary in report.adjudications],
        "complete_batches": list(report.complete_batches),
        "continued": list(done.continued),
    }


def _describe_import(done: Continuation) -> list[str]:
    report = done.report
    lines = [
        f"{receipt.source}: {receipt.new_count} new, {receipt.changed_count} changed, "
        f"{receipt.unchanged_count} as before, {receipt.blank_count} left open"
        for receipt in report.receipts
    ]
    for summary in report.adjudications:
        lines.append(f"Batch {summary.batch_id}: {summary.assigned_count} disputes given to an adjudicator")
        lines += [
            f"    {discipline}: {count} with nobody left to settle them; a third person does: proctor exam user add NAME --role annotator"
            for discipline, count in summary.unassigned.items()
        ]
    lines += [f"Batch {name} is complete." for name in report.complete_batches]
    lines += [_describe_continuation(one) for one in done.continued]
    return [*lines, f"Next: {_name_step_after_import(done)}"]


def _describe_continuation(one: dict[str, Any]) -> str:
    if one["by"] == "event":
        return f"Batch {one['batch_id']}: the worker has the event and continues (proctor status)"
    return f"Batch {one['batch_id']}: closed; the bank is at version {one['bank_version']}"


def _name_step_after_import(done: Continuation) -> str:
    report = done.report
    if any(not refusal.is_final for refusal in report.refusals):
        return "correct what is listed above and import those files again"
    if report.refusals:
        return "proctor review status"
    if report.adjudications:
        return "proctor review export workbooks (the adjudicators' are among them)"
    if done.continued:
        return "proctor bank" if has_published() else "proctor start (models, a plan with its cost, the exam)"
    if report.complete_batches:
        return "the same command without --no-continue starts what follows"
    return "proctor review status"
