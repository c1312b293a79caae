"""Real exam papers with truth files read by eye; floors, not exact counts, so that better reading never fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.ingest_accuracy import compute_accuracy

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
EXAMS = SHARED / "exams"

pytestmark = pytest.mark.skipif(not EXAMS.is_dir(), reason=f"the shared exam papers are not at {EXAMS}")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return compute_accuracy(EXAMS)


def test_the_number_of_questions_of_real_papers_is_right_within_two_percent(
    rows: list[dict[str, Any]],
) -> None:
    readable = [row for row in rows if row["status"] == "parsed"]
    error = sum(abs(row["count"] - row["truth_count"]) for row in readable)
    assert error <= 0.02 * sum(row["truth_count"] for row in readable), readable


def test_every_readable_paper_has_its_count_within_fifteen_percent(rows: list[dict[str, Any]]) -> None:
    wrong = [
        (row["file"], row["truth_count"], row["count"])
        for row in rows
        if row["status"] not in ("needs_ocr", "needs_libreoffice")
        and abs(row["count"] - row["truth_count"]) > 0.15 * row["truth_count"]
    ]
    assert wrong == []
