"""When a schedule was due: the five fields of cron, backwards."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schemas.errors import UsageError

_LOWEST_HIGHEST = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
# A 29 February that falls on a given weekday comes back after 40 years at most.
_LONGEST_BACK_DAYS = 366 * 41


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
