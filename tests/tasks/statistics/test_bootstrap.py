from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from schemas.errors import ContractError, GateError
from tasks.statistics.bootstrap import DEFAULT_PLAN, arrange_stars, draw_resamples

SIZES = {"Law": 30, "History": 60, "Medicine": 10}


def make_stars(abilities: dict[str, float], seed: int = 5) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        [
            {
                "model": model,
                "set_id": "set-1",
                "question_uuid": f"{discipline}-{number}",
                "discipline": discipline,
                "stars": float(generator.binomial(3, ability)),
            }
            for model, ability in abilities.items()
            for discipline, count in SIZES.items()
            for number in range(count)
        ]
    )


def test_the_default_plan_is_three_of_a_thousand_and_one_of_two_and_four_thousand() -> None:
    rows = draw_resamples(make_stars({"alpha": 0.9, "beta": 0.5}), "2025-06", seed=1)

    found = rows.filter(model="alpha").sort("sample_size", "resample")
    assert found.select("sample_size", "resample").rows() == list(DEFAULT_PLAN)
    assert set(rows["discipline"]) == {None}
    assert set(rows["month"]) == {"2025-06"}


def test_the_same_seed_gives_the_same_rows_and_another_seed_others() -> None:
    stars = make_stars({"alpha": 0.9, "beta": 0.5})

    first = draw_resamples(stars, "2025-06", seed=1)

    assert first.equals(draw_resamples(stars.sample(fraction=1.0, shuffle=True, seed=9), "2025-06", seed=1))
    assert not first.equals(draw_resamples(stars, "2025-06", seed=2))


def test_a_longer_plan_leaves_the_other_resamples_as_they_were() -> None:
    stars = make_stars({"alpha": 0.9})

    short = draw_resamples(stars, "2025-06", 1, plan=[(50, 1)])
    long = draw_resamples(stars, "2025-06", 1, plan=[(80, 1), (50, 1)])

    assert long.filter(sample_size=50).equals(short)


def test_all_candidates_are_scored_on_the_same_questions() -> None:
    alpha = make_stars({"alpha": 0.6})
    twin = alpha.with_columns(pl.lit("twin").alias("model"))

    rows = draw_resamples(pl.concat([alpha, twin]), "2025-06", seed=3)

    scores = rows.pivot("model", index=["sample_size", "resample"], values="score")
    assert scores["alpha"].to_list() == scores["twin"].to_list()


def test_disciplines_keep_their_shares() -> None:
    # Stars are 3 in one discipline only, so the score is that discipline's share of the sample: 60 of 100.
    stars = make_stars({"alpha": 0.5}).with_columns(
        pl.when(pl.col("discipline") == "History").then(3.0).otherwise(0.0).alias("stars")
    )

    rows = draw_resamples(stars, "2025-06", 1, plan=[(1000, 1), (15, 1)])

    assert rows["score"].to_list() == pytest.approx([60.0, 60.0])


def test_questions_without_stars_for_every_candidate_are_not_drawn() -> None:
    stars = make_stars({"alpha": 0.9, "beta": 0.5})
    missing = stars.filter(~((pl.col("model") == "beta") & (pl.col("question_uuid") == "Law-0")))

    models, disciplines, matrix = arrange_stars(missing)

    assert models == ["alpha", "beta"]
    assert matrix.shape == (2, 99)
    assert (disciplines == "Law").sum() == 29


def test_candidates_without_a_common_question_are_refused_by_name() -> None:
    stars = make_stars({"alpha": 0.9, "beta": 0.5})
    stranger = make_stars({"gamma": 0.5}).with_columns(pl.lit("set-2").alias("set_id"))

    with pytest.raises(GateError, match="gamma shares the fewest"):
        draw_resamples(pl.concat([stars, stranger]), "2025-06", seed=1)


def test_no_stars_at_all_are_refused() -> None:
    with pytest.raises(GateError, match="Judge a run first"):
        draw_resamples(make_stars({"alpha": 0.9}).clear(), "2025-06", seed=1)


def test_a_question_listed_twice_is_refused() -> None:
    stars = make_stars({"alpha": 0.9})

    with pytest.raises(ContractError, match="twice"):
        draw_resamples(pl.concat([stars, stars]), "2025-06", seed=1)
