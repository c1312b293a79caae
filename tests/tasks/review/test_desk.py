"""The desk records decisions of any channel, gives out disputes, names complete batches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.errors import ContractError, GateError, UsageError
from schemas.settings import Settings
from tasks.questions.identity import name_passage
from tasks.review.assigning import Annotator, AssignmentTerms, assign_batch
from tasks.review.batch import list_batches, read_assignments, read_batch, read_decisions
from tasks.review.closing import close_batch
from tasks.review.decisions.decision import Decision, GivenDecision
from tasks.review.overview.progress import is_complete, is_ready_to_close, list_progress
from tasks.review.recording.adjudication import assign_adjudicators
from tasks.review.recording.desk import (
    RefusedSubmission,
    StaleError,
    Submission,
    SubmissionReceipt,
    record,
    record_one,
    record_submission,
)
from tests.tasks.review.conftest import (
    AFTER_ALL,
    DOCUMENT,
    LATER,
    NOW,
    give,
    make_frame,
    make_question,
    make_submission,
    open_batch,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust.users import write_activity


def read_all(ledger: Ledger) -> list[Decision]:
    with ledger.read() as connection:
        return read_decisions(connection, "b1")


def test_the_same_decisions_twice_change_nothing(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    one = make_submission("chen", give(uuids[0], "edit", explanation="Count them."), give(uuids[1], "reject"))
    first = record(ledger, [one], LATER)
    assert first.receipts == [SubmissionReceipt("web page", "b1", "chen", "reviewer", 2, 0, 0, 0)]
    before = read_all(ledger)
    again = record(ledger, [one], AFTER_ALL)
    assert again.receipts == [SubmissionReceipt("web page", "b1", "chen", "reviewer", 0, 0, 2, 0)]
    assert read_all(ledger) == before


def test_a_later_decision_replaces_the_earlier_one(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    rejects = [give(uuid, "reject") for uuid in uuids]
    record_submission(ledger, make_submission("chen", *rejects), LATER)
    receipt = record_submission(
        ledger, make_submission("chen", give(uuids[0], "accept"), rejects[1]), AFTER_ALL
    )
    assert (receipt.new_count, receipt.changed_count, receipt.unchanged_count) == (0, 1, 1)
    assert {one.question_uuid: (one.given.decision, one.decided_at) for one in read_all(ledger)} == {
        uuids[0]: ("accept", AFTER_ALL),
        uuids[1]: ("reject", LATER),
    }


def test_completing_returns_the_batch_once(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    accepts = [give(uuid, "accept") for uuid in uuids]
    assert record(ledger, [make_submission("chen", *accepts)], LATER).complete_batches == []
    both = [make_submission("dai", *accepts), make_submission("chen", *accepts)]
    assert record(ledger, both, LATER).complete_batches == ["b1"]
    assert [(batch.batch_id, batch.status) for batch in list_batches(ledger)] == [("b1", "complete")]


def test_a_batch_that_a_later_submission_reopens_is_not_complete(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    accepts = [give(uuid, "accept") for uuid in uuids]
    record(ledger, [make_submission("chen", *accepts)], LATER)
    report = record(
        ledger, [make_submission("dai", *accepts), make_submission("chen", give(uuids[0], "reject"))], LATER
    )
    assert report.complete_batches == []
    assert [one.assigned_count for one in report.adjudications] == [1]


def test_one_faulty_decision_keeps_all_of_its_submission_out(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    faulty = make_submission("chen", give(uuids[0], "accept"), GivenDecision(uuids[1], "reject"))
    sound = make_submission("dai", give(uuids[0], "accept"))
    report = record(ledger, [faulty, sound], LATER)
    assert report.refusals == [
        RefusedSubmission(
            "web page",
            f"Question {uuids[1]}, reject_reason: a rejection needs a reason. Nothing was recorded.",
        )
    ]
    assert [one.annotator for one in report.receipts] == ["dai"]
    assert [one.annotator for one in read_all(ledger)] == ["dai"]


def test_a_question_decided_twice_in_one_submission_is_refused(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    twice = make_submission("chen", give(uuids[0], "accept"), give(uuids[0], "reject"))
    with pytest.raises(UsageError, match="is decided twice in web page"):
        record_submission(ledger, twice, LATER)
    assert read_all(ledger) == []


def test_a_question_of_somebody_else_is_refused(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    with pytest.raises(UsageError, match="is not assigned to eva as reviewer"):
        record_submission(ledger, make_submission("eva", give(uuids[0], "accept")), LATER)


def test_a_closed_batch_takes_no_decisions(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    close_batch(ledger, "b1", AFTER_ALL)
    one = make_submission("chen", give(uuids[0], "accept"))
    with pytest.raises(GateError, match="b1 was closed at 2027-02-01"):
        record_submission(ledger, one, LATER)
    report = record(ledger, [one], LATER)
    assert [refusal.source for refusal in report.refusals] == ["web page"]


def test_what_a_closed_batch_holds_already_changes_nothing_and_what_follows_is_asked_for_again(
    ledger: Ledger, settings: Settings
) -> None:
    uuids = open_batch(ledger, settings)
    one = make_submission("chen", give(uuids[0], "accept"))
    record(ledger, [one], LATER)
    before = read_all(ledger)
    close_batch(ledger, "b1", AFTER_ALL)
    report = record(ledger, [one], AFTER_ALL)
    assert (report.refusals, report.complete_batches) == ([], ["b1"])
    assert [(each.new_count, each.changed_count, each.unchanged_count) for each in report.receipts] == [
        (0, 0, 1)
    ]
    for other in (give(uuids[0], "reject"), give(uuids[1], "accept")):
        report = record(ledger, [make_submission("chen", give(uuids[0], "accept"), other)], AFTER_ALL)
        assert report.refusals[0].is_final
    assert read_all(ledger) == before
    with ledger.read() as connection:
        assert read_batch(connection, "b1").is_closed


def test_an_unknown_batch_is_named(ledger: Ledger) -> None:
    one = make_submission("chen", give("00000000-0000-5000-8000-000000000000", "accept"), batch_id="nothing")
    with pytest.raises(UsageError, match="no review batch 'nothing'"):
        record_submission(ledger, one, LATER)


def test_an_unknown_channel_is_a_mistake_of_the_program(ledger: Ledger, settings: Settings) -> None:
    open_batch(ledger, settings)
    with pytest.raises(ContractError, match="Review channel 'fax' is not one of"):
        record(ledger, [Submission("fax", "b1", "chen", "reviewer", "fax", [])], LATER)


def test_what_was_decided_since_it_was_seen_is_not_overwritten(ledger: Ledger, settings: Settings) -> None:
    uuid = open_batch(ledger, settings)[0]
    record_submission(ledger, make_submission("chen", give(uuid, "reject")), LATER)
    before = read_all(ledger)
    for moment in (None, NOW):
        stale = replace(make_submission("chen", give(uuid, "accept")), seen={uuid: moment})
        with pytest.raises(StaleError) as caught:
            record_submission(ledger, stale, AFTER_ALL)
        assert caught.value.stands == before[0]
        assert record(ledger, [stale], AFTER_ALL).refusals[0].source == "web page"
    assert read_all(ledger) == before
    # The same decision again is no conflict, whatever was seen; nor is one that was seen as it stands.
    again = replace(make_submission("chen", give(uuid, "reject")), seen={uuid: None})
    assert record_submission(ledger, again, AFTER_ALL).unchanged_count == 1
    knowing = replace(make_submission("chen", give(uuid, "accept")), seen={uuid: LATER})
    assert record_one(ledger, knowing, AFTER_ALL).receipts[0].changed_count == 1


def test_an_adjudication_that_is_no_longer_needed_keeps_no_batch_open(
    ledger: Ledger, settings: Settings
) -> None:
    uuids = open_batch(ledger, settings)
    accepts = [give(uuid, "accept") for uuid in uuids]
    record(
        ledger,
        [make_submission("chen", *accepts), make_submission("dai", accepts[0], give(uuids[1], "reject"))],
        LATER,
    )
    report = record(ledger, [make_submission("dai", accepts[1])], AFTER_ALL)
    with ledger.read() as connection:
        assert len(read_assignments(connection, "b1", role="adjudicator")) == 1
    assert report.complete_batches == ["b1"]


# --- progress -------------------------------------------------------------------------------------


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


# --- closing --------------------------------------------------------------------------------------


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


def test_an_edited_text_leaves_the_name_of_the_one_that_was_read(ledger: Ledger, settings: Settings) -> None:
    """The other questions about it keep the text, and are known by that name as of one passage."""
    rows = [make_question(number, material="A canal was  dug.") for number in (1, 2)]
    assign_batch(ledger, "b1", make_frame(rows), [Annotator("chen"), Annotator("dai")], settings, NOW)
    corrected, other = (row["question_uuid"] for row in rows)
    for name in ("chen", "dai"):
        edits = [
            give(corrected, "edit", material="A canal was cut."),
            give(other, "edit", stem="Who dug it?"),
        ]
        record_submission(ledger, make_submission(name, *edits), LATER)
    closed = close_batch(ledger, "b1", LATER).decisions
    assert dict(closed.select("question_uuid", "read_passage").iter_rows()) == {
        corrected: name_passage("A canal was dug."),
        other: None,
    }


# --- adjudication ---------------------------------------------------------------------------------


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


def test_a_dispute_over_what_is_read_again_goes_to_nobody_who_read_it_before(
    ledger: Ledger, settings: Settings
) -> None:
    dispute(ledger, settings)
    close_batch(ledger, "b1", AFTER_ALL)
    uuids = [make_question(number)["question_uuid"] for number in (1, 2)]
    frame, others = make_frame([make_question(1), make_question(2)]), [Annotator("eva"), Annotator("gu")]
    doubted = AssignmentTerms(reason="The key is wrong.", landed={"b1"})
    assert assign_batch(ledger, "b2", frame, others, settings, AFTER_ALL, doubted).question_count == 2
    for name, word in (("eva", "accept"), ("gu", "reject")):
        decisions = [give(uuid, word) for uuid in uuids]
        record_submission(ledger, make_submission(name, *decisions, batch_id="b2"), AFTER_ALL)
    summary = assign_adjudicators(ledger, "b2", AFTER_ALL)
    assert (summary.assigned_count, summary.unassigned) == (0, {"Engineering": 2})


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
