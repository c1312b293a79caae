"""How far Gscore agrees with people: the sample they score and the rank correlations (CG-Eval, section 4.9)."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from schemas.errors import ContractError, UsageError

SAMPLE_SIZE = 1_100
"""A tenth of CG-Eval's questions, as in the paper."""


def draw_human_sample(responses: pl.DataFrame, seed: int, size: int = SAMPLE_SIZE) -> pl.DataFrame:
    """Draw questions in proportion to the subjects' shares of the pool, with one model's response for each.

    `responses` has `subject`, `question_uuid`, `model` and whatever else should come along; the pool is its questions. Shares
    are rounded by largest remainder, so the sizes add up to `size`. The model of each question is drawn at random
    among those that answered it, the same for everyone who uses the same seed, whatever the order of the rows.
    Raises UsageError when the pool has fewer questions than `size`.
    """
    for name in ("subject", "question_uuid", "model"):
        if name not in responses.columns:
            raise ContractError(
                f"The responses to sample have no column {name!r}; they have {responses.columns}."
            )
    repeated = responses.filter(pl.struct("question_uuid", "model").is_duplicated())
    if len(repeated):
        raise ContractError(
            f"{len(repeated)} responses share question and model with another. Choose one run and repeat."
        )
    pool = responses.select("subject", "question_uuid").unique().sort("subject", "question_uuid")
    if pool["question_uuid"].n_unique() != len(pool):
        raise ContractError("Some questions stand under several subjects. Give each question one subject.")
    if len(pool) < size:
        raise UsageError(f"The pool has {len(pool)} questions, fewer than the {size} to draw. Draw fewer.")
    draw = random.Random(seed)
    by_subject: dict[str, list[str]] = {}
    for subject, question in pool.iter_rows():
        by_subject.setdefault(subject, []).append(question)
    sizes = compute_shares({subject: len(questions) for subject, questions in by_subject.items()}, size)
    chosen = [
        question
        for subject, questions in by_subject.items()
        for question in draw.sample(questions, sizes[subject])
    ]
    models: dict[str, list[str]] = {}
    for question, model in (
        responses.select("question_uuid", "model").sort("question_uuid", "model").iter_rows()
    ):
        models.setdefault(question, []).append(model)
    picked = pl.DataFrame(
        {"question_uuid": chosen, "model": [draw.choice(models[question]) for question in chosen]},
        schema={name: responses.schema[name] for name in ("question_uuid", "model")},
    )
    return picked.join(responses, on=["question_uuid", "model"], how="left", maintain_order="left").select(
        responses.columns
    )


def compute_shares(counts: dict[str, int], size: int) -> dict[str, int]:
    """Split `size` in proportion to `counts` by largest remainder; ties go to the larger count, then to the name."""
    total = sum(counts.values())
    shares = {name: size * count // total for name, count in counts.items()}
    rest = size - sum(shares.values())
    by_remainder = sorted(counts, key=lambda name: (-(size * counts[name] % total), -counts[name], name))
    for name in by_remainder[:rest]:
        shares[name] += 1
    return shares


@dataclass(frozen=True)
class RankAgreement:
    """Rank correlations between Gscores and human scores of the same responses, with percentile bootstrap intervals."""

    pair_count: int
    """Responses with both scores."""

    left_out_count: int
    """Responses that lack one of the two."""

    kendall_tau: float
    """Kendall's τ-b (the paper: 0.614)."""

    kendall_low: float
    kendall_high: float
    kendall_p: float
    spearman_rho: float
    spearman_low: float
    spearman_high: float
    spearman_p: float
    confidence: float
    resample_count: int
    seed: int


def compute_rank_agreement(
    gscores: npt.ArrayLike,
    human_scores: npt.ArrayLike,
    seed: int,
    resample_count: int = 1_000,
    confidence: float = 0.95,
) -> RankAgreement:
    """Compute Kendall's τ-b and Spearman's ρ with bootstrap intervals (pairs resampled with replacement).

    Both arrays have one number per response; NaN where there is none, and such responses are left out. Raises UsageError when fewer
    than three remain or one side is constant: there is no ranking then.
    """
    from scipy.stats import kendalltau, spearmanr

    ours, theirs = np.asarray(gscores, dtype=np.float64), np.asarray(human_scores, dtype=np.float64)
    if ours.shape != theirs.shape or ours.ndim != 1:
        raise ContractError(f"{ours.shape} Gscores and {theirs.shape} human scores do not pair up.")
    has_both = ~(np.isnan(ours) | np.isnan(theirs))
    ours, theirs = ours[has_both], theirs[has_both]
    if len(ours) < 3 or len(set(ours.tolist())) < 2 or len(set(theirs.tolist())) < 2:
        raise UsageError(
            f"{len(ours)} responses have both a Gscore and a human score, or all have the same: there is no ranking to compare. Score more."
        )
    draw = np.random.default_rng(seed)
    taus, rhos = [], []
    for _ in range(resample_count):
        rows = draw.integers(0, len(ours), len(ours))
        taus.append(kendalltau(ours[rows], theirs[rows]).statistic)
        rhos.append(_compute_spearman(ours[rows], theirs[rows]))
    tails = [100 * (1 - confidence) / 2, 100 * (1 + confidence) / 2]
    tau_low, tau_high = np.nanpercentile(taus, tails)
    rho_low, rho_high = np.nanpercentile(rhos, tails)
    tau, rho = kendalltau(ours, theirs), spearmanr(ours, theirs)
    return RankAgreement(
        pair_count=len(ours),
        left_out_count=int((~has_both).sum()),
        kendall_tau=float(tau.statistic),
        kendall_low=float(tau_low),
        kendall_high=float(tau_high),
        kendall_p=float(tau.pvalue),
        spearman_rho=float(rho.statistic),
        spearman_low=float(rho_low),
        spearman_high=float(rho_high),
        spearman_p=float(rho.pvalue),
        confidence=confidence,
        resample_count=resample_count,
        seed=seed,
    )


def _compute_spearman(ours: npt.NDArray[np.float64], theirs: npt.NDArray[np.float64]) -> float:
    """Return Spearman's ρ without its p-value, whose computation is most of scipy's time."""
    from scipy.stats import rankdata

    one, other = rankdata(ours), rankdata(theirs)
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / scale if scale > 0 else float("nan")
