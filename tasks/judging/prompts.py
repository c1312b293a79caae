"""How a judge is asked for stars (LLMEval-Fair, figure 11) of a response by its reference.

The scale is the method, the wording is ours. What comes from the candidate stands between lines that carry a tag made
from its own content: a response cannot close its section, nor open another, without knowing the tag beforehand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from schemas import patterns as re
from schemas.errors import ContractError
from tasks.questions import QuestionContent
from tasks.questions.forms import INSTRUCTIONS, Messages, render_question
from tasks.texts import read_texts

# Recorded with every judgement: a changed word here or in prompts.yaml needs a new version (a test compares).
VERSION = "1"

_WORDING: Final[dict[str, Any]] = read_texts("tasks.judging", "prompts.yaml")
PROMPTS: Final[dict[str, str]] = _WORDING["prompts"]
SECTIONED: Final[dict[str, str]] = _WORDING["sectioned"]

TRUTH = {"zh": {"true": "正确", "false": "错误"}, "en": {"true": "true", "false": "false"}}
EXPLANATION = {"zh": "解析：", "en": "Explanation: "}
NONE = {
    "zh": "（本题没有参考答案，请依据专业知识评判。）",
    "en": "(None is given: judge by the subject's knowledge.)",
}

# What a judge's reply is held to where its endpoint can; the tolerant parser reads it all the same.
REPLY_SCHEMA: dict[str, object] = {
    "type": "json_schema",
    "json_schema": {
        "name": "judgement",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"stars": {"type": "integer", "enum": [0, 1, 2, 3]}, "reason": {"type": "string"}},
            "required": ["stars", "reason"],
            "additionalProperties": False,
        },
    },
}

_SECTIONS = re.compile(
    r"^=== (?:题目|Question) (?P<tag>[0-9a-f]{12}) ===\n(?P<question>.*?)"
    r"^=== (?:作答|Response) (?P=tag) ===\n(?P<response>.*?)"
    r"^=== (?:参考答案|Reference answer) (?P=tag) ===\n(?P<reference>.*?)"
    r"^=== (?:完|End) (?P=tag) ===$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class JudgedParts:
    """What stands in a judge's prompt."""

    question: str
    response: str
    reference: str


def render_judging_prompt(question: QuestionContent, response: str) -> tuple[Messages, str]:
    """The messages that ask a judge for stars, and the version of their wording."""
    sections = render_sections(question, response)
    text = PROMPTS[question.language].format(sections=sections)
    return [{"role": "user", "content": text}], f"{VERSION}/{question.language}"


def render_sections(question: QuestionContent, response: str) -> str:
    """What is judged, section by section; raises ContractError for an unknown type or language."""
    language, question_type = question.language, question.question_type
    try:
        template, instruction = SECTIONED[language], INSTRUCTIONS[language][question_type]
    except KeyError:
        raise ContractError(
            f"There is no judging prompt for question type {question_type!r} in language {language!r}; "
            "tasks/judging/prompts.py holds them."
        ) from None
    asked = render_question(question.bare)
    reference = render_reference(question)
    digest = hashlib.sha256("\0".join((asked, response, reference)).encode("utf-8", "surrogatepass"))
    return template.format(
        tag=digest.hexdigest()[:12],
        instruction=instruction,
        question=asked,
        response=response,
        reference=reference,
    )


def render_reference(question: QuestionContent) -> str:
    """The reference answer in words: labels with their texts, truth in the question's language."""
    language = question.language
    if question.question_type == "true_false":
        words = [TRUTH[language].get(value, value) for value in question.answer]
    elif question.question_type == "multiple_choice":
        texts = {option.label: option.text for option in question.options}
        words = [f"{label}. {texts[label]}" if label in texts else label for label in question.answer]
    else:
        words = list(question.answer)
    lines = words or [NONE[language]]
    if question.explanation and question.explanation.strip():
        lines = [*lines, EXPLANATION[language] + question.explanation.strip()]
    return "\n".join(lines)


def extract_judged(messages: Sequence[Mapping[str, str]]) -> JudgedParts | None:
    """Question, response and reference inside a judge's prompt; null when there are none."""
    for message in reversed(messages):
        match = _SECTIONS.search(message["content"])
        if match is not None:
            return JudgedParts(
                *(match.group(name).removesuffix("\n") for name in ("question", "response", "reference"))
            )
    return None
