"""The web desk in real Chromium.

Two annotators and an adjudicator finish a batch through whatever happens to them.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from deployments.auth import hash_password
from schemas.settings import Settings
from tasks.review import close_batch
from tasks.review.assigning import assign_batch
from tasks.review.decisions import Decision, GivenDecision
from tasks.review.desk import publish_guidelines
from tasks.review.recording import Submission, record
from tests.browser import CHROMIUM, needs_browser
from tests.fresh import open_new_lake
from tests.tasks.review.conftest import make_frame, make_question
from tests.tasks.review.kit import Annotator, read_decisions
from tests.warm import WarmProcess
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.review import assigning
from warehouse.ledger.trust import users

pytestmark = [*needs_browser, pytest.mark.slow]

PASSWORD, BATCH = "correct horse battery", "2026-11-desk"
SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
DESKTOP, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 800}
SCRIPT = "<img src=x onerror=\"document.body.dataset.stolen='1'\">"
QUESTIONS = [
    make_question(1),
    make_question(2, stem=f"Which of these is not a script? {SCRIPT}"),
    make_question(3, language="zh", stem="第3题：设 $f(x)=x^2$，则 f(1) 等于（　　）", parse_notes=["key_by_format"]),
    make_question(4, question_type="short_answer", options=[], answer=["Because it is continuous."], material="A long text. " * 60),
    make_question(5, answer=[]),
]  # fmt: skip


class Server:
    """`proctor web` as a process that can be killed and started again on its port."""

    def __init__(self, home: Path, warm: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"
        self._home, self._proctor = home, str(warm / "proctor")
        self._log = (home.parent / "web.log").open("w")
        self.start()

    def start(self) -> None:
        self._process = WarmProcess(
            [self._proctor, "web", "--port", str(self.port)],
            env=os.environ
            | {
                "PROCTOR_HOME": str(self._home),
                "PROCTOR_NO_SERVER": "1",
                "PROCTOR_REVIEW_DAILY_QUOTA": "2",
            },
            stdout=self._log,
            stderr=self._log,
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(urllib.error.URLError), urllib.request.urlopen(f"{self.address}/sign-in"):
                return
            time.sleep(0.1)
        raise AssertionError("proctor web does not answer")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self.kill()
        self._log.close()

    def read_log(self) -> str:
        return Path(self._log.name).read_text()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A home with a batch of five questions for chen and dai.

    Eva settles what they dispute.
    """
    settings = Settings(home=tmp_path / "home")
    open_new_lake(settings).close()
    hashed = hash_password(PASSWORD)
    with open_ledger(settings.ledger_address) as ledger:
        with ledger.write() as connection:
            for name, role in (
                ("chen", "annotator"),
                ("dai", "annotator"),
                ("eva", "annotator"),
                ("cora", "admin"),
            ):
                users.add_user(connection, user_id=name, role=role, password_hash=hashed)
        reviewers = [Annotator("chen"), Annotator("dai")]
        assign_batch(ledger, BATCH, make_frame(QUESTIONS), reviewers, settings, now_text())
    return settings


@pytest.fixture
def server(settings: Settings, warm: Path) -> Iterator[Server]:
    started = Server(settings.home, warm)
    yield started
    started.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # However busy the machine is; five seconds are what is waited for otherwise.
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def _nobody_stays_at_the_browser(browser: Browser) -> Iterator[None]:
    yield
    for context in browser.contexts:
        context.close()


