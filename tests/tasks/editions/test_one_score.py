"""S is one number, the same for the same stars.

It does not depend on who computes it, or on whether that is done in Python or in SQL.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tasks.editions.basis import Basis
from tasks.editions.sessions import summarise_sessions
from tasks.statistics import StarRows, compute_means, compute_session_score
from tasks.statistics.items import GradedRows, compute_equated, fit_graded_response
from tasks.statistics.ratings import arrange_stars, compute_rating_curves, draw_resamples
from tasks.statistics.score import MOST_STARS, compute_score
from tasks.statistics.scores import compute_changes, compute_pairs, compute_scores
from tests.tasks.exam.kit import weigh
from warehouse.lake import Lake

CANDIDATES, QUESTIONS = 6, 7


def draw(seed: int, disciplines: int) -> tuple[np.ndarray, dict[str, float]]:
    """Stars as candidates x disciplines x questions, and weights of which the second is none."""
    generator = np.random.default_rng(seed)
    weights = generator.dirichlet(np.ones(disciplines))
    weights[1] = 0.0
    names = [f"discipline {code}" for code in generator.permutation(disciplines)]
    stars = generator.integers(0, MOST_STARS + 1, (CANDIDATES, disciplines, QUESTIONS)).astype(float)
    return stars, dict(zip(names, (weights / weights.sum()).tolist(), strict=True))


def list_answers(stars: np.ndarray, weights: dict[str, float]) -> pl.DataFrame:
    candidate, discipline, question = (codes.ravel() for codes in np.indices(stars.shape))
    names = list(weights)
    return pl.DataFrame(
        {
            "session_id": [f"s{code}" for code in candidate],
            "model": [f"m{code}" for code in candidate],
            "question_uuid": [f"{names[d]}/{q}" for d, q in zip(discipline, question, strict=True)],
            "discipline": [names[code] for code in discipline],
            "stars": stars.ravel().astype(int),
        }
    )


def score_sessions(answers: pl.DataFrame, weights: dict[str, float]) -> pl.Series:
    """`edition_sessions.score` by session."""
    place = {"set_id": "set", "prompt_style": "zero_shot", "repeat": 1, "is_reference": False}
    flags = {"is_borrowed": False, "is_complete": True, "is_simulated": False}
    sessions = answers.select("session_id", "model").unique().with_columns(
        **{name: pl.lit(value) for name, value in (place | flags).items()},
        sat_in_run_id=pl.lit("run"), organisation=pl.lit("north"), question_count=pl.lit(1),
    )  # fmt: skip
    known = answers.join(sessions.select("session_id", *place), on="session_id")
    basis = Basis(
        run={"run_id": "run", "month": "2025-06"},
        sessions=sessions,
        answers=known.with_columns(score_status=pl.lit("scored")).sample(fraction=1, shuffle=True, seed=1),
        judges=(),
        weights=weights,
        bases={},
    )
    return summarise_sessions(basis)["score"]


@pytest.mark.parametrize(("seed", "disciplines"), [(1, 2), (2, 5), (3, 13)])
def test_all_that_compute_the_score_of_the_same_stars_have_the_same(seed: int, disciplines: int) -> None:
    stars, weights = draw(seed, disciplines)
    shares, means = np.array(list(weights.values())), stars.mean(axis=2)
    wanted = compute_score(means, shares)
    candidate, discipline, question = (codes.ravel() for codes in np.indices(stars.shape))
    question += discipline * QUESTIONS

    def rows_of(values: np.ndarray) -> StarRows:
        return StarRows(candidate, discipline, question, question, values.ravel())

    answers = list_answers(stars, weights)
    common = arrange_stars(answers)
    each = np.array([weights[name] / QUESTIONS for name in common.disciplines.tolist()])
    curves = compute_rating_curves(common.matrix, each, [len(each)], samples=1)
    rows = GradedRows(
        candidate, question, stars.ravel().astype(int), np.ones(stars.size), np.zeros(CANDIDATES, dtype=int),
        np.repeat(np.arange(disciplines), QUESTIONS), np.zeros(disciplines * QUESTIONS, dtype=int),
        np.arange(disciplines * QUESTIONS), np.zeros(disciplines * QUESTIONS, dtype=int), np.array([0.25]),
    )  # fmt: skip
    cells = [
        zip((name for name in weights for _ in range(QUESTIONS)), of_one.ravel().tolist(), strict=True)
        for of_one in stars
    ]
    counted = {name: weight for name, weight in weights.items() if weight}
    changes = compute_changes(rows_of(0 * stars), rows_of(stars), shares, candidate_count=CANDIDATES)
    equated = compute_equated(rows, fit_graded_response(rows, draws=4), shares)
    found = {
        "candidates": compute_scores(rows_of(stars), shares, candidate_count=CANDIDATES).score.value,
        "changes from nothing": changes.differences.difference,
        "equating": equated.own_score,
        "rating curves": curves[0].rating,
        "sessions": score_sessions(answers, weights).to_numpy(),
        "verifier": [(weigh(counted, cell) or 0) / 3 * 100 for cell in cells],
    }
    for name, values in found.items():
        assert np.asarray(values) == pytest.approx(wanted, abs=1e-9), name
    pairs = compute_pairs(rows_of(stars), shares, candidate_count=CANDIDATES)
    assert pairs.differences.difference == pytest.approx(wanted[pairs.first] - wanted[pairs.second], abs=1e-9)


def test_resamples_of_disciplines_in_which_all_questions_are_alike_have_the_score_itself() -> None:
    stars, weights = draw(4, 5)
    stars[:] = stars[:, :, :1]
    resamples = draw_resamples(arrange_stars(list_answers(stars, weights)), weights, 1, plan=[(400, 1)])
    wanted = compute_score(stars.mean(axis=2), np.array(list(weights.values())))
    assert resamples["score"].to_list() == pytest.approx(wanted.tolist(), abs=1e-9)


@pytest.mark.parametrize("disciplines", [2, 5, 13])
def test_a_session_s_score_is_to_the_last_bit_what_editions_froze_before(disciplines: int) -> None:
    stars, weights = draw(disciplines, disciplines)
    answers = list_answers(stars, weights)
    counted = {name: weight for name, weight in weights.items() if weight > 0}
    # The expression that froze them, as it stood.
    frozen = (
        answers.filter(pl.col("discipline").is_in(list(counted)))
        .group_by("session_id", "discipline")
        .agg(mean=pl.col("stars").cast(pl.Float64).mean())
        .with_columns(weight=pl.col("discipline").replace_strict(counted, return_dtype=pl.Float64))
        .sort("session_id", "discipline")
        .group_by("session_id")
        .agg(score=(pl.col("mean") * pl.col("weight")).sum() / 3 * 100)
        .sort("session_id")
    )
    assert score_sessions(answers, weights).to_list() == frozen["score"].to_list()


def test_a_missing_discipline_leaves_no_score_and_one_without_weight_is_not_missed() -> None:
    means = np.array([[3.0, np.nan, 3.0], [3.0, 3.0, np.nan]])
    weights = np.array([0.5, 0.0, 0.5])
    for found in (compute_score(means, weights), compute_session_score(means, weights)):
        assert found[0] == pytest.approx(100.0)
        assert np.isnan(found[1])


def test_the_view_of_sessions_has_the_score_of_the_stars_beneath_it(published: Lake) -> None:
    def score(stars: pl.DataFrame, key: str) -> dict[str, float]:
        """S by key; the season's disciplines have one weight and as many questions each."""
        keys, names = stars[key].unique().sort(), stars["discipline"].unique().sort()
        cell = keys.search_sorted(stars[key]) * len(names) + names.search_sorted(stars["discipline"])
        means, _ = compute_means(cell.to_numpy(), stars["stars"].to_numpy(), len(keys) * len(names))
        of_key = compute_score(means.reshape(len(keys), len(names)), np.full(len(names), 1 / len(names)))
        return dict(zip(keys, of_key.tolist(), strict=True))

    answers = published.query(
        "select session_id, discipline, coalesce(stars, 0) as stars from scored_responses"
    )
    sessions = published.query("select session_id, score from session_scores where score is not null")
    assert dict(sessions.iter_rows()) == pytest.approx(
        {
            name: value
            for name, value in score(answers, "session_id").items()
            if name in sessions["session_id"]
        }
    )
    assert sessions.height > 10
