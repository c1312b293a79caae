"""How S of each candidate moved since its last edition, with its error, from frozen stars."""

from __future__ import annotations

import numpy as np
import polars as pl

from tasks.editions.basis import Basis, QueryReader
from tasks.editions.estimates import StyleAnswers, make_rows, name_cluster
from tasks.statistics.scores import compute_changes


def estimate_changes(
    read: QueryReader, basis: Basis, answers: StyleAnswers, earlier: pl.DataFrame
) -> pl.DataFrame:
    """The change columns of `edition_scores` for candidates of a style published before.

    `earlier` are the rows of `earlier_scores` of all styles. Both editions keep their own questions; lineages that a
    candidate met in both enter the error.
    """
    # Whose sittings are all borrowed has answered nothing since: there is nothing to compare.
    sat = basis.sessions.filter(~pl.col("is_borrowed"))["model"].unique()
    own = earlier.filter(
        (pl.col("prompt_style") == answers.style) & pl.col("model").is_in(sat.implode())
    ).filter(pl.col("model").is_in(list(answers.models)))
    if own.is_empty():
        return pl.DataFrame(schema={"model": pl.String})
    models = own["model"].to_list()
    before = pl.concat(
        [
            read(
                "edition_stars_of",
                {
                    "edition_id": str(edition_id),
                    "month": str(month),
                    "prompt_style": answers.style,
                    "models": part["model"].to_list(),
                },
            )
            for (edition_id, month), part in own.partition_by("edition_id", "month", as_dict=True).items()
        ]
    ).filter(pl.col("discipline").is_in(list(answers.disciplines)))
    columns = ("model", "question_uuid", "lineage_uuid", "passage", "discipline", "stars")
    sides = [
        before.with_columns(
            pl.selectors.string().cast(answers.frame.schema["model"]), stars=mean_stars()
        ).select(columns),
        answers.frame.filter(pl.col("model").is_in(models))
        .with_columns(pl.col("stars").cast(pl.Float64))
        .select(*columns, "repeat"),
    ]
    # A question of an edition from before passages were known belongs to the one that it has now.
    of_lineage = pl.concat([side.select("lineage_uuid", "passage") for side in sides]).drop_nulls().unique()
    passages = dict(of_lineage.unique("lineage_uuid", maintain_order=True).iter_rows())
    sides = [
        side.with_columns(
            passage=pl.coalesce(
                pl.col("lineage_uuid").replace_strict(passages, default=None, return_dtype=pl.String),
                "passage",
            )
        ).with_columns(cluster=name_cluster())
        for side in sides
    ]
    lineages, clusters = (
        pl.concat([side[name] for side in sides]).unique().sort() for name in ("lineage_uuid", "cluster")
    )
    coded = [
        side.with_columns(
            candidate=pl.col("model").replace_strict(
                {name: code for code, name in enumerate(models)}, return_dtype=pl.Int64
            ),
            discipline_code=pl.col("discipline").replace_strict(
                {name: code for code, name in enumerate(answers.disciplines)}, return_dtype=pl.Int64
            ),
            question=pl.col("question_uuid").rank("dense").cast(pl.Int64) - 1,
            lineage=lineages.search_sorted(side["lineage_uuid"]).cast(pl.Int64),
            cluster=clusters.search_sorted(side["cluster"]).cast(pl.Int64),
        )
        for side in sides
    ]
    changes = compute_changes(
        make_rows(coded[0]), make_rows(coded[1]), answers.weights, candidate_count=len(models)
    ).differences
    return own.select(
        "model", previous_edition_id=pl.col("edition_id"), previous_month=pl.col("month")
    ).with_columns(
        score_change=pl.Series(np.asarray(changes.difference)).fill_nan(None),
        score_change_low=pl.Series(np.asarray(changes.low)).fill_nan(None),
        score_change_high=pl.Series(np.asarray(changes.high)).fill_nan(None),
        discipline=pl.lit("all"),
    )


def mean_stars() -> pl.Expr:
    """Mean stars of a row of `edition_stars`; what nobody could judge earned nothing."""
    counts = [pl.col(f"stars_{stars}_count") for stars in range(4)]
    total = sum((count for count in counts[1:]), counts[0]) + pl.col("unparsed_count")
    return (counts[1] + 2 * counts[2] + 3 * counts[3]) / total
