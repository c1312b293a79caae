from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from schemas.errors import ContractError, UsageError
from tasks.gscore.metrics.batch import score_surface
from tasks.gscore.metrics.profiles import compute_gscore
from tasks.gscore.people.agreement import compute_rank_agreement
from tasks.gscore.people.sample import compute_shares, draw_human_sample
from tests.tasks.gscore.kit import read_cgeval_questions


def build_responses(sizes: dict[str, int], models: int) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "subject": subject,
                "question_uuid": f"{subject}-{number}",
                "model": f"m{model}",
                "response": "x",
            }
            for subject, size in sizes.items()
            for number in range(size)
            for model in range(models)
        ]
    )


def test_a_sample_has_the_subjects_in_the_shares_of_the_pool_and_each_question_once() -> None:
    responses = build_responses({"a": 500, "b": 300, "c": 193, "d": 7}, models=4)
    sample = draw_human_sample(responses, seed=1, size=100)

    assert dict(sample.group_by("subject").len().iter_rows()) == {"a": 50, "b": 30, "c": 19, "d": 1}
    assert sample["question_uuid"].n_unique() == 100
    assert sample.columns == responses.columns
    assert set(sample["model"]) == {"m0", "m1", "m2", "m3"}


def test_a_sample_depends_on_its_seed_and_not_on_the_order_of_the_rows() -> None:
    responses = build_responses({"a": 60, "b": 30}, models=3)
    sample = draw_human_sample(responses, seed=1, size=30)
    assert_frame_equal(
        draw_human_sample(responses.sample(fraction=1, shuffle=True, seed=9), seed=1, size=30), sample
    )
    assert not sample.equals(draw_human_sample(responses, seed=2, size=30))


def test_every_model_is_drawn_about_as_often() -> None:
    sample = draw_human_sample(build_responses({"a": 3_000}, models=10), seed=4, size=3_000)
    counts = sample.group_by("model").len()["len"].to_list()
    assert len(counts) == 10 and min(counts) > 240 and max(counts) < 360  # 300 expected, sd 16


def test_a_model_that_answered_few_questions_is_drawn_only_there() -> None:
    responses = build_responses({"a": 20}, models=2).filter(
        (pl.col("model") == "m0") | (pl.col("question_uuid") == "a-3")
    )
    sample = draw_human_sample(responses, seed=1, size=20)
    assert set(sample.filter(model="m1")["question_uuid"]) <= {"a-3"}


def test_cgevals_own_pool_gives_twenty_of_every_subject_of_two_hundred(shared_data: Path) -> None:
    questions = read_cgeval_questions(shared_data / "bank" / "cgeval_questions.csv")
    responses = questions.select("subject", question_uuid="cgeval_id", model=pl.lit("m"))
    sizes = dict(draw_human_sample(responses, seed=1).group_by("subject").len().iter_rows())
    pool = dict(questions.group_by("subject").len().iter_rows())
    assert len(sizes) == 55 and sum(sizes.values()) == 1_100
    assert all(abs(sizes[subject] - pool[subject] / 10) < 1 for subject in pool)


def test_shares_add_up_and_the_largest_remainders_are_rounded_up() -> None:
    assert compute_shares({"a": 1, "b": 1, "c": 1}, 2) == {"a": 1, "b": 1, "c": 0}
    assert compute_shares({"a": 6, "b": 3, "c": 1}, 5) == {"a": 3, "b": 2, "c": 0}


def test_pools_that_cannot_be_sampled_are_refused() -> None:
    responses = build_responses({"a": 5}, models=2)
    with pytest.raises(UsageError, match="5 questions, fewer than the 6"):
        draw_human_sample(responses, seed=1, size=6)
    with pytest.raises(ContractError, match="share question and model"):
        draw_human_sample(pl.concat([responses, responses]), seed=1, size=2)
    with pytest.raises(ContractError, match="under several subjects"):
        draw_human_sample(responses.with_columns(subject=pl.col("model")), seed=1, size=2)


def test_tau_and_rho_are_those_of_a_worked_example_with_ties() -> None:
    # 10 pairs: 6 concordant, 2 discordant, one tied on each side: (6 - 2) / sqrt(9 * 9)
    result = compute_rank_agreement([1, 2, 3, 4, 4], [0.1, 0.2, 0.2, 0.5, 0.15], seed=1, resample_count=50)
    assert result.kendall_tau == pytest.approx(4 / 9)
    assert (result.pair_count, result.left_out_count) == (5, 0)


def test_the_interval_holds_the_value_and_narrows_with_more_pairs() -> None:
    draw = np.random.default_rng(0)
    truth = draw.normal(size=1_000)
    human = np.clip(np.round(truth + draw.normal(size=1_000) * 0.8, 1), -3, 3)
    many = compute_rank_agreement(truth, human, seed=1, resample_count=200)
    few = compute_rank_agreement(truth[:60], human[:60], seed=1, resample_count=200)

    assert many.kendall_low < many.kendall_tau < many.kendall_high
    assert many.spearman_low < many.spearman_rho < many.spearman_high
    assert many.kendall_high - many.kendall_low < (few.kendall_high - few.kendall_low) / 2
    assert many == compute_rank_agreement(truth, human, seed=1, resample_count=200)


def test_pairs_that_lack_a_score_are_left_out_and_counted() -> None:
    result = compute_rank_agreement(
        [1, 2, 3, np.nan, 5], [0.1, 0.3, 0.2, 0.9, np.nan], seed=1, resample_count=20
    )
    assert (result.pair_count, result.left_out_count) == (3, 2)
    assert result.kendall_tau == pytest.approx(1 / 3)
    assert result.spearman_rho == pytest.approx(0.5)


def test_scores_without_a_ranking_are_refused() -> None:
    with pytest.raises(UsageError, match="no ranking to compare"):
        compute_rank_agreement([1, 2, 3], [0.5, 0.5, 0.5], seed=1)


def test_surface_metrics_follow_real_marks_in_history_less_than_a_second_teacher_does(
    shared_data: Path,
) -> None:
    marks = (
        pl.read_parquet(shared_data / "judged" / "gaokao_human_double_marked.parquet")
        .filter(pl.col("task").str.contains("History"))
        .drop_nulls(["human_1", "human_2", "reference", "model_output"])
        .with_columns(pl.col("human_1", "human_2") / pl.col("max_score"))
    )
    surface = score_surface(marks["reference"].to_list(), marks["model_output"].to_list(), "cgeval-paper")
    weighted = compute_gscore(*surface, np.zeros(len(marks)))
    teachers = compute_rank_agreement(marks["human_1"], marks["human_2"], seed=1, resample_count=100)
    metric = compute_rank_agreement(weighted, marks["human_1"], seed=1, resample_count=100)

    assert teachers.pair_count == 183
    assert 0.1 < metric.kendall_low < metric.kendall_high < teachers.kendall_low
