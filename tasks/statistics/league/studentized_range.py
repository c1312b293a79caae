"""The studentized range: how far several means spread by chance, in standard errors.

For k normal means and a standard deviation estimated with ν degrees of freedom,

    P(Q <= q) = ∫ f(s) · k ∫ φ(z) · (Φ(z) - Φ(z - q·s))^(k-1) dz ds,

with s = √(χ²/ν). Both integrals are taken at fixed points (Gauss-Legendre), so that a thousand values cost what scipy, which
searches for each, takes for ten.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from schemas.errors import ContractError
from tasks.statistics.cells import Floats

_POINTS = 96
_FARTHEST_Z = 8.5
_LEFT_OUT = 1e-14
_AT_ONCE = 64


def compute_range_tail(q: ArrayLike, group_count: int, degrees: float) -> Floats:
    """P(Q > q), to about 1e-10; raises ContractError below two groups or one degree of freedom."""
    from scipy.special import ndtr

    if group_count < 2 or degrees < 1:
        raise ContractError("The studentized range needs two groups and one degree of freedom.")
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    z, z_weight = points * _FARTHEST_Z, weights * _FARTHEST_Z
    normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * z_weight * group_count
    spread, spread_weight = _place_spread(degrees, points, weights)
    below = ndtr(z)
    values = np.atleast_1d(np.asarray(q, dtype=float))
    parts = []
    for start in range(0, len(values), _AT_ONCE):
        width = values[start : start + _AT_ONCE, None, None] * spread[None, :, None]
        inner = (below - ndtr(z[None, None, :] - width)) ** (group_count - 1) @ normal
        parts.append(1.0 - inner @ spread_weight)
    return np.clip(np.concatenate(parts), 0.0, 1.0) if parts else values


def compute_range_limit(level: float, group_count: int, degrees: float) -> float:
    """The q with P(Q <= q) = `level`."""
    from scipy.optimize import brentq

    high = 4.0
    while compute_range_tail(high, group_count, degrees)[0] > 1 - level:
        high *= 2
    return float(
        brentq(lambda q: compute_range_tail(q, group_count, degrees)[0] - (1 - level), 0.0, high, xtol=1e-9)
    )


def _place_spread(degrees: float, points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Points of s and what each weighs; the weights sum to 1."""
    from scipy.special import chdtri, gammaln

    low, high = (np.sqrt(chdtri(degrees, tail) / degrees) for tail in (1 - _LEFT_OUT, _LEFT_OUT))
    s = low + (high - low) * (points + 1) / 2
    log_density = (
        np.log(2.0)
        + degrees / 2 * np.log(degrees / 2)
        - gammaln(degrees / 2)
        + (degrees - 1) * np.log(np.maximum(s, 1e-300))
        - degrees * s**2 / 2
    )
    weight = np.exp(log_density) * weights * (high - low) / 2
    return s, weight / weight.sum()
