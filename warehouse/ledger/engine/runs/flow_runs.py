"""Runs of flows, and the times that schedules have.

For each run: what started it, how it ended, and its result in ids and counts. Prefect's database may be lost
or begun again; what ran and what should have run is known here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, func, insert, or_, select, update

from schemas.ledger.engine import FlowRun, FlowSchedule
from warehouse.ledger.engine.leases.clock import read_lease_time
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.moments import now_text, write_moment
from warehouse.ledger.engine.rows import insert_rows, iter_rows, read_rows
from warehouse.ledger.engine.runs.notices import add_notice, forget_notice
from warehouse.ledger.engine.tables import access_log, flow_runs, flow_schedules, runs

# Ends that somebody is told of, and what they are called there.
BAD_ENDS: Final = {"failed": "Failed", "crashed": "Crashed"}
_LEAVE_OUT: Final = "leave_month_out"


@dataclass(frozen=True)
class StartedRun:
    """A run that begins.

    Attributes:
        flow_run_id: Prefect's id, or one that was drawn.
        name: what this run is for.
        deployment: the deployment that it is a run of; null for a command.
        started_by: `schedule`, `event`, `person` or `command`.
        due_at: when its schedule wanted it (UTC, ISO text); null where none did.
    """

    flow_run_id: str
    flow: str
    name: str
    deployment: str | None = None
    started_by: str = "command"
    due_at: str | None = None


def begin_flow_run(
    connection: Connection, run: StartedRun, *, host: str, process_id: int, lease_s: float | None = None
) -> None:
    """Note that a run has begun, or begins again; with `lease_s` its process renews it."""
    alive_until = None if lease_s is None else write_moment(read_lease_time(connection) + lease_s)
    known = update(flow_runs).where(flow_runs.c.flow_run_id == run.flow_run_id)
    again = connection.execute(
        known.values(
            state="running", host=host, process_id=process_id, ended_at=None, alive_until=alive_until
        )
    )
    if again.rowcount:
        forget_notice(connection, run.flow_run_id)
        return
    connection.execute(
        insert(flow_runs).values(
            **vars(run),
            state="running",
            host=host,
            process_id=process_id,
            started_at=now_text(),
            alive_until=alive_until,
        )
    )


def renew_flow_run(connection: Connection, flow_run_id: str, *, lease_s: float) -> bool:
    """Note that the run's process still lives; whether the run is still under way."""
    renewed = connection.execute(
        update(flow_runs)
        .where(flow_runs.c.flow_run_id == flow_run_id, flow_runs.c.state == "running")
        .values(alive_until=write_moment(read_lease_time(connection) + lease_s))
    )
    return renewed.rowcount == 1


def note_flow_counts(connection: Connection, flow_run_id: str, counts: Mapping[str, str]) -> None:
    """Keep what a run came to."""
    connection.execute(
        update(flow_runs).where(flow_runs.c.flow_run_id == flow_run_id).values(counts=dict(counts))
    )


def end_flow_run(connection: Connection, flow_run_id: str, state: str) -> None:
    """Note how a run ended; a bad end is to be told, in the same transaction."""
    ended = connection.execute(
        update(flow_runs)
        .where(flow_runs.c.flow_run_id == flow_run_id)
        .values(state=state, ended_at=now_text())
        .returning(flow_runs.c.name)
    ).first()
    if ended is not None and state in BAD_ENDS:
        add_notice(connection, flow_run_id, ended.name, BAD_ENDS[state])


def end_lost_run(connection: Connection, run: FlowRun, state: str = "crashed") -> bool:
    """Note how a run ended with its process; False where it was renewed or noted since read."""
    ended = connection.execute(
        update(flow_runs)
        .where(
            flow_runs.c.flow_run_id == run.flow_run_id,
            flow_runs.c.state == "running",
            flow_runs.c.process_id == run.process_id,
            flow_runs.c.alive_until.is_not_distinct_from(run.alive_until),
        )
        .values(state=state, ended_at=now_text())
    )
    if ended.rowcount and state in BAD_ENDS:
        add_notice(connection, run.flow_run_id, run.name, BAD_ENDS[state])
    return ended.rowcount == 1


def list_unended_runs(connection: Connection) -> list[FlowRun]:
    """The runs that are under way, or whose process is gone without a word."""
    query = select(flow_runs).where(flow_runs.c.state == "running")
    return read_rows(connection, FlowRun, query)


