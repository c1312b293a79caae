"""Fifteen questions with pictures on the desk in real Chromium, by keys and on a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from deployments.auth import hash_password
from schemas.settings import Settings
from tasks.review.assigning import assign_batch
from tests.browser import needs_browser
from tests.e2e.test_web_desk import (
    BATCH,
    DESKTOP,
    PASSWORD,
    PHONE,
    Reader,
    Server,
    browser,
    find_faults_of_access,
    server,
)
from tests.fresh import open_new_lake
from tests.tasks.ingest.kit import land_documents
from tests.tasks.ingest.test_pictures import draw, draw_pdf, save, say, show, write_word
from tests.tasks.review.kit import Annotator, read_decisions
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users

pytestmark = [*needs_browser, pytest.mark.slow]

__all__ = ["browser", "server"]

COUNT = 15


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A drawn circuit in a PDF and fourteen choices between pictures, for chen and dai."""
    settings = Settings(home=tmp_path / "home")
    folder = tmp_path / "papers"
    folder.mkdir()
    draw_pdf(folder / "a.pdf")
    blocks = [say("一、选择题")]
    pictures: dict[str, bytes] = {}
    for number in range(1, COUNT):
        blocks.append(
            say(f"{number}. 图中第 {number} 种元件的符号是（ ）", show(f"stem{number}", f"part {number}"))
        )
        blocks += [say(f"{letter}. ", show(f"option{letter}{number}")) for letter in "ABCD"]
        blocks.append(say("答案：B"))
        pictures[f"stem{number}"] = save(draw(f"part {number}", (300, 160)))
        pictures |= {f"option{letter}{number}": save(draw(f"{letter}{number}")) for letter in "ABCD"}
    write_word(folder / "b.docx", blocks, pictures)
    with open_new_lake(settings) as lake:
        land_documents(lake, settings, [folder], workers=1)
        frame = lake.query(
            "SELECT * EXCLUDE (landing_unit) FROM questions WHERE pictures IS NOT NULL ORDER BY document_name, position"
        )
    assert frame.height == COUNT
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.write() as connection:
            for name in ("chen", "dai", "eva"):
                users.add_user(
                    connection, user_id=name, role="annotator", password_hash=hash_password(PASSWORD)
                )
        assign_batch(ledger, BATCH, frame, [Annotator("chen"), Annotator("dai")], settings, now_text())
    return settings


def wait_until_shown(images: Locator) -> None:
    """Wait until every picture has arrived."""
    expect(images.first).to_be_visible()
    for image in images.all():
        image.scroll_into_view_if_needed()
        image.evaluate("image => image.decode()")


def find_circuit(reader: Reader) -> None:
    """Skip to the question of the PDF, by the key."""
    while "circuit" not in reader.read_stem():
        reader.press("s")


@pytest.mark.long
def test_pictures_are_seen_cut_described_and_moved_by_keys_alone(
    settings: Settings, server: Server, browser: Browser
) -> None:
    chen = Reader(browser, server, "chen", "en-US", DESKTOP)
    page = chen.page
    chen.begin("questions")
    find_circuit(chen)
    wait_until_shown(page.locator(".question .picture img"))
    faults = find_faults_of_access(page)

    # Enlarged and closed again: the question is still there, undecided.
    chen.tab_to("[data-enlarge]")
    page.keyboard.press("Enter")
    expect(page.locator("dialog.enlarged img")).to_be_visible()
    faults += find_faults_of_access(page)
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.enlarged")).to_have_count(0)
    assert "circuit" in chen.read_stem()

    # Cut out of the page again, by its edges.
    expect(page.locator(".original figure").first).to_be_visible()
    page.keyboard.press("e")
    before = page.locator(".picture-rows img").get_attribute("src")
    faults += find_faults_of_access(page)
    chen.tab_to(".picture-rows button[aria-label^='Cut out of the page']")
    page.keyboard.press("Enter")
    expect(page.locator("dialog.cut svg image")).to_be_visible()
    assert page.evaluate("document.activeElement.name") == "left"
    for edge in ("100", "130", "620", "320"):
        page.keyboard.press("Control+a")
        page.keyboard.type(edge)
        page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowUp")
    assert page.locator("dialog.cut input[name=bottom]").input_value() == "325"
    faults += find_faults_of_access(page)
    chen.tab_to("dialog.cut .main")
    page.keyboard.press("Enter")
    expect(page.locator("dialog.cut")).to_have_count(0)
    cut = page.locator(".picture-rows img").get_attribute("src")
    assert cut and cut != before
    wait_until_shown(page.locator(".picture-rows img"))

    # What it shows is written where the focus is; it is moved to another text by the list.
    page.keyboard.type("a circuit with R7 and 12 V")
    chen.tab_to(".picture-rows select")
    page.keyboard.press("ArrowUp")
    expect(page.locator("textarea[name=material]")).to_have_value("[picture:1]")
    expect(page.locator("textarea[name=stem]")).not_to_have_value(re.compile("picture"))
    chen.press("Control+Enter")
    chen.wait_until_saved()

    # The others are accepted by one key each.
    while page.locator("#finished").is_hidden():
        if page.locator(".card").get_attribute("data-seen"):
            # The corrected one comes once more where the next card was fetched before it was saved.
            if not page.locator(".card").get_attribute("data-next"):
                break
            chen.press("s")
            continue
        wait_until_shown(page.locator(".question .picture img"))
        assert page.locator(".question .picture img").count() == 5
        chen.press("a")
    chen.wait_until_saved()
    assert (faults, chen.complaints) == ([], [])
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        decided = [one for one in read_decisions(connection, BATCH) if one.annotator == "chen"]
    assert len(decided) == COUNT
    (edited,) = [one for one in decided if one.given.decision == "edit"]
    assert edited.given.edit is not None
    (picture,) = edited.given.edit.pictures or ()
    assert (picture.number, picture.sha256, picture.alt_text) == (
        1,
        cut.rpartition("/")[2],
        "a circuit with R7 and 12 V",
    )
    assert edited.given.edit.material == "[picture:1]"


