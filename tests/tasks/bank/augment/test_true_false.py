from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.tables import get_table
from tasks.bank.augment.permutation import make_permuted_variant
from tasks.bank.augment.true_false import augment_questions
from tasks.bank.augment.wording import PROMPT_VERSION, refers_to_other_options
from tasks.questions import BareQuestion, Question
from tasks.questions.identity import compute_question_uuid
from tasks.questions.variants import Variant
from tests.tasks.bank.augment.conftest import DECIDED, NOW, make_accepted, make_frame, make_options


def test_four_options_give_four_variants_of_which_one_is_true() -> None:
    parent = make_accepted()
    variants, broken = augment_questions(make_frame(parent), unit="b1", now=NOW)
    assert broken.is_empty()
    assert variants.select("option_label", "answer").rows() == [
        ("A", ["false"]),
        ("B", ["false"]),
        ("C", ["true"]),
        ("D", ["false"]),
    ]
    assert variants["stem"][2] == (
        "A tree with 8 leaves has at most ( ) nodes.\nWould the blank above be filled in correctly with “111”?"
    )


def test_a_variant_inherits_its_parents_lineage_and_metadata_and_has_its_own_uuid() -> None:
    parent = make_accepted(language="zh", stem="满二叉树的结点数是（ ）。", material="设有一棵二叉树。")
    variants, _ = augment_questions(make_frame(parent), unit="b1", now=NOW)
    row = variants.row(0, named=True)
    assert row == {
        "question_uuid": row["question_uuid"],
        "revision": 1,
        "lineage_uuid": parent["lineage_uuid"],
        "parent_uuid": parent["question_uuid"],
        "method": "multiple_choice_to_true_false",
        "option_label": "A",
        "generator": "template",
        "prompt_version": PROMPT_VERSION,
        "support": None,
        "question_type": "true_false",
        "discipline": "Engineering",
        "sub_discipline": "Computer Science",
        "source_kind": "undergraduate_final",
        "language": "zh",
        "stem": "满二叉树的结点数是（ ）。\n上文空缺处若填“39”，是否正确？",
        "material": "设有一棵二叉树。",
        "options": [],
        "answer": ["false"],
        "explanation": "Count the level above.",
        "pictures": None,
        "created_at": DECIDED,
    }
    assert len({*variants["question_uuid"], parent["question_uuid"]}) == 5


def test_a_question_with_several_keys_gives_several_trues_and_says_that_there_may_be_several() -> None:
    variants, _ = augment_questions(make_frame(make_accepted(answer=["A", "C"])), unit="b1", now=NOW)
    assert variants["answer"].to_list() == [["true"], ["false"], ["true"], ["false"]]
    assert variants["stem"].str.contains("one of the right ones").all()


def test_a_stem_without_a_blank_is_asked_as_a_question() -> None:
    variants, _ = augment_questions(make_frame(make_accepted("Which is prime?")), unit="b1", now=NOW)
    assert variants["stem"][0] == "Which is prime?\nWould “39” be a correct answer to the question above?"


@pytest.mark.parametrize(
    ("stem", "language", "asked"),
    [
        ("The capital of France is", "en", "Would the sentence above be completed correctly with “39”?"),
        ("下列属于质数的是", "zh", "上面的话若以“39”补充完整，是否正确？"),
        ("Find the prime", "en", "Would “39” be a correct answer to the question above?"),
        ("太极拳由谁所创", "zh", "以“39”回答上面的问题，是否正确？"),
        ("They met in May. What did they do?", "en", "Would “39” be a correct answer to the question above?"),
    ],
)
def test_a_stem_that_its_options_continue_is_completed_and_a_question_is_answered(
    stem: str, language: str, asked: str
) -> None:
    parent = make_accepted(stem, language=language)
    variants, _ = augment_questions(make_frame(parent), unit="b1", now=NOW)
    assert variants["stem"][0] == f"{stem}\n{asked}"


@settings(deadline=None, max_examples=20)
@given(
    st.lists(
        st.tuples(
            st.text(alphabet="aZ9 _()（）[]?？.。“”：、汉\u0301\u3000ﬁ…", min_size=1, max_size=16),
            st.lists(st.text(alphabet="aZ9 _()？。“”汉\u0301\u3000½", max_size=8), min_size=2, max_size=3),
        ),
        min_size=5,
        max_size=10,
    )
)
def test_a_stem_folded_once_gives_the_uuid_of_each_whole_text(asked: list[tuple[str, list[str]]]) -> None:
    # Several at once: a frame costs more than its rows.
    parents = [make_accepted(stem, options=make_options(*texts), answer=["A"]) for stem, texts in asked]
    variants, _ = augment_questions(make_frame(*parents), unit="b1", now=NOW)
    for row in variants.iter_rows(named=True):
        assert row["question_uuid"] == compute_question_uuid(BareQuestion.from_row(row))


def test_a_variant_makes_no_variants() -> None:
    variant = make_accepted(lineage_uuid="0b8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c10")
    variants, broken = augment_questions(make_frame(variant), unit="b1", now=NOW)
    assert variants.is_empty()
    assert broken.is_empty()


