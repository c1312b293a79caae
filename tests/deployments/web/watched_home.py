"""A home with planted secrets: a published run in its lake, one under way in its ledger."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from fastapi.testclient import TestClient
from httpx2 import Response

from deployments.web.app import create_app
from deployments.web.visitor import SESSION_COOKIE
from schemas.settings import Settings
from schemas.vocabulary import EXAMINED_DISCIPLINES
from tasks.exam.protocol import Answer, make_protocol
from tasks.questions.pictures import name_picture
from tests.fresh import copy_home, make_once, open_new_lake
from tests.tasks.editions.kit import publish_run
from tests.tasks.editions.season import land_frames
from tests.tasks.exam.world import World, make_bank, make_model, make_registry, make_settings, publish
from tests.tasks.ingest.kit import normalise_picture
from tests.tasks.ingest.test_pictures import draw, save
from tests.tasks.report.synthetic import build_season
from tests.warehouse.bank_rows import BANK, land_bank_rows
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.opening import open_ledger
from warehouse.ledger.trust import users

RUN, MONTH, MODEL = "run-2025-06", "2025-06", "south-chat"
REFERENCE, EXPLANATION, REASON = "PLANTED-REFERENCE", "PLANTED-EXPLANATION", "PLANTED-REASON"
SEARCHED = "Zanzibar"
PEOPLE = {"cora": "admin", "xu": "examiner", "anna": "analyst", "chen": "annotator", "mia": "annotator"}
# Mia's team has one model that has sat and one that sits; the other models are of others.
TEAM, OWN = "red", (MODEL, "alpha")


def draw_picture(word: str) -> bytes:
    """A picture that says a word, as ingest keeps it."""
    normal = normalise_picture(save(draw(word)))
    assert normal is not None
    return normal.data


def keep_picture(settings: Settings, word: str) -> str:
    """Have such a picture in the archive; returns its hash."""
    data = draw_picture(word)
    sha256 = hashlib.sha256(data).hexdigest()
    path = name_picture(settings.archive_dir, sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return sha256


def land_published_run(settings: Settings) -> None:
    """Land a set of ten questions, one with what is searched for; each with planted reasons."""
    frames = build_season(
        months=(MONTH,), repeats=1, questions_per_discipline=1, unparsed_rate=0.0, is_calibrated=False
    )
    frames["judgements"] = frames["judgements"].with_columns(
        reason=pl.when(pl.col("attempt") > 0).then(pl.lit(REASON))
    )
    frames["responses"] = frames["responses"].with_columns(
        response=pl.when(pl.col("answer_status") == "answered")
        .then(pl.format("An answer at {}.", "seq"))
        .otherwise("response")
    )
    questions = frames["responses"]["question_uuid"].unique().sort()
    bank: list[dict[str, object]] = [
        {
            "question_uuid": question,
            "lineage_uuid": question,
            "bank_version": 1,
            "question_type": "short_answer",
            "language": "en",
            "stem": f"Where is {SEARCHED if number == 0 else 'place'} number {number}? [picture:1]",
            "answer": [REFERENCE],
            "explanation": f"{EXPLANATION} [picture:2]",
            "pictures": [
                {"number": 1, "sha256": keep_picture(settings, "asked"), "place": "stem"},
                {"number": 2, "sha256": keep_picture(settings, "explained"), "place": "explanation"},
            ],
        }
        for number, question in enumerate(questions)
    ]
    with open_new_lake(settings) as lake:
        land_frames(lake, frames)
        land_bank_rows(lake, fill_rows(BANK, bank).drop("landing_unit"))
        publish_run(lake, settings, RUN, EXAMINED_DISCIPLINES)


def write_team_registry(settings: Settings) -> None:
    """The registry: the models of the team, and a rival's of another one."""
    entry = "  {name}: {{provider: lab, organisation: {name} labs, team: {team}}}\n"
    owned = {**dict.fromkeys(OWN, TEAM), "rho": "blue"}
    settings.registry_path.parent.mkdir(parents=True, exist_ok=True)
    settings.registry_path.write_text(
        "providers:\n  lab: {base_url: https://lab.example/v1}\nmodels:\n"
        + "".join(entry.format(name=name, team=team) for name, team in owned.items()),
        encoding="utf-8",
    )


@dataclass
class Watched:
    """The application over that home."""

    world: World
    client: TestClient

    @property
    def ledger(self) -> Ledger:
        return self.world.ledger

    def sign_in(self, name: str) -> Watcher:
        app: Any = self.client.app
        return Watcher(self, app.state.sessions.start(name))

    def answer(self, count: int, text: str = "true") -> str:
        """Let alpha answer some questions of its session of the run under way; returns the session."""
        session_id: str = self.world.sessions("alpha")[0]["session_id"]
        token = self.world.token(session_id)

        async def sit() -> None:
            door = make_protocol(self.ledger, self.world.settings, is_in_house=True)
            lease = await door.open_session(token, session_id)
            put = await door.next_question(token, lease)
            for _ in range(count):
                assert put is not None
                _, put = await door.submit_and_next(token, lease, put.seq, Answer(text))

        # A browser's test has a loop of its own in this thread.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, sit()).result()
        return session_id


@dataclass
class Watcher:
    """A browser that is signed in."""

    watched: Watched
    cookie: str

    def get(self, path: str, **headers: str) -> Response:
        headers = {"cookie": f"{SESSION_COOKIE}={self.cookie}", **headers}
        return self.watched.client.get(path, headers=headers, follow_redirects=False)

    def post(self, path: str, **fields: str) -> Response:
        app: Any = self.watched.client.app
        token = app.state.sessions.make_form_token(self.cookie.split(".")[0])
        headers = {"cookie": f"{SESSION_COOKIE}={self.cookie}"}
        reply = self.watched.client.post(
            path, headers=headers, data={"form_token": token, **fields}, follow_redirects=False
        )
        # As a browser does that sent a search.
        found = reply.headers.get("location", "")
        return self.get(found) if "/answers?" in found else reply


@contextmanager
def open_watched(home: Path) -> Iterator[Watched]:
    """The home and its application with people of every role; alpha and rho are under way."""

    settings = make_settings(home, judge_ratings_gate=100, teams={TEAM: ("mia",)})
    copy_home(
        make_once("watched", lambda made: land_published_run(make_settings(made, judge_ratings_gate=100))),
        settings,
    )
    write_team_registry(settings)
    registry = make_registry(make_model("alpha"), make_model("rho", roles=("reference",)))
    bank = make_bank()
    with open_ledger(settings.ledger_address) as ledger:
        plan = publish(ledger, settings, registry, bank)
        with ledger.write() as connection:
            for name, role in PEOPLE.items():
                users.add_user(connection, user_id=name, role=role)
        world = World(ledger, settings, registry, bank, plan, now=time.time())
        app = create_app(settings, ledger=ledger, continue_batch=lambda _: None)
        with TestClient(app) as client:
            yield Watched(world, client)
