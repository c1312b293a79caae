"""Stars arranged for estimation: repeats averaged, then cells of candidate × discipline.

Everything that the intervals, the pairs and the changes have in common. Variances count whole clusters: questions of one
passage, or variants and prompt styles of one lineage that are pooled, do not pass for independent questions. With one
question of each cluster this is the variance by question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schemas.errors import ContractError, UsageError
from tasks.statistics.score import MOST_STARS, compute_means

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_WEIGHT_TOLERANCE = 1e-6


@dataclass(frozen=True)
class StarRows:
    """Judged answers of an edition and prompt style (or several, pooled): a row for each answer.

    All arrays have one length; codes are whole numbers from 0.

    Attributes:
        discipline: code of the discipline, an index into the weights.
        question: code of the question; where styles are pooled, of question × style.
        lineage: code of the question's lineage; for changes, one numbering for both editions.
        stars: 0 to 3; a mean of several judges may lie between.
        repeat: code of the repeat, or None where the spread over repeats is not wanted.
        sat: code of the set that the repeat sat; None where the repeats of a candidate sat one.
        cluster: code of what the question was drawn with, as its passage; for changes, one numbering for both editions.
            None where every lineage stands for itself.
    """

    candidate: Codes
    discipline: Codes
    question: Codes
    lineage: Codes
    stars: Floats
    repeat: Codes | None = None
    cluster: Codes | None = None
    sat: Codes | None = None

    @property
    def clusters(self) -> Codes:
        """The cluster of each row: its own, or its lineage."""
        return self.lineage if self.cluster is None else self.cluster

    def __post_init__(self) -> None:
        """Check lengths, codes and stars; raises ContractError."""
        for name in ("candidate", "discipline", "question", "lineage", "repeat", "cluster", "sat"):
            codes = getattr(self, name)
            if codes is None:
                continue
            found = np.asarray(codes)
            if len(found) != len(self.stars):
                raise ContractError(
                    f"The rows of stars have {len(self.stars)} stars but {len(found)} codes of {name}. Give one for each row."
                )
            if len(found) and (not np.issubdtype(found.dtype, np.integer) or int(found.min()) < 0):
                raise ContractError(f"The codes of {name} must be whole numbers from 0, not {found.dtype}.")
        stars = np.asarray(self.stars, dtype=float)
        wrong = ~((stars >= 0) & (stars <= MOST_STARS))
        if wrong.any():
            raise ContractError(
                f"{int(wrong.sum())} of {len(stars)} rows hold no stars from 0 to {MOST_STARS}. "
                "Leave unparsed judgements out, or judge them again, before scores are computed."
            )


@dataclass(frozen=True)
class Units:
    """What a candidate earned on a question, repeats averaged; sorted by candidate and question.

    Attributes:
        candidate, discipline, question, cluster: codes, questions and clusters numbered without gaps.
        stars: mean over the repeats.
        starts: first unit of each candidate, one more than there are candidates.
        cluster_count, question_count: of all candidates together.
    """

    candidate: Codes
    discipline: Codes
    question: Codes
    cluster: Codes
    stars: Floats
    starts: Codes
    cluster_count: int
    question_count: int

    def choose(self, kept: NDArray[np.bool_]) -> Units:
        """Some of the units, with their codes as they are."""
        candidate = self.candidate[kept]
        return replace(
            self,
            candidate=candidate,
            discipline=self.discipline[kept],
            question=self.question[kept],
            cluster=self.cluster[kept],
            stars=self.stars[kept],
            starts=np.searchsorted(candidate, np.arange(len(self.starts))).astype(np.int64),
        )


@dataclass(frozen=True)
class Cells:
    """Means of candidate × discipline with the variance of each mean.

    Attributes:
        unit_count: questions in the cell.
        cluster_count: clusters of equal size that would say as much, (Σ m)² / Σ m² over the sizes m of its clusters.
        mean: NaN for an empty cell.
        variance: of the mean; NaN where nothing tells it.
        degrees: degrees of freedom of the variance.
        is_pooled: the cell has a single cluster, and its variance comes from the other disciplines.
        part: what each cluster adds to the error of S.
        sums: what each cluster says of S and of its error.
    """

    unit_count: Codes
    cluster_count: Floats
    mean: Floats
    variance: Floats
    degrees: Floats
    is_pooled: NDArray[np.bool_]
    part: Deviations
    sums: Sums


@dataclass(frozen=True)
class Deviations:
    """The deviations of S by candidate and cluster.

    Their squares sum to its variance, their products to covariances.

    Attributes:
        value: in stars.
        degrees: degrees of freedom of each candidate's variance, shape (candidates,).
        is_known: whether the candidate's variance is known.
    """

    owner: Codes
    cluster: Codes
    value: Floats
    degrees: Floats
    is_known: NDArray[np.bool_]

    def arrange(self, candidate_count: int, cluster_count: int) -> Floats:
        """The same as candidate × cluster; 0 for a cluster that a candidate has not met."""
        size = candidate_count * cluster_count
        whole = np.bincount(self.owner * cluster_count + self.cluster, weights=self.value, minlength=size)
        return np.asarray(whole.reshape(candidate_count, cluster_count))


@dataclass(frozen=True)
class Sums:
    """Every candidate's clusters as they were answered, by candidate, stratum and cluster.

    S is Σ `weight` · `total`, its variance Σ `factor` · (`total` - `size` · mean of the stratum)². A stratum is a discipline, or
    all of them where each has one cluster only.

    Attributes:
        size: questions in it.
        total: its stars.
        weight: of a star in S, in stars.
        factor: of a squared deviation in the variance of S.
    """

    owner: Codes
    stratum: Codes
    cluster: Codes
    size: Floats
    total: Floats
    weight: Floats
    factor: Floats


def check_weights(weights: ArrayLike) -> Floats:
    """The disciplines' weights as an array; UsageError for one below 0 or another sum than 1."""
    found = np.asarray(weights, dtype=float)
    if found.ndim != 1 or not np.isfinite(found).all() or bool((found < 0).any()):
        raise UsageError("The weights of the disciplines must be numbers from 0, one for each discipline.")
    if abs(float(found.sum()) - 1.0) > _WEIGHT_TOLERANCE:
        raise UsageError(f"The weights of the disciplines sum to {found.sum():.6f}. They must sum to 1.")
    return found


