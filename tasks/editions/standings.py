"""Where every candidate stands that was ever published, as of one edition."""

from __future__ import annotations

import polars as pl

from schemas.editions import ALL_DISCIPLINES
from tasks.editions.basis import Basis, QueryReader

MAIN_STYLE = "zero_shot"


def list_standings(
    read: QueryReader, basis: Basis, edition_id: str, scores: pl.DataFrame, equated: pl.DataFrame
) -> pl.DataFrame:
    """Rows of `edition_standings`: this edition's candidates, others as of their latest edition.

    Args:
        read: reads of the lake.
        basis: of this edition.
        edition_id: this edition.
        scores: its rows of `edition_scores`.
        equated: (sat_edition_id, model) → equated score with interval by this edition's fit, of whoever is in the fit.
    """
    own = scores.filter(
        (pl.col("discipline") == ALL_DISCIPLINES) & (pl.col("prompt_style") == MAIN_STYLE)
    ).select(
        "model",
        "organisation",
        "score",
        "score_low",
        "score_high",
        "relative_score",
        sat_edition_id=pl.lit(edition_id),
        sat_month=pl.lit(basis.run["month"]),
        reference_model=pl.lit(basis.run["reference_model"]),
    )
    earlier = read(
        "earlier_standings", {"month": basis.run["month"], "is_simulated": basis.run["is_simulated"]}
    ).filter(~pl.col("model").is_in(own["model"].implode()))
    found = pl.concat([own, earlier.select(own.columns)], how="vertical_relaxed").join(
        equated, on=["sat_edition_id", "model"], how="left"
    )
    is_own = pl.col("sat_edition_id") == edition_id
    has_equated = pl.col("equated_score").is_not_null()
    # Ranked by one scale: the equated one as soon as everybody of this edition has it.
    is_equated = found.filter(is_own)["equated_score"].null_count() == 0 and not own.is_empty()
    chosen = has_equated if is_equated else pl.lit(False)
    return (
        found.with_columns(
            **{
                f"standing_{name}": pl.when(chosen)
                .then(f"equated_{name}")
                .otherwise("score" if name == "score" else f"score_{name}")
                for name in ("score", "low", "high")
            },
            comparability=pl.when(is_own)
            .then(pl.lit("same_edition"))
            .when(chosen)
            .then(pl.lit("anchors"))
            .when(pl.col("reference_model") == basis.run["reference_model"])
            .then(pl.lit("same_reference"))
            .otherwise(pl.lit("none")),
        )
        .with_columns(
            # What cannot be compared has no place.
            rank=pl.when((pl.col("comparability") != "none") & pl.col("standing_score").is_not_null()).then(
                pl.when(pl.col("comparability") != "none")
                .then(pl.col("standing_score").round(9))
                .rank("min", descending=True)
            )
        )
        .with_columns(pl.col("rank").cast(pl.Int64), month=pl.lit(basis.run["month"]))
        .drop("equated_score", "equated_low", "equated_high")
        .sort("model")
    )
