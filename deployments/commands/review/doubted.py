"""What `review assign` says of a batch, and questions of the bank that are given out again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from deployments.command_line.printing import print_result
from schemas.counting import say_count
from schemas.errors import GateError
from schemas.settings import Settings
from tasks.bank import find_question
from tasks.bank.augment import MODEL_METHODS
from tasks.questions import ORIGINAL
from tasks.review import assign_doubted
from tasks.review.assigning import AssignmentSummary, AssignmentTerms, LeftOut, ReadBefore
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.exam.plans import find_open_session


def review_again(
    settings: Settings, names: Sequence[str], batch_id: str | None, terms: AssignmentTerms
) -> None:
    """Give questions of the bank out again, and say what else is known of each."""
    with (
        open_ledger(settings.ledger_address) as ledger,
        open_lake(settings, read_only=True) as lake,
    ):
        found = [_find_doubted(ledger, lake, name) for name in dict.fromkeys(names)]
        uuids = {str(one["question_uuid"]) for one in found}
        summary = assign_doubted(ledger, lake, settings, uuids, terms, now_text(), batch_id)
    before = [_describe_read_before(one) for one in summary.read_before]
    check_assigned(summary, before)
    lines = describe_batch(summary, [*before, *(line for one in found for line in _describe_doubted(one))])
    if not summary.is_new:
        is_added = any(one.is_added for one in summary.read_before)
        lines = [*before, f"Next: proctor review {'export workbooks' if is_added else 'status'}"]
    print_result({**asdict(summary), "questions": found}, lines=lines)


def check_assigned(summary: AssignmentSummary, notes: Sequence[str] = ()) -> None:
    """Pass unless nothing was assigned as nobody can take it; GateError says what would help."""
    if summary.left_out and not summary.is_new:
        raise GateError(
            f"{'; '.join(_describe_left_out(summary.left_out))}. Add annotators or disciplines, wait for decisions, or raise "
            f"PROCTOR_REVIEW_DAILY_QUOTA or PROCTOR_REVIEW_DUE_DAYS. {' '.join(['Nothing was assigned.', *notes])}"
        )


def describe_batch(summary: AssignmentSummary, notes: Sequence[str]) -> list[str]:
    """A new batch, who has how much of it, what else is to be known, and what waits."""
    return [
        f"Batch {summary.batch_id}: {say_count(summary.question_count, 'question')}, "
        f"{say_count(summary.assignment_count, 'assignment')}, "
        f"due {str(summary.due_at)[:10]}",
        *[f"    {name}: {load}" for name, load in summary.loads.items()],
        *notes,
        *_describe_left_out(summary.left_out),
        "Next: proctor review export workbooks",
    ]


def _find_doubted(ledger: Ledger, lake: Lake, name: str) -> dict[str, Any]:
    """The question to read again: of what a template made, that which it was made of."""
    entry = find_question(lake, name)
    named = str(entry["question_uuid"])
    is_made = entry["method"] not in (ORIGINAL, *MODEL_METHODS)
    question = str(entry["parent_uuid"]) if is_made else named
    lineage = str(entry["lineage_uuid"])
    said = [lake.read("retirements_of", {"question_uuid": one}) for one in {question, lineage}]
    with ledger.read() as connection:
        session = find_open_session(connection, lineage)
    return {
        "question_uuid": question,
        "named_uuid": named,
        "method": ORIGINAL if is_made else entry["method"],
        "is_retired": any(rows.height and bool(rows["is_retired"][-1]) for rows in said),
        "open_session": session,
    }


def _describe_read_before(one: ReadBefore) -> str:
    if one.state == "settled":
        return f"{one.question_uuid} was settled for this reason in batch {one.batch_id}; --again gives it out once more."
    if one.state == "closed":
        return (
            f"{one.question_uuid} was read in batch {one.batch_id}, which is closed and has not landed: the reason was not kept. "
            "Give it again after `proctor dedupe run`."
        )
    known = (
        "the reason was added to what its annotators read; a workbook that was exported before does not have it"
        if one.is_added
        else "its annotators know the reason"
    )
    return (
        f"{one.question_uuid} is in open batch {one.batch_id}, due {one.due_at[:10]}, with {one.decision_count} of "
        f"{say_count(one.assignment_count, 'decision')}: {known}."
    )


def _describe_doubted(one: dict[str, Any]) -> list[str]:
    question = str(one["question_uuid"])
    lines = []
    if question != one["named_uuid"]:
        lines.append(
            f"{one['named_uuid']} is made of {question}: that is read again, and its variants follow it."
        )
    elif one["method"] != ORIGINAL:
        lines.append(f"{question} was written by a model: its own words are read again, not the original's.")
    if one["is_retired"]:
        lines.append(
            f"{question} is retired, and stays out as corrected until `proctor bank restore {question[:8]}`."
        )
    if one["open_session"]:
        lines.append(
            f"{question}, or another of its lineage, stands in session {one['open_session']}, which is not closed: its run asks and judges it as it is."
        )
    return lines


def _describe_left_out(left_out: Sequence[LeftOut]) -> list[str]:
    """What waits for a later batch: one line for each reason."""
    reasons: dict[str, list[LeftOut]] = {}
    for one in left_out:
        reasons.setdefault(one.reason, []).append(one)
    return [
        f"{say_count(sum(one.question_count for one in group), 'question waits', 'questions wait')} for a later batch "
        f"({', '.join(f'{one.discipline} {one.question_count:,}' for one in group)}): {reason}"
        for reason, group in reasons.items()
    ]
