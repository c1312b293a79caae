from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.dedupe.exact import NormalForm, compute_content_key, normalise_content
from tasks.dedupe.near import (
    build_text,
    compute_grams,
    compute_jaccard,
    compute_similarity,
    list_candidate_pairs,
)
from tasks.questions.question import QuestionContent
from tests.tasks.augment.conftest import make_accepted, make_options

LONG = "The sixth level of a complete binary tree has eight leaves, counting the root as the first level; it has at most ( ) nodes."


def normalise(row: dict[str, Any]) -> NormalForm:
    return normalise_content(QuestionContent.from_row(row))


def compare(left: dict[str, Any], right: dict[str, Any]) -> float | None:
    return compute_similarity(build_text(normalise(left)), build_text(normalise(right)), 0.8)


def test_jaccard_is_that_of_the_definition() -> None:
    # abcd has abc, bcd; abce has abc, bce: one of three is shared.
    assert compute_jaccard(compute_grams("abcd"), compute_grams("abce")) == pytest.approx(1 / 3)
    assert compute_grams("ab") == {"ab"}
    assert compute_jaccard(compute_grams(""), compute_grams("")) == 1.0


def test_width_spacing_quotes_and_stops_make_no_difference() -> None:
    left = make_accepted("“光合作用”发生在( )。", options=make_options("叶绿体", "线粒体"), answer=["A"])
    right = make_accepted('"光合作用" 发生在（　）', options=make_options("叶绿体 ", "线粒体"), answer=["A"])
    assert compute_content_key(normalise(left)) == compute_content_key(normalise(right))


def test_options_in_another_order_make_the_same_content() -> None:
    left = make_accepted(LONG, options=make_options("39", "111"), answer=["B"])
    right = make_accepted(LONG, options=make_options("111", "39"), answer=["A"])
    assert compute_content_key(normalise(left)) == compute_content_key(normalise(right))


def test_a_small_difference_in_a_long_stem_is_a_near_duplicate() -> None:
    similarity = compare(make_accepted(LONG), make_accepted("Note: " + LONG.replace("leaves,", "leaves")))
    assert similarity is not None
    assert 0.8 <= similarity < 1


@pytest.mark.parametrize(
    "changes",
    [
        {"options": make_options("apples", "pears", "plums", "figs")},
        {"answer": ["A"]},
        {"stem": LONG.replace("sixth level", "7th level")},
        {"stem": LONG.replace("has at most", "never has at most")},
        {"question_type": "true_false", "options": [], "answer": ["true"]},
        {"options": make_options("39", "52", "111")},
    ],
    ids=["other options", "other key", "other number", "negated", "other type", "fewer options"],
)
def test_what_asks_something_else_is_no_near_duplicate(changes: dict[str, Any]) -> None:
    assert compare(make_accepted(LONG), make_accepted(**({"stem": LONG} | changes))) is None


def test_an_answer_that_one_source_does_not_give_contradicts_nothing() -> None:
    assert compare(make_accepted(LONG), make_accepted(LONG + " Choose.", answer=[])) is not None


def test_candidates_hold_the_copies_and_respect_what_is_new() -> None:
    stems = [f"{place} " + LONG[place:] for place in range(0, 60, 20)] + [LONG, LONG + " Choose one."]
    texts = [build_text(normalise(make_accepted(stem))) for stem in stems]
    assert (3, 4) in set(list_candidate_pairs(texts))
    assert (3, 4) in set(list_candidate_pairs(texts, [False, False, False, False, True]))
    assert (3, 4) not in set(list_candidate_pairs(texts, [True, False, False, False, False]))
    assert list(list_candidate_pairs(texts[:1])) == []


@given(st.text(max_size=40), st.text(max_size=40))
def test_jaccard_is_symmetric_and_within_0_and_1(left: str, right: str) -> None:
    forth = compute_jaccard(compute_grams(left), compute_grams(right))
    assert forth == compute_jaccard(compute_grams(right), compute_grams(left))
    assert 0 <= forth <= 1
    assert compute_jaccard(compute_grams(left), compute_grams(left)) == 1


SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))


@pytest.mark.skipif(
    not (SHARED / "bank" / "question_bank.parquet").exists(),
    reason="needs ../shared/data/bank (or PROCTOR_SHARED_DATA), which is not part of the project",
)
def test_near_duplicates_of_real_questions_are_found_and_real() -> None:
    from tasks.dedupe.near import asks_the_same
    from tests.benchmarks.dedupe_speed import THRESHOLD, join_exactly, plant_copies, read_rows

    rows = read_rows(2_000)
    planted = plant_copies(rows, 200)
    texts = [build_text(normalise(row)) for row in [*rows, *planted]]
    truth = {pair for pair in join_exactly(texts) if asks_the_same(texts[pair[0]], texts[pair[1]], THRESHOLD)}
    found = {
        pair
        for pair in list_candidate_pairs(texts)
        if compute_similarity(texts[pair[0]], texts[pair[1]], THRESHOLD) is not None
    }
    assert len(truth) > 150
    assert found <= truth
    assert len(found) / len(truth) >= 0.99
