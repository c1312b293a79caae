"""Attacks on the HTTP door, each with its answer; `docs/attacks.md` names them one by one."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import time
from typing import Any

import jwt
import pytest
from fastapi.testclient import TestClient

from deployments.auth import guard, passwords
from deployments.exam_api.app import create_app
from deployments.exam_api.gate import LARGEST_OF_STRANGERS_BYTES
from deployments.exam_api.strangers import ENTRIES_PER_ADDRESS, ENTRIES_PER_MINUTE, StrangerLog
from deployments.http.server import LINES_PER_MINUTE, AccessLines
from tasks.exam.protocol import ExamProtocol, SeatRules
from tasks.exam.protocol.tokens import KeyFile, issue_token
from tests.deployments.exam_api.conftest import PASSWORD
from tests.deployments.exam_api.test_app import ask_token, bearer, code_of, held
from tests.hunts import some
from tests.tasks.exam.kit import check_ledger
from tests.tasks.exam.world import World
from warehouse.ledger.engine.tables import access_log, sessions
from warehouse.ledger.exam import tokens as ledger_tokens
from warehouse.ledger.trust import users

SIT = ("sit", "list_own_sessions")


@pytest.fixture
def session_id(world: World) -> str:
    return str(world.sessions()[0]["session_id"])


# What is written before anybody calls: the plan, the users, the keys. And a leap of the clock, which
# the ledger notes by itself where the machine stood still.
PREPARED = (
    *("begin_chain", "begin_stages", "close_unit", "land_unit", "log_key", "token_keys", "known_user"),
    *("add_user", "set_password", "end_token"),
    *("plan_run", "plan_seed", "draw_set", "draw_key", "plan_session"),
    "clock_leap",
)


def read_log(world: World) -> list[Any]:
    """What callers have left in the audit log."""
    calls = access_log.select().where(access_log.c.action.not_in(PREPARED))
    with world.ledger.read() as connection:
        return list(connection.execute(calls.order_by(access_log.c.access_id)))


def open_own(client: TestClient, world: World, session_id: str) -> tuple[str, dict[str, str]]:
    token = world.token(session_id, permissions=SIT)
    lease = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token)).json()
    return token, held(token, lease)


# --- tokens -----------------------------------------------------------------------------------------------------


def forge(world: World, session_id: str, **changes: Any) -> str:
    """A token as we sign them, with claims changed, or `key`, `algorithm` and `header`."""
    keys = world.keys.read()
    key, algorithm = changes.pop("key", keys.present.secret), changes.pop("algorithm", "HS256")
    header = {"kid": keys.present.key_id} | changes.pop("header", {})
    now = time.time()
    claims = {
        "iss": keys.issuer,
        "aud": "proctor-exam",
        "iat": now,
        "nbf": now,
        "exp": int(now) + 600,
        "jti": "a" * 32,
        "user_id": "candidate:alpha",
        "session_id": session_id,
        "permissions": list(SIT),
    } | changes
    claims = {name: value for name, value in claims.items() if value != "left out"}
    return jwt.encode(claims, key, algorithm=algorithm, headers=header)


def unsigned(token: str, algorithm: str) -> str:
    """The token with another algorithm in its header and no signature."""
    header = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "typ": "JWT"}).encode()).rstrip(b"=")
    return f"{header.decode()}.{token.split('.')[1]}."


FORGERIES: dict[str, tuple[dict[str, Any], str]] = {
    "other key": ({"key": "k" * 64}, "token_invalid"),
    "other algorithm": ({"algorithm": "HS512"}, "token_invalid"),
    "other issuer": ({"iss": "somebody else"}, "token_invalid"),
    "other audience": ({"aud": "another service"}, "token_invalid"),
    "unknown key id": ({"header": {"kid": "0" * 16}}, "token_invalid"),
    "key id of a path": ({"header": {"kid": "../../etc/passwd"}}, "token_invalid"),
    "expired": ({"exp": 1}, "token_expired"),
    "not before tomorrow": ({"nbf": time.time() + 86_400}, "token_invalid"),
    "issued tomorrow": ({"iat": time.time() + 86_400, "exp": time.time() + 90_000}, "token_invalid"),
    "without an end": ({"exp": "left out"}, "token_invalid"),
    "without an id": ({"jti": "left out"}, "token_invalid"),
    "without a user": ({"user_id": "left out"}, "token_invalid"),
    "an end of text": ({"exp": "never"}, "token_invalid"),
    "permissions of text": ({"permissions": "sit"}, "token_invalid"),
    **{
        f"{claim} of {value!r:.20}": ({claim: value}, "token_invalid")
        for claim in ("iat", "nbf", "exp")
        for value in (2**70, 10**400, float("inf"), float("nan"), True, -1, -float("inf"), None, [1], "1")
    },
    "a life of two years": ({"exp": int(time.time()) + 2 * 366 * 86_400}, "token_invalid"),
    "issued before 1971 and valid now": ({"iat": 1.0}, "token_invalid"),
    "a user with the character zero": ({"user_id": "candidate:alpha\0"}, "token_invalid"),
    "half a surrogate pair": ({"user_id": "\ud800"}, "token_invalid"),
    "an id with the character zero": ({"jti": "a\0"}, "token_invalid"),
    "a user of numbers": ({"user_id": 7}, "token_invalid"),
}


def test_every_forged_token_is_refused(client: TestClient, world: World, session_id: str) -> None:
    def ask(token: str) -> tuple[int, str]:
        reply = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token))
        return reply.status_code, reply.json().get("code", "taken")

    good = forge(world, session_id)
    answers = {name: ask(forge(world, session_id, **changes)) for name, (changes, _) in FORGERIES.items()}
    assert answers == {name: (401, code) for name, (_, code) in FORGERIES.items()}
    header, body, signature = good.split(".")
    spoiled = [
        *(unsigned(good, algorithm) for algorithm in ("none", "None", "NONE", "HS256")),
        f"{header}.{body}.{signature[::-1]}",
        f"{header}.{body}.",
        f"{header}.{body}",
        good[:-4],
        "ä" * 40,
        "." * 3000,
        "A" * 60_000,
    ]
    statuses = [
        client.get("/sessions", headers=[(b"Authorization", f"Bearer {one}".encode())]) for one in spoiled
    ]
    assert {reply.status_code for reply in statuses} <= {400, 401}
    # The control: the same token without a change is good.
    assert ask(good) == (200, "taken")


def test_what_is_no_single_bearer_token_is_refused(client: TestClient, world: World, session_id: str) -> None:
    token = forge(world, session_id)
    for value in ("", "Bearer", f"Basic {token}", token, f"Token {token}"):
        assert code_of(client.get("/sessions", headers={"Authorization": value})) == (401, "token_missing")
    twice = client.get("/sessions", headers=[("Authorization", f"Bearer {token}")] * 2)
    assert code_of(twice) == (401, "token_missing")
    assert client.get(f"/sessions?token={token}&access_token={token}").status_code == 401
    assert client.get("/sessions", headers={"Cookie": f"token={token}"}).status_code == 401


def test_a_token_that_was_ended_is_refused_at_the_door(
    client: TestClient, world: World, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.exam.protocol.tokens.tokens.FRESH_S", 0.0)
    token = forge(world, session_id)
    assert client.get("/sessions", headers=bearer(token)).status_code == 200
    with world.ledger.write() as connection:
        ledger_tokens.end_token(connection, "a" * 32, time.time())
    assert code_of(client.get("/sessions", headers=bearer(token))) == (401, "token_ended")


def test_a_role_in_a_token_adds_nothing_to_that_of_the_ledger(
    client: TestClient, world: World, session_id: str
) -> None:
    everything = ["write_users", "issue_tokens", "read_runs", "read_sessions", "release_sessions", "sit"]
    token = forge(world, session_id, permissions=everything)
    refused = [
        client.get("/users", headers=bearer(token)),
        client.get("/runs", headers=bearer(token)),
        client.post(f"/sessions/{session_id}/release", headers=bearer(token)),
        client.post("/users/candidate:alpha/tokens", json={}, headers=bearer(token)),
    ]
    assert [code_of(reply) for reply in refused] == [(403, "permission_missing")] * 4
    narrowed = forge(world, session_id, user_id="ada", permissions=[])
    assert code_of(client.get("/users", headers=bearer(narrowed))) == (403, "permission_missing")
    nobody = forge(world, session_id, user_id="nobody")
    assert code_of(client.get("/sessions", headers=bearer(nobody))) == (403, "user_unknown")


def list_zeros(client: TestClient, session_id: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Every route with the character zero in each place (path, parameter, body) for a text."""
    app: Any = client.app
    document = app.openapi()
    calls: list[tuple[str, str, dict[str, Any]]] = []
    for path, methods in document["paths"].items():
        plain = re.sub(r"\{session_id\}", session_id, path)
        plain = re.sub(r"\{\w+\}", "candidate:alpha", plain)
        for method, about in methods.items():
            if "{" in path:
                calls.append((method, re.sub(r"\{\w+\}", "a%00b", path), {"json": {}}))
            for one in about.get("parameters", ()):
                if one["in"] == "query":
                    calls.append((method, f"{plain}?{one['name']}=a%00b", {}))
            content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
            fields = document["components"]["schemas"].get(
                content.get("schema", {}).get("$ref", "").rpartition("/")[2], {}
            )
            for name in fields.get("properties", {}):
                for body in ({"seq": 1, "response": "x"}, {"user_id": "nul", "role": "analyst"}, {}):
                    text = f"{name} a\0b of twelve"
                    for value in (text, [text]):
                        calls.append((method, plain, {"json": body | {name: value}}))
    return calls


