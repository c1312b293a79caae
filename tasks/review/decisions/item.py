"""A question as it lies in a review batch: its content, and what annotators see with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from schemas.questions import CONTENT
from tasks.questions import QuestionContent
from warehouse.ledger.review.assigning import QUESTION_COLUMNS


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
        """The note in a row of `questions` or a stored item; null for a variant, without a paper."""
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
        return asdict(self) | {"parse_notes": list(self.parse_notes)}


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

    They are what `Item.as_row` makes of each. Columns are encoded as a whole, and rows are tuples in the
    order of QUESTION_COLUMNS: it is the way for questions by the ten thousand.
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
