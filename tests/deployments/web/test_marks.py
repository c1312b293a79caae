"""Marks on the web: each sees their own, blind; durable at once, landed as a workbook's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from typer.testing import CliRunner

from deployments import cli
from deployments.web.app import create_app
from deployments.web.visitor import FORM_HEADER, SESSION_COOKIE
from schemas.settings import Settings
from schemas.tables import get_table
from schemas.vocabulary import DISCIPLINES
from tasks.judging import draw_failures, export_failures, import_failures
from tasks.judging.calibration.ratings import (
    DrawRequest,
    count_ratings,
    draw_calibration,
    export_ratings,
    import_ratings,
    read_round,
)
from tasks.judging.marking import give_mark, land_marks, open_work, read_given
from tasks.judging.marking.work import name_work
from tasks.league.people import export_waiting, import_decisions
from tasks.review.marking import compute_key
from tests.tasks.judging.calibration.rated_run import PEOPLE, RUN, fill_workbook, open_rated_run
from tests.tasks.league.conftest import World, make_world  # noqa: F401 - a fixture
from tests.tasks.league.test_people import fill, world  # noqa: F401 - a fixture
from tests.warehouse.test_sql_cases import fill_rows
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import users


class Marker:
    """Somebody who is signed in, in a browser of their own."""

    def __init__(self, client: TestClient, name: str) -> None:
        self.client = client
        app: Any = client.app
        self.app = app
        self.cookie = app.state.sessions.start(name)

    def get(self, path: str) -> Response:
        headers = {"cookie": f"{SESSION_COOKIE}={self.cookie}"}
        return self.client.get(path, headers=headers, follow_redirects=False)

    def token(self) -> str:
        return str(self.app.state.sessions.make_form_token(self.cookie.split(".")[0]))

    def mark(self, work: str, key: str, mark: object, token: str | None = None, **fields: object) -> Response:
        own = self.token() if token is None else token
        return self.client.post(
            f"/marks/{work}/{key}/mark",
            headers={"cookie": f"{SESSION_COOKIE}={self.cookie}", FORM_HEADER: own},
            json={"mark": mark, **fields},
        )

    def hand_in(self, work: str) -> Response:
        return self.client.post(
            f"/marks/{work}/hand-in",
            headers={"cookie": f"{SESSION_COOKIE}={self.cookie}"},
            data={"form_token": self.token()},
            follow_redirects=False,
        )

    def keys(self, work: str) -> list[str]:
        """Every item of a work, as its pages lead from one to the next."""
        place = self.get(f"/marks/{work}").headers["location"].rpartition("/")[2]
        keys = [place]
        while (
            following := re.search(r'data-next="(\w*)"', self.get(f"/marks/{work}/{keys[-1]}/card").text)
        ) and (following[1] not in ("", *keys)):
            keys.append(following[1])
        return keys


class Room:
    """A judged run, the web app over it, and a round of its own for each test."""

    def __init__(self, settings: Settings, ledger: Ledger, lake: Lake, client: TestClient) -> None:
        self.settings, self.ledger, self.lake, self.client = settings, ledger, lake, client
        self.number = 0

    @property
    def round(self) -> str:
        return name_work("rating", f"first/{self.number}")

    def draw(self) -> None:
        self.number += 1
        draw_calibration(self.ledger, self.lake, DrawRequest(RUN, "first", self.number, 12, PEOPLE))

    def keys(self, name: str) -> list[str]:
        """Every item of somebody's round; that the pages lead from one to the next is shown once."""
        return list(open_work(self.ledger, self.lake, "rating", f"first/{self.number}", name).items)

    def ratings(self) -> list[tuple[Any, ...]]:
        return self.lake.query(
            "SELECT session_id, seq, rater, round, value, is_adjudication FROM human_ratings WHERE round = $round AND "
            "landing_unit LIKE 'calibration/%' ORDER BY ALL",
            {"round": self.number},
        ).rows()


@contextmanager
def serve(settings: Settings, ledger: Ledger) -> Iterator[TestClient]:
    with TestClient(create_app(settings, ledger=ledger, continue_batch=lambda _: None)) as client:
        yield client


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    home = tmp_path_factory.mktemp("marks") / "home"
    with open_rated_run(home) as (settings, ledger, lake), serve(settings, ledger) as client:
        yield Room(settings, ledger, lake, client)


@pytest.fixture
def room(opened: Room) -> Room:
    opened.draw()
    return opened