@pytest.mark.long
def test_at_the_width_of_a_phone_all_are_accepted_by_keys_and_nothing_is_beyond_the_edge(
    settings: Settings, server: Server, browser: Browser
) -> None:
    dai = Reader(browser, server, "dai", "zh-CN", PHONE)
    page = dai.page
    dai.begin("questions")
    faults: list[str] = []
    sizes: set[int] = set()
    for _ in range(COUNT):
        images = page.locator(".question .picture img")
        wait_until_shown(images)
        if images.count() not in sizes:
            faults += find_faults_of_access(page)
            sizes.add(images.count())
            # Enlarged by keys, and as wide as the window allows.
            dai.tab_to("[data-enlarge]")
            page.keyboard.press("Enter")
            shown = page.locator("dialog.enlarged img")
            expect(shown).to_be_visible()
            box = shown.bounding_box()
            assert box is not None and 300 < box["width"] <= PHONE["width"]
            page.keyboard.press("Escape")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        for image in images.all():
            place = image.bounding_box()
            assert place is not None and place["x"] >= 0 and place["x"] + place["width"] <= PHONE["width"]
        dai.press("a")
    dai.wait_until_saved()
    assert page.locator("#finished").is_visible()
    assert sizes == {1, 5}
    assert (faults, dai.complaints) == ([], [])
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        decided = [one for one in read_decisions(connection, BATCH) if one.annotator == "dai"]
    assert [one.given.decision for one in decided] == ["accept"] * COUNT


@pytest.mark.long
def test_on_a_phone_a_picture_is_drawn_out_of_the_page_and_another_file_taken(
    settings: Settings, server: Server, browser: Browser, tmp_path: Path
) -> None:
    dai = Reader(browser, server, "dai", "zh-CN", PHONE)
    page = dai.page
    dai.begin("questions")
    find_circuit(dai)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    expect(page.locator(".original figure").first).to_be_visible()
    page.locator("[data-act=edit]").click()
    before = page.locator(".picture-rows img").get_attribute("src")
    page.locator(".picture-rows button", has_text="从页面截取").click()
    drawing = page.locator("dialog.cut svg")
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.13 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.3 * box["height"], steps=5)
    page.mouse.up()
    edges = [
        int(page.locator(f"dialog.cut input[name={name}]").input_value())
        for name in ("left", "top", "right", "bottom")
    ]
    assert [abs(one - wanted) <= 8 for one, wanted in zip(edges, (100, 130, 600, 300), strict=True)] == [
        True
    ] * 4
    faults = find_faults_of_access(page)
    page.locator("dialog.cut .main").click()
    expect(page.locator("dialog.cut")).to_have_count(0)
    drawn = page.locator(".picture-rows img").get_attribute("src")
    assert drawn != before
    # A file in its place, and one that is none.
    (tmp_path / "other.bmp").write_bytes(save(draw("other"), "BMP"))
    (tmp_path / "none.png").write_bytes(b"no picture")
    for name in ("none.png", "other.bmp"):
        with page.expect_file_chooser() as chooser:
            page.locator(".picture-rows button", has_text="用文件替换").click()
        chooser.value.set_files(tmp_path / name)
        if name == "none.png":
            expect(page.locator("[data-field=pictures] [role=status]")).to_contain_text("damaged")
    expect(page.locator(".picture-rows img")).not_to_have_attribute("src", str(drawn))
    page.locator(".picture-rows button", has_text="删除").click()
    expect(page.locator("textarea[name=stem]")).not_to_have_value(re.compile("picture"))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    faults += find_faults_of_access(page)
    complaints = [one for one in dai.complaints if "422" not in one]
    assert (faults, complaints) == ([], [])
