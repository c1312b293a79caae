"""A model reads held papers again."""

from __future__ import annotations

from tasks.ingest import read_requested_paper
from tasks.operations.reconcile import reconcile_stores
from tasks.review import open_review_batch
from tasks.running.flow_runs import flow, publish_summary


@flow
def second_reading(document_id: str = "") -> dict[str, object]:
    """Have the paper read that somebody at the desk asked for; its questions go to review.

    Started by the event `proctor.reading.requested`, or by the desk itself where no worker runs; doing it twice
    pays for nothing twice. Without a budget nothing is sent, and whoever asked is told so.

    Args:
        document_id: the paper; empty for all that somebody asked for.
    """
    reconcile_stores()
    read = read_requested_paper(document_id)
    waiting = open_review_batch()

    result = read | waiting
    publish_summary(result)
    return result
