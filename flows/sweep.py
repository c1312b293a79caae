"""What was left lying is taken up."""

from __future__ import annotations

from tasks.bank.augment import augment_accepted, settle_variants
from tasks.bank.dedupe import publish_bank
from tasks.exam import close_overdue_sessions, collect_provider_batches
from tasks.operations.reconcile import reconcile_stores
from tasks.review import close_reviewed_batches
from tasks.running.flow_runs import flow, publish_summary


@flow
def sweep() -> dict[str, object]:
    """Collect what providers have answered in batches, and close what is overdue.

    Also continue after reviews whose event was lost.

    What nothing else would take up before somebody looks; doing it twice changes nothing.
    """
    collected = collect_provider_batches()
    overdue = close_overdue_sessions()
    reconcile_stores()
    closed = close_reviewed_batches("")
    settled = settle_variants()
    variants = augment_accepted()
    bank = publish_bank()

    result = collected | overdue | closed | settled | variants | bank
    publish_summary(result)
    return result
