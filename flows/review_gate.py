"""What happens when annotators are done."""

from __future__ import annotations

from tasks.bank.augment import augment_accepted, settle_variants
from tasks.bank.dedupe import publish_bank
from tasks.exam.public.log import note_rejections
from tasks.operations.reconcile import reconcile_stores
from tasks.review import close_reviewed_batches
from tasks.running.flow_runs import flow, publish_summary


@flow
def review_gate(batch_id: str = "") -> dict[str, object]:
    """Close the batches that are decided or past their deadline.

    Then multiply what passed, and publish the bank.

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
    noted = note_rejections()

    result = closed | settled | variants | bank | noted
    publish_summary(result)
    return result
