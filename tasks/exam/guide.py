"""What candidates are told about a session.

The grading is the judges' rubric as far as candidates may know it (tasks/judging/prompts.py): the meaning of the stars, and
what counts as the answer itself for each type of question. Nothing here depends on a question's key.
"""

from __future__ import annotations

from typing import Any, Final

from schemas.errors import ContractError
from schemas.vocabulary import LANGUAGES
from tasks.questions import BareQuestion
from tasks.questions.forms import EXAMPLES, INSTRUCTIONS
from tasks.texts import read_texts

_WORDING: Final[dict[str, Any]] = read_texts("tasks.exam", "guide.yaml")
STYLES: Final[dict[str, dict[str, str]]] = _WORDING["styles"]

STARS: Final[dict[str, str]] = {
    "zh": "每题 0 至 3 星：0 星，答案和解释都不成立；1 星，答案错误，解释有一部分合理；2 星，答案正确，解释只有一部分合理；"
    "3 星，答案正确，解释合理。意思相同而说法不同的算正确。没有作答或拒绝作答记 0 星。",
    "en": "Every question gets 0 to 3 stars. 0: answer and explanation are wrong; 1: the answer is wrong, part of the explanation "
    "is reasonable; 2: the answer is correct, only part of the explanation is reasonable; 3: both are right. Other words of the "
    "same meaning are correct. No answer, or a refusal, gets 0.",
}

GRADING: Final[dict[str, dict[str, str]]] = _WORDING["grading"]


def describe_session(style: str) -> dict[str, object]:
    """The guide of a session: its style in words, worked examples and grading, each by language.

    There are worked examples for few-shot only. Raises ContractError for an unknown style.
    """
    if style not in STYLES:
        raise ContractError(f"There is no prompt style {style!r}; tasks/exam/guide.py describes them.")
    examples = {
        language: [
            {"question_type": question_type, "question": question, "answer": answer}
            for question_type, question, answer in EXAMPLES[language]
        ]
        for language in LANGUAGES
        if style == "few_shot"
    }
    return {
        "prompt_style": style,
        "style": STYLES[style],
        "examples": examples,
        "stars": STARS,
        "grading": GRADING,
    }


def describe_task(bare: BareQuestion) -> dict[str, str]:
    """What is asked of an answer to a question and how it is graded, in the question's language."""
    return {
        "instruction": INSTRUCTIONS[bare.language][bare.question_type],
        "grading": GRADING[bare.language][bare.question_type],
    }
