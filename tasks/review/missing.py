"""Batches that a kill left between the ledger and the lake.

How a batch is closed is imported where one waits: every flow comes by here, and most find nothing.
"""

from __future__ import annotations

from collections import Counter

from tasks.review.batch import list_batches
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger


def land_missing_batches(ledger: Ledger, lake: Lake) -> dict[str, int]:
    """Land batches closed in the ledger and not in the lake; closes none; rows by table."""
    closed = {batch.batch_id: batch.closed_at for batch in list_batches(ledger) if batch.is_closed}
    missing = sorted(closed.keys() - lake.landed("review_decisions", list(closed)))
    if not missing:
        return {}
    from tasks.review.closing import close_batch
    from tasks.review.landing import land_batch

    counts: Counter[str] = Counter()
    for name in missing:
        for landing in land_batch(lake, close_batch(ledger, name, str(closed[name]))):
            counts[landing.table] += landing.row_count
    return dict(counts)
