"""The HTTP shell: tokens, forms, administration, and what never leaves the server."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest
from fastapi.testclient import TestClient

from deployments.auth import LARGEST_BODY_BYTES
from deployments.auth.throttle import FailureCounter
from deployments.exam_api.administration_routes import _issue, _Wanted
from deployments.exam_api.app import create_app
from schemas.errors import ExamError
from tasks.exam.protocol.tokens import rotate_keys
from tests.deployments.exam_api.conftest import PASSWORD
from tests.tasks.exam.world import KEY_MARKER, World
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import users

ROOT = Path(__file__).parents[3]


def ask_token(
    client: TestClient, user_id: str, session_id: str | None = None, password: str = PASSWORD
) -> str:
    reply = client.post("/token", json={"user_id": user_id, "password": password, "session_id": session_id})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["token"])


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def held(token: str, lease: dict[str, Any]) -> dict[str, str]:
    return {
        **bearer(token),
        "X-Lease-Secret": lease["secret"],
        "X-Lease-Generation": str(lease["generation"]),
    }


def code_of(reply: Any) -> tuple[int, str]:
    return reply.status_code, reply.json()["code"]


def test_an_outside_candidate_sits_an_exam_with_a_password_and_plain_http(
    client: TestClient, world: World
) -> None:
    admin = ask_token(client, "ada")
    changed = client.patch(
        "/users/candidate:alpha", json={"password": "a password of alpha"}, headers=bearer(admin)
    )
    assert changed.status_code == 200
    unbound = ask_token(client, "candidate:alpha", password="a password of alpha")
    listed = client.get("/sessions", headers=bearer(unbound)).json()["sessions"]
    assert [(item["prompt_style"], item["status"], item["run_id"]) for item in listed] == [
        ("zero_shot", "planned", None)
    ]
    session_id = listed[0]["session_id"]
    token = ask_token(client, "candidate:alpha", session_id, password="a password of alpha")
    lease = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token)).json()
    headers = held(token, lease)
    stems = []
    question = client.get(f"/sessions/{session_id}/next", headers=headers).json()["question"]
    while question is not None:
        stems.append(question["content"]["stem"])
        body = {"seq": question["seq"], "response": "A, because", "wants_next": True}
        question = client.post(f"/sessions/{session_id}/answers", json=body, headers=headers).json()[
            "question"
        ]
    assert stems == world.order(session_id)
    status = client.get(f"/sessions/{session_id}", headers=bearer(token)).json()
    assert (status["status"], status["session"]["completed"], status["organisation"]) == ("closed", 6, None)
    runs = client.get("/runs", headers=bearer(admin)).json()["runs"]
    assert [(run["run_id"], run["session_count"], run["closed_session_count"]) for run in runs] == [
        (world.plan.run_id, 2, 1)
    ]


def test_a_token_says_user_session_and_permissions_and_ends_when_it_says(
    client: TestClient, world: World
) -> None:
    session_id = world.sessions()[0]["session_id"]
    examiner = ask_token(client, "eve")
    reply = client.post(
        "/users/candidate:alpha/tokens", json={"session_id": session_id}, headers=bearer(examiner)
    ).json()
    keys = world.keys.read()
    claims = jwt.decode(
        reply["token"], keys.present.secret, algorithms=["HS256"], audience="proctor-exam", issuer=keys.issuer
    )
    assert jwt.get_unverified_header(reply["token"])["kid"] == keys.present.key_id
    assert claims["jti"] == reply["token_id"]
    assert (claims["user_id"], claims["session_id"], claims["permissions"]) == (
        "candidate:alpha",
        session_id,
        ["list_own_sessions", "sit"],
    )
    assert claims["exp"] == reply["expires_at"] == int(claims["iat"]) + world.settings.token_ttl_s


def test_a_wrong_password_and_an_unknown_user_are_refused_alike_and_logged(
    client: TestClient, world: World
) -> None:
    wrong = client.post("/token", json={"user_id": "ada", "password": "wrong"})
    unknown = client.post("/token", json={"user_id": "nobody", "password": "wrong"})
    without = client.post("/token", json={"user_id": "candidate:alpha", "password": "wrong"})
    assert [code_of(reply) for reply in (wrong, unknown, without)] == [(401, "password_wrong")] * 3
    assert wrong.json() == unknown.json() == without.json()
    with world.ledger.read() as connection:
        rows = connection.execute(access_log.select().where(access_log.c.http_status != 200)).all()
    assert [row.address for row in rows] == ["testclient"] * 3
    # Of a name that nobody has, and of one without a password, nothing is written down.
    assert [row.target for row in rows] == ["ada", None, None]
    assert [(row.action, row.http_status, row.code) for row in rows] == [("token", 401, "password_wrong")] * 3


def test_after_ten_failures_a_name_must_wait() -> None:
    now = 0.0
    failures = FailureCounter(lambda: now)
    for _ in range(10):
        assert not failures.must_pause("ada")
        failures.note("ada", is_right=False)
    assert failures.must_pause("ada")
    assert not failures.must_pause("eve")
    now = 301.0
    assert not failures.must_pause("ada")


def test_a_candidate_gets_a_token_for_its_own_sessions_only(client: TestClient, world: World) -> None:
    foreign = world.sessions("rho")[0]["session_id"]
    examiner = bearer(ask_token(client, "eve"))
    reply = client.post("/users/candidate:alpha/tokens", json={"session_id": foreign}, headers=examiner)
    assert code_of(reply) == (403, "session_invalid")
    for_admin = client.post("/users/ada/tokens", json={}, headers=examiner)
    assert code_of(for_admin) == (404, "user_unknown")


def test_a_user_is_reached_by_a_name_with_slashes(client: TestClient, world: World) -> None:
    # As candidates have it whose model is registered under its owner's name: Qwen/Qwen3-32B.
    named, password = "/users/candidate:owner%2Fmodel-1", "seven quiet lanterns"
    with world.ledger.write() as connection:
        users.add_user(connection, user_id="candidate:owner/model-1", role="candidate")
    admin = bearer(ask_token(client, "ada"))
    assert client.patch(named, json={"password": password}, headers=admin).status_code == 200
    assert client.post(f"{named}/tokens", json={}, headers=admin).status_code == 200
    wrong = client.post(f"{named}/key", json={"password": "a wrong one", "public_key": "A" * 43 + "="})
    assert code_of(wrong) == (401, "password_wrong")
    assert ask_token(client, "candidate:owner/model-1", password=password)


def test_an_admin_writes_a_user_once_and_lists_them_without_passwords(client: TestClient) -> None:
    new = {"user_id": "new", "role": "examiner", "password": "long enough pass"}
    admin = bearer(ask_token(client, "ada"))
    created = client.post("/users", json=new, headers=admin)
    assert (created.status_code, created.json()["role"]) == (201, "examiner")
    assert code_of(client.post("/users", json=new, headers=admin)) == (409, "not_possible")
    # Whoever reviews a discipline that there is not would be given nothing, and nobody would know why.
    misspelt = {"user_id": "reviewer", "role": "annotator", "disciplines": ["Law", "Histroy"]}
    assert code_of(client.post("/users", json=misspelt, headers=admin)) == (422, "request_invalid")
    names = [user["user_id"] for user in client.get("/users", headers=admin).json()["users"]]
    assert names == ["ada", "ann", "candidate:alpha", "candidate:rho", "eve", "new"]
    assert "password" not in client.get("/users", headers=admin).text


def test_a_user_who_is_shut_out_is_refused_at_once(client: TestClient) -> None:
    admin = bearer(ask_token(client, "ada"))
    eve = bearer(ask_token(client, "eve"))
    assert client.get("/sessions", headers=eve).status_code == 200
    client.patch("/users/eve", json={"is_active": False}, headers=admin)
    assert code_of(client.get("/sessions", headers=eve)) == (403, "user_unknown")
    assert client.post("/token", json={"user_id": "eve", "password": PASSWORD}).status_code == 401


def test_without_a_token_everything_is_401(client: TestClient) -> None:
    for path in ("/sessions", "/sessions/s1", "/users", "/runs", "/runs/r"):
        reply = client.get(path)
        assert code_of(reply) == (401, "token_missing")
        assert reply.headers["WWW-Authenticate"] == "Bearer"


def test_a_malformed_request_is_told_which_field_and_never_what_it_sent(
    client: TestClient, world: World
) -> None:
    session_id = world.sessions()[0]["session_id"]
    marker = "SENT-IN-A-REQUEST"
    token, admin = world.token(session_id), bearer(ask_token(client, "ada"))
    as_json = {"Content-Type": "application/json"}
    replies = [
        client.post("/token", json={"user_id": 7, "password": {"x": marker}}),
        client.post("/token", content=f'{{"user_id": "{marker}"', headers=as_json),
        client.post(f"/sessions/{session_id}/open", json={"lease_secret": marker}, headers=bearer(token)),
        client.post(f"/sessions/{session_id}/open", json={marker: marker}, headers=bearer(token)),
        client.get(f"/sessions/{session_id}/next", headers={**bearer(token), "X-Lease-Generation": marker}),
        client.get(f"/sessions/{marker * 20}", headers=bearer(token)),
        # Half of a surrogate pair: no password can be made of it, and none be compared with it.
        client.post(
            "/token", content=f'{{"user_id": "ada", "password": "{marker}\\ud800"}}', headers=as_json
        ),
        client.patch("/users/eve", content='{"password": "%s"}' % (12 * r"\ud800"), headers=as_json | admin),
    ]
    assert [code_of(reply) for reply in replies] == [(422, "request_invalid")] * 8
    assert [reply.text for reply in replies if marker in reply.text] == []
    assert "password" in replies[0].json()["message"]
    assert "lease_secret" in replies[2].json()["message"]


def test_a_body_beyond_all_measure_is_413(client: TestClient) -> None:
    reply = client.post(
        "/token", content=b"x" * (LARGEST_BODY_BYTES + 1), headers={"Content-Type": "application/json"}
    )
    assert code_of(reply) == (413, "body_too_large")


def test_a_fault_is_answered_without_its_text_and_logged_by_its_class(
    world: World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(KEY_MARKER)

    app = create_app(world.settings, ledger=world.ledger)
    with TestClient(app, raise_server_exceptions=False) as client, caplog.at_level(logging.DEBUG):
        token = ask_token(client, "eve")
        monkeypatch.setattr("warehouse.ledger.exam.sittings.list_sessions", fail)
        reply = client.get("/sessions", headers=bearer(token))
    assert code_of(reply) == (500, "internal")
    assert KEY_MARKER not in reply.text + caplog.text
    assert "RuntimeError" in caplog.text


def test_the_server_never_loads_the_lake_or_prefect() -> None:
    code = (
        "import sys; from deployments.exam_api.app import create_app; from schemas.settings import Settings;"
        "create_app(Settings()); print([m for m in ('duckdb', 'prefect', 'great_expectations', 'warehouse.lake.store',"
        "'torch', 'pandas') if m in sys.modules])"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "[]"


def test_a_limit_set_by_an_admin_holds_from_the_next_question(client: TestClient, world: World) -> None:
    session_id = world.sessions()[0]["session_id"]
    admin = bearer(ask_token(client, "ada"))
    token = world.token(session_id)
    lease = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token)).json()
    client.patch("/users/candidate:alpha", json={"question_limit": 0}, headers=admin)
    reply = client.get(f"/sessions/{session_id}/next", headers=held(token, lease))
    assert code_of(reply) == (403, "quota_reached")
    client.patch("/users/candidate:alpha", json={"question_limit": None}, headers=admin)
    assert client.get(f"/sessions/{session_id}/next", headers=held(token, lease)).status_code == 200
    with world.ledger.read() as connection:
        assert users.read_question_limit(connection, "candidate:alpha") is None


@pytest.fixture
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a server knows is even a second old."""
    monkeypatch.setattr("tasks.exam.protocol.tokens.tokens.FRESH_S", 0.0)
    monkeypatch.setattr("tasks.exam.protocol.tokens.keys.FRESH_S", 0.0)


