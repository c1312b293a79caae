"""The review's tables: batches, who decides on what, and what was decided."""

from __future__ import annotations

from typing import Any

from schemas.ledger.row import Index, LedgerRow, column, moment, number_key


# No foreign keys to `users` on this side: embedded, it lies in the exam's file (warehouse/ledger/engine/sides.py).
class AnnotatorProfile(LedgerRow, table="annotator_profiles"):
    """What is known of an annotator besides the user."""

    user_id: str = column(120, key=True)
    language: str | None = column(2, "Language of what is written to them; null: that of their questions.")
    email: str | None = column(254, "Where reminders go; null means none by e-mail.")
    daily_quota: int | None = column(about="Questions per day of the window; null means the setting.")
    due_days: int | None = column(about="Days of their window; null means the setting.")
    levels: dict[str, str] | None = column(
        about="novice, regular or expert by discipline; `*` for all others."
    )


class ReviewBatch(LedgerRow, table="review_batches"):
    """A batch of questions that annotators review together."""

    batch_id: str = column(80, key=True)
    status: str = column(12, "open, complete (all decided), closed (gate applied)")
    review_count: int = column()
    created_at: str = moment()
    due_at: str = moment()
    closed_at: str | None = moment()

    @property
    def is_closed(self) -> bool:
        """Whether the gate was applied; no decision is taken any more."""
        return self.status == "closed"


class ReviewQuestion(
    LedgerRow,
    table="review_questions",
    indexes=(Index("ix_review_questions_question_uuid", ("question_uuid",)),),
):
    """A question in a batch."""

    batch_id: str = column(refers_to="review_batches.batch_id", key=True)
    question_uuid: str = column(36, key=True)
    revision: int = column()
    lineage_uuid: str = column(36)
    document_id: str | None = column(36, "Null for a variant written by a model.")
    discipline: str | None = column(40)
    content: dict[str, Any] = column(about="The question as it is shown to annotators.")


class ReviewGold(LedgerRow, table="review_gold"):
    """A question of a batch whose decision is known."""

    batch_id: str = column(80, key=True)
    question_uuid: str = column(36, key=True)
    kind: str = column(10, "accepted, rejected or spoiled")
    expected: str = column(8, "The known decision: accept or reject.")
    true_answer: list[str] | None = column(
        about="The answer before it was spoiled; null for the other kinds."
    )
    source_uuid: str = column(36, "The settled question that it was made from.")
    source_batch: str = column(80, "The batch that settled that question.")


class ReviewAssignment(
    LedgerRow,
    table="review_assignments",
    indexes=(Index("ix_review_assignments_queue", ("annotator", "batch_id", "due_at", "place")),),
):
    """A question of a batch that an annotator is to decide on."""

    batch_id: str = column(80, key=True)
    question_uuid: str = column(36, key=True)
    annotator: str = column(120, key=True)
    role: str = column(12, default="reviewer")
    assigned_at: str = moment()
    due_at: str = moment()
    place: int = column(
        about="Place of the question in its batch, by paper and position.", stored_default="0"
    )
    has_answer: bool = column(about="Whether the question came with an answer.", stored_default=True)


class Review(
    LedgerRow,
    table="reviews",
    indexes=(
        Index("ix_reviews_annotator", ("annotator", "batch_id", "decided_at")),
        Index("ix_reviews_question_uuid", ("question_uuid",)),
    ),
):
    """An annotator's decision on a question of a batch."""

    batch_id: str = column(80, key=True)
    question_uuid: str = column(36, key=True)
    annotator: str = column(120, key=True)
    decision: str = column(8)
    reject_reason: str | None = column(20)
    comment: str | None = column()
    edited_fields: dict[str, Any] | None = column()
    channel: str = column(16)
    decided_at: str = moment()
    guideline_version: int | None = column(
        about="Guidelines under which it was given; null before the first version."
    )


class ReviewMessage(
    LedgerRow,
    table="review_messages",
    indexes=(Index("ix_review_messages_annotator", ("annotator", "batch_id")),),
):
    """A message between annotators and coordinators on a question; none is ever changed."""

    batch_id: str = column(80, key=True)
    question_uuid: str = column(36, key=True)
    number: int = column(about="From 1 for each question, in the order of writing.", key=True)
    annotator: str | None = column(120, "With whom; null: with everybody who has the question.")
    author: str = column(120)
    is_coordinator: bool = column(about="Whether a coordinator wrote it.")
    message: str = column()
    written_at: str = moment()


class GuidelineVersion(LedgerRow, table="guideline_versions"):
    """A version of the guidelines by which annotators decide, and what changed in it."""

    version: int = number_key(is_counted=False)
    changes: str = column(about="What changed, in the words of who published it.")
    changes_zh: str | None = column(about="The same in Chinese, where it was written.")
    published_by: str | None = column(120, "Null where a command published it.")
    published_at: str = moment()


class GuidelineReading(LedgerRow, table="guideline_readings"):
    """A version of the guidelines that an annotator has read."""

    annotator: str = column(120, key=True)
    version: int = column(key=True)
    read_at: str = moment()


class ReviewDraft(LedgerRow, table="review_drafts"):
    """What an annotator has begun on a question of a batch."""

    batch_id: str = column(80, key=True)
    question_uuid: str = column(36, key=True)
    annotator: str = column(120, key=True)
    draft: dict[str, Any] = column(about="What was begun and not given as a decision.")
    saved_at: str = moment()


class DeskMark(LedgerRow, table="desk_marks", indexes=(Index("ix_desk_marks_landed", ("landed_at",)),)):
    """A person's mark on one item of a work on the web."""

    kind: str = column(20, "rating, label or league.", key=True)
    work: str = column(200, "The round, the sample, or the league.", key=True)
    person: str = column(120, key=True)
    item_key: str = column(32, "What is marked; it tells nothing.", key=True)
    mark: str = column(60)
    note: str | None = column()
    given_at: str = moment()
    landed_at: str | None = moment("Null until the mark is in the lake.")