@pytest.mark.hunt
# A store that refuses it is PostgreSQL: there it is tried in every run.
@pytest.mark.long
def test_the_character_zero_is_a_fault_on_no_route(client: TestClient, world: World, session_id: str) -> None:
    _, seat = open_own(client, world, session_id)
    admin = bearer(
        forge(world, session_id, user_id="ada", permissions=["write_users", "issue_tokens", "read_runs"])
    )
    calls = list_zeros(client, session_id)
    assert len(calls) > 60
    faults: list[tuple[str, str]] = []
    for method, path, arguments in some(calls, 60, kind=lambda call: call[:2]):
        for headers in (seat, admin):
            client.get(f"/sessions/{session_id}/next", headers=seat)
            body = arguments if method in ("post", "patch", "put") else {}
            reply = client.request(method, path, headers=headers, **body)
            if reply.status_code >= 500 or ("%00" in path and reply.status_code != 400):
                faults.append((method, f"{path}: {reply.status_code}"))
    assert faults == []


# --- seats ------------------------------------------------------------------------------------------------------


def test_nobody_sits_in_anothers_seat(client: TestClient, world: World, session_id: str) -> None:
    others = str(world.sessions("rho")[0]["session_id"])
    token, lease = open_own(client, world, session_id)
    answer = {"seq": 1, "response": "x"}
    for target, status in ((others, 403), ("sdoesnotexist", 403)):
        refused = [
            client.post(f"/sessions/{target}/open", json={}, headers=bearer(token)),
            client.get(f"/sessions/{target}", headers=bearer(token)),
            client.get(f"/sessions/{target}/next", headers=lease),
            client.post(f"/sessions/{target}/answers", json=answer, headers=lease),
            client.post(f"/sessions/{target}/renew", headers=lease),
        ]
        # What belongs to others and what does not exist: the same words.
        assert [code_of(reply) for reply in refused] == [(status, "session_invalid")] * 5
    guessed = {**lease, "X-Lease-Secret": "g" * 64}
    assert code_of(client.get(f"/sessions/{session_id}/next", headers=guessed)) == (403, "lease_lost")
    later = {**lease, "X-Lease-Generation": "2"}
    assert code_of(client.get(f"/sessions/{session_id}/next", headers=later)) == (403, "lease_lost")
    examiner = forge(world, session_id, user_id="eve", permissions=["sit", "read_sessions"])
    assert code_of(client.get(f"/sessions/{session_id}/next", headers={**lease, **bearer(examiner)})) == (
        403,
        "permission_missing",
    )
    with world.ledger.read() as connection:
        rows = connection.execute(sessions.select().where(sessions.c.session_id == others)).all()
        assert [(row.status, row.access_hash) for row in rows] == [("planned", None)]


