from __future__ import annotations

from collections.abc import Sequence

import pytest

from schemas.errors import GateError, UsageError
from schemas.settings import Settings
from tasks.review.assignment import Annotator, assign_batch
from tasks.review.batches import (
    assign_adjudicators,
    close_batch,
    draw_review_sample,
    is_complete,
    is_ready_to_close,
    list_batches,
    read_progress,
)
from tasks.review.decisions import GivenDecision, record_decisions
from tests.tasks.review.conftest import DOCUMENT, NOW, make_frame, make_question
from warehouse.ledger.engine import Ledger

LATER = "2026-11-03T08:00:00.000000+00:00"
AFTER_ALL = "2027-02-01T00:00:00.000000+00:00"
TWO = [Annotator("chen"), Annotator("dai")]


def open_batch(ledger: Ledger, settings: Settings, count: int = 2) -> list[str]:
    rows = [make_question(number) for number in range(1, count + 1)]
    assign_batch(ledger, "b1", make_frame(rows), TWO, settings, NOW)
    return [row["question_uuid"] for row in rows]


def give(
    ledger: Ledger, who: str, uuids: Sequence[str], decision: str, role: str = "reviewer", **fields: object
) -> bool:
    given = [
        GivenDecision(uuid, decision, "unclear" if decision == "reject" else None, None, fields or None)
        for uuid in uuids
    ]
    return record_decisions(ledger, "b1", who, given, "web", LATER, role=role).is_complete


def test_a_batch_is_complete_when_the_last_decision_is_in(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    assert give(ledger, "chen", uuids, "accept") is False
    assert is_complete(ledger, "b1") is False
    assert give(ledger, "dai", uuids, "accept") is True
    assert is_complete(ledger, "b1") is True
    assert [(row["batch_id"], row["status"], row["question_count"]) for row in list_batches(ledger)] == [
        ("b1", "complete", 2)
    ]


def test_a_dispute_goes_to_somebody_who_did_not_review_it(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    give(ledger, "chen", uuids, "accept")
    assert give(ledger, "dai", uuids, "reject") is False
    summary = assign_adjudicators(ledger, "b1", LATER)
    assert (summary.assigned_count, summary.unassigned) == (2, {})
    assert assign_adjudicators(ledger, "b1", LATER).assigned_count == 0
    judges = [one for one in read_progress(ledger, "b1", LATER).annotators if one.role == "adjudicator"]
    assert {one.annotator for one in judges} <= {"eva", "gu"}
    for one in judges:
        with pytest.raises(UsageError, match="is not assigned to"):
            give(ledger, one.annotator, uuids, "accept")
    settled = assign_and_settle(ledger, uuids)
    assert settled is True
    closed = close_batch(ledger, "b1", LATER)
    assert closed.decisions["was_adjudicated"].to_list() == [True, True]
    assert set(closed.reviews.filter(closed.reviews["channel"] == "adjudication")["annotator"]) <= {
        "eva",
        "gu",
    }


def assign_and_settle(ledger: Ledger, uuids: Sequence[str]) -> bool:
    from warehouse.ledger import review

    with ledger.read() as connection:
        rows = review.read_assignments(connection, "b1", role="adjudicator")
    return [give(ledger, row["annotator"], [row["question_uuid"]], "accept", "adjudicator") for row in rows][
        -1
    ]


def test_a_dispute_without_anybody_left_is_reported_by_discipline(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    give(ledger, "chen", uuids, "accept")
    give(ledger, "dai", uuids, "reject")
    summary = assign_adjudicators(ledger, "b1", LATER, TWO)
    assert (summary.assigned_count, summary.unassigned) == (0, {"Engineering": 2})


def test_a_batch_with_open_questions_is_not_closed_before_its_deadline(
    ledger: Ledger, settings: Settings
) -> None:
    open_batch(ledger, settings)
    with pytest.raises(GateError, match="2 of 2 questions are not settled"):
        close_batch(ledger, "b1", LATER)
    assert is_ready_to_close(ledger, "b1", LATER) is False
    assert is_ready_to_close(ledger, "b1", AFTER_ALL) is True


def test_after_the_deadline_the_undecided_stay_out_and_are_reported(
    ledger: Ledger, settings: Settings
) -> None:
    uuids = open_batch(ledger, settings, 3)
    give(ledger, "chen", uuids, "accept")
    give(ledger, "dai", uuids[:1], "accept")
    closed = close_batch(ledger, "b1", AFTER_ALL)
    assert closed.outcomes == {"accepted": 1, "undecided": 2}
    assert sorted(closed.undecided_uuids) == sorted(uuids[1:])


def test_closing_twice_gives_the_same_frames(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    give(ledger, "chen", uuids, "accept")
    give(ledger, "dai", uuids, "edit", explanation="Count the shelves.")
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


def test_a_closed_batch_takes_no_decisions(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    close_batch(ledger, "b1", AFTER_ALL)
    with pytest.raises(GateError, match="b1 was closed at 2027-02-01"):
        give(ledger, "chen", uuids, "accept")


def test_a_later_decision_replaces_the_earlier_one_and_the_same_one_changes_nothing(
    ledger: Ledger, settings: Settings
) -> None:
    uuids = open_batch(ledger, settings)
    give(ledger, "chen", uuids, "reject")
    summary = record_decisions(
        ledger,
        "b1",
        "chen",
        [GivenDecision(uuids[0], "accept"), GivenDecision(uuids[1], "reject", "unclear")],
        "web",
        AFTER_ALL,
    )
    assert (summary.new_count, summary.changed_count, summary.unchanged_count) == (0, 1, 1)


def test_one_faulty_decision_keeps_all_of_them_out(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings)
    with pytest.raises(UsageError, match="reject_reason: a rejection needs a reason"):
        record_decisions(
            ledger,
            "b1",
            "chen",
            [GivenDecision(uuids[0], "accept"), GivenDecision(uuids[1], "reject")],
            "web",
            LATER,
        )
    assert read_progress(ledger, "b1", LATER).annotators[0].decided_count == 0


def test_an_unknown_batch_is_named(ledger: Ledger) -> None:
    with pytest.raises(UsageError, match="no review batch 'nothing'"):
        close_batch(ledger, "nothing", NOW)


def test_a_sample_of_model_written_variants_is_repeatable_and_leaves_templates_out() -> None:
    import polars as pl

    variants = pl.DataFrame(
        {
            "question_uuid": [f"{number:03}" for number in range(100)],
            "generator": ["template" if number % 2 else "writer" for number in range(100)],
        }
    )
    sample = draw_review_sample(variants, 0.1, "b1")
    assert sample.height == 5
    assert set(sample["generator"]) == {"writer"}
    assert sample.equals(draw_review_sample(variants.reverse(), 0.1, "b1"))
    assert not sample.equals(draw_review_sample(variants, 0.1, "b2"))
    assert draw_review_sample(variants, 0, "b1").is_empty()
    assert draw_review_sample(variants.head(3), 0.05, "b1").height == 1
