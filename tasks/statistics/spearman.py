"""Correlations of two lists: Spearman's with its p-value and interval, Pearson's."""

from __future__ import annotations

import math
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
        p_value: two-sided, by the t approximation (scipy's default, and what LLMEval-Fair's table 3 prints), which is 0 for full
            agreement of however few: never below the 2/n! of chance to agree or disagree fully. Null with rho.
    """

    rho: float | None
    p_value: float | None
    pair_count: int


@dataclass(frozen=True)
class Pearson:
    """Linear correlation of two lists.

    Attributes:
        r: -1 to 1; null for fewer than three pairs, or when one list is all equal.
        p_value: two-sided; null with r.
        low, high: 95% interval by Fisher's z; null for fewer than four pairs.
    """

    r: float | None
    p_value: float | None
    low: float | None
    high: float | None
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
    # What differs in the last bits only is equal.
    first, second = np.round(first, 9), np.round(second, 9)
    if count < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return Spearman(None, None, count)
    found = spearmanr(first, second)
    return Spearman(
        float(found.statistic), max(float(found.pvalue), 2 / math.factorial(min(count, 99))), count
    )


@dataclass(frozen=True)
class CorrelationInterval:
    """How sure a correlation is.

    Attributes:
        low, high: 95% interval, -1 to 1; null for fewer than four pairs, or without a correlation.
    """

    low: float | None
    high: float | None


def compute_spearman_interval(found: Spearman) -> CorrelationInterval:
    """Interval of Spearman's rho by Fisher's z, with the variance of Bonett and Wright (2000).

    A rho of 1 or -1 has no finite z: there the interval ends at it, and its other end is that of a rho half a step (one swap
    of neighbours) away.
    """
    if found.rho is None or found.pair_count < 4:
        return CorrelationInterval(None, None)
    count = found.pair_count
    # One swap of neighbours lowers rho from 1 by 12 / (n³ - n).
    largest = 1.0 - 6.0 / (count**3 - count)
    rho = min(max(found.rho, -largest), largest)
    margin = 1.959964 * np.sqrt((1 + rho**2 / 2) / (count - 3))
    low, high = np.tanh(np.arctanh(rho) - margin), np.tanh(np.arctanh(rho) + margin)
    return CorrelationInterval(
        -1.0 if found.rho <= -largest else float(low), 1.0 if found.rho >= largest else float(high)
    )


def compute_pearson(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> Pearson:
    """Pearson's r of two lists of one length; raises UsageError for different lengths."""
    from scipy.stats import pearsonr

    if len(first) != len(second):
        raise UsageError(
            f"{len(first)} values cannot be paired with {len(second)}. Give lists of one length."
        )
    count = len(first)
    if count < 3 or len(set(np.round(first, 9))) == 1 or len(set(np.round(second, 9))) == 1:
        return Pearson(None, None, None, None, count)
    found = pearsonr(first, second)
    interval = found.confidence_interval(0.95) if count > 3 else None
    return Pearson(
        float(found.statistic),
        float(found.pvalue),
        None if interval is None else float(interval.low),
        None if interval is None else float(interval.high),
        count,
    )


def compute_external_correlations(pairs: pl.DataFrame) -> pl.DataFrame:
    """Correlation of our scores with each benchmark, one row each, of rows of `external_pairs`."""
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
