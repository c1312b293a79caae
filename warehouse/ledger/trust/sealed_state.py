"""What the ledger holds of what the audit log's entries fix, for the check of the log."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from warehouse.ledger.engine.logs.digests import read_set_digest
from warehouse.ledger.engine.statements import HotStatement
from warehouse.ledger.engine.tables import (
    access_log,
    allocations,
    budget_limits,
    ended_tokens,
    llm_calls,
    organisations,
    responses,
    run_plans,
    runs,
    sessions,
    set_keys,
    set_numbers,
    sets,
)
from warehouse.ledger.exam.archives import find_session, list_archives
from warehouse.ledger.exam.closed import list_run_sets


def list_sessions(connection: Connection) -> list[Row[Any]]:
    """(session_id, run_id, status, answered_count, deadline_at) of every session, by id."""
    query = select(
        sessions.c.session_id,
        sessions.c.run_id,
        sessions.c.status,
        sessions.c.answered_count,
        sessions.c.deadline_at,
    )
    return list(connection.execute(query.order_by(sessions.c.session_id)))


def read_session_states(connection: Connection) -> dict[str, list[Any]]:
    """Closed session → its row, counts and archive, which tell unread whether it is as it was."""
    parts = {name: part.rows_hash for part in list_archives(connection) for name in part.session_ids}
    counts = [
        dict(
            connection.execute(select(table.c.session_id, func.count()).group_by(table.c.session_id))
            .tuples()
            .all()
        )
        for table in (allocations, responses, access_log)
    ]
    units = (
        select(llm_calls.c.unit, func.count()).where(llm_calls.c.unit.is_not(None)).group_by(llm_calls.c.unit)
    )
    closed = set(
        connection.execute(select(sessions.c.session_id).where(sessions.c.status == "closed")).scalars()
    )
    calls: Counter[str] = Counter()
    for unit, count in connection.execute(units):
        calls[find_session(unit, closed) or unit] += count
    query = select(sessions).where(sessions.c.status == "closed").order_by(sessions.c.session_id)
    return {
        str(row.session_id): [
            *row,
            *(count.get(row.session_id, 0) for count in (*counts, calls)),
            parts.get(row.session_id),
        ]
        for row in connection.execute(query)
    }


def read_set_states(connection: Connection) -> dict[str, list[Any]]:
    """Set → its numbers, and how many questions the ledger has of it."""
    counts = dict(
        connection.execute(select(sets.c.set_id, func.count()).group_by(sets.c.set_id)).tuples().all()
    )
    query = select(set_numbers).order_by(set_numbers.c.set_id)
    return {str(row.set_id): [*row, counts.get(row.set_id, 0)] for row in connection.execute(query)}


def list_runs(connection: Connection) -> list[Row[Any]]:
    """(run_id, status, closed_at, seed) of every run, by id."""
    query = select(runs.c.run_id, runs.c.status, runs.c.closed_at, run_plans.c.seed)
    query = query.outerjoin(run_plans, run_plans.c.run_id == runs.c.run_id)
    return list(connection.execute(query.order_by(runs.c.run_id)))


def list_draw_keys(connection: Connection) -> dict[str, str]:
    """Set → the secret that its draw follows from; empty where there is none."""
    query = select(set_numbers.c.set_id, set_keys.c.draw_key)
    query = query.outerjoin(set_keys, set_keys.c.set_id == set_numbers.c.set_id)
    return {str(set_id): str(key or "") for set_id, key in connection.execute(query)}


def find_changed_sets(connection: Connection, run_id: str) -> list[str]:
    """Sets of a run's sessions that are not as they were drawn; without those no entry names."""
    found = []
    for set_id in list_run_sets(connection, run_id):
        entry = (
            select(access_log.c.digest)
            .where(access_log.c.target == set_id, access_log.c.action == "draw_set")
            .where(access_log.c.number.is_not(None), access_log.c.http_status == 200)
            .where(access_log.c.seq.is_(None))
            .order_by(access_log.c.access_id.desc())
        )
        drawn = connection.execute(entry.limit(1)).scalar()
        if drawn is not None and drawn != read_set_digest(connection, set_id):
            found.append(set_id)
    return found


def list_limits(connection: Connection) -> dict[str, int | None]:
    """Organisation → the most questions that it may be handed; null for no limit."""
    query = select(organisations.c.organisation, organisations.c.question_limit)
    return {str(name): limit for name, limit in connection.execute(query)}


def list_ends(connection: Connection) -> dict[tuple[str, str], float]:
    """(kind, name) → the Unix time until which tokens are ended."""
    query = select(ended_tokens.c.kind, ended_tokens.c.name, ended_tokens.c.issued_until)
    return {(str(kind), str(name)): float(until) for kind, name, until in connection.execute(query)}


def list_budgets(connection: Connection) -> list[Row[Any]]:
    """(run_id, limit_usd, reason, set_by, set_at) of every limit that was set, in order."""
    names = ("run_id", "limit_usd", "reason", "set_by", "set_at")
    query = select(*(budget_limits.c[name] for name in names)).order_by(budget_limits.c.number)
    return list(connection.execute(query))


_RESPONSES = HotStatement(
    select(responses).where(responses.c.session_id == bindparam("session")).order_by(responses.c.seq)
)
_DELIVERIES = HotStatement(
    select(allocations.c.seq, allocations.c.delivered_at).where(
        allocations.c.session_id == bindparam("session"), allocations.c.delivered_at.is_not(None)
    )
)


def read_responses(connection: Connection, session_id: str) -> list[tuple[Any, ...]]:
    """Every column of every response of a session, marks of the exam included, by position."""
    return list(_RESPONSES.run(connection, {"session": session_id}))


def list_deliveries(connection: Connection, session_id: str) -> dict[int, str]:
    """Position → when its question was first handed out; those that were not are left out."""
    return dict(_DELIVERIES.run(connection, {"session": session_id}))