def average_repeats(rows: StarRows, candidate_count: int, discipline_count: int) -> Units:
    """Units of the rows; ContractError for codes beyond counts or a question in two places."""
    for name, codes, count in (
        ("candidate", rows.candidate, candidate_count),
        ("discipline", rows.discipline, discipline_count),
    ):
        if len(codes) and int(codes.max()) >= count:
            raise ContractError(f"A row names {name} {int(codes.max())}, but there are only {count}.")
    question = _number(rows.question)
    cluster = _number(rows.clusters)
    question_count = int(question.max(initial=-1)) + 1
    for name, codes in (("discipline", rows.discipline), ("lineage", rows.lineage), ("cluster", cluster)):
        seen = np.zeros(question_count, dtype=np.int64)
        seen[question] = codes
        if bool((seen[question] != codes).any()):
            raise ContractError(f"A question stands in more than one {name}. Give each question one.")
    key = rows.candidate.astype(np.int64) * question_count + question
    found, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    stars, _ = compute_means(inverse, np.asarray(rows.stars, dtype=float), len(found))
    candidate = rows.candidate[first].astype(np.int64)
    return Units(
        candidate=candidate,
        discipline=rows.discipline[first].astype(np.int64),
        question=question[first],
        cluster=cluster[first],
        stars=stars,
        starts=np.searchsorted(candidate, np.arange(candidate_count + 1)).astype(np.int64),
        cluster_count=int(cluster.max(initial=-1)) + 1,
        question_count=question_count,
    )


