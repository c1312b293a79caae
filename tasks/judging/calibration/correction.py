"""S, corrected for the judge.

What people gave a sample of an edition's responses shows how far its judge leads astray.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from schemas.tables import get_table
from tasks.statistics import POINTS_PER_STAR
from tasks.statistics.judges import (
    Corrected,
    JudgedScores,
    RatedRows,
    compute_judge_weight,
    correct_by_families,
    correct_by_ratings,
)
from warehouse.lake import hash_rows

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake import Lake

LEAST_RATED = 20


def correct_edition(lake: Lake, run_id: str, *, now: datetime | None = None) -> int:
    """Correct the last edition of a run by the existing ratings, and land `corrected_scores`.

    Returns the number of its rows.

    Nothing (0) for a run without an edition, or where fewer than 20 responses of a style were rated. The same ratings again
    change nothing; further ones make rows of their own beside the old. S as it was published is never touched.
    """
    found = lake.read("run_revisions", {"run_id": run_id})
    if found.is_empty():
        return 0
    edition = found.row(-1, named=True)
    edition_id = str(edition["edition_id"])
    rated = lake.read("edition_rated", {"edition_id": edition_id})
    if rated.is_empty():
        return 0
    months = lake.read("edition_sat_months", {"edition_id": edition_id})["month"].to_list()
    rows = correct_styles(
        edition,
        lake.read("edition_style_scores", {"edition_id": edition_id, "month": edition["month"]}),
        lake.read("edition_rateable", {"edition_id": edition_id, "months": months}),
        rated,
        now=now or datetime.now(UTC),
    )
    if not rows.is_empty():
        unit = f"{edition_id}/{rows['ratings_hash'][0]}"
        lake.land("corrected_scores", unit, rows, ignore=("corrected_at",))
    return rows.height


def correct_styles(
    edition: Mapping[str, Any],
    scores: pl.DataFrame,
    rateable: pl.DataFrame,
    rated: pl.DataFrame,
    *,
    now: datetime,
) -> pl.DataFrame:
    """Rows of `corrected_scores` of an edition (a row of `editions`); writes nothing.

    `scores` are of edition_style_scores, `rateable` of edition_rateable, `rated` of edition_rated. A style is corrected by
    ratings of its own responses.
    """
    import polars as pl

    weights = {name: float(weight) for name, weight in json.loads(edition["weights"]).items()}
    shared = {
        "edition_id": edition["edition_id"],
        "month": edition["month"],
        "ratings_hash": hash_rows(rated.drop("is_own_family"))[:12],
        "judge": edition["judge"],
        "prompt_version": edition["judge_prompt_version"],
        "corrected_at": now,
        "is_simulated": edition["is_simulated"],
    }
    own_models = rated.filter("is_own_family")["model"].unique().to_list()
    rows: list[dict[str, object]] = []
    for (style,), of_style in scores.partition_by("prompt_style", as_dict=True, maintain_order=True).items():
        own = rated.filter(
            (pl.col("prompt_style") == style) & pl.col("model").is_in(of_style["model"].implode())
        )
        if own.height < LEAST_RATED:
            continue
        counts = rateable.filter(pl.col("prompt_style") == style)
        judged = _arrange_scores(of_style, counts, weights, own_models)
        responses = _arrange_ratings(own, of_style["model"].to_list(), counts, weights)
        judge_weight = compute_judge_weight(responses)
        of_model = dict(own.group_by("model").len().iter_rows())
        for estimator, corrected in (
            ("prediction_powered", correct_by_ratings(judged, responses, judge_weight)),
            ("family_effects", correct_by_families(judged, responses, judge_weight)),
        ):
            rows += [
                shared
                | {
                    "prompt_style": style,
                    "model": model,
                    "estimator": estimator,
                    "score": score,
                    "judge_weight": judge_weight,
                    "rated_count": of_model.get(model, 0),
                }
                | _scale(corrected, place)
                for place, (model, score) in enumerate(of_style.select("model", "score").iter_rows())
                if not np.isnan(corrected.se[place])
            ]
    return get_table("corrected_scores").frame(rows)


def _arrange_scores(
    scores: pl.DataFrame, counts: pl.DataFrame, weights: Mapping[str, float], own_models: list[str]
) -> JudgedScores:
    """The judge's scores in stars; a candidate without a family is a family of its own.

    `own_models` are rated candidates of the judge's family or organisation: the others of their families are, too.
    """
    import polars as pl

    families: dict[str, int] = {}
    own = scores.filter(pl.col("model").is_in(own_models))["family"].drop_nulls().implode()
    is_own = pl.col("model").is_in(own_models) | pl.col("family").is_in(own).fill_null(value=False)
    for model, family in scores.select("model", "family").iter_rows():
        families.setdefault(f"family {family}" if family else f"alone {model}", len(families))
    shares = {
        str(model): sum(
            weights.get(discipline, 0.0) * rateable / answers
            for discipline, rateable, answers in of_model.select(
                "discipline", "rateable_count", "answer_count"
            ).iter_rows()
        )
        for (model,), of_model in counts.partition_by("model", as_dict=True).items()
    }
    return JudgedScores(
        stars=scores["score"].to_numpy() / POINTS_PER_STAR,
        se=scores["score_se"].fill_null(0.0).to_numpy() / POINTS_PER_STAR,
        answer_count=scores["question_count"].to_numpy().astype(float),
        rateable_share=np.array([shares[model] for model in scores["model"]]),
        family=np.array(
            [
                families[f"family {family}" if family else f"alone {model}"]
                for model, family in scores.select("model", "family").iter_rows()
            ],
            dtype=np.int64,
        ),
        is_own_family=scores.select(is_own=is_own)["is_own"].to_numpy(),
    )


def _arrange_ratings(
    rated: pl.DataFrame, models: list[str], counts: pl.DataFrame, weights: Mapping[str, float]
) -> RatedRows:
    """The rated responses, with the weight of each.

    A response weighs what its discipline weighs in S, divided by the discipline's share of the candidate's rateable
    answers.
    """
    import polars as pl

    codes = {model: code for code, model in enumerate(models)}
    totals = dict(counts.group_by("model").agg(pl.col("rateable_count").sum()).iter_rows())
    weight = {
        (model, discipline): weights.get(discipline, 0.0) * (rateable / answers) / (rateable / totals[model])
        for model, discipline, rateable, answers in counts.select(
            "model", "discipline", "rateable_count", "answer_count"
        ).iter_rows()
        if rateable
    }
    return RatedRows(
        candidate=np.array([codes[model] for model in rated["model"]], dtype=np.int64),
        people=rated["mean_stars"].to_numpy(),
        judge=rated["judged_stars"].to_numpy().astype(float),
        weight=np.array([weight[place] for place in rated.select("model", "discipline").iter_rows()]),
    )


def _scale(corrected: Corrected, place: int) -> dict[str, object]:
    return {
        "corrected_score": float(corrected.stars[place]) * POINTS_PER_STAR,
        "corrected_se": float(corrected.se[place]) * POINTS_PER_STAR,
        "corrected_low": float(corrected.low[place]) * POINTS_PER_STAR,
        "corrected_high": float(corrected.high[place]) * POINTS_PER_STAR,
    }
