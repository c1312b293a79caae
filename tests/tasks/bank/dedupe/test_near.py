from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.bank.dedupe.index import read_texts
from tasks.bank.dedupe.likeness import list_near_pairs
from tasks.bank.dedupe.near import (
    NEGATION,
    NUMBER,
    compute_grams,
    compute_jaccard,
    compute_similarity,
    describe_alike,
    list_candidate_pairs,
    list_pairs_with_known,
)
from tasks.bank.dedupe.signatures import Sketches, compute_sketches, estimate_jaccards
from tasks.bank.dedupe.verify import compute_jaccards, verify_pairs
from tests.tasks.bank.augment.conftest import make_accepted, make_options
from tests.tasks.bank.dedupe.forms import read_text, sign

LONG = "The sixth level of a complete binary tree has eight leaves, counting the root as the first level; it has at most ( ) nodes."


def compare(left: dict[str, Any], right: dict[str, Any]) -> float | None:
    return compute_similarity(read_text(left), read_text(right), 0.8)


def sign_texts(texts: list[str], alike: list[str]) -> Sketches:
    """Sketches of questions without options."""
    none = pl.Series([[]] * len(texts), dtype=pl.List(pl.String))
    return compute_sketches(pl.Series(texts, dtype=pl.String), none, pl.Series(alike, dtype=pl.String))


def test_jaccard_is_that_of_the_definition() -> None:
    # abcd has abc, bcd; abce has abc, bce: one of three is shared.
    assert compute_jaccard(compute_grams("abcd"), compute_grams("abce")) == pytest.approx(1 / 3)
    assert compute_grams("ab") == {"ab"}
    assert compute_jaccard(compute_grams(""), compute_grams("")) == 1.0


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Explain the main consequences of the First World War for the peoples of Europe and their order.",
            "Explain the main consequences of the Second World War for the peoples of Europe and their order.",
        ),
        (
            "Explain what happens to the equilibrium price and quantity when demand increases and supply stays.",
            "Explain what happens to the equilibrium price and quantity when demand decreases and supply stays.",
        ),
        (
            "论述第一次世界大战后亚非拉民族解放运动兴起的原因、过程及其深远的历史意义和现实启示",
            "论述第二次世界大战后亚非拉民族解放运动兴起的原因、过程及其深远的历史意义和现实启示",
        ),
        (
            "Explain the main consequences of the long wars of the nineteenth century for the peoples of Europe, "
            "for the order of their states, and for the trade between them and their colonies overseas.",
            "Explain the main consequences of the long wars of the twentieth century for the peoples of Europe, "
            "for the order of their states, and for the trade between them and their colonies overseas.",
        ),
        (
            "论述二十世纪亚非拉民族解放运动兴起的原因、过程及其深远的历史意义和现实启示",
            "论述二十一世纪亚非拉民族解放运动兴起的原因、过程及其深远的历史意义和现实启示",
        ),
        (
            "简述在完全竞争市场中供给不变而需求增加时均衡价格与均衡数量将如何变化，并说明理由",
            "简述在完全竞争市场中供给不变而需求减少时均衡价格与均衡数量将如何变化，并说明理由",
        ),
    ],
)
def test_numbers_in_words_and_opposites_ask_something_else(one: str, other: str) -> None:
    rows = [make_accepted(stem, question_type="essay", options=[], answer=["x"]) for stem in (one, other)]
    left, right = (compute_grams(read_text(row).stem) for row in rows)
    assert compute_jaccard(left, right) >= 0.8
    assert compare(rows[0], rows[1]) is None


def test_answers_in_other_blanks_are_another_answer() -> None:
    stem = "The capital of France is called ____ by everybody, and that of Germany is called ____."
    rows = [
        make_accepted(begin + stem, question_type="fill_in_the_blank", options=[], answer=answer)
        for begin, answer in (
            ("", ["Paris", "Berlin"]),
            ("Note: ", ["Paris", "Berlin"]),
            ("", ["Berlin", "Paris"]),
        )
    ]
    assert compare(rows[0], rows[1]) is not None
    assert compare(rows[1], rows[2]) is None


def test_an_answer_that_one_source_does_not_give_contradicts_nothing() -> None:
    assert compare(make_accepted(LONG), make_accepted(LONG + " Choose.", answer=[])) is not None


def test_candidates_hold_the_copies_among_arrivals_and_beside_what_is_known() -> None:
    stems = [f"{place} " + LONG[place:] for place in range(0, 60, 20)] + [LONG, LONG + " Choose one."]
    bands = sign(*(make_accepted(stem) for stem in stems)).sketches.bands
    assert [3, 4] in list_candidate_pairs(bands).tolist()
    assert [0, 3] in list_pairs_with_known(bands[4:], bands[:4]).tolist()
    assert list_candidate_pairs(bands[:1]).tolist() == []
    assert list_pairs_with_known(bands[:1], bands[:0]).tolist() == []


