"""The batch that unreviewed questions wait in.

It is opened as soon as there is someone to give them to.
"""

from __future__ import annotations

from schemas.settings import Settings
from tasks.review.assigning import AssignmentTerms, assign_batch, read_annotators, read_gold_supply
from tasks.review.landing import read_unreviewed
from warehouse.lake import open_lake
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger


def open_waiting_batch(settings: Settings) -> dict[str, object]:
    """Put questions that nobody has reviewed into a batch; returns ids and counts.

    This is done if there are annotators to give them to.
    """
    with open_ledger(settings.ledger_address) as ledger, open_lake(settings, read_only=True) as lake:
        questions = read_unreviewed(lake)
        if questions.is_empty() or not read_annotators(ledger):
            return {"waiting_questions": questions.height, "batch_id": None}
        gold = read_gold_supply(settings, lake, settings.review_gold_share)
        summary = assign_batch(
            ledger, None, questions, None, settings, now_text(), AssignmentTerms(gold=gold)
        )
    return {
        "waiting_questions": sum(one.question_count for one in summary.left_out),
        "batch_id": summary.batch_id,
        "assigned_questions": summary.question_count if summary.is_new else 0,
        "assignments": summary.assignment_count if summary.is_new else 0,
    }
