"""Scheduled runs that did not happen, and the command that makes up for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from tasks.flow_runs.cron import find_last_due
from warehouse.ledger.engine import write_moment
from warehouse.ledger.flow_runs import FlowSchedule, has_run_since, list_flow_schedules

if TYPE_CHECKING:
    from warehouse.ledger.engine import Ledger

# A worker that is busy or was just started takes so long to get to a run.
GRACE = timedelta(minutes=30)
# Prefect may start a run a moment before its time.
_EARLY = timedelta(minutes=1)


@dataclass(frozen=True)
class MissedRun:
    """A schedule whose last time passed without a run.

    Attributes:
        deployment: what was to run.
        due_at: when (UTC).
        remedy: the command that makes up for it.
    """

    deployment: str
    due_at: datetime
    remedy: str

    def describe(self) -> str:
        """In words, without the remedy."""
        return f"{self.deployment} did not run at {self.due_at:%Y-%m-%d %H:%M} UTC"


def find_missed_runs(
    ledger: Ledger, *, now: datetime | None = None, grace: timedelta = GRACE, left_out: Iterable[str] = ()
) -> list[MissedRun]:
    """Deployments that were due once more than `grace` ago and have not run since; a run that failed did happen.

    What was due before a deployment was registered with its present time does not count. `left_out` names deployments that are not
    looked at.
    """
    moment = now or datetime.now(UTC)
    missed: list[MissedRun] = []
    with ledger.read() as connection:
        schedules = [one for one in list_flow_schedules(connection) if one.deployment not in set(left_out)]
        per_flow = Counter(schedule.flow for schedule in schedules)
        for schedule in schedules:
            due = _find_due(schedule, moment - grace)
            if due is None or due <= datetime.fromisoformat(schedule.deployed_at):
                continue
            since = write_moment((due - _EARLY).timestamp())
            if not has_run_since(connection, schedule, since, is_only=per_flow[schedule.flow] == 1):
                missed.append(
                    MissedRun(schedule.deployment, due, f"proctor runs start {schedule.deployment}")
                )
    return missed


def _find_due(schedule: FlowSchedule, now: datetime) -> datetime | None:
    try:
        return find_last_due(schedule.cron, schedule.timezone, now)
    except UsageError as error:
        raise UsageError(f"Deployment {schedule.deployment}: {error}") from None
