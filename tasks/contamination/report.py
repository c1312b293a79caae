"""How much each candidate recalls of ours and public sets, and whether that is chance."""

from __future__ import annotations

from itertools import product
from typing import Any

from schemas.errors import UsageError
from tasks.contamination.replay import BANK
from tasks.statistics.agreement import compute_mean, compute_share
from warehouse.lake import Lake

# A candidate that recalls more than this, by the lower end of its interval, has read the questions.
FALSE_ALARM_SHARE = 0.05


def compare_sources(lake: Lake, replay_id: str) -> dict[str, Any]:
    """Shares by candidate and source with Wilson's interval.

    The bank is set beside every public set. Within a candidate by Fisher's exact test; over candidates, without the
    simulated ones where there are others, paired, by the exact permutation test of the mean difference (null for fewer
    than two candidates). Raises UsageError for a replay that is not there.
    """
    counts = lake.read("replayed_counts", {"replay_id": replay_id})
    if counts.is_empty():
        raise UsageError(
            f"There is no replay {replay_id!r}. `proctor contamination run --set bank` makes one."
        )
    shares: list[dict[str, Any]] = []
    for row in counts.iter_rows(named=True):
        share = compute_share(row["recalled_count"], row["question_count"])
        shares.append(
            row
            | {
                "recalled_share": share.value,
                "recalled_low": share.low,
                "recalled_high": share.high,
                "is_flagged": share.low > FALSE_ALARM_SHARE,
            }
        )
    by_model = {(row["model"], row["source"]): row for row in shares}
    others = sorted({row["source"] for row in shares} - {BANK})
    pairs = [
        _compare(by_model[(model, BANK)], by_model[(model, source)])
        for model, source in product(sorted({row["model"] for row in shares}), others)
        if (model, BANK) in by_model and (model, source) in by_model
    ]
    has_real = not all(row["is_simulated"] for row in shares)
    tested = [pair for pair in pairs if not (has_real and by_model[(pair["model"], BANK)]["is_simulated"])]
    return {
        "replay_id": replay_id,
        "shares": shares,
        "pairs": pairs,
        "paired": [
            _test_paired(source, [pair for pair in tested if pair["source"] == source]) for source in others
        ],
    }


def describe_comparison(found: dict[str, Any]) -> list[str]:
    """The table in lines: a line for each candidate and source, then the differences."""
    lines = [
        f"{row['model']}{' (simulated)' if row['is_simulated'] else ''}, {row['source']}: {row['recalled_share']:.1%} of {row['question_count']} recalled "
        f"({row['recalled_low']:.1%} to {row['recalled_high']:.1%})"
        + (
            f", {row['uncompared_count']} completions with nothing to compare"
            if row["uncompared_count"]
            else ""
        )
        + (" MEMORISED" if row["is_flagged"] else "")
        for row in found["shares"]
    ]
    lines += [
        f"bank less {row['source']}, over {row['candidate_count']} candidates: {row['mean_difference']:+.1%}"
        + ("" if row["p_value"] is None else f" (p {row['p_value']:.3f})")
        for row in found["paired"]
        if row["candidate_count"]
    ]
    return lines


def _compare(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    from scipy.stats import fisher_exact

    table = [[one["recalled_count"], one["question_count"] - one["recalled_count"]] for one in (ours, theirs)]
    return {
        "model": ours["model"],
        "source": theirs["source"],
        "bank_share": ours["recalled_share"],
        "set_share": theirs["recalled_share"],
        "difference": ours["recalled_share"] - theirs["recalled_share"],
        "p_value": float(fisher_exact(table).pvalue),
    }


def _test_paired(source: str, pairs: list[dict[str, Any]]) -> dict[str, Any]:
    from scipy.stats import permutation_test

    gaps = [float(pair["difference"]) for pair in pairs]
    mean = compute_mean(gaps, 1.0)
    p_value = None
    if len(gaps) >= 2 and any(gaps):
        found = permutation_test(
            (gaps,),
            lambda values, axis: values.mean(axis=axis),
            permutation_type="samples",
            n_resamples=9_999,
            random_state=1,
        )
        p_value = float(found.pvalue)
    return {
        "source": source,
        "candidate_count": len(gaps),
        "mean_difference": sum(gaps) / len(gaps) if gaps else None,
        "difference_low": None if mean is None else mean.low,
        "difference_high": None if mean is None else mean.high,
        "p_value": p_value,
    }
