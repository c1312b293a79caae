"""Runs and sessions of the exam as they stand, for all who ask."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select, tuple_

from schemas.errors import StoreError, UsageError
from schemas.ledger.exam import Run, Session
from schemas.ledger.row import column
from warehouse.ledger.engine.rows import read_rows
from warehouse.ledger.engine.tables import run_plans, runs, sessions


class PlannedRun(Run):
    """A run with its plan and its secret seed."""

    seed: str = column()
    plan: dict[str, Any] = column()


def read_run(connection: Connection, run_id: str) -> PlannedRun | None:
    """The run of that name, or None; StoreError where the ledger's sides are of two moments."""
    query = (
        select(runs, run_plans.c.seed, run_plans.c.plan)
        .outerjoin(run_plans, run_plans.c.run_id == runs.c.run_id)
        .where(runs.c.run_id == run_id)
    )
    row = connection.execute(query).mappings().first()
    if row is None:
        return None
    if row["seed"] is None:
        raise StoreError(
            f"The ledger has no plan of run {run_id}, which the exam's database has: the two are not of one moment. Restore both "
            "from one backup (`proctor restore`)."
        )
    return PlannedRun(**row)


def require_run(connection: Connection, run_id: str) -> PlannedRun:
    """The run of that name, as `read_run` has it; raises UsageError when there is none."""
    if (run := read_run(connection, run_id)) is None:
        raise UsageError(
            f"There is no run {run_id!r}. `proctor runs` lists all, `proctor evaluate` makes one."
        )
    return run


def list_run_page(
    connection: Connection, *, after: str | None = None, limit: int | None = None, run_id: str | None = None
) -> list[tuple[Run, dict[str, int]]]:
    """Runs after the run `after` as planned, with their sessions by status; `limit` or all."""
    order = (runs.c.planned_at, runs.c.run_id)
    query = select(runs).order_by(*order).limit(limit)
    if run_id is not None:
        query = query.where(runs.c.run_id == run_id)
    if after is not None:
        last = select(*order).where(runs.c.run_id == after).correlate(None)
        query = query.where(tuple_(*order) > last.scalar_subquery())
    page = read_rows(connection, Run, query)
    counted = connection.execute(
        select(sessions.c.run_id, sessions.c.status, func.count())
        .where(sessions.c.run_id.in_([run.run_id for run in page]))
        .group_by(sessions.c.run_id, sessions.c.status)
    )
    counts: dict[str, dict[str, int]] = {}
    for name, status, count in counted:
        counts.setdefault(str(name), {})[str(status)] = int(count)
    return [(run, counts.get(run.run_id, {})) for run in page]


def list_run_ids(connection: Connection) -> list[str]:
    """The ids of all runs, in the order in which they were planned."""
    query = select(runs.c.run_id).order_by(runs.c.planned_at, runs.c.run_id)
    return [str(run_id) for run_id in connection.execute(query).scalars()]


def list_open_runs(connection: Connection) -> list[str]:
    """The ids of the runs that are not closed, in the order in which they were planned."""
    query = select(runs.c.run_id).where(runs.c.status == "open").order_by(runs.c.planned_at, runs.c.run_id)
    return list(connection.execute(query).scalars())


def list_sessions(
    connection: Connection,
    *,
    run_id: str | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    status: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Session]:
    """Sessions by run, candidate user, id or status, `limit` of them after `after`."""
    order = (
        sessions.c.run_id,
        sessions.c.model,
        sessions.c.repeat,
        sessions.c.prompt_style,
        sessions.c.session_id,
    )
    wanted = [
        found == value
        for found, value in (
            (sessions.c.run_id, run_id),
            (sessions.c.user_id, user_id),
            (sessions.c.session_id, session_id),
            (sessions.c.status, status),
        )
        if value is not None
    ]
    query = select(sessions).where(*wanted)
    if after is not None:
        last = select(*order).where(sessions.c.session_id == after, *wanted).correlate(None)
        query = query.where(tuple_(*order) > last.scalar_subquery())
    return read_rows(connection, Session, query.order_by(*order).limit(limit))


def count_sessions(connection: Connection, run_id: str) -> dict[str, int]:
    """Sessions of a run by status."""
    rows = connection.execute(
        select(sessions.c.status, func.count()).where(sessions.c.run_id == run_id).group_by(sessions.c.status)
    )
    return {str(status): int(count) for status, count in rows}
