"""Up to when something was landed, so that the next flow looks only at what came later."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from schemas.ledger.engine import LandingMark
from warehouse.ledger.engine.rows import insert_rows, read_row
from warehouse.ledger.engine.tables import landing_marks


def read_watermark(connection: Connection, name: str) -> LandingMark | None:
    """The watermark of that name; None before the first landing."""
    return read_row(connection, LandingMark, select(landing_marks).where(landing_marks.c.name == name))


def write_watermark(connection: Connection, mark: LandingMark) -> None:
    """Replace the watermark of that name."""
    connection.execute(delete(landing_marks).where(landing_marks.c.name == mark.name))
    insert_rows(connection, [mark])
