"""Samples of answers for people to score: drawn once, kept by name, compared with the Gscores afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.gscore.people.agreement import SAMPLE_SIZE, compute_rank_agreement, draw_human_sample

METRICS = ("gscore", "bleu4", "rouge2", "chrf", "similarity")
SAMPLE_COLUMNS = (
    "question_uuid",
    "model",
    "run_id",
    "session_id",
    "seq",
    "category",
    "subject",
    "question",
    "reference",
    "response",
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def draw_sample(
    answers: Sequence[pl.DataFrame], references: pl.DataFrame, seed: int, size: int = SAMPLE_SIZE
) -> pl.DataFrame:
    """Draw answers for people to score: subjects in the shares of the pool, one model at random for each question.

    `answers` holds the answers of each model (`answering.read_answers`), `references` what people compare them with; only
    questions with a reference are in the pool. Columns are SAMPLE_COLUMNS; several references stand one below the other.
    Raises UsageError when there are fewer questions than `size`.
    """
    if not answers:
        raise UsageError("No model has answered anything in this run. Run `proctor cgeval answer` first.")
    texts = references.with_columns(pl.col("references").list.drop_nulls()).select(
        "cgeval_id",
        reference=pl.when(pl.col("references").list.len() > 0)
        .then(pl.col("references").list.join("\n\n"))
        .otherwise(pl.col("reference_answers").list.drop_nulls().list.join("\n\n")),
    )
    pool = (
        pl.concat(answers)
        .join(texts, on="cgeval_id", how="inner")
        .rename({"cgeval_id": "question_uuid", "stem": "question"})
        .select(SAMPLE_COLUMNS)
    )
    return draw_human_sample(pool, seed, size)


def write_sample(settings: Settings, name: str, sample: pl.DataFrame) -> bool:
    """Keep a sample under a name; returns whether it is new. Raises UsageError when the name holds another sample."""
    path = get_sample_path(settings, name)
    if path.exists():
        if pl.read_parquet(path).equals(sample):
            return False
        raise UsageError(
            f"There is another sample named {name!r}, which people may be scoring. Choose another name."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    sample.write_parquet(draft)
    draft.replace(path)
    return True


def read_sample(settings: Settings, name: str) -> pl.DataFrame:
    """A sample that was kept; raises UsageError naming those there are."""
    path = get_sample_path(settings, name)
    if not path.exists():
        known = ", ".join(sorted(one.stem for one in path.parent.glob("*.parquet"))) or "none"
        raise UsageError(
            f"There is no sample {name!r}; there are: {known}. `proctor cgeval sample` draws one."
        )
    return pl.read_parquet(path)


def get_sample_path(settings: Settings, name: str) -> Path:
    """Where a sample lies; raises UsageError for a name that is no file's."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a sample: use up to 40 letters, digits, dots, hyphens, underscores."
        )
    return settings.home / "cgeval" / "samples" / f"{name}.parquet"


def compute_sample_agreement(
    run_named: Callable[[str, dict[str, object]], pl.DataFrame],
    sample: str | None,
    seed: int = 1,
    rating_round: int | None = None,
    resample_count: int = 1_000,
) -> pl.DataFrame:
    """Rank correlation of Gscore, and of each of its parts, with people, by profile and similarity model.

    One row per round, profile, similarity model and metric: `pair_count`, `left_out_count` (rated answers that lack the metric), Kendall's
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
    for (rating, profile, identity), rows in pairs.group_by(
        "round", "profile", "similarity_model", maintain_order=True
    ):
        for metric in METRICS:
            record: dict[str, object] = {
                "round": rating,
                "profile": profile,
                "similarity_model": identity,
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
    "metric": pl.String(),
    "pair_count": pl.Int64(),
    "left_out_count": pl.Int64(),
    **dict.fromkeys(_AGREEMENT_NUMBERS, pl.Float64()),
}