def read_flow_runs(connection: Connection, flow_run_ids: Sequence[str]) -> dict[str, FlowRun]:
    """The runs of these ids that the ledger knows, by id."""
    query = select(flow_runs).where(flow_runs.c.flow_run_id.in_(flow_run_ids))
    return {run.flow_run_id: run for run in iter_rows(connection, FlowRun, query)}


def list_flow_runs(connection: Connection, *, most: int, flow: str | None = None) -> list[FlowRun]:
    """The runs that began last, the newest first."""
    query = select(flow_runs).order_by(flow_runs.c.started_at.desc()).limit(most)
    if flow is not None:
        query = query.where(flow_runs.c.flow == flow)
    return read_rows(connection, FlowRun, query)


def find_flow_runs(connection: Connection, text: str) -> list[FlowRun]:
    """The runs of that name, or whose id begins so; the newest first."""
    query = (
        select(flow_runs)
        .where(or_(flow_runs.c.name == text, func.substr(flow_runs.c.flow_run_id, 1, len(text)) == text))
        .order_by(flow_runs.c.started_at.desc())
    )
    return read_rows(connection, FlowRun, query)


def list_run_starts(
    connection: Connection, schedule: FlowSchedule, since: str, *, is_only: bool
) -> list[tuple[datetime, datetime | None, str]]:
    """When runs of the deployment began since a moment, when each was due (or None), its state."""
    by_deployment = flow_runs.c.deployment == schedule.deployment
    by_command = (
        (flow_runs.c.flow == schedule.flow)
        & (flow_runs.c.started_by == "command")
        & (flow_runs.c.state == "completed")
    )
    query = select(flow_runs.c.started_at, flow_runs.c.due_at, flow_runs.c.state).where(
        flow_runs.c.started_at >= since, or_(by_deployment, by_command) if is_only else by_deployment
    )
    return [
        (datetime.fromisoformat(started), None if due is None else datetime.fromisoformat(due), str(state))
        for started, due, state in connection.execute(query)
    ]


def list_known_months(connection: Connection) -> set[str]:
    """Months that have a run of the exam, or of which somebody said that they are to have none."""
    left_out = select(access_log.c.target).where(access_log.c.action == _LEAVE_OUT)
    return set(connection.execute(select(runs.c.month).union(left_out)).scalars())


def note_month_left_out(connection: Connection, month: str) -> None:
    """Note that a month is to have no run of the exam, and who says so."""
    add_entry(connection, Entry(_LEAVE_OUT, target=month, is_by_caller=True))


def count_flow_runs(connection: Connection) -> list[tuple[str, str, int]]:
    """(flow, state, how many) of all runs."""
    query = (
        select(flow_runs.c.flow, flow_runs.c.state, func.count())
        .group_by(flow_runs.c.flow, flow_runs.c.state)
        .order_by(flow_runs.c.flow, flow_runs.c.state)
    )
    return [(str(flow), str(state), int(count)) for flow, state, count in connection.execute(query)]


def list_last_ends(connection: Connection) -> list[tuple[str, str]]:
    """(flow, when a run of it completed last)."""
    query = (
        select(flow_runs.c.flow, func.max(flow_runs.c.ended_at))
        .where(flow_runs.c.state == "completed")
        .group_by(flow_runs.c.flow)
        .order_by(flow_runs.c.flow)
    )
    return [(str(flow), str(ended)) for flow, ended in connection.execute(query)]


def write_flow_schedules(
    connection: Connection, schedules: Sequence[FlowSchedule], *, lasting: Collection[str] = ()
) -> None:
    """Replace what is scheduled; an unchanged time keeps the moment since which it holds.

    Deployments that are `lasting` keep it when their time changes, too.
    """
    known = {one.deployment: one for one in list_flow_schedules(connection)}
    connection.execute(
        delete(flow_schedules).where(flow_schedules.c.deployment.not_in([s.deployment for s in schedules]))
    )
    for schedule in schedules:
        before = known.get(schedule.deployment)
        if before is None:
            insert_rows(connection, [schedule])
        elif before.replace(deployed_at=schedule.deployed_at) != schedule:
            holds = schedule.replace(deployed_at=before.deployed_at)
            connection.execute(
                update(flow_schedules)
                .where(flow_schedules.c.deployment == schedule.deployment)
                .values((holds if schedule.deployment in lasting else schedule).as_values())
            )


def list_flow_schedules(connection: Connection) -> list[FlowSchedule]:
    """What is scheduled, by deployment."""
    query = select(flow_schedules).order_by(flow_schedules.c.deployment)
    return read_rows(connection, FlowSchedule, query)
