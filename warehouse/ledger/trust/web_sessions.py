"""Who is signed in at the web desk."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, insert, select

from warehouse.ledger.engine.tables import users, web_sessions


def insert_session(
    connection: Connection, session_hash: str, user_id: str, started_at: str, expires_at: str
) -> None:
    """Write a session; those that have expired leave the table."""
    connection.execute(delete(web_sessions).where(web_sessions.c.expires_at < started_at))
    connection.execute(
        insert(web_sessions).values(
            session_hash=session_hash, user_id=user_id, started_at=started_at, expires_at=expires_at
        )
    )


def read_session(connection: Connection, session_hash: str, now: str) -> dict[str, Any] | None:
    """`user_id`, `role`, `expires_at` of an active user's web session; None once it is over."""
    row = connection.execute(
        select(users.c.user_id, users.c.role, web_sessions.c.expires_at)
        .join(users, users.c.user_id == web_sessions.c.user_id)
        .where(
            web_sessions.c.session_hash == session_hash, web_sessions.c.expires_at >= now, users.c.is_active
        )
    ).first()
    return None if row is None else dict(row._mapping)


def delete_session(connection: Connection, session_hash: str) -> None:
    """End a session."""
    connection.execute(delete(web_sessions).where(web_sessions.c.session_hash == session_hash))


def delete_sessions(connection: Connection, user_id: str) -> None:
    """End every session of a user."""
    connection.execute(delete(web_sessions).where(web_sessions.c.user_id == user_id))


# --- an annotator's queue -----------------------------------------------------------------------------------