@pytest.mark.usefixtures("always_fresh")
def test_a_new_password_ends_the_tokens_of_before_and_gives_new_ones(client: TestClient) -> None:
    admin, eve = bearer(ask_token(client, "ada")), bearer(ask_token(client, "eve"))
    changed = client.patch("/users/eve", json={"password": "another long one of eve"}, headers=admin)
    assert changed.status_code == 200
    assert code_of(client.get("/sessions", headers=eve)) == (401, "token_ended")
    again = bearer(ask_token(client, "eve", password="another long one of eve"))
    assert client.get("/sessions", headers=again).status_code == 200
    client.patch("/users/eve", json={"is_active": False}, headers=admin)
    client.patch("/users/eve", json={"is_active": True}, headers=admin)
    assert code_of(client.get("/sessions", headers=again)) == (401, "token_ended")
    assert client.get("/sessions", headers=admin).status_code == 200


def test_a_running_server_learns_within_a_second_that_its_keys_have_ended(
    client: TestClient, world: World
) -> None:
    eve = bearer(ask_token(client, "eve"))
    assert client.get("/sessions", headers=eve).status_code == 200
    began = time.monotonic()
    rotate_keys(world.settings, ends_former=True, now=time.time())
    while client.get("/sessions", headers=eve).status_code == 200:
        assert time.monotonic() - began < 3
        time.sleep(0.1)
    assert code_of(client.get("/sessions", headers=eve)) == (401, "token_invalid")
    assert client.get("/sessions", headers=bearer(ask_token(client, "eve"))).status_code == 200


