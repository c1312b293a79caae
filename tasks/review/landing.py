"""Between the gate and the lake.

It reads what nobody has reviewed yet, and lands what a closed batch leaves.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import polars as pl

from schemas.errors import GateError
from tasks.review.batch import list_batches
from tasks.review.closing import ClosedBatch, close_batch
from tasks.review.overview import is_ready_to_close
from tasks.review.recording import assign_adjudicators
from warehouse.lake import Batch, Lake, Landing
from warehouse.ledger.engine.leases.clock import check_clock, read_time
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import write_moment


def read_unreviewed(lake: Lake) -> pl.DataFrame:
    """Rows of `questions` that no landed decision settles.

    Of a question found in two documents the first counts.

    Whether a question lies in an open batch is the ledger's knowledge: assigning skips those.
    """
    return lake.read("unreviewed_questions")


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
        _land(lake, result)
        closed.append(name)
        outcomes.update(result.outcomes)
    return {"closed_batches": closed, "waiting_batches": waiting, "outcomes": dict(outcomes)}


def read_review_time(ledger: Ledger) -> str:
    """The moment that decides whether open batches are overdue.

    Raises ClockError where a leap of the clock alone would decide it.
    """
    open_batches = [batch for batch in list_batches(ledger) if not batch.is_closed]
    check_clock(ledger)
    with ledger.read() as connection:
        time = read_time(connection)
    return write_moment(
        time.settle((batch.created_at, partial(_is_overdue, batch.due_at)) for batch in open_batches)
    )


def _is_overdue(due_at: str, moment: float) -> bool:
    return due_at < write_moment(moment)


def land_missing_batches(ledger: Ledger, lake: Lake) -> dict[str, int]:
    """Land the batches that are closed in the ledger and not in the lake.

    Returns rows newly landed by table.

    Closes nothing: which batch is ready is for the review gate to say.
    """
    closed = {batch.batch_id: batch.closed_at for batch in list_batches(ledger) if batch.is_closed}
    counts: Counter[str] = Counter()
    for name in sorted(closed.keys() - lake.landed("review_decisions", list(closed))):
        for landing in _land(lake, close_batch(ledger, name, str(closed[name]))):
            counts[landing.table] += landing.row_count
    return dict(counts)


def _land(lake: Lake, batch: ClosedBatch) -> list[Landing]:
    name = batch.batch_id
    batches = [
        Batch("review_assignments", name, batch.assignments),
        Batch("reviews", name, batch.reviews),
        Batch("review_decisions", name, batch.decisions),
    ]
    if not batch.gold.is_empty():
        batches.append(Batch("gold_reviews", name, batch.gold))
    return lake.land_together(batches, stage="review")
