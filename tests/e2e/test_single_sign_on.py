"""Single sign-on in real Chromium, at a provider of OpenID Connect made of Authlib.

Somebody signs in, out, and in again in another role; with a token for another client, or one that has ended, nobody does.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import needs_browser
from tests.deployments.auth.openid_provider import CLIENT, SECRET, serve_provider
from tests.deployments.test_cli import run
from tests.e2e.test_web_desk import DESKTOP, browser, find_faults_of_access
from tests.seams.test_third_party import serve_desk

pytestmark = [*needs_browser, pytest.mark.slow, pytest.mark.long]

__all__ = ["browser"]

ROLES = {"exam-board": "admin", "research": "analyst"}


def test_somebody_signs_in_at_a_provider_in_the_role_that_it_gives_them(
    tmp_path: Path, browser: Browser
) -> None:
    home = tmp_path / "home"
    assert run(home, "init", "--json").returncode == 0
    with serve_provider("") as provider:
        provider.name, provider.groups["cora"] = None, ["staff", "exam-board"]
        told = {
            "issuer": provider.url,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "title": "Example University",
        }
        settings = {
            "PROCTOR_SIGN_IN": '["openid"]',
            "PROCTOR_SIGN_IN_OPTIONS": json.dumps({"openid": told}),
            "PROCTOR_SIGN_IN_ADMITS": "true",
            "PROCTOR_SIGN_IN_ROLES": json.dumps(ROLES),
        }
        with serve_desk(home, tmp_path, **settings) as (address, written):
            provider.callback = f"{address}/sign-in/openid/back"
            page = browser.new_context(viewport=DESKTOP, locale="en-US").new_page()  # type: ignore[arg-type]
            complaints: list[str] = []
            page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)

            # The page that was asked for is shown after it.
            page.goto(f"{address}/coordination")
            faults = find_faults_of_access(page)
            sign_in(page, "cora")
            page.wait_for_url(f"{address}/coordination")
            assert list_roles(home) == {"cora@example.org": "admin"}

            # Out here, and there.
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_role("status")).to_contain_text("You are signed out here.")
            faults += find_faults_of_access(page)
            page.get_by_role("link", name="Sign out there, too (Example University)").click()
            page.wait_for_url(f"{address}/sign-in")
            assert "/leave" in provider.asked
            page.goto(f"{address}/coordination")
            page.wait_for_url(f"{address}/sign-in?**")

            # Another role there is another one here from the next sign-in on.
            provider.groups["cora"] = ["research"]
            sign_in(page, "cora")
            page.wait_for_url(f"{address}/coordination")
            expect(page.get_by_role("heading", level=1)).not_to_have_text("Coordination")
            page.goto(f"{address}/runs")
            assert list_roles(home) == {"cora@example.org": "analyst"}
            page.get_by_role("button", name="Sign out").click()

            # For another client; ended; signed by nobody: the same words, and no account.
            for claims in (
                {"aud": ["another-client"]},
                {"exp": int(time.time()) - 3600},
                {"nonce": "of another"},
            ):
                provider.claims = claims
                page.goto(f"{address}/sign-in?then=/runs")
                sign_in(page, "chen")
                expect(page.get_by_role("alert")).to_contain_text(
                    "You were not let in: nobody was recognised"
                )
                page.goto(f"{address}/runs")
                page.wait_for_url(f"{address}/sign-in?**")
            provider.claims = {}

            # A provider that takes back its client's secret is said in the log, without it.
            provider.method = "private_key_jwt"
            sign_in(page, "chen")
            expect(page.get_by_role("alert")).to_contain_text("does not answer as it should")
            assert list_roles(home) == {"cora@example.org": "analyst"}
    assert faults == []
    assert [one for one in complaints if "401" not in one and "404" not in one and "503" not in one] == []
    text = "".join(written)
    assert "sign-in by openid failed: the provider gives no token (status 401, invalid_client)" in text
    assert not any(secret in text for secret in (SECRET, "id_token", "eyJ", "code="))


def sign_in(page: Page, name: str) -> None:
    """Follow the link of the sign-in page, and say at the provider who one is."""
    page.get_by_role("link", name="Example University").click()
    page.get_by_role("button", name=name).click()


def list_roles(home: Path) -> dict[str, str]:
    rows = json.loads(run(home, "exam", "user", "list", "--json").stdout)
    return {row["user_id"]: row["role"] for row in rows}
