"""The expert review gate: `review assign|export|import|status|agreement`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from deployments.command_line.printing import is_json, print_frame, print_note, print_result
from deployments.commands.checks import has_published
from deployments.commands.options import find_open_workbooks, list_workbooks
from deployments.commands.review.doubted import check_assigned, describe_batch, review_again
from deployments.commands.review.handed_in import Batch, Language, StartsNext, print_import, read_language
from deployments.commands.review.label_studio import label_studio_app
from deployments.commands.review.people import annotator, guidelines, messages, reassign, remind
from deployments.flow_runs import record_and_continue
from schemas.counting import say_count
from schemas.errors import StoreError, UsageError
from schemas.settings import load_settings
from tasks.review import land_row_faults, read_unreviewed
from tasks.review.assigning import (
    AssignmentSummary,
    AssignmentTerms,
    assign_batch,
    read_gold_scores,
    read_gold_supply,
)
from tasks.review.channels import export_batch, export_open_batches, read_workbooks
from tasks.review.desk import count_waiting, list_conversations
from tasks.review.overview import BatchProgress, Workload, list_progress, list_workloads
from warehouse.lake import open_lake
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger

# Imported within a function: what brings NumPy. Not every command here needs it.

review_app = typer.Typer(no_args_is_help=True)
_AGREEMENT_HEADERS = {
    "scope": "scope",
    "name": "name",
    "question_count": "questions",
    "decision_count": "decisions",
    "pair_count": "pairs",
    "percent_agreement": "agree",
    "cohen_kappa": "kappa",
    "kappa_linear": "linear",
    "kappa_quadratic": "quadratic",
    "krippendorff_alpha": "alpha",
    "alpha_ordinal": "ordinal",
    "decisions_per_day": "per day",
    "median_days_to_decide": "days",
    "is_far_off": "far off",
}
_GOLD_HEADERS = {
    "annotator": "annotator",
    "given_count": "given",
    "decided_count": "decided",
    "right_count": "right",
    "missed_count": "missed",
    "false_alarm_count": "false alarms",
    "right_rate": "rate",
    "low": "low",
    "high": "high",
}
review_app.add_typer(label_studio_app, name="label-studio")


@review_app.command()
def assign(
    batch_id: Annotated[
        str, typer.Option("--batch", help="Name of the batch; default: month and a hash.")
    ] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also questions that a closed batch left undecided.")
    ] = False,
    all_or_nothing: Annotated[
        bool, typer.Option("--all-or-nothing", help="Refuse where something would be left out.")
    ] = False,
    gold_share: Annotated[
        float | None,
        typer.Option(
            "--gold-share",
            min=0,
            max=0.5,
            help="Questions with a known decision among everybody's work; default PROCTOR_REVIEW_GOLD_SHARE (0).",
        ),
    ] = None,
    doubted: Annotated[
        list[str] | None,
        typer.Option("--question", help="A question of the bank to be read again (UUID, or six characters)."),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", help="With --question: what is doubted; its annotators read it.")
    ] = "",
) -> None:
    """Give the waiting questions to the annotators of their disciplines.

    Annotators get as many as they can take.

    What has no place (too few annotators, quotas exceeded) is named and waits for the next batch.

    With --question, questions of the bank are read again by people who have not decided on them. As corrected they are in its next
    version, with variants made again; rejected they leave it. Months that asked them stay as they are. `proctor bank retire` takes one out meanwhile.

    Example: proctor review assign

    Example: proctor review assign --question 6f1c52b8 --reason "most models say C, and so does the source"
    """
    settings = load_settings()
    if doubted or reason:
        if not doubted or gold_share is not None:
            raise UsageError(
                "--reason goes with --question, and --gold-share with neither. Nothing was assigned."
            )
        terms = AssignmentTerms(again=again, all_or_nothing=all_or_nothing, reason=reason)
        review_again(settings, doubted, batch_id or None, terms)
        return
    with open_lake(settings, read_only=True) as lake:
        questions = read_unreviewed(lake)
        share = settings.review_gold_share if gold_share is None else gold_share
        gold = read_gold_supply(settings, lake, share)
    with open_ledger(settings.ledger_address) as ledger:
        summary = assign_batch(
            ledger,
            batch_id or None,
            questions,
            None,
            settings,
            now_text(),
            AssignmentTerms(again=again, all_or_nothing=all_or_nothing, gold=gold),
        )
        is_open = any(batch.status == "open" for batch in list_progress(ledger, now_text()))
    check_assigned(summary)
    lines = _describe_assignment(summary, share, is_open=is_open)
    print_result(asdict(summary), lines=lines)


@review_app.command("export")
def export_workbooks(
    folder: Annotated[Path, typer.Argument(help="Folder for the workbooks; one per annotator.")],
    batch_id: Batch = "",
    language: Language = "",
) -> None:
    """Write one Excel workbook per annotator: a card per question, with the decision beside it.

    Example: proctor review export workbooks
    """
    chosen = read_language(language)
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        paths = (
            export_batch(ledger, batch_id, folder, language=chosen, archive=settings.archive_dir)
            if batch_id
            else export_open_batches(ledger, folder, language=chosen, archive=settings.archive_dir)
        )
    lines = [
        *map(str, paths),
        f"Next: give each annotator their workbook; when it comes back: proctor review import {folder}/*.xlsx",
    ]
    if not paths:
        lines = ["No batch is open: nothing to export.", "Next: proctor review assign"]
    print_result({"workbooks": [str(path) for path in paths]}, lines=lines)


@review_app.command("import")
def import_workbooks(
    paths: Annotated[list[Path], typer.Argument(help="Filled-in workbooks, or their folder.")],
    starts_next: StartsNext = True,
    all_or_nothing: Annotated[
        bool,
        typer.Option("--all-or-nothing", help="Refuse a file with a bad row whole; write no marked copy."),
    ] = False,
) -> None:
    """Record the decisions of filled-in workbooks.

    Bad rows are named, those of one kind together, and marked in NAME.to-correct.xlsx beside the file. `--json` and the
    table `quarantine` have each of them.

    A file of another batch, or one whose identity or rows were altered, is refused whole. Importing again changes nothing.

    The last decision of a batch starts what follows: an event on a running server with a worker, else here and now.

    Example: proctor review import workbooks/*.xlsx
    """
    files = list_workbooks(paths)
    for path in find_open_workbooks(files):
        print_note(
            f"{path} is open in another program: what is not saved there is not read. Save it, and import it again."
        )
    done = record_and_continue(
        lambda ledger: read_workbooks(ledger, files, all_or_nothing=all_or_nothing), starts_next=starts_next
    )
    try:
        land_row_faults(load_settings(), done.report)
    except StoreError as error:
        print_note(f"The decisions are recorded; the rows to correct are not in `quarantine` yet: {error}")
    print_import(done)


@review_app.command()
def status() -> None:
    """How far every batch is, who owes decisions, and what is overdue.

    It also shows who cannot finish at their daily quota.

    Example: proctor review status
    """
    settings, now = load_settings(), now_text()
    with open_ledger(settings.ledger_address) as ledger:
        batches = list_progress(ledger, now)
        loads = list_workloads(ledger, settings, now)
        waiting = count_waiting(list_conversations(ledger))
    result = {
        "batches": [asdict(batch) for batch in batches],
        "annotators": [asdict(one) | {"is_behind": one.is_behind} for one in loads],
        "unanswered_messages": waiting,
    }
    lines = _describe_progress(batches, loads)
    if waiting:
        lines.insert(-1, f"Messages of annotators without an answer: {waiting} (proctor review messages)")
    print_result(result, lines=lines)


@review_app.command()
def agreement(
    batch_id: Annotated[
        str, typer.Option("--batch", help="The batch; default: all batches, open or closed.")
    ] = "",
) -> None:
    """How far annotators agree and how fast they work.

    The figures are per batch, discipline, annotator and pair of annotators.

    Example: proctor review agreement --batch 2026-11-3ad61f79
    """
    from tasks.review import compute_review_agreement, read_votes

    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger:
        rows = [asdict(row) for row in compute_review_agreement(read_votes(ledger, batch_id or None))]
        gold = [asdict(row) for row in read_gold_scores(ledger, batch_id or None)]
    if not is_json():
        _print_table(rows, _AGREEMENT_HEADERS, "Agreement of annotators")
        _print_table(gold, _GOLD_HEADERS, "Questions with a known decision")
    lines = (
        ["Next: proctor review status"] if rows else ["No decision is in yet.", "Next: proctor review status"]
    )
    print_result({"agreement": rows, "gold": gold}, lines=lines)


def _describe_assignment(summary: AssignmentSummary, gold_share: float, *, is_open: bool) -> list[str]:
    if not summary.is_new:
        return [
            "Nothing new to assign: every question is in a batch already, or decided.",
            # With no batch open the way goes on from here: `review status` would send people back.
            "Next: proctor review status"
            if is_open
            else "Next: proctor start, or more papers: proctor ingest FOLDER",
        ]
    return describe_batch(summary, [_describe_gold(summary.gold_count)] if gold_share else [])


def _describe_gold(count: int) -> str:
    if count:
        return f"Among them: {say_count(count, 'question')} with a known decision"
    return "No question with a known decision is among them: annotators have read all that are settled"


def _describe_progress(batches: Sequence[BatchProgress], loads: Sequence[Workload]) -> list[str]:
    lines = []
    for batch in batches:
        states = ", ".join(f"{count} {state}" for state, count in sorted(batch.states.items()))
        late = " OVERDUE" if batch.is_overdue else ""
        lines.append(f"{batch.batch_id}  {batch.status}  due {batch.due_at[:10]}{late}  {states}")
        lines += [
            f"    {one.annotator}: {one.decided_count} of {one.assigned_count}" for one in batch.annotators
        ]
    if not batches:
        lines.append("There is no review batch.")
    lines += [_describe_load(one) for one in loads if one.open_count]
    # A complete batch waits as well: for what follows it, which an import starts.
    is_waiting = any(batch.status != "closed" for batch in batches)
    if is_waiting:
        return [*lines, "Next: proctor review import workbooks/*.xlsx"]
    is_first = bool(batches) and not has_published()
    return [*lines, f"Next: proctor {'start' if is_first else 'review assign'}"]


def _describe_load(one: Workload) -> str:
    line = f"{one.annotator}: {one.open_count} open"
    if one.overdue_count:
        line += f", {one.overdue_count} OVERDUE"
    line += f", quota {one.quota} a day, {one.decided_today_count} decided today"
    if one.needed_per_day is not None:
        line += f"; {one.needed_per_day:.1f} a day finish them by {str(one.due_at)[:10]}"
    return line + (" BEHIND" if one.is_behind else "")


def _print_table(rows: list[dict[str, Any]], headers: dict[str, str], title: str) -> None:
    """A table with headers short enough for a terminal; nothing without rows."""
    if rows:
        print_frame(pl.DataFrame(rows, infer_schema_length=None).rename(headers), title=title)


for _command in (annotator, reassign, remind, messages, guidelines):
    review_app.command()(_command)
