"""Two columns of marks in a file, whoever gave them, held against each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from schemas.errors import UsageError, suggest
from tasks.statistics import Floats
from tasks.statistics.agreement import (
    WEIGHTINGS,
    Bounded,
    MaybeBounded,
    compute_kappa_interval,
    compute_mean,
    compute_share,
)
from tasks.texts import read_table

MOST_STEPS = 1_000
# Marks that lie nearer are one, in shares of their range.
_NEAR = 1e-6
# How far a mark may lie off its place, in steps: a third is written as 0.333, too.
_OFF = 0.005


@dataclass(frozen=True)
class MarksAgreement:
    """Agreement of two columns of marks.

    Attributes:
        pair_count, left_out: rows with both marks, and rows without.
        step: the largest distance that all distances of two marks are multiples of but for rounding, in which they are counted.
        agreement: share of equal marks.
        bias: mean of the second less the first.
        kappas: weighting → kappa; null where it is undefined.
    """

    pair_count: int
    left_out: int
    step: float
    agreement: Bounded
    bias: Bounded | None
    kappas: dict[str, MaybeBounded | None]


def read_marks(path: Path, first: str, second: str) -> pl.DataFrame:
    """Two columns of a file that `read_table` reads as numbers; UsageError where they are none."""
    frame = read_table(path)
    if missing := [name for name in (first, second) if name not in frame.columns]:
        raise UsageError(
            f"{path.name} has no column {missing[0]!r}.{suggest(missing[0], frame.columns)} It has {', '.join(frame.columns)}."
        )
    try:
        return frame.select(first=pl.col(first).cast(pl.Float64), second=pl.col(second).cast(pl.Float64))
    except pl.exceptions.PolarsError:
        raise UsageError(
            f"{path.name}: {first} and {second} must be numbers. Correct the rows that are not."
        ) from None


def compare_marks(marks: pl.DataFrame) -> MarksAgreement:
    """Agreement of `first` and `second`; rows that lack one are left out and counted.

    Marks are counted in the largest steps that all of them lie on (halves in 1, 1.5, 3; ones in 0, 3, 5). Raises UsageError where no
    row has both, or where there are more than a thousand steps: such marks are measurements, and kappa says nothing of them.
    """
    both = marks.drop_nulls()
    if both.is_empty():
        raise UsageError("No row has both marks.")
    values = np.unique(np.concatenate([both["first"].to_numpy(), both["second"].to_numpy()]))
    if not math.isfinite(float(values[-1]) - float(values[0])):
        raise UsageError("Marks must be finite numbers. Correct the rows that are not, or leave them empty.")
    found = _find_step(values)
    if found is None:
        raise UsageError(
            f"The marks have more than {MOST_STEPS} steps; kappa is for fewer. Round them first."
        )
    step, count = found
    first = np.round((both["first"].to_numpy() - values[0]) / step)
    second = np.round((both["second"].to_numpy() - values[0]) / step)
    one, other = first.astype(int).tolist(), second.astype(int).tolist()
    return MarksAgreement(
        pair_count=both.height,
        left_out=marks.height - both.height,
        step=step,
        agreement=compute_share(sum(a == b for a, b in zip(one, other, strict=True)), both.height),
        bias=compute_mean(
            (both["second"] - both["first"]).to_list(), max(step, float(values[-1] - values[0]))
        ),
        kappas={
            weighting: compute_kappa_interval(one, other, max(count, 2), weighting)
            for weighting in WEIGHTINGS
        },
    )


def _find_step(values: Floats) -> tuple[float, int] | None:
    """The largest step that sorted marks lie on, and its places; null for more than MOST_STEPS."""
    away = values - values[0]
    away = away[np.diff(away, prepend=-np.inf) > _NEAR * away[-1]]
    if len(away) == 1:
        return 1.0, 1
    for count in range(len(away) - 1, MOST_STEPS):
        places = away / away[-1] * count
        found = np.round(places)
        if np.abs(places - found).max() < _OFF and np.diff(found).min() > 0:
            return float(f"{away[-1] / count:.9g}"), count + 1
    return None
