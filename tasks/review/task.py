"""The review gate as Prefect sees it: what is ready continues, the rest is counted."""

from __future__ import annotations

from schemas.settings import load_settings
from tasks.review.landing import land_closed_batches, open_sample_batch, open_waiting_batch, read_review_time
from tasks.running.flow_runs import RETRIED, step
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger


@step()
def open_review_batch() -> dict[str, object]:
    """Put questions that nobody has reviewed into a batch, if there are annotators."""
    return open_waiting_batch(load_settings())


@step()
def open_variant_samples() -> dict[str, object]:
    """Give the sample of a model's variants to annotators, if there are any."""
    return open_sample_batch(load_settings())


@step(**RETRIED)
def close_reviewed_batches(batch_id: str = "") -> dict[str, object]:
    """Close and land every batch that is decided or past its deadline; an empty id means all."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        return land_closed_batches(ledger, lake, read_review_time(ledger), batch_id or None)
