from __future__ import annotations

import pytest

from tasks.questions import QuestionContent
from tasks.review.decisions.decision import GivenDecision
from tasks.review.decisions.faults import MOST_COMMENT_CHARACTERS, Fault, find_faults, find_shape_faults
from tests.tasks.review.conftest import give, make_question

CONTENT = QuestionContent.from_row(make_question(1))


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"language": "zh"}, Fault("language", "this field cannot be corrected")),
        ({"stem": None}, Fault("stem", "it must be text")),
        ({"material": 3}, Fault("material", "it must be text")),
        ({"options": "A. x"}, Fault("options", "they must be a list of label and text")),
        ({"options": [{"label": "A"}]}, Fault("options", "they must be a list of label and text")),
        ({"answer": "A"}, Fault("answer", "it must be a list of texts")),
        ({"answer": [1]}, Fault("answer", "it must be a list of texts")),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_corrections_without_the_types_of_the_contract_are_named(
    fields: dict[str, object], fault: Fault
) -> None:
    assert find_shape_faults(fields) == [fault]


def test_corrections_with_the_types_of_the_contract_pass() -> None:
    fields = {"stem": "x", "explanation": None, "options": [{"label": "A", "text": "x"}], "answer": ["A"]}
    assert find_shape_faults(fields) == []


def test_a_correction_that_leaves_the_key_out_of_the_options_is_a_fault() -> None:
    options = [{"label": "A", "text": "ten"}]
    faults = find_faults(CONTENT, give("q", "edit", options=options))
    assert {fault.field for fault in faults} == {"options", "answer"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"question_type": "essay", "answer": ["Because."]}, "options"),
        ({"question_type": "fill_in_the_blank", "options": [], "answer": ["1", "2"]}, "answer"),
    ],
)
def test_a_correction_that_the_bank_would_leave_out_is_a_fault(fields: dict[str, object], field: str) -> None:
    assert [fault.field for fault in find_faults(CONTENT, give("q", "edit", **fields))] == [field]


def test_a_pasted_book_is_no_comment() -> None:
    given = GivenDecision("q", "accept", comment="x" * (MOST_COMMENT_CHARACTERS + 1))
    assert [fault.field for fault in find_faults(CONTENT, given)] == ["comment"]


def test_corrections_beside_an_accept_are_a_fault() -> None:
    assert [fault.message for fault in find_faults(CONTENT, give("q", "accept", stem="x"))] == [
        "there are corrections, but the decision is accept; choose edit"
    ]
