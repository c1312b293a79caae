"""A question as it lies in a review batch: its content, and what annotators see with it.

The gate: from annotators' decisions to what passes (LLMEval-Fair §2.1).

Pure: it has no store and no clock.

A question passes when enough reviewers accept it, edits included. An edit counts as an accept of the corrected
question; reviewers agree when at most one correction is on the table and it leaves the key alone, or all of them
made the same one. Anything else goes to an adjudicator, whose decision stands. Without a full set of decisions a
question is not decided: it stays out, and is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from schemas.questions import CONTENT
from schemas.reviews import REJECT_REASONS
from tasks.questions import QuestionContent
from tasks.review.decisions.decision import Decision, Edit, GivenDecision
from warehouse.ledger.review.assigning import QUESTION_COLUMNS

State = Literal["accepted", "rejected", "waiting", "disputed"]


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Where a question stands in its paper, and what the splitter doubted.

    Attributes:
        document_name: file name of the paper.
        position: place among the paper's questions, from 1.
        number_label: number as printed; null without one.
        parse_notes: named reasons that lower the splitter's confidence.
        status: one of `schemas.vocabulary.QUESTION_STATUSES`.
    """

    document_name: str | None
    position: int | None
    number_label: str | None
    parse_notes: tuple[str, ...]
    status: str | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> SourceNote | None:
        """The note in a row of `questions` or in a stored item.

        None for a variant, which is in no paper.
        """
        if "document_name" not in row:
            return None
        return cls(
            row["document_name"],
            row.get("position"),
            row.get("number_label"),
            tuple(row.get("parse_notes") or ()),
            row.get("status"),
        )

    def as_row(self) -> dict[str, Any]:
        """Plain values, as they are stored next to the content."""
        return {
            "document_name": self.document_name,
            "position": self.position,
            "number_label": self.number_label,
            "parse_notes": list(self.parse_notes),
            "status": self.status,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a question stands, with the content and revision that this makes current."""

    item: Item
    state: State
    accept_count: int
    reject_count: int
    reject_reason: str | None
    was_edited: bool
    was_adjudicated: bool
    revision: int
    content: QuestionContent = field(repr=False)

    @property
    def is_settled(self) -> bool:
        """Whether no decision on it is waited for."""
        return self.state in ("accepted", "rejected")


@dataclass(frozen=True, slots=True)
class Item:
    """A question as it lies in a batch; `document_id` and `source` are null for a variant."""

    question_uuid: str
    revision: int
    lineage_uuid: str
    document_id: str | None
    content: QuestionContent
    source: SourceNote | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading its paper doubted; nothing for a variant."""
        return self.source.parse_notes if self.source else ()

    @classmethod
    def from_question(cls, row: Mapping[str, Any]) -> Item:
        """The item that a row of the lake table `questions` or `variants` becomes."""
        return cls._build(row, row)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Item:
        """The item in a row of the ledger table `review_items`."""
        return cls._build(row, row["content"])

    @classmethod
    def _build(cls, row: Mapping[str, Any], content: Mapping[str, Any]) -> Item:
        return cls(
            row["question_uuid"],
            row["revision"],
            row["lineage_uuid"],
            row.get("document_id"),
            QuestionContent.from_row(content),
            SourceNote.from_row(content),
        )

    def as_row(self, batch_id: str) -> dict[str, Any]:
        """The row of the ledger table `review_items`."""
        content = self.content.as_row()
        return {
            "batch_id": batch_id,
            "question_uuid": self.question_uuid,
            "revision": self.revision,
            "lineage_uuid": self.lineage_uuid,
            "document_id": self.document_id,
            "discipline": self.content.discipline,
            # The order of the contract: an item stored twice is the same text twice.
            "content": {column.name: content[column.name] for column in CONTENT}
            | (self.source.as_row() if self.source else {}),
        }


def encode_items(questions: pl.DataFrame, batch_id: str) -> list[tuple[Any, ...]]:
    """Rows of the ledger table `review_questions`, from rows of `questions` or `variants`.

    They are what `Item.as_row` makes of each.

    Columns are encoded as a whole, and rows are tuples in the order of QUESTION_COLUMNS: it is the way for questions by
    the ten thousand.
    """
    fields = [_encode_field(column.name, column.type) for column in CONTENT]
    if "document_name" in questions.columns:
        fields += [
            pl.col("document_name", "position", "number_label"),
            pl.col("parse_notes").fill_null([]),
            pl.col("status"),
        ]
    contents = questions.select(pl.struct(fields).struct.json_encode()).to_series()
    has_document = "document_id" in questions.columns
    encoded = {
        "batch_id": pl.lit(batch_id),
        "document_id": pl.col("document_id") if has_document else pl.lit(None, pl.String),
    }
    return (
        questions.with_columns(contents.alias("content"))
        .select(encoded.get(name, pl.col(name)).alias(name) for name in QUESTION_COLUMNS)
        .rows()
    )


def _encode_field(name: str, kind: str) -> pl.Expr:
    """A column as it is stored: a list is never null, nor a stem."""
    if kind in ("options", "texts"):
        return pl.col(name).fill_null([])
    return pl.col(name).fill_null("") if name == "stem" else pl.col(name)


def compute_outcomes(
    items: Iterable[Item], decisions: Iterable[Decision], review_count: int, *, quorum: int | None = None
) -> list[Outcome]:
    """Where every item stands, in the order given.

    Args:
        items: the questions of a batch.
        decisions: all decisions given, at most one per question and annotator.
        review_count: reviews that a question is to get.
        quorum: agreeing decisions that settle a question when all reviews are in; default all of them.
    """
    by_question: dict[str, list[Decision]] = {}
    for decision in decisions:
        by_question.setdefault(decision.question_uuid, []).append(decision)
    return [
        compute_outcome(item, by_question.get(item.question_uuid, []), review_count, quorum or review_count)
        for item in items
    ]


def compute_outcome(item: Item, decisions: Sequence[Decision], review_count: int, quorum: int) -> Outcome:
    """Where one question stands after `decisions`."""
    review_total = sum(not decision.is_adjudication for decision in decisions)
    verdicts = [decision.given for decision in decisions if decision.is_adjudication]
    accepts = [decision.given for decision in decisions if decision.given.decision != "reject"]
    rejects = [decision.given for decision in decisions if decision.given.decision == "reject"]

    state: State
    content = item.content
    if verdicts:
        state = "rejected" if verdicts[-1].decision == "reject" else "accepted"
        content = _correct(item.content, verdicts[-1])
    elif review_total < review_count:
        state = "waiting"
    elif len(rejects) >= quorum and len(rejects) > len(accepts):
        state = "rejected"
    elif len(accepts) >= quorum and len(accepts) > len(rejects):
        agreed = _agree_on_content(item.content, accepts)
        state = "disputed" if agreed is None else "accepted"
        content = agreed or item.content
    else:
        state = "disputed"

    was_edited = content != item.content
    return Outcome(
        item=item,
        state=state,
        accept_count=len(accepts),
        reject_count=len(rejects),
        reject_reason=_most_frequent_reason(rejects) if state == "rejected" else None,
        was_edited=was_edited,
        was_adjudicated=bool(verdicts),
        revision=item.revision + 1 if was_edited else item.revision,
        content=content,
    )


def _correct(content: QuestionContent, given: GivenDecision) -> QuestionContent:
    """The content as the decision leaves it."""
    edit = given.edit if given.decision == "edit" else None
    return (edit or Edit()).apply(content)


def _agree_on_content(content: QuestionContent, accepts: Sequence[GivenDecision]) -> QuestionContent | None:
    """The one question that the accepts mean; null when they mean different ones."""
    corrected = {_correct(content, given) for given in accepts} - {content}
    if not corrected:
        return content
    if len(corrected) > 1:
        return None
    result = next(iter(corrected))
    everybody_edited = all(given.decision == "edit" for given in accepts)
    # Who accepted the question as it stood vouched for its key: a correction of the key contradicts that.
    keeps_key = _key_texts(content) == _key_texts(result)
    return result if everybody_edited or keeps_key else None


def _key_texts(content: QuestionContent) -> list[str]:
    """The answer in words.

    For a choice these are the texts of the keyed options, so that reordering them is no change.
    """
    texts = {option.label: option.text for option in content.options}
    return sorted(texts.get(key, key) for key in content.answer)


def _most_frequent_reason(rejects: Sequence[GivenDecision]) -> str | None:
    counts = Counter(given.reject_reason for given in rejects if given.reject_reason)
    if not counts:
        return None
    return max(counts, key=lambda reason: (counts[reason], -REJECT_REASONS.index(reason)))
