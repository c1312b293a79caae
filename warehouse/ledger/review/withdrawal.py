"""Take a document's questions out of review batches in which nobody has decided on them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, and_, delete, func, select

from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.engine.tables import (
    review_assignments,
    review_batches,
    review_drafts,
    review_gold,
    review_questions,
    reviews,
)
from warehouse.ledger.review.assigning import read_batch


@dataclass(frozen=True)
class BatchedDocument:
    """The questions of a document in an open batch, and how many decisions there are on them."""

    batch_id: str
    question_uuids: tuple[str, ...]
    decision_count: int


def read_open_work(connection: Connection, document_id: str) -> list[BatchedDocument]:
    """Per open batch, what it holds of the document."""
    items = connection.execute(
        select(review_questions.c.batch_id, review_questions.c.question_uuid)
        .join(review_batches, review_batches.c.batch_id == review_questions.c.batch_id)
        .where(review_questions.c.document_id == document_id, review_batches.c.status != "closed")
        .order_by(review_questions.c.batch_id, review_questions.c.question_uuid)
    ).all()
    found = []
    for batch_id in dict.fromkeys(str(row.batch_id) for row in items):
        uuids = tuple(str(row.question_uuid) for row in items if row.batch_id == batch_id)
        is_decided = and_(reviews.c.batch_id == batch_id, reviews.c.question_uuid.in_(uuids))
        count = connection.scalar(select(func.count()).select_from(reviews).where(is_decided))
        found.append(BatchedDocument(batch_id, uuids, int(count or 0)))
    return found


def delete_work(connection: Connection, work: BatchedDocument) -> None:
    """Delete items, assignments and drafts; a batch that holds nothing any more goes with them."""
    read_batch(connection, work.batch_id, lock=True)
    for table in (review_assignments, review_drafts, review_gold, review_questions):
        connection.execute(
            delete(table).where(
                table.c.batch_id == work.batch_id, table.c.question_uuid.in_(work.question_uuids)
            )
        )
    for stage in ("review_texts", "review_gold"):
        close_units(connection, stage, [(work.batch_id,)])
    left = connection.scalar(
        select(func.count()).select_from(review_questions).where(review_questions.c.batch_id == work.batch_id)
    )
    if not left:
        connection.execute(delete(review_batches).where(review_batches.c.batch_id == work.batch_id))
