"""Single sign-on: what a provider says of somebody is their role from each sign-in on."""

from __future__ import annotations

import logging

import pytest

from tests.deployments.auth.openid_provider import CLIENT, SECRET, serve_provider
from tests.deployments.web.conftest import MakeDesk
from tests.deployments.web.test_sign_in_kinds import ADDRESS, follow, go, read_entries, read_role


def test_the_provider_says_who_somebody_is_in_which_role_and_how_to_leave(
    make_desk: MakeDesk, caplog: pytest.LogCaptureFixture
) -> None:
    with serve_provider(f"{ADDRESS}/sign-in/openid/back") as provider:
        told = {"issuer": provider.url, "client_id": CLIENT, "client_secret": SECRET}
        desk = make_desk(
            given={
                "sign_in": ("openid",),
                "sign_in_options": {"openid": told | {"name_claim": "preferred_username"}},
                "sign_in_roles": {"exam-board": "admin", "research": "analyst"},
                "sign_in_teams": {"red-makers": "red"},
                "web_url": ADDRESS,
            }
        )
        desk.client.base_url = ADDRESS

        def come_back() -> int:
            desk.client.cookies.clear()
            away = go(desk.client, "/sign-in/openid")
            if away.status_code != 303:
                return away.status_code
            back = follow(away.headers["location"]).removeprefix(ADDRESS)
            return go(desk.client, back).status_code

        assert 'type="password"' not in desk.client.get("/sign-in").text
        # A member of a team sees runs, one who is of it no more does not.
        for groups, role, status in (
            (["exam-board"], "admin", 200),
            (["red-makers"], "annotator", 200),
            (["staff", "research"], "analyst", 200),
            ([], "annotator", 403),
        ):
            provider.groups["cora"] = groups
            assert come_back() == 303
            found = read_role(desk, "cora")
            assert found is not None and found[0] == role
            assert go(desk.client, "/runs").status_code == status
        assert go(desk.client, "/sign-in/openid/out").headers["location"].startswith(f"{provider.url}/leave?")
        provider.claims = {"aud": "another-client"}
        assert come_back() == 401
        provider.claims, provider.name = {}, "nobody-here"
        assert come_back() == 401
        with caplog.at_level(logging.ERROR, "proctor.web"):
            provider.method = "private_key_jwt"
            assert come_back() == 503
            provider.about = {"issuer": "https://another.example"}
            assert come_back() == 503
    assert [line.split(": ", 1)[1] for line in caplog.messages] == [
        "the provider gives no token (status 401, invalid_client): check `client_id` and `client_secret`",
        "the provider calls itself by another address than the option `issuer`; they must be equal to the letter",
    ]
    signed_in = [entry for entry in read_entries(desk) if entry[1] == "sign_in"]
    assert [entry[3:] for entry in signed_in] == [(200, "by_openid")] * 4


def test_a_name_that_an_account_has_in_other_letter_case_is_refused_like_any_other(
    make_desk: MakeDesk,
) -> None:
    with serve_provider(f"{ADDRESS}/sign-in/openid/back") as provider:
        told = {"issuer": provider.url, "client_id": CLIENT, "client_secret": SECRET}
        desk = make_desk(
            given={
                "sign_in": ("openid",),
                "sign_in_admits": True,
                "sign_in_options": {"openid": told | {"name_claim": "preferred_username"}},
                "web_url": ADDRESS,
            }
        )
        desk.client.base_url = ADDRESS
        for provider.name, status in (("Cora", 401), ("nobody-yet", 303)):
            back = follow(go(desk.client, "/sign-in/openid").headers["location"]).removeprefix(ADDRESS)
            assert go(desk.client, back).status_code == status
        assert read_role(desk, "Cora") is None
