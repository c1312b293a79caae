"""The review gate in the ledger: batches, what is in them, who decides on what, and what was decided.

Every function takes a connection, so that a caller joins several of them in one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, func, insert, select, update

from warehouse.ledger.tables import (
    review_assignments,
    review_batches,
    review_questions,
    reviews,
    users,
)

Row = Mapping[str, Any]
# SQLite allows 32,766 bound values in a statement.
MOST_PER_STATEMENT = 5_000


def read_annotators(connection: Connection) -> list[dict[str, Any]]:
    """Active annotators: `user_id` and `disciplines` (null: all), by id."""
    rows = connection.execute(
        select(users.c.user_id, users.c.disciplines)
        .where(users.c.role == "annotator", users.c.is_active)
        .order_by(users.c.user_id)
    )
    return [dict(row._mapping) for row in rows]


def read_unknown_users(connection: Connection, user_ids: Collection[str]) -> set[str]:
    """Those of `user_ids` that are not active users of the ledger."""
    known = connection.execute(select(users.c.user_id).where(users.c.is_active)).scalars()
    return set(user_ids) - set(known)


def read_batch(connection: Connection, batch_id: str) -> dict[str, Any] | None:
    """The batch, or null."""
    row = connection.execute(select(review_batches).where(review_batches.c.batch_id == batch_id)).first()
    return None if row is None else dict(row._mapping)


def read_batches(connection: Connection) -> list[dict[str, Any]]:
    """All batches with `question_count`, oldest first."""
    counts = (
        select(review_questions.c.batch_id, func.count().label("question_count"))
        .group_by(review_questions.c.batch_id)
        .subquery()
    )
    rows = connection.execute(
        select(review_batches, counts.c.question_count)
        .join(counts, counts.c.batch_id == review_batches.c.batch_id)
        .order_by(review_batches.c.created_at, review_batches.c.batch_id)
    )
    return [dict(row._mapping) for row in rows]


def read_items(
    connection: Connection, batch_id: str, question_uuids: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Questions of the batch by UUID; `question_uuids` takes only these."""
    table = review_questions.c
    statement = select(review_questions).where(table.batch_id == batch_id).order_by(table.question_uuid)
    return _read_of(connection, statement, table.question_uuid, question_uuids)


