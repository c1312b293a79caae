from __future__ import annotations

import json
from typing import Any

import pytest

from tasks.questions import Option, QuestionContent
from tasks.review.decisions.decision import Edit
from tests.tasks.review.conftest import make_question

CONTENT = QuestionContent.from_row(make_question(1))


def test_an_edit_is_stored_as_its_corrected_fields_alone() -> None:
    edit = Edit(
        sub_discipline=None,
        material="Some text",
        stem="Other ( )",
        options=(Option("A", "x"), Option("B", "y")),
        answer=("A",),
        emptied=frozenset({"sub_discipline"}),
    )
    stored = json.dumps(edit.as_row())
    assert stored == (
        '{"sub_discipline": null, "material": "Some text", "stem": "Other ( )", '
        '"options": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}], "answer": ["A"]}'
    )
    assert Edit.from_row(json.loads(stored)) == edit


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"explanation": None},
        {"options": []},
        {"answer": []},
        {"question_type": "short_answer", "answer": ["ten"]},
    ],
)
def test_a_stored_edit_comes_back_as_it_was(row: dict[str, Any]) -> None:
    edit = Edit.from_row(row)
    assert edit.as_row() == row
    assert edit.is_blank is (row == {})


def test_applying_changes_the_named_fields_and_no_other() -> None:
    corrected = Edit.from_row({"stem": "New.", "explanation": None, "options": []}).apply(CONTENT)
    assert corrected.as_row() == CONTENT.as_row() | {"stem": "New.", "explanation": None, "options": []}
    assert Edit().apply(CONTENT) == CONTENT
