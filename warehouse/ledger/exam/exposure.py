"""Who may still be asked a question."""

from __future__ import annotations

from sqlalchemy import Connection, select

from warehouse.ledger.engine.tables import sessions, sets


def find_open_session(connection: Connection, lineage_uuid: str) -> str | None:
    """A session that has a question of the lineage and is not closed; null where there is none."""
    query = (
        select(sessions.c.session_id)
        .join(sets, sets.c.set_id == sessions.c.set_id)
        .where(sessions.c.status != "closed", sets.c.lineage_uuid == lineage_uuid)
    )
    found = connection.execute(query.limit(1)).scalar()
    return None if found is None else str(found)
