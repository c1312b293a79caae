"""The sample of model-written variants that people read."""

from __future__ import annotations

import hashlib

import polars as pl


def draw_review_sample(variants: pl.DataFrame, share: float, salt: str) -> pl.DataFrame:
    """A repeatable sample of `share` of the variants that a model wrote, at least one where there are any.

    Args:
        variants: rows of the lake table `variants`.
        share: part of them, 0 to 1; 0.05 is usual.
        salt: what the draw depends on beside the questions, for example the batch they come from.
    """
    written = variants.filter(pl.col("generator") != "template")
    if written.is_empty() or share <= 0:
        return written.clear()
    count = max(1, round(written.height * share))
    ranks = [
        hashlib.sha256(f"{salt}\x1f{question_uuid}".encode()).hexdigest()
        for question_uuid in written["question_uuid"]
    ]
    return (
        written.with_columns(pl.Series("_rank", ranks))
        .sort("_rank", "question_uuid")
        .head(count)
        .drop("_rank")
    )
