"""How much a judge's stars follow the form of a response, where people gave the same stars.

The judge's stars less people's are regressed on the features of a response, beside people's stars and the candidate: what a judge
gives to length or bold words is what they change among responses of one candidate that people rate alike. So a candidate that
writes long and is liked for something else does not pass for one that is liked for its length. Errors by cluster, as of a jackknife
(CR3; Bell and McCaffrey 2002), since questions of one passage are answered alike.

A score is controlled for style as in rankings that are (Li, Angelopoulos and Chiang 2024): what its responses gain by their
form over the usual response is taken off. What people would have given is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.statistics.cells import Codes, Floats
from tasks.statistics.judges.correction import Corrected
from tasks.statistics.score import MOST_STARS

_CONFIDENCE = 0.95
_SAME = 1e-9


@dataclass(frozen=True)
class StyledRows:
    """Responses that people rated and the judge judged: a row each.

    Attributes:
        people: mean stars of the raters.
        features: responses × features, as numbers.
        cluster: code of what the question was drawn with.
    """

    judge: Floats
    people: Floats
    features: Floats
    candidate: Codes
    cluster: Codes


@dataclass(frozen=True)
class StyleEffects:
    """Stars that a judge gives for one more of each feature, (features,).

    NaN where it does not differ, or only as other features do.

    Attributes:
        effect, se: the estimates with their standard errors.
        low, high: 95% intervals by Student's t.
        p_value, p_holm: of the test that there is no effect, alone and among all features.
        covariance: of the effects; 0 where there is none.
        cluster_count: clusters that they rest on.
    """

    effect: Floats
    se: Floats
    low: Floats
    high: Floats
    p_value: Floats
    p_holm: Floats
    covariance: Floats
    cluster_count: int


def compute_style_effects(rows: StyledRows) -> StyleEffects:
    """Effects of all features together; all NaN where there is too little to tell any."""
    size = rows.features.shape[1]
    clusters, cluster = np.unique(rows.cluster, return_inverse=True)
    base = _list_controls(rows)
    kept = _choose_features(base, rows.features)
    design = np.column_stack([base, rows.features[:, kept]])
    degrees = min(len(clusters) - 1, len(rows.judge) - design.shape[1])
    effect, covariance = np.full(size, np.nan), np.zeros((size, size))
    if kept and degrees >= 1:
        found, error = _regress(design, rows.judge - rows.people, cluster)
        effect[kept] = found[base.shape[1] :]
        covariance[np.ix_(kept, kept)] = error[base.shape[1] :, base.shape[1] :]
    se = np.where(np.isnan(effect), np.nan, np.sqrt(np.diag(covariance)))
    reach, p_value = _test(effect, se, max(degrees, 1))
    return StyleEffects(
        effect, se, effect - reach, effect + reach, p_value, _adjust(p_value), covariance, len(clusters)
    )


def control_scores(stars: Floats, se: Floats, features: Floats, effects: StyleEffects) -> Corrected:
    """Mean stars less what the form of the responses gains over that of the mean candidate.

    `stars` and `se` are of every candidate, `features` the means over its responses. A feature without an effect takes nothing off.
    The error is that of the stars and of the effects.
    """
    from scipy.special import stdtrit

    off = features - features.mean(axis=0)
    found = stars - off @ np.nan_to_num(effects.effect)
    error = np.sqrt(se**2 + np.einsum("if,fg,ig->i", off, effects.covariance, off))
    reach = float(stdtrit(max(effects.cluster_count - 1, 1), (1.0 + _CONFIDENCE) / 2.0)) * error
    ends = (np.clip(value, 0.0, MOST_STARS) for value in (found, found - reach, found + reach))
    value, low, high = ends
    return Corrected(value, error, low, high)


def _list_controls(rows: StyledRows) -> Floats:
    """People's stars, straight between whole ones, and the candidates but for the first."""
    levels = np.maximum(0.0, 1.0 - np.abs(rows.people[:, None] - np.arange(MOST_STARS + 1)[None, :]))
    candidates = np.unique(rows.candidate)
    owners = (rows.candidate[:, None] == candidates[None, 1:]).astype(float)
    return np.column_stack([levels[:, levels.sum(axis=0) > 0], owners])


def _choose_features(base: Floats, features: Floats) -> list[int]:
    """Features that say something beside the controls and those before them."""
    kept: list[int] = []
    known = base
    for number in range(features.shape[1]):
        column = features[:, number]
        left = column - known @ np.linalg.lstsq(known, column, rcond=None)[0]
        if float((left**2).sum()) > _SAME * max(1.0, float((column**2).sum())):
            kept.append(number)
            known = np.column_stack([known, column])
    return kept


def _regress(design: Floats, value: Floats, cluster: Codes) -> tuple[Floats, Floats]:
    """Coefficients by least squares, and their covariance by clusters (CR3)."""
    inverse = np.linalg.pinv(design.T @ design)
    found = inverse @ design.T @ value
    left = value - design @ found
    count = int(cluster.max()) + 1
    scores = np.zeros((count, design.shape[1]))
    order = np.argsort(cluster, kind="stable")
    for own in np.split(order, np.cumsum(np.bincount(cluster))[:-1]):
        part = design[own]
        free = np.eye(len(own)) - part @ inverse @ part.T
        scores[cluster[own[0]]] = part.T @ (np.linalg.pinv(free, hermitian=True) @ left[own])
    meat = scores.T @ scores * (count - 1.0) / count
    return found, inverse @ meat @ inverse


def _test(effect: Floats, se: Floats, degrees: int) -> tuple[Floats, Floats]:
    from scipy.special import stdtr, stdtrit

    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = 2.0 * stdtr(degrees, -np.abs(effect) / se)
    return float(stdtrit(degrees, (1.0 + _CONFIDENCE) / 2.0)) * se, np.asarray(p_value)


def _adjust(p_value: Floats) -> Floats:
    """Holm's adjustment over the features that have a test."""
    adjusted = np.full(len(p_value), np.nan)
    known = np.flatnonzero(~np.isnan(p_value))
    order = known[np.argsort(p_value[known], kind="stable")]
    steps = p_value[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted
