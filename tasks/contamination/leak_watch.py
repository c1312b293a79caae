"""How organisations score on questions that they, or the reference's provider, met before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schemas.errors import UsageError
from schemas.lazy import pl
from tasks.statistics.leaks import Leak, expect_stars, find_leak

if TYPE_CHECKING:
    from warehouse.lake import Lake


def watch_leaks(lake: Lake, run_id: str) -> list[dict[str, Any]]:
    """One row per organisation of the last edition of a run.

    A row has the gain on questions met before, its error, and the power of the look. The numbers are null for
    an organisation with too few questions on either side. Raises UsageError for a run that was not published,
    or whose questions have no fitted difficulty yet.
    """
    found = lake.read("run_revisions", {"run_id": run_id})
    if found.is_empty():
        raise UsageError(f"Run {run_id} has no edition. Run `proctor publish {run_id}` first.")
    edition_id = found.row(-1, named=True)["edition_id"]
    rows = lake.run_named("leak_rows", {"edition_id": edition_id})
    if rows.is_empty():
        raise UsageError(
            f"Edition {edition_id}: no question has a fitted difficulty, so that nothing can be expected of anybody."
        )
    return find_leaks(rows)


def find_leaks(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """One row per organisation, from the rows of `leak_rows` of one edition.

    A row has organisation, question_count, met_count, gain in stars with gain_se, p_value, least_found and
    is_found; the numbers are None where there is nothing to compare.
    """
    parts = {str(name): part for (name,), part in rows.partition_by("organisation", as_dict=True).items()}
    return [
        {"organisation": name} | _describe(part, _find(part, len(parts)))
        for name, part in sorted(parts.items())
    ]


def describe_leaks(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each organisation."""
    return [
        f"{row['organisation']}: {row['gain']:+.3f} stars on {row['met_count']} of {row['question_count']} answers to questions met before "
        f"(se {row['gain_se']:.3f}, p {row['p_value']:.3f}; {row['least_found']:.3f} would be found in 80% of cases)"
        + (" LEAK" if row["is_found"] else "")
        if row["gain"] is not None
        else f"{row['organisation']}: {row['met_count']} of {row['question_count']} answers are to questions met before: nothing to compare."
        for row in rows
    ]


def _find(part: pl.DataFrame, organisations: int) -> Leak | None:
    expected = pl.concat([_expect(of_model) for of_model in part.partition_by("model", maintain_order=True)])
    ordered = part.sort("model", "question_uuid").with_columns(
        expected=expected.sort("model", "question_uuid")["expected"],
        candidate=pl.col("model").rank("dense").cast(pl.Int64) - 1,
        lineage=pl.col("lineage_uuid").rank("dense").cast(pl.Int64) - 1,
    )
    return find_leak(
        ordered["stars"].to_numpy(),
        ordered["expected"].to_numpy(),
        ordered["is_met"].to_numpy(),
        ordered["candidate"].to_numpy().astype(np.int64),
        ordered["lineage"].to_numpy().astype(np.int64),
        organisation_count=organisations,
    )


def _expect(of_model: pl.DataFrame) -> pl.DataFrame:
    expected = expect_stars(
        of_model["stars"].to_numpy(),
        of_model["discrimination"].to_numpy(),
        of_model["difficulty"].to_numpy(),
        of_model.select("threshold_1", "threshold_2", "threshold_3").to_numpy(),
        of_model.select("asymptote_1", "asymptote_2", "asymptote_3").to_numpy(),
    )
    return of_model.select("model", "question_uuid").with_columns(expected=pl.Series(expected))


def _describe(part: pl.DataFrame, leak: Leak | None) -> dict[str, Any]:
    names = ("gain", "gain_se", "p_value", "least_found")
    return {
        "question_count": part.height,
        "met_count": int(part["is_met"].sum()),
        **{name: None if leak is None else getattr(leak, name) for name in names},
        "is_found": leak is not None and leak.is_found,
    }
