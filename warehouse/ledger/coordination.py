"""How far the review is, counted where it lies: for those who give the work out.

Every function takes a connection, so that a caller joins several of them in one transaction.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, and_, func, select

from warehouse.ledger.tables import review_assignments, review_batches, review_questions, reviews

_given = review_assignments.c
_OWN_DECISION = and_(
    reviews.c.batch_id == _given.batch_id,
    reviews.c.question_uuid == _given.question_uuid,
    reviews.c.annotator == _given.annotator,
)
_QUESTION = and_(
    review_questions.c.batch_id == _given.batch_id,
    review_questions.c.question_uuid == _given.question_uuid,
)


def count_batch_work(connection: Connection, now: str) -> list[dict[str, Any]]:
    """Every batch, the newest first, with `assigned_count`, `decided_count`, `overdue_count` and `dispute_count` (given out)."""
    waiting = reviews.c.decision.is_(None)
    rows = connection.execute(
        select(
            review_batches.c.batch_id,
            review_batches.c.status,
            review_batches.c.created_at,
            review_batches.c.due_at,
            func.count(_given.question_uuid).label("assigned_count"),
            func.count(reviews.c.decision).label("decided_count"),
            func.count()
            .filter(and_(waiting, _given.due_at < now, review_batches.c.status != "closed"))
            .label("overdue_count"),
            func.count().filter(_given.role == "adjudicator").label("dispute_count"),
        )
        .join(review_assignments, _given.batch_id == review_batches.c.batch_id)
        .outerjoin(reviews, _OWN_DECISION)
        .group_by(
            review_batches.c.batch_id,
            review_batches.c.status,
            review_batches.c.created_at,
            review_batches.c.due_at,
        )
        .order_by(review_batches.c.created_at.desc(), review_batches.c.batch_id)
    )
    return [dict(row._mapping) for row in rows]


def count_work_of_batch(connection: Connection, batch_id: str, now: str) -> list[dict[str, Any]]:
    """Per discipline, annotator and role: `assigned_count`, `decided_count`, `overdue_count`, `due_at` (the first waiting one)."""
    waiting = reviews.c.decision.is_(None)
    rows = connection.execute(
        select(
            review_questions.c.discipline,
            _given.annotator,
            _given.role,
            func.count().label("assigned_count"),
            func.count(reviews.c.decision).label("decided_count"),
            func.count().filter(and_(waiting, _given.due_at < now)).label("overdue_count"),
            func.min(_given.due_at).filter(waiting).label("due_at"),
        )
        .join(review_questions, _QUESTION)
        .outerjoin(reviews, _OWN_DECISION)
        .where(_given.batch_id == batch_id)
        .group_by(review_questions.c.discipline, _given.annotator, _given.role)
        .order_by(review_questions.c.discipline, _given.annotator, _given.role)
    )
    return [dict(row._mapping) for row in rows]