def test_a_round_rated_on_the_web_lands_the_rows_that_its_workbook_lands(room: Room, tmp_path: Path) -> None:
    ann = Marker(room.client, "ann")
    given: dict[str, str] = {}
    assert "0 of 8 marked" in ann.get("/marks").text
    keys = ann.keys(room.round)
    assert len(keys) == 8
    for number, key in enumerate(keys):
        given[key] = str(number % 4)
        assert ann.mark(room.round, key, given[key]).status_code == 200
        assert bool(room.ratings()) is (number == 7), "they land together, when the work is done"
    landed = room.ratings()
    assert len(landed) == 8
    assert ann.get(f"/marks/{room.round}").status_code == 200, (
        "there is no next one: the page says that all is done"
    )
    path = tmp_path / "ann.xlsx"
    export_ratings(room.ledger, room.lake, path, "ann")
    fill_workbook(path, lambda key, _: given[key])
    imported = import_ratings(room.ledger, room.lake, path, "ann")
    assert (imported.new, imported.changed, imported.unchanged) == (0, 0, 8)
    assert room.ratings() == landed


def test_stars_given_on_the_web_before_a_workbook_came_do_not_take_its_place(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = Marker(room.client, "ann")
    first = room.keys("ann")[0]
    assert ann.mark(room.round, first, "1").status_code == 200
    assert not room.ratings(), "one mark alone waits for the others"
    path = tmp_path / "ann.xlsx"
    export_ratings(room.ledger, room.lake, path, "ann")
    fill_workbook(path, lambda _key, _row: "3")
    monkeypatch.setenv("PROCTOR_HOME", str(room.settings.home))
    done = CliRunner().invoke(cli.app, ["calibrate", "import", str(path), "--user", "ann", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["changed"] == 1
    land_marks(room.ledger, room.lake)
    assert {row[4] for row in room.ratings()} == {3.0}


def test_a_page_shows_question_reference_and_response_and_nobody_s_name(room: Room) -> None:
    ann = Marker(room.client, "ann")
    page = ann.get(f"/marks/{room.round}/{room.keys('ann')[0]}").text
    assert "Statement " in page
    assert "★★★" in page
    names = room.lake.query(
        "SELECT DISTINCT model FROM responses UNION SELECT DISTINCT judge FROM judgements"
    ).to_series()
    assert [name for name in names if name in page] == []
    assert re.search(r"\b[0-9a-f]{8}-[0-9a-f]{4}-", page) is None, "no UUID"


def test_nobody_reaches_another_s_work_or_marks_what_is_none_of_it(room: Room) -> None:
    ann = Marker(room.client, "ann")
    own, foreign = room.keys("ann"), room.keys("bo")
    only_bo = next(key for key in foreign if key not in own)
    for path in (
        f"{room.round}/{only_bo}",
        f"{room.round}/{only_bo}/card",
        f"{'0' * 16}",
        f"{room.round}/{'0' * 16}",
    ):
        assert ann.get(f"/marks/{path}").status_code == 404
    assert ann.mark(room.round, only_bo, "3").status_code == 404
    assert ann.mark("0" * 16, own[0], "3").status_code == 404
    for mark in ("4", "", "yes", "3 "):
        assert ann.mark(room.round, own[0], mark).status_code == 422
    for malformed in (3, None, ["3"]):
        assert ann.mark(room.round, own[0], malformed).status_code == 400
    assert ann.mark(room.round, own[0], "3", note="x" * 4001).status_code == 422
    assert ann.mark(room.round, own[0], "3", token="0" * 64).status_code == 403
    assert room.client.get("/marks", follow_redirects=False).status_code == 303
    assert ann.hand_in(room.round).status_code == 303
    assert room.ratings() == []


def test_a_mark_is_changed_only_by_who_has_seen_it(room: Room) -> None:
    ann = Marker(room.client, "ann")
    key = room.keys("ann")[0]
    first = ann.mark(room.round, key, "3").json()
    assert ann.mark(room.round, key, "3").json()["seen"] == first["seen"], "the same again changes nothing"
    stale = ann.mark(room.round, key, "1", note="seen in another window")
    assert (stale.status_code, stale.json()["stands"], stale.json()["seen"]) == (409, "3", first["seen"])
    assert ann.mark(room.round, key, "1", seen=first["seen"], note="on second thoughts").status_code == 200
    page = ann.get(f"/marks/{room.round}/{key}").text
    assert 'data-mark="1" aria-pressed="true"' in page
    assert "on second thoughts" in page


def test_what_was_given_lands_when_it_is_handed_in_or_before_the_next_flow(room: Room) -> None:
    ann, bo = Marker(room.client, "ann"), Marker(room.client, "bo")
    land_marks(room.ledger, room.lake)  # what other tests left
    ann.mark(room.round, room.keys("ann")[0], "2")
    assert ann.hand_in(room.round).status_code == 303
    assert [row[2] for row in room.ratings()] == ["ann"]
    bo.mark(room.round, room.keys("bo")[0], "2")
    assert land_marks(room.ledger, room.lake) == {"marks (rating)": 1}
    assert land_marks(room.ledger, room.lake) == {}
    assert sorted(row[2] for row in room.ratings()) == ["ann", "bo"]


@pytest.mark.long
def test_a_dispute_comes_to_the_third_who_settles_it_without_seeing_the_others(room: Room) -> None:
    by_name = {name: Marker(room.client, name) for name in PEOPLE}
    keys = {name: marker.keys(room.round) for name, marker in by_name.items()}
    shared = next(key for key in keys["ann"] if key in keys["bo"])
    by_name["ann"].mark(room.round, shared, "0")
    by_name["bo"].mark(room.round, shared, "3")
    for name in ("ann", "bo"):
        by_name[name].hand_in(room.round)
    by_name["cy"].hand_in(room.round)  # what was read of the round before is read again
    assert shared in by_name["cy"].keys(room.round)
    assert by_name["cy"].mark(room.round, shared, "1").status_code == 200
    by_name["cy"].hand_in(room.round)
    assert [(row[2], row[5]) for row in room.ratings() if row[2] == "cy"] == [("cy", True)]


def test_an_analyst_and_an_annotator_of_no_discipline_see_nothing_that_waits_for_marks(room: Room) -> None:
    """It shows reference answers, and a sample of failures waits for all who may mark."""
    draw_failures(room.lake, RUN, per_model=1)
    work = name_work("label", RUN)
    assert Marker(room.client, "ann").get(f"/marks/{work}").status_code == 303
    with room.ledger.write() as connection:
        users.add_user(connection, user_id="ana", role="analyst")
        users.add_user(connection, user_id="new", role="annotator", disciplines=[])
    for name in ("ana", "new"):
        other = Marker(room.client, name)
        assert work not in other.get("/marks").text
        assert other.get(f"/marks/{work}").status_code == 404, name


def test_a_dispute_of_others_is_shown_to_annotators_of_its_discipline_alone(room: Room) -> None:
    """It stands with its reference answer, and who settles it decides what a judge is held to."""
    row = next(
        row
        for row in read_round(room.lake, "first", room.number).samples.iter_rows(named=True)
        if {"ann", "bo"} <= set(row["raters"])
    )
    shared, of_it = compute_key("first", room.number, row["session_id"], row["seq"]), row["discipline"]
    for name, mark in (("ann", "0"), ("bo", "3")):
        marker = Marker(room.client, name)
        assert marker.mark(room.round, shared, mark).status_code == 200
        marker.hand_in(room.round)
    with room.ledger.write() as connection:
        other = next(d for d in DISCIPLINES if d != of_it)
        # Who was an annotator before and coordinates now reviews what they did.
        for user_id, role, discipline in (
            ("near", "annotator", of_it),
            ("far", "annotator", other),
            ("lead", "examiner", other),
        ):
            users.add_user(connection, user_id=user_id, role=role, disciplines=[discipline])
    assert Marker(room.client, "near").keys(room.round) == [shared]
    assert Marker(room.client, "lead").keys(room.round) == [shared]
    far = Marker(room.client, "far")
    assert room.round not in far.get("/marks").text
    assert far.get(f"/marks/{room.round}/{shared}").status_code == 404
    assert far.mark(room.round, shared, "1").status_code == 404


@pytest.fixture
def erased(room: Room) -> Iterator[pl.DataFrame]:
    """Sessions that were erased while ann was to rate an answer and label a failure of them."""
    given = read_round(room.lake, "first", room.number).samples.filter(pl.col("raters").list.contains("ann"))
    sessions = pl.concat(
        [given["session_id"][:1], draw_failures(room.lake, RUN, per_model=1)["session_id"][:1]]
    )
    at = {"erasure_id": "e1", "run_id": RUN, "erased_at": datetime(2026, 11, 29, tzinfo=UTC)}
    rows = fill_rows(get_table("erasures"), [{**at, "session_id": one} for one in sessions.unique()])
    room.lake.land("erasures", "e1", rows.drop("landing_unit"))
    yield rows
    room.lake.land("erasures", "e1", rows.drop("landing_unit").clear())


def test_what_was_erased_is_shown_to_nobody_and_the_rest_of_the_work_goes_on(
    room: Room, erased: pl.DataFrame, tmp_path: Path
) -> None:
    ann, path = Marker(room.client, "ann"), tmp_path / "work.xlsx"
    given = read_round(room.lake, "first", room.number).samples.filter(pl.col("raters").list.contains("ann"))
    sample = room.lake.read("error_samples_drawn", {"sample_id": RUN})
    for work, drawn in ((room.round, given), (name_work("label", RUN), sample)):
        left = drawn.join(erased, on="session_id", how="anti").height
        assert 0 < left < drawn.height
        assert f"of {left} marked" in ann.get("/marks").text
        assert len(ann.keys(work)) == left
    assert export_ratings(room.ledger, room.lake, path, "ann") < given.height
    # A round that waited for what nobody can rate any more would never be done.
    counts = count_ratings(room.lake, read_round(room.lake, "first", room.number))
    open_by_rater = counts["open_by_rater"]
    assert isinstance(open_by_rater, dict)
    assert open_by_rater["ann"] == given.join(erased, on="session_id", how="anti").height
    assert export_failures(room.lake, path) < sample.height


def test_an_annotator_sees_the_failures_of_their_own_disciplines_alone(room: Room) -> None:
    """Each stands with its reference answer; all who may mark are shown the sample."""
    drawn = draw_failures(room.lake, RUN, per_model=1)
    name = drawn["discipline"][0]
    own = drawn.filter(pl.col("discipline") == name)
    assert 0 < own.height < drawn.height
    away = next(one for one in DISCIPLINES if one not in drawn["discipline"].to_list())
    with room.ledger.write() as connection:
        for user_id, disciplines in (("own", [name]), ("away", [away])):
            users.add_user(connection, user_id=user_id, role="annotator", disciplines=disciplines)
    work = name_work("label", RUN)
    everything = [compute_key(RUN, *place) for place in drawn.select("session_id", "seq").iter_rows()]
    marker = Marker(room.client, "own")
    assert f"of {own.height} marked" in marker.get("/marks").text
    keys = marker.keys(work)
    assert sorted(keys) == sorted(
        compute_key(RUN, *place) for place in own.select("session_id", "seq").iter_rows()
    )
    other = next(key for key in everything if key not in keys)
    assert Marker(room.client, "ann").get(f"/marks/{work}/{other}/card").status_code == 200
    assert marker.get(f"/marks/{work}/{other}/card").status_code == 404
    assert marker.mark(work, other, "logical_reasoning").status_code == 404
    for key in keys:
        assert marker.mark(work, key, "logical_reasoning").status_code == 200
    landed = room.lake.read("error_labels_of", {"sample_id": RUN}).filter(pl.col("labeller") == "own")
    assert landed.height == own.height
    stranger = Marker(room.client, "away")
    assert work not in stranger.get("/marks").text
    assert stranger.get(f"/marks/{work}").status_code == 404


@pytest.mark.long
def test_classes_of_failures_land_the_rows_that_their_workbook_lands(room: Room, tmp_path: Path) -> None:
    drawn = draw_failures(room.lake, RUN, per_model=1)
    ann, work = Marker(room.client, "ann"), name_work("label", RUN)
    keys = ann.keys(work)
    assert len(keys) == drawn.height
    for key in keys:
        assert ann.mark(work, key, "logical_reasoning").status_code == 200
    path = tmp_path / "failures.xlsx"
    export_failures(room.lake, path)
    fill_workbook(path, lambda _key, _row: "logical_reasoning")
    imported = import_failures(room.ledger, room.lake, path, "ann")
    assert (imported.new, imported.changed, imported.unchanged) == (0, 0, drawn.height)


@pytest.mark.long
def test_verdicts_on_a_league_land_and_a_refusal_needs_a_reason(world: World, tmp_path: Path) -> None:  # noqa: F811
    work = open_work(world.ledger, world.lake, "league", "one", "eve")
    with serve(world.settings, world.ledger) as client:
        eve, work_id = Marker(client, "eve"), work.work_id
        keys = eve.keys(work_id)
        assert sorted(keys) == sorted(work.items)
        question = next(key for key in keys if work.items[key].needs_note)
        assert eve.mark(work_id, question, "no").status_code == 422
        for key in keys:
            is_refused = key == question
            note = "no unique result" if is_refused else ""
            assert eve.mark(work_id, key, "no" if is_refused else "yes", note=note).status_code == 200
    assert world.lake.query("SELECT count(*) FROM league_validations WHERE is_valid").item() == 2
    assert (
        world.lake.query("SELECT reason FROM league_validations WHERE NOT is_valid").item()
        == "no unique result"
    )
    path = tmp_path / "eve.xlsx"
    export_waiting(world.lake, "one", path, "eve")
    fill(path, lambda sheet, _number, _row: {"valid" if sheet == "questions" else "memorised": "yes"})
    assert import_decisions(world.ledger, world.lake, "one", path, "eve").questions == 0


def test_a_mark_of_a_person_who_left_is_refused(room: Room) -> None:
    from schemas.errors import UsageError
    from warehouse.ledger.trust.users import write_activity

    work = open_work(room.ledger, room.lake, "rating", f"first/{room.number}", "ann")
    with room.ledger.write() as connection:
        write_activity(connection, "ann", is_active=False)
    with pytest.raises(UsageError, match="no active user"):
        give_mark(room.ledger, work, next(iter(work.items)), "3")
    with room.ledger.write() as connection:
        write_activity(connection, "ann", is_active=True)
    assert read_given(room.ledger, work) == {}
