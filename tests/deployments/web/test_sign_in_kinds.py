"""Kinds of sign-in: who comes in by them, in which role, and nobody else by the way."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from httpx2 import Response

from deployments.auth import Attempts, Sessions
from deployments.auth.kinds import SIGN_INS, Accounts, FormField, Recognised
from deployments.web.visitor import SESSION_COOKIE
from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.review.assigning import assign_batch
from tests.deployments.web.conftest import PASSWORD, Desk, MakeDesk
from tests.deployments.web.test_sign_in import knock
from tests.seams.portal_site import SECRET, PortalSite, serve_portal
from tests.seams.test_third_party import SOURCE
from tests.tasks.review.conftest import make_frame, make_question
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.tables import access_log
from warehouse.ledger.trust import users

ADDRESS = "http://127.0.0.1:8710"


@pytest.fixture
def portal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PortalSite]:
    """A portal, and the package that leads there, as installed."""
    told = tmp_path / "proctor_tex-0.3.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: proctor-tex\nVersion: 0.3\n")
    (told / "entry_points.txt").write_text("[proctor.auth]\nportal = proctor_tex.portal:open_kind\n")
    for folder in (tmp_path, SOURCE):
        monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(SIGN_INS, "_others", None)
    monkeypatch.setattr(SIGN_INS, "_loaded", {})
    with serve_portal() as site:
        yield site
    for name in [name for name in sys.modules if name.startswith("proctor_tex")]:
        del sys.modules[name]


OpenDesk = Callable[..., Desk]


@pytest.fixture
def open_desk(make_desk: MakeDesk, portal: PortalSite) -> OpenDesk:
    """A desk that offers the portal beside passwords."""

    def open_it(**given: Any) -> Desk:
        told = {
            "sign_in": ("password", "portal"),
            "sign_in_options": {"portal": {"url": portal.url, "secret": SECRET}},
            "web_url": f"{ADDRESS}/",
        }
        desk = make_desk(given=told | given)
        desk.client.base_url = ADDRESS
        return desk

    return open_it


def go(client: TestClient, path: str, **headers: str) -> Response:
    return client.get(path, headers=headers, follow_redirects=False)


def follow(address: str) -> str:
    """Ask the portal as a browser does; returns where it sends it."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.netloc, timeout=10)
    connection.request("GET", f"{parts.path}?{parts.query}")
    location = connection.getresponse().headers["Location"]
    connection.close()
    return str(location)


def come_back(client: TestClient, then: str = "/") -> Response:
    """Take the whole way: to the portal and back."""
    away = client.get("/sign-in/portal", params={"then": then}, follow_redirects=False)
    assert away.status_code == 303
    back = follow(away.headers["location"])
    assert back.startswith(f"{ADDRESS}/sign-in/portal/back?")
    return go(client, back.removeprefix(ADDRESS))


def read_entries(desk: Desk) -> list[tuple[str | None, str, str | None, int, str | None]]:
    with desk.ledger.read() as connection:
        rows = connection.execute(access_log.select().order_by(access_log.c.number)).all()
    return [
        (row.user_id, row.action, row.target, row.http_status, row.code)
        for row in rows
        if row.action in ("sign_in", "add_user", "change_role") and row.address is not None
    ]


def read_role(desk: Desk, name: str) -> tuple[str, list[str] | None] | None:
    with desk.ledger.read() as connection:
        user = users.read_user(connection, name)
    return None if user is None else (user.role, user.disciplines)


