"""The sample of model-written variants that people read."""

from __future__ import annotations

import polars as pl

from tasks.questions.draws import draw_share


def draw_review_sample(variants: pl.DataFrame, share: float, salt: str) -> pl.DataFrame:
    """A repeatable sample of `share` of the variants that a model wrote, at least one where there are any.

    Args:
        variants: rows of the lake table `variants`.
        share: part of them, 0 to 1; 0.05 is usual.
        salt: what the draw depends on besides the questions, for example the batch they come from.
    """
    written = variants.filter(pl.col("generator") != "template")
    uuids = written["question_uuid"].to_list()
    return written[draw_share(range(written.height), share, salt, name=uuids.__getitem__)]