def test_no_attempt_is_written_into_the_chain_of_a_session_that_is_not_the_callers(
    client: TestClient, world: World, session_id: str
) -> None:
    others = str(world.sessions("rho")[0]["session_id"])
    token = world.token(session_id, permissions=SIT)
    client.post(f"/sessions/{others}/open", json={}, headers=bearer(token))
    client.post(f"/sessions/{others}/open", json={}, headers=bearer("nonsense"))
    client.post(f"/sessions/{others}/open", json={"x": 1}, headers=bearer(token))
    client.post("/token", json={"user_id": "ada", "password": "wrong", "session_id": others})
    expired = forge(world, others, exp=1)
    client.post(f"/sessions/{others}/open", json={}, headers=bearer(expired))
    rows = read_log(world)
    assert [(row.action, row.http_status, row.session_id) for row in rows] == [
        ("open", 403, None),
        ("open", 401, None),
        ("malformed", 422, None),
        ("token", 401, None),
        ("open", 401, None),
    ]


# --- bodies -----------------------------------------------------------------------------------------------------


class Counted:
    """A body that notes how much of it was read."""

    def __init__(self, chunk: bytes, count: int) -> None:
        self.read_bytes = 0
        self._chunk = chunk
        self._count = count

    async def receive(self) -> dict[str, Any]:
        if self.read_bytes >= self._count * len(self._chunk):
            return {"type": "http.disconnect"}
        self.read_bytes += len(self._chunk)
        return {"type": "http.request", "body": self._chunk, "more_body": True}


