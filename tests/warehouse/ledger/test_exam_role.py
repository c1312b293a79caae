"""The exam API's role on PostgreSQL sits an exam and reads nothing else, table by table."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import inspect, make_url
from sqlalchemy.exc import DBAPIError

from deployments.auth import hash_password
from deployments.exam_api import create_app
from schemas.errors import StoreError, UsageError
from tasks.exam.log import check_log
from tasks.exam.public.log import check_public_log
from tests.deployments.test_cli import invoke
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from tests.warehouse.ledger.postgresql import PostgresqlServer, start_postgresql
from warehouse.ledger.engine.exam_role import ExamRole, grant_role
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_exam_database, open_ledger
from warehouse.ledger.engine.sides import EXAM_TABLES
from warehouse.ledger.trust.users import add_user

pytestmark = pytest.mark.service
PASSWORD = "correct horse battery"
LEASE = "a-lease-secret-of-the-candidate-own-choice"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    with start_postgresql() as started:
        yield started


@pytest.fixture
def ledger(server: PostgresqlServer) -> Iterator[Ledger]:
    with open_ledger(server.new_ledger_url()) as opened:
        yield opened


@pytest.fixture
def role(ledger: Ledger) -> ExamRole:
    return grant_role(ledger, "proctor_exam")


def test_the_role_can_use_the_exams_tables_and_no_other(ledger: Ledger, role: ExamRole) -> None:
    with open_exam_database(role.address) as exam:
        names = inspect(ledger.engine).get_table_names()
        assert set(EXAM_TABLES) < set(names)
        for name in names:
            privileges = {part.split(" ")[0] for part in EXAM_TABLES.get(name, ())}
            columns = next(
                (
                    part.split("(")[1].rstrip(")")
                    for part in EXAM_TABLES.get(name, ())
                    if part.startswith("SELECT (")
                ),
                "*",
            )
            tried = {
                "SELECT": f"select {columns} from {name} limit 1",
                "DELETE": f"delete from {name} where false",
            }
            for privilege, statement in tried.items():
                is_allowed = privilege in privileges or (name, privilege) == ("alembic_version", "SELECT")
                assert run(exam, statement) is is_allowed, (name, privilege)
        for statement in (
            "select response from responses",
            "select answer_hash from access_log",
            "select digest from access_log",
            "select previous_hash from access_log",
            "select entry_hash from access_log",
            "select entry_hash from signed_heads",
            "select question_uuid from sets",
            "update allocations set lineage_uuid = 'x'",
            "update responses set response = 'x'",
            "update access_log set user_id = 'x'",
            "create table kept (answer text)",
            "select rolpassword from pg_authid",
            "set role postgres",
        ):
            assert not run(exam, statement), statement


def run(ledger: Ledger, statement: str) -> bool:
    """Whether the server carries the statement out."""
    with ledger.engine.connect() as connection:
        try:
            connection.exec_driver_sql(statement)
        except DBAPIError as error:
            assert "permission denied" in str(error), statement
            return False
    return True


def test_owners_superusers_and_roles_that_reach_further_are_refused(
    server: PostgresqlServer, ledger: Ledger, role: ExamRole
) -> None:
    owner = ledger.engine.url.render_as_string(hide_password=False)
    with pytest.raises(StoreError, match=r"superuser.*proctor exam database --role"):
        open_exam_database(owner)
    with pytest.raises(UsageError, match="owner"):
        grant_role(ledger, "postgres")
    with pytest.raises(UsageError, match="no name for a role"):
        grant_role(ledger, "x; drop table users")
    for statement, found in (
        ("grant select (response) on responses to proctor_exam", r"\(SELECT of responses\.response\)"),
        (
            "revoke select (response) on responses from proctor_exam; grant pg_read_server_files to proctor_exam",
            "member of another role",
        ),
        (
            "revoke pg_read_server_files from proctor_exam; grant select (reply) on llm_calls to proctor_exam",
            r"not the exam's \(llm_calls\)",
        ),
        ("revoke all on llm_calls, sessions from proctor_exam", r"cannot use.*\(sessions\)"),
        (
            "grant select, update on sessions to proctor_exam; revoke delete on web_sessions from proctor_exam",
            r"cannot use.*\(web_sessions\)",
        ),
        ("alter table landing_marks owner to proctor_exam", r"owns tables \(landing_marks\)"),
    ):
        with ledger.write() as connection:
            connection.exec_driver_sql(statement)
        with pytest.raises(StoreError, match=found):
            open_exam_database(role.address)
    with ledger.write() as connection:
        connection.exec_driver_sql("alter table landing_marks owner to postgres")
    again = grant_role(ledger, "proctor_exam")
    assert not again.is_new
    open_exam_database(role.address).close()


def test_an_exam_is_sat_and_administered_through_the_role(
    ledger: Ledger, role: ExamRole, tmp_path: Path
) -> None:
    settings = make_settings(tmp_path / "home")
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    plan = publish(ledger, settings, registry, make_bank(), candidates=[], outside=["alpha"])
    world = World(ledger, settings, registry, make_bank(), plan, now=time.time())
    with ledger.write() as connection:
        add_user(connection, user_id="ada", role="admin", password_hash=hash_password(PASSWORD))
    session = next(one for one in plan.sessions if one.model == "alpha")
    with open_exam_database(role.address) as exam, TestClient(create_app(settings, ledger=exam)) as client:

        def call(method: str, path: str, token: str = "", lease: Any = None, **body: Any) -> Any:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            if lease is not None:
                headers |= {"X-Lease-Secret": LEASE, "X-Lease-Generation": str(lease["generation"])}
            reply = client.request(method, path, headers=headers, json=body or None)
            assert reply.status_code < 300, (method, path, reply.text)
            return reply.json()

        admin = call("POST", "/token", user_id="ada", password=PASSWORD)["token"]
        call("GET", "/users", admin)
        call("POST", "/users", admin, user_id="eve", role="examiner", password="another horse battery")
        call("PATCH", "/users/eve", admin, password="a third horse battery", is_active=True)
        assert call("GET", "/runs", admin)["runs"][0]["run_id"] == plan.run_id
        path = f"/sessions/{session.session_id}"
        token = call("POST", f"/users/{session.user_id}/tokens", admin, session_id=session.session_id)[
            "token"
        ]
        lease = call("POST", f"{path}/open", token, lease_secret=LEASE)
        call("POST", f"{path}/renew", token, lease)
        call("POST", f"{path}/release", admin)
        lease = call("POST", f"{path}/open", token, lease_secret=LEASE)
        question = call("GET", f"{path}/next", token, lease)["question"]
        while question is not None:
            question = call(
                "POST", f"{path}/answers", token, lease, seq=question["seq"], response="true", wants_next=True
            )["question"]
        assert call("GET", path, admin)["status"] == "closed"
        assert call("GET", "/sessions", admin)["sessions"]
        # What its closing noted is the root of what was given; the role reads none of the hashes any more.
        count = f"select count(*) from open_answer_hashes where session_id = '{session.session_id}'"
        with exam.engine.connect() as connection:
            assert connection.exec_driver_sql(count).scalar_one() == 0
    assert not check_public_log(ledger, settings).findings
    assert not check_log(ledger, settings).findings
    assert len(world.answers(session.session_id)) == session.question_count


def test_the_owner_makes_the_role_by_a_command_that_shows_its_url_once(
    ledger: Ledger, tmp_path: Path
) -> None:
    owner = ledger.engine.url.render_as_string(hide_password=False)

    def call(*arguments: str) -> Any:
        return invoke(home, "exam", "database", *arguments, PROCTOR_LEDGER_URL=owner)

    home = tmp_path / "home"
    (home / "secrets").mkdir(parents=True)
    first = json.loads(call("--role", "made_by_command", "--json").stdout)
    again = json.loads(call("--role", "made_by_command", "--json").stdout)
    password = make_url(first["url"]).password
    assert password is not None
    assert again == {"role": "made_by_command", "is_new": False, "url": None}
    open_exam_database(first["url"]).close()
    with ledger.read() as connection:
        kept = connection.exec_driver_sql(
            "select rolpassword from pg_authid where rolname = 'made_by_command'"
        )
        assert str(kept.scalar_one()).startswith("SCRAM-SHA-256$")
    assert password not in call("--role", "made_by_command").output
    refused = call()
    assert refused.exit_code == 2
    assert "--role" in refused.stderr
