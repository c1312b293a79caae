"""The review gate in the ledger: batches, what is in them, who decides, what was decided."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, delete, exists, func, insert, select, update

from schemas.ledger.review import ReviewBatch
from warehouse.ledger.engine.many import insert_rows, insert_tuples, list_values
from warehouse.ledger.engine.rows import read_row, read_rows
from warehouse.ledger.engine.tables import (
    review_assignments,
    review_batches,
    review_questions,
    reviews,
    users,
)
from warehouse.ledger.review.joins import OWN_DECISION, is_gold, is_same, read_values

Row = Mapping[str, Any]

# The order of tuples that are written by the ten thousand.
QUESTION_COLUMNS: Final = (
    "batch_id",
    "question_uuid",
    "revision",
    "lineage_uuid",
    "document_id",
    "discipline",
    "content",
)
ASSIGNMENT_COLUMNS: Final = (
    *("batch_id", "question_uuid", "annotator", "role", "assigned_at", "due_at", "place", "has_answer"),
)


def read_unknown_users(connection: Connection, user_ids: Collection[str]) -> set[str]:
    """Those of `user_ids` that are not active users of the ledger."""
    known = connection.execute(select(users.c.user_id).where(users.c.is_active)).scalars()
    return set(user_ids) - set(known)


def read_batch(connection: Connection, batch_id: str, *, lock: bool = False) -> ReviewBatch | None:
    """The batch, or null; `lock` keeps others from changing it until the transaction ends."""
    query = select(review_batches).where(review_batches.c.batch_id == batch_id)
    return read_row(connection, ReviewBatch, query.with_for_update() if lock else query)


def read_batches(connection: Connection) -> list[ReviewBatch]:
    """All batches that hold a question, oldest first."""
    held = exists().where(review_questions.c.batch_id == review_batches.c.batch_id)
    order = (review_batches.c.created_at, review_batches.c.batch_id)
    return read_rows(connection, ReviewBatch, select(review_batches).where(held).order_by(*order))


def read_items(
    connection: Connection,
    batch_id: str,
    annotator: str | None = None,
    question_uuids: Collection[str] | None = None,
    *,
    with_gold: bool = False,
) -> list[dict[str, Any]]:
    """A batch's questions by UUID, of one person or these; planted ones only if asked for."""
    table = review_questions.c
    statement = select(review_questions).where(table.batch_id == batch_id).order_by(table.question_uuid)
    if annotator is not None:
        own = and_(review_assignments.c.batch_id == batch_id, review_assignments.c.annotator == annotator)
        statement = statement.where(
            table.question_uuid.in_(select(review_assignments.c.question_uuid).where(own))
            if question_uuids is None
            # A few questions are looked up one by one: the planner would go through all that somebody has.
            else exists().where(own, review_assignments.c.question_uuid == table.question_uuid)
        )
    if not with_gold:
        statement = statement.where(~is_gold(review_questions))
    return _read_of(connection, statement, table.question_uuid, question_uuids)


def list_question_uuids(connection: Connection, batch_id: str) -> list[str]:
    """The questions of the batch, planted ones too, by UUID."""
    table = review_questions.c
    query = select(table.question_uuid).where(table.batch_id == batch_id).order_by(table.question_uuid)
    return list(connection.execute(query).scalars())


def read_assignments(
    connection: Connection,
    batch_id: str,
    annotator: str | None = None,
    role: str | None = None,
    question_uuids: Collection[str] | None = None,
    *,
    with_gold: bool = True,
) -> list[dict[str, Any]]:
    """A batch's assignments with discipline, by question and annotator; planted ones, too."""
    statement = (
        select(review_assignments, review_questions.c.discipline)
        .join(review_questions, is_same(review_questions, review_assignments))
        .where(review_assignments.c.batch_id == batch_id)
        .order_by(review_assignments.c.question_uuid, review_assignments.c.annotator)
    )
    if annotator is not None:
        statement = statement.where(review_assignments.c.annotator == annotator)
    if role is not None:
        statement = statement.where(review_assignments.c.role == role)
    if not with_gold:
        statement = statement.where(~is_gold(review_assignments))
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


def read_batched_questions(connection: Connection, question_uuids: Collection[str]) -> dict[str, str]:
    """Those of the questions that are or were in a batch to be reviewed, with the latest batch."""
    rows = connection.execute(
        select(review_questions.c.question_uuid, review_questions.c.batch_id)
        .join(review_batches, review_batches.c.batch_id == review_questions.c.batch_id)
        .where(
            review_questions.c.question_uuid.in_(list_values(connection, question_uuids)),
            ~is_gold(review_questions),
        )
        .order_by(review_batches.c.created_at, review_batches.c.batch_id)
    )
    return {row.question_uuid: row.batch_id for row in rows}


