"""Decisions as annotators give them and the ledger has them, and what they correct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.questions import Option, QuestionContent, QuestionPicture, read_options, write_options
from tasks.questions.pictures import place_pictures

# The content of a question without what only its document knows (language, kind of exam).
EDITABLE_FIELDS = (
    "question_type",
    "discipline",
    "sub_discipline",
    "material",
    "stem",
    "options",
    "answer",
    "explanation",
)
MAY_BE_EMPTIED = ("discipline", "sub_discipline", "material", "explanation")


@dataclass(frozen=True, slots=True)
class GivenDecision:
    """What an annotator gave for a question by any channel; `edit` only with that decision."""

    question_uuid: str
    decision: str
    reject_reason: str | None = None
    comment: str | None = None
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """The corrected fields of a question; null leaves a field as it is.

    Attributes:
        question_type, discipline, sub_discipline, material, stem, explanation: the new text.
        options: all options as they shall be; empty takes them away.
        pictures: those that are new, are others, or are said to show something else, by number; their places follow from the texts.
        answer: all answers as they shall be; empty takes them away.
        emptied: names of `MAY_BE_EMPTIED` that become null.
    """

    question_type: str | None = None
    discipline: str | None = None
    sub_discipline: str | None = None
    material: str | None = field(default=None, repr=False)
    stem: str | None = field(default=None, repr=False)
    options: tuple[Option, ...] | None = field(default=None, repr=False)
    answer: tuple[str, ...] | None = field(default=None, repr=False)
    explanation: str | None = field(default=None, repr=False)
    emptied: frozenset[str] = frozenset()
    pictures: tuple[QuestionPicture, ...] | None = field(default=None, repr=False)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Edit:
        """The edit in its stored form: the corrected fields by name, null for an emptied one."""
        options, answer = row.get("options"), row.get("answer")
        return cls(
            question_type=row.get("question_type"),
            discipline=row.get("discipline"),
            sub_discipline=row.get("sub_discipline"),
            material=row.get("material"),
            stem=row.get("stem"),
            options=None if options is None else read_options(options),
            answer=None if answer is None else tuple(answer),
            explanation=row.get("explanation"),
            emptied=frozenset(name for name in MAY_BE_EMPTIED if name in row and row[name] is None),
            pictures=_read_pictures(row["pictures"]) if row.get("pictures") else None,
        )

    def as_row(self) -> dict[str, Any]:
        """The stored form: only the corrected fields, with plain values."""
        values: dict[str, Any] = {name: getattr(self, name) for name in EDITABLE_FIELDS}
        if self.options is not None:
            values["options"] = write_options(self.options)
        if self.answer is not None:
            values["answer"] = list(self.answer)
        if self.pictures is not None:
            values["pictures"] = [
                {"number": one.number, "sha256": one.sha256, "alt_text": one.alt_text}
                for one in self.pictures
            ]
        return {name: value for name, value in values.items() if value is not None or name in self.emptied}

    @property
    def is_blank(self) -> bool:
        """Whether nothing is corrected."""
        return not self.as_row()

    def apply(self, content: QuestionContent) -> QuestionContent:
        """The content with the corrections put in, without pictures that no text names."""
        row, corrected = content.as_row(), self.as_row()
        changed = corrected.pop("pictures", ())
        row |= corrected
        if content.pictures or changed:
            held = {one["number"]: one for one in row["pictures"] or ()} | {
                one["number"]: one for one in changed
            }
            said = {number: one.get("alt_text") for number, one in held.items()}
            row["pictures"] = [
                one | {"alt_text": said[one["number"]]}
                for one in place_pictures(row, [held[number] for number in sorted(held)])
            ]
        return QuestionContent.from_row(row)


def _read_pictures(rows: Sequence[Mapping[str, Any]]) -> tuple[QuestionPicture, ...]:
    return tuple(
        QuestionPicture(int(one["number"]), str(one["sha256"]), "", one.get("alt_text")) for one in rows
    )


@dataclass(frozen=True, slots=True)
class Decision:
    """A recorded decision; `guideline_version` null where there were no guidelines yet."""

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
