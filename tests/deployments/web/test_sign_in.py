"""Signing in: who may, how long it lasts, and what ends it."""

from __future__ import annotations

import re
from typing import Any

from deployments.auth import SESSION_S, PasswordDoor, Sessions, check_password, hash_password
from deployments.auth.throttle import FailureCounter
from deployments.web.visitor import SESSION_COOKIE
from tests.deployments.web.conftest import PASSWORD, Desk, MakeDesk
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import users


def knock(desk: Desk, name: str, password: str, then: str = "/") -> Any:
    """Open the form and send it, as a browser does."""
    page = desk.client.get("/sign-in")
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', page.text)
    assert token is not None
    fields = {"form_token": token[1], "user_id": name, "password": password, "then": then}
    return desk.client.post("/sign-in", data=fields, follow_redirects=False)


def test_an_annotator_signs_in_with_a_password_and_gets_a_cookie_no_script_reads(desk: Desk) -> None:
    reply = knock(desk, "chen", PASSWORD)
    cookie = next(one for one in reply.headers.get_list("set-cookie") if one.startswith(SESSION_COOKIE))
    assert reply.status_code == 303
    assert reply.headers["location"] == "/"
    assert {"HttpOnly", "SameSite=lax", f"Max-Age={SESSION_S}", "Path=/"} <= set(cookie.split("; "))
    assert "2026-11-web" in desk.client.get("/").text


def test_sign_ins_and_wrong_passwords_of_somebody_known_are_in_the_audit_log(desk: Desk) -> None:
    for name, password in (("chen", "wrong"), ("nobody", PASSWORD), ("chen", PASSWORD)):
        knock(desk, name, password)
    with desk.ledger.read() as connection:
        rows = connection.execute(access_log.select().where(access_log.c.action == "sign_in")).all()
    assert [(row.user_id, row.target, row.http_status, row.code, row.address) for row in rows] == [
        (None, "chen", 401, "password_wrong", "testclient"),
        ("chen", None, 200, None, "testclient"),
    ]


def test_over_tls_the_cookie_travels_over_nothing_else(make_desk: MakeDesk) -> None:
    desk = make_desk(is_https=True)
    desk.client.base_url = "https://testserver"
    cookies = knock(desk, "chen", PASSWORD).headers.get_list("set-cookie")
    assert all("Secure" in cookie for cookie in cookies if not cookie.startswith('proctor_form=""'))


def test_who_has_no_work_here_learns_no_more_than_who_guesses(desk: Desk) -> None:
    replies = [knock(desk, "chen", "wrong")]
    replies += [knock(desk, name, PASSWORD) for name in ("candidate:alpha", "nobody", "", "chen' or 1=1 --")]
    assert [reply.status_code for reply in replies] == [401] * 5
    assert len({re.sub(r'value="[^"]*"', "", reply.text) for reply in replies}) == 1


def test_an_analyst_signs_in_and_comes_to_the_runs(desk: Desk) -> None:
    assert knock(desk, "ann", PASSWORD).status_code == 303
    assert desk.client.get("/", follow_redirects=False).headers["location"] == "/runs"


def test_ten_failures_pause_one_account_at_one_address_and_nobody_else(desk: Desk) -> None:
    app: Any = desk.client.app
    for _ in range(10):
        app.state.doors["password"].failures.note("testclient chen", is_right=False)
    assert knock(desk, "chen", PASSWORD).status_code == 429
    assert knock(desk, "dai", PASSWORD).status_code == 303


def test_a_browser_that_signed_in_before_is_let_in_while_strangers_are_not(desk: Desk) -> None:
    app: Any = desk.client.app
    assert knock(desk, "chen", PASSWORD).status_code == 303
    device = desk.client.cookies["proctor_device"]
    app.state.doors["password"] = PasswordDoor()  # a server that started since knows no address
    for _ in range(30):
        for name in ("chen", "dai"):
            app.state.doors["password"]._of_strangers.note(name, is_right=False)
    desk.client.cookies.delete("proctor_session")
    assert knock(desk, "chen", PASSWORD).status_code == 303
    # It is this account's alone, and says nothing once it was changed.
    desk.client.cookies.delete("proctor_session")
    assert knock(desk, "dai", PASSWORD).status_code == 429
    desk.client.cookies.clear()
    desk.client.cookies.set("proctor_device", device[:-1] + ("0" if device[-1] != "0" else "1"))
    assert knock(desk, "chen", PASSWORD).status_code == 429


