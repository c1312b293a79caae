"""Rows of small tables, whole and valid, for tests of the lake itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import polars as pl

from schemas.tables import get_table

SECRET_STEM = "机密题干：谁在何时签署了该条约"


def make_uuid(name: object) -> str:
    return str(uuid5(NAMESPACE_URL, str(name)))


def make_session(number: int, **changes: Any) -> dict[str, Any]:
    row = {
        "session_id": f"session-{number}",
        "run_id": "run-1",
        "month": "2026-01",
        "set_id": "set-1",
        "model": "candidate-a",
        "organisation": "acme",
        "prompt_style": "zero_shot",
        "repeat": 1,
        "is_reference": False,
        "status": "closed",
        "question_count": 10,
        "answered_count": 10,
        "is_simulated": False,
    }
    return row | changes


def session_frame(count: int, *, first: int = 0, **changes: Any) -> pl.DataFrame:
    return get_table("sessions").frame([make_session(first + n, **changes) for n in range(count)])


def make_question(number: int, **changes: Any) -> dict[str, Any]:
    row = {
        "question_uuid": make_uuid(number),
        "revision": 1,
        "lineage_uuid": make_uuid(number),
        "document_id": make_uuid("document"),
        "document_name": "law-2024.docx",
        "position": number + 1,
        "question_type": "multiple_choice",
        "discipline": "Law",
        "language": "zh",
        "stem": SECRET_STEM,
        "options": [{"label": "A", "text": "甲"}, {"label": "B", "text": "乙\n丙"}],
        "answer": ["A", "B"],
        "parse_confidence": 0.9,
        "parse_notes": [],
        "status": "parsed",
    }
    return row | changes


def question_frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return get_table("questions").frame(rows)


def allocation_frame(session: str, month: str, count: int) -> pl.DataFrame:
    return get_table("allocations").frame(
        [
            {
                "run_id": "run-1",
                "session_id": session,
                "seq": seq,
                "question_uuid": make_uuid(seq),
                "lineage_uuid": make_uuid(seq),
                "discipline": "Law",
                "month": month,
                "allocated_at": datetime(2026, 1, 1, tzinfo=UTC),
            }
            for seq in range(1, count + 1)
        ]
    )
