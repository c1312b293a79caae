"""Between the gate and the lake: what nobody has reviewed yet, and what a closed batch leaves behind."""

from __future__ import annotations

from collections import Counter

import polars as pl

from tasks.review.batches import assign_adjudicators, close_batch, is_ready_to_close, list_batches
from warehouse.lake.store import Batch, Lake
from warehouse.ledger.engine import Ledger


def read_unreviewed(lake: Lake) -> pl.DataFrame:
    """Rows of `questions` that no landed decision settles; of a question found in two documents the first counts.

    Whether a question lies in an open batch is the ledger's knowledge: assigning skips those.
    """
    return lake.read("unreviewed_questions")


def land_closed_batches(
    ledger: Ledger, lake: Lake, now: str, batch_id: str | None = None
) -> dict[str, object]:
    """Close what is ready, land what is closed; disputes first get their adjudicators.

    Doing it twice changes nothing. Returns counts and ids: closed batches, outcomes, batches that still wait.
    """
    landed = lake.units("review_decisions")
    closed: list[str] = []
    waiting: list[str] = []
    outcomes: Counter[str] = Counter()
    for batch in list_batches(ledger):
        name = str(batch["batch_id"])
        if (batch_id is not None and name != batch_id) or (batch["status"] == "closed" and name in landed):
            continue
        if batch["status"] != "closed":
            assign_adjudicators(ledger, name, now)
            if not is_ready_to_close(ledger, name, now):
                waiting.append(name)
                continue
        result = close_batch(ledger, name, now)
        lake.land_together(
            [
                Batch("review_assignments", name, result.assignments),
                Batch("reviews", name, result.reviews),
                Batch("review_decisions", name, result.decisions),
            ],
            stage="review",
        )
        closed.append(name)
        outcomes.update(result.outcomes)
    return {"closed_batches": closed, "waiting_batches": waiting, "outcomes": dict(outcomes)}
