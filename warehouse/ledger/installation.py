"""The installation that a ledger belongs to, and how many transactions it has acknowledged."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select, update

from warehouse.ledger.engine import now_text
from warehouse.ledger.tables import installation


def read_ledger_id(connection: Connection) -> str | None:
    """The id; null for a ledger that was given none yet."""
    found = connection.execute(select(installation.c.installation_id)).scalar()
    return None if found is None else str(found)


def give_installation_id(connection: Connection, installation_id: str) -> None:
    """Write the id into a ledger, in the place of one that it has."""
    if read_ledger_id(connection) is None:
        connection.execute(
            insert(installation).values(
                number=1, installation_id=installation_id, given_at=now_text(), commit_count=0
            )
        )
    else:
        connection.execute(update(installation).values(installation_id=installation_id))
