"""Rows of `judge_controls`, as a judge leaves them that judges everything by its worth."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import polars as pl

from schemas.tables import get_table
from tasks.judging.controls.drawing import count_kinds


def make_control_rows(
    run_id: str, month: str, judge: str, prompt_version: str, *, is_simulated: bool, **stars: int
) -> list[dict[str, Any]]:
    """One judge's rows of a run; `stars` by kind where they are not what answers are worth."""
    kinds = [kind for kind, count in count_kinds(60).items() for _ in range(count)]
    return [
        {
            "run_id": run_id,
            "month": month,
            "judge": judge,
            "prompt_version": prompt_version,
            "question_uuid": str(uuid.UUID(int=number)),
            "kind": kind,
            "cluster": str(number),
            "discipline": "Science",
            "stars": stars.get(kind, 3 if kind == "reference" else 0),
            "parse_status": "parsed",
            "judged_at": datetime(2025, 6, 3, tzinfo=UTC),
            "cost_usd": 0.0,
            "attempt": int(kind != "empty"),
            "is_simulated": is_simulated,
        }
        for number, kind in enumerate(kinds)
    ]


def make_control_frame(*args: Any, **options: Any) -> pl.DataFrame:
    """The same as a frame of the table."""
    return get_table("judge_controls").frame(make_control_rows(*args, **options))