def test_making_variants_again_gives_the_same_rows() -> None:
    from datetime import timedelta

    frame = make_frame(make_accepted())
    first, _ = augment_questions(frame, unit="b1", now=NOW)
    later, _ = augment_questions(frame, unit="b1", now=NOW + timedelta(days=9))
    assert first.equals(later)


def test_an_option_that_refers_to_the_others_gets_no_variant() -> None:
    parent = make_accepted(options=make_options("39", "52", "111", "None of the above"))
    variants, broken = augment_questions(make_frame(parent), unit="b1", now=NOW)
    assert variants["option_label"].to_list() == ["A", "B", "C"]
    assert broken.is_empty()


def test_a_key_that_refers_to_the_others_sends_the_question_to_quarantine_by_name() -> None:
    parent = make_accepted(options=make_options("39", "52", "111", "以上都不对"), answer=["D"])
    variants, broken = augment_questions(make_frame(parent), unit="b1", now=NOW)
    assert variants.is_empty()
    row = broken.row(0, named=True)
    assert (row["rule"], row["unit"], row["stage"]) == (
        "key_does_not_refer_to_other_options",
        "b1",
        "augment",
    )
    assert json.loads(row["row_key"]) == {"question_uuid": parent["question_uuid"], "revision": 1}
    assert json.loads(row["row_json"])["answer"] == ["D"]


def test_a_broken_question_makes_no_variants_and_names_every_rule_in_the_shape_of_the_quarantine() -> None:
    parent = make_accepted(options=make_options("x", " ", "x"), answer=["E"])
    variants, broken = augment_questions(make_frame(parent), unit="b1", now=NOW)
    assert variants.is_empty()
    assert broken["rule"].to_list() == [
        "option_texts_are_not_empty",
        "option_texts_are_distinct",
        "key_is_among_labels",
    ]
    assert broken.columns == [column.name for column in get_table("quarantine").own_columns]


def test_questions_of_other_types_stay_as_they_are() -> None:
    essay = make_accepted("Discuss.", question_type="essay", options=[], answer=["A view."])
    variants, broken = augment_questions(make_frame(essay), unit="b1", now=NOW)
    assert variants.is_empty()
    assert broken.is_empty()


@pytest.mark.parametrize(
    "text",
    [
        "All of the above",
        "none of these.",
        "Both A and B",
        "neither a nor b",
        "A and C",
        "A、C",
        "以上都是",
        "以上说法均不正确。",
        "A和B都对",
        "都不对",
        "其他选项都不是",
        "Either of these",
    ],
)
def test_options_about_other_options_are_recognised(text: str) -> None:
    assert refers_to_other_options(text)


@pytest.mark.parametrize(
    "text",
    [
        "Core",
        "none",
        "Neither",
        "C、B、E、D",
        "a+b",
        "A",
        "上述物质都会增多",
        "All metals conduct electricity",
        "Vitamins A and C are soluble",
        "其他三种元素均可形成化合物",
        "两个以上的代表大会代表",
        "以上海为中心",
    ],
)
def test_options_that_stand_for_themselves_are_left_alone(text: str) -> None:
    assert not refers_to_other_options(text)


@settings(deadline=None)
@given(
    st.integers(2, 8).flatmap(
        lambda count: st.tuples(st.just(count), st.sets(st.integers(0, count - 1), min_size=1))
    )
)
def test_as_many_variants_as_options_and_as_many_trues_as_keys(shape: tuple[int, set[int]]) -> None:
    count, keys = shape
    parent = make_accepted(
        options=make_options(*(f"value {place}" for place in range(count))),
        answer=[chr(65 + place) for place in sorted(keys)],
    )
    variants, _ = augment_questions(make_frame(parent), unit="b1", now=NOW)
    assert variants["question_uuid"].n_unique() == count
    assert [
        label for label, answer in variants.select("option_label", "answer").rows() if answer == ["true"]
    ] == parent["answer"]


def permute(row: dict[str, Any]) -> Variant | None:
    return make_permuted_variant(Question.from_row(row), NOW)


def test_permuted_options_keep_the_text_of_the_key() -> None:
    parent = Question.from_row(make_accepted())
    variant = make_permuted_variant(parent, NOW)
    assert variant is not None
    texts = {option.label: option.text for option in variant.content.options}
    assert [texts[key] for key in variant.content.answer] == ["111"]
    assert sorted(texts.values()) == sorted(option.text for option in parent.content.options)
    assert variant.content.options != parent.content.options
    assert variant.question.question_uuid != parent.question_uuid
    assert make_permuted_variant(parent, NOW) == variant


def test_options_whose_order_matters_are_not_permuted() -> None:
    assert permute(make_accepted(options=make_options("1", "2", "all of the above"))) is None
    assert permute(make_accepted("Does B follow from C?")) is None
    assert permute(make_accepted("x", question_type="essay", options=[])) is None


def test_an_explanation_that_names_a_letter_is_left_out_of_a_permutation() -> None:
    named = permute(make_accepted(explanation="故选C。"))
    plain = permute(make_accepted())
    assert named is not None
    assert plain is not None
    assert (named.content.explanation, plain.content.explanation) == (None, "Count the level above.")