def compute_cells(units: Units, weights: Floats, candidate_count: int, value: Floats | None = None) -> Cells:
    """Each cell's mean and its variance by cluster, Σ(cluster's deviations)² / ((Σ m)² - Σ m²).

    That is without bias where the clusters' sizes m differ too; with single questions it is s²/n. No correction for a finite
    bank. A cell with a single cluster has no spread of its own: that of the candidate's other disciplines stands in, or,
    where no discipline has two clusters, the spread between disciplines, which is seldom too small (collapsed strata;
    Cochran 1977, section 5A.12). `value` takes the place of the units' stars.
    """
    shape = (candidate_count, len(weights))
    size = candidate_count * len(weights)
    stars = units.stars if value is None else value
    cell = units.candidate * len(weights) + units.discipline
    mean, unit_count = compute_means(cell, stars, size)
    of, cluster, deviation = _sum_clusters(cell, units.cluster, stars - mean[cell])
    number = _sum_clusters(cell, units.cluster, np.ones(len(cell)))[2]
    stratum, weight = of % len(weights), np.tile(weights, candidate_count)[of]
    owner = of // len(weights)
    clusters = np.bincount(of, minlength=size)
    squares = sum_by(of, number**2, size)
    is_single, is_own = clusters == 1, clusters >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        count = np.where(unit_count > 0, unit_count**2 / squares, 0.0)
        scale = np.where(is_own, 1.0 / (unit_count**2 - squares), 0.0)
    degrees = np.where(is_own, count - 1.0, 0.0)
    own_degrees = degrees.reshape(shape).sum(axis=1)
    singles = is_single.reshape(shape).sum(axis=1)
    is_between = (own_degrees == 0) & (singles >= 2)
    pool_degrees = np.where(is_between, singles - 1.0, own_degrees)
    with np.errstate(divide="ignore", invalid="ignore"):
        average = np.where(is_single, mean, 0.0).reshape(shape).sum(axis=1) / singles
        deviation = np.where(is_between[owner], mean[of] - average[owner], deviation)
        # What a squared deviation adds to the spread of a single cluster.
        lends = np.where(is_between[owner], 1.0, (count * scale * degrees)[of]) / pool_degrees[owner]
    lends = np.where(pool_degrees[owner] > 0, lends, 0.0)
    pooled = np.where(pool_degrees > 0, sum_by(owner, lends * deviation**2, candidate_count), np.nan)
    own = sum_by(of, deviation**2, size) * scale
    variance = np.where(is_own, own, np.where(is_single, np.repeat(pooled, len(weights)), np.nan))
    variance = variance.reshape(shape)
    squared_weight = np.tile(weights**2, candidate_count)
    lent = np.where(is_single, squared_weight, 0.0).reshape(shape).sum(axis=1)
    is_pooled = is_single.reshape(shape) & (pool_degrees > 0)[:, None]
    factor = (scale * squared_weight)[of] + lends * lent[owner]
    as_one = is_between[owner]
    return Cells(
        unit_count=unit_count.reshape(shape),
        cluster_count=count.reshape(shape),
        mean=mean.reshape(shape),
        variance=variance,
        degrees=np.where(is_pooled, pool_degrees[:, None], degrees.reshape(shape)),
        is_pooled=is_pooled,
        part=Deviations(
            *_sum_clusters(owner, cluster, deviation * np.sqrt(factor)),
            degrees=_count_degrees(
                np.where(is_own, squared_weight / np.maximum(count, 1.0), 0.0).reshape(shape),
                degrees.reshape(shape),
                lent,
                pool_degrees,
            ),
            is_known=np.asarray(~np.isnan(variance[:, weights > 0]).any(axis=1)),
        ),
        sums=Sums(
            owner=owner,
            stratum=np.where(as_one, len(weights), stratum),
            cluster=cluster,
            size=np.where(as_one, 1.0, number),
            total=np.where(as_one, mean[of], mean[of] * number + deviation),
            weight=np.where(as_one, weight, weight / unit_count[of]),
            factor=factor,
        ),
    )


def _count_degrees(own: Floats, degrees: Floats, lent: Floats, pool_degrees: Floats) -> Floats:
    """Degrees of freedom of the variance of S by Welch and Satterthwaite.

    They are as if all clusters had one spread: a discipline's own, guessed from few questions, would make them a matter of chance.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(degrees > 0, own**2 / degrees, 0.0).sum(axis=1)
        parts += np.where(lent > 0, lent**2 / pool_degrees, 0.0)
        return np.asarray((own.sum(axis=1) + lent) ** 2 / parts)


def _sum_clusters(cell: Codes, cluster: Codes, value: Floats) -> tuple[Codes, Codes, Floats]:
    """Sums of the values of one cluster in one cell: each sum's cell, its cluster, the sum."""
    width = int(cluster.max(initial=-1)) + 1
    whole = cell * width + cluster
    # Where every unit is alone in its cluster and already in order, nothing is to be sorted.
    if len(whole) < 2 or bool((np.diff(whole) > 0).all()):
        return cell, cluster, value
    found, inverse = np.unique(whole, return_inverse=True)
    return found // width, found % width, sum_by(inverse, value, len(found))


def sum_by(codes: Codes, values: Floats, count: int) -> Floats:
    """Sums of the values by code."""
    return np.asarray(np.bincount(codes, weights=values, minlength=count), dtype=float)


def _number(codes: Codes) -> Codes:
    """The codes numbered without gaps, in their own order."""
    size = int(codes.max(initial=-1)) + 1
    if size > 50 * len(codes) + 1_000:
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    is_used = np.zeros(size, dtype=bool)
    is_used[codes] = True
    return (np.cumsum(is_used) - 1)[codes].astype(np.int64)
