"""Whether the orders of two benchmarks agree: Spearman's rho with its p-value.

The two are our benchmark and another one, or two others.
"""

from __future__ import annotations

import polars as pl

from schemas.errors import UsageError
from tasks.statistics import compute_external_correlations
from warehouse.lake import Lake


def correlate_benchmarks(
    lake: Lake, of: str | None = None, month: str | None = None
) -> list[dict[str, object]]:
    """One row per benchmark with published scores.

    Columns: benchmark, spearman_rho, p_value (two-sided, t approximation), candidate_count.

    Compared are the latest scores of the same models with S of a month (the last published one by default), or with those of
    the external benchmark `of`. Rho and p are null for fewer than three models in common. Raises UsageError where there is
    nothing to compare.
    """
    scores = lake.run_named("external_history")
    if scores.is_empty():
        raise UsageError(
            "There are no published scores of other benchmarks. `proctor import external` takes them in."
        )
    if of is None:
        pairs = lake.run_named("external_pairs", {"month": month})
        if pairs.is_empty():
            raise UsageError(
                "No candidate of a published month has a score of another benchmark under the same name. Compare two of those "
                "benchmarks with --of, or write the names as in `proctor models list`."
            )
        return compute_external_correlations(pairs).to_dicts()
    latest = scores.sort("scored_on").group_by("benchmark", "model", maintain_order=True).last()
    ours = latest.filter(benchmark=of).select("model", "score")
    if ours.is_empty():
        known = ", ".join(sorted(set(scores["benchmark"])))
        raise UsageError(f"There is no benchmark {of!r} among the published scores: {known}.")
    others = latest.filter(pl.col("benchmark") != of).select("benchmark", "model", external_score="score")
    return compute_external_correlations(others.join(ours, on="model")).to_dicts()
