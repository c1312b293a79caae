"""Messages on questions of review batches: added and read, never changed or taken back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, and_, exists, or_, select

from schemas.ledger.review import ReviewMessage
from warehouse.ledger.engine.many import list_values
from warehouse.ledger.engine.rows import insert_rows, read_rows
from warehouse.ledger.engine.tables import (
    review_assignments,
    review_batches,
    review_messages,
    review_questions,
)
from warehouse.ledger.review.joins import is_same, read_values

_message = review_messages.c


def insert_message(connection: Connection, message: ReviewMessage) -> None:
    """Write a message."""
    insert_rows(connection, [message])


def read_messages(
    connection: Connection, batch_id: str, question_uuids: Collection[str] | None = None
) -> list[ReviewMessage]:
    """The messages of a batch or these questions of it, by question, as they were written."""
    query = select(review_messages).where(_message.batch_id == batch_id)
    if question_uuids is not None:
        query = query.where(_message.question_uuid.in_(list_values(connection, question_uuids)))
    return read_rows(connection, ReviewMessage, query.order_by(_message.question_uuid, _message.number))


def read_last_messages(connection: Connection, annotator: str | None = None) -> list[dict[str, Any]]:
    """Of each conversation the last message, the question's `content`, and the batch's `status`.

    The content is null where the question was withdrawn. A conversation is what an annotator and coordinators
    write to each other on a question; what goes to everybody who has the question answers each of them, and
    is one of its own. `annotator` takes what they may read.
    """
    newer = review_messages.alias()
    is_newer = and_(
        is_same(newer, review_messages),
        newer.c.number > _message.number,
        or_(newer.c.annotator == _message.annotator, newer.c.annotator.is_(None)),
    )
    query = (
        select(review_messages, review_questions.c.content, review_batches.c.status)
        .join(review_batches, review_batches.c.batch_id == _message.batch_id)
        .outerjoin(review_questions, is_same(review_questions, review_messages))
        .where(~exists().where(is_newer))
        .order_by(_message.written_at.desc(), _message.batch_id, _message.question_uuid)
    )
    if annotator is not None:
        has_question = exists().where(
            is_same(review_assignments, review_messages), review_assignments.c.annotator == annotator
        )
        query = query.where(
            or_(_message.annotator == annotator, and_(_message.annotator.is_(None), has_question))
        )
    return read_values(connection, query)
