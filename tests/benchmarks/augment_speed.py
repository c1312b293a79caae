"""CPU of making variants by template, and of landing them.

They are made of 78,009 accepted choices, which is the number of originals in the paper's bank.

The questions are real stems with real options of the bank beside the project, recombined where there are not enough.
Run: python -m tests.benchmarks.augment_speed [questions]
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.augment.landing import land_variants
from tasks.bank.augment.true_false import augment_questions
from tasks.questions import BareQuestion
from tasks.questions.identity import compute_question_uuid
from tests.benchmarks.measure import Row, print_rows
from warehouse.lake import open_lake

SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))
ORIGINALS = 78_009
FIRST_FORM_CPU_S = 48.0
BAR_CPU_S = 12.0
DECIDED = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)

T = TypeVar("T")


def make_accepted(count: int, seed: int = 5) -> pl.DataFrame:
    """Accepted choices of one review batch: real stems.

    They have the options of another question where the bank is used up.
    """
    bank = pl.read_parquet(SHARED / "bank" / "question_bank.parquet").filter(
        pl.col("options").is_not_null() & pl.col("answer").str.contains("^[A-E]$")
    )
    found = [
        (row["question"], row["lang"], [str(text) for text in json.loads(row["options"])], row["answer"])
        for row in bank.iter_rows(named=True)
    ]
    draw = random.Random(seed)
    rows: dict[str, dict[str, Any]] = {}
    while len(rows) < count:
        stem, language, texts, key = (
            found[len(rows) % len(found)] if len(rows) < len(found) else draw.choice(found)
        )
        if len(rows) >= len(found) or not rows:
            texts = draw.choice(found)[2]
            key = chr(65 + draw.randrange(len(texts)))
        if len({text.strip() for text in texts}) < max(2, len(texts)) or ord(key) - 65 >= len(texts):
            texts = [f"{text} ({place})" for place, text in enumerate(texts)] or ["1", "2"]
            key = "A"
        row: dict[str, Any] = {
            "batch_id": "b1",
            "revision": 1,
            "document_id": None,
            "outcome": "accepted",
            "accept_count": 2,
            "reject_count": 0,
            "was_edited": False,
            "was_adjudicated": False,
            "question_type": "multiple_choice",
            "discipline": "Engineering",
            "source_kind": "other",
            "language": language or "zh",
            "stem": stem or "?",
            "options": [{"label": chr(65 + place), "text": text} for place, text in enumerate(texts)],
            "answer": [key],
            "decided_at": DECIDED,
        }
        row["question_uuid"] = row["lineage_uuid"] = compute_question_uuid(BareQuestion.from_row(row))
        if row["question_uuid"] in rows:
            row["stem"] = f"{len(rows)}. {row['stem']}"
            row["question_uuid"] = row["lineage_uuid"] = compute_question_uuid(BareQuestion.from_row(row))
        rows[row["question_uuid"]] = row
    return get_table("review_decisions").frame(list(rows.values()))


def measure(name: str, work: Callable[[], T], note: str = "") -> tuple[Row, T]:
    """CPU and wall of a call in this process, all its threads counted."""
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    result = work()
    after, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - started
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Row(name, cpu, wall, note), result


def main(count: int = ORIGINALS) -> None:
    """Measure and print."""
    questions = make_accepted(count)
    made, (variants, refused) = measure(
        "variants in memory", lambda: augment_questions(questions, unit="b1", now=DECIDED)
    )
    rows = [made.with_note(f"{variants.height} variants, {refused.height} refused")]
    with tempfile.TemporaryDirectory() as folder, open_lake(Settings(home=Path(folder))) as lake:
        landed, _ = measure(
            "the accepted questions landed (the review gate's work)",
            lambda: lake.land("review_decisions", "b1", questions),
        )
        whole, summary = measure("proctor augment: read, make, land", lambda: land_variants(lake))
        again, _ = measure("the same again: nothing is left to do", lambda: land_variants(lake))
    rows += [
        landed,
        whole.with_note(f"{summary.variants} variants (bar {BAR_CPU_S:g}; first form {FIRST_FORM_CPU_S:g})"),
        again,
    ]
    print_rows(f"Augment {count} originals by template", rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ORIGINALS)
