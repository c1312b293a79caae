"""An edition as it was judged, and what people gave a part of its responses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tasks.statistics import POINTS_PER_STAR, Floats
from tasks.statistics.judges import Corrected, JudgedScores, RatedRows
from warehouse.lake import hash_rows


@dataclass(frozen=True)
class JudgedEdition:
    """What corrections of an edition rest on.

    Attributes:
        edition: its row of `editions`.
        scores: rows of edition_style_scores.
        rateable: rows of edition_rateable.
        rated: rows of edition_rated.
        months: in which its sessions were sat.
    """

    edition: Mapping[str, Any]
    scores: pl.DataFrame
    rateable: pl.DataFrame
    rated: pl.DataFrame
    months: Sequence[str]

    @cached_property
    def ratings_hash(self) -> str:
        """Twelve digits over the rated responses."""
        return hash_rows(self.rated.drop("is_own_family"))[:12]

    @cached_property
    def weights(self) -> dict[str, float]:
        """Discipline → its fixed weight in S."""
        return {name: float(weight) for name, weight in json.loads(self.edition["weights"]).items()}

    @property
    def styles(self) -> list[str]:
        """The prompt styles that have scores, in order."""
        return [str(style) for style in self.scores["prompt_style"].unique().sort()]

    def describe(self) -> dict[str, object]:
        """What every row of a correction says of the edition and its judge."""
        return {
            "edition_id": self.edition["edition_id"],
            "month": self.edition["month"],
            "judge": self.edition["judge"],
            "prompt_version": self.edition["judge_prompt_version"],
            "is_simulated": self.edition["is_simulated"],
        }

    def scores_of(self, style: str) -> pl.DataFrame:
        """The scores of a prompt style, by candidate."""
        return self.scores.filter(self.scores["prompt_style"] == style)

    def rated_of(self, style: str) -> pl.DataFrame:
        """The rated responses of the candidates that have a score in a prompt style."""
        models = self.scores_of(style)["model"].implode()
        return self.rated.filter((pl.col("prompt_style") == style) & pl.col("model").is_in(models))

    def arrange_scores(self, style: str) -> JudgedScores:
        """The judge's scores in stars; rated candidates say which families are the judge's own."""
        scores = self.scores_of(style)
        models = self.rated.filter("is_own_family")["model"].unique().implode()
        # Two organisations may have a family of one name.
        scores = scores.with_columns(family=pl.concat_str("organisation", "family", separator="\n"))
        own = scores.filter(pl.col("model").is_in(models))["family"].drop_nulls().implode()
        is_own = pl.col("model").is_in(models) | pl.col("family").is_in(own).fill_null(value=False)
        names = [
            f"family {family}" if family else f"alone {model}"
            for model, family in scores.select("model", "family").iter_rows()
        ]
        codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
        shares = {
            str(model): sum(
                self.weights.get(discipline, 0.0) * rateable / answers
                for discipline, rateable, answers in of_model.select(
                    "discipline", "rateable_count", "answer_count"
                ).iter_rows()
            )
            for (model,), of_model in self._count_of(style).partition_by("model", as_dict=True).items()
        }
        return JudgedScores(
            stars=scores["score"].to_numpy() / POINTS_PER_STAR,
            se=scores["score_se"].fill_null(0.0).to_numpy() / POINTS_PER_STAR,
            answer_count=scores["question_count"].to_numpy().astype(float),
            rateable_share=np.array([shares[model] for model in scores["model"]]),
            family=np.array([codes[name] for name in names], dtype=np.int64),
            is_own_family=scores.select(is_own=is_own)["is_own"].to_numpy(),
        )

    def arrange_ratings(self, style: str, judged: Floats | None = None) -> RatedRows:
        """The rated responses, with the weight of each; `judged` are other stars than the judge's."""
        rated, counts = self.rated_of(style), self._count_of(style)
        codes = {model: code for code, model in enumerate(self.scores_of(style)["model"])}
        totals = dict(counts.group_by("model").agg(pl.col("rateable_count").sum()).iter_rows())
        weight = {
            (model, discipline): self.weights.get(discipline, 0.0)
            * (rateable / answers)
            / (rateable / totals[model])
            for model, discipline, rateable, answers in counts.select(
                "model", "discipline", "rateable_count", "answer_count"
            ).iter_rows()
            if rateable
        }
        return RatedRows(
            candidate=np.array([codes[model] for model in rated["model"]], dtype=np.int64),
            people=rated["mean_stars"].to_numpy(),
            judge=rated["judged_stars"].to_numpy().astype(float) if judged is None else judged,
            weight=np.array([weight[place] for place in rated.select("model", "discipline").iter_rows()]),
        )

    def _count_of(self, style: str) -> pl.DataFrame:
        return self.rateable.filter(self.rateable["prompt_style"] == style)


def scale_stars(name: str, found: Corrected, place: int) -> dict[str, object]:
    """A candidate's mean stars as columns `NAME_score`, `_se`, `_low` and `_high` of S."""
    se = float(found.se[place])
    is_known = not np.isnan(se)
    return {
        f"{name}_score": float(found.stars[place]) * POINTS_PER_STAR,
        f"{name}_se": se * POINTS_PER_STAR if is_known else None,
        f"{name}_low": float(found.low[place]) * POINTS_PER_STAR if is_known else None,
        f"{name}_high": float(found.high[place]) * POINTS_PER_STAR if is_known else None,
    }
