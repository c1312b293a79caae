"""A question as review left it: what was accepted or rejected, by how many, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tasks.questions.question import Question, QuestionContent


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
