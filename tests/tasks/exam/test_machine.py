"""Random walks through the state machine, against a model that fits on a page."""

from __future__ import annotations

import atexit
import dataclasses
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import Connection

from schemas.errors import ExamError
from tasks.exam.log.check import check_ledger
from tasks.exam.protocol.machine import ExamProtocol
from tasks.exam.protocol.words import Answer, Lease, Put
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from warehouse.ledger import users
from warehouse.ledger.engine import open_ledger
from warehouse.ledger.tables import access_log

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


class ExamMachine(RuleBasedStateMachine):
    """One candidate's session; `self.leases` are all leases ever given, the last one being the live one."""

    def __init__(self) -> None:
        super().__init__()
        folder = template()
        self.path = Path(tempfile.mkdtemp(dir=folder)) / "ledger.sqlite"
        shutil.copy(folder / "template.sqlite", self.path)
        self.ledger = open_ledger(f"sqlite:///{self.path}")
        configuration = make_settings(folder / "home", set_size=COUNT, disciplines=("Law",))
        registry = make_registry(make_model("alpha"))
        self.world = World(self.ledger, configuration, registry, make_bank({"Law": 1}), _Plan)  # type: ignore[arg-type]
        self.protocol = ExamProtocol(self.ledger, self.world.keys, lease_s=LEASE_S, clock=self.world.clock)
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

    def teardown(self) -> None:
        with self.ledger.read() as connection:
            assert check_ledger(connection).findings == ()
            assert self.count_entries(connection) == self.attempts
        self.ledger.close()
        shutil.rmtree(self.path.parent)

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

    def attempt(self, expected: str | None, operation: object) -> object:
        self.attempts += 1
        try:
            result = operation()  # type: ignore[operator]
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

    @rule(shows=st.sampled_from(["nothing", "live secret", "older secret", "own secret"]))
    def open(self, shows: str) -> None:
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
        lease = self.attempt(
            expected, lambda: self.protocol.open_session(self.token, self.session_id, secret)
        )
        if isinstance(lease, Lease):
            assert lease.answered_count == len(self.answers)
            if self.leases:
                assert lease.generation > self.leases[-1].generation
            self.leases.append(lease)
            self.is_live = True

    @precondition(lambda self: self.leases)
    @rule(which=st.sampled_from([-1, -1, -1, 0]))
    def ask(self, which: int) -> None:
        lease = self.leases[which]
        expected = self.expect_held(lease)
        put = self.attempt(expected, lambda: self.protocol.next_question(self.token, lease))
        if expected is None:
            assert put is None or isinstance(put, Put)
            self.check_put(put, may_be_repeat=True)

    @precondition(lambda self: self.leases)
    @rule(
        which=st.sampled_from([-1, -1, -1, 0]),
        offset=st.sampled_from([0, 0, 0, -1, 1]),
        also_next=st.booleans(),
    )
    def answer(self, which: int, offset: int, also_next: bool) -> None:
        lease, seq = self.leases[which], len(self.answers) + 1 + offset
        expected = self.expect_held(lease)
        if expected is None:
            if seq in self.answers:
                expected = "already_answered"
            elif not 1 <= seq <= self.delivered:
                expected = "not_delivered"
        text = f"answer {self.attempts}"
        if also_next:
            result = self.attempt(
                expected, lambda: self.protocol.submit_and_next(self.token, lease, seq, Answer(text))
            )
        else:
            result = self.attempt(
                expected, lambda: self.protocol.submit_answer(self.token, lease, seq, Answer(text))
            )
        if expected is None:
            self.answers[seq] = text
            if also_next:
                assert isinstance(result, tuple)
                self.check_put(result[1], may_be_repeat=False)

    @precondition(lambda self: self.leases)
    @rule(guess=st.integers(0, 5))
    def guess_a_lease(self, guess: int) -> None:
        lease = dataclasses.replace(self.leases[-1], secret=str(guess) * 64)
        if lease.secret != self.leases[-1].secret:
            self.attempt("lease_lost", lambda: self.protocol.next_question(self.token, lease))

    @rule(seconds=st.sampled_from([1.0, 30.0, 59.0, 61.0]))
    def wait(self, seconds: float) -> None:
        self.world.now += seconds

    @rule()
    def release(self) -> None:
        expires_at = self.expires_at
        self.attempt(None, lambda: self.protocol.release_session(self.examiner, self.session_id))
        self.expires_at, self.is_live = expires_at, False

    @invariant()
    def the_ledger_is_what_the_model_says(self) -> None:
        row = self.world.sessions()[0]
        assert (row["answered_count"], row["next_seq"] - 1) == (len(self.answers), self.delivered)
        assert row["status"] == ("closed" if self.is_closed else "open" if self.leases else "planned")
        assert self.world.answers(self.session_id) == self.answers


class _Plan:
    run_id = "2026-11"


ExamMachine.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestExamMachine = ExamMachine.TestCase
