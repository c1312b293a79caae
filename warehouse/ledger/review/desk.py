"""The web desk in the ledger: drafts, and an annotator's own queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, select, tuple_

from warehouse.ledger.engine.tables import (
    review_assignments,
    review_batches,
    review_drafts,
    review_questions,
    reviews,
)
from warehouse.ledger.review.joins import OWN_DECISION, read_values

Queue = Literal["questions", "unanswered", "disputes"]

_given = review_assignments.c
# In the order in which they are read: what is due first, then by paper and place.
_ORDER = (_given.due_at, _given.place, _given.question_uuid)
_QUEUES: Mapping[str, ColumnElement[bool]] = {
    "questions": and_(_given.role == "reviewer", _given.has_answer.is_(True)),
    "unanswered": and_(_given.role == "reviewer", _given.has_answer.is_(False)),
    "disputes": _given.role == "adjudicator",
}


# --- sessions -----------------------------------------------------------------------------------------------


def count_work(connection: Connection, annotator: str) -> list[dict[str, Any]]:
    """Per batch that takes decisions, what is given to somebody and what they have decided.

    `batch_id`, `due_at`, `assigned_count`, `decided_count`, and what waits in each queue: `questions`, `unanswered`,
    `disputes`; the batch that is due first comes first.
    """
    # A column of the key: whether there is a decision is read from the index alone.
    waiting = reviews.c.question_uuid.is_(None)
    statement = (
        select(
            _given.batch_id,
            func.min(_given.due_at).label("due_at"),
            func.count().label("assigned_count"),
            func.count(reviews.c.question_uuid).label("decided_count"),
            *(
                func.count().filter(and_(waiting, condition)).label(name)
                for name, condition in _QUEUES.items()
            ),
        )
        .join(review_batches, review_batches.c.batch_id == _given.batch_id)
        .outerjoin(reviews, OWN_DECISION)
        .where(_given.annotator == annotator, review_batches.c.status != "closed")
        .group_by(_given.batch_id)
        .order_by(func.min(_given.due_at), _given.batch_id)
    )
    return read_values(connection, statement)


def count_batch_work(connection: Connection, batch_id: str, annotator: str) -> tuple[int, int]:
    """How many questions of an open batch somebody was given, and how many of them are decided."""
    is_open = exists().where(review_batches.c.batch_id == batch_id, review_batches.c.status != "closed")
    assigned = select(func.count()).where(_given.annotator == annotator, _given.batch_id == batch_id, is_open)
    decided = select(func.count()).where(reviews.c.annotator == annotator, reviews.c.batch_id == batch_id)
    return int(connection.execute(assigned).scalar_one()), int(connection.execute(decided).scalar_one())


def count_decided_since(connection: Connection, annotator: str, moment: str) -> int:
    """How many of the annotator's standing decisions, in any batch, were given since the moment."""
    query = select(func.count()).where(reviews.c.annotator == annotator, reviews.c.decided_at >= moment)
    return int(connection.execute(query).scalar_one())


def read_assignment(
    connection: Connection, batch_id: str, question_uuid: str, annotator: str
) -> dict[str, Any] | None:
    """The assignment, or null."""
    row = connection.execute(
        select(review_assignments).where(
            _given.batch_id == batch_id, _given.question_uuid == question_uuid, _given.annotator == annotator
        )
    ).first()
    return None if row is None else dict(row._mapping)


def read_next(
    connection: Connection,
    batch_id: str,
    annotator: str,
    queue: Queue,
    after: Mapping[str, Any] | None = None,
) -> str | None:
    """The first undecided question of somebody's queue, from `after` on and around, or null."""
    waiting = (
        select(_given.question_uuid)
        .outerjoin(reviews, OWN_DECISION)
        .where(
            _given.annotator == annotator,
            _given.batch_id == batch_id,
            _QUEUES[queue],
            reviews.c.question_uuid.is_(None),
        )
        .order_by(*_ORDER)
        .limit(1)
    )
    if after is not None:
        here = tuple_(after["due_at"], after["place"], after["question_uuid"])
        found = connection.execute(waiting.where(tuple_(*_ORDER) > here)).scalar()
        if found is not None:
            return str(found)
        waiting = waiting.where(_given.question_uuid != after["question_uuid"])
    found = connection.execute(waiting).scalar()
    return None if found is None else str(found)


