"""Others' marks, responses or scores (CSV, JSONL, Parquet), columns mapped to ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

import polars as pl

from schemas import patterns as re
from schemas.errors import UsageError, suggest

MARK_FIELDS = (
    "model",
    "item_id",
    "metric",
    "mark",
    "category",
    "task",
    "repeat",
    "rater",
    "answer",
    "response",
    "scored_on",
)
MOST_REPEAT = 1_000_000_000
SCORE_FIELDS = ("model", "scored_on", "score")
# A day alone, or before the time of the day.
_DAY = re.compile(
    r"(?P<year>\d{4})(?:(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)|(?P<months>\d\d)(?P<days>\d\d))(?:[T ].*)?",
    re.DOTALL,
)

_PERCENTAGE = re.compile(r"[-+]?\d+(?:[.,]\d+)?\s*[%％]")
# As spreadsheets in many languages of Europe write it, with semicolons between the columns; or a thousand.
_WITH_COMMA = re.compile(r"[-+]?\d+(?:,\d+)+")


def parse_mapping(given: Sequence[str], fields: Sequence[str]) -> dict[str, str]:
    """`field=column` pairs by our field; UsageError for a field not ours or given twice."""
    mapping: dict[str, str] = {}
    for pair in given:
        name, equals, column = pair.partition("=")
        if not equals or not column or name not in fields or name in mapping:
            raise UsageError(
                f"--map {pair!r}: write field=column, each field once; the fields are {', '.join(fields)}."
            )
        mapping[name] = column
    return mapping


def apply_mapping(
    frame: pl.DataFrame, mapping: Mapping[str, str], fields: Sequence[str], needed: Sequence[str], name: str
) -> pl.DataFrame:
    """The mapped columns under our names.

    A column that has our name already is taken without a mapping; any other field is null. Raises UsageError
    for a column that is not there, or a field that is needed and has none.
    """
    found: dict[str, str] = {}
    for field in fields:
        column = mapping.get(field, field)
        if column in frame.columns:
            found[field] = column
        elif field in mapping:
            raise UsageError(
                f"{name} has no column {column!r}.{suggest(column, frame.columns)} It has {', '.join(frame.columns)}."
            )
    if missing := [field for field in needed if field not in found]:
        raise UsageError(
            f"{name}: no column for {missing[0]}. Say which with --map {missing[0]}=COLUMN; it has {', '.join(frame.columns)}."
        )
    return frame.select(
        *(pl.col(column).alias(field) for field, column in found.items()),
        *(pl.lit(None).alias(field) for field in fields if field not in found),
    )


def melt_metrics(frame: pl.DataFrame, metrics: Sequence[str], name: str) -> pl.DataFrame:
    """A table with a column per metric as one with a row per metric; UsageError for none such."""
    if missing := [metric for metric in metrics if metric not in frame.columns]:
        raise UsageError(
            f"{name} has no column {missing[0]!r}.{suggest(missing[0], frame.columns)} It has {', '.join(frame.columns)}."
        )
    others = [column for column in frame.columns if column not in metrics]
    numbered = frame.with_row_index("row_in_file")
    return (
        numbered.unpivot(
            on=list(metrics), index=["row_in_file", *others], variable_name="metric", value_name="mark"
        )
        .sort("row_in_file", maintain_order=True)
        .drop("row_in_file")
    )


def parse_marks(frame: pl.DataFrame, name: str) -> list[dict[str, object]]:
    """Rows of `imported_marks`, except for the columns that describe the file.

    They are made from a frame with MARK_FIELDS, in the order of the file. A mark that is no number stays as
    text; what is not there stays null. Raises UsageError naming the row without model or item.
    """
    rows: list[dict[str, object]] = []
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        model, item = get_text(row["model"]), get_text(row["item_id"])
        if model is None or item is None:
            raise UsageError(
                f"{name}, row {number}: {'model' if model is None else 'item_id'} is empty. Correct the row, or leave it out."
            )
        mark, mark_text = split_mark(row["mark"])
        if mark_text is not None and (odd := name_odd_number(mark_text)) is not None:
            raise UsageError(
                f"{name}, row {number}: the mark {mark_text} is {odd}. Write marks as plain numbers, such as 2.5."
            )
        rows.append(
            {
                "row_number": number,
                "category": get_text(row["category"]),
                "task": get_text(row["task"]),
                "model": model,
                "item_id": item,
                "repeat": _parse_repeat(row["repeat"], f"{name}, row {number}"),
                "rater": get_text(row["rater"]),
                "metric": get_text(row["metric"]),
                "mark": mark,
                "mark_text": mark_text,
                "answer": get_text(row["answer"]),
                "response": None if row["response"] is None else str(row["response"]),
                "scored_on": parse_day(row["scored_on"], f"{name}, row {number}"),
            }
        )
    return rows


def parse_scores(
    frame: pl.DataFrame, *, benchmark: str, source: str, name: str
) -> tuple[list[dict[str, object]], int]:
    """Rows of `external_scores` from a frame with SCORE_FIELDS, and how many rows had no score.

    A model may have one score a day: the same again is one row. Raises UsageError naming the rows that say otherwise, and
    rows without model or day.
    """
    found: dict[tuple[str, date], float] = {}
    empty = 0
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        place = f"{name}, row {number}"
        model, day = get_text(row["model"]), parse_day(row["scored_on"], place)
        if model is None or day is None:
            raise UsageError(
                f"{place}: {'model' if model is None else 'scored_on'} is empty. Correct the row, or leave it out."
            )
        score, text = split_mark(row["score"])
        if score is None:
            if text is not None:
                raise UsageError(f"{place}: the score is no number. Correct it, or leave it empty.")
            empty += 1
            continue
        if found.setdefault((model, day), score) != score:
            raise UsageError(
                f"{place}: {model} has another score on {day.isoformat()} in an earlier row. Import each board by itself, with a "
                "--benchmark of its own."
            )
    return [
        {"model": model, "benchmark": benchmark, "scored_on": day, "score": score, "source": source}
        for (model, day), score in sorted(found.items())
    ], empty


def split_mark(value: object) -> tuple[float | None, str | None]:
    """A mark as a number, or as text where it is none; both null for nothing."""
    if value is None:
        return None, None
    text = str(value).strip()
    try:
        number = float(value) if isinstance(value, bool | int | float) else float(text)
    except (ValueError, OverflowError):
        return None, text or None
    if math.isnan(number) and isinstance(value, float):
        return None, None
    return (number, None) if math.isfinite(number) else (None, text)


def name_odd_number(text: str) -> str | None:
    """What a text is that means a number and is none that can be counted with, or None."""
    if _PERCENTAGE.fullmatch(text):
        return "a percentage, and the file does not say of what"
    return "a number with a comma" if _WITH_COMMA.fullmatch(text) else None


def _parse_repeat(value: object, place: str) -> int | None:
    if value is None or value == "":
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = 0.0
    if not 1 <= number <= MOST_REPEAT or not number.is_integer():
        raise UsageError(
            f"{place}: repeat {value!s} is no whole number from 1. Correct it, or leave it empty."
        )
    return int(number)


def parse_day(value: object, place: str) -> date | None:
    """A day as 2024-05-01, 20240501 or 2024/05/01, or null; UsageError naming the place."""
    if value is None or value == "":
        return None
    found: date | None = None
    if isinstance(value, date):
        found = value.date() if isinstance(value, datetime) else value
    elif parts := _DAY.fullmatch(str(value).strip()):
        month, day = parts["month"] or parts["months"], parts["day"] or parts["days"]
        with suppress(ValueError):
            found = date(int(parts["year"]), int(month), int(day))
    if found is None:
        raise UsageError(f"{place}: scored_on is no day. Write it as 2024-05-01.")
    # It would be a model's latest score for as long; the day begins earlier elsewhere.
    if found > datetime.now(UTC).date() + timedelta(days=1):
        raise UsageError(f"{place}: scored_on {found} is yet to come. Correct it.")
    return found


def get_text(value: object) -> str | None:
    """What a cell says, as text; null for one that is empty or blank."""
    return None if value is None or str(value).strip() == "" else str(value)
