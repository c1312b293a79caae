"""How far Gscore agrees with people: rank correlations over a sample (CG-Eval, section 4.9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from schemas.errors import ContractError, UsageError

METRICS = ("gscore", "bleu4", "rouge2", "chrf", "similarity")
CONFIDENCE = 0.95
_AGREEMENT_NUMBERS = (
    "kendall_tau",
    "kendall_low",
    "kendall_high",
    "kendall_p",
    "spearman_rho",
    "spearman_low",
    "spearman_high",
    "spearman_p",
)
_AGREEMENT_SCHEMA = {
    "round": pl.Int64(),
    "profile": pl.String(),
    "similarity_model": pl.String(),
    "is_simulated": pl.Boolean(),
    "metric": pl.String(),
    "pair_count": pl.Int64(),
    "left_out_count": pl.Int64(),
    **dict.fromkeys(_AGREEMENT_NUMBERS, pl.Float64()),
}


@dataclass(frozen=True)
class RankAgreement:
    """Rank correlations between Gscores and human scores of the same responses.

    They come with percentile bootstrap intervals.
    """

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


def compute_sample_agreement(
    run_named: Callable[[str, dict[str, object]], pl.DataFrame],
    sample: str | None,
    seed: int = 1,
    rating_round: int | None = None,
    resample_count: int = 1_000,
) -> pl.DataFrame:
    """Rank correlation of Gscore, and of each of its parts, with people.

    It is computed by profile and similarity model, of simulated models apart.

    One row per round, profile, similarity model, kind of models and metric: `pair_count`, `left_out_count` (rated answers that lack the metric), Kendall's
    τ-b and Spearman's ρ with 95% bootstrap intervals and p-values; these are null where there is no ranking to compare.
    Raises UsageError when no rated answer has been scored.
    """
    pairs = run_named("gscore_ratings", {"sample": sample, "round": rating_round})
    if pairs.is_empty():
        raise UsageError(
            "No answer has both a score of a person and a Gscore"
            + (f" in the sample {sample!r}" if sample else "")
            + ". Import ratings with `proctor cgeval ratings import` and score the answers with `proctor cgeval score`."
        )
    records: list[dict[str, object]] = []
    for (rating, profile, identity, is_simulated), rows in pairs.group_by(
        "round", "profile", "similarity_model", "is_simulated", maintain_order=True
    ):
        for metric in METRICS:
            record: dict[str, object] = {
                "round": rating,
                "profile": profile,
                "similarity_model": identity,
                "is_simulated": is_simulated,
                "metric": metric,
                "pair_count": rows.height - rows[metric].null_count(),
                "left_out_count": rows[metric].null_count(),
            }
            try:
                found = compute_rank_agreement(
                    rows[metric].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
                    rows["human_score"].to_numpy(),
                    seed,
                    resample_count,
                )
            except UsageError:  # fewer than three, or all alike: no ranking
                records.append(record)
                continue
            records.append(record | {name: getattr(found, name) for name in _AGREEMENT_NUMBERS})
    return pl.DataFrame(records, schema=_AGREEMENT_SCHEMA)


def compute_rank_agreement(
    gscores: npt.ArrayLike,
    human_scores: npt.ArrayLike,
    seed: int,
    resample_count: int = 1_000,
) -> RankAgreement:
    """Compute Kendall's τ-b and Spearman's ρ with bootstrap intervals.

    Pairs are resampled with replacement.

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
    tails = [100 * (1 - CONFIDENCE) / 2, 100 * (1 + CONFIDENCE) / 2]
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
        confidence=CONFIDENCE,
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
