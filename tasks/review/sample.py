"""The sample of a model's variants that people read before any of the batch is used."""

from __future__ import annotations

import polars as pl

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.review.assigning import AssignmentTerms, assign_batch, read_annotators
from warehouse.lake import open_lake
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger


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
