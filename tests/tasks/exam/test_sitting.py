"""In-house candidates sit all sessions, through either door, whatever stops them."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from deployments.exam_api import create_app
from schemas.errors import BudgetError, ProctorError, RegistryError, UsageError
from schemas.ledger.engine import Job
from schemas.settings import Settings
from tasks.exam import http_calls
from tasks.exam.closed.closing import close_run
from tasks.exam.doors import HttpDoor
from tasks.exam.http_calls import DoorError
from tasks.exam.log.check import check_ledger
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.sitter import SittingProgress
from tasks.exam.sitting import SittingFailure, SittingPart, SittingReport, sit_sessions
from tasks.running.claiming import claim_work, hold_if_free
from tasks.running.sharing import JobQueue
from tests.hunts import tries
from tests.tasks.exam.answer_rows import read_response_rows
from tests.tasks.exam.doors import serve_app
from tests.tasks.exam.world import (
    AnsweringClient,
    World,
    make_bank,
    make_model,
    make_registry,
    make_settings,
    publish,
)
from tests.warm import ROOT, WarmProcess
from warehouse.ledger.engine.leases.jobs import list_jobs
from warehouse.ledger.engine.leases.processes import WORKER
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.exam import sittings
from warehouse.stores import away


class Unreachable(ProctorError):
    """The model cannot be called."""


@pytest.fixture
def crowd(ledger: Ledger, tmp_path: Path) -> World:
    """Twelve sessions of six questions: three candidates, two repeats, two styles."""
    settings = make_settings(tmp_path / "home", repeats=2, prompt_styles=("zero_shot", "chain_of_thought"))
    rho = make_model("rho", roles=("candidate", "reference"))
    registry = make_registry(make_model("alpha"), make_model("beta"), rho)
    bank = make_bank()
    return World(ledger, settings, registry, bank, publish(ledger, settings, registry, bank))


def leave_one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that failed once stays open."""
    for module in ("tasks.exam.sitting", "tasks.running.sharing.crew", "tasks.running.sharing.queue"):
        monkeypatch.setattr(f"{module}.MOST_TRIES", 1)


def sit(
    world: World, client: Any, progress: Callable[[SittingProgress], None] | None = None, **part: Any
) -> SittingReport:
    return asyncio.run(
        sit_sessions(
            world.ledger,
            world.settings,
            world.registry,
            client,
            world.plan.run_id,
            progress=progress,
            part=SittingPart(**part),
        )
    )


def statuses(world: World) -> dict[str, int]:
    with world.ledger.read() as connection:
        return sittings.count_sessions(connection, world.plan.run_id)


def assert_every_question_was_answered_once(world: World) -> None:
    with world.ledger.read() as connection:
        for session in sittings.list_sessions(connection, run_id=world.plan.run_id):
            rows = read_response_rows(connection, [session.session_id])
            assert [row["seq"] for row in rows if row["answered_at"]] == list(
                range(1, session.question_count + 1)
            )
        assert check_ledger(connection).findings == ()


@pytest.mark.parametrize("door", ["direct", "http"])
def test_all_sessions_are_sat_and_the_run_is_closed(crowd: World, door: str) -> None:
    client = AnsweringClient()
    seen: list[SittingProgress] = []
    if door == "direct":
        report = sit(crowd, client, progress=seen.append)
    else:
        with serve_app(create_app(crowd.settings, ledger=crowd.ledger)) as url:
            crowd.settings = crowd.settings.model_copy(update={"exam_door": "http", "exam_url": url})
            report = sit(crowd, client, progress=seen.append)
    assert report == SittingReport(crowd.plan.run_id, 12, 12, 0, 72, [], True)
    assert len(client.requests) == len(seen) == 72
    assert {progress.question_count for progress in seen} == {6}
    assert sorted(progress.answered_count for progress in seen) == sorted([*range(1, 7)] * 12)
    assert isinstance(seen[0], SittingProgress)
    assert_every_question_was_answered_once(crowd)
    with crowd.ledger.read() as connection:
        run = sittings.read_run(connection, crowd.plan.run_id)
    assert run is not None
    assert (run.status, run.closed_at is not None) == ("closed", True)


