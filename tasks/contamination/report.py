"""What a replay shows: how much each candidate recalls, and whether a difference is chance.

Our questions are set beside public sets.

The leak watch: how organisations score on questions that were met before.

These are the questions that they, or the reference's provider, have met before.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from schemas.errors import UsageError
from tasks.contamination.replay import BANK
from tasks.statistics.agreement import compute_mean, compute_share
from tasks.statistics.leaks import Leak, expect_stars, find_leak

if TYPE_CHECKING:
    import polars as pl

    from warehouse.lake import Lake

# A candidate that recalls more than this, by the lower end of its interval, has read the questions.
FALSE_ALARM_SHARE = 0.05


def compare_sources(lake: Lake, replay_id: str) -> dict[str, Any]:
    """Shares by candidate and source with Wilson's interval.

    The bank is set beside every public set.

    Within a candidate by Fisher's exact test; over candidates, paired, by the exact permutation test of the mean difference
    (null for fewer than two candidates). Raises UsageError for a replay that is not there.
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
    return {
        "replay_id": replay_id,
        "shares": shares,
        "pairs": pairs,
        "paired": [
            _test_paired(source, [pair for pair in pairs if pair["source"] == source]) for source in others
        ],
    }


def describe_comparison(found: dict[str, Any]) -> list[str]:
    """The table in lines: a line for each candidate and source, then the differences."""
    lines = [
        f"{row['model']}, {row['source']}: {row['recalled_share']:.1%} of {row['question_count']} recalled "
        f"({row['recalled_low']:.1%} to {row['recalled_high']:.1%})"
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
    mean = compute_mean(gaps)
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


def watch_leaks(lake: Lake, run_id: str) -> list[dict[str, Any]]:
    """One row per organisation of the last edition of a run.

    A row has the gain on questions met before, its error, and the power of the look.

    The numbers are null for an organisation with too few questions on either side. Raises UsageError for a run that was not
    published, or whose questions have no fitted difficulty yet.
    """
    found = lake.read("run_revisions", {"run_id": run_id})
    if found.is_empty():
        raise UsageError(f"Run {run_id} has no edition. Run `proctor publish {run_id}` first.")
    edition_id = found.row(-1, named=True)["edition_id"]
    rows = lake.run_named("leak_rows", {"edition_id": edition_id})
    if rows.is_empty():
        raise UsageError(
            f"Edition {edition_id}: no question has a fitted difficulty, so that nothing can be expected of anybody."
        )
    return find_leaks(rows)


def find_leaks(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """One row per organisation, from the rows of `leak_rows` of one edition.

    A row has organisation, question_count, met_count, gain in stars with gain_se, p_value, least_found and
    is_found; the numbers are None where there is nothing to compare.
    """
    parts = {str(name): part for (name,), part in rows.partition_by("organisation", as_dict=True).items()}
    return [
        {"organisation": name} | _describe(part, _find(part, len(parts)))
        for name, part in sorted(parts.items())
    ]


def describe_leaks(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each organisation."""
    return [
        f"{row['organisation']}: {row['gain']:+.3f} stars on {row['met_count']} of {row['question_count']} answers to questions met before "
        f"(se {row['gain_se']:.3f}, p {row['p_value']:.3f}; {row['least_found']:.3f} would be found in 80% of cases)"
        + (" LEAK" if row["is_found"] else "")
        if row["gain"] is not None
        else f"{row['organisation']}: {row['met_count']} of {row['question_count']} answers are to questions met before: nothing to compare."
        for row in rows
    ]


def _find(part: pl.DataFrame, organisations: int) -> Leak | None:
    import polars as pl

    expected = pl.concat([_expect(of_model) for of_model in part.partition_by("model", maintain_order=True)])
    ordered = part.sort("model", "question_uuid").with_columns(
        expected=expected.sort("model", "question_uuid")["expected"],
        candidate=pl.col("model").rank("dense").cast(pl.Int64) - 1,
        lineage=pl.col("lineage_uuid").rank("dense").cast(pl.Int64) - 1,
    )
    return find_leak(
        ordered["stars"].to_numpy(),
        ordered["expected"].to_numpy(),
        ordered["is_met"].to_numpy(),
        ordered["candidate"].to_numpy().astype(np.int64),
        ordered["lineage"].to_numpy().astype(np.int64),
        organisation_count=organisations,
    )


def _expect(of_model: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    expected = expect_stars(
        of_model["stars"].to_numpy(),
        of_model["discrimination"].to_numpy(),
        of_model["difficulty"].to_numpy(),
        of_model.select("threshold_1", "threshold_2", "threshold_3").to_numpy(),
        of_model.select("asymptote_1", "asymptote_2", "asymptote_3").to_numpy(),
    )
    return of_model.select("model", "question_uuid").with_columns(expected=pl.Series(expected))


def _describe(part: pl.DataFrame, leak: Leak | None) -> dict[str, Any]:
    names = ("gain", "gain_se", "p_value", "least_found")
    return {
        "question_count": part.height,
        "met_count": int(part["is_met"].sum()),
        **{name: None if leak is None else getattr(leak, name) for name in names},
        "is_found": leak is not None and leak.is_found,
    }
