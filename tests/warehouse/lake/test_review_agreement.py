"""Agreement in SQL and in Python, of the same decisions: two ways to the same numbers."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from tasks.review import compute_review_agreement
from tests.tasks.review.kit import Vote
from tests.warehouse.lake.kit import connect_trial, run_trial
from warehouse.lake.reading import find_query

NAMES = (
    "percent_agreement",
    "cohen_kappa",
    "kappa_linear",
    "kappa_quadratic",
    "krippendorff_alpha",
    "alpha_ordinal",
)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_query_and_the_command_agree_to_the_ninth_place(seed: int) -> None:
    mixer = random.Random(seed)
    moment = datetime(2026, 11, 2, tzinfo=UTC)
    votes = [
        Vote(
            f"b{question % 2}",
            f"00000000-0000-4000-8000-{question:012d}",
            mixer.choice(("Law", "Arts")) if question % 7 else None,
            annotator,
            mixer.choices(("accept", "edit", "reject"), (6, 2, 3))[0],
            moment,
            moment,
        )
        for question in range(80)
        for annotator in mixer.sample("abcde", mixer.choice((1, 2, 2, 3, 4)))
    ]
    # The discipline is the question's, not the vote's.
    of_question = {vote.question_uuid: vote.discipline for vote in votes}
    votes = [
        Vote(
            one.batch_id,
            one.question_uuid,
            of_question[one.question_uuid],
            one.annotator,
            one.decision,
            moment,
            moment,
        )
        for one in votes
    ]
    keys: list[dict[str, Any]] = [
        {"batch_id": one.batch_id, "question_uuid": one.question_uuid, "annotator": one.annotator}
        for one in votes
    ]
    assignments = pl.DataFrame(
        [
            key | {"discipline": one.discipline, "role": "reviewer"}
            for key, one in zip(keys, votes, strict=True)
        ],
        infer_schema_length=None,
    )
    reviews = pl.DataFrame([key | {"decision": one.decision} for key, one in zip(keys, votes, strict=True)])
    with connect_trial() as trial:
        (found,) = run_trial(
            trial,
            find_query("review_agreement"),
            {"review_assignments": assignments, "reviews": reviews},
            {"batch_id": None},
        )
    in_sql = {(row["scope"], row["name"]): row for row in found.to_dicts()}
    expected = [row for row in compute_review_agreement(votes) if row.scope != "annotator" and row.pair_count]
    assert in_sql.keys() == {(row.scope, row.name) for row in expected}
    for row in expected:
        ours = in_sql[row.scope, row.name]
        assert (ours["question_count"], ours["pair_count"]) == (row.question_count, row.pair_count)
        for name in NAMES:
            assert ours[name] == pytest.approx(getattr(row, name), abs=1e-9), (row.scope, row.name, name)
