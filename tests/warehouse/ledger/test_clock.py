"""The time that deadlines are decided by: what proves, refuses and confirms it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from schemas.errors import ClockError
from schemas.ledger.engine import Job
from tests.warehouse.ledger.held import hold_elsewhere
from tests.warehouse.ledger.postgresql import PostgresqlServer
from warehouse.ledger.engine.leases.clock import (
    TOLERANCE_S,
    Boot,
    Doubt,
    Host,
    LedgerClock,
    Time,
    check_clock,
    clock_of,
    confirm_clock,
    is_lapsed,
    measure_clock,
    read_boot,
    read_time,
)
from warehouse.ledger.engine.leases.jobs import is_held, read_job
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.moments import write_moment
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log, clock_marks, process_leases

HOUR_S, DAY_S = 3_600.0, 86_400.0
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC).timestamp()
START = write_moment(NOON)


@dataclass
class Machine:
    """A host whose clock, uptime and start a test sets."""

    wall: float = NOON
    boot: Boot | None = field(default_factory=lambda: Boot("first", 1_000.0))
    ticked: float = 0.0

    def live(self, seconds: float) -> None:
        """Let time pass as it does."""
        self.wall += seconds
        self.ticked += seconds
        if self.boot is not None:
            self.boot = Boot(self.boot.boot_id, self.boot.uptime_s + seconds)

    def leap(self, seconds: float) -> None:
        """Set the clock."""
        self.wall += seconds

    def restart(self, off_s: float, name: str = "second") -> None:
        """Be off for a while."""
        self.wall += off_s
        self.boot = Boot(name, 30.0)


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def ledger(tmp_path: Path, machine: Machine) -> Iterator[Ledger]:
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as opened:
        use(opened, machine)
        yield opened


def use(ledger: Ledger, machine: Machine) -> None:
    """Let this process's clock of the ledger be the machine's, as a new process would."""
    clock = clock_of(ledger.engine)
    clock.host = Host(lambda: machine.wall, lambda: machine.boot, lambda: machine.ticked)
    clock.forget()


def read(ledger: Ledger) -> Time:
    """What a new process takes for the time."""
    clock_of(ledger.engine).forget()
    with ledger.write() as connection:
        return read_time(connection)


def read_leaps(ledger: Ledger) -> list[tuple[str, str]]:
    with ledger.read() as connection:
        query = select(access_log.c.action, access_log.c.target).where(
            access_log.c.action.in_(["clock_leap", "confirm_clock"])
        )
        return [(row.action, row.target) for row in connection.execute(query.order_by(access_log.c.number))]


def test_a_new_ledger_believes_the_clock(ledger: Ledger) -> None:
    assert read(ledger) == Time(NOON)


def test_a_home_that_was_not_used_for_35_days_is_believed_while_the_host_was_on(
    ledger: Ledger, machine: Machine
) -> None:
    check_clock(ledger)
    machine.live(35 * DAY_S)
    assert read(ledger) == Time(NOON + 35 * DAY_S)
    assert read_leaps(ledger) == []


@pytest.mark.parametrize("leap_s", [35 * DAY_S, -35 * DAY_S, -HOUR_S])
def test_a_clock_that_leaps_is_refused_with_both_times_and_what_to_do(
    ledger: Ledger, machine: Machine, leap_s: float
) -> None:
    check_clock(ledger)
    machine.live(180.0)
    machine.leap(leap_s)
    with pytest.raises(ClockError) as refused:
        check_clock(ledger)
    for moment in (NOON + 180.0, NOON + 180.0 + leap_s):
        assert f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC" in str(refused.value)
    assert "proctor clock --confirm" in str(refused.value)
    machine.leap(-leap_s)
    check_clock(ledger)


def test_an_hour_ahead_is_waited_for_and_forgotten_once_the_clock_is_right_again(
    ledger: Ledger, machine: Machine
) -> None:
    check_clock(ledger)
    machine.live(180.0)
    machine.leap(HOUR_S)
    time = read(ledger)
    assert time.doubts == (Doubt(HOUR_S, None),)
    assert not time.has_passed(write_moment(NOON + 0.5 * HOUR_S), since=START)
    assert time.has_passed(write_moment(NOON + 100.0), since=START)
    machine.leap(-HOUR_S)
    assert read(ledger) == Time(NOON + 180.0)


def test_a_few_seconds_are_no_leap(ledger: Ledger, machine: Machine) -> None:
    check_clock(ledger)
    for seconds in (TOLERANCE_S - 1, 1 - TOLERANCE_S):
        machine.leap(seconds)
        assert read(ledger).doubts == ()


def test_what_passed_while_the_host_was_off_decides_no_deadline_until_a_person_confirms_the_clock(
    ledger: Ledger, machine: Machine
) -> None:
    check_clock(ledger)
    machine.live(60.0)
    machine.restart(35 * DAY_S)
    time = read(ledger)
    before, after = write_moment(NOON + DAY_S), write_moment(time.now + DAY_S)
    assert not time.has_passed(after, since=START)
    with pytest.raises(
        ClockError, match=r"without them it is 2026-11-23 12:00:\d\d UTC.*proctor clock --confirm"
    ):
        time.has_passed(before, since=START)
    # What is set from now on is measured by the same clock.
    machine.live(15 * DAY_S)
    assert read(ledger).has_passed(after, since=write_moment(time.now + 1.0))
    confirm_clock(ledger)
    assert read(ledger).doubts == ()
    assert read(ledger).has_passed(before, since=START)
    assert [action for action, _ in read_leaps(ledger)] == ["clock_leap", "confirm_clock"]


def test_a_doubt_outlives_the_process_that_found_it(ledger: Ledger, machine: Machine) -> None:
    check_clock(ledger)
    machine.restart(35 * DAY_S)
    check_clock(ledger)
    machine.live(700.0)
    with ledger.write() as connection:
        add_entry(connection, Entry("plan_run"))
    assert sum(doubt.seconds for doubt in read(ledger).doubts) == pytest.approx(35 * DAY_S)
    machine.restart(60.0, "third")
    assert sum(doubt.seconds for doubt in read(ledger).doubts) == pytest.approx(
        35 * DAY_S, abs=2 * TOLERANCE_S
    )


def test_a_clock_that_a_time_service_puts_back_after_a_start_needs_nobody(
    ledger: Ledger, machine: Machine
) -> None:
    check_clock(ledger)
    machine.live(60.0)
    machine.restart(60.0 + 8 * HOUR_S)  # a clock of the machine that is kept in local time
    assert read(ledger).doubts[0].seconds == pytest.approx(8 * HOUR_S + 120)
    machine.leap(-8 * HOUR_S)
    assert read(ledger).doubts == ()
    assert read(ledger).doubts == ()


def test_a_clock_behind_the_last_entry_of_the_log_is_refused_after_a_start(
    ledger: Ledger, machine: Machine
) -> None:
    check_clock(ledger)
    with ledger.write() as connection:
        add_entry(connection, Entry("plan_run", accessed_at=write_moment(NOON + DAY_S)))
    machine.restart(60.0)
    with pytest.raises(
        ClockError, match=r"what was written last is of 2026-11-24 12:00:00 UTC: it is 24\.0 hours behind"
    ):
        check_clock(ledger)


def test_entries_that_a_wrong_clock_wrote_prove_no_leap(ledger: Ledger, machine: Machine) -> None:
    check_clock(ledger)
    machine.leap(35 * DAY_S)
    with ledger.write() as connection:
        add_entry(connection, Entry("plan_run", accessed_at=write_moment(machine.wall)))
    with pytest.raises(ClockError):
        check_clock(ledger)
    machine.restart(60.0)
    with pytest.raises(ClockError):
        read(ledger).has_passed(write_moment(NOON + 14 * DAY_S), since=START)


def test_a_confirmed_clock_may_be_behind_what_was_written(ledger: Ledger, machine: Machine) -> None:
    machine.leap(35 * DAY_S)
    check_clock(ledger)
    machine.leap(-35 * DAY_S)
    assert confirm_clock(ledger).problem is None
    check_clock(ledger)
    assert read_leaps(ledger) == [("confirm_clock", "2026-12-28 12:00:00 UTC > 2026-11-23 12:00:00 UTC")]


def test_a_process_keeps_its_time_whatever_its_clock_is_set_to(ledger: Ledger, machine: Machine) -> None:
    clock = LedgerClock(Host(lambda: machine.wall, lambda: machine.boot, lambda: machine.ticked))
    with ledger.write() as connection:
        clock.look(connection)
    machine.leap(35 * DAY_S)
    machine.live(10.0)
    assert clock() == NOON + 10
    assert not clock.has_passed(write_moment(NOON + HOUR_S), since=START)
    machine.live(HOUR_S)
    with pytest.raises(ClockError), ledger.write() as connection:
        clock.look(connection)
    assert clock() == NOON + 10 + HOUR_S


def test_a_suspension_is_part_of_the_time_that_a_process_counts(
    ledger: Ledger, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A clock of the kernel that stops while the host sleeps must not carry the time on.
    monkeypatch.setattr("warehouse.ledger.engine.leases.clock.time.monotonic", lambda: 0.0)
    monkeypatch.setattr(
        "warehouse.ledger.engine.leases.clock.time.clock_gettime", lambda _clock: machine.ticked
    )
    clock_of(ledger.engine).host = Host(lambda: machine.wall, lambda: machine.boot)
    clock_of(ledger.engine).forget()
    check_clock(ledger)
    machine.live(50.0)
    with ledger.write() as connection:
        hold_elsewhere(connection, Job(kind="judge", name="run"))
    with ledger.read() as connection:
        ends_at = connection.execute(select(process_leases.c.expires_at)).scalar_one()
    assert ends_at == write_moment(NOON + 140.0)


def test_where_the_host_tells_no_uptime_every_span_without_a_mark_is_a_doubt(
    ledger: Ledger, machine: Machine
) -> None:
    machine.boot = None
    check_clock(ledger)
    machine.live(2 * HOUR_S)
    assert read(ledger).doubts == (Doubt(2 * HOUR_S, machine.wall),)
    machine.live(60.0)
    assert read(ledger).doubts[0].seconds == 2 * HOUR_S


def test_a_wrong_clock_takes_no_work_from_a_living_process(ledger: Ledger, machine: Machine) -> None:
    with ledger.write() as connection:
        hold_elsewhere(connection, Job(kind="judge", name="run"), host="here", lease_s=60.0)
    for leap_s in (HOUR_S, 35 * DAY_S):
        machine.leap(leap_s)
        clock_of(ledger.engine).forget()
        with ledger.read() as connection:
            found = read_job(connection, "judge", "run")
            assert found is not None
            assert is_held(connection, found)
        machine.leap(-leap_s)
    machine.live(61.0)
    with ledger.read() as connection:
        found = read_job(connection, "judge", "run")
        assert found is not None
        assert not is_held(connection, found)


def test_a_lease_lasts_no_longer_on_a_home_that_is_off_at_night(ledger: Ledger, machine: Machine) -> None:
    for night in range(3):
        clock_of(ledger.engine).forget()
        with ledger.read() as connection:
            read_time(connection)
        machine.live(10.0)
        # The process that set the lease had only read until then.
        with ledger.write() as connection:
            name = f"run-{night}"
            hold_elsewhere(connection, Job(kind="judge", name=name), name)
        for lived_s, is_over in ((80.0, False), (20.0, True)):
            machine.live(lived_s)
            clock_of(ledger.engine).forget()
            with ledger.read() as connection:
                found = read_job(connection, "judge", name)
                assert found is not None
                assert is_held(connection, found) is not is_over
        machine.restart(16 * HOUR_S, f"night {night}")
    assert len(read(ledger).doubts) == 3


def test_a_lease_that_a_doubt_fell_into_lasts_as_much_longer(ledger: Ledger, machine: Machine) -> None:
    check_clock(ledger)
    machine.live(180.0)
    ends_at = write_moment(machine.wall + 90.0)
    long_ends_at = write_moment(machine.wall + 1_800.0)
    machine.restart(1_000.0)
    check_clock(ledger)
    for lived_s, is_over, is_long_over in ((0.0, False, False), (300.0, True, False), (1_800.0, True, True)):
        machine.live(lived_s)
        clock_of(ledger.engine).forget()
        with ledger.read() as connection:
            assert is_lapsed(connection, ends_at) is is_over
            assert is_lapsed(connection, long_ends_at, lease_s=1_800.0) is is_long_over


def test_a_span_that_another_hosts_uptime_shows_is_no_doubt(ledger: Ledger, machine: Machine) -> None:
    check_clock(ledger)
    other = Machine(boot=Boot("other", 20.0))
    machine.live(500.0)
    other.wall = machine.wall
    use(ledger, other)
    assert read(ledger).doubts == (Doubt(500.0, NOON + 500.0),)
    for one in (machine, other):
        one.live(200.0)
    use(ledger, machine)
    check_clock(ledger)
    for one in (machine, other):
        use(ledger, one)
        assert read(ledger).doubts == ()


def test_measuring_says_how_far_the_clock_is_off_and_writes_nothing(ledger: Ledger, machine: Machine) -> None:
    check_clock(ledger)
    with ledger.write() as connection:
        add_entry(connection, Entry("plan_run", accessed_at=write_moment(NOON)))
    machine.live(100.0)
    machine.leap(35 * DAY_S)
    found = measure_clock(ledger)
    assert (found.host - found.database, found.ahead_of_last_s) == (0.0, 35 * DAY_S + 100.0)
    assert found.expected == NOON + 100.0
    assert found.problem is not None
    with ledger.read() as connection:
        assert connection.execute(select(clock_marks.c.moment)).scalars().all() == [NOON]


def test_a_change_to_summer_time_is_no_leap(
    ledger: Ledger, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    check_clock(ledger)
    for zone in ("Europe/Berlin", "Asia/Shanghai", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        machine.live(86_400.0)
        assert read(ledger) == Time(machine.wall)
    monkeypatch.undo()
    time.tzset()


def test_settling_takes_now_where_a_doubt_changes_nothing() -> None:
    time = Time(NOON, (Doubt(HOUR_S, None),))
    assert time.settle([(START, lambda moment: moment > 0)]) == NOON
    assert time.settle([(START, lambda moment: moment >= NOON)]) == NOON - HOUR_S
    with pytest.raises(ClockError, match="What is due would be different"):
        Time(NOON, (Doubt(35 * DAY_S, None),)).settle([(START, lambda moment: moment >= NOON)])


def test_settling_asks_of_each_item_only_the_doubts_since_it_stands() -> None:
    off = tuple(Doubt(16 * HOUR_S, NOON + night * DAY_S) for night in range(4))
    time = Time(NOON + 4 * DAY_S, off)

    def is_due(moment: float) -> bool:
        return moment >= NOON + 3.7 * DAY_S

    assert time.settle([(write_moment(NOON + 3.5 * DAY_S), is_due)]) == time.now
    waiting = [(write_moment(NOON + 3.5 * DAY_S), is_due), (write_moment(NOON + 2.5 * DAY_S), is_due)]
    assert time.settle(waiting) == time.now - 16 * HOUR_S
    with pytest.raises(ClockError):
        time.settle([*waiting, (START, is_due)])


def test_this_host_tells_its_start_and_uptime() -> None:
    first, second = read_boot(), read_boot()
    assert first is not None
    assert second is not None
    assert first.boot_id == second.boot_id
    assert 0 < first.uptime_s <= second.uptime_s


@pytest.mark.service
def test_on_a_server_its_clock_decides_and_a_host_far_from_it_is_refused(
    postgresql: PostgresqlServer,
) -> None:
    with open_ledger(postgresql.new_ledger_url()) as ledger:
        true = Machine(wall=read(ledger).now)
        use(ledger, true)
        assert read(ledger).doubts == ()
        for off_s in (35 * DAY_S, -35 * DAY_S, HOUR_S, -HOUR_S):
            true.leap(off_s)
            with pytest.raises(ClockError, match=r"and the database server's .* apart"):
                check_clock(ledger)
            found = measure_clock(ledger)
            assert found.host - found.database == pytest.approx(off_s, abs=60.0)
            with pytest.raises(ClockError):
                confirm_clock(ledger)
            true.leap(-off_s)
        check_clock(ledger)
