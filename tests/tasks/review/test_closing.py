from __future__ import annotations

import pytest

from schemas.errors import GateError
from schemas.settings import Settings
from tasks.review.closing import close_batch
from tasks.review.recording.desk import record_submission
from tests.tasks.review.conftest import AFTER_ALL, DOCUMENT, LATER, give, make_submission, open_batch
from warehouse.ledger.engine.ledger import Ledger


def test_a_batch_with_open_questions_is_not_closed_before_its_deadline(
    ledger: Ledger, settings: Settings
) -> None:
    open_batch(ledger, settings)
    with pytest.raises(GateError, match="2 of 2 questions are not settled"):
        close_batch(ledger, "b1", LATER)


def test_after_the_deadline_the_undecided_stay_out_and_are_reported(
    ledger: Ledger, settings: Settings
) -> None:
    uuids = open_batch(ledger, settings, 3)
    accepts = [give(uuid, "accept") for uuid in uuids]
    record_submission(ledger, make_submission("chen", *accepts), LATER)
    record_submission(ledger, make_submission("dai", accepts[0]), LATER)
    closed = close_batch(ledger, "b1", AFTER_ALL)
    assert closed.outcomes == {"accepted": 1, "undecided": 2}
    undecided = closed.decisions.filter(outcome="undecided")
    assert sorted(undecided["question_uuid"]) == sorted(uuids[1:])


def test_closing_twice_gives_the_same_frames(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    accepts = [give(uuid, "accept") for uuid in uuids]
    edits = [give(uuid, "edit", explanation="Count the shelves.") for uuid in uuids]
    record_submission(ledger, make_submission("chen", *accepts), LATER)
    record_submission(ledger, make_submission("dai", *edits), LATER)
    first = close_batch(ledger, "b1", LATER)
    again = close_batch(ledger, "b1", AFTER_ALL)
    assert first.decisions.equals(again.decisions)
    assert first.reviews.equals(again.reviews)
    assert first.assignments.equals(again.assignments)
    row = first.decisions.sort("question_uuid").row(0, named=True)
    assert (row["revision"], row["was_edited"], row["explanation"], row["document_id"]) == (
        2,
        True,
        "Count the shelves.",
        DOCUMENT,
    )
