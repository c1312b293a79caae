"""How the review's tables belong together; all here take a connection, to be joined in one."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, exists

from warehouse.ledger.engine.tables import review_assignments, review_gold, reviews

_QUESTION: Final = ("batch_id", "question_uuid")


def is_same(one: Any, other: Any, *more: str) -> ColumnElement[bool]:
    """Whether rows of two tables are of one question of a batch, and agree in `more` columns."""
    return and_(*(one.c[name] == other.c[name] for name in (*_QUESTION, *more)))


def is_gold(table: Any) -> ColumnElement[bool]:
    """Whether a row is of a planted question: work like the rest, no review of the bank."""
    return exists().where(is_same(review_gold, table))


def read_values(connection: Connection, statement: Select[Any]) -> list[dict[str, Any]]:
    """The rows of a statement, by the names of its columns."""
    return [dict(row) for row in connection.execute(statement).mappings()]


# Of an assignment the decision that its annotator gave.
OWN_DECISION: Final = is_same(reviews, review_assignments, "annotator")
