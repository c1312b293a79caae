"""What the scripts of the site read: every edition, candidate and difference.

They are in columns of whole numbers, so that years fit in a file. A script of a page that is opened from a disk may not fetch a file,
but it may be loaded beside another: each set of data is a script of one assignment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from tasks.report.labels import LANGUAGES
from tasks.report.words import (
    describe_grade,
    describe_judge_checks,
    describe_override,
    describe_provisional,
    describe_unequated,
)

DISCIPLINE_COLUMNS: Final[dict[str, str]] = {
    "engineering": "Engineering",
    "economics": "Economics",
    "education": "Education",
    "law": "Law",
    "literature": "Literature",
    "management": "Management",
    "science": "Science",
    "history": "History",
    "medicine": "Medicine",
    "military_science": "Military Science",
    "philosophy": "Philosophy",
    "agronomy": "Agronomy",
    "arts": "Arts",
}
DISCIPLINE_ORDER: Final = tuple(DISCIPLINE_COLUMNS.values())
# Hundredths: what the pages print.
_SCORES: Final = (
    "score", "score_low", "score_high", "corrected_score", "chance_score", "equated_score", "equated_low", "equated_high", "relative_score", "relative_low", "relative_high",
    "score_sd", *DISCIPLINE_COLUMNS,
)  # fmt: skip
_COUNTS: Final = (
    "rank",
    "rank_low",
    "rank_high",
    "pair_count",
    "repeat_count",
    "question_count",
    "unanswered_count",
    "unparsed_count",
)
_FLAGS: Final = ("is_reference", "is_equated_apart")
_OF_A_MODEL: Final = ("organisation", "family", "mode", "base_model", "is_open", "release_date")


def write_data(path: Path, name: str, data: Mapping[str, object]) -> None:
    """Write data as a script that assigns it to `proctorData.<name>` of the window."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str, allow_nan=False)
    path.write_text(f"(window.proctorData = window.proctorData || {{}}).{name} = {text};\n", encoding="utf-8")


def describe_board(history: pl.DataFrame) -> dict[str, Any]:
    """Every edition and prompt style of `leaderboard_history` in columns, scores in hundredths."""
    models = history.group_by("model", "is_simulated", maintain_order=True).agg(
        pl.col(name).first() for name in _OF_A_MODEL
    )
    places = models.select("model", "is_simulated").with_row_index("place")
    rows = history.join(places, on=["model", "is_simulated"], how="left", maintain_order="left")
    # Hundredths of all rows at once, then a row for each edition with its columns as lists.
    editions = (
        rows.with_columns(
            pl.col("is_provisional", *_FLAGS).cast(pl.Int8), *(round_hundredths(name) for name in _SCORES)
        )
        .group_by("edition_id", "prompt_style", maintain_order=True)
        .agg(pl.all())
    )
    return {
        "disciplines": list(find_examined(history).values()),
        "models": models.to_dicts(),
        "editions": [_describe_edition(edition) for edition in editions.iter_rows(named=True)],
    }


def find_examined(history: pl.DataFrame) -> dict[str, str]:
    """The disciplines that anybody has a score in, by their column."""
    return {
        column: name for column, name in DISCIPLINE_COLUMNS.items() if history[column].is_not_null().any()
    }


def _describe_edition(edition: Mapping[str, Any]) -> dict[str, Any]:
    """An edition in one style; what it has a row of for each candidate is a list."""
    first = {name: found[0] if isinstance(found, list) else found for name, found in edition.items()}
    scores = zip(edition["score"], edition["equated_score"], edition["unequated_because"], strict=True)
    left_out = [
        {"unequated_because": why} for score, equated, why in scores if score is not None and equated is None
    ]
    return {
        "id": first["edition_id"],
        "month": first["month"],
        "style": first["prompt_style"],
        "revision": first["revision"],
        "published": first["published_at"].strftime("%Y-%m-%d"),
        "references": _list_values(edition["reference_model"]),
        "judges": _list_values(edition["judge"]),
        "banks": _list_values(edition["bank_version"]),
        "isProvisional": any(edition["is_provisional"]),
        "isRepetition": first["is_repetition"],
        "provisional": [describe_provisional(first, "zh"), describe_provisional(first, "en")],
        "unequated": [
            describe_unequated(left_out[0], language) if left_out else "" for language in LANGUAGES
        ],
        "checks": [describe_judge_checks(first, "zh"), describe_judge_checks(first, "en")],
        "grade": [describe_grade(first, "zh"), describe_grade(first, "en")],
        "gates": [describe_override(first, "zh"), describe_override(first, "en")],
        "model": edition["place"],
        "group": shorten(edition["rank_group"]),
        **{name: shorten(edition[name]) for name in (*_SCORES, *_COUNTS, *_FLAGS)},
    }


def round_hundredths(name: str) -> pl.Expr:
    """The values of a column times a hundred, as whole numbers."""
    return (pl.col(name).cast(pl.Float64) * 100).round(0).cast(pl.Int64)


def list_hundredths(values: pl.Series) -> list[int | None]:
    """The values times a hundred, as whole numbers."""
    return values.to_frame("values").select(round_hundredths("values")).to_series().to_list()


def shorten(values: list[Any]) -> list[Any] | dict[str, Any]:
    """The values as they are; where all are equal, one for all of them, as `{"all": value}`."""
    return {"all": values[0]} if values and all(value == values[0] for value in values) else values


def list_columns(rows: pl.DataFrame, scores: Sequence[str], others: Sequence[str]) -> dict[str, Any]:
    """Columns of a frame: `scores` in hundredths, the others as they are."""
    return {name: list_hundredths(rows[name]) for name in scores} | {
        name: rows[name].to_list() for name in others
    }


def _list_values(values: Sequence[Any]) -> list[Any]:
    return sorted({value for value in values if value is not None})
