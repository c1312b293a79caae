"""A choice with its options in another order, by template: no memorised letter helps."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from tasks.bank.augment.wording import names_an_option, refers_to_other_options
from tasks.questions import Option, Question, draw_order
from tasks.questions.variants import TEMPLATE, Variant, VariantOrigin, make_variant

METHOD = "permuted_options"
PROMPT_VERSION = "permuted-options/1"


def make_permuted_variant(question: Question, made_at: datetime) -> Variant | None:
    """The question with its options in an order that a hash of its UUID fixes.

    It is never the order that the question has. Null when the order matters: an option refers to others (“all
    of the above”), or the stem names a letter. An explanation that names a letter is left out.
    """
    content = question.content
    options = content.options
    if (
        content.question_type != "multiple_choice"
        or len(options) < 2
        or any(refers_to_other_options(option.text) for option in options)
        # After a permutation the letter would name another option.
        or names_an_option(content.stem)
    ):
        return None
    order = _draw_order(question.question_uuid, len(options))
    labels = [option.label for option in options]
    moved = tuple(Option(label, options[place].text) for label, place in zip(labels, order, strict=True))
    new_label = {labels[place]: label for label, place in zip(labels, order, strict=True)}
    names_letter = content.explanation and names_an_option(content.explanation)
    permuted = replace(
        content,
        bare=replace(content.bare, options=moved),
        answer=tuple(sorted(new_label[key] for key in content.answer)),
        explanation=None if names_letter else content.explanation,
    )
    return make_variant(
        question,
        permuted,
        VariantOrigin(method=METHOD, generator=TEMPLATE, prompt_version=PROMPT_VERSION, made_at=made_at),
    )


def _draw_order(salt: str, count: int) -> list[int]:
    order = draw_order(range(count), salt)
    return order if order != list(range(count)) else [*order[1:], order[0]]
