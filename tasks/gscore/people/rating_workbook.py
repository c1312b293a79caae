"""The workbook in which people score responses from 0 to 1 in tenths.

It is written blind, and read back with every cell checked.

From rating workbooks to rows of `human_ratings`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from schemas.errors import ContractError, UsageError, WorkbookError
from tasks.review.marking import MarkSheet, compute_key, open_workbook, read_sheet, write_sheets
from warehouse.lake import Lake

_SCORE, _COMMENT = 5, 6
_SHEET = MarkSheet(
    "scores",
    "proctor cgeval ratings export",
    ("key", "subject", "question", "reference", "response", "score", "comment"),
    (18, 18, 45, 45, 60, 8, 30),
    _SCORE,
    tuple(f"{tenth / 10:g}" for tenth in range(11)),
)
_INTRODUCTION = (
    "Score each response against the reference: 1 says all that the reference says, 0 nothing of it, in tenths (0.7).",
    "Only the score and the comment are read back. Leave the score empty where you cannot judge.",
    "请对照参考答案给每个回答打分：1 表示完全答对，0 表示完全不对，精确到 0.1；无法判断的留空。",
)
HUMAN_SCALE = "score_0_1"


def export_rating_workbook(sample: pl.DataFrame, path: Path) -> None:
    """Write the responses to be scored, without models or Gscores.

    They are in an order that reveals nothing.

    `sample` has `question_uuid`, `model`, `subject`, `question`, `reference`, `response` (as drawn by `agreement.draw_human_sample`).
    """
    needed = ("question_uuid", "model", "subject", "question", "reference", "response")
    absent = [name for name in needed if name not in sample.columns]
    if absent:
        raise ContractError(f"The sample to be scored lacks the columns {', '.join(absent)}.")
    rows = sorted(
        (
            compute_key(row["question_uuid"], row["model"]),
            *(row[name] for name in ("subject", "question", "reference", "response")),
        )
        for row in sample.select(needed).to_dicts()
    )
    write_sheets(path, _INTRODUCTION, {_SHEET: rows})


def import_rating_workbook(path: Path, sample: pl.DataFrame, rater: str) -> pl.DataFrame:
    """Read a workbook that was filled in.

    Columns: `question_uuid`, `model`, `rater`, `human_score` (0–1, null where left empty), `comment`.

    `sample` is what was exported. Raises WorkbookError when the file is damaged, is not a workbook of this sample, misses or repeats a row,
    or holds a score that is not 0–1 in tenths; the message names sheet, row and column.
    """
    rows = read_sheet(open_workbook(path, values_only=True), path.name, _SHEET)
    expected = {
        compute_key(question, model): (question, model)
        for question, model in sample.select("question_uuid", "model").iter_rows()
    }
    records: list[dict[str, Any]] = []
    for place, cells in rows:
        key = cells[0]
        if key not in expected:
            raise WorkbookError(
                f"{place}, column A: the key is not one of this sample. Import the workbook with the sample it was made from."
            )
        question, model = expected[key]
        records.append(
            {
                "question_uuid": question,
                "model": model,
                "rater": rater,
                "human_score": _parse_score(cells[_SCORE], place),
                "comment": cells[_COMMENT] or None,
            }
        )
    if len(records) < len(expected):
        raise WorkbookError(
            f"{path.name}, sheet {_SHEET.name!r}: {len(expected) - len(records)} of {len(expected)} rows are missing. Restore them; a row that cannot be judged keeps an empty score."
        )
    schema = {
        "question_uuid": pl.String,
        "model": pl.String,
        "rater": pl.String,
        "human_score": pl.Float64,
        "comment": pl.String,
    }
    return pl.DataFrame(records, schema=schema)


def _parse_score(value: str, place: str) -> float | None:
    if not value:
        return None
    try:
        number = value.replace("．", ".").replace(",", ".")
        # The whole mark is 1.
        score = float(number[:-1]) / 100 if number.endswith(("%", "％")) else float(number)
    except ValueError:
        score = float("nan")
    tenths = round(score * 10) if 0 <= score <= 1 else -1
    if tenths < 0 or abs(score * 10 - tenths) > 1e-6:
        raise WorkbookError(
            f"{place}, column F: the score is not one of 0, 0.1, … 1. Correct it, or leave the cell empty."
        )
    return tenths / 10


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
