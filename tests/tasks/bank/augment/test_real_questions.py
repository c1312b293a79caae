from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

from tasks.bank.augment.true_false import augment_questions
from tasks.bank.augment.wording import refers_to_other_options
from tasks.questions import QuestionContent
from tasks.questions.rules import find_broken_rules
from tests.tasks.bank.augment.conftest import NOW, make_accepted, make_frame

BANK = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data")) / "bank" / "question_bank.parquet"

pytestmark = pytest.mark.skipif(
    not BANK.exists(),
    reason="needs ../shared/data/bank (or PROCTOR_SHARED_DATA), which is not part of the project",
)


def read_accepted(source: str, count: int) -> pl.DataFrame:
    """Real single-choice questions with their keys, each once."""
    rows = {}
    bank = pl.read_parquet(BANK).filter(
        (pl.col("source") == source)
        & pl.col("options").is_not_null()
        & pl.col("answer").str.contains("^[A-E]$")
    )
    for row in bank.head(count).iter_rows(named=True):
        options = [
            {"label": chr(65 + place), "text": str(text)}
            for place, text in enumerate(json.loads(row["options"]))
        ]
        accepted = make_accepted(
            row["question"], language=row["lang"], options=options, answer=[row["answer"]], explanation=None
        )
        rows[accepted["question_uuid"]] = accepted
    return make_frame(*rows.values())


@pytest.mark.parametrize("source", ["CMMLU", "MMLU", "C-Eval"])
def test_real_choices_give_one_variant_per_option_with_one_true(source: str) -> None:
    questions = read_accepted(source, 800)
    variants, broken = augment_questions(questions, unit="b1", now=NOW)
    refused = {json.loads(key)["question_uuid"] for key in broken["row_key"]}
    used = questions.filter(~pl.col("question_uuid").is_in(list(refused)))
    expected = sum(
        not refers_to_other_options(option["text"]) for options in used["options"] for option in options
    )
    assert len(refused) < 0.05 * questions.height
    assert variants.height == expected
    trues = variants.filter(pl.col("answer").list.first() == "true")
    assert sorted(trues["parent_uuid"]) == sorted(used["question_uuid"])
    assert all(not find_broken_rules(QuestionContent.from_row(row)) for row in variants.iter_rows(named=True))
    assert variants["question_uuid"].is_unique().sum() > 0.98 * variants.height
