"""Texts of the simulated years.

They are a bank of plain questions, answers that say what they are worth, and reasons of judges.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import polars as pl

from schemas.tables import get_table
from tests.benchmarks.history_rows import number_uuid

_TOPICS = (
    "first principles",
    "a worked case",
    "a disputed term",
    "the history of the field",
    "a common error",
)
TYPES = ("true_false", "short_answer", "term_explanation", "calculation")


def describe_bank(count: int, disciplines: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Bank version 1 with so many questions; a question's number says its discipline."""
    rows = [
        {
            "question_uuid": number_uuid(number),
            "revision": 1,
            "lineage_uuid": number_uuid(number),
            "document_id": number_uuid(900_000_000_000 + number // 400),
            "from_version": 1,
            "question_type": TYPES[number // len(disciplines) % len(TYPES)],
            "discipline": disciplines[number % len(disciplines)],
            "source_kind": "undergraduate_final",
            "language": "en",
            "stem": f"{disciplines[number % len(disciplines)]}, question {number}: say what is known of "
            f"{_TOPICS[number // 7 % len(_TOPICS)]} in chapter {number // 10 + 1}.",
            "answer": [answer_question(number, TYPES[number // len(disciplines) % len(TYPES)])],
        }
        for number in range(count)
    ]
    version = {
        "bank_version": 1, "question_count": count, "lineage_count": count, "duplicate_count": 0, "content_hash": "built",
        "published_at": datetime(2022, 12, 1, tzinfo=UTC),
    }  # fmt: skip
    return {
        "bank_contents": get_table("bank_contents").frame(rows).with_columns(landing_unit=pl.lit("1")),
        "bank_versions": get_table("bank_versions").frame([version]).with_columns(landing_unit=pl.lit("1")),
    }


def answer_question(number: int, question_type: str) -> str:
    """A key of the question's type, so that an answer of the key is a right one."""
    if question_type == "true_false":
        return "true" if number // 3 % 2 else "false"
    return f"What chapter {number // 10 + 1} says of it."


def write_answers() -> pl.Expr:
    """Text of a response from its status, number and deserved stars."""
    worth = pl.col("stars").replace_strict(
        {
            0: "I take it to be the opposite, since the chapter says so.",
            1: "It is the opposite, although the chapter's first part speaks for it.",
            2: "It is what the chapter says.",
            3: "It is what the chapter says, and it follows from its first part.",
        },
        return_dtype=pl.String,
    )
    return (
        pl.when(pl.col("answer_status") == "empty")
        .then(pl.lit(""))
        .when(pl.col("answer_status") == "refused")
        .then(pl.lit("I cannot help with that."))
        .otherwise(pl.format("On question {}: {}", "number", worth))
    )


def write_reasons() -> pl.Expr:
    """A judge's reason from the stars that it gave; null where there are none."""
    return pl.col("given").replace_strict(
        {
            0: "The answer is wrong, and so is its explanation.",
            1: "The answer is wrong; part of the explanation holds.",
            2: "The answer is right; the explanation is thin.",
            3: "The answer is right and well explained.",
        },
        return_dtype=pl.String,
        default=None,
    )
