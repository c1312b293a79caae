"""A desk with a batch: chen and dai review, eva may adjudicate, cora coordinates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from deployments.auth import hash_password
from deployments.web.app import create_app
from deployments.web.references import make_reference
from deployments.web.visitor import FORM_HEADER, SESSION_COOKIE
from schemas.settings import Settings
from tasks.review.assigning import assign_batch
from tasks.review.decisions import Decision
from tests.deployments.web.watched_home import Watched, open_watched
from tests.tasks.review.conftest import make_frame, make_question
from tests.tasks.review.kit import Annotator, read_decisions
from warehouse.lake import share_lake
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.moments import now_text
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users

PASSWORD = "correct horse battery"
BATCH = "2026-11-web"
PEOPLE = {
    "chen": "annotator", "dai": "annotator", "eva": "annotator", "fang": "annotator",
    "cora": "admin", "xu": "examiner", "ann": "analyst", "candidate:alpha": "candidate",
}  # fmt: skip


@pytest.fixture
def one_lake() -> Iterator[None]:
    """The lake of a test is attached once for all of its requests, as for the steps of a flow.

    To attach it took a quarter of their CPU; the tests of the warehouse check how it is opened. For tests whose desk is
    their own: one that keeps a lake open for later tests would find it closed.
    """
    with share_lake():
        yield


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with people, made once and copied for each test (argon2 is slow by design)."""
    path = tmp_path_factory.mktemp("web") / "people.sqlite"
    hashed = hash_password(PASSWORD)
    with open_ledger(f"sqlite:///{path}") as ledger, ledger.write() as connection:
        for name, role in PEOPLE.items():
            users.add_user(connection, user_id=name, role=role, password_hash=hashed)
    return path


@dataclass
class Desk:
    """The application over a ledger, and what a test asks of it."""

    settings: Settings
    ledger: Ledger
    client: TestClient
    questions: list[dict[str, Any]]
    continued: list[str] = field(default_factory=list)

    def sign_in(self, name: str) -> Reviewer:
        """Somebody in a browser of their own; the password itself is tried in test_sign_in."""
        app: Any = self.client.app
        return Reviewer(self, name, app.state.sessions.start(name))

    def refer(self, name: str, number: int) -> str:
        """What `name`'s addresses call the question `number` (from 0)."""
        app: Any = self.client.app
        return make_reference(app.state.key, name, BATCH, self.questions[number]["question_uuid"])

    def decisions(self) -> dict[tuple[str, int], Decision]:
        """What was decided, by annotator and question."""
        places = {row["question_uuid"]: place for place, row in enumerate(self.questions)}
        with self.ledger.read() as connection:
            return {
                (one.annotator, places[one.question_uuid]): one for one in read_decisions(connection, BATCH)
            }


@dataclass
class Reviewer:
    """A browser that is signed in."""

    desk: Desk
    name: str
    cookie: str

    def get(self, path: str, **headers: str) -> Response:
        return self.desk.client.get(
            path, headers=headers | {"cookie": f"{SESSION_COOKIE}={self.cookie}"}, follow_redirects=False
        )

    def post(self, path: str, *, token: str | None = None, **arguments: Any) -> Response:
        app: Any = self.desk.client.app
        own = app.state.sessions.make_form_token(self.cookie.split(".")[0])
        headers = {"cookie": f"{SESSION_COOKIE}={self.cookie}", FORM_HEADER: own if token is None else token}
        return self.desk.client.post(
            path, headers=headers | arguments.pop("headers", {}), follow_redirects=False, **arguments
        )

    def form_token(self) -> str:
        found = re.search(r'name="form_token" value="([0-9a-f]+)"', self.get("/account").text)
        assert found is not None
        return found[1]

    def path(self, number: int, part: str = "") -> str:
        return f"/review/{BATCH}/question/{self.desk.refer(self.name, number)}{part}"

    def decide(self, number: int, decision: str, seen: str | None = None, **fields: Any) -> Response:
        return self.post(self.path(number, "/decision"), json={"decision": decision, "seen": seen, **fields})


MakeDesk = Callable[..., Desk]


@pytest.fixture
def make_desk(tmp_path: Path, people: Path) -> Iterator[MakeDesk]:
    """A desk over questions that a test names; by default three that can be accepted."""
    opened: list[tuple[Ledger, TestClient]] = []

    def make(
        questions: list[dict[str, Any]] | None = None, given: dict[str, Any] | None = None, **app: Any
    ) -> Desk:
        settings = Settings(home=tmp_path / "home", review_count=2, **(given or {}))
        settings.home.mkdir(exist_ok=True)
        if not (settings.home / "ledger.sqlite").exists():
            restore_ledger(people, settings.home / "ledger.sqlite")
        ledger = open_ledger(settings.ledger_address)
        rows = questions if questions is not None else [make_question(number) for number in (1, 2, 3)]
        if rows:
            who = [Annotator("chen"), Annotator("dai")]
            assign_batch(ledger, BATCH, make_frame(rows), who, settings, now_text())
        continued: list[str] = []
        client = TestClient(create_app(settings, ledger=ledger, continue_batch=continued.append, **app))
        client.__enter__()
        opened.append((ledger, client))
        return Desk(settings, ledger, client, rows, continued)

    yield make
    for ledger, client in opened:
        client.__exit__(None, None, None)
        ledger.close()


@pytest.fixture
def desk(make_desk: MakeDesk) -> Desk:
    return make_desk()


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A home with a published run and one under way, made once for all."""
    with open_watched(tmp_path_factory.mktemp("watched") / "home") as opened:
        yield opened
