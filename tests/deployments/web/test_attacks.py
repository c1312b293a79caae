"""Attempts and their answers: what somebody who means harm, or errs, gets from the web desk."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from httpx2 import Response

from deployments.auth import Sessions
from deployments.web.references import make_reference, read_reference
from deployments.web.visitor import FORM_HEADER, SESSION_COOKIE
from schemas.errors import StoreError
from tasks.exam.protocol.tokens import PERMISSIONS, issue_token, open_keys
from tests.deployments.web.conftest import BATCH, Desk, MakeDesk
from tests.hunts import tries
from tests.tasks.review.conftest import make_question
from warehouse.ledger.trust import users

ROOT = Path(__file__).parents[3]
SCRIPT = "<script>window.stolen=1</script><img src=x onerror=window.stolen=1>\"'--></textarea><b>"


def list_paths(desk: Desk, name: str) -> list[str]:
    """Every page of somebody's own work."""
    one = f"/review/{BATCH}/question/{desk.refer(name, 0)}"
    return [
        "/",
        f"/review/{BATCH}/list/questions",
        f"/review/{BATCH}/next/questions",
        one,
        f"{one}/card",
        "/account",
        "/session",
    ]


def test_nobody_reads_a_page_without_signing_in(desk: Desk) -> None:
    paths = [
        *list_paths(desk, "chen"),
        "/coordination",
        f"/coordination/{BATCH}",
        f"/review/{BATCH}/previous",
    ]
    assert {
        path: desk.client.get(path, follow_redirects=False).status_code for path in paths
    } == dict.fromkeys(paths, 303)


def test_anothers_work_is_not_there_for_anybody(desk: Desk) -> None:
    """Neither for the second reviewer of the same questions nor for a coordinator."""
    path = f"/review/{BATCH}/question/{desk.refer('chen', 0)}"
    sent = {"decision": "accept", "seen": None}
    for other in map(desk.sign_in, ("dai", "eva", "cora")):
        assert [other.get(path + part).status_code for part in ("", "/card")] == [404, 404], other.name
        assert other.post(f"{path}/decision", json=sent).status_code == 404
        assert other.post(f"{path}/draft", json={"draft": {"comment": "x"}}).status_code == 404
    assert desk.decisions() == {}


@pytest.mark.parametrize(("role", "disciplines"), [("analyst", None), ("annotator", [])])
def test_whoever_reviews_no_more_reads_nothing_that_was_given_before(
    desk: Desk, role: str, disciplines: list[str] | None
) -> None:
    paths = [f"/review/{BATCH}/question/{desk.refer('chen', 0)}{part}" for part in ("", "/card", "/similar")]
    paths += [f"/review/{BATCH}/{part}/questions" for part in ("list", "next")] + ["/"]
    with desk.ledger.write() as connection:
        users.write_role(connection, "chen", role, disciplines=disciplines)
    replies = [desk.sign_in("chen").get(path) for path in paths]
    assert [reply.status_code for reply in replies[:-1]] == [404] * 5
    assert BATCH not in replies[-1].text


