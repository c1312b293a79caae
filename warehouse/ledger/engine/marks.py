"""Up to when something was landed, so that the next flow looks only at what came later."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from warehouse.ledger.engine.tables import landing_marks


class Mark(NamedTuple):
    """Everything older than `marked_at` is in a lake that had `unit_count` units; one with fewer is another lake."""

    marked_at: str
    unit_count: int


def read_mark(connection: Connection, name: str) -> Mark | None:
    """The mark of that name; null before the first landing."""
    row = connection.execute(
        select(landing_marks.c.marked_at, landing_marks.c.unit_count).where(landing_marks.c.name == name)
    ).first()
    return None if row is None else Mark(*row)


def write_mark(connection: Connection, name: str, mark: Mark) -> None:
    """Replace the mark of that name."""
    connection.execute(delete(landing_marks).where(landing_marks.c.name == name))
    connection.execute(landing_marks.insert().values(name=name, **mark._asdict()))
