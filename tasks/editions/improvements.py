"""How S of every candidate moved since a month, all told together; from frozen stars."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from schemas.errors import UsageError
from schemas.tables import get_table
from tasks.editions.basis import QueryReader
from tasks.editions.changes import mean_stars
from tasks.editions.estimates import make_rows, name_cluster
from tasks.statistics import on_one_thread
from tasks.statistics.scores import compute_improvements

if TYPE_CHECKING:
    from warehouse.lake import Lake


def write_improvements(lake: Lake, *, is_simulated: bool, since_month: str | None = None) -> pl.DataFrame:
    """Compute the rows of `improvements` since a month and land them; returns them.

    They take the place of what was computed since the same month before. A null month is the first that was published. Raises
    UsageError where a month is named since which no candidate was published twice.
    """
    frame = estimate_improvements(lake.read, is_simulated=is_simulated, since_month=since_month)
    if not frame.is_empty():
        unit = f"{'simulated' if is_simulated else 'real'}/{frame['since_month'][0]}"
        lake.land("improvements", unit, frame, stage="publish")
    elif since_month is not None:
        kind, other = ("simulated", "real") if is_simulated else ("real", "simulated")
        raise UsageError(
            f"No {kind} candidate was published in two months since {since_month}. `proctor sql editions_published` lists the "
            f"months; {other} ones are told {'without' if is_simulated else 'with'} --simulated."
        )
    return frame


def complete_improvements(lake: Lake, *, is_simulated: bool) -> None:
    """Compute what moved since the first month, unless it was since the last publication."""
    spans = lake.read("published_spans", {"since_month": None, "is_simulated": is_simulated})
    for style, count in spans.group_by("prompt_style").len().iter_rows():
        shown = lake.run_named("improvement_since", {"prompt_style": style, "simulated": is_simulated})
        if shown.filter(shown["is_simulated"] == is_simulated).height < count:
            write_improvements(lake, is_simulated=is_simulated)
            return


@on_one_thread()
def estimate_improvements(
    read: QueryReader, *, is_simulated: bool, since_month: str | None = None
) -> pl.DataFrame:
    """The rows of `improvements` since a month; writes nothing."""
    spans = read("published_spans", {"since_month": since_month, "is_simulated": is_simulated})
    if spans.is_empty():
        return get_table("improvements").frame([])
    weights = {name: float(weight) for name, weight in json.loads(spans["weights"][0]).items() if weight > 0}
    parts = [
        _tell(part, _read_stars(read, part, str(style), list(weights)), weights)
        for (style,), part in sorted(spans.partition_by("prompt_style", as_dict=True).items())
    ]
    table = get_table("improvements")
    return (
        pl.concat(parts)
        .with_columns(is_simulated=pl.lit(is_simulated))
        .select(pl.col(column.name).cast(table.polars_schema[column.name]) for column in table.own_columns)
        .sort(table.key)
    )


def _tell(spans: pl.DataFrame, stars: pl.DataFrame, weights: dict[str, float]) -> pl.DataFrame:
    shares = np.array(list(weights.values()))
    found = compute_improvements(make_rows(stars), shares / shares.sum(), candidate_count=spans.height)
    alone, together = found.differences, found.together
    numbers = {
        "change": alone.difference,
        "change_low": alone.low,
        "change_high": alone.high,
        "p_value": alone.p_value,
        "p_together": together.p_value,
        "together_low": together.low,
        "together_high": together.high,
    }
    return spans.with_columns(
        **{name: pl.Series(np.asarray(column)).fill_nan(None) for name, column in numbers.items()}
    ).drop("weights")


def _read_stars(read: QueryReader, spans: pl.DataFrame, style: str, disciplines: list[str]) -> pl.DataFrame:
    """Stars of each candidate in its first edition (code 2i) and its last (2i + 1)."""
    sides, names = [], ["question_uuid", "lineage_uuid", "passage", "discipline"]
    for later, side in enumerate(("from", "to")):
        codes = spans.with_row_index("place").select(
            "model",
            edition_id=f"{side}_edition_id",
            month=f"{side}_month",
            candidate=2 * pl.col("place").cast(pl.Int64) + later,
        )
        for (edition_id, month), part in codes.partition_by("edition_id", "month", as_dict=True).items():
            given = {
                "edition_id": str(edition_id),
                "month": str(month),
                "prompt_style": style,
                "models": part["model"].to_list(),
            }
            sides.append(
                read("edition_stars_of", given)
                .join(part.select("model", "candidate"), on="model")
                .select("candidate", *names, stars=mean_stars())
                .with_columns(pl.col(names).cast(pl.Categorical))
            )
    stars = pl.concat(sides).filter(pl.col("discipline").is_in(disciplines))
    # A question of an edition from before passages were known belongs to the one that it has in a later one.
    passages = dict(
        stars.select("lineage_uuid", "passage")
        .drop_nulls()
        .unique("lineage_uuid", maintain_order=True)
        .iter_rows()
    )
    return stars.with_columns(
        passage=pl.coalesce(
            pl.col("lineage_uuid").replace_strict(passages, default=None, return_dtype=pl.String), "passage"
        )
    ).with_columns(
        discipline_code=pl.col("discipline").replace_strict(
            {name: code for code, name in enumerate(disciplines)}, return_dtype=pl.Int64
        ),
        question=pl.col("question_uuid").rank("dense").cast(pl.Int64) - 1,
        lineage=pl.col("lineage_uuid").rank("dense").cast(pl.Int64) - 1,
        cluster=name_cluster().rank("dense").cast(pl.Int64) - 1,
    )
