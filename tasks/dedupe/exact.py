"""Exact duplicates: questions whose content is the same after normalisation."""

from __future__ import annotations

from dataclasses import dataclass

from tasks.questions.identity import compute_normal_uuid, normalise_for_key
from tasks.questions.question import QuestionContent


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A question's texts after normalisation, each normalised once.

    Attributes:
        question_type: its type.
        stem: the asking text.
        material: what the stem is about; empty without one.
        whole: material and stem as one text.
        options: the offered texts, sorted, without their labels.
        answers: the answer in words, sorted: keys count by the text of their option.
    """

    question_type: str
    stem: str
    material: str
    whole: str
    options: tuple[str, ...]
    answers: tuple[str, ...]


def normalise_content(content: QuestionContent) -> NormalForm:
    """The normal form of stem, material, options and answer."""
    stem = normalise_for_key(content.stem)
    options = [normalise_for_key(option.text) for option in content.options]
    texts = dict(zip((option.label for option in content.options), options, strict=True))
    answers = (texts[key] if key in texts else normalise_for_key(key) for key in content.answer)
    return NormalForm(
        question_type=content.question_type,
        stem=stem,
        material=normalise_for_key(content.material) if content.material else "",
        whole=normalise_for_key(f"{content.material}\n{content.stem}") if content.material else stem,
        options=tuple(sorted(options)),
        answers=tuple(sorted(answers)),
    )


def compute_content_key(form: NormalForm) -> str:
    """What is asked, not what is answered: the UUID that the content has with its options in alphabetical order.

    Two questions have the same key when type, stem, material and the set of options are the same after normalisation.
    """
    return compute_normal_uuid(
        form.question_type, form.stem, form.material, (("", text) for text in form.options)
    )
