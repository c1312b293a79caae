"""Exam papers become questions that wait for review."""

from __future__ import annotations

from prefect import flow

from tasks.exam.task import reconcile_stores
from tasks.ingest.task import ingest_documents
from tasks.review.task import open_review_batch


@flow(name="ingest")
def ingest(paths: list[str], again: bool = False) -> dict[str, object]:
    """Land every document under `paths` and its questions; then the questions wait at the review gate.

    The flow ends here: `review_gate` starts when a batch is decided. `again` reads documents anew that are landed.
    """
    reconcile_stores()
    landed = ingest_documents(paths, again)
    waiting = open_review_batch()

    return landed | waiting