def read_last_decided(
    connection: Connection, batch_id: str, annotator: str, before: str | None
) -> str | None:
    """The question that the annotator decided last in the batch, or last before a moment."""
    statement = (
        select(reviews.c.question_uuid)
        .where(reviews.c.annotator == annotator, reviews.c.batch_id == batch_id)
        .order_by(reviews.c.decided_at.desc())
        .limit(1)
    )
    if before is not None:
        statement = statement.where(reviews.c.decided_at < before)
    found = connection.execute(statement).scalar()
    return None if found is None else str(found)


def count_listed(connection: Connection, batch_id: str, annotator: str) -> dict[Queue, int]:
    """How many questions stand in each queue of a batch that takes decisions, decided or not."""
    row = connection.execute(
        select(*(func.count().filter(condition).label(name) for name, condition in _QUEUES.items()))
        .select_from(review_assignments)
        .join(review_batches, review_batches.c.batch_id == _given.batch_id)
        .where(
            _given.annotator == annotator, _given.batch_id == batch_id, review_batches.c.status != "closed"
        )
    ).one()
    return dict(row._mapping)


def list_queue(
    connection: Connection, batch_id: str, annotator: str, queue: Queue, start: int, count: int
) -> list[dict[str, Any]]:
    """`question_uuid`, `due_at`, `content`, `decision` of a queue's questions from `start` on."""
    page = connection.execute(
        select(_given.question_uuid, _given.due_at)
        .where(_given.annotator == annotator, _given.batch_id == batch_id, _QUEUES[queue])
        .order_by(*_ORDER)
        .limit(count)
        .offset(start)
    ).all()
    uuids = [row.question_uuid for row in page]
    contents: dict[str, Any] = dict(
        connection.execute(
            select(review_questions.c.question_uuid, review_questions.c.content).where(
                review_questions.c.batch_id == batch_id, review_questions.c.question_uuid.in_(uuids)
            )
        )
        .tuples()
        .all()
    )
    decisions: dict[str, str] = dict(
        connection.execute(
            select(reviews.c.question_uuid, reviews.c.decision).where(
                reviews.c.batch_id == batch_id,
                reviews.c.annotator == annotator,
                reviews.c.question_uuid.in_(uuids),
            )
        )
        .tuples()
        .all()
    )
    return [
        {
            "question_uuid": row.question_uuid,
            "due_at": row.due_at,
            "content": contents[row.question_uuid],
            "decision": decisions.get(row.question_uuid),
        }
        for row in page
    ]


# --- drafts -------------------------------------------------------------------------------------------------


def read_draft(
    connection: Connection, batch_id: str, question_uuid: str, annotator: str
) -> dict[str, Any] | None:
    """What the annotator began on the question: `draft` and `saved_at`; null when nothing."""
    row = connection.execute(
        select(review_drafts.c.draft, review_drafts.c.saved_at).where(
            _find_draft(batch_id, question_uuid, annotator)
        )
    ).first()
    return None if row is None else dict(row._mapping)


def replace_draft(
    connection: Connection,
    batch_id: str,
    question_uuid: str,
    annotator: str,
    draft: Mapping[str, Any] | None,
    saved_at: str,
) -> None:
    """Keep a draft in the place of an earlier one; null only takes that away."""
    connection.execute(delete(review_drafts).where(_find_draft(batch_id, question_uuid, annotator)))
    if draft is not None:
        connection.execute(
            insert(review_drafts).values(
                batch_id=batch_id,
                question_uuid=question_uuid,
                annotator=annotator,
                draft=dict(draft),
                saved_at=saved_at,
            )
        )


def _find_draft(batch_id: str, question_uuid: str, annotator: str) -> ColumnElement[bool]:
    return and_(
        review_drafts.c.batch_id == batch_id,
        review_drafts.c.question_uuid == question_uuid,
        review_drafts.c.annotator == annotator,
    )