def read_past_decisions(connection: Connection, question_uuids: Collection[str]) -> dict[str, set[str]]:
    """Who decided on each question in any batch."""
    past: dict[str, set[str]] = {}
    rows = connection.execute(
        select(reviews.c.question_uuid, reviews.c.annotator).where(
            reviews.c.question_uuid.in_(list_values(connection, question_uuids))
        )
    )
    for row in rows:
        past.setdefault(row.question_uuid, set()).add(row.annotator)
    return past


def count_open_work(connection: Connection) -> dict[str, int]:
    """Per annotator, how many assignments of open batches still wait for a decision."""
    rows = connection.execute(
        select(review_assignments.c.annotator, func.count())
        .join(review_batches, review_batches.c.batch_id == review_assignments.c.batch_id)
        .outerjoin(reviews, OWN_DECISION)
        .where(review_batches.c.status != "closed", reviews.c.decision.is_(None))
        .group_by(review_assignments.c.annotator)
    )
    return {row[0]: row[1] for row in rows}


def count_open_batches(connection: Connection) -> int:
    """How many batches are not closed."""
    query = select(func.count()).select_from(review_batches).where(review_batches.c.status != "closed")
    return int(connection.execute(query).scalar_one())


def read_pending(connection: Connection, batch_id: str, role: str, most: int) -> list[str]:
    """At most `most` questions on which somebody in that role still owes a decision."""
    statement = (
        select(review_assignments.c.question_uuid)
        .outerjoin(reviews, OWN_DECISION)
        .where(
            review_assignments.c.batch_id == batch_id,
            review_assignments.c.role == role,
            reviews.c.decision.is_(None),
            ~is_gold(review_assignments),
        )
        .limit(most)
    )
    return list(connection.execute(statement).scalars())


def insert_questions(connection: Connection, items: Sequence[Row]) -> None:
    """Write questions of a batch; an empty list writes none."""
    insert_rows(connection, review_questions, [column.name for column in review_questions.c], items)


def insert_question_tuples(connection: Connection, items: Sequence[tuple[Any, ...]]) -> None:
    """Write questions by the ten thousand: tuples in the order of QUESTION_COLUMNS, encoded."""
    insert_tuples(connection, review_questions, QUESTION_COLUMNS, items)


def insert_assignment_tuples(connection: Connection, assignments: Sequence[tuple[Any, ...]]) -> None:
    """Write assignments by the ten thousand: tuples in the order of ASSIGNMENT_COLUMNS."""
    insert_tuples(connection, review_assignments, ASSIGNMENT_COLUMNS, assignments)


def insert_assignments(connection: Connection, assignments: Sequence[Row]) -> None:
    """Write assignments; `place` and `has_answer`, where not said, are as first assigned."""
    unplaced: dict[str, set[str]] = {}
    for row in assignments:
        if "place" not in row:
            unplaced.setdefault(row["batch_id"], set()).add(row["question_uuid"])
    places = {name: _read_places(connection, name, uuids) for name, uuids in unplaced.items()}
    rows = [
        row if "place" in row else {**row, **places[row["batch_id"]][row["question_uuid"]]}
        for row in assignments
    ]
    insert_rows(connection, review_assignments, [column.name for column in review_assignments.c], rows)


def replace_decisions(connection: Connection, decisions: Sequence[Row]) -> None:
    """Write decisions in the place of the same annotator's earlier ones on the question."""
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


def lock_assigning(connection: Connection) -> None:
    """Keep two assignments from the same questions; SQLite's transaction holds the file anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("LOCK TABLE review_batches IN SHARE ROW EXCLUSIVE MODE")


def _read_of(
    connection: Connection,
    statement: Select[Any],
    column: ColumnElement[str],
    question_uuids: Collection[str] | None,
) -> list[dict[str, Any]]:
    """Rows of the statement; with `question_uuids` only theirs."""
    if question_uuids is not None:
        statement = statement.where(column.in_(list_values(connection, question_uuids)))
    return read_values(connection, statement)


def _read_places(
    connection: Connection, batch_id: str, question_uuids: Collection[str]
) -> dict[str, dict[str, Any]]:
    """`place` and `has_answer` as they stand on the first assignments of these questions."""
    table = review_assignments.c
    places = {uuid: {"place": 0, "has_answer": True} for uuid in question_uuids}
    rows = connection.execute(
        select(table.question_uuid, table.place, table.has_answer).where(
            table.batch_id == batch_id, table.question_uuid.in_(list_values(connection, question_uuids))
        )
    )
    for row in rows:
        places[row.question_uuid] = {"place": row.place, "has_answer": row.has_answer}
    return places