def call_app(app: Any, path: str, body: Counted, headers: dict[str, str]) -> int:
    """POST to the application itself, as a server does; returns the status."""
    status = 0

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("192.0.2.1", 1),
        "server": ("test", 80),
        "scheme": "http",
        "http_version": "1.1",
        "app": app,
    }
    asyncio.run(app(scope, body.receive, send))
    return status


def test_not_a_byte_of_a_body_is_read_before_the_token(
    client: TestClient, world: World, session_id: str
) -> None:
    for headers in ({}, bearer("nonsense"), bearer(forge(world, session_id, exp=1))):
        body = Counted(b"x" * 65_536, 1600)
        assert call_app(client.app, f"/sessions/{session_id}/answers", body, headers) == 401
        assert body.read_bytes == 0


def test_a_body_of_a_hundred_megabytes_is_never_held(
    client: TestClient, world: World, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = forge(world, session_id)
    known = bearer(token)
    for path, headers, most in (
        (f"/sessions/{session_id}/open", known, guard.LARGEST_BODY_BYTES),
        ("/token", {}, LARGEST_OF_STRANGERS_BYTES),
        ("/token", known, guard.LARGEST_BODY_BYTES),
    ):
        body = Counted(b" " * 4_000, 25_000)
        assert call_app(client.app, path, body, headers) == 413
        assert body.read_bytes <= most + 4_000
        # What says so itself is not read at all.
        body = Counted(b" " * 4_000, 25_000)
        told = {**headers, "Content-Length": "100000000"}
        assert (call_app(client.app, path, body, told), body.read_bytes) == (413, 0)
    monkeypatch.setattr(guard, "MOST_HELD_BYTES", 100_000)
    body = Counted(b" " * 4_000, 25_000)
    assert call_app(client.app, f"/sessions/{session_id}/answers", body, bearer(token)) == 503
    assert body.read_bytes <= 104_000
    # What was held is given back: the next one is read as far.
    body = Counted(b" " * 4_000, 20)
    assert call_app(client.app, f"/sessions/{session_id}/answers", body, bearer(token)) == 400
    assert body.read_bytes == 80_000


def test_the_longest_password_and_name_fit_what_strangers_may_send() -> None:
    longest = {"user_id": "\U0001f600" * 120, "password": "\U0001f600" * 200, "session_id": "s" * 80}
    assert len(json.dumps(longest)) * 2 < LARGEST_OF_STRANGERS_BYTES


BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"<answer/>",
    "half an object": b'{"seq": 1, "response": "x"',
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "a deep field": b'{"seq": 1, "response": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
    "a list": b"[1, 2]",
    "text": b'"x"',
    "null": b"null",
    "a number of text": b'{"seq": "1", "response": "x"}',
    "a true number": b'{"seq": true, "response": "x"}',
    "a broken number": b'{"seq": 1.5, "response": "x"}',
    "a number below": b'{"seq": -1, "response": "x"}',
    "a number beyond": b'{"seq": 99999999999999999999, "response": "x"}',
    "a number of 5,000 digits": b'{"seq": ' + b"9" * 5_000 + b', "response": "x"}',
    "no number": b'{"seq": NaN, "response": "x"}',
    "an infinite cost": b'{"seq": 1, "response": "x", "cost_usd": Infinity}',
    "an answer of lists": b'{"seq": 1, "response": ["x"]}',
    "a field too many": b'{"seq": 1, "response": "x", "is_closed": true}',
    "a prototype": b'{"seq": 1, "response": "x", "__proto__": {}}',
    "bytes that are no UTF-8": b'{"seq": 1, "response": "\xff\xfe\x80"}',
    "UTF-16": '{"seq": 1, "response": "x"}'.encode("utf-16"),
}


