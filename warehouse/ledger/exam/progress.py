"""The progress of a run by candidate: sessions, pace, what the calls have cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, case, func, select

from warehouse.ledger.engine.tables import allocations, llm_calls, runs, sessions
from warehouse.ledger.exam.archives import sum_archived

# Questions back from the present one to where a session's pace is taken.
PACE_SPAN = 20


def read_waiting_sessions(connection: Connection) -> list[tuple[str, int, str]]:
    """Unopened sessions of open runs but outside ones: run, how many, when planned."""
    query = (
        select(runs.c.run_id, func.count(), runs.c.planned_at)
        .join(sessions, sessions.c.run_id == runs.c.run_id)
        .where(runs.c.status == "open", sessions.c.status == "planned", sessions.c.is_outside.is_(False))
        .group_by(runs.c.run_id, runs.c.planned_at)
        .order_by(runs.c.planned_at, runs.c.run_id)
    )
    return [(str(run_id), int(count), str(at)) for run_id, count, at in connection.execute(query)]


def read_session_paces(connection: Connection, run_id: str) -> list[RowMapping]:
    """One row per session of a run.

    A row has model, status, question_count, answered_count, and the session's recent pace. `span_count` questions were handed
    out from `span_from` until `span_to` (ISO text; null before the first question, and for sessions that are not open).
    """
    before, last = allocations.alias("before"), allocations.alias("last")
    first = case((sessions.c.next_seq - PACE_SPAN > 1, sessions.c.next_seq - PACE_SPAN), else_=1)
    query = (
        select(
            sessions.c.session_id,
            sessions.c.model,
            sessions.c.status,
            sessions.c.question_count,
            sessions.c.answered_count,
            (sessions.c.next_seq - 1 - first).label("span_count"),
            before.c.delivered_at.label("span_from"),
            last.c.delivered_at.label("span_to"),
        )
        .select_from(
            sessions.outerjoin(
                before,
                and_(
                    sessions.c.status == "open",
                    before.c.session_id == sessions.c.session_id,
                    before.c.seq == first,
                ),
            ).outerjoin(
                last,
                and_(
                    sessions.c.status == "open",
                    last.c.session_id == sessions.c.session_id,
                    last.c.seq == sessions.c.next_seq - 1,
                ),
            )
        )
        .where(sessions.c.run_id == run_id)
        .order_by(sessions.c.model, sessions.c.session_id)
    )
    return list(connection.execute(query).mappings())


def read_call_sums(connection: Connection, run_id: str, purpose: str) -> list[Mapping[str, Any]]:
    """Calls of a run for a purpose, by model, status and error.

    For each: how many calls, and what they cost (None: unknown). Each part of a run that has left the ledger has rows of its own.
    The cost is that which the budget counts (`calls.read_spent_usd`): with attempts of unknown bill, and replies that came second.
    """
    extra = llm_calls.c.extra_usd
    cost = case((extra > 0, func.coalesce(llm_calls.c.cost_usd, 0.0) + extra), else_=llm_calls.c.cost_usd)
    query = (
        select(
            llm_calls.c.model,
            llm_calls.c.status,
            llm_calls.c.error,
            func.count().label("call_count"),
            func.sum(cost).label("cost_usd"),
        )
        .where(llm_calls.c.run_id == run_id, llm_calls.c.purpose == purpose)
        .group_by(llm_calls.c.model, llm_calls.c.status, llm_calls.c.error)
        .order_by(llm_calls.c.model, llm_calls.c.status, llm_calls.c.error)
    )
    archived = [
        call
        for _, sums in sum_archived(connection, run_id=run_id)
        for call in sums["calls"]
        if call["purpose"] == purpose
    ]
    return [*map(dict, connection.execute(query).mappings()), *archived]
