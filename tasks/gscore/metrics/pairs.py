"""Gscore of pairs of a reference and a response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from schemas.errors import ContractError, ProctorError, UsageError
from tasks.gscore.metrics import METRICS
from tasks.gscore.metrics.profiles import DEFAULT_PROFILE, Profile, compute_gscore, parse_profile
from tasks.gscore.metrics.similarity import Similarity

SCORE_COLUMNS: dict[str, pl.DataType] = {
    "bleu4": pl.Float64(),
    "rouge2": pl.Float64(),
    "chrf": pl.Float64(),
    "similarity": pl.Float64(),
    "gscore": pl.Float64(),
    "profile": pl.String(),
    "similarity_model": pl.String(),
    "similarity_note": pl.String(),
}
# Bleu4, rouge2 and chrf, of which Gscore is made; the similarity needs a model, and is opened with it.
OUR_METRIC = "surface"
NO_MODEL_NOTE = "no embedding model was given: similarity and Gscore are not computed"
NO_REFERENCE_NOTE = "there is no reference: the pair is not scored"
NO_RESPONSE_NOTE = "there is no response: the pair is not scored"


def score_pairs(
    pairs: pl.DataFrame,
    profile: str | Profile = DEFAULT_PROFILE,
    similarity: Similarity | None = None,
    *,
    missing_similarity_note: str = NO_MODEL_NOTE,
    metrics: Sequence[str] = (),
) -> pl.DataFrame:
    """Return `pairs` with the columns of scores added, row for row in the same order.

    These are the columns of `SCORE_COLUMNS`, then those of further `metrics`.

    `pairs` has text columns `reference` and `response`; its other columns are kept. All scores are on the 0–1 scale
    (similarity is a cosine, so it can be negative). A null reference or response is not scored: its scores are null and
    `similarity_note` says why; an empty text is scored like any other. Without `similarity` the columns similarity and
    gscore are null. Raises ContractError when a column is missing or not text, UsageError for a metric that is not there, or gives
    other scores than it says.
    """
    chosen = parse_profile(profile)
    further = list_metric_columns(metrics)
    _check_columns(pairs, further)
    present = pairs.select(
        is_scored=pl.col("reference").is_not_null() & pl.col("response").is_not_null()
    ).to_series()
    scored = pairs.filter(present)
    references, responses = scored["reference"].to_list(), scored["response"].to_list()
    surface = _score(OUR_METRIC, references, responses, chosen)
    if similarity is None:
        values = np.full(len(references), np.nan)
        notes: list[str | None] = [missing_similarity_note] * len(references)
    else:
        values, notes = similarity.score_similarity(references, responses)
    gscore = compute_gscore(surface["bleu4"], surface["rouge2"], surface["chrf"], values)
    others = [_score(name, references, responses, chosen) for name in metrics]
    # Joined by row number: a pair that is not scored has a null in every column.
    columns = pl.DataFrame(
        {
            "_row": present.arg_true(),
            **surface,
            "similarity": pl.Series(values, dtype=pl.Float64).fill_nan(None),
            "gscore": pl.Series(gscore, dtype=pl.Float64).fill_nan(None),
            "_note": pl.Series(notes, dtype=pl.String),
            **{
                name: pl.Series(found, dtype=pl.Float64).fill_nan(None)
                for scores in others
                for name, found in scores.items()
            },
        }
    )
    return (
        pairs.with_row_index("_row")
        .join(columns, on="_row", how="left", maintain_order="left")
        .with_columns(
            profile=pl.lit(chosen.name),
            similarity_model=pl.lit(None if similarity is None else similarity.identity, dtype=pl.String),
            similarity_note=pl.when(pl.col("reference").is_null())
            .then(pl.lit(NO_REFERENCE_NOTE))
            .when(pl.col("response").is_null())
            .then(pl.lit(NO_RESPONSE_NOTE))
            .otherwise(pl.col("_note")),
        )
        .select(*pairs.columns, *SCORE_COLUMNS, *further)
    )


def list_metric_columns(metrics: Sequence[str]) -> list[str]:
    """The columns of further metrics, in order.

    Raises UsageError for a metric that is not there, or whose column is taken.
    """
    columns: list[str] = []
    for name in metrics:
        for column in METRICS.find(name).columns:
            if column in SCORE_COLUMNS or column in columns:
                raise UsageError(
                    f"The metric {name!r} of {METRICS.find_entry(name).package} gives a column {column!r}, which is there already. "
                    "Leave it out, or ask its author for another name."
                )
            columns.append(column)
    return columns


def _score(
    name: str, references: Sequence[str], responses: Sequence[str], profile: Profile
) -> dict[str, npt.NDArray[np.float64]]:
    """The scores of one metric by column, each held against what it says of itself."""
    metric = METRICS.find(name)
    try:
        found = {
            column: np.asarray(values, dtype=np.float64)
            for column, values in metric.score(references, responses, profile).items()
        }
    except ProctorError:
        raise
    except Exception as error:  # What it says may hold a text
        raise UsageError(
            f"The metric {name!r} of {METRICS.find_entry(name).package} failed with {type(error).__name__}. "
            "Mend the package, or leave the metric out."
        ) from None
    wanted = {column: (len(references),) for column in metric.columns}
    shapes = {column: values.shape for column, values in found.items()}
    if shapes != wanted:
        raise UsageError(
            f"The metric {name!r} of {METRICS.find_entry(name).package} gave scores of the shapes {shapes} where {wanted} was wanted. "
            "Mend the package, or leave the metric out."
        )
    if infinite := [column for column, values in found.items() if np.isinf(values).any()]:
        raise UsageError(
            f"The metric {name!r} of {METRICS.find_entry(name).package} gave an infinite score in {infinite[0]}; NaN stands for none. "
            "Mend the package, or leave the metric out."
        )
    return found


def score_pairs_with_references(
    pairs: pl.DataFrame,
    how: Literal["best", "mean"],
    profile: str | Profile = DEFAULT_PROFILE,
    similarity: Similarity | None = None,
) -> pl.DataFrame:
    """Score responses against several references each (CG-Eval, section 5.3 proposes it).

    `pairs` has a column `references` (list of text) instead of `reference`. `best` keeps the scores against the one
    reference with the highest Gscore (without similarity: the highest weighted sum of the other three); `mean` averages
    every score over the references. Returns `pairs` with the columns of `SCORE_COLUMNS` and `reference_count`.
    """
    if how not in ("best", "mean"):
        raise UsageError(f"There is no way {how!r} to join several references. Use best or mean.")
    if "references" not in pairs.columns or pairs.schema["references"] != pl.List(pl.String):
        raise ContractError("The pairs to score have no column 'references' that holds lists of text.")
    numbered = pairs.with_row_index("_pair")
    exploded = numbered.select("_pair", "response", reference="references").explode("reference")
    scored = score_pairs(exploded, profile, similarity)
    scores = [name for name, dtype in SCORE_COLUMNS.items() if dtype == pl.Float64]
    texts = [name for name in SCORE_COLUMNS if name not in scores]
    if how == "best":
        bleu4, rouge2, chrf = (scored[name].to_numpy() for name in ("bleu4", "rouge2", "chrf"))
        surface = compute_gscore(bleu4, rouge2, chrf, np.zeros(len(scored)))
        order = pl.coalesce("gscore", pl.Series("_surface", surface).fill_nan(None), pl.lit(-2.0))
        joined = (
            scored.with_columns(_order=order)
            .sort("_pair", "_order", descending=[False, True], maintain_order=True)
            .group_by("_pair", maintain_order=True)
            .agg(pl.col(*SCORE_COLUMNS).first())
        )
    else:
        joined = scored.group_by("_pair", maintain_order=True).agg(
            pl.col(*scores).mean(), pl.col(*texts).drop_nulls().first()
        )
    return (
        numbered.join(joined, on="_pair", how="left", maintain_order="left")
        .with_columns(reference_count=pl.col("references").list.drop_nulls().list.len())
        .select(*pairs.columns, *SCORE_COLUMNS, "reference_count")
    )


def _check_columns(pairs: pl.DataFrame, further: Sequence[str]) -> None:
    for name in ("reference", "response"):
        dtype = pairs.schema.get(name)
        if dtype is None:
            raise ContractError(f"The pairs to score have no column {name!r}; they have {pairs.columns}.")
        if dtype not in (pl.String, pl.Null):
            raise ContractError(f"The column {name!r} of the pairs to score is {dtype}, not text.")
    taken = sorted(set(pairs.columns) & {*SCORE_COLUMNS, *further, "_row", "_note"})
    if taken:
        raise ContractError(
            f"The pairs to score already have columns named {', '.join(taken)}. Rename or leave them out."
        )