def test_what_may_never_be_the_same_never_meets_in_a_band() -> None:
    bands = sign(
        *(
            make_accepted(stem)
            for stem in (LONG, LONG.replace("sixth", "7th"), LONG.replace("has at most", "never has at most"))
        )
    ).sketches.bands
    assert list_candidate_pairs(bands).tolist() == []


def test_numbers_and_negations_are_told_alike_in_python_and_in_polars() -> None:
    stems = (
        "This is not so.",
        "Notable, no?",
        "It isn't.",
        "下列不正确的是",
        "选项not对",
        "knot and nothing",
        "the second of 3.5 tens in 二十一世纪第一季 of twenty-first",
    )
    forms = sign(*(make_accepted(stem, question_type="short_answer", options=[]) for stem in stems)).forms
    told = [alike.split("|")[2] for alike in describe_alike(forms).to_list()]
    assert told == [" ".join(sorted(NEGATION.findall(text))) for text in forms["normal_text"]]
    assert told == ["not", "no", "n't", "不", "not", "", ""]
    told = [alike.split("|")[1] for alike in describe_alike(forms).to_list()]
    assert told == [" ".join(NUMBER.findall(text)) for text in forms["normal_text"]]
    assert told[-1] == "second 3.5 二十一 第一 twenty first"


def test_equal_values_estimate_the_jaccard() -> None:
    """The standard error of 80 values is 0.056 at most (Broder 1997); of 200 pairs a fifth."""
    words = [f"{place:03d}" for place in range(400)]
    texts = ["".join(words[start : start + 60]) for pair in range(200) for start in (pair, pair + 15)]
    sketches = sign_texts(texts, [""] * len(texts))
    pairs = np.arange(len(texts)).reshape(-1, 2)
    true = [
        compute_jaccard(compute_grams(left), compute_grams(right))
        for left, right in zip(texts[::2], texts[1::2], strict=True)
    ]
    found = estimate_jaccards(sketches.bytes, pairs)
    assert abs(float(np.mean(found - true))) < 0.02
    assert float(np.max(np.abs(found - true))) < 0.25


def test_an_empty_text_has_no_gram_and_is_signed_all_the_same() -> None:
    bands = sign_texts(["", "", "ab"], ["a", "a", "a"]).bands
    assert bands[0].tolist() == bands[1].tolist() != bands[2].tolist()


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            *[st.text(st.sampled_from("ab中\x00") | st.characters(exclude_categories=["Cs"]), max_size=12)]
            * 2
        )
    )
)
def test_the_jaccards_of_many_pairs_are_those_of_each_pair_by_itself(texts: list[tuple[str, str]]) -> None:
    flat = pl.Series([text for pair in texts for text in pair], dtype=pl.String)
    places = np.arange(len(flat)).reshape(-1, 2)
    assert compute_jaccards(flat, places).tolist() == [
        compute_jaccard(compute_grams(one), compute_grams(other)) for one, other in texts
    ]


def test_pairs_are_verified_as_the_definition_says() -> None:
    rows = [
        make_accepted(LONG),
        make_accepted(LONG + " Choose."),
        make_accepted(LONG, answer=["A"]),
        make_accepted(LONG + " Choose.", answer=[]),
        make_accepted(LONG, options=make_options("apples", "pears", "plums", "figs")),
        make_accepted(LONG.replace("sixth level", "7th level")),
        make_accepted(LONG.replace("has at most", "never has at most")),
        make_accepted(LONG, question_type="true_false", options=[], answer=["true"]),
        make_accepted(LONG + " Tell.", question_type="true_false", options=[], answer=["true"]),
        make_accepted(LONG + " Tell.", question_type="true_false", options=[], answer=["false"]),
        make_accepted(LONG[:60]),
    ]
    forms = sign(*rows).forms
    texts = list(read_texts(forms))
    pairs = [(one, other) for one in range(len(rows)) for other in range(one)]
    told = {(one, other): compute_similarity(texts[one], texts[other], 0.8) for one, other in pairs}
    found = verify_pairs(np.array(pairs), forms, forms, 0.8)
    assert {(one, other): similarity for one, other, similarity in found} == {
        pair: similarity for pair, similarity in told.items() if similarity is not None
    }
    assert sum(similarity is not None for similarity in told.values()) == 5


@settings(deadline=None)
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
    from tasks.bank.dedupe.near import asks_the_same
    from tests.benchmarks.duplicate_truth import THRESHOLD, join_exactly, plant_copies, read_rows

    rows = read_rows(2_000)
    signatures = sign(*rows, *plant_copies(rows, 200))
    texts = list(read_texts(signatures.forms))
    truth = {pair for pair in join_exactly(texts) if asks_the_same(texts[pair[0]], texts[pair[1]], THRESHOLD)}
    found = {(left, right) for left, right, _ in list_near_pairs(signatures, range(len(texts)), THRESHOLD)}
    assert len(truth) > 150
    assert found <= truth
    assert len(found) / len(truth) >= 0.995
