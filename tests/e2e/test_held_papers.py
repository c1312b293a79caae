"""A held paper in real Chromium, corrected in a few clicks; the next one reads alone."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import func, select

from schemas.settings import Settings
from tests.browser import needs_browser
from tests.e2e.test_web_desk import (
    DESKTOP,
    PHONE,
    Reader,
    Server,
    browser,
    find_faults_of_access,
    server,
    settings,
)
from tests.tasks.ingest.builders import make_docx, write
from tests.tasks.ingest.finnish_paper import FACTS, KNOWN, LATER, write_paper
from tests.tasks.ingest.test_assistance import UNNUMBERED
from tests.tasks.ingest.test_pictures import CHOICES, PICTURES, write_word
from tests.tasks.models.simulation import start_server
from warehouse.lake import open_lake
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.engine.tables import llm_calls

__all__ = ["browser", "server", "settings"]
pytestmark = [*needs_browser, pytest.mark.slow]

MOST_CLICKS, MOST_SECONDS = 12, 30


def ingest(settings: Settings, folder: Path, warm: Path) -> dict[str, int]:
    """What became of the papers of a folder that were not known, by status."""
    found = subprocess.run(
        [str(warm / "proctor"), "ingest", str(folder), "--no-server", "--json"],
        env=os.environ | {"PROCTOR_HOME": str(settings.home)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    counts: dict[str, int] = json.loads(found.stdout)["documents"]
    return counts


@pytest.mark.long
def test_a_held_paper_is_corrected_in_a_few_clicks_and_the_next_of_its_source_reads_alone(
    tmp_path: Path, settings: Settings, server: Server, browser: Browser, warm: Path
) -> None:
    folder = tmp_path / "finland"
    folder.mkdir()
    write(folder, "syksy.docx", make_docx(write_paper().split("\n")))
    assert ingest(settings, folder, warm) == {"held": 1}

    cora = Reader(browser, server, "cora", "en", DESKTOP)
    page = cora.page
    page.get_by_role("link", name="Held papers").click()
    expect(page.locator("td").filter(has_text="announces 7 questions")).to_be_visible()
    page.get_by_role("link", name="finland/syksy.docx").click()
    expect(page.locator("#count")).to_have_text(f"Questions found: {len(KNOWN)}")

    begun, clicks = time.monotonic(), 0
    for begin, keys in (("Osa: valitse", "1"), ("T/1/", "n"), ("» Turku", "o"), ("Oikeat rivit", "k")):
        page.locator("#lines li").filter(has_text=begin).first.click()
        page.keyboard.press(keys)
        clicks += 2
    page.keyboard.press("r")
    expect(page.locator("#count")).to_have_text(f"Questions found: {len(KNOWN) + len(FACTS)}")
    seconds = time.monotonic() - begun
    # Signed out and in again meanwhile: the marks are there, and are kept in the end.
    cora.context.clear_cookies()
    page.keyboard.press("g")
    expect(page.locator("#reason")).to_contain_text("Sign in again in another tab")
    left, cora.page = cora.page, cora.open_tab()
    cora.sign_in("cora")
    left.keyboard.press("g")
    expect(page.locator("#reason")).to_have_text("Kept. Its questions go to review.")
    clicks += 2
    assert clicks <= MOST_CLICKS
    assert seconds <= MOST_SECONDS
    shown = page.locator("#questions article").all_inner_texts()
    for text, (stem, options, key) in zip(shown[len(KNOWN) :], FACTS, strict=True):
        assert stem in text
        assert all(option in text for option in options)
        assert f"Answer: {key}" in text

    write(folder, "talvi.docx", make_docx(write_paper(LATER).split("\n")))
    assert ingest(settings, folder, warm) == {"parsed": 1}
    with open_lake(settings, read_only=True) as lake:
        rows = lake.query(
            "select stem, answer from questions where document_name = 'talvi.docx' order by position"
        ).rows()
        assert rows[len(KNOWN) :] == [(stem, [key]) for stem, _, key in LATER]
        waiting = lake.read("unreviewed_questions")["document_name"].to_list()
        assert {name: waiting.count(name) for name in waiting} == {"syksy.docx": 7, "talvi.docx": len(LATER)}
    page.goto(f"{server.address}/papers")
    expect(page.get_by_text("No paper is held.")).to_be_visible()
    assert [one for one in cora.complaints if not one.endswith(("(Unauthorized)", "(Forbidden)"))] == []


@pytest.mark.long
def test_pictures_of_a_held_paper_are_shown_and_enlarged_where_its_texts_name_them(
    tmp_path: Path, settings: Settings, server: Server, browser: Browser, warm: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    write_word(folder / "circuits.docx", CHOICES, PICTURES)
    ingest(settings, folder, warm)
    with open_lake(settings, read_only=True) as lake:
        document = lake.query("SELECT document_id FROM documents").item()
    for language, size in (("en", DESKTOP), ("zh-CN", PHONE)):
        cora = Reader(browser, server, "cora", language, size)
        page = cora.page
        page.goto(f"{server.address}/papers/{document}")
        pictures = page.locator("#questions article .picture img")
        expect(pictures).to_have_count(6)
        expect(page.locator("#questions")).not_to_contain_text("[picture:")
        for picture in pictures.all():
            picture.scroll_into_view_if_needed()
            page.wait_for_function(
                "one => one.complete && one.naturalWidth > 0", arg=picture.element_handle()
            )
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert find_faults_of_access(page) == []
        pictures.first.click()
        expect(page.locator("dialog.enlarged img")).to_be_visible()
        # What marks a line in the page does not through the window over it.
        page.keyboard.press("n")
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        assert page.locator("#lines li[data-role=number]").count() == 0
        assert cora.complaints == []


@pytest.fixture
def reader(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A simulated model that may read papers, within a budget of five dollars a month."""
    monkeypatch.setenv("PROCTOR_BUDGET_USD", "5")
    with start_server(reader={"kind": "generator"}) as provider:
        settings.registry_path.write_text(
            f"""
providers:
  lab: {{base_url: "{provider.url}", is_simulated: true}}
models:
  reader: {{organisation: Lab, provider: lab, roles: [generator], input_price_usd: 1.0, output_price_usd: 2.0,
    parameters: {{max_tokens: 2000}}}}
""",
            encoding="utf-8",
        )
        yield


