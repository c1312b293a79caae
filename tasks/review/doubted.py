"""Questions of the bank that annotators read again: a wrong key, a misprint."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.review.assigning import AssignmentSummary, AssignmentTerms, assign_batch
from tasks.review.batch import list_batches
from tasks.review.desk import MOST_CHARACTERS
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger


def assign_doubted(
    ledger: Ledger,
    lake: Lake,
    settings: Settings,
    question_uuids: Collection[str],
    terms: AssignmentTerms,
    now: str,
    batch_id: str | None = None,
) -> AssignmentSummary:
    """Open a review batch with questions of the bank, for the reason of `terms`.

    They are or were in it, and are given out as they stand now to people who have not decided on them before, with the reason as a message. What the
    gate makes of them is a new revision, or their end in the bank. Running it again changes nothing: what lies in an open batch, or was
    settled for the same reason, is left.

    Raises:
        GateError: there are no annotators.
        UsageError: there is no reason, or as of `assign_batch`.
    """
    reason = terms.reason.strip()
    if not 0 < len(reason) <= MOST_CHARACTERS:
        raise UsageError(
            f"Say in up to {MOST_CHARACTERS:,} characters what is doubted: --reason TEXT. Who reads the question again sees it."
        )
    closed = [batch.batch_id for batch in list_batches(ledger) if batch.is_closed]
    landed = lake.landed("review_decisions", closed)
    questions = lake.read("questions_in_doubt", {"question_uuids": sorted(question_uuids)})
    terms = replace(terms, reason=reason, landed=landed)
    return assign_batch(ledger, batch_id, questions, None, settings, now, terms)
