"""Deadlines of sessions, and what a session that is closed unfinished leaves behind."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, RowMapping, and_, func, select, update

from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.tables import allocations, responses, runs, sessions


def write_deadlines(
    connection: Connection,
    *,
    deadline_at: str,
    question_s: float,
    run_id: str | None = None,
    session_id: str | None = None,
) -> int:
    """Set the missing deadlines of a run, a session or all open runs; returns how many."""
    waiting = (
        select(sessions.c.session_id, sessions.c.is_outside)
        .join(runs, runs.c.run_id == sessions.c.run_id)
        .where(runs.c.status == "open", sessions.c.status != "closed", sessions.c.deadline_at.is_(None))
    )
    if run_id is not None:
        waiting = waiting.where(sessions.c.run_id == run_id)
    if session_id is not None:
        waiting = waiting.where(sessions.c.session_id == session_id)
    found = connection.execute(waiting).all()
    for row in found:
        connection.execute(
            update(sessions)
            .where(sessions.c.session_id == row.session_id)
            .values(deadline_at=deadline_at, question_s=question_s if row.is_outside else None)
        )
        add_entry(
            connection,
            Entry("set_deadline", session_id=row.session_id, target=deadline_at, is_by_caller=True),
        )
    return len(found)


def list_unfinished(connection: Connection, *, target: str) -> list[str]:
    """The sessions of a run, or the one session, that are not closed."""
    query = select(sessions.c.session_id).where(
        sessions.c.status != "closed", (sessions.c.run_id == target) | (sessions.c.session_id == target)
    )
    return list(connection.execute(query.order_by(sessions.c.session_id)).scalars())


class OverdueSession(NamedTuple):
    """A session that is not closed, its deadline, and when its run was planned."""

    session_id: str
    deadline_at: str
    planned_at: str


def list_overdue(connection: Connection, *, before: str) -> list[OverdueSession]:
    """Sessions of open runs, not closed, with a deadline at or before `before`; by name."""
    query = (
        select(sessions.c.session_id, sessions.c.deadline_at, runs.c.planned_at)
        .join(runs, runs.c.run_id == sessions.c.run_id)
        .where(runs.c.status == "open", sessions.c.status != "closed", sessions.c.deadline_at <= before)
    )
    return [OverdueSession(*row) for row in connection.execute(query.order_by(sessions.c.session_id))]


def read_oldest_planning(connection: Connection) -> str | None:
    """When the oldest run that is open was planned; null where none is."""
    found = connection.execute(select(func.min(runs.c.planned_at)).where(runs.c.status == "open")).scalar()
    return None if found is None else str(found)


def read_run_of(connection: Connection, target: str) -> str | None:
    """The run of that id, or the run of the session of that id; null when there is neither."""
    found = connection.execute(select(runs.c.run_id).where(runs.c.run_id == target)).scalar()
    if found is None:
        found = connection.execute(select(sessions.c.run_id).where(sessions.c.session_id == target)).scalar()
    return None if found is None else str(found)


def read_unanswered(connection: Connection, session_id: str) -> list[RowMapping]:
    """Positions without an answer, in order: seq and the last failed call's error, or None."""
    query = (
        select(allocations.c.seq, allocations.c.error)
        .select_from(
            allocations.outerjoin(
                responses,
                and_(
                    responses.c.session_id == allocations.c.session_id, responses.c.seq == allocations.c.seq
                ),
            )
        )
        .where(allocations.c.session_id == session_id, responses.c.seq.is_(None))
        .order_by(allocations.c.seq)
    )
    return list(connection.execute(query).mappings())


def write_call_error(connection: Connection, session_id: str, seq: int, error: str) -> None:
    """Note that a call failed for good; an answer that comes later voids the note."""
    connection.execute(
        update(allocations)
        .where(allocations.c.session_id == session_id, allocations.c.seq == seq)
        .values(error=error[:200])
    )