def test_no_token_is_given_for_a_password_that_was_replaced_while_it_was_checked(world: World) -> None:
    with world.ledger.read() as connection:
        checked = users.read_password_hash(connection, "eve")
    arguments = (world.ledger, world.settings, world.keys, _Wanted("eve", None, checked_hash=checked))
    assert _issue(*arguments).token
    with world.ledger.write() as connection:
        users.write_password_hash(connection, "eve", "another hash")
    with pytest.raises(ExamError) as caught:
        _issue(*arguments)
    assert (caught.value.status, caught.value.code) == (401, "password_wrong")


def test_guesses_at_once_are_counted_like_guesses_one_after_the_other(
    client: TestClient, world: World
) -> None:
    def guess(number: int) -> int:
        return client.post("/token", json={"user_id": "ada", "password": f"guess {number}"}).status_code

    with ThreadPoolExecutor(24) as pool:
        statuses = sorted(pool.map(guess, range(24)))
    assert statuses == [401] * 10 + [429] * 14
    assert client.post("/token", json={"user_id": "eve", "password": PASSWORD}).status_code == 200


def test_a_weak_password_is_refused_with_a_sentence(client: TestClient) -> None:
    password = "newcomer2026"
    admin = bearer(ask_token(client, "ada"))
    new = {"user_id": "newcomer", "role": "examiner", "password": password}
    reply = client.post("/users", json=new, headers=admin)
    assert code_of(reply) == (422, "weak_password")
    assert reply.json()["message"].startswith("The password is ")
    assert code_of(client.patch("/users/newcomer", json={"password": password}, headers=admin)) == (
        422,
        "weak_password",
    )
