"""The graded response model for stars: P(x ≥ k) = σ(a · (θ - b - c_k)) (Samejima 1969).

θ is the ability of an entry, b the difficulty and a the discrimination of a question, c_k the place of the k-th star,
which a discipline's questions share. All functions are elementwise over arrays that fit together; the last axis of what
they return holds the stars or thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schemas.errors import ContractError
from tasks.statistics.cells import Codes, Floats
from tasks.statistics.score import MOST_STARS


@dataclass(frozen=True)
class GradedRows:
    """Stars of one discipline over many editions, a row for each answer (or repeat), with codes.

    An entry is one candidate in one edition; a reference whose answers serve in several editions is one entry. A question
    that several editions put is an anchor without further ado.

    Attributes:
        entry, question: codes from 0, shape (rows,).
        stars: whole numbers from 0 to `most_stars`, shape (rows,). A mean of judges between two stars is two rows that
            share the weight.
        weight: of the row: 1 for a single answer, 1/n for each of n repeats, shape (rows,).
        entry_edition: code of each entry's edition, shape (entries,).
        question_season: season in which each question was first put, 0 is the first, shape (questions,).
        question_lineage: lineage of each question, shape (questions,).
        most_stars: 3, or 1 for right and wrong.
    """

    entry: Codes
    question: Codes
    stars: Codes
    weight: Floats
    entry_edition: Codes
    question_season: Codes
    question_lineage: Codes
    most_stars: int = MOST_STARS

    def __post_init__(self) -> None:
        """Check lengths, codes, stars and weights; raises ContractError."""
        count = len(self.stars)
        for name, most in (("entry", len(self.entry_edition)), ("question", len(self.question_season))):
            codes = getattr(self, name)
            if len(codes) != count or (count and not 0 <= int(codes.min()) <= int(codes.max()) < most):
                raise ContractError(f"The rows must name one {name} each, with a code from 0 to {most - 1}.")
        if len(self.question_lineage) != len(self.question_season):
            raise ContractError("Every question must have one season and one lineage.")
        stars = np.asarray(self.stars)
        if not np.issubdtype(stars.dtype, np.integer) or bool(
            ((stars < 0) | (stars > self.most_stars)).any()
        ):
            raise ContractError(
                f"Stars must be whole numbers from 0 to {self.most_stars}. Split a mean of judges over two rows by weight."
            )
        if len(self.weight) != count or not bool((np.asarray(self.weight) > 0).all()):
            raise ContractError("Every row must have a weight above 0: 1 divided by the number of repeats.")

    @property
    def entry_count(self) -> int:
        """Entries, also those without a row in this discipline."""
        return len(self.entry_edition)

    @property
    def question_count(self) -> int:
        """Questions, also those without a row."""
        return len(self.question_season)


@dataclass(frozen=True)
class Curves:
    """What the model gives at some abilities; K thresholds, K + 1 stars on the last axis.

    Attributes:
        chance: P(x) of each star.
        slope: ∂ log P(x) / ∂θ; -∂/∂b is the same.
        stretch: ∂ log P(x) / ∂ log a.
    """

    chance: Floats
    slope: Floats
    stretch: Floats


def compute_log_chances(ability: Floats, a: Floats, b: Floats, thresholds: Floats) -> Floats:
    """Log P(x) of each star: finite however far ability and difficulty lie apart."""
    z = _compute_places(ability, a, b, thresholds)
    low = np.log1p(np.exp(-np.abs(z))) + np.maximum(-z, 0.0)  # -log P(x ≥ k)
    high = low + z  # -log P(x < k)
    found = np.empty((len(thresholds) + 1, *z.shape[1:]))
    np.negative(high[0], out=found[0])
    np.negative(low[-1], out=found[-1])
    if len(thresholds) > 1:
        gap = np.log(-np.expm1(-_compute_steps(a, thresholds, low.ndim - 1)))
        np.subtract(gap, low[:-1], out=found[1:-1])
        found[1:-1] -= high[1:]
    return np.moveaxis(found, 0, -1)


def compute_curves(ability: Floats, a: Floats, b: Floats, thresholds: Floats) -> Curves:
    """Chances of the stars and their derivatives, exact also where a chance is all but 0."""
    z = _compute_places(ability, a, b, thresholds)
    far = np.exp(-np.abs(z))
    near = 1.0 / (1.0 + far)
    far *= near
    is_above = z >= 0
    above, below = np.where(is_above, near, far), np.where(is_above, far, near)  # P(x ≥ k), P(x < k)
    steps = _compute_steps(a, thresholds, z.ndim - 1)
    chance, slope, stretch = (np.empty((len(thresholds) + 1, *z.shape[1:])) for _ in range(3))
    # P(x) = P(≥ x) · P(< x + 1) · (1 - exp(-a (c_{x+1} - c_x))): a product, so nothing cancels.
    chance[0], chance[-1] = below[0], above[-1]
    np.multiply(above[:-1], below[1:], out=chance[1:-1])
    chance[1:-1] *= -np.expm1(-steps)
    np.negative(above[0], out=slope[0])
    slope[-1] = below[-1]
    np.subtract(below[:-1], above[1:], out=slope[1:-1])
    slope *= a
    above *= z
    below *= z
    np.negative(above[0], out=stretch[0])
    stretch[-1] = below[-1]
    np.subtract(below[:-1], above[1:], out=stretch[1:-1])
    with np.errstate(over="ignore"):
        stretch[1:-1] += steps / np.expm1(steps)
    return Curves(*(np.moveaxis(part, 0, -1) for part in (chance, slope, stretch)))


def _compute_places(ability: Floats, a: Floats, b: Floats, thresholds: Floats) -> Floats:
    """Where answers lie, a · (θ - b - c_k); thresholds first: memory runs along abilities."""
    lag = np.asarray(ability - b)
    return np.asarray(a * (lag - thresholds.reshape(-1, *(1,) * lag.ndim)))


def _compute_steps(a: Floats, thresholds: Floats, axes: int) -> Floats:
    """The distances a · (c_{k+1} - c_k), thresholds first, for results of so many axes."""
    return np.asarray(a * np.diff(thresholds).reshape(-1, *(1,) * axes))


def compute_bend(curves: Curves, a: Floats) -> Floats:
    """∂² P(x) / ∂θ² of each star."""
    above = np.cumsum(curves.chance[..., :0:-1], axis=-1)[..., ::-1]
    part = above * (1.0 - above) * (1.0 - 2.0 * above)
    zero = np.zeros((*part.shape[:-1], 1))
    return np.asarray(a[..., None] ** 2 * -np.diff(np.concatenate([zero, part, zero], axis=-1), axis=-1))


def compute_expected(curves: Curves) -> tuple[Floats, Floats, Floats]:
    """Expected stars, their derivative by θ, and by log a."""
    stars = np.arange(curves.chance.shape[-1], dtype=float)
    return (
        curves.chance @ stars,
        (curves.chance * curves.slope) @ stars,
        (curves.chance * curves.stretch) @ stars,
    )


def compute_information(curves: Curves) -> tuple[Floats, Floats, Floats]:
    """Fisher information of one answer: of θ, of θ with log a, and of log a."""
    weighted = curves.chance * curves.slope
    return (
        (weighted * curves.slope).sum(axis=-1),
        (weighted * curves.stretch).sum(axis=-1),
        (curves.chance * curves.stretch**2).sum(axis=-1),
    )
