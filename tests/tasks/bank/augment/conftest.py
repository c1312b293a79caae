"""Accepted questions, as the review gate lands them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl

from schemas.tables import get_table
from tasks.questions import BareQuestion
from tasks.questions.identity import compute_question_uuid

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DECIDED = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DOCUMENT = "0b8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c10"


def make_options(*texts: str) -> list[dict[str, str]]:
    """Options A, B, C …"""
    return [{"label": chr(65 + place), "text": text} for place, text in enumerate(texts)]


def make_accepted(
    stem: str = "A tree with 8 leaves has at most ( ) nodes.", **changes: Any
) -> dict[str, Any]:
    """An accepted multiple-choice question; `changes` replace columns."""
    row: dict[str, Any] = {
        "batch_id": "b1",
        "revision": 1,
        "document_id": DOCUMENT,
        "outcome": "accepted",
        "accept_count": 2,
        "reject_count": 0,
        "was_edited": False,
        "was_adjudicated": False,
        "question_type": "multiple_choice",
        "discipline": "Engineering",
        "sub_discipline": "Computer Science",
        "source_kind": "undergraduate_final",
        "language": "en",
        "stem": stem,
        "material": None,
        "options": make_options("39", "52", "111", "119"),
        "answer": ["C"],
        "explanation": "Count the level above.",
        "decided_at": DECIDED,
        **changes,
    }
    row.setdefault("question_uuid", compute_question_uuid(BareQuestion.from_row(row)))
    row.setdefault("lineage_uuid", row["question_uuid"])
    return row


def make_frame(*rows: dict[str, Any]) -> pl.DataFrame:
    """A frame of `review_decisions`."""
    return get_table("review_decisions").frame(list(rows))