@pytest.mark.long
def test_a_held_paper_is_read_by_a_model_without_a_mouse_after_the_page_said_what_it_costs(
    tmp_path: Path, settings: Settings, reader: None, server: Server, browser: Browser, warm: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder, "tides.docx", make_docx(UNNUMBERED.split("\n")))
    assert ingest(settings, folder, warm) == {"no_questions": 1}

    phone = Reader(browser, server, "cora", "zh-CN", PHONE)
    phone.page.goto(f"{server.address}/papers")
    phone.page.get_by_role("link", name="papers/tides.docx").click()
    phone.page.locator("#second summary").click()
    phone.page.locator("#second-cost").click()
    expect(phone.page.locator("#second-terms")).to_contain_text(
        "试卷的全部文本将离开本机构，发送给 Lab 的 reader"
    )
    assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert find_faults_of_access(phone.page) == []

    cora = Reader(browser, server, "cora", "en", DESKTOP)
    page = cora.page
    page.goto(phone.page.url)
    expect(page.locator("#count")).to_have_text("Questions found: 0")
    page.keyboard.press("m")
    cora.tab_to("#second-cost")
    page.keyboard.press("Enter")
    expect(page.locator("#second-terms")).to_contain_text("leave this house for reader of Lab, at 127.0.0.1")
    expect(page.locator("#second-terms")).to_contain_text("5.00 of this month's 5.00 USD are left")
    expect(page.locator("#second-send")).to_be_focused()
    assert find_faults_of_access(page) == []
    page.keyboard.press("Enter")
    expect(page.locator("#second-state")).to_contain_text("for cora", timeout=120_000)
    expect(page.locator("#count")).to_have_text("Questions found: 2", timeout=120_000)
    expect(page.locator("#second-state")).to_have_text(
        "reader has read this paper for cora: 2 questions, which go to review."
    )
    assert "Answer: B" in page.locator("#questions article").first.inner_text()
    # Who had the page open all the time is told, and their stale page starts nothing.
    phone.page.locator("#second-send").click()
    expect(phone.page.locator("#second-terms")).to_contain_text("不会再交给模型")
    with open_lake(settings, read_only=True) as lake:
        assert lake.read("unreviewed_questions")["document_name"].to_list() == ["tides.docx"] * 2
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        assert connection.execute(select(func.count()).select_from(llm_calls)).scalar_one() == 1
    assert cora.complaints == []
