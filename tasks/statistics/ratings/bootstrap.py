"""Resamples: how far would the scores move had other questions been drawn?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from schemas.errors import ContractError, GateError, UsageError
from tasks.statistics.score import to_points

# Three of 1,000, one of 2,000 and one of 4,000 (LLMEval-Fair, table 9), as (sample_size, resample).
DEFAULT_PLAN: tuple[tuple[int, int], ...] = ((1000, 1), (1000, 2), (1000, 3), (2000, 1), (4000, 1))


class CommonStars(NamedTuple):
    """Stars of the questions that every candidate has stars for.

    Attributes:
        disciplines: of the common questions.
        matrix: stars as candidates x questions.
    """

    models: list[str]
    disciplines: NDArray[np.str_]
    matrix: NDArray[np.float64]


def draw_resamples(
    stars: CommonStars,
    weights: Mapping[str, float],
    seed: int,
    *,
    plan: Sequence[tuple[int, int]] = DEFAULT_PLAN,
) -> pl.DataFrame:
    """S of every candidate on every resample: columns model, resample, sample_size and score.

    Questions are drawn with replacement within each discipline, in the shares that `weights` (discipline ->
    weight in S) gives them, and the same ones for all candidates: what is left is the variation that comes
    from the questions. A sample may be larger than there are questions. The same seed gives the same rows.
    Raises UsageError for a sample too small to hold every discipline, ContractError when a discipline that
    has weight has no question.
    """
    names = [name for name, weight in weights.items() if weight > 0]
    shares = np.array([weights[name] for name in names])
    shares = shares / shares.sum()
    at = [np.flatnonzero(stars.disciplines == name) for name in names]
    if missing := [name for name, questions in zip(names, at, strict=True) if not len(questions)]:
        raise ContractError(f"There is no question of {', '.join(missing)}, which has weight in S.")
    parts = [
        pl.DataFrame(
            {
                "model": stars.models,
                "resample": [resample] * len(stars.models),
                "sample_size": [sample_size] * len(stars.models),
                "score": _score_resample(stars.matrix, at, shares, sample_size, seed, resample),
            }
        )
        for sample_size, resample in plan
    ]
    return pl.concat(parts)


def arrange_stars(stars: pl.DataFrame) -> CommonStars:
    """Stars of the common questions; takes columns model, question_uuid, discipline and stars.

    Raises GateError when there is no question with stars for every candidate, ContractError for a question listed twice.
    """
    if stars.select("model", "question_uuid").is_duplicated().any():
        raise ContractError("A candidate's question is there twice. Take one edition and one prompt style.")
    models = sorted(stars["model"].unique().to_list())
    common = stars.join(
        stars.group_by("question_uuid").agg(pl.len()).filter(pl.col("len") == len(models)),
        on="question_uuid",
        how="semi",
    ).sort("model", "question_uuid")
    if common.is_empty():
        raise GateError(_say_nothing_common(stars, models))
    count = common.height // len(models)
    matrix = common["stars"].cast(pl.Float64).to_numpy().reshape(len(models), count)
    return CommonStars(models, common["discipline"].head(count).to_numpy().astype(str), matrix)


def _score_resample(
    matrix: NDArray[np.float64],
    at: Sequence[NDArray[np.int64]],
    shares: NDArray[np.float64],
    sample_size: int,
    seed: int,
    resample: int,
) -> NDArray[np.float64]:
    # A seed of its own for every resample: adding one to the plan does not change the others.
    generator = np.random.default_rng([seed, sample_size, resample])
    counts = _divide(shares, sample_size)
    if not counts.all():
        raise UsageError(
            f"A sample of {sample_size} questions cannot hold all {len(shares)} disciplines of S. Draw more."
        )
    score = np.zeros(len(matrix))
    for questions, share, count in zip(at, shares, counts, strict=True):
        drawn = generator.choice(questions, size=count, replace=True)
        # Times drawn instead of a column per draw: 4,000 draws cost no more memory than 40.
        times = np.bincount(drawn, minlength=matrix.shape[1])[questions]
        score += share * (matrix[:, questions] @ times) / count
    return to_points(score)


def _divide(shares: NDArray[np.float64], sample_size: int) -> NDArray[np.int64]:
    """Questions of each discipline; the remainder by largest fraction."""
    # Thirteen thirteenths of 1,300 are 100 each, not 99.999….
    exact = np.round(shares * sample_size, 9)
    counts = np.floor(exact).astype(np.int64)
    short = sample_size - int(counts.sum())
    counts[np.argsort(-(exact - counts), kind="stable")[:short]] += 1
    return counts


def _say_nothing_common(stars: pl.DataFrame, models: list[str]) -> str:
    if not models:
        return "There are no stars to resample. Judge a run and publish it first."
    # The candidate whose questions fewest others share is the one to leave out.
    shared = stars.with_columns(pl.len().over("question_uuid").alias("candidates"))
    fewest = shared.group_by("model").agg(pl.col("candidates").mean()).sort("candidates", "model")["model"][0]
    return (
        f"No question has stars for all {len(models)} candidates; {fewest} shares the fewest. "
        "Leave it out, or resample the candidates of one set."
    )
