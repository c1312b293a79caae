"""How far the review is, counted where it lies: for those who give the work out."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, and_, func, or_, select

from warehouse.ledger.engine.tables import review_assignments, review_batches, review_questions, reviews
from warehouse.ledger.review.joins import OWN_DECISION, is_gold, is_same, read_values

_given = review_assignments.c


def count_batch_work(connection: Connection, now: str) -> list[dict[str, Any]]:
    """Every batch with its work, newest first: assigned, decided, overdue and disputed counts."""
    waiting = reviews.c.decision.is_(None)
    statement = (
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
        .outerjoin(reviews, OWN_DECISION)
        .group_by(
            review_batches.c.batch_id,
            review_batches.c.status,
            review_batches.c.created_at,
            review_batches.c.due_at,
        )
        .order_by(review_batches.c.created_at.desc(), review_batches.c.batch_id)
    )
    return read_values(connection, statement)


def count_alike(connection: Connection, batch_id: str) -> list[tuple[str, int]]:
    """Questions of a batch that were decided on alike: one of them, and how many they are."""
    found = _tally(batch_id)
    alike = (found.c.accepts, found.c.rejects, found.c.verdicts, found.c.verdict)
    statement = (
        select(func.min(found.c.question_uuid), func.count())
        .where(~_is_unlike(found))
        .group_by(*alike)
        .order_by(*alike)
    )
    return [(uuid, count) for uuid, count in connection.execute(statement)]


def list_unlike(connection: Connection, batch_id: str) -> list[str]:
    """Questions of a batch with corrections that may differ, or with several adjudications."""
    found = _tally(batch_id)
    return list(connection.execute(select(found.c.question_uuid).where(_is_unlike(found))).scalars())


def _is_unlike(found: Subquery) -> ColumnElement[bool]:
    return or_(and_(found.c.edits > 0, found.c.verdicts == 0), found.c.verdicts > 1)


def _tally(batch_id: str) -> Subquery:
    """Decisions on each question of a batch, by kind."""
    is_verdict = reviews.c.channel == "adjudication"

    def count(decision: str) -> ColumnElement[int]:
        return func.count().filter(and_(~is_verdict, reviews.c.decision == decision)).label(f"{decision}s")

    question = review_questions.c
    return (
        select(
            question.question_uuid,
            count("accept"),
            count("reject"),
            count("edit"),
            func.count().filter(is_verdict).label("verdicts"),
            func.max(reviews.c.decision).filter(is_verdict).label("verdict"),
        )
        .select_from(review_questions)
        .outerjoin(reviews, is_same(reviews, review_questions))
        .where(question.batch_id == batch_id, ~is_gold(review_questions))
        .group_by(question.question_uuid)
        .subquery()
    )


def count_work_of_batch(connection: Connection, batch_id: str, now: str) -> list[dict[str, Any]]:
    """The work of a batch by discipline, annotator and role: counts, and the first `due_at`."""
    waiting = reviews.c.decision.is_(None)
    statement = (
        select(
            review_questions.c.discipline,
            _given.annotator,
            _given.role,
            func.count().label("assigned_count"),
            func.count(reviews.c.decision).label("decided_count"),
            func.count().filter(and_(waiting, _given.due_at < now)).label("overdue_count"),
            func.min(_given.due_at).filter(waiting).label("due_at"),
        )
        .join(review_questions, is_same(review_questions, review_assignments))
        .outerjoin(reviews, OWN_DECISION)
        .where(_given.batch_id == batch_id)
        .group_by(review_questions.c.discipline, _given.annotator, _given.role)
        .order_by(review_questions.c.discipline, _given.annotator, _given.role)
    )
    return read_values(connection, statement)