@pytest.mark.parametrize(
    ("sharers", "most"),
    [pytest.param(1, 12, marks=pytest.mark.long), (3, 4), pytest.param(50, 1, marks=pytest.mark.long)],
)
def test_where_several_share_a_run_each_holds_its_part_of_the_sessions(
    crowd: World, sharers: int, most: int
) -> None:
    """A process that is alone takes all; one that begins later finds some of them free."""
    held: list[int] = []

    class Watching(AnsweringClient):
        async def complete(self, *asked: Any) -> Any:
            with crowd.ledger.read() as connection:
                held.append(sum(job.holder is not None for job in list_jobs(connection, "sit")))
            return await super().complete(*asked)

    with ExitStack() as stack:
        for number in range(1, sharers):
            stack.enter_context(hold_if_free(crowd.ledger, Job(kind=WORKER, name=f"host-{number}")))
        report = sit(crowd, Watching(delay_s=0.001))
    assert (report.closed_count, report.answer_count) == (12, 72)
    assert max(held) == most


def test_questions_are_put_in_the_sessions_style_and_no_two_calls_share_a_key(crowd: World) -> None:
    client = AnsweringClient()
    sit(crowd, client)
    with crowd.ledger.read() as connection:
        styles = {
            row.session_id: row.prompt_style
            for row in sittings.list_sessions(connection, run_id=crowd.plan.run_id)
        }
        for session_id, style in styles.items():
            rows = read_response_rows(connection, [session_id])
            assert {row["prompt_version"].split("/")[1] for row in rows} == {style}
    assert {request.unit for request in client.requests} == set(styles)
    assert len({(request.unit, request.salt) for request in client.requests}) == 72
    assert {request.run_id for request in client.requests} == {crowd.plan.run_id}


def test_a_model_that_cannot_be_called_leaves_its_session_open_and_the_others_go_on(crowd: World) -> None:
    def fail(model: Any, _: int) -> Exception | None:
        return Unreachable("beta is down; try later.") if model.name == "beta" else None

    report = sit(crowd, AnsweringClient(fail))
    assert not report.is_complete
    assert report.is_run_closed is False
    assert {failure.model for failure in report.failures} == {"beta"}
    assert report.failures[0] == SittingFailure(
        report.failures[0].session_id, "beta", "beta is down; try later."
    )
    assert statuses(crowd) == {"closed": 8, "open": 4}
    client = AnsweringClient()
    again = sit(crowd, client)
    assert (again.is_complete, again.is_run_closed, again.answer_count) == (True, True, 24)
    assert len(client.requests) == 24
    assert_every_question_was_answered_once(crowd)


def test_a_session_in_which_a_call_failed_is_sat_again_after_the_others(crowd: World) -> None:
    def fail(model: Any, count: int) -> Exception | None:
        return Unreachable("for a moment") if model.name == "beta" and count <= 12 else None

    report = sit(crowd, AnsweringClient(fail))
    assert (report.is_complete, report.is_run_closed, report.answer_count) == (True, True, 72)
    assert_every_question_was_answered_once(crowd)


def test_the_budget_stops_the_run_and_what_was_answered_is_kept(crowd: World) -> None:
    def fail(_: Any, count: int) -> Exception | None:
        return BudgetError("The next call could exceed the budget.") if count > 30 else None

    with pytest.raises(BudgetError):
        sit(crowd, AnsweringClient(fail))
    client = AnsweringClient()
    report = sit(crowd, client)
    assert report.is_run_closed
    assert 72 - 30 <= len(client.requests) <= 72 - 30 + 12
    assert_every_question_was_answered_once(crowd)


def change_entry(world: World, name: str, **values: Any) -> None:
    model = dataclasses.replace(world.registry.models[name], **values)
    world.registry = dataclasses.replace(world.registry, models={**world.registry.models, name: model})


def test_a_candidate_gives_all_answers_of_a_run_by_one_entry_of_the_registry(crowd: World) -> None:
    def fail(_: Any, count: int) -> Exception | None:
        return BudgetError("The next call could exceed the budget.") if count > 5 else None

    planned = crowd.registry.models["alpha"].parameters
    with pytest.raises(BudgetError):
        sit(crowd, AnsweringClient(fail), models=["alpha"])
    client = AnsweringClient()
    change_entry(crowd, "alpha", parameters={**planned, "max_tokens": 77})
    with pytest.raises(
        RegistryError, match=r"alpha has given \d+ answers of run .* \(parameters changed since\)"
    ):
        sit(crowd, client)
    assert client.requests == []
    # a server may move, and what has given no answer may be corrected
    change_entry(crowd, "alpha", parameters=planned, base_url="http://127.0.0.1:8/v1")
    change_entry(crowd, "beta", parameters={"max_tokens": 77})
    assert sit(crowd, client).is_run_closed
    assert_every_question_was_answered_once(crowd)