def test_a_malformed_body_is_refused_and_changes_nothing(
    client: TestClient, world: World, session_id: str
) -> None:
    _, lease = open_own(client, world, session_id)
    client.get(f"/sessions/{session_id}/next", headers=lease)
    headers = {**lease, "Content-Type": "application/json"}
    answers = {
        name: client.post(f"/sessions/{session_id}/answers", content=body, headers=headers)
        for name, body in BODIES.items()
    }
    wrong = {
        name: reply.status_code for name, reply in answers.items() if reply.status_code not in (400, 422)
    }
    # Python reads JSON in UTF-16, too: the answer is one, and the only one.
    assert wrong == {"UTF-16": 200}
    assert world.answers(session_id) == {1: "x"}
    assert {frozenset(reply.json()) for name, reply in answers.items() if name not in wrong} == {
        frozenset({"code", "message"})
    }


def test_text_that_no_store_holds_is_kept_with_marks_and_the_last_of_two_fields_counts(
    client: TestClient, world: World, session_id: str
) -> None:
    _, lease = open_own(client, world, session_id)
    lease["Content-Type"] = "application/json"
    bodies = [
        b'{"seq": 1, "response": "zero \\u0000 here"}',
        b'{"seq": 2, "response": "first", "response": "second"}',
    ]
    for body in bodies:
        client.get(f"/sessions/{session_id}/next", headers=lease)
        reply = client.post(f"/sessions/{session_id}/answers", content=body, headers=lease)
        assert reply.status_code == 200, reply.text
    client.get(f"/sessions/{session_id}/next", headers=lease)
    lone = b'{"seq": 3, "response": "half \\ud800 pair"}'
    taken = client.post(f"/sessions/{session_id}/answers", content=lone, headers=lease)
    assert taken.status_code in (200, 422)
    kept = world.answers(session_id)
    assert (kept[1], kept[2]) == ("zero \ufffd here", "second")
    assert kept.get(3, "half \ufffd pair") == "half \ufffd pair"


def test_an_endless_answer_is_cut_and_the_session_continues(
    client: TestClient, world: World, session_id: str
) -> None:
    _, lease = open_own(client, world, session_id)
    client.get(f"/sessions/{session_id}/next", headers=lease)
    endless = {"seq": 1, "response": "x" * 5_000_000, "wants_next": True}
    reply = client.post(f"/sessions/{session_id}/answers", json=endless, headers=lease)
    assert (reply.status_code, reply.json()["question"]["seq"]) == (200, 2)
    digest = hashlib.sha256(b"x" * 5_000_000).hexdigest()
    mark = f"\n[cut here by Proctor: the whole has 5000000 bytes, SHA-256 {digest}]"
    assert world.answers(session_id) == {1: "x" * (1_000_000 - len(mark)) + mark}


# --- junk and logs ----------------------------------------------------------------------------------------------


def test_a_stranger_writes_so_many_entries_a_minute_and_no_more(client: TestClient, world: World) -> None:
    others = str(world.sessions("rho")[0]["session_id"])
    for number in range(100):
        client.get("/sessions", headers=bearer(f"junk{number}"))
        client.post(f"/sessions/{others}/open", json={}, headers=bearer("junk"))
        client.post("/token", json={"user_id": number})
        client.get(f"/no/such/path/{number}")
    # Where it came from stands in each: none there would mean this machine.
    assert [row.address for row in read_log(world)] == ["testclient"] * ENTRIES_PER_ADDRESS
    # An honest caller's attempts are written as ever.
    assert client.get("/sessions", headers=bearer(ask_token(client, "eve"))).status_code == 200
    assert [row.user_id for row in read_log(world)[ENTRIES_PER_ADDRESS:]] == ["eve", "eve"]


