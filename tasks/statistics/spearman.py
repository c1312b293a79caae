"""Spearman's rank correlation with its p-value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from schemas.errors import UsageError


@dataclass(frozen=True)
class Spearman:
    """Rank correlation of two lists; ties share their mean rank.

    Attributes:
        rho: -1 to 1; null for fewer than three pairs, or when one list is all equal.
        p_value: two-sided, by the t approximation (scipy's default, and what LLMEval-Fair's table 3 prints); null with rho.
        pair_count: pairs compared.
    """

    rho: float | None
    p_value: float | None
    pair_count: int


def compute_spearman(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> Spearman:
    """Spearman's rho of two lists of one length; raises UsageError for different lengths."""
    from scipy.stats import spearmanr

    if len(first) != len(second):
        raise UsageError(
            f"{len(first)} values cannot be paired with {len(second)}. Give lists of one length."
        )
    count = len(first)
    if count < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return Spearman(None, None, count)
    found = spearmanr(first, second)
    return Spearman(float(found.statistic), float(found.pvalue), count)


def compute_external_correlations(pairs: pl.DataFrame) -> pl.DataFrame:
    """Correlation of our scores with each benchmark, from the rows of the query `external_pairs`.

    Gives one row per benchmark: benchmark, spearman_rho, p_value, candidate_count.
    """
    schema = {
        "benchmark": pl.String,
        "spearman_rho": pl.Float64,
        "p_value": pl.Float64,
        "candidate_count": pl.Int64,
    }
    rows = []
    for (benchmark,), group in pairs.sort("benchmark").group_by("benchmark", maintain_order=True):
        found = compute_spearman(group["score"].to_list(), group["external_score"].to_list())
        rows.append((benchmark, found.rho, found.p_value, found.pair_count))
    return pl.DataFrame(rows, schema=schema, orient="row")
