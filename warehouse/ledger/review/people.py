"""Annotators in the ledger: their profiles, and what is moved from one to another."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, select

from warehouse.ledger.engine.many import list_values
from warehouse.ledger.engine.tables import (
    annotator_profiles,
    review_assignments,
    review_batches,
    reviews,
    users,
)
from warehouse.ledger.review.joins import OWN_DECISION, read_values

_PROFILE = tuple(column for column in annotator_profiles.c if column.name != "user_id")


def read_annotators(connection: Connection, *, with_inactive: bool = False) -> list[dict[str, Any]]:
    """Annotators by id: `disciplines` (null: all), `is_active`, and a profile (null: not set)."""
    statement = (
        select(users.c.user_id, users.c.disciplines, users.c.is_active, *_PROFILE)
        .outerjoin(annotator_profiles, annotator_profiles.c.user_id == users.c.user_id)
        .where(users.c.role == "annotator")
        .order_by(users.c.user_id)
    )
    if not with_inactive:
        statement = statement.where(users.c.is_active)
    return read_values(connection, statement)


def write_profile(connection: Connection, user_id: str, profile: Mapping[str, Any]) -> None:
    """Put the profile in the place of the one there."""
    connection.execute(delete(annotator_profiles).where(annotator_profiles.c.user_id == user_id))
    connection.execute(insert(annotator_profiles), [{"user_id": user_id, **profile}])


def read_undecided(
    connection: Connection, annotator: str | None = None, batch_id: str | None = None
) -> list[dict[str, Any]]:
    """Assignments of open batches that wait for a decision, by batch, question and annotator."""
    statement = (
        select(review_assignments)
        .join(review_batches, review_batches.c.batch_id == review_assignments.c.batch_id)
        .outerjoin(reviews, OWN_DECISION)
        .where(review_batches.c.status != "closed", reviews.c.decision.is_(None))
        .order_by(
            review_assignments.c.batch_id, review_assignments.c.question_uuid, review_assignments.c.annotator
        )
    )
    if annotator is not None:
        statement = statement.where(review_assignments.c.annotator == annotator)
    if batch_id is not None:
        statement = statement.where(review_assignments.c.batch_id == batch_id)
    return read_values(connection, statement)


def count_undecided(connection: Connection, now: str) -> list[dict[str, Any]]:
    """Per open batch and annotator the assigned, open and overdue counts, and the next `due_at`."""
    is_open = reviews.c.decision.is_(None)
    statement = (
        select(
            review_assignments.c.batch_id,
            review_assignments.c.annotator,
            func.count().label("assigned_count"),
            func.count().filter(is_open).label("open_count"),
            func.count().filter(and_(is_open, review_assignments.c.due_at < now)).label("overdue_count"),
            func.min(review_assignments.c.due_at).filter(is_open).label("due_at"),
        )
        .join(review_batches, review_batches.c.batch_id == review_assignments.c.batch_id)
        .outerjoin(reviews, OWN_DECISION)
        .where(review_batches.c.status != "closed")
        .group_by(review_assignments.c.batch_id, review_assignments.c.annotator)
        .order_by(review_assignments.c.batch_id, review_assignments.c.annotator)
    )
    return read_values(connection, statement)


def count_decided_since(connection: Connection, since: str) -> dict[str, int]:
    """Decisions of each annotator from that moment on."""
    rows = connection.execute(
        select(reviews.c.annotator, func.count())
        .where(reviews.c.decided_at >= since)
        .group_by(reviews.c.annotator)
    )
    return {row[0]: row[1] for row in rows}


def delete_assignments(
    connection: Connection, batch_id: str, annotator: str, question_uuids: Collection[str]
) -> None:
    """Take questions of a batch back from an annotator."""
    connection.execute(
        delete(review_assignments).where(
            review_assignments.c.batch_id == batch_id,
            review_assignments.c.annotator == annotator,
            review_assignments.c.question_uuid.in_(list_values(connection, question_uuids)),
        )
    )


def read_readers(
    connection: Connection, batch_id: str, question_uuids: Collection[str]
) -> dict[str, set[str]]:
    """Everybody to whom each of these questions of the batch is given."""
    found: dict[str, set[str]] = {}
    rows = connection.execute(
        select(review_assignments.c.question_uuid, review_assignments.c.annotator).where(
            review_assignments.c.batch_id == batch_id,
            review_assignments.c.question_uuid.in_(list_values(connection, question_uuids)),
        )
    )
    for row in rows:
        found.setdefault(row.question_uuid, set()).add(row.annotator)
    return found