def test_two_commands_for_candidates_of_one_run_take_each_its_own(crowd: World) -> None:
    # Of one provider, so that their sessions wait in one lane.
    named = {
        name: dataclasses.replace(model, provider="one") for name, model in crowd.registry.models.items()
    }
    crowd.registry = dataclasses.replace(crowd.registry, models=named)
    with ThreadPoolExecutor(2) as pool:
        sat = [pool.submit(sit, crowd, AnsweringClient(), models=[name]) for name in ("alpha", "beta")]
        reports = [one.result(120) for one in sat]
    assert [(report.session_count, report.is_complete) for report in reports] == [(4, True)] * 2
    assert statuses(crowd) == {"closed": 8, "planned": 4}


def test_the_job_of_a_session_that_is_closed_ends_with_whoever_takes_it(crowd: World) -> None:
    sit(crowd, AnsweringClient(), models=["alpha"])
    closed_ids = [row["session_id"] for row in crowd.sessions() if row["status"] == "closed"]
    lane = crowd.registry.models["alpha"].provider

    async def defer() -> None:
        # As a process leaves them that is killed between the last answer and the end of the job.
        with JobQueue(crowd.ledger, "sit", crowd.plan.run_id) as jobs:
            await jobs.defer(dict.fromkeys(closed_ids, lane))

    asyncio.run(defer())
    client = AnsweringClient()
    sit(crowd, client, is_helping=True)
    assert client.requests == []
    with crowd.ledger.read() as connection:
        assert list_jobs(connection, "sit", crowd.plan.run_id) == []


def test_outside_candidates_are_left_to_their_own_client(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "home", pending_window=3)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank(), candidates=[], outside=["alpha"])
    world = World(ledger, settings, registry, make_bank(), plan)
    report = sit(world, AnsweringClient())
    assert (report.outside_count, report.is_complete, report.is_run_closed) == (1, True, False)
    assert [row["status"] for row in world.sessions()] == ["planned"]
    assert [row["pending_window"] for row in world.sessions()] == [1]


def test_a_session_that_another_process_sits_is_left_to_it_and_waited_for(crowd: World) -> None:
    held = crowd.sessions()[0]["session_id"]
    client = AnsweringClient()
    seen: list[int] = []
    is_held = Event()

    def sit_slowly() -> None:
        with (
            open_ledger(crowd.ledger.engine.url.render_as_string()) as other,
            claim_work(other, "sit", held, what="sitting"),
        ):
            is_held.set()
            deadline = time.monotonic() + 120
            while len(client.requests) < 66 and time.monotonic() < deadline:
                time.sleep(0.02)
            # Everything else is sat, and time for one of this session passes: nothing of it is.
            time.sleep(0.3)
            seen.extend([len(client.requests), len(crowd.answers(held))])

    with ThreadPoolExecutor(1) as pool:
        sitting_elsewhere = pool.submit(sit_slowly)
        assert is_held.wait(120)
        report = sit(crowd, client)
        sitting_elsewhere.result()
    assert seen == [66, 0]
    assert (report.is_run_closed, report.answer_count, len(client.requests)) == (True, 72, 72)


def test_an_unknown_run_is_a_usage_error(crowd: World) -> None:
    crowd.plan = dataclasses.replace(crowd.plan, run_id="none")
    with pytest.raises(UsageError, match="no run 'none'"):
        sit(crowd, AnsweringClient())


def test_a_run_with_open_sessions_is_not_closed(crowd: World) -> None:
    with pytest.raises(ProctorError, match="12 of 12 sessions are not closed"):
        close_run(crowd.ledger, crowd.plan.run_id)
    sit(crowd, AnsweringClient())
    assert close_run(crowd.ledger, crowd.plan.run_id) is False


def test_a_lease_is_renewed_while_the_candidate_thinks(world: World) -> None:
    world.settings = world.settings.model_copy(update={"lease_s": 0.6})
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=0.6, is_in_house=True))
    report = sit(world, AnsweringClient(delay_s=1.2), door=protocol, models=["alpha"])
    assert report.is_complete
    with world.ledger.read() as connection:
        actions = [row.action for row in connection.execute(access_log.select()).all()]
    assert actions.count("open") == 1
    assert actions.count("renew") >= 6