def test_what_strangers_did_beyond_that_is_counted_in_one_entry(world: World) -> None:
    now = 0.0
    protocol = ExamProtocol(world.ledger, world.keys, SeatRules(lease_s=60))
    log = StrangerLog(lambda: protocol, lambda: now)

    async def knock() -> None:
        nonlocal now
        for number in range(500):
            await log.note(f"192.0.2.{number % 250}", "open", 401, "token_invalid")
        now = 61.0
        # As a proxy may pass it on: a server's log has no place for more.
        await log.note("192.0.2.1" * 9, "open", 401, "token_invalid")
        await log.finish()

    asyncio.run(knock())
    told = [(row.code, row.address) for row in read_log(world)]
    first = [("token_invalid", f"192.0.2.{number}") for number in range(ENTRIES_PER_MINUTE)]
    assert told == [*first, ("470 more refusals", None), ("token_invalid", ("192.0.2.1" * 9)[:64])]
    with world.ledger.read() as connection:
        assert check_ledger(connection).findings == ()


def test_lines_of_strangers_on_standard_output_have_a_limit_and_those_of_others_none() -> None:
    now, lines = 0.0, list[str]()
    access = AccessLines(lines.append, lambda: now)
    for number in range(1000):
        access.write({"method": "GET", "path": f"/{number}\n\x1b[2J", "state": {}}, 404, 1.0)
        access.write({"method": "GET", "path": "/sessions", "state": {"is_known": True}}, 200, 1.0)
    assert sum("/sessions 200" in line for line in lines) == 1000
    assert len(lines) == 1000 + LINES_PER_MINUTE
    assert not any(c in line for line in lines for c in "\n\x1b")
    now = 60.0
    access.write({"method": "GET", "path": "/", "state": {}}, 401, 1.0)
    assert lines[-2].endswith(f"{1000 - LINES_PER_MINUTE} more calls of strangers are not written")


# --- injections, redirects, lists -------------------------------------------------------------------------------


INJECTIONS = (
    "' or '1'='1",
    "'; drop table sessions; --",
    '" or ""="',
    "1); delete from responses; --",
    "%27 union select seed from runs --",
    "\\'; select pg_sleep(5); --",
    "*/ or 1=1 /*",
)


def test_no_text_of_a_caller_is_ever_sql(client: TestClient, world: World, session_id: str) -> None:
    examiner, admin = bearer(ask_token(client, "eve")), bearer(ask_token(client, "ada"))
    _, lease = open_own(client, world, session_id)
    client.get(f"/sessions/{session_id}/next", headers=lease)
    began = time.monotonic()
    for text in INJECTIONS:
        assert client.get("/sessions", params={"run_id": text}, headers=examiner).json()["sessions"] == []
        assert client.get("/sessions", params={"after": text}, headers=examiner).status_code == 422
        assert client.get("/runs", params={"after": text}, headers=examiner).json()["runs"] == []
        assert client.get("/users", params={"after": text}, headers=admin).status_code == 200
        assert (
            client.get(
                f"/runs/{text}".replace("/", "%2F").replace("%2F", "/", 2), headers=examiner
            ).status_code
            == 404
        )
        assert client.post("/token", json={"user_id": text, "password": text}).status_code in (401, 429)
        added = client.post("/users", json={"user_id": text, "role": "analyst", "model": text}, headers=admin)
        assert added.json()["user_id"] == text
    taken = client.post(
        f"/sessions/{session_id}/answers", json={"seq": 1, "response": INJECTIONS[1]}, headers=lease
    )
    assert taken.status_code == 200
    assert world.answers(session_id) == {1: INJECTIONS[1]}
    assert time.monotonic() - began < 30
    with world.ledger.read() as connection:
        named = {user.user_id for user in users.list_users(connection)}
        assert check_ledger(connection).findings == ()
    assert set(INJECTIONS) < named


