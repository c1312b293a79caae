"""The live view in real Chromium while a run is sat.

Numbers move in two tabs, and nothing of it is there for an annotator.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from deployments.auth import hash_password
from schemas.settings import Settings
from tests.browser import needs_browser
from tests.deployments.web.watched_home import MODEL, REFERENCE, RUN, Watched, open_watched
from tests.e2e.test_web_desk import (  # noqa: F401 - two of them are fixtures
    DESKTOP,
    PASSWORD,
    PHONE,
    Reader,
    Server,
    browser,
    find_faults_of_access,
    server,
)
from warehouse.ledger.trust.users import write_password_hash

pytestmark = [*needs_browser, pytest.mark.long]


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with open_watched(tmp_path / "home") as opened:
        hashed = hash_password(PASSWORD)
        with opened.ledger.write() as connection:
            for name in ("xu", "anna", "chen"):
                write_password_hash(connection, name, hashed)
        yield opened


@pytest.fixture
def settings(watched: Watched) -> Settings:
    return watched.world.settings


def test_numbers_move_by_themselves_while_a_run_is_sat(
    watched: Watched,
    server: Server,  # noqa: F811
    browser: Browser,  # noqa: F811
) -> None:
    xu = Reader(browser, server, "xu", "en-US", DESKTOP)
    xu.page.goto(f"{server.address}/runs")
    other = xu.open_tab()
    other.goto(f"{server.address}/runs")
    counts = [page.locator("[data-candidate=alpha] [data-field=counted]") for page in (xu.page, other)]
    for count in counts:
        expect(count).to_have_text("0 / 6")
    faults = find_faults_of_access(xu.page)
    # Another process answers; nobody touches the pages. The tab that is behind moves when it is looked at.
    watched.answer(2, "Paris, since")
    expect(counts[1]).to_have_text("2 / 6")
    xu.page.bring_to_front()
    expect(counts[0]).to_have_text("2 / 6")
    # The server dies: the page says that it stands still, and moves again afterwards.
    server.kill()
    expect(xu.page.locator("#trouble")).to_contain_text("stand still")
    server.start()
    expect(xu.page.locator("#trouble")).to_be_hidden(timeout=60_000)

    # Down to the answer by keys alone, to what was written a moment ago.
    xu.tab_to("[data-candidate=alpha] a")
    xu.page.keyboard.press("Enter")
    xu.page.wait_for_selector(".answers")
    faults += find_faults_of_access(xu.page)
    xu.tab_to(".answers .whole")
    xu.page.keyboard.press("Enter")
    expect(xu.page.locator(".part.response")).to_contain_text("Paris, since")
    faults += find_faults_of_access(xu.page)

    # An analyst on a telephone, in Chinese and in the dark: nothing goes beyond the edge, and no reference is there.
    anna = Reader(browser, server, "anna", "zh-CN", PHONE)
    anna.page.emulate_media(color_scheme="dark")
    for path in ("/runs", f"/runs/{RUN}", "/results", f"/runs/{RUN}/answers?model={MODEL}"):
        anna.page.goto(server.address + path)
        assert anna.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        faults += find_faults_of_access(anna.page)
    anna.page.fill("input[name=text]", "Zanzibar")
    anna.page.keyboard.press("Enter")
    expect(anna.page.locator(".answers .whole")).to_have_count(3)
    assert "Zanzibar" not in anna.page.url
    anna.page.locator(".answers .whole").first.click()
    expect(anna.page.locator(".withheld")).to_be_visible()
    assert REFERENCE not in anna.page.content()
    assert anna.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    faults += find_faults_of_access(anna.page)

    # An annotator sees no way there, and gets nothing by the address.
    chen = Reader(browser, server, "chen", "en-US", DESKTOP)
    assert chen.page.locator("a[href^='/runs'], a[href^='/results']").count() == 0
    for path in ("/runs", "/runs/progress", f"/runs/{RUN}", f"/runs/{RUN}/answers?model={MODEL}"):
        reply = chen.page.goto(server.address + path)
        assert reply is not None
        assert reply.status == 403
        assert MODEL not in chen.page.content()
    assert faults == []
    complaints = [text for one in (xu, anna) for text in one.complaints]
    assert [text for text in complaints if "ERR_CONNECTION" not in text] == []
    assert not any(word in server.read_log() for word in ("Zanzibar", "Paris", REFERENCE))
