"""The curve through score against release date."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from schemas.errors import UsageError

CurveKind = Literal["linear", "logistic"]
_DAYS_PER_YEAR = 365.25
_LOGISTIC_POINTS = 5  # three parameters want more points than parameters, or the curve runs through noise


@dataclass(frozen=True)
class Curve:
    """A fitted curve of S (0 to 100) over time.

    Attributes:
        kind: `linear` (start + slope x years) or `logistic` (top / (1 + exp(-(years - middle) / width))).
        origin: the day from which years are counted.
        parameters: `start, slope` (points, points per year) or `top, middle, width` (points, years, years).
        r_squared: share of the variance explained; null when all scores are equal.
    """

    kind: CurveKind
    origin: dt.date
    parameters: dict[str, float]
    r_squared: float | None
    point_count: int

    def score_on(self, day: dt.date) -> float:
        """S that the curve gives for a day."""
        years = np.array([_years(self.origin, day)])
        return float(_SHAPES[self.kind](years, *self.parameters.values())[0])


def fit_curve(days: Sequence[dt.date], scores: Sequence[float]) -> Curve | None:
    """Fit S against release date by least squares.

    The logistic is taken where at least five points carry it and it beats the straight line by AICc (it has one parameter
    more); else the line. None for fewer than two distinct days. Raises UsageError for lists of different length.
    """
    if len(days) != len(scores):
        raise UsageError(
            f"There are {len(days)} release dates and {len(scores)} scores. Give one score per date."
        )
    if len(set(days)) < 2:
        return None
    origin = min(days)
    years = np.array([_years(origin, day) for day in days])
    values = np.array(scores, dtype=float)
    line = _fit_line(origin, years, values)
    logistic = _fit_logistic(origin, years, values) if len(days) >= _LOGISTIC_POINTS else None
    if logistic is not None and _aicc(logistic, years, values) < _aicc(line, years, values):
        return logistic
    return line


def _line(years: NDArray[np.float64], start: float, slope: float) -> NDArray[np.float64]:
    return start + slope * years


def _logistic(years: NDArray[np.float64], top: float, middle: float, width: float) -> NDArray[np.float64]:
    return top / (1.0 + np.exp(-np.clip((years - middle) / width, -500.0, 500.0)))


_SHAPES: dict[CurveKind, Callable[..., NDArray[np.float64]]] = {"linear": _line, "logistic": _logistic}


def _fit_line(origin: dt.date, years: NDArray[np.float64], values: NDArray[np.float64]) -> Curve:
    slope, start = np.polyfit(years, values, 1)
    parameters = {"start": float(start), "slope": float(slope)}
    return Curve("linear", origin, parameters, _r_squared(values, _line(years, start, slope)), len(values))


def _fit_logistic(origin: dt.date, years: NDArray[np.float64], values: NDArray[np.float64]) -> Curve | None:
    """The logistic with a top of at most 100, or None where the optimiser gives up."""
    from scipy.optimize import curve_fit

    span = float(years.max())
    top = min(100.0, float(values.max()) + 2.0)
    try:
        found, _ = curve_fit(
            _logistic,
            years,
            values,
            p0=(top, float(np.median(years)), max(span / 4, 0.1)),
            bounds=((0.0, -50.0, 0.01), (100.0, 50.0, 50.0)),
            maxfev=5000,
        )
    except (RuntimeError, ValueError):
        return None
    parameters = dict(zip(("top", "middle", "width"), map(float, found), strict=True))
    return Curve("logistic", origin, parameters, _r_squared(values, _logistic(years, *found)), len(values))


def _aicc(curve: Curve, years: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Akaike's criterion, corrected for few points; the error's variance counts as a parameter."""
    count, free = len(values), len(curve.parameters) + 1
    if count - free - 1 <= 0:
        return math.inf
    residual = float(np.sum((values - _SHAPES[curve.kind](years, *curve.parameters.values())) ** 2))
    return (
        count * math.log(max(residual, 1e-12) / count) + 2 * free + 2 * free * (free + 1) / (count - free - 1)
    )


def _r_squared(values: NDArray[np.float64], fitted: NDArray[np.float64]) -> float | None:
    total = float(np.sum((values - values.mean()) ** 2))
    return None if total == 0 else 1.0 - float(np.sum((values - fitted) ** 2)) / total


def _years(origin: dt.date, day: dt.date) -> float:
    return (day - origin).days / _DAYS_PER_YEAR
