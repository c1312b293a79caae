"""A rater finishes a round of a calibration in real Chromium, by keys.

The round goes through a reload and a server that dies.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from deployments.auth import hash_password
from schemas.settings import Settings
from tasks.judging.calibration.ratings import DrawRequest, draw_calibration
from tests.browser import needs_browser
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
from tests.tasks.judging.calibration.rated_run import PEOPLE, RUN, open_rated_run
from warehouse.lake import Lake, open_lake
from warehouse.ledger.trust.users import write_password_hash

pytestmark = [*needs_browser, pytest.mark.slow, pytest.mark.long]


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    """A home with a round of twelve responses for three people to rate."""
    with open_rated_run(tmp_path / "home") as (settings, ledger, lake):
        draw_calibration(ledger, lake, DrawRequest(RUN, "first", 1, 12, PEOPLE))
        with ledger.write() as connection:
            write_password_hash(connection, "ann", hash_password(PASSWORD))
    yield settings


def read_stars(lake: Lake) -> list[float]:
    query = "SELECT value FROM human_ratings WHERE landing_unit = 'calibration/first/1/ann' ORDER BY value"
    return lake.query(query).to_series().to_list()


def press(reader: Reader, key: str) -> None:
    """Give a mark and wait for the next card."""
    before = reader.page.locator(".card").get_attribute("data-key")
    reader.page.keyboard.press(key)
    reader.page.wait_for_function(
        "before => !document.querySelector('#finished').hidden || document.querySelector('.card').dataset.key !== before",
        arg=before,
    )


def test_a_rater_finishes_a_round(settings: Settings, server: Server, browser: Browser) -> None:  # noqa: F811
    ann = Reader(browser, server, "ann", "en-US", DESKTOP)
    ann.page.goto(f"{server.address}/marks")
    faults = find_faults_of_access(ann.page)
    ann.tab_to("a[href^='/marks/']")
    ann.page.keyboard.press("Enter")
    ann.page.wait_for_selector(".mark-card")
    faults += find_faults_of_access(ann.page)
    for key in ("3", "2"):
        press(ann, key)
    # Back to the last one: it shows what was given, and takes another mark.
    press(ann, "u")
    expect(ann.page.locator("button[data-mark='2']")).to_have_attribute("aria-pressed", "true")
    press(ann, "1")
    ann.wait_until_saved()
    ann.page.reload()
    expect(ann.page.locator("#counted")).to_have_text("2 of 8 marked")
    ann.page.wait_for_function("() => history.state?.key")  # the keys come with the script

    # The server dies; a mark is given all the same, kept, and sent when it is there again.
    server.kill()
    ann.page.keyboard.press("0")
    expect(ann.page.locator("#notice")).to_contain_text("kept in this browser")
    server.start()
    ann.wait_until_saved()

    # The rest on a telephone, in Chinese, by touch.
    phone = Reader(browser, server, "ann", "zh-CN", PHONE)
    phone.page.goto(f"{server.address}/marks")
    phone.page.get_by_role("link", name="继续").click()
    phone.page.wait_for_selector(".mark-card")
    faults += find_faults_of_access(phone.page)
    expect(phone.page.locator("#counted")).to_have_text("已评 3 / 8")
    for _ in range(5):
        assert phone.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        before: Any = phone.page.locator(".card").get_attribute("data-key")
        phone.page.locator("button[data-mark='3']").click()
        phone.page.wait_for_function(
            "before => !document.querySelector('#finished').hidden || document.querySelector('.card').dataset.key !== before",
            arg=before,
        )
    expect(phone.page.locator("#finished")).to_contain_text("已全部完成")
    phone.wait_until_saved()
    with open_lake(settings, read_only=True) as lake:
        assert read_stars(lake) == [0, 1, 3, 3, 3, 3, 3, 3]
    assert faults == []
    complaints = [text for one in (ann, phone) for text in one.complaints]
    # What a server leaves that is killed: nobody there, or a reply that was cut off on its way.
    left = ("ERR_CONNECTION_REFUSED", "ERR_CONTENT_LENGTH_MISMATCH", "ERR_EMPTY_RESPONSE")
    assert [text for text in complaints if not any(word in text for word in left)] == []
    assert "Statement" not in server.read_log()
