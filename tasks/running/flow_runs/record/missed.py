"""Scheduled runs that did not happen, and the command that makes up for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schemas.errors import UsageError
from schemas.ledger.engine import FlowSchedule
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.runs.flow_runs import (
    list_flow_schedules,
    list_known_months,
    list_run_starts,
    note_month_left_out,
)

if TYPE_CHECKING:
    from warehouse.ledger.engine.ledger import Ledger

# A worker that is busy or was just started takes so long to get to a run.
GRACE = timedelta(minutes=30)
# Times that were missed are named for so long, also when a later run did what they would have done.
LOOKS_BACK = timedelta(days=7)
# A run of it examines the month that it is of, and no later one makes up for it: each is looked for, for so long.
MONTHLY: Final = "monthly"
MONTHS_LOOK_BACK: Final = timedelta(days=2 * 366)
# States of a run of it that may have held the exam, or found nobody due.
_HELD: Final = ("completed", "running")
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
        has_failed: whether it was begun, and failed before there was a run of the exam: an earlier month.
    """

    deployment: str
    due_at: datetime
    remedy: str
    count: int = 1
    is_made_up: bool = False
    has_failed: bool = False

    def describe(self) -> str:
        """In words, without the remedy."""
        others = f", nor {self.count - 1} times before it in a week" if self.count > 1 else ""
        since = "; it has run since" if self.is_made_up else ""
        what = "failed, and held no exam, at" if self.has_failed else "did not run at"
        return f"{self.deployment} {what} {self.due_at:%Y-%m-%d %H:%M} UTC{others}{since}"


_LOWEST_HIGHEST = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
# A 29 February that falls on a given weekday comes back after 40 years at most.
_LONGEST_BACK_DAYS = 366 * 41


