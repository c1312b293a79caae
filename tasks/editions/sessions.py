"""What each session of an edition says by itself: counts, stars, its own S, its part in R."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from tasks.editions.basis import Basis
from tasks.statistics import FULL_SCORE, compute_means, compute_session_score

_STATUSES = ("unanswered", "unparsed", "unjudged")


def summarise_sessions(basis: Basis) -> pl.DataFrame:
    """Rows of `edition_sessions` without the edition: every session that speaks, S if complete."""
    head = basis.sessions.select(
        "session_id",
        "sat_in_run_id",
        "set_id",
        "model",
        "organisation",
        "prompt_style",
        "repeat",
        "is_reference",
        "is_borrowed",
        "is_complete",
        "question_count",
        "is_simulated",
    ).with_columns(run_id=pl.lit(basis.run["run_id"]), month=pl.lit(basis.run["month"]))
    if basis.answers.is_empty():
        zero = pl.lit(0, dtype=pl.Int64)
        names = ["scored_count", *(f"{status}_count" for status in _STATUSES), "star_count", "pair_count"]
        return head.with_columns(**dict.fromkeys(names, zero))
    stars = _read_reference_stars(basis)
    styles = basis.answers["prompt_style"].unique().sort()
    # One style in memory beside the answers at a time.
    counts = pl.concat([_count_sessions(basis, stars, str(style)) for style in styles])
    return (
        head.join(counts, on="session_id", how="left")
        .join(_score_sessions(basis), on="session_id", how="left")
        .with_columns(
            *(
                pl.col(name).fill_null(0)
                for name in (
                    "scored_count",
                    *(f"{status}_count" for status in _STATUSES),
                    "star_count",
                    "pair_count",
                )
            ),
            score=pl.when("is_complete").then("score"),
        )
        .sort("session_id")
    )


def _count_sessions(basis: Basis, reference_stars: pl.DataFrame, style: str) -> pl.DataFrame:
    answers = (
        basis.answers.lazy()
        .filter(pl.col("prompt_style") == style)
        .select(
            "session_id", "set_id", "question_uuid", "discipline", "stars", "score_status", "is_reference"
        )
        .collect()
        .join(
            reference_stars.filter(pl.col("prompt_style") == style).drop("prompt_style"),
            on=["set_id", "question_uuid"],
            how="left",
        )
    )
    # What nobody could judge of a candidate earns nothing in R either; of the reference it is left out.
    is_unread = pl.col("score_status") == "unparsed"
    is_pair = (
        pl.col("reference_stars").is_not_null()
        & (pl.col("score_status") != "unjudged")
        & ~(is_unread & pl.col("is_reference"))
    )
    counts = answers.group_by("session_id").agg(
        scored_count=pl.col("stars").is_not_null().sum().cast(pl.Int64),
        **{
            f"{status}_count": (pl.col("score_status") == status).sum().cast(pl.Int64) for status in _STATUSES
        },
        star_count=pl.col("stars").sum().cast(pl.Int64),
        pair_count=is_pair.sum().cast(pl.Int64),
    )
    return counts.join(
        _weigh_pairs(answers.filter(is_pair), basis.weights), on="session_id", how="left"
    ).with_columns(pl.col("session_id").cast(pl.String))


def _weigh_pairs(pairs: pl.DataFrame, weights: Mapping[str, float]) -> pl.DataFrame:
    """Stars of sessions and of the reference on their pairs; the one over the other is R.

    Each discipline counts by its weight, whatever its share of them; null where one that has weight has no pair.
    """
    weighed = {name: weight for name, weight in weights.items() if weight > 0}
    found = (
        pairs.with_columns(pl.col("discipline").cast(pl.String))
        .filter(pl.col("discipline").is_in(list(weighed)))
        .group_by("session_id", "discipline")
        .agg(
            count=pl.len(),
            pair_stars=pl.col("stars").fill_null(0).sum().cast(pl.Float64),
            # Fractions are added in one order: an edition that is computed again has the same numbers to the last bit.
            reference_pair_stars=pl.col("reference_stars").sort().sum(),
        )
        .sort("session_id", "discipline")
        .with_columns(
            factor=pl.col("discipline").replace_strict(weighed, return_dtype=pl.Float64)
            * pl.col("count").sum().over("session_id")
            / pl.col("count")
        )
    )
    return found.group_by("session_id", maintain_order=True).agg(
        pl.when(pl.len() == len(weighed)).then((pl.col(name) * pl.col("factor")).sum()).alias(name)
        for name in ("pair_stars", "reference_pair_stars")
    )


def _read_reference_stars(basis: Basis) -> pl.DataFrame:
    complete = basis.sessions.filter("is_complete")["session_id"]
    return (
        basis.answers.filter(
            pl.col("is_reference")
            & pl.col("stars").is_not_null()
            & pl.col("session_id").is_in(complete.implode())
        )
        .group_by("set_id", "prompt_style", "question_uuid")
        .agg(reference_stars=pl.col("stars").cast(pl.Float64).mean())
    )


def _score_sessions(basis: Basis) -> pl.DataFrame:
    """S of each session; null where a discipline that has weight is missing."""
    names = sorted(name for name, weight in basis.weights.items() if weight > 0)
    counted = (
        basis.answers.lazy()
        .filter(pl.col("discipline").is_in(names))
        .select("session_id", "discipline", "stars")
        .collect()
    )
    sessions = counted["session_id"].unique().sort()
    discipline = counted["discipline"].replace_strict(names, range(len(names)), return_dtype=pl.Int64)
    cell = sessions.search_sorted(counted["session_id"]).cast(pl.Int64) * len(names) + discipline
    shape = (len(sessions), len(names))
    means, _ = compute_means(cell.to_numpy(), counted["stars"].fill_null(0).to_numpy(), math.prod(shape))
    score = compute_session_score(means.reshape(shape), np.array([basis.weights[name] for name in names]))
    return pl.DataFrame({"session_id": sessions, "score": np.clip(score, 0.0, FULL_SCORE)}).with_columns(
        pl.col("session_id").cast(pl.String), pl.col("score").fill_nan(None)
    )
