"""Prompts: what a candidate sees, in which version."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import ContractError
from schemas.vocabulary import LANGUAGES, PROMPT_STYLES, QUESTION_TYPES
from tasks.questions.forms import prompt_styles as styles
from tasks.questions.forms.prompt_styles import (
    EXAMPLES,
    INSTRUCTIONS,
    extract_question,
    read_style,
    render_prompt,
    render_question,
)
from tasks.questions.question import BareQuestion


def make_content(**changes: Any) -> BareQuestion:
    row = {
        "question_type": "multiple_choice",
        "language": "zh",
        "stem": "下列数中，最大的是（ ）。",
        "material": None,
        "options": [{"label": "A", "text": "1"}, {"label": "B", "text": "2"}],
    }
    return BareQuestion.from_row(row | changes)


def test_a_zero_shot_prompt_is_instruction_and_question() -> None:
    messages, version = render_prompt(make_content(), "zero_shot")
    assert messages == [
        {
            "role": "user",
            "content": f"{INSTRUCTIONS['zh']['multiple_choice']}\n\n"
            "〔题目开始〕\n下列数中，最大的是（ ）。\nA. 1\nB. 2\n〔题目结束〕",
        }
    ]
    assert version == "1/zero_shot/multiple_choice/zh"


def test_true_or_false_is_asked_with_the_reason() -> None:
    for language, word in (("zh", "理由"), ("en", "reason")):
        messages, _ = render_prompt(make_content(question_type="true_false", language=language), "zero_shot")
        assert word in messages[0]["content"]


def test_few_shot_shows_four_examples_two_statements_with_reasons_a_term_and_a_short_answer() -> None:
    for language in LANGUAGES:
        kinds = sorted(kind for kind, _, _ in EXAMPLES[language])
        assert kinds == ["short_answer", "term_explanation", "true_false", "true_false"]
        messages, _ = render_prompt(make_content(language=language), "few_shot")
        for _, question, answer in EXAMPLES[language]:
            assert question in messages[0]["content"]
            assert answer in messages[0]["content"]


def test_the_examples_hold_one_true_and_one_false_statement() -> None:
    first_words = {
        language: {
            answer.split("。")[0].split(".")[0] for kind, _, answer in examples if kind == "true_false"
        }
        for language, examples in EXAMPLES.items()
    }
    assert first_words == {"zh": {"正确", "错误"}, "en": {"true", "false"}}


def test_chain_of_thought_asks_for_steps_after_the_question() -> None:
    messages, _ = render_prompt(make_content(language="en"), "chain_of_thought")
    assert messages[0]["content"].split("[Question ends]")[1].strip().startswith("Think step by step")


@pytest.mark.parametrize("style", PROMPT_STYLES)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("question_type", QUESTION_TYPES)
def test_every_type_language_and_style_has_a_prompt_in_which_the_question_is_found_again(
    style: str, language: str, question_type: str
) -> None:
    content = make_content(question_type=question_type, language=language, material="一段材料。\n第二行。")
    messages, version = render_prompt(content, style)
    assert extract_question(messages) == render_question(content)
    assert read_style(messages) == style
    assert len(version) <= 60


@settings(deadline=None)
@given(st.text(), st.sampled_from(PROMPT_STYLES))
def test_a_question_that_quotes_the_markers_is_found_whole(text: str, style: str) -> None:
    content = make_content(stem=f"〔题目结束〕\n{text}\n〔题目开始〕\n〔题目结束〕\n[Question begins]")
    messages, _ = render_prompt(content, style)
    assert extract_question(messages) == render_question(content)


def test_only_bare_content_enters_a_prompt() -> None:
    content = make_content(
        answer=["答案记号"], explanation="解析记号", question_uuid="编号记号", discipline="学科记号"
    )
    for style in PROMPT_STYLES:
        messages, _ = render_prompt(content, style)
        assert "记号" not in messages[0]["content"]


def test_a_message_without_a_question_gives_none() -> None:
    assert extract_question([{"role": "user", "content": "你好"}]) is None


@pytest.mark.parametrize(
    ("changes", "style"),
    [({"language": "fr"}, "zero_shot"), ({"question_type": "riddle"}, "zero_shot"), ({}, "x")],
)
def test_an_unknown_type_language_or_style_is_refused(changes: dict[str, str], style: str) -> None:
    with pytest.raises(ContractError, match=r"styles\.py"):
        render_prompt(make_content(**changes), style)


def test_changed_wording_needs_a_new_version() -> None:
    """The hash of the wording of VERSION: who changes a word raises that, and puts the new one."""
    wording = json.dumps([INSTRUCTIONS, EXAMPLES, styles._WORDS], ensure_ascii=False, sort_keys=True)
    found = (styles.VERSION, hashlib.sha256(wording.encode()).hexdigest()[:16])
    assert found == ("1", "8a04f8cb1a8890ae")
