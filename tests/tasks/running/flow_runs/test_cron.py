"""When a schedule was due last, beside what croniter (in Prefect) says."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from schemas.errors import UsageError
from tasks.running.flow_runs.record.missed import find_last_due

SCHEDULES = (
    "0 2 1 * *",
    "0 3 * * 1",
    "15 1 * * *",
    "5 * * * *",
    "* * * * *",
    "*/7 */5 * * *",
    "0 5 2 1,4,7,10 *",
    "30 4 29 2 *",
    "0 12 13 * 5",
    "10-50/20 8-18 * * 1-5",
    "0 0 31 * *",
    "0 6 * * 7",
)


@pytest.mark.parametrize("cron", SCHEDULES)
def test_the_last_time_is_croniters(cron: str) -> None:
    # The yardstick, with which Prefect's server reckons; importing Prefect costs every collection a third of a second.
    from prefect._vendor.croniter import croniter  # noqa: TID251

    draws = random.Random(cron)
    for _ in range(40):
        now = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=draws.randrange(4 * 366 * 86_400))
        # Croniter looks strictly before; a schedule is due at its very minute.
        expected = croniter(cron, now + timedelta(seconds=1)).get_prev(datetime)
        assert find_last_due(cron, "UTC", now) == expected, (cron, now)


def test_a_time_of_day_is_that_of_its_zone() -> None:
    now = datetime(2026, 12, 1, 12, tzinfo=UTC)
    assert find_last_due("0 2 1 * *", "Asia/Shanghai", now) == datetime(2026, 11, 30, 18, tzinfo=UTC)


def test_an_hour_that_the_clocks_leave_out_does_not_come() -> None:
    """29 March 2026, 02:30 in Berlin: there is no such time, so the day before counts."""
    now = datetime(2026, 3, 29, 12, tzinfo=UTC)
    assert find_last_due("30 2 * * *", "Europe/Berlin", now) == datetime(2026, 3, 28, 1, 30, tzinfo=UTC)


def test_a_day_that_never_comes_is_never_due() -> None:
    assert find_last_due("0 0 31 2 *", "UTC", datetime(2026, 3, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("cron", "timezone", "words"),
    [
        ("0 2 1 *", "UTC", "4 fields"),
        ("0 2 1 * mon", "UTC", "'mon'"),
        ("60 2 1 * *", "UTC", "outside 0 to 59"),
        ("0 2 1 * *", "Mars/Olympus", "no time zone"),
    ],
)
def test_what_is_no_schedule_is_named(cron: str, timezone: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        find_last_due(cron, timezone, datetime(2026, 1, 1, tzinfo=UTC))