def test_a_call_under_way_outlives_a_lease_that_cannot_be_renewed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call is being paid for: broken off and made again it would be paid for twice."""
    world.settings = world.settings.model_copy(update={"lease_s": 0.3})
    door = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=0.3, is_in_house=True))
    refused: list[object] = []

    async def refuse(*given: object) -> Any:
        refused.append(given)
        raise DoorError("The exam API does not answer.")

    monkeypatch.setattr(door, "renew_lease", refuse)
    client = AnsweringClient(delay_s=0.6)
    report = sit(world, client, door=door, models=["alpha"])
    assert (report.is_complete, report.answer_count, len(client.requests)) == (True, 6, 6)
    assert refused


def test_a_session_whose_claim_was_not_renewed_in_time_is_sat_again_however_often(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger that was away for longer than a claim lasts is no failure of the session."""
    leave_one_try(monkeypatch)
    client = AnsweringClient()
    holds = JobQueue.holds
    lost: set[int] = set()

    def lose_now_and_then(jobs: JobQueue, job: Job) -> bool:
        if len(client.requests) % 2 == 0 and len(lost) < 3:
            lost.add(len(lost))
            return False
        return holds(jobs, job)

    monkeypatch.setattr(JobQueue, "holds", lose_now_and_then)
    assert sit(world, client, models=["alpha"]).is_complete
    assert len(lost) == 3
    assert len(client.requests) == 6
    assert sorted(world.answers(world.sessions()[0]["session_id"])) == list(range(1, 7))


def test_an_expired_token_and_an_expired_lease_are_renewed_by_the_holder(world: World) -> None:
    world.settings = world.settings.model_copy(update={"token_ttl_s": 1, "lease_s": 60.0})
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=0.2, is_in_house=True))
    report = sit(world, AnsweringClient(delay_s=0.4), door=protocol, models=["alpha"])
    assert (report.is_complete, report.answer_count) == (True, 6)


@pytest.mark.parametrize("window", [2, 5, 50])
def test_a_trusted_run_may_have_several_questions_pending(
    ledger: Ledger, tmp_path: Path, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_one_try(monkeypatch)
    settings = make_settings(tmp_path / "home", pending_window=window, set_size=12)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank())
    world = World(ledger, settings, registry, make_bank(), plan)

    def fail(_: Any, count: int) -> Exception | None:
        return Unreachable("down") if count in (3, 4) else None

    most = 0

    class Counting(AnsweringClient):
        running = 0

        async def complete(self, model: Any, request: Any) -> Any:
            nonlocal most
            self.running += 1
            most = max(most, self.running)
            try:
                await asyncio.sleep(0.01)
                return await super().complete(model, request)
            finally:
                self.running -= 1

    first = sit(world, Counting(fail), models=["alpha"])
    assert most == min(window, 12)
    assert len(first.failures) == 1
    client = AnsweringClient()
    assert sit(world, client, models=["alpha"]).is_complete
    assert first.answer_count + len(client.requests) == 12
    assert sorted(world.answers(world.sessions()[0]["session_id"])) == list(range(1, 13))


def test_a_window_is_honoured_in_house_only(ledger: Ledger, tmp_path: Path) -> None:
    settings = make_settings(tmp_path / "home", pending_window=3)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    world = World(ledger, settings, registry, make_bank(), publish(ledger, settings, registry, make_bank()))
    session_id = world.sessions()[0]["session_id"]
    token = world.token(session_id)

    async def ask_four_times(door: Any) -> list[tuple[int, bool]]:
        lease = await door.open_session(token, session_id, "w" * 32)
        puts = [await door.next_question(token, lease) for _ in range(4)]
        return [(put.seq, put.is_repeat) for put in puts]

    protocols = {
        is_in_house: ExamProtocol(
            ledger, world.keys, SeatRules(lease_s=60, is_in_house=is_in_house), clock=world.clock
        )
        for is_in_house in (False, True)
    }
    outside = asyncio.run(ask_four_times(protocols[False]))
    assert outside == [(1, False), (1, True), (1, True), (1, True)]
    inside = asyncio.run(ask_four_times(protocols[True]))
    assert inside == [(2, False), (3, False), (1, True), (1, True)]


def test_an_acknowledgement_lost_on_the_way_is_not_an_answer_lost_or_given_twice(world: World) -> None:
    """The server commits, its reply is cut off; the door asks again, is refused, and goes on."""
    app = create_app(world.settings, ledger=world.ledger)
    cut: list[str] = []

    async def cutting(scope: Any, receive: Any, send: Any) -> None:
        is_cut = scope["type"] == "http" and scope["path"].endswith("/answers") and len(cut) < 3
        if not is_cut:
            await app(scope, receive, send)
            return

        async def swallow(_: Any) -> None:
            return None

        await app(scope, receive, swallow)
        cut.append(scope["path"])
        raise ConnectionAbortedError

    client = AnsweringClient()

    async def run() -> SittingReport:
        async with HttpDoor(url) as door:
            return await sit_sessions(
                world.ledger,
                world.settings,
                world.registry,
                client,
                world.plan.run_id,
                part=SittingPart(door=door, models=["alpha"]),
            )

    with serve_app(cutting) as url:
        report = asyncio.run(run())
    assert report.is_complete
    assert len(cut) == 3
    assert len(client.requests) == 6
    assert sorted(world.answers(world.sessions()[0]["session_id"])) == list(range(1, 7))


