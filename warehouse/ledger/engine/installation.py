"""The installation that a ledger belongs to, and how many transactions it has acknowledged."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.tables import exam_installation, installation


def read_ledger_id(connection: Connection) -> str | None:
    """The id; null for a ledger that was given none yet."""
    found = connection.execute(select(installation.c.installation_id)).scalar()
    return None if found is None else str(found)


def give_installation_id(connection: Connection, installation_id: str) -> None:
    """Write the id into both sides of a ledger, in the place of one that they have."""
    for table in (installation, exam_installation):
        held = connection.execute(select(table.c.installation_id)).scalar()
        if held is None:
            row = {"number": 1, "installation_id": installation_id, "given_at": now_text(), "commit_count": 0}
            connection.execute(insert(table).values(**row))
        elif held != installation_id:
            connection.execute(update(table).values(installation_id=installation_id))
