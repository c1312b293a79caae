"""A question made from another and how, and one as review left it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tasks.questions.identity import compute_question_uuid
from tasks.questions.question import Question, QuestionContent

# The generator of variants that no model wrote.
TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Variant:
    """A row of `variants`.

    Attributes:
        question: the variant itself, with its parent and method.
        generator: `template`, or the model that wrote it.
        prompt_version: version of the template or prompt.
        created_at: when it was made.
        option_label: option of the parent that the statement is about; null where it is about none.
        support: sentence of the material that supports the answer; null for other methods.
    """

    question: Question
    generator: str
    prompt_version: str
    created_at: datetime
    option_label: str | None = None
    support: str | None = field(default=None, repr=False)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Variant:
        """The variant in a row of `variants`."""
        return cls(
            Question.from_row(row),
            row["generator"],
            row["prompt_version"],
            row["created_at"],
            row["option_label"],
            row["support"],
        )

    @property
    def content(self) -> QuestionContent:
        """What the variant asks, and its answer."""
        return self.question.content

    def as_row(self) -> dict[str, Any]:
        """The columns of `variants`."""
        return {
            **self.question.identity_row(),
            "method": self.question.method,
            "option_label": self.option_label,
            "generator": self.generator,
            "prompt_version": self.prompt_version,
            "support": self.support,
            **self.content.as_row(),
            "created_at": self.created_at,
        }


@dataclass(frozen=True)
class VariantOrigin:
    """How a variant came to be.

    Attributes:
        method: the method by which it was made.
        generator: the model, or the template, that wrote it.
        prompt_version: version of the prompt or of the template.
        made_at: when.
    """

    method: str
    generator: str
    prompt_version: str
    made_at: datetime


@dataclass(frozen=True, slots=True)
class ReviewedQuestion:
    """A row of `review_decisions`, as far as later stages need it.

    Attributes:
        question: the question, with the corrections that were accepted.
        batch_id: the review batch.
        document_id: the paper that it was found in; null where unknown.
        outcome: `accepted`, `rejected` or `undecided`.
        accept_count: accepts it got.
        decided_at: when it was settled; null while it is open.
    """

    question: Question
    batch_id: str
    document_id: str | None
    outcome: str
    accept_count: int
    decided_at: datetime | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> ReviewedQuestion:
        """The question in a row of `review_decisions`."""
        return cls(
            Question.from_row(row),
            row["batch_id"],
            row["document_id"],
            row["outcome"],
            row["accept_count"] or 0,
            row["decided_at"],
        )

    @property
    def content(self) -> QuestionContent:
        """What is asked and known."""
        return self.question.content


def make_variant(
    parent: Question,
    content: QuestionContent,
    origin: VariantOrigin,
    *,
    option_label: str | None = None,
    support: str | None = None,
) -> Variant:
    """A variant of `parent` that asks `content`, with the UUID of that content."""
    return Variant(
        Question(
            question_uuid=compute_question_uuid(content.bare),
            revision=1,
            lineage_uuid=parent.lineage_uuid,
            parent_uuid=parent.question_uuid,
            method=origin.method,
            content=content,
        ),
        origin.generator,
        origin.prompt_version,
        origin.made_at,
        option_label,
        support,
    )
