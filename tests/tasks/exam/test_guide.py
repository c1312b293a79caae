"""Candidates are told how a session is put and graded, and learn nothing of a key."""

from __future__ import annotations

import pytest

from schemas.errors import ContractError
from schemas.vocabulary import LANGUAGES, PROMPT_STYLES, QUESTION_TYPES
from tasks.exam.guide import GRADING, describe_session, describe_task
from tasks.questions import BareQuestion
from tasks.questions.forms import EXAMPLES, render_prompt


def test_every_type_has_its_grading_in_both_languages() -> None:
    assert {language: set(types) for language, types in GRADING.items()} == {
        language: set(QUESTION_TYPES) for language in LANGUAGES
    }


@pytest.mark.parametrize("style", PROMPT_STYLES)
def test_a_few_shot_session_carries_the_examples_that_are_put_in_house(style: str) -> None:
    guide = describe_session(style)
    assert set(guide["style"]) == set(LANGUAGES)  # type: ignore[call-overload]
    if style != "few_shot":
        assert guide["examples"] == {}
        return
    for language in LANGUAGES:
        examples = guide["examples"][language]  # type: ignore[index]
        assert [tuple(one.values()) for one in examples] == list(EXAMPLES[language])
        prompt = render_prompt(BareQuestion("essay", language, "…"), style)[0][-1]["content"]
        assert all(one["question"] in prompt and one["answer"] in prompt for one in examples)


def test_a_task_follows_from_type_and_language_alone() -> None:
    task = describe_task(BareQuestion("calculation", "zh", "题"))
    assert task == describe_task(BareQuestion("calculation", "zh", "另一题"))
    assert "步骤" in task["instruction"] and "步骤" in task["grading"]
    with pytest.raises(ContractError, match="no prompt style"):
        describe_session("many_shot")