def find_missed_runs(
    ledger: Ledger, *, now: datetime | None = None, left_out: Iterable[str] = ()
) -> list[MissedRun]:
    """Deployments whose last time, or one within `LOOKS_BACK`, passed without a run.

    A run that failed did happen.

    A time counts from `GRACE` after it. What was due before a deployment was registered with its present time does not count.
    `left_out` names deployments that are not looked at. Each earlier month of `MONTHLY` is one of its own, also where its run failed,
    until it has a run of the exam or `leave_month_out` says that it is to have none.
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
            # What a command examines may be another month: the runs of the exam say which.
            is_only = per_flow[schedule.flow] == 1 and schedule.deployment != MONTHLY
            runs = list_run_starts(connection, schedule, since, is_only=is_only)
            missed = _list_missed(due, runs)
            if schedule.deployment == MONTHLY:
                known = list_known_months(connection)
                # Of an earlier month nobody is told again, and no later run makes up for it. A run is of the month that it begins in,
                # whatever it was late for, and one that failed held no exam.
                begun = {_name_month(started) for started, *_ in runs}
                held = known | {_name_month(started) for started, _, state in runs if state in _HELD}
                passed = {_name_month(at): at for at in due if _name_month(at) != _name_month(due[-1])}
                found += [
                    _describe_month(at, has_failed=month in begun)
                    for month, at in passed.items()
                    if month not in held
                ]
                missed = [at for at in missed if at == due[-1] and _name_month(at) not in known]
            if missed:
                is_made_up = any(started >= missed[-1] - _EARLY for started, *_ in runs)
                remedy = f"proctor runs start {schedule.deployment}"
                found.append(MissedRun(schedule.deployment, missed[-1], remedy, len(missed), is_made_up))
    return found


def check_schedule(schedule: FlowSchedule, *, now: datetime | None = None) -> None:
    """Pass unless times or months of a schedule are refused.

    Raises UsageError for times that are not read here, and where a run of `MONTHLY` would begin in another month (UTC) than its zone shows:
    it would examine that one.
    """
    moment = now or datetime.now(UTC)
    due = _find_due(schedule, moment)
    while schedule.deployment == MONTHLY and due is not None and due > moment - MONTHS_LOOK_BACK:
        local = due.astimezone(_find_zone(schedule.timezone))
        if _name_month(local) != _name_month(due):
            raise UsageError(
                f"Deployment {MONTHLY}: {local:%Y-%m-%d %H:%M} in {schedule.timezone} is {due:%Y-%m-%d %H:%M} UTC, and the run would "
                f"be of {_name_month(due)}, for months are UTC's. Let the schedule in prefect.yaml name a time that is in one month in both."
            )
        due = _find_due(schedule, due - timedelta(seconds=1))


def leave_month_out(ledger: Ledger, month: str, *, now: datetime | None = None) -> None:
    """Note in the audit log that a month is to have no run; UsageError unless it is missed."""
    missed = [one for one in find_missed_runs(ledger, now=now) if one.deployment == MONTHLY]
    if month not in [_name_month(one.due_at) for one in missed]:
        raise UsageError(f"No run of {month} was missed. `proctor runs` names those that were.")
    with ledger.write() as connection:
        note_month_left_out(connection, month)


def select_unmade(missed: Iterable[MissedRun]) -> list[MissedRun]:
    """Those for which nothing has made up yet."""
    return [one for one in missed if not one.is_made_up]


def _name_month(begun_at: datetime) -> str:
    """The month that a run examines which begins then, and which nobody tells another."""
    return f"{begun_at:%Y-%m}"


def _describe_month(due_at: datetime, *, has_failed: bool) -> MissedRun:
    month = _name_month(due_at)
    remedy = f"proctor monthly --month {month}, or proctor runs leave-out {month}"
    return MissedRun(MONTHLY, due_at, remedy, has_failed=has_failed)


def _list_missed(
    due: Sequence[datetime], runs: Sequence[tuple[datetime, datetime | None, str]]
) -> list[datetime]:
    """Which of the times (oldest first) passed without a run.

    A run is for the time it was due at, and for the one it began after.
    """
    missed = []
    for place, at in enumerate(due):
        following = due[place + 1] - _EARLY if place + 1 < len(due) else None
        happened = any(
            (due_at is not None and abs(due_at - at) < _EARLY)
            or (started >= at - _EARLY and (following is None or started < following))
            for started, due_at, _ in runs
        )
        if not happened:
            missed.append(at)
    return missed


def _list_due(schedule: FlowSchedule, now: datetime) -> list[datetime]:
    """The last time of a schedule up to `now`, and those before that are looked for.

    The oldest comes first; times from before the schedule was deployed are left out.
    """
    deployed_at = datetime.fromisoformat(schedule.deployed_at)
    looks_back = MONTHS_LOOK_BACK if schedule.deployment == MONTHLY else LOOKS_BACK
    found: list[datetime] = []
    due = _find_due(schedule, now)
    while due is not None and due > deployed_at and len(found) < _MOST_TIMES:
        if found and due < now - looks_back:
            break
        found.append(due)
        due = _find_due(schedule, due - timedelta(seconds=1))
    return found[::-1]


def _find_due(schedule: FlowSchedule, now: datetime) -> datetime | None:
    try:
        return find_last_due(schedule.cron, schedule.timezone, now)
    except UsageError as error:
        raise UsageError(f"Deployment {schedule.deployment}: {error}") from None


def find_last_due(cron: str, timezone: str, now: datetime) -> datetime | None:
    """The latest moment (UTC) up to `now` at which the schedule was due; null where it never is.

    Minutes, hours, days of the month, months and weekdays (0 and 7 are Sunday) as numbers: `*`, lists, ranges, steps. Where both
    days are restricted, either will do, as cron has it. An hour that a change of the clocks leaves out does not come; one that it
    repeats counts once. Raises UsageError for anything else.
    """
    minutes, hours, days, months, weekdays = _parse(cron)
    zone = _find_zone(timezone)
    _, _, day_field, _, weekday_field = cron.split()
    local = now.astimezone(zone)
    times = sorted(((hour, minute) for hour in hours for minute in minutes), reverse=True)

    def is_day(day: date) -> bool:
        in_month, in_week = day.day in days, day.isoweekday() % 7 in weekdays
        either = day_field[0] != "*" and weekday_field[0] != "*"
        return day.month in months and (in_month or in_week if either else in_month and in_week)

    for back in range(_LONGEST_BACK_DAYS):
        day = local.date() - timedelta(days=back)
        if not is_day(day):
            continue
        for hour, minute in times:
            moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone).astimezone(UTC)
            shown = moment.astimezone(zone)
            if moment <= now and (shown.hour, shown.minute) == (hour, minute):
                return moment
    return None


def _find_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise UsageError(f"{name!r} is no time zone. Write one like UTC or Asia/Shanghai.") from None


def _parse(cron: str) -> list[frozenset[int]]:
    fields = cron.split()
    if len(fields) != len(_LOWEST_HIGHEST):
        raise UsageError(
            f"{cron!r} has {len(fields)} fields; a schedule has five: minute, hour, day, month, weekday."
        )
    parsed = [
        _parse_field(field, *bounds, cron) for field, bounds in zip(fields, _LOWEST_HIGHEST, strict=True)
    ]
    return [*parsed[:4], frozenset(day % 7 for day in parsed[4])]


def _parse_field(field: str, lowest: int, highest: int, cron: str) -> frozenset[int]:
    values: set[int] = set()
    for part in field.split(","):
        span, _, step_text = part.partition("/")
        first, _, last = span.partition("-")
        try:
            step = int(step_text) if step_text else 1
            begin = lowest if span == "*" else int(first)
            end = highest if span == "*" or (step_text and not last) else int(last or first)
        except ValueError:
            raise UsageError(
                f"{part!r} in the schedule {cron!r} is not read here. Write numbers, `*`, lists, ranges, steps."
            ) from None
        if not lowest <= begin <= end <= highest or step < 1:
            raise UsageError(f"{part!r} in the schedule {cron!r} is outside {lowest} to {highest}.")
        values.update(range(begin, end + 1, step))
    return frozenset(values)