def test_somebody_signs_in_by_way_of_another_site_and_comes_to_the_page_they_wanted(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    desk = open_desk()
    page = desk.client.get("/sign-in?then=/coordination").text
    assert 'href="/sign-in/portal?then=%2Fcoordination"' in page
    assert "University portal" in page
    assert "校园门户" in desk.client.get("/sign-in", headers={"accept-language": "zh"}).text
    reply = come_back(desk.client, "/coordination")
    assert (reply.status_code, reply.headers["location"]) == (303, "/coordination")
    cookie = next(one for one in reply.headers.get_list("set-cookie") if one.startswith(SESSION_COOKIE))
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert go(desk.client, "/coordination").status_code == 200
    assert read_entries(desk) == [("cora", "sign_in", None, 200, "by_portal")]


def test_an_answer_belongs_to_the_browser_that_began_and_is_taken_once(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    """Whoever makes another follow the address of their own answer signs nobody in (login CSRF)."""
    desk = open_desk()
    mine = follow(go(desk.client, "/sign-in/portal").headers["location"]).removeprefix(ADDRESS)
    cookie = desk.client.cookies["proctor_attempt"]
    desk.client.cookies.clear()
    assert go(desk.client, mine).status_code == 403
    others = follow(go(desk.client, "/sign-in/portal").headers["location"]).removeprefix(ADDRESS)
    for path in (mine, "/sign-in/portal/back?code=x", "/sign-in/portal/back?code=x&state="):
        assert go(desk.client, path).status_code == 403, path
    desk.client.cookies.clear()
    for forged in (cookie[:-1] + ("0" if cookie[-1] != "0" else "1"), "...", "x", cookie.partition(".")[0]):
        assert go(desk.client, mine, cookie=f"proctor_attempt={forged}").status_code == 403
    assert portal.redeemed == []  # the portal was never asked
    reply = go(desk.client, mine, cookie=f"proctor_attempt={cookie}")
    assert reply.status_code == 303
    assert 'proctor_attempt=""' in reply.headers["set-cookie"]
    desk.client.cookies.clear()
    # Where somebody kept all of it, the portal has given its code away.
    assert go(desk.client, mine, cookie=f"proctor_attempt={cookie}").status_code == 401
    assert go(desk.client, others).status_code == 403


def test_an_attempt_ends_after_a_quarter_of_an_hour_and_is_of_one_kind() -> None:
    now = 1_800_000_000.0
    attempts = Attempts(b"k" * 64, ADDRESS, lambda: now)
    attempt, cookie = attempts.begin("portal", "/runs?page=2")
    assert attempts.read("portal", cookie, attempt.state) == (attempt, "/runs?page=2")
    assert len({attempt.state, attempt.nonce, attempt.verifier, attempts.begin("portal", "/")[0].state}) == 4
    assert attempts.read("other", cookie, attempt.state) is None
    assert Attempts(b"l" * 64, ADDRESS, lambda: now).read("portal", cookie, attempt.state) is None
    now += 901
    assert attempts.read("portal", cookie, attempt.state) is None


def test_the_session_after_signing_in_is_new_and_the_one_before_has_ended(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    """Session fixation: a cookie that somebody planted, or knew, is worth nothing afterwards."""
    desk = open_desk()
    app: Any = desk.client.app
    away = go(desk.client, "/sign-in/portal").headers["location"]
    attempt = desk.client.cookies["proctor_attempt"]
    planted = app.state.sessions.start("chen")
    back = follow(away).removeprefix(ADDRESS)
    reply = go(desk.client, back, cookie=f"{SESSION_COOKIE}={planted}; proctor_attempt={attempt}")
    assert reply.status_code == 303
    begun = app.state.sessions.read(reply.cookies[SESSION_COOKIE])
    assert (begun.user_id, begun.kind) == ("cora", "portal")
    assert begun.session_id not in planted
    assert app.state.sessions.read(planted) is None
    # The same at the form.
    desk.client.cookies.clear()
    planted = app.state.sessions.start("dai")
    page = desk.client.get("/sign-in")
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', page.text)
    assert token is not None
    nonce = desk.client.cookies["proctor_form"]
    reply = desk.client.post(
        "/sign-in",
        data={"form_token": token[1], "user_id": "chen", "password": PASSWORD},
        headers={"cookie": f"{SESSION_COOKIE}={planted}; proctor_form={nonce}"},
        follow_redirects=False,
    )
    assert app.state.sessions.read(reply.cookies[SESSION_COOKIE]).user_id == "chen"
    assert app.state.sessions.read(planted) is None


def test_nobody_is_sent_to_another_site_after_coming_back(open_desk: OpenDesk, portal: PortalSite) -> None:
    desk = open_desk()
    for then in (
        "//evil.example",
        "/\\evil.example",
        "https://evil.example",
        "/a\nb",
        "\\/evil",
        "/" + "x" * 2000,
    ):
        assert come_back(desk.client, then).headers["location"] == "/", then
        desk.client.cookies.clear()
    reply = go(desk.client, "/sign-in/portal", host="evil.example")
    asked = parse_qs(urlsplit(reply.headers["location"]).query)
    assert asked["redirect_uri"] == [f"{ADDRESS}/sign-in/portal/back"]


def test_a_form_of_another_site_and_a_kind_that_is_not_offered_reach_nobody(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    desk = open_desk()
    back = follow(go(desk.client, "/sign-in/portal").headers["location"]).removeprefix(ADDRESS)
    posted = desk.client.post(back, headers={"origin": portal.url}, follow_redirects=False)
    assert posted.status_code == 403
    for path in ("/sign-in/password", "/sign-in/password/back", "/sign-in/other", "/sign-in/other/out"):
        assert go(desk.client, path).status_code == 404
    page = desk.client.get("/sign-in")
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', page.text)
    assert token is not None
    fields = {"form_token": token[1], "kind": "portal", "user_id": "cora"}
    assert desk.client.post("/sign-in", data=fields, follow_redirects=False).status_code == 404
    assert portal.redeemed == []


def test_whoever_has_no_work_here_learns_no_more_than_whom_the_portal_refused(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    desk = open_desk()
    with desk.ledger.write() as connection:
        users.write_activity(connection, "dai", is_active=False)
    replies = []
    for name in ("", "nobody", "dai", "candidate:alpha", "cora' or 1=1 --"):
        portal.name = name
        replies.append(come_back(desk.client))
    assert [reply.status_code for reply in replies] == [401] * 5
    assert len({re.sub(r'value="[^"]*"', "", reply.text) for reply in replies}) == 1
    assert SESSION_COOKIE not in desk.client.cookies
    # Written down of whom the ledger knows; a name that nobody has is not.
    assert read_entries(desk) == [
        (None, "sign_in", "dai", 401, "refused_by_portal"),
        (None, "sign_in", "candidate:alpha", 401, "refused_by_portal"),
    ]


def test_somebody_unknown_is_admitted_by_a_setting_and_given_nothing(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    desk = open_desk(sign_in_admits=True)
    portal.name = "New.Person@example.org"
    assert come_back(desk.client).status_code == 303
    assert read_role(desk, "new.person@example.org") == ("annotator", [])
    account, *_ = entries = read_entries(desk)
    assert account[0] is not None and account[0].startswith("os:"), "the installation made it, not its owner"
    assert [entry[1:] for entry in entries] == [
        ("add_user", "new.person@example.org", 200, None),
        ("sign_in", None, 200, "by_portal"),
    ]
    assert go(desk.client, "/runs").status_code == 403
    assert go(desk.client, "/coordination").status_code == 404
    plan = assign_batch(desk.ledger, "b2", make_frame([make_question(9)]), None, desk.settings, now_text())
    with desk.ledger.read() as connection:
        found = connection.exec_driver_sql(
            "SELECT DISTINCT annotator FROM review_assignments WHERE batch_id = 'b2'"
        ).all()
    assert plan is not None and ("new.person@example.org",) not in [tuple(row) for row in found]
    with desk.ledger.write() as connection:
        users.write_role(connection, "new.person@example.org", "annotator", disciplines=["Law"])
    assert go(desk.client, "/").status_code == 303  # who was given another role signs in again
    assert read_role(desk, "new.person@example.org") == ("annotator", ["Law"])


def test_no_account_is_made_that_looks_like_another_or_like_a_candidates(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    desk = open_desk(sign_in_admits=True)
    for name in ("candidate:beta", "os:root@here", "a b", "ａｄａ", "-ada", "a" * 121, "ada/..", "a\u200bda"):
        portal.name = name
        assert come_back(desk.client).status_code in (401, 503), name
        assert read_role(desk, name.lower()) is None
        desk.client.cookies.clear()


ROLES = {"exam-board": "admin", "exam-office": "examiner", "research": "analyst"}


def test_claims_give_the_role_that_the_setting_maps_them_to(open_desk: OpenDesk, portal: PortalSite) -> None:
    desk = open_desk(sign_in_admits=True, sign_in_roles=ROLES)
    cases: list[tuple[str, tuple[str, ...], Any]] = [
        ("ann", ("exam-office", "research"), ("examiner", None)),
        ("ann", ("research", "exam-board"), ("admin", None)),
        ("cora", ("research",), ("analyst", None)),
        ("cora", ("students",), ("annotator", [])),
        ("xu", (), ("annotator", [])),
        ("chen", (), ("annotator", None)),
        ("new", ("exam-office",), ("examiner", None)),
        ("newer", ("students",), ("annotator", [])),
    ]
    for name, groups, role in cases:
        portal.name, portal.groups = name, groups
        assert come_back(desk.client).status_code == 303
        assert read_role(desk, name) == role, (name, groups)
        desk.client.cookies.clear()


def test_without_the_setting_claims_change_nothing_and_a_candidate_stays_one(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    desk = open_desk()
    portal.name, portal.groups = "chen", ("exam-board",)
    assert come_back(desk.client).status_code == 303
    assert read_role(desk, "chen") == ("annotator", None)
    mapped = open_desk(sign_in_roles=ROLES)
    portal.name = "candidate:alpha"
    assert come_back(mapped.client).status_code == 401
    assert read_role(mapped, "candidate:alpha") == ("candidate", None)
    # Passwords name no claims: roles are then the ledger's.
    assert knock(mapped, "cora", PASSWORD).status_code == 303
    assert read_role(mapped, "cora") == ("admin", None)


def test_who_signs_out_is_led_to_sign_out_there_too(open_desk: OpenDesk, portal: PortalSite) -> None:
    desk = open_desk()
    come_back(desk.client)
    token = desk.client.get("/session").json()["form_token"]
    cookie = desk.client.cookies[SESSION_COOKIE]
    reply = desk.client.post("/sign-out", data={"form_token": token}, follow_redirects=False)
    assert reply.headers["location"] == "/sign-in?left=portal"
    page = desk.client.get(reply.headers["location"]).text
    assert 'href="/sign-in/portal/out"' in page
    assert go(desk.client, "/session", cookie=f"{SESSION_COOKIE}={cookie}").status_code == 303
    out = go(desk.client, "/sign-in/portal/out").headers["location"]
    assert out.startswith(f"{portal.url}/leave?")
    assert follow(out) == f"{ADDRESS}/sign-in"
    assert "/out" not in desk.client.get("/sign-in?left=//evil.example").text


def test_a_kind_that_is_offered_no_more_ends_its_sessions(open_desk: OpenDesk, portal: PortalSite) -> None:
    desk = open_desk()
    come_back(desk.client)
    cookie = desk.client.cookies[SESSION_COOKIE]
    without = open_desk(sign_in=("password",), sign_in_options={})
    headers = {"cookie": f"{SESSION_COOKIE}={cookie}"}
    assert Sessions(desk.ledger, desk.client.app.state.key).read(cookie) is not None  # type: ignore[attr-defined]
    assert without.client.get("/session", headers=headers, follow_redirects=False).status_code == 303


def test_without_passwords_no_form_is_shown_and_none_is_taken(
    open_desk: OpenDesk, portal: PortalSite
) -> None:
    desk = open_desk(sign_in=("portal",))
    page = desk.client.get("/sign-in").text
    assert "<form" not in page and 'type="password"' not in page
    assert desk.client.post("/sign-in", data={"user_id": "cora", "password": PASSWORD}).status_code == 404
    come_back(desk.client)
    shown = desk.client.get("/account").text
    assert 'type="password"' not in shown
    token = desk.client.get("/session").json()["form_token"]
    assert desk.client.post("/account", data={"form_token": token}).status_code == 404


def test_a_portal_that_fails_lets_nobody_in_counts_nothing_and_quotes_nothing(
    open_desk: OpenDesk, portal: PortalSite, caplog: pytest.LogCaptureFixture
) -> None:
    desk = open_desk()
    portal.status = 500
    with caplog.at_level(logging.DEBUG):
        for _ in range(12):
            reply = come_back(desk.client)
            assert reply.status_code == 503
            assert "does not answer as it should" in reply.text
        portal.status = 200
        assert come_back(desk.client).status_code == 303
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("proctor")]
    assert ours == ["sign-in by portal failed: HTTPError"] * 12
    assert not any("CODE-" in line or SECRET in line for line in ours)
    assert "CODE-" not in reply.text


def test_answers_that_are_wrong_are_counted_by_address(open_desk: OpenDesk, portal: PortalSite) -> None:
    desk = open_desk()
    statuses = []
    for _ in range(52):
        state = parse_qs(urlsplit(go(desk.client, "/sign-in/portal").headers["location"]).query)["state"][0]
        statuses.append(go(desk.client, f"/sign-in/portal/back?code=guess&state={state}").status_code)
    assert statuses == [401] * 50 + [429] * 2
    assert len(portal.redeemed) == 50
    assert knock(desk, "chen", PASSWORD).status_code == 303  # passwords are counted by themselves


class Pin:
    """A kind with a form, of another package: six digits and Proctor's own password."""

    title = help = {"en": "Password and code", "zh": "密码和验证码"}
    fields = (
        FormField("password", {"en": "Password", "zh": "密码"}),
        FormField("code", {"en": "Code", "zh": "验证码"}, is_secret=False, autocomplete="one-time-code"),
    )

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def read_form(self, form: Mapping[str, str], accounts: Accounts) -> Recognised | None:
        self.asked.append(form["user_id"])
        is_right = accounts.check_password(form["user_id"], form["password"])
        return Recognised(form["user_id"]) if is_right and form["code"] == "271828" else None


@pytest.fixture
def pin(monkeypatch: pytest.MonkeyPatch) -> Pin:
    kind = Pin()
    monkeypatch.setattr(SIGN_INS, "own", {**SIGN_INS.own, "pin": "unused:unused"})
    monkeypatch.setitem(SIGN_INS._loaded, "pin", lambda options: kind)
    return kind


def send(desk: Desk, name: str, password: str, **fields: str) -> Response:
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', desk.client.get("/sign-in").text)
    assert token is not None
    sent = {"form_token": token[1], "kind": "pin", "user_id": name, "password": password, **fields}
    return desk.client.post("/sign-in", data=sent, follow_redirects=False)


def test_guesses_at_the_form_of_another_package_are_counted_before_it_is_asked(
    make_desk: MakeDesk, pin: Pin
) -> None:
    desk = make_desk(given={"sign_in": ("pin",)})
    page = desk.client.get("/sign-in").text
    assert 'name="code" type="text" autocomplete="one-time-code"' in page
    assert send(desk, "chen", PASSWORD, code="1").status_code == 401
    assert send(desk, "chen", PASSWORD).status_code == 401
    for number in range(8):
        assert send(desk, "chen", PASSWORD, code=str(number)).status_code == 401
    assert send(desk, "chen", PASSWORD, code="271828").status_code == 429
    assert len(pin.asked) == 10
    assert send(desk, "dai", PASSWORD, code="271828").status_code == 303


@pytest.mark.parametrize("kind", ["password", "pin"])
def test_a_name_that_nobody_has_costs_the_same_work_as_one_that_somebody_has(
    make_desk: MakeDesk, pin: Pin, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Counted in hashes, not in time: argon2 is all that takes any."""
    work = list[str]()
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

    class Counting:
        def verify(self, stored: str, password: str) -> bool:
            work.append("verify")
            return bool(hasher.verify(stored, password))

        def hash(self, password: str) -> str:
            work.append("hash")
            return hasher.hash(password)

    desk = make_desk(given={"sign_in": ("password", "pin")})
    with desk.ledger.write() as connection:
        users.write_activity(connection, "eva", is_active=False)
    monkeypatch.setattr("deployments.auth.passwords._hasher", Counting())
    for name in ("nobody", "chen", "candidate:alpha", "eva", "", "x' or 1=1"):
        work.clear()
        reply = (
            send(desk, name, "a wrong password") if kind == "pin" else knock(desk, name, "a wrong password")
        )
        assert (reply.status_code, work) == (401, ["verify"]), name


class Leads:
    """A way to another site that sends people where nobody may be sent."""

    title = help = {"en": "There", "zh": "那里"}

    def __init__(self, address: Any) -> None:
        self.address = address

    async def begin(self, attempt: Any) -> Any:
        return self.address

    async def read_answer(self, attempt: Any, query: Mapping[str, str]) -> Any:
        return Recognised("co\nra")

    async def end(self, back: str) -> Any:
        return self.address


def test_nobody_is_sent_where_others_could_read_what_is_sent(
    make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    leads = Leads("")
    monkeypatch.setattr(SIGN_INS, "own", {**SIGN_INS.own, "leads": "unused:unused"})
    monkeypatch.setitem(SIGN_INS._loaded, "leads", lambda options: leads)
    desk = make_desk(given={"sign_in": ("leads",), "web_url": ADDRESS})
    for address in (
        *(
            "http://portal.example/",
            "javascript:alert(1)",
            "//portal.example",
            "/runs",
            "https://a@b.example",
        ),
        *(None, 7),
    ):
        leads.address = address
        reply = go(desk.client, "/sign-in/leads")
        assert (reply.status_code, "location" in reply.headers) == (503, False), address
        assert go(desk.client, "/sign-in/leads/out").headers["location"] == "/sign-in"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"sign_in": ("pasword",)},
            "There is no kind of sign-in 'pasword'. Did you mean 'password'\\? There are openid, password",
        ),
        (
            {"sign_in_options": {"portal": {"url": "x"}}},
            "has options of portal, which `sign_in` does not offer",
        ),
        ({"sign_in_options": {"password": {"length": "9"}}}, "'password' has no option length"),
        ({"sign_in": ("portal",), "web_url": ADDRESS}, "The portal needs the options"),
        (
            {"sign_in": ("portal",), "sign_in_options": {"portal": {"url": "x", "secret": "y"}}},
            "Set `web_url`",
        ),
        (
            {
                "sign_in": ("portal",),
                "sign_in_options": {"portal": {"url": "x", "secret": "y"}},
                "web_url": "http://desk.example",
            },
            "Set `web_url`",
        ),
    ],
)
def test_what_cannot_be_offered_is_said_before_the_server_starts(
    tmp_path: Path, portal: PortalSite, given: dict[str, Any], said: str
) -> None:
    from deployments.web import create_app

    with pytest.raises(UsageError, match=said):
        create_app(Settings(home=tmp_path, **given))


def test_options_of_a_kind_are_shown_by_nothing_that_prints_settings() -> None:
    settings = Settings(sign_in=("portal",), sign_in_options={"portal": {"secret": SECRET}})
    assert SECRET not in f"{settings!r} {settings} {settings.model_dump_json()}"
