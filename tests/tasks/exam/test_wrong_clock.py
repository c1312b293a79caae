"""A process whose clock is wrong closes no session, takes no answer, publishes nothing."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from schemas.errors import ClockError, ExamError
from tasks.exam.closed.closing import ClosingReport, close_overdue, set_deadlines
from tasks.exam.protocol.deadlines import check_deadline
from tasks.exam.protocol.machine import make_protocol
from tasks.exam.protocol.words import Answer
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.leases.clock import (
    Boot,
    Doubt,
    Host,
    LedgerClock,
    Time,
    clock_of,
    confirm_clock,
    read_boot,
)
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import sittings
from warehouse.ledger.exam.seats import read_seat

HOUR_S, DAY_S = 3_600.0, 86_400.0
LEAPS = [35 * DAY_S, -35 * DAY_S, HOUR_S, -HOUR_S]


@pytest.fixture
def outside(ledger: Ledger, tmp_path: Path) -> World:
    """Sessions of an outside candidate and of the reference, planned and opened by true time."""
    settings = make_settings(tmp_path / "home")
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank(), candidates=[], outside=["alpha"])
    set_deadlines(ledger, settings)
    return World(ledger, settings, registry, make_bank(), plan)


@dataclass
class Process:
    """A new process on this host whose clock is off, and whose host may have been started since."""

    ledger: Ledger

    def start(self, off_s: float, *, restarted: bool = False) -> None:
        true = Host()

        def boot() -> Boot | None:
            return Boot("another start", 20.0) if restarted else read_boot()

        clock = clock_of(self.ledger.engine)
        clock.host = Host(lambda: true.read_wall() + off_s, boot)
        clock.forget()


def count(ledger: Ledger, run_id: str) -> dict[str, int]:
    with ledger.read() as connection:
        return dict(sittings.count_sessions(connection, run_id))


@pytest.mark.parametrize("leap_s", LEAPS)
@pytest.mark.parametrize("restarted", [False, True])
def test_a_wrong_clock_closes_no_session(outside: World, leap_s: float, restarted: bool) -> None:
    before = count(outside.ledger, outside.plan.run_id)
    Process(outside.ledger).start(leap_s, restarted=restarted)
    if leap_s == HOUR_S:
        assert close_overdue(outside.ledger) == ClosingReport()
    else:
        with pytest.raises(ClockError, match=r"UTC.*UTC.*proctor clock --confirm"):
            close_overdue(outside.ledger)
    assert count(outside.ledger, outside.plan.run_id) == before
    Process(outside.ledger).start(0.0)
    assert close_overdue(outside.ledger) == ClosingReport()


def test_a_deadline_that_has_truly_passed_closes_after_the_clock_is_confirmed(outside: World) -> None:
    Process(outside.ledger).start(35 * DAY_S, restarted=True)
    with pytest.raises(ClockError):
        close_overdue(outside.ledger)
    confirm_clock(outside.ledger)
    assert len(close_overdue(outside.ledger).session_ids) == sum(
        count(outside.ledger, outside.plan.run_id).values()
    )


@pytest.mark.parametrize("leap_s", [35 * DAY_S, -35 * DAY_S, -HOUR_S])
def test_a_wrong_clock_sets_no_deadline_and_opens_no_protocol(outside: World, leap_s: float) -> None:
    Process(outside.ledger).start(leap_s)
    with pytest.raises(ClockError):
        set_deadlines(outside.ledger, outside.settings)
    with pytest.raises(ClockError):
        make_protocol(outside.ledger, outside.settings, is_in_house=False)


@pytest.mark.parametrize("leap_s", LEAPS)
def test_a_server_whose_clock_leaps_takes_every_answer_in_its_time(outside: World, leap_s: float) -> None:
    """Leases, limits of questions and tokens follow the time that the process counts itself."""
    protocol = make_protocol(outside.ledger, outside.settings, is_in_house=False)
    session_id = outside.sessions()[0]["session_id"]
    outside.now = clock_of(outside.ledger.engine)()
    token = outside.token(session_id)
    lease = asyncio.run(protocol.open_session(token, session_id))
    put = asyncio.run(protocol.next_question(token, lease))
    true = Host()
    clock_of(outside.ledger.engine).host = Host(lambda: true.read_wall() + leap_s)
    given = 0
    while put is not None:
        given += 1
        _, put = asyncio.run(protocol.submit_and_next(token, lease, put.seq, Answer("A")))
    assert len(outside.answers(session_id)) == given == 6


def test_a_question_is_not_late_because_the_server_was_started_with_a_wrong_clock(outside: World) -> None:
    protocol = make_protocol(outside.ledger, outside.settings, is_in_house=False)
    session_id = outside.sessions()[0]["session_id"]
    outside.now = clock_of(outside.ledger.engine)()
    lease = asyncio.run(protocol.open_session(outside.token(session_id), session_id))
    put = asyncio.run(protocol.next_question(outside.token(session_id), lease))
    assert put is not None
    Process(outside.ledger).start(3 * HOUR_S)
    protocol = make_protocol(outside.ledger, outside.settings, is_in_house=False)
    outside.now += 3 * HOUR_S
    lease = asyncio.run(protocol.open_session(outside.token(session_id), session_id))
    again = asyncio.run(protocol.next_question(outside.token(session_id), lease))
    assert again is not None
    assert (again.seq, again.is_repeat) == (put.seq, True)
    assert (
        asyncio.run(
            protocol.submit_answer(outside.token(session_id), lease, put.seq, Answer("A"))
        ).answered_count
        == 1
    )


def test_the_door_asks_only_for_the_doubts_since_the_planning(outside: World) -> None:
    session = outside.sessions()[0]
    with outside.ledger.read() as connection:
        seat = read_seat(connection, session["session_id"], session["user_id"])
    assert seat is not None
    assert seat.deadline_at is not None
    planned, deadline = (
        datetime.fromisoformat(moment).timestamp() for moment in (seat.planned_at, seat.deadline_at)
    )
    clock = LedgerClock()
    clock._found = (Time(deadline + 1.0, (Doubt(2 * DAY_S, planned - 1.0),)), clock.host.tick())
    with pytest.raises(ExamError, match="The deadline of this session was"):
        check_deadline(seat, clock)
    clock._found = (Time(deadline + 1.0, (Doubt(2 * DAY_S, planned + 1.0),)), clock.host.tick())
    with pytest.raises(ClockError):
        check_deadline(seat, clock)


def test_the_error_says_how_far_the_clock_is_off(outside: World) -> None:
    Process(outside.ledger).start(35 * DAY_S)
    with pytest.raises(ClockError) as refused:
        close_overdue(outside.ledger)
    assert re.search(r"it has leapt 35\.0 days ahead", str(refused.value))
