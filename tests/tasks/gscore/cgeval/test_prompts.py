from __future__ import annotations

import pytest

from schemas.errors import UsageError
from schemas.vocabulary import QUESTION_TYPES
from tasks.gscore.calculation.final_answer import parse_final_answer
from tasks.gscore.cgeval.prompts import (
    KIND_BY_QUESTION_TYPE,
    QUESTION_KINDS,
    QuestionKind,
    compute_reference_length,
    render_prompt,
)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("kind", QUESTION_KINDS)
def test_every_prompt_states_subject_question_and_form_and_not_the_reference(
    kind: QuestionKind, language: str
) -> None:
    prompt = render_prompt(kind, language, "法理学", "何谓 $法$？{x}", "国家制定的 规则。")
    assert "法理学" in prompt and "何谓 $法$？{x}" in prompt
    assert "国家制定" not in prompt
    assert ("8个字" in prompt or "8 characters" in prompt) is (kind in ("definition", "short_answer"))


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("kind", ["word_problem", "derivation"])
def test_the_marker_that_a_prompt_asks_for_is_the_one_that_is_looked_for(
    kind: QuestionKind, language: str
) -> None:
    prompt = render_prompt(kind, language, "数学", "1+1")
    marker = "最终答案：" if language == "zh" else "Final answer:"
    assert marker in prompt
    assert parse_final_answer(f"步骤\n{marker} 2")[:2] == ("2", "final_answer_marker")


def test_the_length_counts_punctuation_and_not_white_space() -> None:
    assert (
        compute_reference_length("政策沟通、设施联通、贸易畅通、资金融通、民心相通。") == 25
    )  # as table 9 tells it
    assert compute_reference_length(" a b\n") == 2


def test_the_types_of_the_bank_that_need_a_gscore_have_a_prompt() -> None:
    assert set(KIND_BY_QUESTION_TYPE) <= set(QUESTION_TYPES)
    assert set(KIND_BY_QUESTION_TYPE.values()) <= set(QUESTION_KINDS)


def test_unknown_languages_and_definitions_without_reference_are_refused() -> None:
    with pytest.raises(UsageError, match="in zh or en"):
        render_prompt("definition", "fr", "droit", "loi", "règle")
    with pytest.raises(UsageError, match="no reference answer"):
        render_prompt("short_answer", "zh", "法", "何谓法", " ")
