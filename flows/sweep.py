"""What was left lying is taken up."""

from __future__ import annotations

from tasks.bank.augment import augment_accepted, settle_variants
from tasks.bank.dedupe import publish_bank
from tasks.exam import close_overdue_sessions, collect_provider_batches
from tasks.ingest import read_requested_paper
from tasks.operations.reconcile import reconcile_stores
from tasks.review import close_reviewed_batches, open_review_batch
from tasks.running.flow_runs import flow, publish_summary


@flow
def sweep() -> dict[str, object]:
    """Collect what providers have answered in batches, and close what is overdue.

    Also continue after reviews whose event was lost, and have papers read whose reading did not begin.

    What nothing else would take up before somebody looks; doing it twice changes nothing.
    """
    collected = collect_provider_batches()
    overdue = close_overdue_sessions()
    reconcile_stores()
    closed = close_reviewed_batches("")
    settled = settle_variants()
    variants = augment_accepted()
    bank = publish_bank()
    read = read_requested_paper("")
    waiting = open_review_batch() if read["second_readings"] else {}

    result = collected | overdue | closed | settled | variants | bank | read | waiting
    publish_summary(result)
    return result
