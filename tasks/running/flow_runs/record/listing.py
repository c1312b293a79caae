"""Runs of flows as people look at them; those whose process is gone are ended."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from psutil import AccessDenied, NoSuchProcess, Process

from schemas.ledger.engine import FlowRun
from warehouse.ledger.engine.leases.clock import TOLERANCE_S, is_lapsed
from warehouse.ledger.engine.leases.processes import is_dead, name_host
from warehouse.ledger.engine.ledger import Connection, Ledger
from warehouse.ledger.engine.runs.flow_runs import end_lost_run, list_flow_runs, list_unended_runs

# A run whose process was killed could say nothing any more.
LOST = "lost"


@dataclass(frozen=True)
class FlowRunState:
    """A run and how it is.

    Attributes:
        flow_run_id: its id.
        flow: its flow.
        name: what it is for.
        state: `running`, `completed`, `failed`, `crashed`, `cancelled`, or `lost` where its process is gone without a word.
        started_by: `schedule`, `event`, `person` or `command`.
        deployment: the deployment it is a run of; null for a command.
        due_at: when its schedule wanted it.
        started_at: when it began.
        ended_at: when it ended.
        took_s: seconds from one to the other.
        counts: ids and counts of what it came to.
    """

    flow_run_id: str
    flow: str
    name: str
    state: str
    started_by: str
    deployment: str | None
    due_at: str | None
    started_at: str
    ended_at: str | None
    took_s: float | None
    counts: dict[str, str] | None


log = logging.getLogger("proctor.runs")


def list_run_states(ledger: Ledger, *, most: int, flow: str | None = None) -> list[FlowRunState]:
    """The runs that began last, the newest first."""
    with ledger.read() as connection:
        found = list_flow_runs(connection, most=most, flow=flow)
        return [_describe(run, is_lost=is_lost(connection, run)) for run in found]


def _describe(run: FlowRun, *, is_lost: bool) -> FlowRunState:
    took = None
    if run.ended_at is not None:
        span = datetime.fromisoformat(run.ended_at) - datetime.fromisoformat(run.started_at)
        took = span.total_seconds()
    return FlowRunState(
        run.flow_run_id,
        run.flow,
        run.name,
        LOST if is_lost else run.state,
        run.started_by,
        run.deployment,
        run.due_at,
        run.started_at,
        run.ended_at,
        took,
        run.counts,
    )


def is_lost(connection: Connection, run: FlowRun) -> bool:
    """Whether a run's process is gone.

    On this host the process is looked for; on another host it is gone when it has not renewed in time.
    """
    if run.state != "running":
        return False
    if is_dead(run.host, run.process_id):
        return True
    if run.alive_until is None or not is_lapsed(connection, run.alive_until):
        return False
    # One on this host that did not renew may have been held up (a laptop asleep), unless its number is another's by now.
    return run.host != name_host() or _began_after(run)


def end_lost_runs(
    ledger: Ledger, find_cancelled: Callable[[Sequence[str]], Collection[str]] = lambda _: ()
) -> list[FlowRun]:
    """Note runs as crashed whose process is gone; returns those that nobody else had noted.

    `find_cancelled` says which of them (ids) somebody has cancelled: they did not crash.
    """
    with ledger.read() as connection:
        lost = [run for run in list_unended_runs(connection) if is_lost(connection, run)]
    cancelled = find_cancelled([run.flow_run_id for run in lost]) if lost else ()
    ended = []
    for run in lost:
        state = "cancelled" if run.flow_run_id in cancelled else "crashed"
        with ledger.write() as connection:
            if end_lost_run(connection, run, state):
                ended.append(run)
                log.error("%s %s: its process %d on %s is gone", run.name, state, run.process_id, run.host)
    return ended


def _began_after(run: FlowRun) -> bool:
    """Whether the process of that number on this host began after the run.

    If so, it is not the run's process.
    """
    began_at = datetime.fromisoformat(run.started_at).timestamp()
    try:
        return Process(run.process_id).create_time() > began_at + TOLERANCE_S
    except NoSuchProcess:
        return True
    except AccessDenied:
        return False
