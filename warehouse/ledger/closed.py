"""What a run has closed, as it is to be landed: its sessions, their sets, and every answer with its question."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, RowMapping, and_, select

from warehouse.ledger.statements import iter_chunks
from warehouse.ledger.tables import allocations, answers, runs, sessions, set_items, sets


def list_closed_sessions(connection: Connection, run_id: str) -> list[RowMapping]:
    """The closed sessions of a run with the run's month and bank version."""
    query = (
        select(sessions, runs.c.month, runs.c.bank_version)
        .join(runs, runs.c.run_id == sessions.c.run_id)
        .where(sessions.c.run_id == run_id, sessions.c.status == "closed")
        .order_by(sessions.c.session_id)
    )
    return list(connection.execute(query).mappings())


def list_run_sets(connection: Connection, run_id: str) -> list[str]:
    """The sets that a run's sessions sit."""
    query = (
        select(sessions.c.set_id).where(sessions.c.run_id == run_id).distinct().order_by(sessions.c.set_id)
    )
    return list(connection.execute(query).scalars())


def read_set_rows(connection: Connection, set_ids: Sequence[str]) -> list[RowMapping]:
    """One row per lineage of these sets, without content."""
    query = (
        select(
            sets.c.set_id,
            sets.c.set_number,
            sets.c.season,
            sets.c.bank_version,
            set_items.c.lineage_uuid,
            set_items.c.question_uuid,
            set_items.c.discipline,
            sets.c.is_simulated,
        )
        .join(set_items, set_items.c.set_id == sets.c.set_id)
        .order_by(sets.c.set_id, set_items.c.lineage_uuid)
    )
    return [
        row
        for names in iter_chunks(set_ids)
        for row in connection.execute(query.where(sets.c.set_id.in_(names))).mappings()
    ]


def read_answer_rows(connection: Connection, session_ids: Sequence[str]) -> list[RowMapping]:
    """One row per allocation of these sessions: question, discipline, content, and the answer's columns (null if none)."""
    query = (
        select(
            allocations.c.session_id,
            allocations.c.seq,
            allocations.c.lineage_uuid,
            allocations.c.allocated_at,
            set_items.c.question_uuid,
            set_items.c.discipline,
            set_items.c.content,
            *(column for column in answers.c if column.name not in ("session_id", "seq", "call_key")),
        )
        .select_from(
            allocations.join(sessions, sessions.c.session_id == allocations.c.session_id)
            .join(
                set_items,
                and_(
                    set_items.c.set_id == sessions.c.set_id,
                    set_items.c.lineage_uuid == allocations.c.lineage_uuid,
                ),
            )
            .outerjoin(
                answers,
                and_(answers.c.session_id == allocations.c.session_id, answers.c.seq == allocations.c.seq),
            )
        )
        .order_by(allocations.c.session_id, allocations.c.seq)
    )
    return [
        row
        for names in iter_chunks(session_ids)
        for row in connection.execute(query.where(allocations.c.session_id.in_(names))).mappings()
    ]
