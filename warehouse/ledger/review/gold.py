"""Questions with a known decision among the work of a review batch, in the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from warehouse.ledger.engine.tables import review_assignments, review_gold, review_questions, reviews
from warehouse.ledger.review.joins import OWN_DECISION, is_same, read_values


def insert_gold(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Mark questions of a batch as planted; an empty list marks none."""
    if rows:
        connection.execute(insert(review_gold), rows)


def read_gold_reviews(connection: Connection, batch_id: str | None = None) -> list[dict[str, Any]]:
    """Planted questions of one batch or all, one row for each annotator they are given to.

    They are in order of batch, question and annotator. With the question as it is shown and the decision
    given on it: `decision`, `edited_fields` and `decided_at` are null until there is one.
    """
    statement = (
        select(
            review_gold,
            review_questions.c.discipline,
            review_questions.c.content,
            review_assignments.c.annotator,
            review_assignments.c.assigned_at,
            reviews.c.decision,
            reviews.c.edited_fields,
            reviews.c.decided_at,
        )
        .join(review_questions, is_same(review_questions, review_gold))
        .join(review_assignments, is_same(review_assignments, review_gold))
        .outerjoin(reviews, OWN_DECISION)
        .order_by(review_gold.c.batch_id, review_gold.c.question_uuid, review_assignments.c.annotator)
    )
    if batch_id is not None:
        statement = statement.where(review_gold.c.batch_id == batch_id)
    return read_values(connection, statement)


def read_gold_uuids(connection: Connection, batch_id: str) -> set[str]:
    """Questions of the batch that are planted."""
    rows = connection.execute(
        select(review_gold.c.question_uuid).where(review_gold.c.batch_id == batch_id)
    ).scalars()
    return set(rows)


def read_gold_source(connection: Connection, batch_id: str, question_uuid: str) -> tuple[str, str] | None:
    """Batch and question that a planted question was made from; null for any other."""
    row = connection.execute(
        select(review_gold.c.source_batch, review_gold.c.source_uuid).where(
            review_gold.c.batch_id == batch_id, review_gold.c.question_uuid == question_uuid
        )
    ).first()
    return None if row is None else (str(row[0]), str(row[1]))
