"""A held paper in real Chromium, corrected in a few clicks; the next one reads alone."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from schemas.settings import Settings
from tests.browser import needs_browser
from tests.e2e.test_web_desk import DESKTOP, Reader, Server, browser, server, settings
from tests.tasks.ingest.builders import make_docx, write
from tests.tasks.ingest.finnish_paper import FACTS, KNOWN, LATER, write_paper
from warehouse.lake import open_lake

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
    page.keyboard.press("g")
    expect(page.locator("#reason")).to_have_text("Kept. Its questions go to review.")
    clicks += 2
    seconds = time.monotonic() - begun
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
    assert cora.complaints == []
