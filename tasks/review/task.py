"""The review gate as Prefect sees it. Nothing waits here: what is ready continues, the rest is counted."""

from __future__ import annotations

from prefect import task

from schemas.settings import load_settings
from tasks.faults import hide_content
from tasks.flow_runs.task import sign_landings
from tasks.review.annotators import read_annotators
from tasks.review.assignment import assign_batch
from tasks.review.landing import land_closed_batches, read_unreviewed
from warehouse.lake.store import open_lake
from warehouse.ledger.engine import now_text, open_ledger


@task(name="open_review_batch")
@hide_content
def open_review_batch() -> dict[str, object]:
    """Put questions that nobody has reviewed into a batch, if there are annotators to give them to."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        questions = read_unreviewed(lake)
        if questions.is_empty() or not read_annotators(ledger):
            return {"waiting_questions": questions.height, "batch_id": None}
        summary = assign_batch(ledger, None, questions, None, settings, now_text())
    return {
        "waiting_questions": 0,
        "batch_id": summary.batch_id,
        "assigned_questions": summary.question_count if summary.is_new else 0,
        "assignments": summary.assignment_count if summary.is_new else 0,
    }


@task(name="close_reviewed_batches")
@hide_content
@sign_landings
def close_reviewed_batches(batch_id: str = "") -> dict[str, object]:
    """Close and land every batch that is decided or past its deadline; an empty id means all."""
    settings = load_settings()
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings) as lake:
        return land_closed_batches(ledger, lake, now_text(), batch_id or None)
