"""Keys over HTTP: candidates enrol theirs; receipts are checked with the installation's."""

from __future__ import annotations

import base64
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from fastapi.testclient import TestClient

from tasks.exam.log import check_log
from tasks.exam.log.signing import check_receipt, describe_answer
from tasks.exam.log.signing.keys import encode_signed
from tests.deployments.exam_api.test_app import ask_token, bearer, code_of, held
from tests.tasks.exam.world import World
from warehouse.ledger.engine.logs.digests import digest_text
from warehouse.ledger.engine.tables import access_log

PASSWORD = "a password of alpha"
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = base64.b64encode(KEY.public_key().public_bytes_raw()).decode()
ROUTE = "/users/candidate:alpha/key"


def give_password(client: TestClient) -> None:
    body = {"password": PASSWORD}
    reply = client.patch("/users/candidate:alpha", json=body, headers=bearer(ask_token(client, "ada")))
    assert reply.status_code == 200


def test_a_candidate_enrols_its_key_once_with_its_password(client: TestClient, world: World) -> None:
    give_password(client)
    body = {"password": PASSWORD, "public_key": PUBLIC}
    assert code_of(client.post(ROUTE, json={**body, "password": "wrong"})) == (401, "password_wrong")
    assert code_of(client.post(ROUTE, json={**body, "public_key": "AAAA"})) == (422, "key_invalid")
    assert client.post(ROUTE, json=body).json() == {"user_id": "candidate:alpha", "public_key": PUBLIC}
    assert code_of(client.post(ROUTE, json=body)) == (409, "key_enrolled")
    foreign = {"user_id": "candidate:alpha", "password": PASSWORD, "session_id": "of-another"}
    assert code_of(client.post("/token", json=foreign)) == (403, "session_invalid")
    with world.ledger.read() as connection:
        rows = connection.execute(access_log.select().where(access_log.c.action == "enrol_key")).all()
        refused = connection.execute(access_log.select().where(access_log.c.code == "session_invalid")).all()
    assert [(row.action, row.user_id) for row in refused] == [("token", "candidate:alpha")]
    assert [(row.http_status, row.user_id, row.target, row.address) for row in rows] == [
        (401, None, "candidate:alpha", "testclient"),
        (422, "candidate:alpha", None, "testclient"),
        (200, "candidate:alpha", "candidate:alpha", "testclient"),
        (409, "candidate:alpha", None, "testclient"),
    ]


def test_signed_answers_are_taken_over_http_and_their_receipts_are_good(
    client: TestClient, world: World
) -> None:
    give_password(client)
    assert client.post(ROUTE, json={"password": PASSWORD, "public_key": PUBLIC}).status_code == 201
    session_id = world.sessions()[0]["session_id"]
    token = ask_token(client, "candidate:alpha", session_id, password=PASSWORD)
    lease = client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(token)).json()
    headers = held(token, lease)
    client.get(f"/sessions/{session_id}/next", headers=headers)
    answers = f"/sessions/{session_id}/answers"
    body = {"seq": 1, "response": "答案：A"}
    assert code_of(client.post(answers, json=body, headers=headers)) == (403, "signature_wrong")
    signed = encode_signed(describe_answer(session_id, 1, digest_text("答案：A")))
    body["signature"] = base64.b64encode(KEY.sign(signed)).decode()
    receipt = client.post(answers, json=body, headers=headers).json()["receipt"]
    key = client.get("/log/key").json()["public_key"]
    with world.ledger.read() as connection:
        assert check_receipt(receipt, key, connection).finding == "good"
    assert check_log(world.ledger, world.settings).findings == ()


def test_a_token_issued_by_an_examiner_leaves_their_name_in_the_log(client: TestClient, world: World) -> None:
    session_id = world.sessions()[0]["session_id"]
    reply = client.post(
        "/users/candidate:alpha/tokens",
        json={"session_id": session_id},
        headers=bearer(ask_token(client, "eve")),
    )
    client.post(f"/sessions/{session_id}/open", json={}, headers=bearer(reply.json()["token"]))
    token_id = reply.json()["token_id"]
    with world.ledger.read() as connection:
        rows = connection.execute(access_log.select().where(access_log.c.session_id == session_id)).all()
    told = [(row.action, row.user_id, row.target) for row in rows if row.action in ("issue_token", "open")]
    assert told == [
        ("issue_token", "eve", f"candidate:alpha {token_id}"),
        ("open", "candidate:alpha", f"{token_id} eve"),
    ]


def test_the_documented_way_to_sign_makes_a_signature_that_is_taken() -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    page = (Path(__file__).parents[3] / "docs" / "exam-api.md").read_text(encoding="utf-8")
    (sample,) = [part.split("```")[0] for part in page.split("```python\n")[1:] if "def sign_answer" in part]
    names: dict[str, object] = {}
    exec(sample, names)
    pem = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    made = names["sign_answer"](pem, "s1", 3, "答案")  # type: ignore[operator]
    signed = encode_signed(describe_answer("s1", 3, digest_text("答案")))
    assert made == base64.b64encode(KEY.sign(signed)).decode()
