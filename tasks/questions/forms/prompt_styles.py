"""How a question is put: a versioned instruction for its type, in its language, in a style.

Zero-shot, few-shot and chain-of-thought are the three styles of LLMEval-Fair (appendix B); the wording is ours.
A prompt holds the bare content of a question and nothing else of it. The question stands between two marker lines, so
that a simulated model can find it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml

from schemas.errors import ContractError
from tasks.questions.pictures import PICTURE
from tasks.questions.question import BareQuestion, Option

# Part of every call key and of every response: a changed word here or in prompt_styles.yaml needs a new version (a test compares).
VERSION = "1"

Messages = list[dict[str, str]]

_WORDING: Final[dict[str, Any]] = yaml.load(
    Path(__file__).with_suffix(".yaml").read_text("utf-8"), Loader=yaml.CSafeLoader
)
INSTRUCTIONS: dict[str, dict[str, str]] = _WORDING["instructions"]

# Four examples of our own, in no bank: two statements with reasons, a term, a short answer.
EXAMPLES: dict[str, tuple[tuple[str, ...], ...]] = {
    language: tuple(map(tuple, examples)) for language, examples in _WORDING["examples"].items()
}
_WORDS = _WORDING["words"]


def render_prompt(bare: BareQuestion, style: str, *, sees_pictures: bool = False) -> tuple[Messages, str]:
    """The messages that put a question, and the version of their wording.

    Who does not see pictures is told in words what they show; the version says which of the two it was. Raises ContractError for an unknown type, language or style.
    """
    language, question_type = bare.language, bare.question_type
    try:
        words, instruction = _WORDS[language], INSTRUCTIONS[language][question_type]
    except KeyError:
        raise ContractError(
            f"There is no instruction for question type {question_type!r} in language {language!r}; "
            "tasks/questions/forms/prompt_styles.py holds them."
        ) from None
    shown = bare if sees_pictures or not bare.pictures else describe_pictures(bare)
    question = f"{words['begin']}\n{render_question(shown)}\n{words['end']}"
    if style == "zero_shot":
        parts = [instruction, question]
    elif style == "few_shot":
        parts = [_render_examples(language), instruction, question]
    elif style == "chain_of_thought":
        parts = [instruction, question, words["think"]]
    else:
        raise ContractError(
            f"There is no prompt style {style!r}; tasks/questions/forms/prompt_styles.py holds them."
        )
    version = f"{VERSION}/{style}/{question_type}/{language}"
    if bare.pictures:
        version += "/pictures" if sees_pictures else "/alt_text"
    return [{"role": "user", "content": "\n\n".join(parts)}], version


def describe_pictures(bare: BareQuestion) -> BareQuestion:
    """The question with words in the place of its pictures."""
    words = _WORDS[bare.language]
    told = {
        picture.number: (words["picture"] if picture.alt_text else words["undescribed"]).format(
            number=picture.number, alt_text=picture.alt_text
        )
        for picture in bare.pictures
    }

    def tell(text: str) -> str:
        return PICTURE.sub(lambda mark: told.get(int(mark[1]), mark[0]), text)

    return replace(
        bare,
        stem=tell(bare.stem),
        material=None if bare.material is None else tell(bare.material),
        options=tuple(Option(option.label, tell(option.text)) for option in bare.options),
        pictures=(),
    )


def render_question(bare: BareQuestion) -> str:
    """The question itself: material, stem and options, one option per line."""
    lines: list[str] = []
    if bare.material:
        lines += [_WORDS[bare.language]["material"], bare.material.strip(), ""]
    lines.append(bare.stem.strip())
    lines += [f"{option.label}. {option.text}" for option in bare.options]
    return "\n".join(lines)


def extract_question(messages: Sequence[Mapping[str, str]]) -> str | None:
    """The question inside a rendered prompt: what render_question gave; null when there is none.

    The outermost marker lines count, so that a question which quotes a marker is still found whole.
    """
    for message in reversed(messages):
        lines = message["content"].split("\n")
        for words in _WORDS.values():
            if words["begin"] in lines and words["end"] in lines:
                begin = lines.index(words["begin"])
                end = len(lines) - 1 - lines[::-1].index(words["end"])
                if begin < end:
                    return "\n".join(lines[begin + 1 : end])
    return None


def read_style(messages: Sequence[Mapping[str, str]]) -> str:
    """The style in which a rendered prompt puts its question."""
    text = messages[-1]["content"] if messages else ""
    for words in _WORDS.values():
        if text.endswith(words["think"]):
            return "chain_of_thought"
        if text.startswith(words["examples"]):
            return "few_shot"
    return "zero_shot"


def _render_examples(language: str) -> str:
    words = _WORDS[language]
    parts = [words["examples"]]
    for number, (question_type, question, answer) in enumerate(EXAMPLES[language], start=1):
        parts.append(
            f"{words['example'].format(number=number)}\n{INSTRUCTIONS[language][question_type]}\n"
            f"{words['question']}{question}\n{words['answer']}{answer}"
        )
    parts.append(words["now"])
    return "\n\n".join(parts)