def test_guessed_numbers_and_uuids_are_not_there(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    uuid = desk.questions[0]["question_uuid"]
    guesses = [uuid, uuid.replace("-", ""), "0" * 32, "1", "../../session", "%00", "ff" * 16, "x" * 5000]
    found = {guess: chen.get(f"/review/{BATCH}/question/{guess}/card").status_code for guess in guesses}
    # The character zero is refused at the door, whatever it stands for.
    assert found.pop("%00") == 400
    assert set(found.values()) <= {404, 303, 307}
    assert "303" not in map(str, [found[guess] for guess in guesses[:4]])
    assert chen.get(f"/review/other-batch/question/{desk.refer('chen', 0)}").status_code == 404
    assert chen.get("/review/other-batch/list/questions").status_code == 404


def test_a_number_says_nothing_and_means_nothing_to_others() -> None:
    uuid, key = "0b8f1f0e-3d7c-5e0e-9c52-7b1f6a4d2c10", b"k" * 64
    own = make_reference(key, "chen", "b1", uuid)
    assert read_reference(key, "chen", "b1", own) == uuid
    elsewhere = [("dai", "b1", key), ("chen", "b2", key), ("chen", "b1", b"l" * 64), ("che", "nb1", key)]
    assert uuid not in [read_reference(other, who, batch, own) for who, batch, other in elsewhere]
    one_digit_off = own[:-1] + ("0" if own[-1] != "0" else "1")
    assert read_reference(key, "chen", "b1", one_digit_off) != uuid
    # Two questions that differ in one digit have addresses that share nothing.
    near = make_reference(key, "chen", "b1", uuid[:-1] + "1")
    assert sum(a == b for a, b in zip(own, near, strict=True)) < 12


def test_tokens_of_the_exam_open_nothing_here(desk: Desk) -> None:
    token = issue_token(open_keys(desk.settings), "chen", None, PERMISSIONS["admin"], 3600).text
    for headers in ({"authorization": f"Bearer {token}"}, {"cookie": f"{SESSION_COOKIE}={token}"}):
        assert desk.client.get("/", headers=headers, follow_redirects=False).status_code == 303


def list_forged_cookies(genuine: str) -> Iterator[str]:
    session_id, expires, signature = genuine.split(".")
    yield f"{session_id}.{int(expires) + 86_400}.{signature}"
    yield f"{session_id[:-1]}x.{expires}.{signature}"
    yield f"{session_id}.{expires}.{'0' * 64}"
    yield f"{session_id}.{expires}."
    yield f"{session_id}.{expires}"
    yield session_id
    yield "..."
    yield "é.1.2"


def test_forged_cookies_open_nothing(desk: Desk) -> None:
    genuine = desk.sign_in("chen").cookie
    replies = {}
    for forged in list_forged_cookies(genuine):
        raw = f"{SESSION_COOKIE}={forged}".encode()
        replies[forged] = desk.client.get("/", headers=[(b"cookie", raw)], follow_redirects=False).status_code
    assert set(replies.values()) == {303}


def test_what_changes_something_needs_the_token_of_its_own_session(desk: Desk) -> None:
    chen, dai = desk.sign_in("chen"), desk.sign_in("dai")
    sent = {"decision": "accept", "seen": None}
    for token in ("", "0" * 64, dai.form_token(), "é"):
        raw = {"headers": {"x-proctor-form": token.encode()}} if token == "é" else {"token": token}
        assert chen.post(chen.path(0, "/decision"), json=sent, **raw).status_code == 403
        assert chen.post(chen.path(0, "/draft"), json={"draft": {}}, **raw).status_code == 403
    for path in ("/sign-out", "/account"):
        assert chen.post(path, data={"form_token": dai.form_token()}).status_code == 403
    cora = desk.sign_in("cora")
    path = f"/coordination/{BATCH}/release"
    assert cora.post(path, data={"form_token": chen.form_token(), "is_understood": "yes"}).status_code == 403
    assert desk.decisions() == {}


def test_another_sites_page_changes_nothing_even_with_a_token(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    elsewhere = (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://testserver.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    )
    for headers in elsewhere:
        reply = chen.post(chen.path(0, "/decision"), json={"decision": "accept"}, headers=headers)
        assert reply.status_code == 403, headers
    assert desk.decisions() == {}


def test_our_own_page_is_let_through(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    headers = {"origin": "http://testserver", "sec-fetch-site": "same-origin"}
    sent = {"decision": "accept", "seen": None}
    assert chen.post(chen.path(0, "/decision"), json=sent, headers=headers).status_code == 200


def test_a_script_in_a_question_is_text_wherever_it_is_shown(make_desk: MakeDesk) -> None:
    row = make_question(
        1,
        stem=SCRIPT,
        material=SCRIPT,
        explanation=SCRIPT,
        sub_discipline=SCRIPT,
        options=[{"label": "A", "text": SCRIPT}, {"label": "B", "text": "b"}],
        number_label=SCRIPT,
        document_name=SCRIPT,
        parse_notes=[SCRIPT],
    )
    free = make_question(2, question_type="short_answer", options=[], answer=[SCRIPT, "two"])
    desk = make_desk([row, free])
    chen, dai, eva = (desk.sign_in(name) for name in ("chen", "dai", "eva"))
    assert chen.decide(0, "edit", edit={"stem": f"{SCRIPT} new"}, comment=SCRIPT).status_code == 200
    assert dai.decide(0, "reject", reject_reason="other", comment=SCRIPT).status_code == 200
    chen.post(chen.path(1, "/draft"), json={"draft": {"comment": SCRIPT, "at": 1}})
    pages = [chen.get(path).text for path in (*list_paths(desk, "chen"), chen.path(1))]
    judge = next(one for one in (eva, desk.sign_in("fang")) if one.get(one.path(0)).status_code == 200)
    pages += [judge.get(judge.path(0)).text, desk.sign_in("cora").get(f"/coordination/{BATCH}").text]
    assert any("stolen" in page for page in pages)
    for page in pages:
        assert "<script>window" not in page
        assert "<img src=x" not in page
        assert "</textarea><b>" not in page


def test_the_policy_lets_no_script_and_no_style_in_a_page_run(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    for path in ("/sign-in", chen.path(0), "/static/desk.js", "/nothing"):
        headers = chen.get(path).headers
        policy = dict(
            part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")


def test_a_hundred_megabytes_are_refused_before_they_are_read(desk: Desk) -> None:
    """The length alone is refused, and so is what hides its length."""
    chen = desk.sign_in("chen")
    for path in ("/sign-in", "/account", f"/review/{BATCH}/question/{'0' * 32}/decision"):
        named = chen.post(path, content=b"", headers={"content-length": "100000000"})
        assert named.status_code == 413
        hidden = chen.post(path, content=(b"x" * 1_000_000 for _ in range(100)))
        assert hidden.status_code in (413, 403, 400)


MALFORMED = {
    "empty": b"",
    "list": b"[]",
    "null": b"null",
    "broken": b"{",
    "bytes": b"\xff",
    "deep": b"[" * 100_000,
    "half a character": b'{"decision": "\\ud800"}',
    "zero": b'{"decision": "accept", "comment": "\\u0000"}',
    "numbers": b'{"decision": NaN, "seen": 1}',
}


def test_what_is_no_decision_is_refused_and_never_a_fault(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    for case, body in MALFORMED.items():
        decision = chen.post(chen.path(0, "/decision"), content=body).status_code
        draft = chen.post(chen.path(0, "/draft"), content=body).status_code
        # A draft is not read: what is JSON and text may be one.
        assert (decision, draft) == (400, 200 if case == "numbers" else 400), case
    assert desk.decisions() == {}


FAULTY: dict[str, tuple[dict[str, Any], str]] = {
    "no decision": ({}, "decision"),
    "unknown": ({"decision": "maybe"}, "decision"),
    "reject without reason": ({"decision": "reject"}, "reject_reason"),
    "other without comment": ({"decision": "reject", "reject_reason": "other"}, "comment"),
    "edit of nothing": ({"decision": "edit", "edit": {}}, "decision"),
    "edit of what is no field": ({"decision": "edit", "edit": {"question_uuid": "x"}}, "question_uuid"),
    "edit with a list for a text": ({"decision": "edit", "edit": {"stem": ["x"]}}, "stem"),
    "key beyond the options": ({"decision": "edit", "edit": {"answer": ["Z"]}}, "answer"),
    "corrections with an accept": ({"decision": "accept", "edit": {"stem": "new"}}, "decision"),
    "a book for a comment": ({"decision": "accept", "comment": "x" * 5_000}, "comment"),
}


def test_a_faulty_decision_is_named_by_its_field_and_not_recorded(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    for case, (sent, field) in FAULTY.items():
        reply = chen.decide(0, **{"decision": "", **sent})
        assert (reply.status_code, reply.json()["faults"][0]["field"]) == (422, field), case
    assert desk.decisions() == {}


def test_an_annotator_coordinates_nothing(desk: Desk) -> None:
    one = desk.sign_in("chen")
    assert [one.get(path).status_code for path in ("/coordination", f"/coordination/{BATCH}")] == [404, 404]
    fields = {"form_token": one.form_token(), "is_understood": "yes"}
    assert one.post(f"/coordination/{BATCH}/release", data=fields).status_code == 404


def test_a_refused_page_says_what_is_wrong_with_it(desk: Desk) -> None:
    chen, cora = desk.sign_in("chen"), desk.sign_in("cora")
    own = {"form_token": cora.form_token()}

    def publish(form: dict[str, str]) -> Response:
        """As a browser sends a form: our own scripts name themselves and read codes."""
        return desk.client.post(
            "/guidelines", data=form, headers={"cookie": f"{SESSION_COOKIE}={cora.cookie}"}
        )

    replies = {
        "has no such page": chen.get("/runs", **{"accept-language": "en"}),
        "没有此页面的权限": chen.get("/runs", **{"accept-language": "zh"}),
        "too old": publish({"form_token": "0" * 64, "changes": "x"}),
        "malformed or too long": publish(own | {"changes": "  "}),
        "address is wrong": cora.get("/nowhere"),
    }
    assert [why for why, reply in replies.items() if why not in reply.text] == []


def test_a_fault_tells_its_class_and_nothing_of_the_question(
    desk: Desk, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("QZXW secret stem")

    monkeypatch.setattr("deployments.web.review_routes.record_one", fail)
    reply = desk.sign_in("chen").decide(0, "accept")
    assert reply.status_code == 500
    assert "QZXW" not in reply.text + caplog.text
    assert "RuntimeError" in caplog.text


def test_addresses_carry_no_uuid_and_no_text(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    for path in list_paths(desk, "chen"):
        page = chen.get(path)
        for row in desk.questions:
            assert row["question_uuid"] not in page.text + json.dumps(dict(page.headers))


def list_fields() -> list[str]:
    """What the routes of the desk read from forms and JSON, by their source."""
    folders = (ROOT / "deployments" / "web", ROOT / "deployments" / "auth" / "kinds")
    source = "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    found = set(re.findall(r"(?:form|fields|body|given|values)(?:\.get\(|\[)\"(\w+)\"", source))
    assert {"user_id", "password", "old_password"} <= found
    return sorted(found | {"decision", "seen", "reason", "then"})


@pytest.mark.hunt
@pytest.mark.parametrize("name", ["cora", pytest.param("chen", marks=pytest.mark.long)])
def test_the_character_zero_is_a_fault_on_no_route(desk: Desk, name: str) -> None:
    somebody = desk.sign_in(name)
    app: Any = desk.client.app
    reference = desk.refer(name, 0)
    answers: dict[str, int] = {}
    for route in app.routes:
        if not isinstance(route, APIRoute) or route.path in ("/sign-out",):
            continue
        path = route.path.replace("{batch_id}", BATCH).replace("{reference}", reference)
        path = re.sub(r"\{\w+(:\w+)?\}", "1", path)
        if "GET" in (route.methods or ()):
            names = [parameter.name for parameter in route.dependant.query_params] or ["text"]
            for asked in [f"{path}?{one}=a%00b" for one in names] + [
                re.sub(r"\{\w+(:\w+)?\}", "a%00b", route.path)
            ]:
                if "%00" in asked:
                    answers[f"GET {asked}"] = somebody.get(asked).status_code
        else:
            fields = list_fields()
            for field in random.Random(path).sample(fields, tries(min(4, len(fields)), len(fields))):
                token = somebody.form_token()
                answers[f"{path} {field}"] = somebody.post(
                    path, data={"form_token": token, field: "a\0b"}
                ).status_code
                answers[f"{path} {field} as JSON"] = somebody.post(path, json={field: "a\0b"}).status_code
    assert len(answers) > tries(60, 100)
    assert {call: status for call, status in answers.items() if status not in (400, 403, 404, 405)} == {}
    assert {status for call, status in answers.items() if call.startswith("GET")} == {400}


@pytest.mark.parametrize(("error", "status"), [(StoreError("It is locked."), 503), (KeyError("x"), 500)])
def test_a_fault_is_a_page_for_a_person_and_a_code_for_our_script(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    chen = desk.sign_in("chen")

    def fail(_self: object, _cookie: object) -> None:
        raise error

    monkeypatch.setattr(Sessions, "read", fail)
    page = chen.get("/", **{"accept-language": "zh"})
    assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert "请稍后重试" in page.text
    assert "content-security-policy" in page.headers
    code = chen.get("/session", **{FORM_HEADER: ""})
    assert (code.status_code, code.headers["content-type"]) == (status, "application/json")
