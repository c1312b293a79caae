"""Questions about one text are one cluster in an edition, and its rows say which they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tasks.editions.basis import Basis
from tasks.editions.estimates import arrange_styles, compare_candidates, count_stars, make_rows
from tasks.statistics.scores import compute_scores

QUESTIONS = 24


def make_basis(passages: Mapping[str, str]) -> Basis:
    """Two candidates and 24 questions of one discipline.

    What is asked about one text is answered alike.
    """
    generator = np.random.default_rng(5)
    own = np.repeat(generator.integers(0, 4, (2, QUESTIONS // 4)), 4, axis=1)
    candidate, question = (codes.ravel() for codes in np.indices(own.shape))
    answers = pl.DataFrame(
        {
            "session_id": [f"s{code}" for code in candidate],
            "model": [f"m{code}" for code in candidate],
            "question_uuid": [f"q{code:02d}" for code in question],
            "lineage_uuid": [f"q{code:02d}" for code in question],
            "discipline": "Law",
            "stars": own.ravel(),
            "score_status": "scored",
            "repeat": 1,
            "set_id": "set",
            "prompt_style": "zero_shot",
            "sat_in_run_id": "run",
        }
    )
    sessions = pl.DataFrame({"session_id": ["s0", "s1"], "is_complete": True})
    return Basis({}, sessions, answers, (), {"Law": 1.0}, {}, passages=passages)


def test_the_errors_of_an_edition_count_a_text_once() -> None:
    texts = {f"q{number:02d}": f"text {number // 4}" for number in range(QUESTIONS)}
    (alone,), (together,) = arrange_styles(make_basis({})), arrange_styles(make_basis(texts))

    se = [
        compute_scores(make_rows(one.frame), one.weights, candidate_count=2).score.se
        for one in (alone, together)
    ]
    of_pairs = [compare_candidates(one).differences.se for one in (alone, together)]

    # Four questions that are answered alike are one: 6 clusters instead of 24.
    for one, other in (se, of_pairs):
        assert other**2 == pytest.approx(one**2 * 4 * 23 / 20)


@pytest.mark.parametrize(("repeat", "set_id", "is_spread"), [(1, "other", False), (2, "set", True)])
def test_only_repeats_of_one_set_have_a_spread(repeat: int, set_id: str, is_spread: bool) -> None:
    """How far the sets of a reference lie apart is no randomness of its own."""
    basis, is_second = make_basis({}), pl.col("session_id") == "s1"
    sat = basis.answers.with_columns(
        model=pl.lit("m0"),
        repeat=pl.when(is_second).then(repeat).otherwise(1),
        set_id=pl.when(is_second).then(pl.lit(set_id)).otherwise("set_id"),
    )
    (answers,) = arrange_styles(replace(basis, answers=sat))
    spread = compute_scores(make_rows(answers.frame), answers.weights, candidate_count=1).repeat_sd[0]
    assert (spread > 0) == is_spread == (not np.isnan(spread))


def test_the_rows_of_an_edition_name_the_text_where_there_is_one() -> None:
    (answers,) = arrange_styles(make_basis({"q00": "canal", "q01": "canal"}))

    rows = count_stars(answers).filter(pl.col("model") == "m0").select("question_uuid", "passage")

    assert rows.head(3).rows() == [("q00", "canal"), ("q01", "canal"), ("q02", None)]
    assert rows["passage"].null_count() == QUESTIONS - 2
