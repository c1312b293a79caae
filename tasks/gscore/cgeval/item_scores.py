"""Gscores of one model's answers to CG-Eval.

Texts are scored by the four metrics, calculations by their final answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import polars as pl

from schemas.tables import get_table
from tasks.gscore.calculation.items import CALCULATION_COLUMNS, CALCULATION_KINDS, score_calculations
from tasks.gscore.metrics.pairs import (
    NO_MODEL_NOTE,
    NO_REFERENCE_NOTE,
    NO_RESPONSE_NOTE,
    score_pairs_with_references,
)
from tasks.gscore.metrics.profiles import DEFAULT_PROFILE, Profile, parse_profile
from tasks.gscore.metrics.similarity import Similarity

Several = Literal["best", "mean"]

ITEM_KINDS = {
    "definition": "definition",
    "short_answer": "short_answer",
    "word_problem": "calculation",
    "derivation": "calculation",
    "arithmetic": "arithmetic",
}
"""Kind of question → `gscores.item_kind`: word problems and derivations are scored alike."""

NO_SIMILARITY_MODEL = "none"
CALCULATION_NOTE = "a calculation is scored by its final answer and its steps: it has no similarity"

_BATCH_ROWS = 500
_CALCULATION_NUMBERS = ("accuracy", "accuracy_unordered", "accuracy_symbolic", "step_chrf", "gscore")


def score_answers(
    answers: pl.DataFrame,
    references: pl.DataFrame,
    profile: str | Profile = DEFAULT_PROFILE,
    similarity: Similarity | None = None,
    several: Several = "best",
    *,
    missing_similarity_note: str = NO_MODEL_NOTE,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """Return rows of `gscores` (its own columns), in the order of `answers`.

    There is one row per question that has a reference.

    `answers` is what `answering.read_answers` gives, `references` what `references.read_references` gives. Where a question has
    several references, `best` keeps the one with the highest Gscore, `mean` averages every number. What cannot be
    computed is null, never 0: without `similarity` the Gscore of a text, without a response every number.
    """
    chosen = parse_profile(profile)
    items = answers.join(references, on="cgeval_id", how="inner", maintain_order="left")
    is_calculation = pl.col("kind").is_in(CALCULATION_KINDS)
    texts, calculations = items.filter(~is_calculation), items.filter(is_calculation)
    scored: list[pl.DataFrame] = []
    done = 0
    for rows in (*texts.iter_slices(_BATCH_ROWS), *calculations.iter_slices(_BATCH_ROWS)):
        if rows.is_empty():
            continue
        if rows["kind"][0] in CALCULATION_KINDS:
            scored.append(_score_calculations(rows, chosen, several))
        else:
            scored.append(_score_texts(rows, chosen, similarity, several))
        done += rows.height
        if progress is not None:
            progress(done, items.height)
    table = get_table("gscores")
    if not scored:
        return table.frame([])
    identity = NO_SIMILARITY_MODEL if similarity is None else similarity.identity
    note = (
        pl.when(pl.col("response").is_null())
        .then(pl.lit(NO_RESPONSE_NOTE))
        .when(pl.col("reference_count") == 0)
        .then(pl.lit(NO_REFERENCE_NOTE))
        .when(is_calculation)
        .then(pl.lit(CALCULATION_NOTE))
        .when(pl.lit(similarity is None))
        .then(pl.lit(missing_similarity_note))
        .otherwise(pl.col("similarity_note"))
    )
    found = pl.concat(scored, how="diagonal").with_columns(
        item_id=pl.col("cgeval_id"),
        item_kind=pl.col("kind").replace_strict(ITEM_KINDS, return_dtype=pl.String),
        profile=pl.lit(chosen.name),
        similarity_model=pl.lit(identity),
        similarity_note=note,
        reference_mode=pl.when(pl.col("reference_count") > 1).then(pl.lit(several)),
        is_simulated=pl.lit(False),
    )
    columns = {column.name: table.polars_schema[column.name] for column in table.own_columns}
    missing = [
        pl.lit(None, dtype=kind).alias(name) for name, kind in columns.items() if name not in found.columns
    ]
    return (
        found.with_columns(missing)
        .sort("seq")
        .select(pl.col(name).cast(kind) for name, kind in columns.items())
    )


def _score_texts(
    rows: pl.DataFrame, profile: Profile, similarity: Similarity | None, several: Several
) -> pl.DataFrame:
    pairs = rows.with_columns(references=pl.col("references").list.drop_nulls())
    # Texts are compared with texts: a question for which only a final answer was given has no reference.
    return score_pairs_with_references(pairs, several, profile, similarity).with_columns(
        pl.col("reference_count").cast(pl.Int64)
    )


def _score_calculations(rows: pl.DataFrame, profile: Profile, several: Several) -> pl.DataFrame:
    """One row per item from one per item and reference, joined as `several` says."""
    items = (
        rows.select("seq", "kind", "response", "references", "reference_answers")
        .explode("references", "reference_answers")
        .rename({"references": "reference", "reference_answers": "reference_answer"})
    )
    scored = score_calculations(items, profile)
    if several == "best":
        joined = (
            scored.sort("seq", "gscore", descending=[False, True], nulls_last=True, maintain_order=True)
            .group_by("seq", maintain_order=True)
            .agg(pl.col(*CALCULATION_COLUMNS).first(), reference_count=pl.len().cast(pl.Int64))
        )
    else:
        texts = [name for name in CALCULATION_COLUMNS if name not in _CALCULATION_NUMBERS]
        joined = scored.group_by("seq", maintain_order=True).agg(
            pl.col(*texts).first(),
            pl.col(*_CALCULATION_NUMBERS).mean(),
            reference_count=pl.len().cast(pl.Int64),
        )
    return rows.with_columns(similarity_note=pl.lit(None, dtype=pl.String)).join(
        joined.rename({"standard_reference": "expected_answer"}).drop("profile"),
        on="seq",
        how="left",
        maintain_order="left",
    )
