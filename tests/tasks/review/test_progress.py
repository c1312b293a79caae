from __future__ import annotations

from schemas.settings import Settings
from tasks.review.overview.progress import is_ready_to_close, list_progress
from tasks.review.recording.desk import record_submission
from tests.tasks.review.conftest import AFTER_ALL, LATER, give, make_submission, open_batch
from warehouse.ledger.engine.ledger import Ledger


def test_progress_tells_states_and_who_owes_what(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings, 3)
    record_submission(ledger, make_submission("chen", *[give(uuid, "accept") for uuid in uuids]), LATER)
    record_submission(ledger, make_submission("dai", give(uuids[0], "accept")), LATER)
    (progress,) = list_progress(ledger, AFTER_ALL)
    assert (progress.batch_id, progress.question_count, progress.is_overdue) == ("b1", 3, True)
    assert progress.states == {"accepted": 1, "waiting": 2}
    assert [(one.annotator, one.decided_count, one.assigned_count) for one in progress.annotators] == [
        ("chen", 3, 3),
        ("dai", 1, 3),
    ]


def test_a_batch_is_ready_to_close_when_its_deadline_has_passed(ledger: Ledger, settings: Settings) -> None:
    open_batch(ledger, settings)
    assert is_ready_to_close(ledger, "b1", LATER) is False
    assert is_ready_to_close(ledger, "b1", AFTER_ALL) is True