def test_a_guesser_pushes_out_the_oldest_names_and_never_all() -> None:
    failures = FailureCounter(lambda: 0.0)
    for _ in range(10):
        failures.note("there chen", is_right=False)
    for number in range(9_999):
        failures.note(f"there {number}", is_right=False)
    assert failures.must_pause("there chen")
    failures.note("there one more", is_right=False)
    assert not failures.must_pause("there chen")


def test_a_form_of_another_place_signs_nobody_in(desk: Desk) -> None:
    fields = {"user_id": "chen", "password": PASSWORD, "form_token": "0" * 64}
    assert desk.client.post("/sign-in", data=fields, follow_redirects=False).status_code == 403


def test_after_signing_in_nobody_is_sent_to_another_site(desk: Desk) -> None:
    paths = ("//evil.example/", "/\\evil.example", "https://evil.example", "/a\nb", "\\/evil")
    for then in paths:
        assert knock(desk, "chen", PASSWORD, then).headers["location"] == "/", then
        desk.client.cookies.clear()


def test_who_is_not_signed_in_comes_back_to_the_page_they_wanted(desk: Desk) -> None:
    reply = desk.client.get("/review/2026-11-web/list/questions", follow_redirects=False)
    assert reply.headers["location"] == "/sign-in?then=/review/2026-11-web/list/questions"


def test_signing_out_ends_the_session_whoever_kept_the_cookie(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    assert chen.get("/").status_code == 200
    assert chen.post("/sign-out", data={"form_token": chen.form_token()}).status_code == 303
    assert chen.get("/").headers["location"] == "/sign-in"


def test_a_new_password_ends_every_other_session_and_is_checked_with_the_old_one(desk: Desk) -> None:
    chen, elsewhere = desk.sign_in("chen"), desk.sign_in("chen")
    fields = {
        "form_token": chen.form_token(),
        "new_password": "a new long one",
        "repeated_password": "a new long one",
    }
    assert chen.post("/account", data=fields | {"old_password": "wrong"}).status_code == 422
    for weak, why in (("short", "12 to 1,000"), ("chenchenchen", "your name"), ("password123456", "first")):
        refused = chen.post("/account", data=fields | {"old_password": PASSWORD, "new_password": weak})
        assert refused.status_code == 422
        assert why in refused.text
    assert elsewhere.get("/").status_code == 200
    reply = chen.post("/account", data=fields | {"old_password": PASSWORD})
    assert reply.status_code == 200
    assert f"{SESSION_COOKIE}=" in reply.headers["set-cookie"]
    assert [one.get("/").status_code for one in (chen, elsewhere)] == [303, 303]
    with desk.ledger.read() as connection:
        stored = users.read_password_hash(connection, "chen")
    assert check_password(stored, "a new long one")


def test_a_password_set_by_command_and_shutting_out_end_sessions_at_once(desk: Desk) -> None:
    chen, dai = desk.sign_in("chen"), desk.sign_in("dai")
    with desk.ledger.write() as connection:
        users.write_password_hash(connection, "chen", hash_password("set by somebody"))
        users.write_activity(connection, "dai", is_active=False)
    assert [one.get("/").status_code for one in (chen, dai)] == [303, 303]
    # Whoever is admitted again signs in again: the former cookie may be in other hands.
    with desk.ledger.write() as connection:
        users.write_activity(connection, "dai", is_active=True)
    assert dai.get("/").status_code == 303


def test_a_cookie_ends_after_a_working_day(desk: Desk) -> None:
    now = 1_800_000_000.0
    sessions = Sessions(desk.ledger, b"k" * 64, lambda: now)
    cookie = sessions.start("chen")
    assert sessions.read(cookie) is not None
    now += SESSION_S + 1
    assert sessions.read(cookie) is None


def test_the_language_is_the_browsers_until_it_is_chosen(desk: Desk) -> None:
    assert "Sign in" in desk.client.get("/sign-in").text
    assert "登录" in desk.client.get("/sign-in", headers={"accept-language": "zh-CN,zh;q=0.9"}).text
    reply = desk.client.get(
        "/language/zh", headers={"referer": "http://testserver/sign-in"}, follow_redirects=False
    )
    assert reply.headers["location"] == "/sign-in"
    assert "登录" in desk.client.get("/sign-in").text
    elsewhere = desk.client.get(
        "/language/en", headers={"referer": "http://evil.example/x"}, follow_redirects=False
    )
    assert elsewhere.headers["location"] == "/"


def test_a_stranger_who_comes_from_no_address_at_all_writes_no_fault_into_the_log(desk: Desk) -> None:
    """Lines of strangers are counted; those of faults are not, and would fill a disk."""
    for referer in ("http://[", "//[::1"):
        reply = desk.client.get("/language/zh", headers={"referer": referer}, follow_redirects=False)
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
