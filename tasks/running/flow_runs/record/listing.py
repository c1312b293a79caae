"""Runs of flows as people look at them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemas.ledger.engine import FlowRun
from tasks.running.flow_runs.record.lost import is_lost
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.runs.flow_runs import list_flow_runs

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
