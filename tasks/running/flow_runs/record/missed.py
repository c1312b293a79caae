"""Scheduled runs that did not happen, and the command that makes up for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from schemas.errors import UsageError
from schemas.ledger.engine import FlowSchedule
from tasks.running.flow_runs.record.cron import find_last_due
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.runs.flow_runs import list_flow_schedules, list_run_starts

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

# A worker that is busy or was just started takes so long to get to a run.
GRACE = timedelta(minutes=30)
# Times that were missed are named for so long, also when a later run did what they would have done.
LOOKS_BACK = timedelta(days=7)
# An hourly schedule has 168 in a week.
_MOST_TIMES = 200
# Prefect may start a run a moment before its time.
_EARLY = timedelta(minutes=1)


@dataclass(frozen=True)
class MissedRun:
    """A schedule whose times passed without a run.

    Either no run was started, or the run was cancelled for want of a place.

    Attributes:
        deployment: what was to run.
        due_at: when (UTC); the last of the times that were missed.
        remedy: the command that makes up for it.
        count: times that were missed within `LOOKS_BACK`, this one among them.
        is_made_up: whether it has run since: nothing is left to do.
    """

    deployment: str
    due_at: datetime
    remedy: str
    count: int = 1
    is_made_up: bool = False

    def describe(self) -> str:
        """In words, without the remedy."""
        others = f", nor {self.count - 1} times before it in a week" if self.count > 1 else ""
        since = "; it has run since" if self.is_made_up else ""
        return f"{self.deployment} did not run at {self.due_at:%Y-%m-%d %H:%M} UTC{others}{since}"


def find_missed_runs(
    ledger: Ledger, *, now: datetime | None = None, left_out: Iterable[str] = ()
) -> list[MissedRun]:
    """Deployments whose last time, or one within `LOOKS_BACK`, passed without a run.

    A run that failed did happen.

    A time counts from `GRACE` after it. What was due before a deployment was registered with its present time does not count.
    `left_out` names deployments that are not looked at.
    """
    moment = now or datetime.now(UTC)
    found = []
    with ledger.read() as connection:
        schedules = [one for one in list_flow_schedules(connection) if one.deployment not in set(left_out)]
        per_flow = Counter(schedule.flow for schedule in schedules)
        for schedule in schedules:
            due = _list_due(schedule, moment - GRACE)
            if not due:
                continue
            since = write_moment((due[0] - _EARLY).timestamp())
            runs = list_run_starts(connection, schedule, since, is_only=per_flow[schedule.flow] == 1)
            if (missed := _find_missed(schedule.deployment, due, runs)) is not None:
                found.append(missed)
    return found


def select_unmade(missed: Iterable[MissedRun]) -> list[MissedRun]:
    """Those for which nothing has made up yet."""
    return [one for one in missed if not one.is_made_up]


def _find_missed(
    deployment: str, due: Sequence[datetime], runs: Sequence[tuple[datetime, datetime | None]]
) -> MissedRun | None:
    """Which of the times (oldest first) passed without a run.

    A run is for the time it was due at, and for the one it began after.
    """
    missed = []
    for place, at in enumerate(due):
        following = due[place + 1] - _EARLY if place + 1 < len(due) else None
        happened = any(
            (due_at is not None and abs(due_at - at) < _EARLY)
            or (started >= at - _EARLY and (following is None or started < following))
            for started, due_at in runs
        )
        if not happened:
            missed.append(at)
    if not missed:
        return None
    is_made_up = any(started >= missed[-1] - _EARLY for started, _ in runs)
    return MissedRun(deployment, missed[-1], f"proctor runs start {deployment}", len(missed), is_made_up)


def _list_due(schedule: FlowSchedule, now: datetime) -> list[datetime]:
    """The last time of a schedule up to `now`, and those of `LOOKS_BACK` before.

    The oldest comes first; times from before the schedule was deployed are left out.
    """
    deployed_at = datetime.fromisoformat(schedule.deployed_at)
    found: list[datetime] = []
    due = _find_due(schedule, now)
    while due is not None and due > deployed_at and len(found) < _MOST_TIMES:
        if found and due < now - LOOKS_BACK:
            break
        found.append(due)
        due = _find_due(schedule, due - timedelta(seconds=1))
    return found[::-1]


def _find_due(schedule: FlowSchedule, now: datetime) -> datetime | None:
    try:
        return find_last_due(schedule.cron, schedule.timezone, now)
    except UsageError as error:
        raise UsageError(f"Deployment {schedule.deployment}: {error}") from None
