"""Agreement, checked against published examples.

- Cohen's table: Cohen's kappa and worked examples.
- Krippendorff: Computing Krippendorff's Alpha-Reliability (2011).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schemas.settings import Settings
from tasks.review.agreement import Agreement, Vote, compute_review_agreement, read_votes
from tasks.review.batch import read_assignments
from tasks.review.recording.desk import record
from tests.tasks.review.conftest import LATER, give, make_submission, open_batch
from warehouse.ledger.engine.ledger import Ledger

START = datetime(2026, 11, 2, 8, tzinfo=UTC)


def make_votes(votes: list[dict[str, str]]) -> list[Vote]:
    """One dict of annotator → decision per question; ten questions a day."""
    return [
        Vote(
            batch_id="b1",
            question_uuid=f"00000000-0000-5000-8000-{place:012x}",
            discipline="Law" if place % 2 else "History",
            annotator=annotator,
            decision=decision,
            assigned_at=START,
            decided_at=START + timedelta(days=1 + place // 10),
        )
        for place, one in enumerate(votes)
        for annotator, decision in one.items()
    ]


def find_row(rows: list[Agreement], scope: str, name: str) -> Agreement:
    return next(row for row in rows if (row.scope, row.name) == (scope, name))


def test_kappa_of_two_annotators_is_that_of_the_textbook() -> None:
    # Fifty grant proposals read by two readers: both yes 20, both no 15, 5 and 10 apart: 0.7 observed, kappa 0.4.
    votes = (
        [{"a": "accept", "b": "accept"}] * 20
        + [{"a": "accept", "b": "reject"}] * 5
        + [{"a": "reject", "b": "accept"}] * 10
        + [{"a": "reject", "b": "reject"}] * 15
    )
    rows = compute_review_agreement(make_votes(votes))
    for scope, name in (("batch", "b1"), ("pair", "a / b"), ("annotator", "a")):
        row = find_row(rows, scope, name)
        assert row.question_count == 50
        assert row.percent_agreement == pytest.approx(0.7)
        assert row.cohen_kappa == pytest.approx(0.4)


def test_alpha_of_three_annotators_with_gaps_is_that_of_the_textbook() -> None:
    # Krippendorff's binary data of two observers and ten units, section A: alpha 0.095.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    words = ("reject", "accept")
    votes = [{"a": words[x], "b": words[y]} for x, y in zip(first, second, strict=True)]
    rows = compute_review_agreement(make_votes(votes))
    assert find_row(rows, "batch", "b1").krippendorff_alpha == pytest.approx(0.095, abs=5e-4)


def test_a_question_with_one_review_counts_as_work_but_not_as_agreement() -> None:
    rows = compute_review_agreement(make_votes([{"a": "accept", "b": "accept"}, {"a": "reject"}]))
    row = find_row(rows, "annotator", "a")
    assert (row.decision_count, row.question_count, row.pair_count) == (2, 1, 1)


def test_unanimity_in_one_word_leaves_kappa_and_alpha_undefined() -> None:
    row = find_row(compute_review_agreement(make_votes([{"a": "accept", "b": "accept"}] * 3)), "batch", "b1")
    assert (row.percent_agreement, row.cohen_kappa, row.krippendorff_alpha) == (1.0, None, None)


def test_throughput_is_per_day_of_work() -> None:
    rows = compute_review_agreement(make_votes([{"a": "accept", "b": "reject"}] * 20))
    row = find_row(rows, "annotator", "a")
    assert (row.decisions_per_day, row.median_days_to_decide) == (10.0, 1.5)


def test_disciplines_are_told_apart() -> None:
    rows = compute_review_agreement(
        make_votes([{"a": "accept", "b": "accept"}, {"a": "accept", "b": "reject"}] * 4)
    )
    assert find_row(rows, "discipline", "History").percent_agreement == 1.0
    assert find_row(rows, "discipline", "Law").percent_agreement == 0.0


def test_adjudications_are_left_out(ledger: Ledger, settings: Settings) -> None:
    uuids = open_batch(ledger, settings, 1)
    words = (("chen", "accept"), ("dai", "reject"))
    record(ledger, [make_submission(name, give(uuids[0], word)) for name, word in words], LATER)
    with ledger.read() as connection:
        (judge,) = read_assignments(connection, "b1", role="adjudicator")
    verdict = make_submission(judge.annotator, give(uuids[0], "accept"), role="adjudicator")
    record(ledger, [verdict], LATER)
    votes = read_votes(ledger, "b1")
    assert [(vote.annotator, vote.decision, vote.discipline) for vote in votes] == [
        ("chen", "accept", "Engineering"),
        ("dai", "reject", "Engineering"),
    ]
    assert read_votes(ledger) == votes
    row = find_row(compute_review_agreement(votes), "batch", "b1")
    assert (row.decision_count, row.percent_agreement, row.median_days_to_decide) == (2, 0.0, 1.0)


def test_an_annotators_statistics_are_over_their_own_pairs() -> None:
    votes = make_votes([{"a": "accept", "b": "accept", "c": "reject"}, {"b": "accept", "c": "reject"}])
    row = find_row(compute_review_agreement(votes), "annotator", "a")
    assert (row.question_count, row.pair_count, row.percent_agreement) == (1, 2, 0.5)
    assert [one.name for one in compute_review_agreement(votes) if one.scope == "pair"] == [
        "a / b",
        "a / c",
        "b / c",
    ]


def test_an_annotator_who_is_far_off_the_others_is_flagged_and_nobody_else() -> None:
    # Three agree on 36 of 40 questions; the fourth answers by turns, right half of the time.
    votes = [
        {
            "a": "accept",
            "b": "accept",
            "c": "reject" if place % 10 == 0 else "accept",
            "d": "accept" if place % 2 else "reject",
        }
        for place in range(40)
    ]
    rows = compute_review_agreement(make_votes(votes))
    flags = {row.name: row.is_far_off for row in rows if row.scope == "annotator"}
    assert flags == {"a": False, "b": False, "c": False, "d": True}
    assert {row.is_far_off for row in rows if row.scope != "annotator"} == {None}
    # Two annotators alone: nobody can say which of them is off.
    alone = compute_review_agreement(make_votes([{name: one[name] for name in ("a", "d")} for one in votes]))
    assert {row.is_far_off for row in alone} == {None}
