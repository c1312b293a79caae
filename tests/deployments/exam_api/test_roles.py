"""Roles × routes: every route of the application has a row here."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from deployments.exam_api.app import create_app
from tasks.exam.protocol.tokens import PERMISSIONS
from tests.deployments.exam_api.test_app import bearer
from tests.tasks.exam.world import World
from warehouse.ledger.trust import users

WHO = ("nobody", "another candidate", "candidate", "examiner", "admin", "annotator", "analyst")
_OPEN = dict.fromkeys(WHO, 200)


def _only(status: int, *who: str) -> dict[str, int]:
    return {name: status if name in who else 401 if name == "nobody" else 403 for name in WHO}


# What each caller is answered where everything else of the request is right.
EXPECTED: dict[tuple[str, str], dict[str, int]] = {
    ("GET", "/health"): _OPEN,
    ("GET", "/openapi.json"): _OPEN,
    ("GET", "/log/key"): _OPEN,
    ("POST", "/token"): dict.fromkeys(WHO, 401),  # the password is wrong, whatever token comes with it
    ("GET", "/sessions"): _only(200, "another candidate", "candidate", "examiner", "admin"),
    # Practice counts for nothing: every candidate has it, whatever session its token is for.
    ("POST", "/sessions/practice/open"): _only(200, "another candidate", "candidate"),
    ("POST", "/sessions/practice/renew"): _only(200, "another candidate", "candidate"),
    ("GET", "/sessions/practice/next"): _only(200, "another candidate", "candidate"),
    ("POST", "/sessions/practice/answers"): _only(200, "another candidate", "candidate"),
    ("GET", "/sessions/{session_id}"): _only(200, "candidate", "examiner", "admin"),
    ("POST", "/sessions/{session_id}/open"): _only(200, "candidate"),
    ("POST", "/sessions/{session_id}/renew"): _only(200, "candidate"),
    ("GET", "/sessions/{session_id}/next"): _only(200, "candidate"),
    # The question that is to be answered has none.
    ("GET", "/sessions/{session_id}/questions/{seq}/pictures/{number}"): _only(404, "candidate"),
    ("POST", "/sessions/{session_id}/answers"): _only(200, "candidate"),
    ("POST", "/sessions/{session_id}/release"): _only(200, "examiner", "admin"),
    ("POST", "/users/{user_id}/tokens"): _only(200, "examiner", "admin"),
    ("POST", "/users/{user_id}/key"): dict.fromkeys(WHO, 401),  # the same
    ("GET", "/users"): _only(200, "admin"),
    ("POST", "/users"): _only(201, "admin"),
    ("PATCH", "/users/{user_id}"): _only(200, "admin"),
    ("GET", "/runs"): _only(200, "examiner", "admin"),
    ("GET", "/runs/{run_id}"): _only(200, "examiner", "admin"),
    ("GET", "/approvals"): _only(200, "examiner", "admin"),
    # Nothing was asked for: those who may decide are told so.
    ("POST", "/approvals/{approval_id}/approve"): _only(404, "examiner", "admin"),
    ("POST", "/approvals/{approval_id}/refuse"): _only(404, "examiner", "admin"),
}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("POST", "/token"): {"user_id": "nobody-at-all", "password": "a wrong one"},
    ("POST", "/users/{user_id}/key"): {"password": "a wrong one", "public_key": "A" * 43 + "="},
    ("POST", "/sessions/practice/open"): {"lease_secret": "the-secret-of-the-sitter-" + "x" * 16},
    ("POST", "/sessions/practice/answers"): {"seq": 1, "response": "x"},
    ("POST", "/sessions/{session_id}/open"): {"lease_secret": "the-secret-of-the-sitter-" + "x" * 16},
    ("POST", "/sessions/{session_id}/answers"): {"seq": 1, "response": "x"},
    ("POST", "/users/{user_id}/tokens"): {},
    ("POST", "/users"): {"user_id": "newcomer", "role": "analyst"},
    ("PATCH", "/users/{user_id}"): {"question_limit": 5},
}


def list_routes(world: World) -> set[tuple[str, str]]:
    app = create_app(world.settings, ledger=world.ledger)
    found = {
        (method, route.path_format)
        for route in app.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    others = {route.path for route in app.routes if not isinstance(route, APIRoute)}  # type: ignore[attr-defined]
    return found | {("GET", path) for path in others}


def test_every_route_has_a_row_for_every_role(world: World) -> None:
    assert set(EXPECTED) == list_routes(world)
    assert all(set(row) == set(WHO) for row in EXPECTED.values())
    assert {"candidate", "examiner", "admin", "annotator", "analyst"} == set(PERMISSIONS)


@pytest.mark.parametrize("who", WHO)
def test_every_role_is_answered_as_its_row_says(client: TestClient, world: World, who: str) -> None:
    session_id = str(world.sessions()[0]["session_id"])
    role = "candidate" if "candidate" in who else who
    user_id = {"candidate": "candidate:alpha", "another candidate": "candidate:rho"}.get(who, f"the-{who}")
    if who not in ("nobody", "candidate", "another candidate"):
        with world.ledger.write() as connection:
            users.add_user(connection, user_id=user_id, role=role)
    # A token of the role for this session, with every permission that exists: the ledger's role decides.
    everything = sorted(frozenset().union(*PERMISSIONS.values()))
    own = world.token(session_id, user_id=user_id, permissions=everything)
    headers = {} if who == "nobody" else bearer(own)
    sitter = bearer(world.token(session_id))
    body = BODIES[("POST", "/sessions/{session_id}/open")]
    got: dict[tuple[str, str], int] = {}
    for method, path in EXPECTED:
        lease = client.post(f"/sessions/{session_id}/open", json=body, headers=sitter).json()
        is_practice = path.startswith("/sessions/practice/")
        if path.endswith("/answers") and not is_practice:
            held = {"X-Lease-Secret": lease["secret"], "X-Lease-Generation": str(lease["generation"])}
            client.get(f"/sessions/{session_id}/next", headers={**sitter, **held})
        if is_practice and got.get(("POST", "/sessions/practice/open")) == 200:
            lease = client.post("/sessions/practice/open", json=body, headers=headers).json()
            held = {"X-Lease-Secret": lease["secret"], "X-Lease-Generation": str(lease["generation"])}
            client.get("/sessions/practice/next", headers={**headers, **held})
        address = path.format(
            session_id=session_id,
            user_id="candidate:alpha",
            run_id=world.plan.run_id,
            approval_id=1,
            seq=1,
            number=1,
        )
        sent = {**headers, "X-Lease-Secret": lease["secret"], "X-Lease-Generation": str(lease["generation"])}
        reply = client.request(method, address, headers=sent, json=BODIES.get((method, path)))
        got[method, path] = reply.status_code
    assert got == {route: row[who] for route, row in EXPECTED.items()}


def test_no_route_takes_another_method(client: TestClient, world: World) -> None:
    everything = sorted(frozenset().union(*PERMISSIONS.values()))
    headers = bearer(world.token(None, user_id="ada", permissions=everything))
    paths = {path for _, path in EXPECTED}
    for path in sorted(paths):
        address = path.format(session_id="s1", user_id="ada", run_id="r1", approval_id=1, seq=1, number=1)
        for method in ("PUT", "DELETE", "TRACE", "CONNECT", "PROPFIND", "OPTIONS"):
            reply = client.request(method, address, headers=headers)
            assert reply.status_code == 405, (method, path)
            assert "access-control-allow-origin" not in reply.headers
