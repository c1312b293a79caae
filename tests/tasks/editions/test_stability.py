"""Resamples and ratings of a published edition.

They are made from its frozen stars, and are the same for the same seed.
"""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from schemas.errors import GateError, UsageError
from tasks.editions.stability import StabilityRequest, compute_stability, write_stability
from tests.tasks.report.synthetic import REFERENCE
from warehouse.lake import Lake
from warehouse.lake.upkeep import read_unit

JUNE = "run-2025-06"
SMALL = StabilityRequest(sample_sizes=(100, 100, 400), curve_sizes=(10, 40), samples=4, seed=3)


def read_tables(lake: Lake) -> dict[str, pl.DataFrame]:
    return {
        name: read_unit(lake, name, f"{JUNE}/1/zero_shot").sort(pl.all())
        for name in ("bootstrap_scores", "rating_curves")
    }


def test_the_same_seed_changes_nothing_and_another_takes_the_place_of_the_rows_and_leaves_the_edition_alone(
    published: Lake,
) -> None:
    first = write_stability(published, JUNE, SMALL)
    before = read_tables(published)
    snapshots = published.query("select max(snapshot_id) from ducklake_snapshots('exam')").item()

    again = write_stability(published, JUNE, SMALL)

    assert (first.is_new, again.is_new) == (True, False)
    assert published.query("select max(snapshot_id) from ducklake_snapshots('exam')").item() == snapshots
    assert all(frame.height > 0 for frame in before.values())
    assert all(frame.equals(read_tables(published)[name]) for name, frame in before.items())
    assert published.query("select count(*) from quarantine where stage = 'stability'").item() == 0

    frozen = read_unit(published, "edition_scores", f"{JUNE}/1")

    write_stability(
        published, JUNE, StabilityRequest(sample_sizes=(100,), curve_sizes=(10,), samples=4, seed=4)
    )

    after = read_tables(published)
    assert set(after["bootstrap_scores"]["sample_size"]) == {100}
    assert set(after["bootstrap_scores"]["seed"]) == {4}
    assert not after["rating_curves"]["rating"].equals(before["rating_curves"]["rating"])
    assert read_unit(published, "edition_scores", f"{JUNE}/1").equals(frozen)


def read_set_scores(lake: Lake) -> pl.DataFrame:
    """S of every candidate on every set of the edition, as published.

    The season sits each set once.
    """
    return lake.query(
        "select set_id, model, score as set_score from edition_sessions "
        "where prompt_style = 'zero_shot' and is_complete"
    )


def test_the_resamples_lie_about_the_published_score(published: Lake) -> None:
    write_stability(
        published, JUNE, StabilityRequest(sample_sizes=(4000,) * 12, curve_sizes=(10,), samples=2)
    )
    scores = read_set_scores(published)

    found = published.run_named("repeat_stability", {"month": "2025-06"})

    compared = found.join(scores, on=["set_id", "model"], validate="1:1")
    assert compared.height == scores.height == found.height == 12
    assert set(compared["resample_count"]) == {12}
    # S of the resamples is S of the set, give or take the error of a mean of twelve.
    off = (compared["score_mean"] - compared["set_score"]).to_numpy()
    error = np.sqrt(compared["score_variance"].to_numpy() / 12)
    assert error.min() > 0
    assert np.abs(off / error).max() < 4
    assert compared["is_larger_than_set"].all()
    assert found.filter(model=REFERENCE)["relative_scores"].to_list() == [[100.0] * 12] * 2


def test_on_all_questions_of_a_set_the_score_is_the_published_one_and_so_is_the_order(
    published: Lake,
) -> None:
    write_stability(published, JUNE, StabilityRequest(sample_sizes=(100,), samples=3))

    curves = read_tables(published)["rating_curves"].filter(
        (pl.col("sample_size") == pl.col("question_count")) & (pl.col("method") == "score")
    )
    compared = curves.join(read_set_scores(published), on=["set_id", "model"], validate="1:1")
    assert compared.height == curves.height == 12
    assert compared["rating"].to_list() == pytest.approx(compared["set_score"].to_list())
    places = compared.select(pl.col("set_score").round(9).rank("min", descending=True).over("set_id"))
    assert compared["full_rank"].to_list() == places.to_series().to_list()
    whole = published.run_named("rating_stability", {}).filter(
        (pl.col("sample_size") == pl.col("question_count")) & (pl.col("method") == "score")
    )
    assert whole.select("spearman", "spearman_sd", "largest_rank_shift").unique().rows() == [(1.0, 0.0, 0)]
    assert whole["in_place_count"].to_list() == whole["candidate_count"].to_list()


def test_a_run_that_was_not_published_is_refused(season: Lake) -> None:
    with pytest.raises(UsageError, match=f"proctor publish {JUNE}"):
        write_stability(season, JUNE, SMALL)


def test_a_style_that_nobody_sat_is_refused(published: Lake) -> None:
    # Everybody of the season sat all three; no stars of a style is what an edition without it has.
    edition = published.read("run_revisions", {"run_id": JUNE}).row(-1, named=True)
    with pytest.raises(UsageError, match="no stars under the prompt style 'few_shot'"):
        compute_stability(edition, make_stars({}), StabilityRequest(prompt_style="few_shot"))