class Reader:
    """Somebody at a browser, who presses keys; what their consoles complain of is kept."""

    def __init__(
        self, browser: Browser, server: Server, name: str, language: str, size: dict[str, int]
    ) -> None:
        self.context: BrowserContext = browser.new_context(viewport=size, locale=language)  # type: ignore[arg-type]
        self.complaints: list[str] = []
        self.server = server
        self.page = self.open_tab()
        self.sign_in(name)

    def sign_in(self, name: str) -> None:
        """Sign in in the same tab; whoever was signed in there has left."""
        self.context.clear_cookies()
        self.page.goto(self.server.address)
        # The field of the name has the focus already: no mouse is needed.
        self.page.wait_for_function("() => document.activeElement.name === 'user_id'")
        for key in (name, "Tab", PASSWORD, "Enter"):
            self.page.keyboard.press(key) if key in ("Tab", "Enter") else self.page.keyboard.type(key)
        self.page.wait_for_url(lambda address: "sign-in" not in address)

    def open_tab(self) -> Page:
        page = self.context.new_page()
        page.on(
            "console",
            lambda message: self.complaints.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        return page

    def tab_to(self, selector: str) -> None:
        """Press Tab until the element has the focus, as who has no mouse does."""
        for _ in range(40):
            self.page.keyboard.press("Tab")
            if self.page.evaluate(f"document.activeElement.matches({selector!r})"):
                return
        raise AssertionError(f"{selector} cannot be reached by Tab")

    def begin(self, queue: str) -> None:
        self.page.goto(f"{self.server.address}/")
        self.tab_to(f"a[href$='next/{queue}']")
        self.page.keyboard.press("Enter")
        wait_until_ready(self.page)

    def read_stem(self) -> str:
        return self.page.locator(".part.stem .text").inner_text()

    def press(self, *keys: str) -> None:
        """Press keys, then wait for the next card: nobody confirms, nobody goes on by hand."""
        before = self.page.locator(".card").get_attribute("data-reference")
        for key in keys:
            self.page.keyboard.press(key)
        self.page.wait_for_function(
            "before => !document.querySelector('#finished').hidden || document.querySelector('.card').dataset.reference !== before",
            arg=before,
        )

    def wait_until_saved(self, *, besides: str = "") -> None:
        """Wait until nothing waits to be sent, but for a box of somebody else's."""
        self.page.wait_for_function(
            "besides => !Object.keys(localStorage).some(key => key.startsWith('proctor.outbox') && key !== besides)",
            arg=besides,
        )


def wait_until_ready(page: Page) -> None:
    """Wait until the page hears keys; its buttons are switched off before."""
    page.wait_for_selector(".decide [data-act=accept]:enabled")


def read_decided(settings: Settings) -> dict[tuple[str, int], Decision]:
    places = {row["question_uuid"]: place for place, row in enumerate(QUESTIONS, start=1)}
    with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
        return {(one.annotator, places[one.question_uuid]): one for one in read_decisions(connection, BATCH)}


def find_faults_of_access(page: Page) -> list[str]:
    """What axe-core finds that is serious or critical, by rule and place.

    Colours are looked at in dark and in light, all else once.
    """
    from axe_playwright_python.base import AXE_FILE_PATH

    page.evaluate(Path(AXE_FILE_PATH).read_text("utf-8"))
    faults: list[str] = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        rules = "" if scheme == SCHEMES[0] else "runOnly: ['color-contrast'], "
        found: dict[str, Any] = page.evaluate(f"axe.run({{{rules}resultTypes: ['violations']}})")
        faults += [
            f"{page.url} ({scheme}): {rule['id']} {node['target']}"
            for rule in found["violations"]
            if rule["impact"] in ("serious", "critical")
            for node in rule["nodes"]
        ]
    return faults


def test_two_annotators_and_an_adjudicator_finish_a_batch(
    settings: Settings, server: Server, browser: Browser
) -> None:
    faults: list[str] = []
    chen = Reader(browser, server, "chen", "en-US", DESKTOP)
    faults += find_faults_of_access(chen.page)
    chen.begin("questions")
    faults += find_faults_of_access(chen.page)
    assert chen.page.evaluate("document.body.dataset.stolen") is None

    # One key accepts and moves on, however long it is held; two reject with a reason.
    assert chen.read_stem().startswith("A shelf of 1 rows")
    for _ in range(4):
        chen.page.keyboard.down("a")
        chen.page.wait_for_timeout(100)
    chen.page.keyboard.up("a")
    expect(chen.page.locator(".part.stem .text")).to_contain_text(SCRIPT)
    chen.press("r", "3")
    # That was the day's share: it is said once, and holds nothing back.
    expect(chen.page.locator("#notice")).to_contain_text("Today's 2 are done (2)")
    faults += find_faults_of_access(chen.page)
    chen.page.locator("#notice").get_by_role("button").click()

    # A correction is begun; the page is loaded again in the middle of it; the correction is still there.
    assert "第3题" in chen.read_stem()
    chen.page.keyboard.press("e")
    chen.page.keyboard.press("Control+Enter")
    expect(chen.page.locator(".faults")).to_contain_text("Nothing is changed yet.")
    chen.page.keyboard.type(" 吗？")
    expect(chen.page.locator("[data-field=stem] ins")).to_have_text(" 吗？")
    faults += find_faults_of_access(chen.page)
    chen.page.reload()
    expect(chen.page.locator("[data-field=stem] ins")).to_have_text(" 吗？")
    chen.page.locator("textarea[name=stem]").focus()
    chen.press("Control+Enter")

    # The server dies; a decision is given all the same, kept, and sent when it is there again.
    assert "A long text." in chen.page.locator(".part.material").inner_text()
    server.kill()
    chen.page.keyboard.press("a")
    expect(chen.page.locator("#notice")).to_contain_text("kept in this browser")
    chen.page.wait_for_timeout(300)
    server.start()
    chen.wait_until_saved()
    # The card without an answer waits in a queue of its own; it cannot be accepted, but completed.
    chen.begin("unanswered")
    chen.page.keyboard.press("a")
    expect(chen.page.locator("#notice")).to_contain_text("the answer is empty")
    chen.page.keyboard.press("e")
    expect(chen.page.locator(".option-rows input").first).to_be_focused()
    chen.page.keyboard.press("Space")
    chen.press("Control+Enter")
    chen.wait_until_saved()
    assert {place: one.given.decision for (_, place), one in read_decided(settings).items()} == {
        1: "accept", 2: "reject", 3: "edit", 4: "accept", 5: "edit",
    }  # fmt: skip

    # Undo goes back to the last one; what is pressed there takes its place.
    chen.page.keyboard.press("u")
    expect(chen.page.locator(".own")).to_contain_text("Edit")

    # Two windows on one question: the later one is told, and overwrites nothing until it is asked to.
    first = f"{server.address}/review/{BATCH}/list/questions"
    chen.page.goto(first)
    chen.page.get_by_role("link", name="A shelf of 1").click()
    wait_until_ready(chen.page)
    other = chen.open_tab()
    other.goto(chen.page.url)
    wait_until_ready(other)
    other.keyboard.press("r")
    other.keyboard.press("4")
    other.wait_for_function("() => document.querySelector('#state').textContent === 'Saved'")
    other.close()
    assert read_decided(settings)["chen", 1].given.reject_reason == "duplicate"
    chen.page.keyboard.press("r")
    chen.page.keyboard.press("1")
    expect(chen.page.locator("#notice")).to_contain_text("Reject · Duplicate")
    assert read_decided(settings)["chen", 1].given.reject_reason == "duplicate"
    chen.page.get_by_role("button", name="Put mine in its place").click()
    chen.wait_until_saved()
    assert read_decided(settings)["chen", 1].given.reject_reason == "factual_error"

    # The second annotator works in Chinese on a telephone, by touch; nothing goes beyond the edge.
    dai = Reader(browser, server, "dai", "zh-CN", PHONE)
    dai.begin("questions")
    faults += find_faults_of_access(dai.page)
    for _ in range(4):
        assert dai.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        before = dai.page.locator(".card").get_attribute("data-reference")
        dai.page.get_by_role("button", name="通过").click()
        dai.page.wait_for_function(
            "before => !document.querySelector('#finished').hidden || document.querySelector('.card').dataset.reference !== before",
            arg=before,
        )
    dai.wait_until_saved()
    dai.begin("unanswered")
    dai.page.get_by_role("button", name="修改").click()
    assert dai.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    dai.page.locator(".option-rows input").nth(1).check()
    dai.page.get_by_role("button", name=re.compile("保存修改")).click()
    dai.wait_until_saved()

    # chen rejected 1 and 2, both corrected 5 differently: three disputes, settled with both opinions side by side.
    eva = Reader(browser, server, "eva", "en-US", DESKTOP)
    eva.begin("disputes")
    opinions = eva.page.locator(".opinion")
    expect(opinions).to_have_count(2)
    boxes = [opinions.nth(place).bounding_box() for place in (0, 1)]
    assert boxes[0] and boxes[1] and boxes[0]["y"] == boxes[1]["y"]
    faults += find_faults_of_access(eva.page)
    eva.press("a")
    eva.press(".")
    eva.page.keyboard.press("e")
    eva.page.keyboard.press("Space")
    eva.press("Control+Enter")
    eva.wait_until_saved()

    # What follows the last decision begins by itself, in a process of its own.
    cora = Reader(browser, server, "cora", "zh-CN", DESKTOP)
    faults += find_faults_of_access(cora.page)
    cora.page.goto(f"{server.address}/coordination/{BATCH}")
    faults += find_faults_of_access(cora.page)
    deadline = time.monotonic() + 60
    status = ""
    while status != "closed" and time.monotonic() < deadline:
        time.sleep(0.2)
        with open_ledger(settings.ledger_address) as ledger, ledger.read() as connection:
            batch = assigning.read_batch(connection, BATCH)
            status = "" if batch is None else batch.status
    assert status == "closed"

    channels = {key: one.channel for key, one in read_decided(settings).items()}
    assert len(channels) == 13
    assert {who: {channel for (name, _), channel in channels.items() if name == who} for who in ("chen", "eva")} == {
        "chen": {"web"}, "eva": {"adjudication"},
    }  # fmt: skip
    assert faults == []
    allowed = ("ERR_CONNECTION_", "status of 409")
    complaints = [text for one in (chen, dai, eva, cora) for text in one.complaints]
    assert [text for text in complaints if not any(word in text for word in allowed)] == []
    assert "shelf" not in server.read_log()


@pytest.mark.long
def test_guidelines_similar_questions_and_a_conversation_need_no_mouse(
    settings: Settings, server: Server, browser: Browser
) -> None:
    """What changed is read once; a question is asked, kept through a dead server, and answered."""
    alike = make_question(90, stem=QUESTIONS[0]["stem"].replace("1 rows", "4 rows"))
    with open_ledger(settings.ledger_address) as ledger:
        reviewers = [Annotator("dai"), Annotator("eva")]
        assign_batch(ledger, "2026-10-early", make_frame([alike]), reviewers, settings, now_text())
        given = [GivenDecision(alike["question_uuid"], "reject", "factual_error", "No such shelf.")]
        handed_in = [
            Submission("file", "2026-10-early", name, "reviewer", "workbook", given)
            for name in ("dai", "eva")
        ]
        assert not record(ledger, handed_in, now_text()).refusals
        close_batch(ledger, "2026-10-early", now_text())
        publish_guidelines(ledger, "A missing figure is unclear.", now_text(), changes_zh="缺图即表述不清。")
    chen = Reader(browser, server, "chen", "zh-CN", PHONE)
    expect(chen.page.locator("main")).to_contain_text("缺图即表述不清。")
    faults = find_faults_of_access(chen.page)
    chen.page.keyboard.press("Enter")
    chen.page.wait_for_url(lambda address: "guidelines" not in address)
    chen.begin("questions")
    expect(chen.page.locator(".similar summary")).to_contain_text("退回 事实错误")
    chen.tab_to(".similar summary")
    chen.page.keyboard.press("Enter")
    expect(chen.page.locator(".similar details")).to_contain_text("No such shelf.")
    faults += find_faults_of_access(chen.page)
    assert chen.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    # What could not be sent is kept, through a reload as well.
    chen.page.keyboard.press("q")
    chen.page.keyboard.type("Is the shelf drawn?")
    server.kill()
    chen.page.keyboard.press("Control+Enter")
    expect(chen.page.locator(".ask [role=status]")).to_contain_text("尚未发送")
    server.start()
    chen.page.reload()
    expect(chen.page.locator(".ask textarea")).to_have_value("Is the shelf drawn?")
    chen.page.locator(".ask textarea").focus()
    chen.page.keyboard.press("Control+Enter")
    expect(chen.page.locator(".messages li")).to_have_count(1)
    expect(chen.page.locator(".ask textarea")).to_be_focused()
    chen.page.keyboard.press("Escape")
    expect(chen.page.locator(".card")).to_be_focused()

    cora = Reader(browser, server, "cora", "en-US", DESKTOP)
    cora.page.goto(f"{server.address}/coordination")
    faults += find_faults_of_access(cora.page)
    cora.tab_to("a[href='/messages']")
    cora.page.keyboard.press("Enter")
    expect(cora.page.locator("main")).to_contain_text("Waiting for an answer: 1")
    faults += find_faults_of_access(cora.page)
    cora.tab_to("td a")
    cora.page.keyboard.press("Enter")
    expect(cora.page.locator("textarea[name=text]")).to_be_visible()
    cora.tab_to("textarea[name=text]")
    cora.page.keyboard.type("It is: see page 2.")
    faults += find_faults_of_access(cora.page)
    cora.tab_to("form.panel button")
    cora.page.keyboard.press("Enter")
    expect(cora.page.locator(".messages li")).to_have_count(2)
    cora.page.goto(f"{server.address}/guidelines")
    faults += find_faults_of_access(cora.page)

    chen.page.goto(f"{server.address}/")
    expect(chen.page.locator("main")).to_contain_text("It is: see page 2.")
    assert faults == []
    # Where the server was dead the browser says so itself.
    assert [one for one in chen.complaints + cora.complaints if "ERR_CONNECTION_REFUSED" not in one] == []


def test_what_went_as_a_decision_is_no_unfinished_work(
    settings: Settings, server: Server, browser: Browser
) -> None:
    """On a slow network its comment was kept as a draft after the decision had ended it."""
    reader = Reader(browser, server, "chen", "en-US", DESKTOP)
    page, held = reader.page, []
    page.route(re.compile(r"/decision$"), lambda route: held.append((route, route.fetch())))
    reader.begin("questions")
    page.keyboard.press("c")
    page.keyboard.type("because")
    page.keyboard.press("Escape")
    reader.press("r", "1")
    page.wait_for_timeout(2000)
    for route, reply in held:
        route.fulfill(response=reply)
    reader.wait_until_saved()
    reader.press("u")
    expect(page.locator("#comment")).to_have_value("because")
    expect(page.locator("#notice")).to_be_hidden()


def test_a_bad_network_and_a_shared_browser_lose_nothing_and_mix_nothing(
    settings: Settings, server: Server, browser: Browser
) -> None:
    reader = Reader(browser, server, "chen", "en-US", DESKTOP)
    page = reader.page
    # What waits of chen.wei is not sent by chen, whose name begins theirs: on a shared computer chen would give their marks as their own.
    item = {
        "id": "1",
        "at": 1,
        "reference": "w/k",
        "path": "/marks/w/k/mark",
        "body": {"mark": "3", "note": ""},
    }
    waiting = "proctor.outbox.chen.wei.0123456789abcdef"
    page.evaluate(
        "([name, box]) => localStorage.setItem(name, box)",
        [waiting, json.dumps({"items": [item], "seen": {}, "alive": 0})],
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    # What was gone on with by hand is not shown again when the network is back.
    cards = re.compile(r"/question/[^/]+/card$")
    page.route(cards, lambda route: route.abort())
    reader.begin("questions")
    page.keyboard.press("s")
    go_on = page.locator("#notice").get_by_role("button", name="Continue")
    go_on.wait_for()
    page.unroute(cards)
    first = page.locator(".card").get_attribute("data-reference")
    go_on.click()
    page.wait_for_function("first => document.querySelector('.card').dataset.reference !== first", arg=first)
    reader.press("s")
    third = page.locator(".card").get_attribute("data-reference")
    reader.context.set_offline(True)
    reader.context.set_offline(False)
    page.wait_for_timeout(500)
    assert page.locator(".card").get_attribute("data-reference") == third

    # What is typed while a decision is on its way is kept.
    decisions = re.compile(r"/decision$")
    held: list[Route] = []
    page.route(decisions, lambda route: held.append(route))
    reader.begin("questions")
    first = page.locator(".card").get_attribute("data-reference")
    reader.press("a")
    reader.press("u")
    assert page.locator(".card").get_attribute("data-reference") == first
    page.keyboard.press("e")
    page.keyboard.type(" typed later")
    held[0].continue_()
    reader.wait_until_saved(besides=waiting)
    page.unroute(decisions)
    page.reload()
    expect(page.locator("[data-field=stem] ins")).to_have_text(" typed later")
    page.wait_for_timeout(2500)
    assert [url for url in asked if "/marks/" in url] == []
    assert page.evaluate("name => localStorage.getItem(name)", waiting)
    page.evaluate("name => localStorage.removeItem(name)", waiting)
    assert list(read_decided(settings)) == [("chen", 1)]

    # The same decision as before is the person's own, whoever sat at the tab before.
    reader.sign_in("dai")
    reader.begin("questions")
    page.keyboard.press(".")
    expect(page.locator("#notice")).to_be_visible()
    assert list(read_decided(settings)) == [("chen", 1)]

    # A tab and its duplicate keep what each decided.
    reader.begin("questions")
    with page.expect_popup() as opened:
        page.evaluate("() => { window.open(location.href); }")
    twin = opened.value
    wait_until_ready(twin)
    reader.context.route(decisions, lambda route: route.abort())
    reader.press("a")
    reader.page = twin
    reader.press("s")
    reader.press("a")
    page.close()
    twin.close()
    reader.context.unroute(decisions)
    reader.page = reader.open_tab()
    reader.begin("questions")
    reader.wait_until_saved()
    assert sorted(read_decided(settings)) == [("chen", 1), ("dai", 1), ("dai", 2)]

    # The end of a queue leads to no question that is decided.
    reader.begin("questions")
    for _ in range(2):
        # Those that come next are fetched, and what was decided is saved, before the next key.
        reader.page.wait_for_load_state("networkidle")
        reader.press("a")
        reader.wait_until_saved()
    expect(reader.page.locator("#finished")).to_be_visible()
