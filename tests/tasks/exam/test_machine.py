"""Random walks through the state machine, against a model that fits on a page.

Each step goes through a door drawn at random. In process and over HTTP are two doors to one protocol: whichever a step
goes through, the model tells what is answered.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import dataclasses
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Connection

from deployments.exam_api import create_app
from schemas.errors import ExamError
from tasks.exam.doors import Door, HttpDoor
from tasks.exam.log.check import check_ledger
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.moves import SeatRules
from tasks.exam.protocol.words import Answer, Lease, Put
from tests.tasks.exam.doors import serve_app
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import users

COUNT = 4
LEASE_S = 60.0


@lru_cache(maxsize=1)
def template() -> Path:
    """A ledger with one published run of short sessions, made once."""
    folder = Path(tempfile.mkdtemp(prefix="exam-machine-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    configuration = make_settings(folder / "home", set_size=COUNT, disciplines=("Law",))
    with open_ledger(f"sqlite:///{folder / 'template.sqlite'}") as ledger:
        publish(
            ledger,
            configuration,
            make_registry(make_model("alpha"), make_model("rho", roles=("reference",))),
            make_bank({"Law": 10}),
        )
        with ledger.write() as connection:
            users.add_user(connection, user_id="eve", role="examiner")
    return folder


class BothDoors:
    """One server for all walks, a ledger for each, and a loop to call either door from."""

    def __init__(self) -> None:
        folder = template()
        configuration = make_settings(folder / "home", set_size=COUNT, disciplines=("Law",))
        self._resources = contextlib.ExitStack()
        ledger = self._resources.enter_context(open_ledger(f"sqlite:///{folder / 'template.sqlite'}"))
        self._app = create_app(configuration, ledger=ledger)
        self._url = self._resources.enter_context(serve_app(self._app))
        self._loop = asyncio.new_event_loop()
        self._http = HttpDoor(self._url, patience_s=5.0)
        self._loop.run_until_complete(self._http.__aenter__())
        self._direct: ExamProtocol | None = None
        atexit.register(self.close)

    def enter(self, protocol: ExamProtocol) -> None:
        """Let both doors lead to this protocol."""
        self._direct = protocol
        self._app.state.protocol = protocol

    def call(self, name: str, operation: Callable[[Door], Awaitable[Any]]) -> Any:
        door: Any = self._http if name == "http" else self._direct

        async def run() -> Any:
            return await operation(door)

        return self._loop.run_until_complete(run())

    def close(self) -> None:
        self._loop.run_until_complete(self._http.__aexit__(None, None, None))
        self._loop.close()
        self._resources.close()


@lru_cache(maxsize=1)
def both_doors() -> BothDoors:
    return BothDoors()


ANY_DOOR = st.sampled_from(["direct", "http"])


class ExamMachine(RuleBasedStateMachine):
    """One candidate's session; `self.leases` are all ever given, the last is the live one."""

    def __init__(self) -> None:
        super().__init__()
        folder = template()
        self.ledger = self.open_own_ledger(folder)
        configuration = make_settings(folder / "home", set_size=COUNT, disciplines=("Law",))
        registry = make_registry(make_model("alpha"))
        self.world = World(self.ledger, configuration, registry, make_bank({"Law": 1}), _Plan)  # type: ignore[arg-type]
        self.protocol = ExamProtocol(
            self.ledger, self.world.keys, SeatRules(lease_s=LEASE_S), clock=self.world.clock
        )
        both_doors().enter(self.protocol)
        self.session_id = self.world.sessions()[0]["session_id"]
        self.token = self.world.token(self.session_id, ttl_s=10**8)
        self.examiner = self.world.token(None, user_id="eve", permissions=("release_sessions",), ttl_s=10**8)
        self.order = self.world.order(self.session_id)
        self.leases: list[Lease] = []
        self.is_live = False
        self.expires_at = 0.0
        self.delivered = 0
        self.answers: dict[int, str] = {}
        with self.ledger.read() as connection:
            self.attempts = self.count_entries(connection)

    def count_entries(self, connection: Connection) -> int:
        """What was tried; that a session was closed is an entry of its own."""
        tried = access_log.c.action != "close"
        return len(connection.execute(access_log.select().where(tried)).all())

    def open_own_ledger(self, folder: Path) -> Ledger:
        """A copy of the template, for this walk alone."""
        self.path = Path(tempfile.mkdtemp(dir=folder)) / "ledger.sqlite"
        restore_ledger(folder / "template.sqlite", self.path)
        return open_ledger(f"sqlite:///{self.path}")

    def discard_own_ledger(self) -> None:
        self.ledger.close()
        shutil.rmtree(self.path.parent)

    def teardown(self) -> None:
        with self.ledger.read() as connection:
            assert check_ledger(connection).findings == ()
            assert self.count_entries(connection) == self.attempts
        self.discard_own_ledger()

    # --- the model --------------------------------------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        return len(self.answers) == COUNT

    def expect_held(self, lease: Lease) -> str | None:
        """The refusal that a call with this lease must meet; null when it is the live one."""
        if not self.is_live or lease is not self.leases[-1]:
            return "lease_lost"
        if not self.is_closed and self.expires_at <= self.world.now:
            return "lease_expired"
        return None

    def attempt(self, door: str, expected: str | None, operation: Callable[[Door], Awaitable[Any]]) -> Any:
        self.attempts += 1
        try:
            result = both_doors().call(door, operation)
        except ExamError as error:
            assert error.code == expected, (error.code, expected)
            return None
        assert expected is None, f"should have been refused with {expected}"
        self.expires_at = self.world.now + LEASE_S
        return result

    def check_put(self, put: Put | None, *, may_be_repeat: bool) -> None:
        if self.is_closed:
            assert put is None
            return
        assert put is not None
        assert put.seq == len(self.answers) + 1
        assert put.content.stem == self.order[put.seq - 1]
        assert put.is_repeat is (put.seq <= self.delivered)
        assert may_be_repeat or not put.is_repeat
        self.delivered = max(self.delivered, put.seq)

    # --- what may happen ----------------------------------------------------------------------------------------

    @rule(door=ANY_DOOR, shows=st.sampled_from(["nothing", "live secret", "older secret", "own secret"]))
    def open(self, door: str, shows: str) -> None:
        secret = {
            "nothing": None,
            "live secret": self.leases[-1].secret if self.leases else "l" * 40,
            "older secret": self.leases[0].secret if self.leases else "o" * 40,
            "own secret": "chosen-by-the-candidate-itself-" + "x" * 10,
        }[shows]
        is_held = self.is_live and self.expires_at > self.world.now
        expected = None
        if self.is_closed:
            expected = "session_closed"
        elif is_held and secret != self.leases[-1].secret:
            expected = "session_in_use"
        lease = self.attempt(door, expected, lambda d: d.open_session(self.token, self.session_id, secret))
        if isinstance(lease, Lease):
            assert lease.answered_count == len(self.answers)
            if self.leases:
                assert lease.generation > self.leases[-1].generation
            self.leases.append(lease)
            self.is_live = True

    @precondition(lambda self: self.leases)
    @rule(door=ANY_DOOR, which=st.sampled_from([-1, -1, -1, 0]))
    def ask(self, door: str, which: int) -> None:
        lease = self.leases[which]
        expected = self.expect_held(lease)
        put = self.attempt(door, expected, lambda d: d.next_question(self.token, lease))
        if expected is None:
            assert put is None or isinstance(put, Put)
            self.check_put(put, may_be_repeat=True)

    @precondition(lambda self: self.leases)
    @rule(
        door=ANY_DOOR,
        which=st.sampled_from([-1, -1, -1, 0]),
        offset=st.sampled_from([0, 0, 0, -1, 1]),
        also_next=st.booleans(),
    )
    def answer(self, door: str, which: int, offset: int, also_next: bool) -> None:
        lease, seq = self.leases[which], len(self.answers) + 1 + offset
        if seq < 1:
            door = "direct"  # over HTTP the form of the request forbids it
        expected = self.expect_held(lease)
        if expected is None:
            if seq in self.answers:
                expected = "already_answered"
            elif not 1 <= seq <= self.delivered:
                expected = "not_delivered"
        text = f"answer {self.attempts}"
        if also_next:
            result = self.attempt(
                door, expected, lambda d: d.submit_and_next(self.token, lease, seq, Answer(text))
            )
        else:
            result = self.attempt(
                door, expected, lambda d: d.submit_answer(self.token, lease, seq, Answer(text))
            )
        if expected is None:
            self.answers[seq] = text
            if also_next:
                assert isinstance(result, tuple)
                self.check_put(result[1], may_be_repeat=False)

    @precondition(lambda self: self.leases)
    @rule(door=ANY_DOOR)
    def renew(self, door: str) -> None:
        lease = self.leases[-1]
        expected = self.expect_held(lease)
        expires_at = self.expires_at
        renewed = self.attempt(door, expected, lambda d: d.renew_lease(self.token, lease))
        if expected is None:
            assert (renewed.generation, renewed.secret) == (lease.generation, lease.secret)
            assert renewed.answered_count == len(self.answers)
        else:
            self.expires_at = expires_at

    @precondition(lambda self: self.leases)
    @rule(door=ANY_DOOR, guess=st.integers(0, 5))
    def guess_a_lease(self, door: str, guess: int) -> None:
        lease = dataclasses.replace(self.leases[-1], secret=str(guess) * 64)
        if lease.secret != self.leases[-1].secret:
            self.attempt(door, "lease_lost", lambda d: d.next_question(self.token, lease))

    @rule(seconds=st.sampled_from([1.0, 30.0, 59.0, 61.0]))
    def wait(self, seconds: float) -> None:
        self.world.now += seconds

    @rule(door=ANY_DOOR)
    def release(self, door: str) -> None:
        expires_at = self.expires_at
        self.attempt(door, None, lambda d: d.release_session(self.examiner, self.session_id))
        self.expires_at, self.is_live = expires_at, False

    @invariant()
    def the_ledger_is_what_the_model_says(self) -> None:
        row = self.world.sessions()[0]
        assert (row["answered_count"], row["next_seq"] - 1) == (len(self.answers), self.delivered)
        assert row["status"] == ("closed" if self.is_closed else "open" if self.leases else "planned")
        assert self.world.answers(self.session_id) == self.answers


class _Plan:
    run_id = "2026-11"


_WALK = settings(
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
ExamMachine.TestCase.settings = settings(_WALK, max_examples=4)
TestExamMachine = ExamMachine.TestCase


@pytest.mark.long
def test_many_walks_through_both_doors() -> None:
    run_state_machine_as_test(ExamMachine, settings=settings(_WALK, max_examples=100))
