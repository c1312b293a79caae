"""Nothing stays open for ever: deadlines for questions and sessions, and closing by force."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from deployments.exam_api import create_app
from schemas.errors import ExamError, UsageError
from schemas.settings import LONGEST_RESPONSE
from tasks.exam.closed.closing import ClosingReport, close_overdue, force_close, set_deadlines
from tasks.exam.closed.landing import land_closed_sessions
from tasks.exam.doors import HttpDoor
from tasks.exam.log.check import check_ledger
from tasks.exam.protocol.deadlines import Deadlines
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.words import Answer, Lease
from tasks.exam.sitting import SittingPart, sit_sessions
from tasks.models import CallFailed
from tasks.texts import cut_text
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.doors import DoorToTheExam, serve_app
from tests.tasks.exam.world import (
    AnsweringClient,
    World,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from warehouse.lake import open_lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.exam import seats, sittings

DAY_S = 86_400.0
both_doors = pytest.mark.parametrize("door", ["direct", "http"], indirect=True)
LIMITS = Deadlines(session_s=2 * DAY_S, question_s=600.0)


@pytest.fixture
def outside(ledger: Ledger, tmp_path: Path) -> World:
    """Alpha sits with its own client, six questions; the reference sits in house."""
    settings = make_settings(tmp_path / "home")
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank(), candidates=[], outside=["alpha"])
    return World(ledger, settings, registry, make_bank(), plan)


@pytest.fixture
def door(request: pytest.FixtureRequest, outside: World) -> Iterator[DoorToTheExam]:
    protocol = ExamProtocol(
        outside.ledger, outside.keys, SeatRules(lease_s=10 * DAY_S, deadlines=LIMITS), clock=outside.clock
    )
    if getattr(request, "param", "direct") == "direct":
        yield DoorToTheExam("direct", lambda: contextlib.nullcontext(protocol))
        return
    with serve_with(outside, protocol) as url:
        yield DoorToTheExam("http", lambda: HttpDoor(url, patience_s=2.0))


@contextmanager
def serve_with(world: World, protocol: ExamProtocol) -> Iterator[str]:
    app = create_app(world.settings, ledger=world.ledger)
    with serve_app(app) as url:
        app.state.protocol = protocol
        yield url


def open_one(door: DoorToTheExam, world: World) -> tuple[str, str, Lease]:
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id, ttl_s=int(30 * DAY_S))
    return session_id, token, door.call(lambda d: d.open_session(token, session_id))


def submit(door: DoorToTheExam, token: str, lease: Lease, seq: int) -> None:
    door.call(lambda d: d.submit_answer(token, lease, seq, Answer("in time")))


def refused(door: DoorToTheExam, operation: Any) -> tuple[int, str]:
    with pytest.raises(ExamError) as caught:
        door.call(operation)
    return caught.value.status, caught.value.code


def statuses(world: World, session_id: str) -> list[str | None]:
    """What became of every question, in order; null where there is no answer."""
    with world.ledger.read() as connection:
        return [row["answer_status"] for row in read_response_rows(connection, [session_id])]


def land(world: World) -> dict[str, Any]:
    """The session of alpha, its allocations and its responses, as they land."""
    with open_lake(world.settings) as lake:
        land_closed_sessions(world.ledger, lake)
        session = lake.query("select * from sessions where model = 'alpha'").row(0, named=True)
        named = {"s": session["session_id"]}
        return session | {
            "allocations": lake.query("select count(*) from allocations where session_id = $s", named).item(),
            "responses": lake.query(
                "select seq, answer_status, error from responses where session_id = $s order by seq", named
            ).rows(),
        }


# --- told beforehand ------------------------------------------------------------------------------------------


@both_doors
def test_an_outside_candidate_is_told_both_deadlines(door: DoorToTheExam, outside: World) -> None:
    session_id, token, lease = open_one(door, outside)
    assert (lease.deadline_at, lease.question_s) == ("2027-01-17T08:00:00.000000+00:00", 600.0)
    put = door.call(lambda d: d.next_question(token, lease))
    assert put is not None
    assert put.answer_by == "2027-01-15T08:10:00.000000+00:00"
    outside.now += 60
    again = door.call(lambda d: d.next_question(token, lease))
    assert again is not None
    assert (again.is_repeat, again.answer_by) == (True, put.answer_by), "asking again gives no more time"
    status = door.call(lambda d: d.read_status(token, session_id))
    assert (status.deadline_at, status.question_s) == (lease.deadline_at, 600.0)


def test_deadlines_set_at_planning_stay_and_questions_of_in_house_candidates_have_none(
    outside: World,
) -> None:
    assert set_deadlines(outside.ledger, outside.settings, outside.plan.run_id) == 2
    first = {row["model"]: row for model in ("alpha", "rho") for row in outside.sessions(model)}
    assert (first["alpha"]["question_s"], first["rho"]["question_s"]) == (3600.0, None)
    assert first["alpha"]["deadline_at"] == first["rho"]["deadline_at"] is not None
    longer = outside.settings.model_copy(update={"session_days": 99.0})
    assert set_deadlines(outside.ledger, longer) == 0
    assert outside.sessions()[0]["deadline_at"] == first["alpha"]["deadline_at"]


# --- a question's time --------------------------------------------------------------------------------------------


@both_doors
def test_a_late_answer_is_refused_the_question_is_given_up_and_the_next_one_comes(
    door: DoorToTheExam, outside: World
) -> None:
    session_id, token, lease = open_one(door, outside)
    door.call(lambda d: d.next_question(token, lease))
    outside.now += 601
    assert refused(door, lambda d: d.submit_answer(token, lease, 1, Answer("late"))) == (409, "too_late")
    put = door.call(lambda d: d.next_question(token, lease))
    assert put is not None
    assert (put.seq, put.is_repeat) == (2, False)
    assert refused(door, lambda d: d.submit_answer(token, lease, 1, Answer("later"))) == (409, "too_late")
    door.call(lambda d: d.submit_answer(token, lease, 2, Answer("in time")))
    assert statuses(outside, session_id) == ["unanswered", "answered", None, None, None, None]
    with outside.ledger.read() as connection:
        assert check_ledger(connection).findings == ()


def test_a_session_whose_last_question_ran_out_is_closed_and_lands_with_its_answers_only(
    door: DoorToTheExam, outside: World
) -> None:
    session_id, token, lease = open_one(door, outside)
    for seq in range(1, 6):
        door.call(lambda d: d.next_question(token, lease))
        submit(door, token, lease, seq)
    door.call(lambda d: d.next_question(token, lease))
    outside.now += 601
    assert door.call(lambda d: d.next_question(token, lease)) is None
    assert outside.sessions()[0]["status"] == "closed"
    assert refused(door, lambda d: d.submit_answer(token, lease, 6, Answer("late"))) == (
        403,
        "session_closed",
    )
    landed = land(outside)
    assert (landed["question_count"], landed["answered_count"], landed["close_reason"]) == (6, 5, None)
    assert landed["allocations"] == 6
    assert landed["responses"] == [(seq, "answered", None) for seq in range(1, 6)]
    assert session_id == landed["session_id"]


# --- a session's deadline -------------------------------------------------------------------------------------------


def test_after_its_deadline_a_session_takes_nothing_and_is_closed_by_schedule(
    door: DoorToTheExam, outside: World
) -> None:
    session_id, token, lease = open_one(door, outside)
    door.call(lambda d: d.next_question(token, lease))
    door.call(lambda d: d.submit_answer(token, lease, 1, Answer("in time")))
    assert close_overdue(outside.ledger, now=outside.now + 2 * DAY_S - 1) == ClosingReport()
    outside.now += 2 * DAY_S
    late = (
        lambda d: d.next_question(token, lease),
        lambda d: d.submit_answer(token, lease, 1, Answer("again")),
        lambda d: d.renew_lease(token, lease),
        lambda d: d.open_session(token, session_id, lease.secret),
    )
    assert [refused(door, call) for call in late] == [(403, "deadline_passed")] * 4

    report = close_overdue(outside.ledger, now=outside.now)
    assert (report.session_ids, report.unanswered_count, report.error_count) == ((session_id,), 5, 0)
    assert refused(door, lambda d: d.submit_answer(token, lease, 2, Answer("late"))) == (
        403,
        "session_closed",
    )
    assert outside.answers(session_id) == {1: "in time"}, "what was acknowledged stays"
    landed = land(outside)
    assert (landed["status"], landed["answered_count"], landed["close_reason"]) == (
        "closed",
        1,
        "the deadline had passed",
    )


def test_a_session_that_was_never_opened_does_not_keep_its_run_open(outside: World) -> None:
    set_deadlines(outside.ledger, outside.settings)
    asyncio.run(
        sit_sessions(
            outside.ledger, outside.settings, outside.registry, AnsweringClient(), outside.plan.run_id
        )
    )
    in_three_weeks = outside.now + 400 * DAY_S
    report = close_overdue(outside.ledger, now=in_three_weeks)
    assert (len(report.session_ids), report.unanswered_count, report.run_ids) == (
        1,
        6,
        (outside.plan.run_id,),
    )
    assert close_overdue(outside.ledger, now=in_three_weeks) == ClosingReport()


# --- closed by force ------------------------------------------------------------------------------------------------


def test_a_run_that_stopped_at_its_last_question_is_closed_by_force(
    door: DoorToTheExam, outside: World
) -> None:
    session_id, token, lease = open_one(door, outside)
    for seq in range(1, 6):
        door.call(lambda d: d.next_question(token, lease))
        submit(door, token, lease, seq)
    door.call(lambda d: d.next_question(token, lease))
    report = force_close(outside.ledger, session_id, "the candidate has gone")
    assert report == ClosingReport((session_id,), 1, 0, ())
    assert force_close(outside.ledger, session_id, "again") == ClosingReport()
    assert refused(door, lambda d: d.submit_answer(token, lease, 6, Answer("late"))) == (
        403,
        "session_closed",
    )
    assert refused(door, lambda d: d.submit_answer(token, lease, 5, Answer("twice"))) == (
        409,
        "already_answered",
    )
    assert door.call(lambda d: d.next_question(token, lease)) is None
    rest = force_close(outside.ledger, outside.plan.run_id, "no budget is left")
    assert (len(rest.session_ids), rest.run_ids) == (1, (outside.plan.run_id,))
    assert land(outside)["close_reason"] == "the candidate has gone"
    with outside.ledger.read() as connection:
        assert check_ledger(connection).findings == ()


def test_calls_that_failed_for_good_are_errors_where_the_session_is_closed_by_force(world: World) -> None:
    class Breaking(AnsweringClient):
        async def complete(self, model: Any, request: Any) -> Any:
            if request.salt.endswith(":3"):
                raise CallFailed("The endpoint gave up.", call_key="k", error="timeout", attempts=5)
            return await super().complete(model, request)

    report = asyncio.run(
        sit_sessions(
            world.ledger,
            world.settings,
            world.registry,
            Breaking(),
            world.plan.run_id,
            part=SittingPart(models=["alpha"]),
        )
    )
    assert [failure.reason for failure in report.failures] == ["The endpoint gave up."]
    session_id = world.sessions()[0]["session_id"]
    closed_now = force_close(world.ledger, session_id, "the endpoint was shut down")
    assert (closed_now.unanswered_count, closed_now.error_count) == (4, 1)
    landed = land(world)
    assert landed["responses"] == [(1, "answered", None), (2, "answered", None), (3, "error", "timeout")]
    assert (landed["question_count"], landed["answered_count"]) == (6, 2)


@pytest.mark.parametrize("reason", ["", "  ", "x" * 201])
def test_a_reason_is_asked_for(outside: World, reason: str) -> None:
    with pytest.raises(UsageError, match="1 to 200 characters"):
        force_close(outside.ledger, outside.plan.run_id, reason)


def test_an_unknown_run_or_session_is_a_usage_error(outside: World) -> None:
    with pytest.raises(UsageError, match="no run and no session 'none'"):
        force_close(outside.ledger, "none", "a reason")


# --- what an answer may be -----------------------------------------------------------------------------------------


def test_no_candidate_can_claim_an_error(door: DoorToTheExam, outside: World) -> None:
    session_id, token, lease = open_one(door, outside)
    door.call(lambda d: d.next_question(token, lease))
    with pytest.raises(ExamError, match="ask it again and send its answer") as caught:
        door.call(lambda d: d.submit_answer(token, lease, 1, Answer("", answer_status="error")))
    assert (caught.value.status, caught.value.code) == (422, "invalid_answer")
    assert statuses(outside, session_id)[0] is None


@pytest.mark.parametrize("letter", ["a", "答", "𝔸"])
def test_a_reply_over_the_limit_is_kept_truncated_and_the_session_continues(
    door: DoorToTheExam, outside: World, letter: str
) -> None:
    session_id, token, lease = open_one(door, outside)
    door.call(lambda d: d.next_question(token, lease))
    endless = Answer(letter * (LONGEST_RESPONSE + 5), reasoning=letter * (LONGEST_RESPONSE + 5))
    receipt, put = door.call(lambda d: d.submit_and_next(token, lease, 1, endless))
    assert receipt.answered_count == 1
    assert put is not None
    assert outside.answers(session_id)[1] == cut_text(endless.response, LONGEST_RESPONSE)[0]
    assert statuses(outside, session_id)[:2] == ["truncated", None]


def test_an_in_house_candidate_that_never_stops_is_kept_truncated_and_its_session_is_closed(
    world: World,
) -> None:
    class Endless(AnsweringClient):
        async def complete(self, model: Any, request: Any) -> Any:
            import dataclasses

            reply = await super().complete(model, request)
            return dataclasses.replace(reply, text="x" * (LONGEST_RESPONSE + 1))

    for exam_door in ("direct", "http"):
        with serve_app(create_app(world.settings, ledger=world.ledger)) as url:
            settings = world.settings.model_copy(update={"exam_door": exam_door, "exam_url": url})
            model = {"direct": "alpha", "http": "rho"}[exam_door]
            report = asyncio.run(
                sit_sessions(
                    world.ledger,
                    settings,
                    world.registry,
                    Endless(),
                    world.plan.run_id,
                    part=SittingPart(models=[model]),
                )
            )
        assert (report.failures, report.answer_count) == ([], 6)
    with world.ledger.read() as connection:
        assert sittings.count_sessions(connection, world.plan.run_id) == {"closed": 2}
    assert {len(text) for text in world.answers(world.sessions()[0]["session_id"]).values()} == {
        LONGEST_RESPONSE
    }


def test_a_run_that_outside_candidates_closed_themselves_is_closed_with_the_next_look(outside: World) -> None:
    """Nobody types the command of the month again for it."""
    for row in [row for model in ("alpha", "rho") for row in outside.sessions(model)]:
        with outside.ledger.write() as connection:
            seats.write_session(
                connection,
                row["session_id"],
                status="closed",
                answered_count=0,
                closed_at="2027-01-15T09:00:00",
            )
    with outside.ledger.read() as connection:
        assert sittings.list_open_runs(connection) == [outside.plan.run_id]
    assert close_overdue(outside.ledger, now=outside.now).run_ids == (outside.plan.run_id,)
    with outside.ledger.read() as connection:
        assert sittings.list_open_runs(connection) == []
    assert close_overdue(outside.ledger, now=outside.now) == ClosingReport()
