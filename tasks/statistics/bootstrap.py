"""Resamples: how far would the scores move had other questions been drawn?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from schemas.errors import ContractError, GateError
from schemas.tables import get_table

# Three of 1,000, one of 2,000 and one of 4,000 (LLMEval-Fair, table 9), as (sample_size, resample).
DEFAULT_PLAN: tuple[tuple[int, int], ...] = ((1000, 1), (1000, 2), (1000, 3), (2000, 1), (4000, 1))
_MOST_STARS = 3


def draw_resamples(
    stars: pl.DataFrame, month: str, seed: int, *, plan: Sequence[tuple[int, int]] = DEFAULT_PLAN
) -> pl.DataFrame:
    """Rows of `bootstrap_scores`: S (0 to 100) of every candidate on every resample of the plan.

    Takes the rows of the query `star_matrix` (model, set_id, question_uuid, discipline, stars). Only questions with stars
    for every candidate are drawn, with replacement, in the shares that the disciplines have among them, and the same ones
    for all candidates: what is left is the variation that comes from the questions. The same seed gives the same rows.

    Raises GateError when the candidates have no question in common, naming the one with the fewest.
    """
    models, disciplines, matrix = arrange_stars(stars)
    rows: list[dict[str, object]] = []
    for sample_size, resample in plan:
        # A seed of its own for every resample: adding one to the plan does not change the others.
        generator = np.random.default_rng([seed, sample_size, resample])
        drawn = _draw_stratified(disciplines, sample_size, generator)
        scores = matrix[:, drawn].mean(axis=1) / _MOST_STARS * 100
        rows += [
            {
                "model": model,
                "month": month,
                "resample": resample,
                "sample_size": sample_size,
                "score": float(score),
            }
            for model, score in zip(models, scores, strict=True)
        ]
    return get_table("bootstrap_scores").frame(rows)


class CommonStars(NamedTuple):
    """Stars of the questions that every candidate has stars for.

    Attributes:
        models: candidates, sorted.
        disciplines: of the common questions.
        matrix: stars as candidates x questions.
    """

    models: list[str]
    disciplines: NDArray[np.str_]
    matrix: NDArray[np.float64]


def arrange_stars(stars: pl.DataFrame) -> CommonStars:
    """The stars of the common questions, arranged for drawing.

    Raises GateError when there is no question with stars for every candidate, ContractError for a question listed twice.
    """
    question = ["set_id", "question_uuid"]
    if stars.select("model", *question).is_duplicated().any():
        raise ContractError(
            "star_matrix holds a candidate's question twice. Query one month and one prompt style."
        )
    models = sorted(stars["model"].unique().to_list())
    common = stars.join(
        stars.group_by(question).agg(pl.len()).filter(pl.col("len") == len(models)), on=question, how="semi"
    ).sort("model", *question)
    if common.is_empty():
        raise GateError(_say_nothing_common(stars, models))
    count = common.height // len(models)
    matrix = common["stars"].cast(pl.Float64).to_numpy().reshape(len(models), count)
    return CommonStars(models, common["discipline"].head(count).to_numpy().astype(str), matrix)


def _draw_stratified(
    disciplines: NDArray[np.str_], sample_size: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Indexes of `sample_size` questions; each discipline gets its share, the remainder by largest fraction."""
    names, counts = np.unique(disciplines, return_counts=True)
    exact = counts / counts.sum() * sample_size
    shares = np.floor(exact).astype(int)
    short = sample_size - int(shares.sum())
    shares[np.argsort(-(exact - shares), kind="stable")[:short]] += 1
    drawn = [
        generator.choice(np.flatnonzero(disciplines == name), size=share, replace=True)
        for name, share in zip(names, shares, strict=True)
    ]
    return np.concatenate(drawn)


def _say_nothing_common(stars: pl.DataFrame, models: list[str]) -> str:
    if not models:
        return "There are no stars to resample. Judge a run first."
    # The candidate whose questions fewest others share is the one to leave out.
    shared = stars.with_columns(pl.len().over("set_id", "question_uuid").alias("candidates"))
    fewest = shared.group_by("model").agg(pl.col("candidates").mean()).sort("candidates", "model")["model"][0]
    return (
        f"No question was judged for all {len(models)} candidates; {fewest} shares the fewest. "
        "Leave it out, or resample the candidates of one set."
    )
