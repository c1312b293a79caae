"""A decision on a question: as an annotator gives it, and as it stands in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.review.decisions.edit import Edit


@dataclass(frozen=True, slots=True)
class GivenDecision:
    """What an annotator gave for one question, whatever the channel.

    `edit` is given only with the decision `edit`.
    """

    question_uuid: str
    decision: str
    reject_reason: str | None = None
    comment: str | None = None
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A recorded decision: whose it is, how and when (ISO text in UTC) it came in.

    `guideline_version` names the guidelines under which it was given; null before there were any.
    """

    given: GivenDecision
    annotator: str
    channel: str
    decided_at: str
    guideline_version: int | None = None

    @property
    def question_uuid(self) -> str:
        """The question."""
        return self.given.question_uuid

    @property
    def is_adjudication(self) -> bool:
        """Whether it settles a dispute."""
        return self.channel == "adjudication"

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Decision:
        """The decision in a row of the ledger table `review_decisions`."""
        edited = row["edited_fields"]
        return cls(
            GivenDecision(
                row["question_uuid"],
                row["decision"],
                row["reject_reason"],
                row["comment"],
                None if edited is None else Edit.from_row(edited),
            ),
            row["annotator"],
            row["channel"],
            row["decided_at"],
            row["guideline_version"],
        )

    def as_row(self, batch_id: str) -> dict[str, Any]:
        """The row of the ledger table `review_decisions`."""
        return {
            "batch_id": batch_id,
            "question_uuid": self.question_uuid,
            "annotator": self.annotator,
            "decision": self.given.decision,
            "reject_reason": self.given.reject_reason,
            "comment": self.given.comment,
            "edited_fields": None if self.given.edit is None else self.given.edit.as_row(),
            "channel": self.channel,
            "decided_at": self.decided_at,
            "guideline_version": self.guideline_version,
        }
