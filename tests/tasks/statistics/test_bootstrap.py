from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from schemas.errors import ContractError, GateError, UsageError
from tasks.statistics.ratings.bootstrap import DEFAULT_PLAN, arrange_stars, draw_resamples

SIZES = {"Law": 30, "History": 60, "Medicine": 10}
WEIGHTS = dict.fromkeys(SIZES, 1 / 3)


def make_stars(abilities: dict[str, float], seed: int = 5) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        [
            {
                "model": model,
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
    rows = draw_resamples(arrange_stars(make_stars({"alpha": 0.9, "beta": 0.5})), WEIGHTS, seed=1)

    assert rows.filter(model="alpha").select("sample_size", "resample").rows() == list(DEFAULT_PLAN)
    assert DEFAULT_PLAN == ((1000, 1), (1000, 2), (1000, 3), (2000, 1), (4000, 1))


def test_the_same_seed_gives_the_same_rows_and_another_seed_others() -> None:
    stars = make_stars({"alpha": 0.9, "beta": 0.5})
    shuffled = arrange_stars(stars.sample(fraction=1.0, shuffle=True, seed=9))

    first = draw_resamples(arrange_stars(stars), WEIGHTS, seed=1)

    assert first.equals(draw_resamples(shuffled, WEIGHTS, seed=1))
    assert not first.equals(draw_resamples(shuffled, WEIGHTS, seed=2))


def test_a_longer_plan_leaves_the_other_resamples_as_they_were() -> None:
    stars = arrange_stars(make_stars({"alpha": 0.9}))

    short = draw_resamples(stars, WEIGHTS, 1, plan=[(50, 1)])
    long = draw_resamples(stars, WEIGHTS, 1, plan=[(80, 1), (50, 1)])

    assert long.filter(sample_size=50).equals(short)


def test_all_candidates_are_scored_on_the_same_questions() -> None:
    alpha = make_stars({"alpha": 0.6})
    twin = alpha.with_columns(pl.lit("twin").alias("model"))

    rows = draw_resamples(arrange_stars(pl.concat([alpha, twin])), WEIGHTS, seed=3)

    scores = rows.pivot("model", index=["sample_size", "resample"], values="score")
    assert scores["alpha"].to_list() == scores["twin"].to_list()


def test_disciplines_have_their_fixed_weights_in_every_sample() -> None:
    # Stars are 3 in one discipline only, so S is its weight, however many questions it has and however few are drawn.
    stars = make_stars({"alpha": 0.5}).with_columns(
        pl.when(pl.col("discipline") == "Medicine").then(3.0).otherwise(0.0).alias("stars")
    )
    weights = {"Law": 0.2, "History": 0.2, "Medicine": 0.6}

    rows = draw_resamples(arrange_stars(stars), weights, 1, plan=[(1000, 1), (7, 1)])

    assert rows["score"].to_list() == pytest.approx([60.0, 60.0])


def test_the_spread_of_the_resamples_is_the_error_of_a_mean_by_strata() -> None:
    stars = arrange_stars(make_stars({"alpha": 0.6}, seed=11))
    share = 300 // 3
    variance = sum(
        stars.matrix[0, stars.disciplines == name].var() / share / 9 for name in SIZES
    )  # of the mean of three means of 100 draws each
    expected = float(np.sqrt(variance)) / 3 * 100

    rows = draw_resamples(stars, WEIGHTS, 5, plan=[(300, number) for number in range(1, 801)])

    assert rows["score"].std() == pytest.approx(expected, rel=0.1)
    assert rows["score"].mean() == pytest.approx(
        float(np.mean([stars.matrix[0, stars.disciplines == name].mean() for name in SIZES])) / 3 * 100,
        abs=5 * expected / np.sqrt(800),
    )


def test_a_sample_without_room_for_every_discipline_is_refused() -> None:
    with pytest.raises(UsageError, match="2 questions cannot hold all 3 disciplines"):
        draw_resamples(arrange_stars(make_stars({"alpha": 0.5})), WEIGHTS, 1, plan=[(2, 1)])


def test_a_discipline_with_weight_and_without_questions_is_refused() -> None:
    with pytest.raises(ContractError, match="no question of Physics"):
        draw_resamples(arrange_stars(make_stars({"alpha": 0.5})), WEIGHTS | {"Physics": 0.1}, 1)


def test_questions_without_stars_for_every_candidate_are_not_drawn() -> None:
    stars = make_stars({"alpha": 0.9, "beta": 0.5})
    missing = stars.filter(~((pl.col("model") == "beta") & (pl.col("question_uuid") == "Law-0")))

    models, disciplines, matrix = arrange_stars(missing)

    assert models == ["alpha", "beta"]
    assert matrix.shape == (2, 99)
    assert (disciplines == "Law").sum() == 29


def test_candidates_without_a_common_question_are_refused_by_name() -> None:
    stars = make_stars({"alpha": 0.9, "beta": 0.5})
    stranger = make_stars({"gamma": 0.5}).with_columns(question_uuid="other-" + pl.col("question_uuid"))

    with pytest.raises(GateError, match="gamma shares the fewest"):
        arrange_stars(pl.concat([stars, stranger]))


def test_no_stars_at_all_are_refused() -> None:
    with pytest.raises(GateError, match="Judge a run"):
        arrange_stars(make_stars({"alpha": 0.9}).clear())


def test_a_question_listed_twice_is_refused() -> None:
    stars = make_stars({"alpha": 0.9})

    with pytest.raises(ContractError, match="twice"):
        arrange_stars(pl.concat([stars, stars]))
