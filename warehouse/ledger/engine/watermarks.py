"""Up to when something was landed, so that the next flow looks only at what came later."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, delete, select

from warehouse.ledger.engine.tables import landing_marks


class Watermark(NamedTuple):
    """Everything older than `marked_at` is in a lake that had `unit_count` units; one with fewer is another lake."""

    marked_at: str
    unit_count: int


def read_watermark(connection: Connection, name: str) -> Watermark | None:
    """The watermark of that name; null before the first landing."""
    row = connection.execute(
        select(landing_marks.c.marked_at, landing_marks.c.unit_count).where(landing_marks.c.name == name)
    ).first()
    return None if row is None else Watermark(*row)


def write_watermark(connection: Connection, name: str, mark: Watermark) -> None:
    """Replace the watermark of that name."""
    connection.execute(delete(landing_marks).where(landing_marks.c.name == name))
    connection.execute(landing_marks.insert().values(name=name, **mark._asdict()))
