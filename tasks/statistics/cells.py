"""Stars arranged for estimation: repeats averaged, then cells of candidate × discipline.

Everything that the intervals, the pairs and the changes have in common. Variances count whole lineages: whatever was put
of one lineage stays together, so that variants or prompt styles that are pooled do not pass for independent questions.
With one question of each lineage, as in a set, this is the variance by question.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        candidate: code of the candidate.
        discipline: code of the discipline, an index into the weights.
        question: code of the question; where styles are pooled, of question × style.
        lineage: code of the question's lineage; for changes, one numbering for both editions.
        stars: 0 to 3; a mean of several judges may lie between.
        repeat: code of the repeat, or None where the spread over repeats is not wanted.
    """

    candidate: Codes
    discipline: Codes
    question: Codes
    lineage: Codes
    stars: Floats
    repeat: Codes | None = None

    def __post_init__(self) -> None:
        """Check lengths, codes and stars; raises ContractError."""
        for name in ("candidate", "discipline", "question", "lineage", "repeat"):
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
        candidate, discipline, question, lineage: codes, questions and lineages numbered without gaps.
        stars: mean over the repeats.
        starts: first unit of each candidate, one more than there are candidates.
        lineage_count, question_count: of all candidates together.
    """

    candidate: Codes
    discipline: Codes
    question: Codes
    lineage: Codes
    stars: Floats
    starts: Codes
    lineage_count: int
    question_count: int


@dataclass(frozen=True)
class Cells:
    """Means of key × discipline with the variance of each mean; a key is a candidate or a pair.

    Attributes:
        unit_count: questions in the cell.
        cluster_count: lineages in the cell.
        mean: NaN for an empty cell.
        variance: of the mean; pooled over the key's other disciplines where there is one lineage, NaN where that fails.
        degrees: degrees of freedom of the variance.
        is_pooled: the cell has a single lineage and its variance comes from the other disciplines.
    """

    unit_count: Codes
    cluster_count: Codes
    mean: Floats
    variance: Floats
    degrees: Floats
    is_pooled: NDArray[np.bool_]


def check_weights(weights: ArrayLike) -> Floats:
    """The disciplines' weights as an array; UsageError for one below 0 or another sum than 1."""
    found = np.asarray(weights, dtype=float)
    if found.ndim != 1 or not np.isfinite(found).all() or bool((found < 0).any()):
        raise UsageError("The weights of the disciplines must be numbers from 0, one for each discipline.")
    if abs(float(found.sum()) - 1.0) > _WEIGHT_TOLERANCE:
        raise UsageError(f"The weights of the disciplines sum to {found.sum():.6f}. They must sum to 1.")
    return found


def average_repeats(rows: StarRows, candidate_count: int, discipline_count: int) -> Units:
    """Units of the rows.

    Raises ContractError for a code beyond the counts, and for a question that stands in two disciplines or lineages.
    """
    for name, codes, count in (
        ("candidate", rows.candidate, candidate_count),
        ("discipline", rows.discipline, discipline_count),
    ):
        if len(codes) and int(codes.max()) >= count:
            raise ContractError(f"A row names {name} {int(codes.max())}, but there are only {count}.")
    question = _number(rows.question)
    lineage = _number(rows.lineage)
    question_count = int(question.max(initial=-1)) + 1
    for name, codes in (("discipline", rows.discipline), ("lineage", lineage)):
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
        lineage=lineage[first],
        stars=stars,
        starts=np.searchsorted(candidate, np.arange(candidate_count + 1)).astype(np.int64),
        lineage_count=int(lineage.max(initial=-1)) + 1,
        question_count=question_count,
    )


def compute_cells(
    key: Codes,
    discipline: Codes,
    lineage: Codes,
    value: Floats,
    *,
    key_count: int,
    discipline_count: int,
) -> Cells:
    """Each cell's mean and its variance by lineage, n/(n-1) · Σ(lineage's deviations)² / units².

    With one question of each lineage this is s²/n. No correction for a finite bank.
    """
    shape = (key_count, discipline_count)
    cell = key * discipline_count + discipline
    size = key_count * discipline_count
    mean, unit_count = compute_means(cell, value, size)
    owner, deviation, _ = sum_lineages(cell, lineage, value - mean[cell])
    cluster_count = np.bincount(owner, minlength=size)
    squares = np.bincount(owner, weights=deviation**2, minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares / unit_count**2 * cluster_count / (cluster_count - 1.0)
    variance = np.where(cluster_count >= 2, variance, np.nan).reshape(shape)
    clusters = cluster_count.reshape(shape)
    degrees = np.maximum(clusters - 1.0, 0.0)
    # A single lineage has no spread of its own: that of the key's other disciplines stands in.
    spread = np.where(clusters >= 2, variance * clusters, 0.0)
    pool_degrees = degrees.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (spread * degrees).sum(axis=1) / pool_degrees
    is_pooled = (clusters == 1) & (pool_degrees > 0)[:, None]
    return Cells(
        unit_count=unit_count.reshape(shape),
        cluster_count=clusters,
        mean=mean.reshape(shape),
        variance=np.where(is_pooled, pooled[:, None], variance),
        degrees=np.where(is_pooled, pool_degrees[:, None], degrees),
        is_pooled=is_pooled,
    )


def sum_lineages(cell: Codes, lineage: Codes, value: Floats) -> tuple[Codes, Floats, Codes]:
    """Sums of the values of one lineage in one cell: each sum's cell, the sum, its lineage."""
    width = int(lineage.max(initial=-1)) + 1
    whole = cell * width + lineage
    # Where every unit is alone in its lineage and already in order, nothing is to be sorted.
    if len(whole) < 2 or bool((np.diff(whole) > 0).all()):
        return cell, value, lineage
    found, inverse = np.unique(whole, return_inverse=True)
    total = np.bincount(inverse, weights=value, minlength=len(found))
    return found // width, np.asarray(total, dtype=float), found % width


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