def test_no_reply_sends_the_caller_to_the_host_it_named(client: TestClient, world: World) -> None:
    evil = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", **bearer(ask_token(client, "eve"))}
    for path in (
        "/sessions/",
        "/runs/",
        "/health/",
        "//evil.example/",
        "/token/",
        "/users//",
        "/\\evil.example",
    ):
        reply = client.get(path, headers=evil, follow_redirects=False)
        assert reply.status_code in (401, 403, 404, 405), path
        assert "location" not in reply.headers
        assert "evil.example" not in reply.text + str(reply.headers)


def test_lists_come_in_pages_and_a_page_of_others_tells_nothing(client: TestClient, world: World) -> None:
    examiner, admin = bearer(ask_token(client, "eve")), bearer(ask_token(client, "ada"))

    def walk(path: str, name: str, key: str, headers: dict[str, str]) -> list[str]:
        found, after = list[str](), None
        while True:
            query = {"limit": 1} | ({} if after is None else {"after": after})
            page = client.get(path, params=query, headers=headers).json()
            assert len(page[name]) == 1
            found.append(page[name][0][key])
            after = page["next_after"]
            if after is None:
                return found

    whole = [item["session_id"] for item in client.get("/sessions", headers=examiner).json()["sessions"]]
    assert walk("/sessions", "sessions", "session_id", examiner) == whole
    assert len(whole) == 2
    assert walk("/runs", "runs", "run_id", examiner) == [world.plan.run_id]
    everybody = walk("/users", "users", "user_id", admin)
    assert everybody == sorted(everybody) == ["ada", "ann", "candidate:alpha", "candidate:rho", "eve"]
    for query in ({"limit": 0}, {"limit": 501}, {"limit": "x"}):
        assert client.get("/users", params=query, headers=admin).status_code == 422
    # The place of somebody else's session in the order is not told.
    own = bearer(world.token(None, permissions=("list_own_sessions",)))
    others = world.sessions("rho")[0]["session_id"]
    assert client.get("/sessions", params={"after": others}, headers=own).json()["sessions"] == []


# --- passwords --------------------------------------------------------------------------------------------------


def test_a_login_of_nobody_costs_the_same_work_as_one_of_somebody(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in hashes, not in time: argon2 is all that takes any."""
    work = list[str]()
    hasher = passwords._hasher

    class Counting:
        def verify(self, stored: str, password: str) -> bool:
            work.append("verify")
            assert stored.startswith("$argon2id$")
            return bool(hasher.verify(stored, password))

        def hash(self, password: str) -> str:
            work.append("hash")
            return hasher.hash(password)

    passwords.prepare_dummy.cache_clear()
    monkeypatch.setattr(passwords, "_hasher", Counting())
    with TestClient(create_app(world.settings, ledger=world.ledger)) as client:
        assert work == ["hash"]  # at the start, before anybody asks
        for user_id in ("nobody", "ada", "candidate:alpha", "nobody", "x' or 1=1"):
            work.clear()
            client.post("/token", json={"user_id": user_id, "password": "a wrong password"})
            assert work == ["verify"], user_id
        work.clear()
        assert client.post("/token", json={"user_id": "eve", "password": PASSWORD}).status_code == 200
        assert work == ["verify"]


def test_who_guesses_at_a_name_does_not_lock_its_owner_out(client: TestClient, world: World) -> None:
    for number in range(11):
        client.post("/token", json={"user_id": "eve", "password": f"guess {number}"})
    assert code_of(client.post("/token", json={"user_id": "eve", "password": PASSWORD})) == (
        429,
        "too_many_failures",
    )
    with TestClient(client.app, client=("198.51.100.7", 50_000)) as elsewhere:
        # Another server's memory would be a fresh one: the counter is put back.
        elsewhere.app.state.passwords = client.app.state.passwords  # type: ignore[attr-defined]
        reply = elsewhere.post("/token", json={"user_id": "eve", "password": PASSWORD})
    assert reply.status_code == 200


def test_a_token_of_another_installation_is_none_here(world: World, session_id: str) -> None:
    from tests.tasks.exam.world import make_settings

    other = make_settings(world.settings.home.parent / "another-home")
    from tasks.exam.protocol.tokens import open_keys

    keys: KeyFile = open_keys(other)
    foreign = issue_token(keys, "candidate:alpha", session_id, ["sit"], 600).text
    with TestClient(create_app(world.settings, ledger=world.ledger)) as client:
        assert code_of(client.get("/sessions", headers=bearer(foreign))) == (401, "token_invalid")
