"""What happens when annotators are done."""

from __future__ import annotations

from prefect import flow

from tasks.augment.task import augment_accepted, settle_variants
from tasks.dedupe.task import publish_bank
from tasks.flow_runs.task import RECORDED, name_run, publish_summary
from tasks.reconcile.task import reconcile_stores
from tasks.review.task import close_reviewed_batches


@flow(name="review_gate", flow_run_name=name_run, **RECORDED)
def review_gate(batch_id: str = "") -> dict[str, object]:
    """Close the batches that are decided or past their deadline, multiply what passed, publish the bank.

    Started by the event `proctor.review.complete`, by a daily sweep, or by the command that records the last
    decision; doing it twice changes nothing.

    Args:
        batch_id: review batch to close; empty for every batch that is ready.
    """
    reconcile_stores()
    closed = close_reviewed_batches(batch_id)
    settled = settle_variants()
    variants = augment_accepted()
    bank = publish_bank()

    result = closed | settled | variants | bank
    publish_summary(result)
    return result
