"""The roots of published editions, never changed: by them the lake is held."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select

from warehouse.ledger.engine.logs.stages import close_units
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.statements import iter_chunks
from warehouse.ledger.engine.tables import edition_roots, sessions


def keep_root(connection: Connection, edition_id: str, root_hash: str) -> None:
    """Keep the root of an edition; the first one kept stays."""
    known = connection.execute(
        select(edition_roots.c.edition_id).where(edition_roots.c.edition_id == edition_id)
    ).first()
    if known is None:
        connection.execute(
            insert(edition_roots).values(edition_id=edition_id, root_hash=root_hash, kept_at=now_text())
        )
    close_units(connection, "editions", [(edition_id,)])


def read_roots(connection: Connection) -> dict[str, str]:
    """Edition → its root."""
    rows = connection.execute(select(edition_roots.c.edition_id, edition_roots.c.root_hash))
    return {str(name): str(root) for name, root in rows}


def read_owners(connection: Connection, session_ids: Sequence[str]) -> dict[str, str]:
    """Session → the key (as in plans and orders) of its candidate's organisation."""
    return {
        str(session): str(owner)
        for names in iter_chunks(sorted(session_ids))
        for session, owner in connection.execute(
            select(sessions.c.session_id, sessions.c.organisation).where(sessions.c.session_id.in_(names))
        )
    }
