"""From rating workbooks to rows of `human_ratings`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from schemas.errors import UsageError
from tasks.gscore.people.rating_workbook import import_rating_workbook
from warehouse.lake import Lake

HUMAN_SCALE = "score_0_1"


def land_ratings(
    lake: Lake, workbook: Path, sample: pl.DataFrame, sample_name: str, rater: str, rating_round: int = 1
) -> dict[str, object]:
    """Read a filled-in workbook of a sample and land its scores; an empty score is no rating.

    The same rater's workbook of the same sample and round replaces what was landed before. Raises WorkbookError, naming
    sheet, row and column.
    """
    if not rater.strip():
        raise UsageError("The ratings have no rater. Say who rated with --rater.")
    ratings = import_rating_workbook(workbook, sample, rater.strip())
    rows = (
        ratings.filter(pl.col("human_score").is_not_null())
        .join(sample.select("question_uuid", "model", "session_id", "seq"), on=["question_uuid", "model"])
        .select(
            "session_id",
            "seq",
            "rater",
            round=pl.lit(rating_round, dtype=pl.Int64),
            scale=pl.lit(HUMAN_SCALE),
            value=pl.col("human_score"),
            rated_at=pl.lit(datetime.now(UTC)).dt.cast_time_unit("us"),
            is_adjudication=pl.lit(None, dtype=pl.Boolean),
        )
    )
    unit = f"cgeval/{sample_name}/{rater.strip()}/{rating_round}"
    landing = lake.land("human_ratings", unit, rows, stage="gscore", ignore=("rated_at",))
    return {
        "sample": sample_name,
        "rater": rater.strip(),
        "round": rating_round,
        "ratings": landing.row_count,
        "left_empty": ratings.height - rows.height,
        "is_unchanged": landing.is_unchanged,
    }
