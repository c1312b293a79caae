"""An annotator's afternoon: keys and clicks per decision on 50 real questions.

The web desk is compared with the workbook and Label Studio.

The papers of the shared data are ingested and assigned as always. The web desk is worked in real Chromium and every key that is
pressed is counted. For the workbook the file that the annotator would get is written, and the steps that its cells need are
counted; for Label Studio those of its own labelling page, with hotkeys for the choices of our labelling config.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import openpyxl
from playwright.sync_api import Page, sync_playwright

from deployments.auth import hash_password
from schemas.settings import Settings
from tasks.review import read_unreviewed
from tasks.review.assigning import assign_batch
from tasks.review.channels import export_batch
from tests.browser import CHROMIUM
from tests.e2e.test_web_desk import PASSWORD, Server, wait_until_ready
from tests.tasks.review.kit import Annotator
from warehouse.lake import open_lake
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users

PROCTOR = str(Path(sys.executable).with_name("proctor"))
SHARED = Path(os.environ.get("PROCTOR_SHARED_DATA", "../shared/data"))
BATCH, WHO, COUNT = "2026-11-afternoon", "chen", 50
# Of ten questions one is rejected; of twenty-five one word of the stem is corrected. What cannot be accepted is completed
# where a key can be chosen, and rejected where an answer would have to be written.
REJECTED, CORRECTED = (3, 10), (7, 25)
# Label Studio's page for our config: a choice has a hotkey, Ctrl+Enter submits and the next task is loaded.
LABEL_STUDIO = {"accept": ("choice", "submit"), "reject": ("choice", "reason", "submit")}


def prepare(home: Path) -> Settings:
    """Ingest the papers and give 50 questions to one annotator.

    Half of them are of Chinese papers, where there are that many.
    """
    environment = os.environ | {"PROCTOR_HOME": str(home), "PROCTOR_QUIET": "1"}
    subprocess.run([PROCTOR, "init"], env=environment, check=True, capture_output=True)
    papers = sorted((SHARED / "exams").glob("*.doc*"))
    command = [PROCTOR, "ingest", "--no-server", *map(str, papers)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    settings = Settings(home=home, review_count=1)
    with open_lake(settings, read_only=True) as lake:
        rows = read_unreviewed(lake)
    chosen = (
        rows.sort("language", "document_name", "position")
        .gather_every(max(1, rows.height // COUNT))
        .head(COUNT)
    )
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.write() as connection:
            users.add_user(connection, user_id=WHO, role="annotator", password_hash=hash_password(PASSWORD))
        assign_batch(ledger, BATCH, chosen, [Annotator(WHO)], settings, now_text())
    return settings


class Hands:
    """Presses keys and counts them by what they were for.

    Text that is typed into a field is counted apart.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys: Counter[str] = Counter()
        self.decisions: Counter[str] = Counter()

    def decide(self, kind: str, *keys: str, typed: str = "") -> None:
        """Press the keys of a decision and wait until the next card is there."""
        before = self.page.locator(".card").get_attribute("data-reference")
        for key in keys:
            if key == "TEXT":
                self.page.keyboard.type(typed)
                continue
            self.keys[kind] += 1
            self.page.keyboard.press(key)
        self.decisions[kind] += 1
        self.page.wait_for_function(
            "before => !document.querySelector('#finished').hidden || document.querySelector('.card').dataset.reference !== before",
            arg=before,
        )


def work(page: Page, server: Server) -> Hands:
    """Decide everything in both queues as the plan says, by keys alone."""
    hands = Hands(page)
    page.goto(server.address)
    page.fill("[name=user_id]", WHO)
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_selector(".queues")
    place = 0
    for queue in ("questions", "unanswered"):
        page.goto(f"{server.address}/review/{BATCH}/next/{queue}")
        if page.locator(".card").count():
            wait_until_ready(page)
        while page.locator(".card").count() and page.locator("#finished").is_hidden():
            fault = page.locator(".card").get_attribute("data-accept-fault")
            has_options = page.locator(".question .options li").count() > 0
            if place % REJECTED[1] == REJECTED[0]:
                hands.decide("reject", "r", str(place % 6 + 1))
            elif fault and has_options and "answer" in fault:
                hands.decide("complete the key", "e", "Space", "Control+Enter")
            elif fault:
                hands.decide("reject", "r", "3")
            elif place % CORRECTED[1] == CORRECTED[0]:
                hands.decide("correct the stem", "e", "TEXT", "Control+Enter", typed=" (2026)")
            else:
                hands.decide("accept", "a")
            place += 1
    page.wait_for_function("() => !Object.keys(localStorage).some(key => key.startsWith('proctor.outbox'))")
    return hands


def count_workbook_steps(settings: Settings, folder: Path) -> tuple[float, float]:
    """Keys per accept and per reject in the workbook.

    They are what is typed, Enter or Tab, and rows of long cards to pass.
    """
    with open_ledger(settings.ledger_address) as ledger:
        (path,) = export_batch(ledger, BATCH, folder, language="zh")
    sheet = openpyxl.load_workbook(path).worksheets[0]
    rows = sum(1 for _ in sheet.iter_rows()) - 1
    passed = max(0, rows - COUNT) / COUNT
    # `y` and Enter; `n`, Tab, the shortest word for a reason (one that is understood), Enter, and back to the first column.
    return 2 + passed, 1 + 1 + len("不清") + 1 + 1 + passed


def main() -> None:
    """Print keys per decision, side by side."""
    with tempfile.TemporaryDirectory() as folder:
        settings = prepare(Path(folder) / "home")
        workbook = count_workbook_steps(settings, Path(folder) / "workbooks")
        server = Server(settings.home)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
                )
                page = browser.new_page(viewport={"width": 1400, "height": 900}, locale="zh-CN")
                started = time.perf_counter()
                hands = work(page, server)
                wall = time.perf_counter() - started
                counted = re.findall(r"\d+", page.locator("#counted").inner_text())
                browser.close()
        finally:
            server.end()
    total = sum(hands.decisions.values())
    print(
        f"\n## {total} real questions decided in the web desk in {wall:.0f} s of machine time; it shows {counted} decided\n"
    )
    print(f"{'':28}{'decisions':>10}{'keys':>6}{'each':>7}")
    for kind, count in hands.decisions.most_common():
        print(f"{kind:28}{count:>10}{hands.keys[kind]:>6}{hands.keys[kind] / count:>7.2f}")
    print(f"{'all':28}{total:>10}{sum(hands.keys.values()):>6}{sum(hands.keys.values()) / total:>7.2f}")
    print("\nkeys per decision (a chord counts as one; clicks: none needed)")
    print(f"{'':28}{'accept':>10}{'reject with reason':>20}")
    for name, accept, reject in (
        (
            "web desk (measured)",
            hands.keys["accept"] / hands.decisions["accept"],
            hands.keys["reject"] / hands.decisions["reject"],
        ),
        ("workbook (counted)", *workbook),
        ("Label Studio (counted)", len(LABEL_STUDIO["accept"]), len(LABEL_STUDIO["reject"])),
    ):
        print(f"{name:28}{accept:>10.2f}{reject:>20.2f}")


if __name__ == "__main__":
    main()
