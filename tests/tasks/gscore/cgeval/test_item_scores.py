"""Rows of gscores from answers and references.

The tests cover kinds, several references, and what cannot be computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from schemas.tables import get_table
from tasks.gscore.cgeval.item_scores import CALCULATION_NOTE, score_answers
from tasks.gscore.metrics.pairs import NO_MODEL_NOTE, NO_REFERENCE_NOTE, NO_RESPONSE_NOTE, score_pairs
from tasks.gscore.metrics.similarity import load_embedder
from tests.warehouse.lake.kit import find_refusals

# In one worker with all that runs an embedding model: importing its libraries takes five CPU seconds.
pytestmark = pytest.mark.xdist_group("sentence-transformers")

KINDS = ("definition", "short_answer", "arithmetic", "word_problem", "derivation")
TEXT = "社会的发展是主要的方法"


def make_answers(*rows: tuple[str, str | None]) -> pl.DataFrame:
    """One answer per (kind, response)."""
    return pl.DataFrame(
        [
            {
                "seq": number,
                "cgeval_id": f"s|{kind}|{number}",
                "category": "c",
                "subject": "s",
                "kind": kind,
                "model": "m",
                "run_id": "r",
                "session_id": "cgeval/r/m",
                "call_key": f"key{number}",
                "response": response,
                "answer_status": None if response is None else "answered",
            }
            for number, (kind, response) in enumerate(rows, start=1)
        ],
        schema_overrides={"seq": pl.Int64, "response": pl.String, "answer_status": pl.String},
    )


def make_references(answers: pl.DataFrame, *texts: Sequence[str | None], **given: Any) -> pl.DataFrame:
    finals = given.get("finals", [[None] * len(one) for one in texts])
    return pl.DataFrame(
        {
            "cgeval_id": answers["cgeval_id"][: len(texts)],
            "references": [list(one) for one in texts],
            "reference_answers": finals,
        },
        schema={
            "cgeval_id": pl.String,
            "references": pl.List(pl.String),
            "reference_answers": pl.List(pl.String),
        },
    )


def check_contract(rows: pl.DataFrame) -> None:
    whole = rows.with_columns(landing_unit=pl.lit("unit"))
    assert find_refusals(get_table("gscores"), whole) == []


def test_every_kind_is_mapped_and_without_a_model_no_part_becomes_zero() -> None:
    answers = make_answers(*((kind, f"{TEXT}\n最终答案：42") for kind in KINDS))
    references = make_references(answers, *([f"{TEXT}\n最终答案：42"] for _ in KINDS))
    rows = score_answers(answers, references, "standard")

    assert rows["item_kind"].to_list() == [
        "definition", "short_answer", "arithmetic", "calculation", "calculation",
    ]  # fmt: skip
    assert rows["similarity_model"].unique().to_list() == ["none"]
    assert rows.select("similarity", "gscore").rows() == [
        (None, None), (None, None), (None, 1.0), (None, 1.0), (None, 1.0),
    ]  # fmt: skip
    assert rows["bleu4"].to_list() == [1.0, 1.0, None, None, None]
    assert rows["accuracy"].to_list() == [None, None, 1.0, 1.0, 1.0]
    assert rows["similarity_note"].to_list() == [NO_MODEL_NOTE] * 2 + [CALCULATION_NOTE] * 3
    assert rows["answer"].to_list() == [None, None, "42", "42", "42"]
    check_contract(rows)


def test_with_a_model_the_scores_are_those_of_score_pairs(tiny_model: Path) -> None:
    answers = make_answers(("definition", "社会的发展"), ("short_answer", "国家和人民"), ("definition", ""))
    texts = ["社会的主要发展方法", "人民是国家的主人", "可以"]
    with closing(load_embedder(tiny_model)) as similarity:
        rows = score_answers(
            answers, make_references(answers, *([text] for text in texts)), "cgeval-paper", similarity
        )
        pairs = pl.DataFrame({"reference": texts, "response": answers["response"]})
        expected = score_pairs(pairs, "cgeval-paper", similarity)
        assert rows["similarity_model"].unique().to_list() == [similarity.identity]
    parts = ["bleu4", "rouge2", "chrf", "similarity", "gscore"]
    assert rows.select(parts).equals(expected.select(parts))
    # An empty answer has earned its 0; that is not the same as having none.
    assert rows["gscore"][2] == pytest.approx(0.0, abs=1e-12)
    check_contract(rows)


def test_what_was_not_answered_is_null_and_says_so() -> None:
    answers = make_answers(("definition", None), ("derivation", None))
    rows = score_answers(answers, make_references(answers, [TEXT], ["最终答案：1"]))
    numbers = ["bleu4", "rouge2", "chrf", "similarity", "accuracy", "step_chrf", "gscore", "answer_status"]
    assert rows.select(numbers).null_count().row(0) == (2,) * len(numbers)
    assert rows["similarity_note"].to_list() == [NO_RESPONSE_NOTE] * 2
    check_contract(rows)


def test_a_question_without_a_reference_has_no_row() -> None:
    answers = make_answers(("definition", TEXT), ("definition", TEXT))
    assert score_answers(answers, make_references(answers, [TEXT]))["seq"].to_list() == [1]
    assert score_answers(answers, make_references(answers)).is_empty()


def test_a_final_answer_is_no_reference_for_a_text() -> None:
    answers = make_answers(("definition", TEXT), ("derivation", "最终答案：7"))
    rows = score_answers(answers, make_references(answers, [None], [None], finals=[["7"], ["7"]]))
    assert rows["bleu4"].to_list() == [None, None]
    assert rows["accuracy"].to_list() == [None, 1.0]
    assert rows["similarity_note"].to_list() == [NO_REFERENCE_NOTE, CALCULATION_NOTE]


def test_of_several_references_the_best_counts_or_their_mean() -> None:
    answers = make_answers(("definition", TEXT), ("word_problem", "解：略\n最终答案：3千米"))
    references = make_references(answers, ["别的内容完全不同", TEXT], ["最终答案：3千米", "最终答案：5千米"])
    best = score_answers(answers, references, "standard", several="best")
    mean = score_answers(answers, references, "standard", several="mean")

    assert best.select("chrf", "accuracy", "expected_answer").rows() == [
        (1.0, None, None),
        (None, 1.0, "3千米"),
    ]
    assert mean["chrf"][0] == pytest.approx(0.5, abs=0.1)
    assert mean["accuracy"][1] == 0.5
    assert best.select("reference_count", "reference_mode").unique().rows() == [(2, "best")]
    assert mean.select("reference_count", "reference_mode").unique().rows() == [(2, "mean")]
    alone = score_answers(answers, make_references(answers, [TEXT]))
    assert alone.select("reference_count", "reference_mode").rows() == [(1, None)]
    check_contract(pl.concat([best, mean.with_columns(run_id=pl.lit("other"))]))


def test_a_wrong_calculation_gets_up_to_three_tenths_for_its_steps() -> None:
    answers = make_answers(("derivation", "先移项再化简\n最终答案：x=2"), ("arithmetic", "8"))
    rows = score_answers(
        answers, make_references(answers, ["先移项再化简\n最终答案：x=3"], ["7"]), "standard"
    )
    assert rows.select("accuracy", "step_chrf", "gscore").rows() == [
        (0.0, 1.0, pytest.approx(0.3)),
        (0.0, 0.0, 0.0),
    ]
    assert rows.select("answer", "standard_answer", "expected_answer").rows()[0] == ("x=2", "x=2", "x=3")


def test_progress_reaches_the_number_of_items() -> None:
    answers = make_answers(*((kind, TEXT) for kind in KINDS))
    seen: list[tuple[int, int]] = []
    score_answers(
        answers,
        make_references(answers, *([TEXT] for _ in KINDS)),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(2, 5), (5, 5)]