def read_assignments(
    connection: Connection,
    batch_id: str,
    annotator: str | None = None,
    role: str | None = None,
    question_uuids: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Assignments of the batch with the question's discipline, by question and annotator; `question_uuids` takes only these."""
    statement = (
        select(review_assignments, review_questions.c.discipline)
        .join(
            review_questions,
            and_(
                review_questions.c.batch_id == review_assignments.c.batch_id,
                review_questions.c.question_uuid == review_assignments.c.question_uuid,
            ),
        )
        .where(review_assignments.c.batch_id == batch_id)
        .order_by(review_assignments.c.question_uuid, review_assignments.c.annotator)
    )
    if annotator is not None:
        statement = statement.where(review_assignments.c.annotator == annotator)
    if role is not None:
        statement = statement.where(review_assignments.c.role == role)
    return _read_of(connection, statement, review_assignments.c.question_uuid, question_uuids)


def read_decisions(
    connection: Connection,
    batch_id: str,
    annotator: str | None = None,
    question_uuids: Collection[str] | None = None,
) -> list[dict[str, Any]]:
    """Decisions of the batch, by question and annotator; `question_uuids` takes only these."""
    statement = (
        select(reviews)
        .where(reviews.c.batch_id == batch_id)
        .order_by(reviews.c.question_uuid, reviews.c.annotator)
    )
    if annotator is not None:
        statement = statement.where(reviews.c.annotator == annotator)
    return _read_of(connection, statement, reviews.c.question_uuid, question_uuids)


def read_batched_questions(connection: Connection) -> dict[str, str]:
    """Every question that is or was in a batch, with the (latest) batch."""
    rows = connection.execute(
        select(review_questions.c.question_uuid, review_questions.c.batch_id)
        .join(review_batches, review_batches.c.batch_id == review_questions.c.batch_id)
        .order_by(review_batches.c.created_at, review_batches.c.batch_id)
    )
    return {row.question_uuid: row.batch_id for row in rows}


def read_past_decisions(connection: Connection, question_uuids: Collection[str]) -> dict[str, set[str]]:
    """Who decided on each question in any batch."""
    past: dict[str, set[str]] = {}
    for chunk in _chunks(sorted(question_uuids)):
        rows = connection.execute(
            select(reviews.c.question_uuid, reviews.c.annotator).where(reviews.c.question_uuid.in_(chunk))
        )
        for row in rows:
            past.setdefault(row.question_uuid, set()).add(row.annotator)
    return past


def count_open_work(connection: Connection) -> dict[str, int]:
    """Per annotator, how many assignments of open batches still wait for a decision."""
    rows = connection.execute(
        select(review_assignments.c.annotator, func.count())
        .join(review_batches, review_batches.c.batch_id == review_assignments.c.batch_id)
        .outerjoin(
            reviews,
            and_(
                reviews.c.batch_id == review_assignments.c.batch_id,
                reviews.c.question_uuid == review_assignments.c.question_uuid,
                reviews.c.annotator == review_assignments.c.annotator,
            ),
        )
        .where(review_batches.c.status != "closed", reviews.c.decision.is_(None))
        .group_by(review_assignments.c.annotator)
    )
    return {row[0]: row[1] for row in rows}


def count_open_batches(connection: Connection) -> int:
    """How many batches are not closed."""
    query = select(func.count()).select_from(review_batches).where(review_batches.c.status != "closed")
    return int(connection.execute(query).scalar_one())


def read_pending(connection: Connection, batch_id: str, role: str, most: int) -> list[str]:
    """Questions on which somebody in that role still owes a decision; looks no further than `most` of them."""
    statement = (
        select(review_assignments.c.question_uuid)
        .outerjoin(
            reviews,
            and_(
                reviews.c.batch_id == review_assignments.c.batch_id,
                reviews.c.question_uuid == review_assignments.c.question_uuid,
                reviews.c.annotator == review_assignments.c.annotator,
            ),
        )
        .where(
            review_assignments.c.batch_id == batch_id,
            review_assignments.c.role == role,
            reviews.c.decision.is_(None),
        )
        .limit(most)
    )
    return list(connection.execute(statement).scalars())


def insert_batch(
    connection: Connection, batch: Row, items: Sequence[Row], assignments: Sequence[Row]
) -> None:
    """Write a batch with its questions and assignments."""
    connection.execute(insert(review_batches), [dict(batch)])
    connection.execute(insert(review_questions), [dict(item) for item in items])
    _insert_placed(connection, assignments, _find_places(items))


def insert_assignments(connection: Connection, assignments: Sequence[Row]) -> None:
    """Write assignments of questions that lie in their batches already; an empty list writes none."""
    of_batch: dict[str, list[Row]] = {}
    for row in assignments:
        of_batch.setdefault(row["batch_id"], []).append(row)
    for batch_id, rows in of_batch.items():
        _insert_placed(
            connection, rows, _read_places(connection, batch_id, {row["question_uuid"] for row in rows})
        )


def replace_decisions(connection: Connection, decisions: Sequence[Row]) -> None:
    """Write decisions, each in the place of an earlier one of the same annotator on the same question."""
    for row in decisions:
        connection.execute(
            delete(reviews).where(
                reviews.c.batch_id == row["batch_id"],
                reviews.c.question_uuid == row["question_uuid"],
                reviews.c.annotator == row["annotator"],
            )
        )
    if decisions:
        connection.execute(insert(reviews), [dict(row) for row in decisions])


def update_batch(connection: Connection, batch_id: str, **values: Any) -> None:
    """Set columns of the batch."""
    connection.execute(update(review_batches).where(review_batches.c.batch_id == batch_id).values(**values))


def lock_batch(connection: Connection, batch_id: str) -> dict[str, Any] | None:
    """Read the batch and keep others from changing it until the transaction ends (SQLite holds the whole file)."""
    row = connection.execute(
        select(review_batches).where(review_batches.c.batch_id == batch_id).with_for_update()
    ).first()
    return None if row is None else dict(row._mapping)


def lock_assigning(connection: Connection) -> None:
    """Keep two assignments from taking the same questions; SQLite's transaction holds the whole file anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE review_batches IN SHARE ROW EXCLUSIVE MODE")


def _read_of(
    connection: Connection,
    statement: Select[Any],
    column: ColumnElement[str],
    question_uuids: Collection[str] | None,
) -> list[dict[str, Any]]:
    """Rows of the statement; with `question_uuids` only theirs, in as many statements as a store allows."""
    if question_uuids is None:
        return [dict(row._mapping) for row in connection.execute(statement)]
    return [
        dict(row._mapping)
        for chunk in _chunks(sorted(question_uuids))
        for row in connection.execute(statement.where(column.in_(chunk)))
    ]


def _insert_placed(connection: Connection, assignments: Sequence[Row], places: Mapping[str, Row]) -> None:
    if assignments:
        connection.execute(
            insert(review_assignments), [{**row, **places[row["question_uuid"]]} for row in assignments]
        )


def _find_places(items: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """`place` and `has_answer` of each question, in the order in which papers are read."""
    ordered = sorted(
        items,
        key=lambda item: (
            item["document_id"] or "",
            item["content"].get("position") or 0,
            item["question_uuid"],
        ),
    )
    return {
        item["question_uuid"]: {"place": place, "has_answer": bool(item["content"].get("answer"))}
        for place, item in enumerate(ordered, start=1)
    }


def _read_places(
    connection: Connection, batch_id: str, question_uuids: Collection[str]
) -> dict[str, dict[str, Any]]:
    """`place` and `has_answer` as they stand on the first assignments of these questions."""
    table = review_assignments.c
    places: dict[str, dict[str, Any]] = {}
    for chunk in _chunks(sorted(question_uuids)):
        rows = connection.execute(
            select(table.question_uuid, table.place, table.has_answer).where(
                table.batch_id == batch_id, table.question_uuid.in_(chunk)
            )
        )
        places |= {row.question_uuid: {"place": row.place, "has_answer": row.has_answer} for row in rows}
    for question_uuid in question_uuids:
        places.setdefault(question_uuid, {"place": 0, "has_answer": True})
    return places


def _chunks(values: Sequence[str]) -> Iterable[Sequence[str]]:
    for start in range(0, len(values), MOST_PER_STATEMENT):
        yield values[start : start + MOST_PER_STATEMENT]
