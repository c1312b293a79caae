from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import ContractError
from schemas.questions import CONTENT, IDENTITY
from schemas.tables import get_table
from tasks.questions.forms.record import strip_questions
from tasks.questions.question import (
    ORIGINAL,
    BareQuestion,
    Option,
    Question,
    QuestionContent,
    read_options,
    write_options,
)
from tasks.questions.variants.variant import TEMPLATE, ReviewedQuestion, Variant, VariantOrigin, make_variant
from tests.tasks.bank.augment.conftest import make_accepted, make_frame

MADE = datetime(2026, 11, 30, tzinfo=UTC)
SECRETS = {"answer": ["SECRET-KEY"], "explanation": "SECRET-WHY", "discipline": "Law", "source_kind": "x"}
ROW: dict[str, Any] = {
    "question_uuid": "11111111-1111-5111-8111-111111111111",
    "revision": 2,
    "lineage_uuid": "22222222-2222-5222-8222-222222222222",
    "parent_uuid": "33333333-3333-5333-8333-333333333333",
    "question_type": "multiple_choice",
    "discipline": "Law",
    "sub_discipline": "Jurisprudence",
    "source_kind": "undergraduate_final",
    "language": "en",
    "stem": "Which holds? ( )",
    "material": "A text.",
    "options": [{"label": "A", "text": "this"}, {"label": "B", "text": "that"}],
    "answer": ["B"],
    "explanation": "It does.",
    "pictures": None,
}

TEXTS = st.text(max_size=20)
BARE = st.builds(
    BareQuestion,
    st.sampled_from(["multiple_choice", "essay"]),
    st.sampled_from(["zh", "en"]),
    TEXTS,
    st.none() | TEXTS,
    st.lists(st.builds(Option, TEXTS, TEXTS), max_size=4).map(tuple),
)
CONTENTS = st.builds(
    QuestionContent,
    BARE,
    st.lists(TEXTS, max_size=3).map(tuple),
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | TEXTS,
)


def test_a_question_is_its_row_and_its_row_the_question() -> None:
    question = Question.from_row({**ROW, "method": "paraphrase"})
    assert question.as_row() == ROW
    assert question.method == "paraphrase"
    assert not question.is_original


def test_the_rows_hold_the_columns_of_the_schema_and_no_other() -> None:
    question = Question.from_row(ROW)
    assert set(question.identity_row()) == {column.name for column in IDENTITY}
    assert set(question.content.as_row()) == {column.name for column in CONTENT}
    variant = make_variant(
        question,
        question.content,
        VariantOrigin(method="paraphrase", generator="m", prompt_version="1", made_at=MADE),
    )
    assert set(variant.as_row()) == {column.name for column in get_table("variants").own_columns}


@settings(deadline=None)
@given(CONTENTS)
def test_content_stored_as_json_is_read_back_as_it_was(content: QuestionContent) -> None:
    assert QuestionContent.from_row(json.loads(json.dumps(content.as_row()))) == content
    assert BareQuestion.from_row(json.loads(json.dumps(content.bare.as_row()))) == content.bare


def test_the_stored_form_of_a_bare_question_never_changes() -> None:
    bare = BareQuestion.from_row(ROW)
    assert json.dumps(bare.as_row()) == (
        '{"question_type": "multiple_choice", "language": "en", "stem": "Which holds? ( )", "material": "A text.", '
        '"options": [{"label": "A", "text": "this"}, {"label": "B", "text": "that"}]}'
    )


def test_a_bare_question_made_from_a_whole_row_leaves_every_secret_behind() -> None:
    assert "SECRET" not in json.dumps(BareQuestion.from_row({**ROW, **SECRETS}).as_row())


def test_neither_texts_nor_answers_show_in_a_printed_question() -> None:
    shown = repr(Question.from_row({**ROW, **SECRETS}))
    assert not any(word in shown for word in ("SECRET", "Which holds", "A text", "this"))


def test_null_lists_and_texts_are_empty_ones() -> None:
    row = {**ROW, "options": None, "answer": None, "stem": None}
    content = QuestionContent.from_row(row)
    assert (content.options, content.answer, content.stem) == ((), (), "")
    assert read_options([{"label": "A", "text": None}]) == (Option("A", ""),)  # type: ignore[dict-item]
    assert write_options(()) == []


def test_an_original_is_its_own_lineage() -> None:
    question = Question.from_row({**ROW, "lineage_uuid": ROW["question_uuid"], "parent_uuid": None})
    assert question.is_original
    assert question.method == ORIGINAL


def test_a_variant_names_its_parent_and_descends_from_the_same_original() -> None:
    parent = Question.from_row(ROW)
    content = QuestionContent(BareQuestion("true_false", "en", "It holds."), ("true",))
    variant = make_variant(
        parent,
        content,
        VariantOrigin(method="declarative_rewrite", generator=TEMPLATE, prompt_version="t/1", made_at=MADE),
        option_label="A",
    )
    question = variant.question
    assert (question.parent_uuid, question.lineage_uuid, question.revision) == (
        parent.question_uuid,
        parent.lineage_uuid,
        1,
    )
    assert Variant.from_row(variant.as_row()) == variant


def test_a_reviewed_question_is_read_from_the_row_that_the_gate_lands() -> None:
    row = make_accepted()
    (landed,) = make_frame(row).to_dicts()
    reviewed = ReviewedQuestion.from_row(landed)
    assert (reviewed.outcome, reviewed.accept_count, reviewed.batch_id, reviewed.document_id) == (
        "accepted",
        2,
        "b1",
        row["document_id"],
    )
    assert reviewed.decided_at == row["decided_at"]
    assert reviewed.question.is_original
    assert reviewed.content.answer == ("C",)


def test_strip_questions_returns_bare_ones_of_what_was_asked_for() -> None:
    bank = pl.DataFrame([ROW, {**ROW, "question_uuid": "other", "options": None, "material": None}])
    bare = strip_questions(bank, ["other"])
    assert bare == {"other": BareQuestion("multiple_choice", "en", "Which holds? ( )")}
    with pytest.raises(ContractError, match="1 drawn questions are not in the bank"):
        strip_questions(bank, ["other", "missing"])
