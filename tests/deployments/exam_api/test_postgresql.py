"""The door on a real PostgreSQL: attacks, roles, limits under concurrency, locks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from pydantic import SecretStr
from sqlalchemy import update

from deployments.auth import hash_password
from deployments.exam_api.app import create_app
from deployments.web import create_app as create_desk
from schemas.errors import ExamError, StoreError
from schemas.settings import load_settings
from tasks.exam.protocol import ExamProtocol, SeatRules
from tests.deployments.exam_api import test_attacks as attacks
from tests.deployments.exam_api import test_roles as roles
from tests.deployments.exam_api.conftest import PASSWORD
from tests.deployments.exam_api.test_app import bearer, code_of
from tests.deployments.web.kit import SESSION_COOKIE
from tests.tasks.exam import test_machine as machine
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from warehouse.ledger.engine.exam_role import grant_role
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import allocations, organisations, sessions
from warehouse.ledger.trust import users

pytestmark = pytest.mark.service
RACES = 50


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    with start_postgresql() as started:
        yield started


@pytest.fixture(scope="module")
def password_hash() -> str:
    return hash_password(PASSWORD)


@pytest.fixture
def ledger_url(server: PostgresqlServer) -> str:
    return server.new_ledger_url()


@pytest.fixture
def ledger(ledger_url: str, password_hash: str) -> Iterator[Ledger]:
    with open_ledger(ledger_url) as opened:
        with opened.write() as connection:
            for name, role in (("ada", "admin"), ("eve", "examiner"), ("ann", "analyst")):
                users.add_user(connection, user_id=name, role=role, password_hash=password_hash)
        yield opened


session_id = attacks.session_id
# The same sentences as for SQLite: those in which a text, a number or an order of the caller's reaches the database.
# The last three are refused, or put in order, before that: they are for the long run.
for _name, _is_long in (
    ("test_text_that_no_store_holds_is_kept_with_marks_and_the_last_of_two_fields_counts", False),
    ("test_no_text_of_a_caller_is_ever_sql", False),
    ("test_the_character_zero_is_a_fault_on_no_route", False),
    ("test_every_forged_token_is_refused", True),
    ("test_a_malformed_body_is_refused_and_changes_nothing", True),
    ("test_lists_come_in_pages_and_a_page_of_others_tells_nothing", True),
):
    _test: Any = getattr(attacks, _name)
    # A copy, for a mark is of a function.
    _copy = FunctionType(_test.__code__, _test.__globals__, _name)
    globals()[_name] = pytest.mark.long(_copy) if _is_long else _copy


@pytest.mark.long
@pytest.mark.parametrize("who", roles.WHO)
def test_every_role_is_answered_the_same_on_postgresql(client: TestClient, world: World, who: str) -> None:
    roles.test_every_role_is_answered_as_its_row_says(client, world, who)


# --- limits -----------------------------------------------------------------------------------------------------


def _race(protocols: list[ExamProtocol], calls: list[tuple[str, object]]) -> Counter[str]:
    """Ask for the next question through every protocol at once; how many got one or not."""
    barrier = threading.Barrier(len(protocols))

    def ask(place: int) -> str:
        token, lease = calls[place]
        barrier.wait()
        try:
            return "put" if asyncio.run(protocols[place].next_question(token, lease)) else "none"  # type: ignore[arg-type]
        except ExamError as error:
            return error.code

    with ThreadPoolExecutor(len(protocols)) as pool:
        return Counter(pool.map(ask, range(len(protocols))))


@pytest.mark.parametrize("level", ["organisation", pytest.param("candidate", marks=pytest.mark.long)])
def test_of_two_processes_that_hand_out_the_last_question_allowed_one_is_refused(
    ledger: Ledger, ledger_url: str, tmp_path: object, level: str
) -> None:
    """Two API processes, each with connections of its own; three sessions, fifty races."""
    configuration = make_settings(tmp_path, repeats=3)  # type: ignore[arg-type]
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, configuration, registry, make_bank(), candidates=[], outside=["alpha"])
    world = World(ledger, configuration, registry, make_bank(), plan, now=time.time())
    ids = [str(row["session_id"]) for row in world.sessions()]
    assert len(ids) == 3
    handed: list[int] = []
    with open_ledger(ledger_url) as second, open_ledger(ledger_url) as third:
        protocols = [ExamProtocol(one, world.keys, SeatRules(lease_s=600)) for one in (ledger, second, third)]
        tokens = [world.token(one) for one in ids]
        leases = [
            asyncio.run(protocols[0].open_session(token, one)) for token, one in zip(tokens, ids, strict=True)
        ]
        with ledger.write() as connection:
            if level == "candidate":
                users.write_user_limit(connection, "candidate:alpha", 1)
            else:
                connection.execute(
                    update(organisations)
                    .where(organisations.c.organisation == world.sessions()[0]["organisation"])
                    .values(question_limit=1)
                )
        for _ in range(RACES):
            outcome = _race(protocols, list(zip(tokens, leases, strict=True)))
            handed.append(outcome["put"])
            assert outcome == {"put": 1, "quota_reached": 2}
            with ledger.write() as connection:
                connection.execute(update(sessions).where(sessions.c.session_id.in_(ids)).values(next_seq=1))
                connection.execute(
                    update(allocations).where(allocations.c.session_id.in_(ids)).values(delivered_at=None)
                )
    assert handed == [1] * RACES


# --- locks and restarts -----------------------------------------------------------------------------------------


def test_a_ledger_that_somebody_holds_is_answered_in_seconds(world: World, ledger_url: str) -> None:
    session_id = str(world.sessions()[0]["session_id"])
    role = grant_role(world.ledger, "proctor_exam")
    settings_there = world.settings.model_copy(
        update={"ledger_url": SecretStr(ledger_url), "exam_database_url": SecretStr(role.address)}
    )
    with TestClient(create_app(settings_there), raise_server_exceptions=False) as client:
        headers = bearer(world.token(session_id))
        opened = client.post(f"/sessions/{session_id}/open", json={}, headers=headers)
        assert opened.status_code == 200
        with world.ledger.write() as holder:
            holder.execute(sessions.select().where(sessions.c.session_id == session_id).with_for_update())
            began = time.monotonic()
            reply = client.get(f"/sessions/{session_id}", headers=headers)
            waited_s = time.monotonic() - began
        assert code_of(reply) == (503, "store_unavailable")
        assert (reply.headers["retry-after"], waited_s < 8) == ("2", True)
        assert client.get(f"/sessions/{session_id}", headers=headers).status_code == 200


def test_exam_api_and_web_desk_say_when_to_ask_again_while_the_ledger_is_away_and_recover_by_themselves(
    server: PostgresqlServer, world: World, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE_WAIT_S", "600")
    load_settings.cache_clear()
    session_id = str(world.sessions()[0]["session_id"])
    role = grant_role(world.ledger, "proctor_exam")
    there = world.settings.model_copy(
        update={"ledger_url": SecretStr(ledger_url), "exam_database_url": SecretStr(role.address)}
    )
    with (
        TestClient(create_app(there), raise_server_exceptions=False) as exam,
        TestClient(create_desk(there), raise_server_exceptions=False) as desk,
    ):
        desk_app: Any = desk.app
        desk.cookies.set(SESSION_COOKIE, desk_app.state.sessions.start("ada"))

        def ask() -> list[tuple[int, str | None]]:
            replies = [
                exam.get(f"/sessions/{session_id}", headers=bearer(world.token(session_id))),
                exam.post(f"/sessions/{session_id}/open", json={}, headers=bearer(world.token(session_id))),
                desk.get("/", follow_redirects=True),
            ]
            return [(reply.status_code, reply.headers.get("retry-after")) for reply in replies]

        there_before = ask()
        assert [status for status, _ in there_before] == [200, 200, 200]
        server.stop()
        try:
            began = time.monotonic()
            assert ask() == [(503, "2")] * 3
            waited_s = time.monotonic() - began
        finally:
            server.start()
        assert waited_s < 60, "nobody waits for the store"
        recovered = ask()
        # A session is opened with one lease: the second time it is another's.
        assert [recovered[0], recovered[2]] == [there_before[0], there_before[2]]


def test_a_writer_outlives_connections_that_its_server_ends(ledger_url: str) -> None:
    with open_ledger(ledger_url, busy_s=5.0) as ledger, open_ledger(ledger_url) as other:
        assert ledger.writer.run(lambda c: c.exec_driver_sql("select 1").scalar()) == 1
        for _ in range(3):
            with other.read() as connection:
                connection.exec_driver_sql(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where pid <> pg_backend_pid() and datname = current_database()"
                )
            time.sleep(0.2)
            try:
                assert ledger.writer.run(lambda c: c.exec_driver_sql("select 2").scalar()) == 2
            except StoreError:
                # The operations that met the dead connection may be told so; those after them may not.
                assert ledger.writer.run(lambda c: c.exec_driver_sql("select 3").scalar()) == 3


# --- random walks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("walks", [2, pytest.param(40, marks=pytest.mark.long)])
def test_random_walks_through_both_doors_on_postgresql(server: PostgresqlServer, walks: int) -> None:
    class OnPostgresql(machine.ExamMachine):
        def open_own_ledger(self, folder: object) -> Ledger:
            ledger = open_ledger(server.new_ledger_url())
            configuration = make_settings(
                machine.template() / "home", set_size=machine.COUNT, disciplines=("Law",)
            )
            registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
            publish(ledger, configuration, registry, make_bank({"Law": 10}))
            with ledger.write() as connection:
                users.add_user(connection, user_id="eve", role="examiner")
            return ledger

        def discard_own_ledger(self) -> None:
            self.ledger.close()

    run_state_machine_as_test(
        OnPostgresql,
        settings=settings(
            max_examples=walks, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
