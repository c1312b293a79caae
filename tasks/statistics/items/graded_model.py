"""The graded response model for stars (Samejima 1969) between a floor and a ceiling.

P(x ≥ k) = g_k + (u_k - g_k) · σ(a · (θ - b - c_k)). θ is the ability of an entry, b the difficulty and a the discrimination of a
question, c_k the place of the k-th star, which a discipline's questions share. g_k is how often chance alone earns k stars, which
the questions of a format share: about one among the options for the first star (Birnbaum 1968), less for each further one, and
nothing where there is nothing to guess. u_k is how often the candidate earns k stars on what it knows well (Barton and Lord
1981): 1 for the first, and for further ones how well it explains, which is no matter of how hard a question is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ContractError
from tasks.statistics.cells import Codes, Floats
from tasks.statistics.score import MOST_STARS

# An answer's variance is about that of the logistic distribution: an error of θ - b of deviation s flattens a by this much.
_FLATTENING = (16.0 * np.sqrt(3.0) / (15.0 * np.pi)) ** 2


@dataclass(frozen=True)
class GradedRows:
    """Stars of one or more editions, a row for each answer (or repeat), with codes from 0.

    An entry is one candidate in one edition; a reference whose answers serve in several editions is one entry. A question
    that several editions put is an anchor without further ado.

    Attributes:
        entry, question: codes, shape (rows,).
        stars: whole numbers from 0 to `most_stars`, shape (rows,). A mean of judges between two stars is two rows that
            share the weight.
        weight: of the row: 1 for a single answer, 1/n for each of n repeats, shape (rows,).
        entry_edition: code of each entry's edition, shape (entries,).
        question_discipline, question_home: discipline, and edition that put it first, shape (questions,).
        question_cluster: what questions were drawn together: their passage, or their lineage, shape (questions,).
        question_format: code of the format, by how many options there are to guess among, shape (questions,).
        format_chance: what one guess among its options gives, 0 where there is nothing to guess, NaN where that is not known,
            shape (formats,).
        most_stars: 3, or 1 for right and wrong.
    """

    entry: Codes
    question: Codes
    stars: Codes
    weight: Floats
    entry_edition: Codes
    question_discipline: Codes
    question_home: Codes
    question_cluster: Codes
    question_format: Codes
    format_chance: Floats
    most_stars: int = MOST_STARS

    def __post_init__(self) -> None:
        """Check lengths, codes, stars and weights; raises ContractError."""
        count = len(self.stars)
        for name, most in (("entry", self.entry_count), ("question", self.question_count)):
            codes = getattr(self, name)
            if len(codes) != count or (count and not 0 <= int(codes.min()) <= int(codes.max()) < most):
                raise ContractError(f"The rows must name one {name} each, with a code from 0 to {most - 1}.")
        for name in ("question_discipline", "question_cluster", "question_format"):
            if len(getattr(self, name)) != self.question_count:
                raise ContractError(
                    f"Every question must have one {name.removeprefix('question_')}, as it has one home."
                )
        if self.question_count and int(self.question_format.max()) >= len(self.format_chance):
            raise ContractError("Every format of a question must have its chance of a right guess.")
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
        """Entries, also those without a row."""
        return len(self.entry_edition)

    @property
    def question_count(self) -> int:
        """Questions, also those without a row."""
        return len(self.question_home)

    @property
    def discipline_count(self) -> int:
        """Disciplines."""
        return int(self.question_discipline.max(initial=-1)) + 1


@dataclass(frozen=True)
class Scale:
    """What a scale has once and for all.

    Attributes:
        thresholds: c_k by discipline, shape (disciplines, stars).
        asymptotes: g_k by format, shape (formats, stars); NaN for a format that the scale has not met.
        passage_sd: how far a candidate's ability differs from passage to passage, logits.
    """

    thresholds: Floats
    asymptotes: Floats
    passage_sd: float


@dataclass(frozen=True)
class SameBank:
    """An earlier edition whose questions were drawn from the bank of a fit's new ones.

    Both draws have the bank's mean difficulty and discrimination, but for what drawing leaves to chance.

    Attributes:
        edition: its code among those of the scale.
        level: mean difficulty of what was new in it, as published, by discipline.
        variance: of that mean, from drawing so many questions, by discipline; above 0.
        log_discrimination, log_discrimination_variance: the same of log a over all disciplines.
    """

    edition: int
    level: Floats
    variance: Floats
    log_discrimination: float
    log_discrimination_variance: float


@dataclass(frozen=True)
class KnownQuestions:
    """Questions as earlier editions of a scale published them; their errors enter, too.

    The published numbers of an edition share an error: that with which it was linked to those before it.

    Attributes:
        is_known: whether a question was published, shape (questions,). All else counts for those only.
        difficulty, difficulty_se: b and its error on the edition's own scale.
        log_discrimination, log_discrimination_se: log a.
        correlation: of those two errors. Answers far from b say well how often a question is answered, and b and a each for
            itself badly: apart they would link less than they do.
        edition: code of the edition that published it.
        shared: covariance of the editions' shared errors, shape (disciplines, editions, editions).
        same_bank: the earlier edition that drew from the bank of the new questions; null where none did.
    """

    is_known: NDArray[np.bool_]
    difficulty: Floats
    difficulty_se: Floats
    log_discrimination: Floats
    log_discrimination_se: Floats
    correlation: Floats
    edition: Codes
    shared: Floats
    same_bank: SameBank | None = None


@dataclass(frozen=True)
class ScaleForm:
    """The questions of a scale's first edition: shape (questions,), two of them codes."""

    discipline: Codes
    format: Codes
    cluster: Codes
    difficulty: Floats
    difficulty_se: Floats
    log_discrimination: Floats
    log_discrimination_se: Floats
    correlation: Floats


def compute_at_least(
    place: Floats, a: Floats, thresholds: Floats, asymptotes: Floats, ceilings: Floats | float = 1.0
) -> Floats:
    """P(x ≥ k) for k from 1, on a new last axis.

    `place` is θ - b; `thresholds`, `asymptotes` and `ceilings` have the stars on their last axis and fit to it before that.
    """
    z = a[..., None] * (place[..., None] - thresholds)
    return np.asarray(asymptotes + (ceilings - asymptotes) * (0.5 + 0.5 * np.tanh(0.5 * z)))


def compute_chances(
    place: Floats, a: Floats, thresholds: Floats, asymptotes: Floats, ceilings: Floats | float = 1.0
) -> Floats:
    """P(x) of each star, from 0, on a new last axis; see `compute_at_least`."""
    at_least = compute_at_least(place, a, thresholds, asymptotes, ceilings)
    edge = np.ones((*at_least.shape[:-1], 1))
    return np.asarray(-np.diff(np.concatenate([edge, at_least, 0.0 * edge], axis=-1), axis=-1))


def flatten(a: Floats, variance: Floats | float) -> Floats:
    """The discrimination that is left when θ - b has an error of that variance."""
    return np.asarray(a / np.sqrt(1.0 + _FLATTENING * a**2 * variance))


def to_steps(chances: Floats) -> Floats:
    """Log odds of the first of falling chances, then of each further one given the one before."""
    before = np.concatenate([np.ones((len(chances), 1)), chances[:, :-1]], axis=1)
    share = np.clip(chances / np.maximum(before, 1e-12), 1e-6, 1.0 - 1e-6)
    return np.asarray(np.log(share / (1.0 - share)))


def from_steps(odds: Floats) -> Floats:
    """Falling chances from the log odds of `to_steps`."""
    return np.asarray(np.cumprod(1.0 / (1.0 + np.exp(-odds)), axis=1))