SITTER = """
import asyncio, sys
from pathlib import Path
from tests.tasks.exam.world import *
from warehouse.ledger.engine.opening import open_ledger
from tasks.exam.sitting import sit_sessions

home = Path(sys.argv[1])
settings = make_settings(home / "home", repeats=2, set_size=30)
registry = make_registry(make_model("alpha"), make_model("beta"), make_model("rho", roles=("reference",)))
with open_ledger(f"sqlite:///{home / 'ledger.sqlite'}") as ledger:
    client = AnsweringClient(delay_s=0.01)
    report = asyncio.run(sit_sessions(ledger, settings, registry, client, sys.argv[2]))
    sys.exit(0 if report.is_run_closed else 1)
"""


@pytest.mark.slow
@pytest.mark.hunt
def test_a_sitter_killed_at_random_moments_goes_on_with_the_same_command(
    tmp_path: Path, warm_python: str
) -> None:
    seed = int(os.environ.get("PROCTOR_TEST_SEED", str(time.time_ns() % 100_000)))
    print(f"seed {seed}")
    moments = random.Random(seed)
    settings = make_settings(tmp_path / "home", repeats=2, set_size=30)
    registry = make_registry(make_model("alpha"), make_model("beta"), make_model("rho", roles=("reference",)))
    with open_ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        plan = publish(ledger, settings, registry, make_bank())
        world = World(ledger, settings, registry, make_bank(), plan)
        command = [warm_python, "-c", SITTER, str(tmp_path), plan.run_id]
        killed = 0
        acknowledged: dict[str, dict[int, str]] = {}
        for _ in range(60):
            process = WarmProcess(command, cwd=ROOT)
            if killed < tries(2, 5) and _answer_count(world) < 150:
                before = _answer_count(world)
                give_up_at = time.monotonic() + 60
                while (
                    _answer_count(world) == before
                    and process.poll() is None
                    and time.monotonic() < give_up_at
                ):
                    time.sleep(0.005)
                time.sleep(moments.uniform(0, 0.1))
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    killed += 1
            code = process.wait()
            for session_id, answers in acknowledged.items():
                now = world.answers(session_id)
                assert {seq: now.get(seq) for seq in answers} == answers, (
                    f"an answer was lost or changed, seed {seed}"
                )
            acknowledged = {
                session.session_id: world.answers(session.session_id) for session in plan.sessions
            }
            if code == 0:
                break
        assert code == 0, f"the run was never finished, seed {seed}"
        assert killed >= 2
        assert_every_question_was_answered_once(world)


def _answer_count(world: World) -> int:
    with world.ledger.read() as connection:
        rows = sittings.list_sessions(connection, run_id=world.plan.run_id)
    return sum(row.answered_count for row in rows)


def test_an_exam_api_that_does_not_answer_is_waited_for_as_any_store_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(away, "_listeners", [said.append])
    monkeypatch.setattr(away, "_absences", {})
    monkeypatch.setattr(http_calls, "_NOTED_AFTER_S", 0.2)
    app = create_app(world.settings, ledger=world.ledger)

    async def away_at_first(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and not said:
            raise ConnectionAbortedError
        await app(scope, receive, send)

    client = AnsweringClient()
    with serve_app(away_at_first) as url:
        values = {"exam_door": "http", "exam_url": url, "store_wait_s": 60.0}
        world.settings = world.settings.model_copy(update=values)
        assert sit(world, client, models=["alpha"]).is_complete
    assert [line.split(";")[0].split(" after")[0] for line in said] == [
        "The exam API does not answer",
        "The exam API answers again",
    ]
    assert len(client.requests) == 6


def test_settings_choose_the_door(world: World) -> None:
    """With the http door and no server, sessions stay open, and the reason names the address."""
    world.settings = world.settings.model_copy(update={"exam_door": "http", "exam_url": "http://127.0.0.1:1"})
    assert isinstance(world.settings, Settings)

    async def run() -> SittingReport:
        async with HttpDoor("http://127.0.0.1:1", patience_s=0.3) as door:
            return await sit_sessions(
                world.ledger,
                world.settings,
                world.registry,
                AnsweringClient(),
                world.plan.run_id,
                part=SittingPart(door=door),
            )

    report = asyncio.run(run())
    assert {failure.reason.split(" (")[0] for failure in report.failures} == {
        "The exam API at http://127.0.0.1:1 does not answer"
    }
    assert statuses(world) == {"planned": 2}
