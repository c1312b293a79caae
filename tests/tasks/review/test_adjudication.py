from __future__ import annotations

import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.review.batch import read_assignments
from tasks.review.closing import close_batch
from tasks.review.overview.progress import is_complete
from tasks.review.recording.adjudication import assign_adjudicators
from tasks.review.recording.desk import record_submission
from tests.tasks.review.conftest import AFTER_ALL, LATER, give, make_submission, open_batch
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust.users import write_activity


def dispute(ledger: Ledger, settings: Settings) -> list[str]:
    """A batch whose two questions chen accepts and dai rejects."""
    uuids = open_batch(ledger, settings)
    for name, word in (("chen", "accept"), ("dai", "reject")):
        record_submission(ledger, make_submission(name, *[give(uuid, word) for uuid in uuids]), LATER)
    return uuids


def test_a_dispute_goes_to_somebody_who_did_not_review_it(ledger: Ledger, settings: Settings) -> None:
    uuids = dispute(ledger, settings)
    assert is_complete(ledger, "b1") is False
    summary = assign_adjudicators(ledger, "b1", LATER)
    assert (summary.assigned_count, summary.unassigned) == (2, {})
    assert assign_adjudicators(ledger, "b1", LATER).assigned_count == 0
    with ledger.read() as connection:
        given = read_assignments(connection, "b1", role="adjudicator")
    assert sorted(one.question_uuid for one in given) == sorted(uuids)
    assert {one.annotator for one in given} <= {"eva", "gu"}
    for one in given:
        with pytest.raises(UsageError, match="is not assigned to"):
            record_submission(
                ledger, make_submission(one.annotator, give(one.question_uuid, "accept")), LATER
            )
        verdict = make_submission(one.annotator, give(one.question_uuid, "accept"), role="adjudicator")
        record_submission(ledger, verdict, LATER)
    assert is_complete(ledger, "b1") is True
    closed = close_batch(ledger, "b1", LATER)
    assert closed.decisions["was_adjudicated"].to_list() == [True, True]
    assert set(closed.reviews.filter(closed.reviews["channel"] == "adjudication")["annotator"]) <= {
        "eva",
        "gu",
    }


def test_a_dispute_without_anybody_left_is_reported_by_discipline(ledger: Ledger, settings: Settings) -> None:
    dispute(ledger, settings)
    with ledger.write() as connection:
        for name in ("eva", "gu"):
            write_activity(connection, name, is_active=False)
    summary = assign_adjudicators(ledger, "b1", LATER)
    assert (summary.assigned_count, summary.unassigned) == (0, {"Engineering": 2})


def test_a_closed_batch_gets_no_adjudicator(ledger: Ledger, settings: Settings) -> None:
    dispute(ledger, settings)
    close_batch(ledger, "b1", AFTER_ALL)
    assert assign_adjudicators(ledger, "b1", AFTER_ALL).assigned_count == 0
