"""What a model's variants are made of: single requests, in the order of asking."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from tasks.bank.augment.methods import MODEL_METHODS
from tasks.bank.augment.true_false import is_expandable
from tasks.bank.augment.wording import refers_to_other_options
from tasks.questions import Option
from tasks.questions.rules import find_broken_rules
from tasks.questions.variants import ReviewedQuestion

STATEMENTS_PER_MATERIAL = 4
# A term has no other words, and to say a statement in other words is to risk its truth.
_NOT_PARAPHRASED = ("term_explanation", "true_false")


@dataclass(frozen=True)
class WritingTask:
    """One piece of work.

    Attributes:
        parent: the question that variants are made of.
        option: the option that is stated; null for the other methods.
        fields: what the request holds beside its task (`tasks.bank.augment.requests.build_messages`).
    """

    parent: ReviewedQuestion = field(repr=False)
    option: Option | None
    fields: dict[str, str | int] = field(repr=False)


def list_writing_tasks(questions: pl.DataFrame, method: str) -> list[WritingTask]:
    """What one method of `MODEL_METHODS` asks about rows of `review_decisions`.

    Only the well-formed originals without pictures among them are asked about.

    `declarative_rewrite`: each option of a choice. `material_to_true_false`: each material once, whoever shares it.
    `paraphrase`: each question that has other words.
    """
    originals = [
        found
        for row in questions.iter_rows(named=True)
        if (found := ReviewedQuestion.from_row(row)).question.is_original
        and not found.content.pictures
        and not find_broken_rules(found.content)
    ]
    if method == "declarative_rewrite":
        return [
            WritingTask(found, option, {"stem": found.content.stem, "option": option.text})
            for found in originals
            for option in _list_options(found)
        ]
    if method == "material_to_true_false":
        return [
            WritingTask(
                found, None, {"material": found.content.material or "", "count": STATEMENTS_PER_MATERIAL}
            )
            for found in _list_materials(originals)
        ]
    assert method == "paraphrase", MODEL_METHODS
    return [
        WritingTask(found, None, {"stem": found.content.stem})
        for found in originals
        if found.content.question_type not in _NOT_PARAPHRASED
    ]


def _list_options(parent: ReviewedQuestion) -> list[Option]:
    """The options that get a statement: those that the template makes a variant of."""
    content = parent.content
    if content.question_type != "multiple_choice" or not is_expandable(content):
        return []
    return [option for option in content.options if not refers_to_other_options(option.text)]


def _list_materials(questions: Iterable[ReviewedQuestion]) -> list[ReviewedQuestion]:
    """One question per material: sub-questions of one text share its statements."""
    first: dict[str, ReviewedQuestion] = {}
    for found in sorted(questions, key=lambda found: found.question.question_uuid):
        material = "".join((found.content.material or "").split())
        if found.content.question_type == "material_analysis" and material:
            first.setdefault(material, found)
    return list(first.values())