EDITION = {
    "edition_id": "r1/1",
    "month": "2025-06",
    "reference_model": "ref",
    "weights": json.dumps({"Law": 0.5, "History": 0.5}),
    "is_simulated": False,
}


def make_stars(sets: dict[str, list[str]], disciplines: tuple[str, ...] = ("Law", "History")) -> pl.DataFrame:
    """Twelve questions a set, all candidates of it with stars that follow from their place."""
    return pl.DataFrame(
        [
            (
                set_id,
                model,
                f"{set_id}-{number}",
                disciplines[number % len(disciplines)],
                float((number + at) % 4),
                False,
            )
            for set_id, models in sets.items()
            for at, model in enumerate(models)
            for number in range(12)
        ],
        schema={
            "set_id": pl.String,
            "model": pl.String,
            "question_uuid": pl.String,
            "discipline": pl.String,
            "stars": pl.Float64,
            "is_unparsed": pl.Boolean,
        },
        orient="row",
    )


def test_each_set_has_its_own_comparison_with_the_reference_in_each() -> None:
    stars = make_stars({"a": ["ref", "alpha"], "b": ["ref", "beta", "gamma"]})

    found = compute_stability(EDITION, stars, StabilityRequest(sample_sizes=(8,), samples=2))

    rows = found.frames["bootstrap_scores"]
    assert rows.select("set_id", "model", "is_reference").rows() == [
        ("a", "alpha", False),
        ("a", "ref", True),
        ("b", "beta", False),
        ("b", "gamma", False),
        ("b", "ref", True),
    ]
    assert found.question_counts == {"a": 12, "b": 12}
    assert set(found.frames["rating_curves"]["sample_size"]) == {10, 12}


def test_a_question_on_which_the_reference_could_not_be_judged_is_left_out_and_a_candidate_s_counts_0() -> (
    None
):
    stars = make_stars({"a": ["ref", "alpha"]}).with_columns(
        is_unparsed=pl.col("question_uuid").is_in(["a-0"]) & (pl.col("model") == "ref")
        | pl.col("question_uuid").is_in(["a-1"]) & (pl.col("model") == "alpha")
    )

    found = compute_stability(EDITION, stars, StabilityRequest(sample_sizes=(8,), samples=2))

    assert found.question_counts == {"a": 11}


def test_of_many_questions_those_on_which_the_reference_could_not_be_judged_are_left_out() -> None:
    numbers = range(200)
    stars = pl.DataFrame(
        {
            "set_id": "a",
            "model": [model for model in ("ref", "alpha") for _ in numbers],
            "question_uuid": [f"a-{number}" for number in numbers] * 2,
            "discipline": ["Law" if number % 2 else "History" for number in numbers] * 2,
            # Where the reference could be judged, both have all stars.
            "stars": [3.0 if number % 5 else 0.0 for number in numbers] * 2,
        }
    ).with_columns(is_unparsed=(pl.col("stars") == 0) & (pl.col("model") == "ref"))

    found = compute_stability(EDITION, stars, StabilityRequest(sample_sizes=(400,), samples=2))

    assert found.question_counts == {"a": 160}
    assert found.frames["bootstrap_scores"]["score"].to_list() == [100.0, 100.0]


def test_a_set_without_a_discipline_of_the_score_is_left_out_and_named() -> None:
    both = pl.concat([make_stars({"a": ["ref", "alpha"]}), make_stars({"b": ["ref", "beta"]}, ("Law",))])

    found = compute_stability(EDITION, both, StabilityRequest(sample_sizes=(8,), samples=2))

    assert (list(found.question_counts), found.sets_left_out) == (["a"], ["b"])
    with pytest.raises(GateError, match="no set has questions of all 2 disciplines"):
        compute_stability(EDITION, both.filter(pl.col("set_id") == "b"), StabilityRequest())


def test_a_candidate_alone_on_a_set_has_resamples_and_no_ratings() -> None:
    found = compute_stability(EDITION, make_stars({"a": ["ref"]}), StabilityRequest(sample_sizes=(8, 30)))

    assert found.frames["bootstrap_scores"].select(
        "sample_size", "resample", "is_larger_than_set"
    ).rows() == [(8, 1, False), (30, 1, True)]
    assert found.frames["rating_curves"].is_empty()


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (StabilityRequest(sample_sizes=()), "No size"),
        (StabilityRequest(sample_sizes=(0,)), "1 to 100,000 questions, not 0"),
        (StabilityRequest(sample_sizes=(8,), curve_sizes=(13,)), "from the 12 of a"),
        (StabilityRequest(sample_sizes=(1,)), "cannot hold all 2 disciplines"),
        (StabilityRequest(samples=0), "1 to 200 samples"),
        (StabilityRequest(seed=-1), "from 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_numbers(request_: StabilityRequest, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        compute_stability(EDITION, make_stars({"a": ["ref", "alpha"]}), request_)
