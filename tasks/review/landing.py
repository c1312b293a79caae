"""Between the gate and the lake: what is to be reviewed comes in, what is decided lands."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import polars as pl

from schemas.errors import GateError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.review.assigning import AssignmentTerms, assign_batch, read_annotators, read_gold_supply
from tasks.review.batch import list_batches
from tasks.review.closing import ClosedBatch, close_batch
from tasks.review.overview import is_ready_to_close
from tasks.review.recording import DeskReport, RowFault, assign_adjudicators, name_unit
from warehouse.lake import Batch, Lake, Landing, open_lake
from warehouse.ledger.engine.leases.clock import check_clock, read_time
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text, write_moment
from warehouse.ledger.engine.opening import open_ledger


def read_unreviewed(lake: Lake) -> pl.DataFrame:
    """Rows of `questions` that no landed decision settles.

    Of a question found in two documents the first counts. Whether a question lies in an open batch is the
    ledger's knowledge: assigning skips those.
    """
    return lake.read("unreviewed_questions")


def count_unreviewed(lake: Lake) -> int:
    """How many questions `read_unreviewed` would give; reads none of their text."""
    return int(lake.read("unreviewed_count").item())


def land_closed_batches(
    ledger: Ledger, lake: Lake, now: str, batch_id: str | None = None
) -> dict[str, object]:
    """Close what is ready, land what is closed; disputes first get their adjudicators.

    Doing it twice changes nothing. Returns counts and ids: closed batches, outcomes, batches that still wait.
    """
    closed: list[str] = []
    waiting: list[str] = []
    outcomes: Counter[str] = Counter()
    batches = list_batches(ledger)
    landed = lake.landed("review_decisions", [batch.batch_id for batch in batches])
    for batch in batches:
        name = batch.batch_id
        if (batch_id is not None and name != batch_id) or (batch.is_closed and name in landed):
            continue
        if not batch.is_closed:
            assign_adjudicators(ledger, name, now)
            if not is_ready_to_close(ledger, name, now):
                waiting.append(name)
                continue
        try:
            result = close_batch(ledger, name, now)
        except GateError:
            # A decision came in between and opened it again; the other batches are closed all the same.
            waiting.append(name)
            continue
        land_batch(lake, result)
        closed.append(name)
        outcomes.update(result.outcomes)
    return {"closed_batches": closed, "waiting_batches": waiting, "outcomes": dict(outcomes)}


def read_review_time(ledger: Ledger) -> str:
    """The moment that makes open batches overdue; ClockError where a leap alone would decide it."""
    open_batches = [batch for batch in list_batches(ledger) if not batch.is_closed]
    check_clock(ledger)
    with ledger.read() as connection:
        time = read_time(connection)
    return write_moment(
        time.settle((batch.created_at, partial(_is_overdue, batch.due_at)) for batch in open_batches)
    )


def _is_overdue(due_at: str, moment: float) -> bool:
    return due_at < write_moment(moment)


def land_batch(lake: Lake, batch: ClosedBatch) -> list[Landing]:
    """Land a closed batch, by table.

    Twice is once.
    """
    name = batch.batch_id
    batches = [
        Batch("review_assignments", name, batch.assignments),
        Batch("reviews", name, batch.reviews),
        Batch("review_decisions", name, batch.decisions),
    ]
    if not batch.gold.is_empty():
        batches.append(Batch("gold_reviews", name, batch.gold))
    if not batch.messages.is_empty():
        batches.append(Batch("review_messages", name, batch.messages))
    return lake.land_together(batches, stage="review")


def land_row_faults(settings: Settings, report: DeskReport) -> int:
    """Keep in `quarantine` each row that could not be recorded until a later file has it right.

    Returns how many faults stand there of what was handed in. The lake is written only where something changes.
    """
    faults: dict[str, list[RowFault]] = {
        name_unit(one.batch_id, one.annotator, one.role): [] for one in report.receipts
    }
    for refusal in report.refusals:
        if refusal.unit:
            faults.setdefault(refusal.unit, []).extend(refusal.faults)
    if not any(faults.values()):
        with open_lake(settings, read_only=True) as lake:
            if not lake.landed("reviews", faults):
                return 0
    empty = get_table("reviews").frame([])
    with open_lake(settings) as lake:
        known = lake.landed("reviews", faults)
        batches = [
            Batch("reviews", unit, empty, refused=_frame_faults(unit, some))
            for unit, some in faults.items()
            if some or unit in known
        ]
        lake.land_together(batches, stage="review")
    return sum(map(len, faults.values()))


def _frame_faults(unit: str, faults: Sequence[RowFault]) -> pl.DataFrame:
    # A name of a person may hold a slash, that of a batch none.
    batch_id, _, person = unit.partition("/")
    annotator = person.rpartition("/")[0]
    now = datetime.now(UTC)
    rows = [
        {
            "table_name": "reviews",
            "unit": unit,
            "stage": "review",
            "row_key": json.dumps(
                {
                    "batch_id": batch_id,
                    "question_uuid": one.question_uuid,
                    "annotator": annotator,
                    "row": one.row,
                }
            ),
            "rule": ": ".join(filter(None, (one.header, one.message))),
            "row_json": json.dumps({"row": one.row, **one.cells}, ensure_ascii=False),
            "quarantined_at": now,
        }
        for one in faults
    ]
    return get_table("quarantine").frame(rows)


def open_waiting_batch(settings: Settings) -> dict[str, object]:
    """Put questions that nobody reviewed into a batch, if there are annotators; gives counts."""
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        count = count_unreviewed(lake)
        if not count or not read_annotators(ledger):
            return {"waiting_questions": count, "batch_id": None}
        questions = read_unreviewed(lake)
        gold = read_gold_supply(settings, lake, settings.review_gold_share)
        summary = assign_batch(
            ledger, None, questions, None, settings, now_text(), AssignmentTerms(gold=gold)
        )
    return {
        "waiting_questions": sum(one.question_count for one in summary.left_out),
        "batch_id": summary.batch_id,
        "assigned_questions": summary.question_count if summary.is_new else 0,
        "assignments": summary.assignment_count if summary.is_new else 0,
    }


def open_sample_batch(settings: Settings) -> dict[str, object]:
    """Put the variants drawn from held batches into a review batch.

    Only variants are put there that nobody has decided on and nobody is about to.

    Returns ids and counts. Where there are too few annotators, or they have too much to do, the sample waits and
    `sample_refusal` says why: the variants are written and stay held.
    """
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        waiting = lake.read("variant_samples").filter(pl.col("outcome").is_null())
        nothing: dict[str, object] = {"waiting_samples": waiting.height, "sample_batch_id": None}
        if waiting.is_empty() or not read_annotators(ledger):
            return nothing
        try:
            # One that a closed batch left undecided is given out again.
            summary = assign_batch(
                ledger,
                None,
                waiting,
                None,
                settings,
                now_text(),
                AssignmentTerms(again=True, all_or_nothing=True),
            )
        except GateError as error:
            return nothing | {"sample_refusal": str(error)}
    return {"waiting_samples": waiting.height, "sample_batch_id": summary.batch_id}
