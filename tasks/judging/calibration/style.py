"""What judges give for the form of a response, and scores without it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from schemas.juries import STYLE_FEATURES
from schemas.tables import get_table
from tasks.judging.calibration.judged_edition import JudgedEdition, scale_stars
from tasks.statistics import POINTS_PER_STAR
from tasks.statistics.judges import StyledRows, StyleEffects, compute_style_effects, control_scores

if TYPE_CHECKING:
    from warehouse.lake import Lake

_KEY = ["session_id", "seq"]
_COLUMNS = {
    "effect": "effect",
    "effect_se": "se",
    "effect_low": "low",
    "effect_high": "high",
    "p_value": "p_value",
    "p_holm": "p_holm",
}


def read_styles(lake: Lake, occasion: str, months: Sequence[str]) -> pl.DataFrame:
    """What an occasion's rated responses look like; `cluster` groups questions about one text."""
    styles = lake.read("calibration_styles", {"occasion": occasion, "months": months})
    passages = lake.read("passages_of_lineages", {"lineage_uuids": styles["lineage_uuid"].unique().to_list()})
    return styles.join(passages, on="lineage_uuid", how="left", maintain_order="left").with_columns(
        cluster=pl.coalesce("passage", "lineage_uuid")
    )


def add_features(styles: pl.DataFrame) -> pl.DataFrame:
    """The responses with a column for each feature, from columns of `response_styles`."""
    return styles.with_columns(
        length=pl.col("response_length").log(2),
        lists=(1 + pl.col("list_count")).log(2),
        headings=(1 + pl.col("heading_count")).log(2),
        bold=(1 + pl.col("bold_count")).log(2),
        chinese=pl.col("is_chinese").cast(pl.Float64),
    )


def compute_judge_style(pairs: pl.DataFrame, styles: pl.DataFrame) -> pl.DataFrame:
    """Rows of `judge_style_effects` of one occasion; every rating of a response counts."""
    table = get_table("judge_style_effects")
    rows: list[dict[str, object]] = []
    found = pairs.join(add_features(styles), on=_KEY, suffix="_read")
    for (judge, wording, occasion), own in found.sort("judge", "prompt_version", "round", *_KEY).group_by(
        "judge", "prompt_version", "occasion", maintain_order=True
    ):
        effects = fit_style(own)
        rows += [
            {
                "judge": judge,
                "prompt_version": wording,
                "occasion": occasion,
                "feature": feature,
                "pair_count": own.height,
                "cluster_count": effects.cluster_count,
                "feature_mean": own[feature].mean(),
                "feature_sd": own[feature].std(ddof=0),
                "is_simulated": own["is_simulated"].all(),
            }
            | {
                name: None if np.isnan(value := float(getattr(effects, source)[place])) else value
                for name, source in _COLUMNS.items()
            }
            for place, feature in enumerate(STYLE_FEATURES)
        ]
    return table.frame(rows)


def fit_style(rated: pl.DataFrame) -> StyleEffects:
    """Effects of form on a judge's stars; `rated` has model, cluster, stars and features."""
    return compute_style_effects(
        StyledRows(
            judge=rated["judged_stars"].to_numpy().astype(float),
            people=rated["mean_stars"].to_numpy(),
            features=rated.select(STYLE_FEATURES).to_numpy(),
            candidate=rated["model"].rank("dense").to_numpy().astype(np.int64),
            cluster=rated["cluster"].rank("dense").to_numpy().astype(np.int64),
        )
    )


def control_styles(lake: Lake, judged: JudgedEdition, *, now: datetime) -> pl.DataFrame:
    """Rows of `style_controlled_scores`, by the judge's effects on all rated responses, if any."""
    asked = {"edition_id": judged.edition["edition_id"], "months": judged.months}
    styles = add_features(lake.read("edition_styles", asked))
    clusters = lake.read("edition_asked", asked | {"month": judged.edition["month"]}).select(*_KEY, "cluster")
    rated = judged.rated.join(styles.select(*_KEY, *STYLE_FEATURES), on=_KEY).join(clusters, on=_KEY)
    rows: list[dict[str, object]] = []
    effects = fit_style(rated) if rated.height else None
    if effects is None or np.isnan(effects.effect).all():
        return get_table("style_controlled_scores").frame(rows)
    means = styles.group_by("prompt_style", "model").agg(pl.col(STYLE_FEATURES).mean())
    shared = {
        **judged.describe(),
        "ratings_hash": judged.ratings_hash,
        "rated_count": rated.height,
        "computed_at": now,
    }
    for style in judged.styles:
        own = judged.scores_of(style).join(means, on=["prompt_style", "model"], maintain_order="left")
        if own.is_empty():
            continue
        features = own.select(STYLE_FEATURES).to_numpy()
        found = control_scores(
            own["score"].to_numpy() / POINTS_PER_STAR,
            own["score_se"].fill_null(0.0).to_numpy() / POINTS_PER_STAR,
            features,
            effects,
        )
        rows += [
            shared
            | {"prompt_style": style, "model": model, "score": score}
            | {
                f"{feature}_mean": float(features[place, number])
                for number, feature in enumerate(STYLE_FEATURES)
            }
            | scale_stars("controlled", found, place)
            for place, (model, score) in enumerate(own.select("model", "score").iter_rows())
        ]
    return get_table("style_controlled_scores").frame(rows)
