"""What the pages share: words of columns, and sentences over rows."""

from __future__ import annotations

import polars as pl

from tasks.report.labels import LABELS
from tasks.report.panels import Cell, Words

DISCIPLINE_WORDS: dict[str, Words] = {
    name: LABELS[name]
    for name in (
        "Philosophy", "Economics", "Law", "Education", "Literature", "History", "Science", "Engineering", "Agronomy",
        "Medicine", "Military Science", "Management", "Arts",
    )
}  # fmt: skip
STYLE_WORDS: dict[str, Words] = {name: LABELS[name] for name in ("zero_shot", "few_shot", "chain_of_thought")}
MODEL = Cell("model", LABELS["model"])
JUDGE = Cell("judge", LABELS["judge"])
MONTH = Cell("month", LABELS["month"])
DISCIPLINE = Cell("discipline", LABELS["discipline"], "word", words=DISCIPLINE_WORDS)
INTERVAL: Words = ("95% 区间", "95% interval")


def round_last_digits(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows without their last digits: threads add up in any order, and a page must not change with it."""
    return frame.with_columns(pl.col(pl.Float64).round(9))
