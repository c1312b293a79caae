"""Cohen's table: Cohen's kappa and worked examples. Krippendorff: Computing Krippendorff's Alpha-Reliability (2011)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from schemas.tables import get_table
from tasks.review.agreement import compute_review_agreement

START = datetime(2026, 11, 2, 8, tzinfo=UTC)


def make_frames(votes: list[dict[str, str]], role: str = "reviewer") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Reviews and assignments: one dict of annotator → decision per question; a question a day."""
    reviews, assignments = [], []
    for place, one in enumerate(votes):
        uuid = f"00000000-0000-5000-8000-{place:012x}"
        for annotator, decision in one.items():
            who = {"batch_id": "b1", "question_uuid": uuid, "annotator": annotator}
            decided_at = START + timedelta(days=1 + place // 10)
            reviews.append(
                {
                    **who,
                    "decision": decision,
                    "reject_reason": "unclear" if decision == "reject" else None,
                    "channel": "web",
                    "decided_at": decided_at,
                }
            )
            assignments.append(
                {
                    **who,
                    "discipline": "Law" if place % 2 else "History",
                    "role": role,
                    "assigned_at": START,
                    "due_at": START,
                }
            )
    return get_table("reviews").frame(reviews), get_table("review_assignments").frame(assignments)


def find_row(frame: pl.DataFrame, scope: str, name: str) -> dict[str, object]:
    return frame.filter((pl.col("scope") == scope) & (pl.col("name") == name)).row(0, named=True)


def test_kappa_of_two_annotators_is_that_of_the_textbook() -> None:
    # Fifty grant proposals read by two readers: both yes 20, both no 15, 5 and 10 apart: 0.7 observed, kappa 0.4.
    votes = (
        [{"a": "accept", "b": "accept"}] * 20
        + [{"a": "accept", "b": "reject"}] * 5
        + [{"a": "reject", "b": "accept"}] * 10
        + [{"a": "reject", "b": "reject"}] * 15
    )
    frame = compute_review_agreement(*make_frames(votes))
    for scope, name in (("batch", "b1"), ("pair", "a / b"), ("annotator", "a")):
        row = find_row(frame, scope, name)
        assert row["question_count"] == 50
        assert row["percent_agreement"] == pytest.approx(0.7)
        assert row["cohen_kappa"] == pytest.approx(0.4)


def test_alpha_of_three_annotators_with_gaps_is_that_of_the_textbook() -> None:
    # Krippendorff's binary data of two observers and ten units, section A: alpha 0.095.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    words = ("reject", "accept")
    votes = [{"a": words[x], "b": words[y]} for x, y in zip(first, second, strict=True)]
    frame = compute_review_agreement(*make_frames(votes))
    assert find_row(frame, "batch", "b1")["krippendorff_alpha"] == pytest.approx(0.095, abs=5e-4)


def test_a_question_with_one_review_counts_as_work_but_not_as_agreement() -> None:
    frame = compute_review_agreement(*make_frames([{"a": "accept", "b": "accept"}, {"a": "reject"}]))
    row = find_row(frame, "annotator", "a")
    assert (row["decision_count"], row["question_count"], row["pair_count"]) == (2, 1, 1)


def test_unanimity_in_one_word_leaves_kappa_and_alpha_undefined() -> None:
    row = find_row(
        compute_review_agreement(*make_frames([{"a": "accept", "b": "accept"}] * 3)), "batch", "b1"
    )
    assert (row["percent_agreement"], row["cohen_kappa"], row["krippendorff_alpha"]) == (1.0, None, None)


def test_throughput_is_per_day_of_work() -> None:
    frame = compute_review_agreement(*make_frames([{"a": "accept", "b": "reject"}] * 20))
    row = find_row(frame, "annotator", "a")
    assert (row["decisions_per_day"], row["median_days_to_decide"]) == (10.0, 1.5)


def test_disciplines_are_told_apart() -> None:
    frame = compute_review_agreement(
        *make_frames([{"a": "accept", "b": "accept"}, {"a": "accept", "b": "reject"}] * 4)
    )
    assert find_row(frame, "discipline", "History")["percent_agreement"] == 1.0
    assert find_row(frame, "discipline", "Law")["percent_agreement"] == 0.0


def test_adjudications_are_left_out() -> None:
    assert compute_review_agreement(*make_frames([{"a": "accept", "b": "reject"}], "adjudicator")).is_empty()
