"""A held paper that a model reads: for coordinators, after they were told what it costs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from sqlalchemy import func, select

from deployments.flow_runs import run_flow
from deployments.web import second_reading_routes
from schemas.errors import StoreAway, StoreError
from schemas.settings import Settings, load_settings
from tasks.ingest import (
    Assistant,
    IngestOptions,
    SecondReading,
    ingest_documents,
    list_under_way,
    parse_document,
    read_assist_model,
    read_requested_paper,
    request_reading,
)
from tasks.running.flow_runs.record import as_deployment
from tests.deployments.web.conftest import Desk, MakeDesk, Reviewer
from tests.fresh import copy_home
from tests.tasks.ingest.builders import write
from tests.tasks.ingest.kit import hash_terms
from tests.tasks.ingest.test_assistance import UNNUMBERED, make_reply, serve
from tests.tasks.models.simulation import start_server
from warehouse.lake import Lake, open_lake
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.leases.jobs import list_jobs
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.engine.logs.chain import Entry, add_entry
from warehouse.ledger.engine.tables import access_log, llm_calls

REGISTRY = """
providers:
  lab: {{base_url: "{url}", is_simulated: true}}
models:
  writer: {{organisation: Lab, provider: lab, roles: [generator], input_price_usd: {price}, output_price_usd: 2.0,
    parameters: {{max_tokens: 2000}}}}
  sitter: {{organisation: Lab, provider: lab, roles: [candidate]}}
"""
ENGLISH = {"accept-language": "en"}


class Room:
    """A desk with one paper in which the rules find no question, and a model that may read it."""

    def __init__(self, desk: Desk, document_id: str, paper: Path) -> None:
        self.desk, self.document_id, self.paper = desk, document_id, paper
        self.begun: list[str] = []
        self.cora = desk.sign_in("cora")

    def path(self, part: str = "second-reading") -> str:
        return f"/papers/{self.document_id}/{part}"

    def choose(self, model: str = "writer") -> dict[str, Any]:
        """What the page sends of itself."""
        return {"model": model, "documents": [self.document_id]}

    def estimate(self, person: Reviewer | None = None) -> dict[str, Any]:
        """What the page is told in the end of what it would cost."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            reply = (person or self.cora).post("/papers/estimate", json=self.choose(), headers=ENGLISH)
            found: dict[str, Any] = reply.json()
            if found["ready"]:
                return found
            time.sleep(0.05)
        raise AssertionError("no estimate")

    def begin(self, model: str = "writer") -> Any:
        return self.cora.post("/papers/second-reading", json=self.choose(model), headers=ENGLISH)

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.cora.get(self.path(), **ENGLISH).json()
        return found

    def count_calls(self) -> int:
        with self.desk.ledger.read() as connection:
            return int(connection.execute(select(func.count()).select_from(llm_calls)).scalar_one())

    def list_entries(self) -> list[tuple[str, str, str]]:
        query = select(access_log.c.user_id, access_log.c.code, access_log.c.target)
        with self.desk.ledger.read() as connection:
            rows = connection.execute(query.where(access_log.c.action == "second_reading"))
            return [(row.user_id, row.code, row.target) for row in rows]

    def list_codes(self) -> list[str]:
        """What came of it, without the model."""
        return [code.partition(" ")[0] for _, code, _ in self.list_entries()]

    def add_paper(self, folder: Path) -> list[str]:
        """One more held paper; the documents that there are, in the order in which they are read."""
        ingest_documents([str(write(folder, "more.txt", UNNUMBERED.replace("海洋学", "海岸学")))])
        with open_lake(self.desk.settings, read_only=True) as lake:
            return list(lake.query("select document_id from documents order by 1")["document_id"])

    def request(self, document_id: str | None = None) -> bool:
        """Ask for a paper as the desk does once the costs were seen."""
        model = read_assist_model(self.desk.settings, "writer")
        return request_reading(self.desk.ledger, document_id or self.document_id, model, "cora")

    def read_status(self) -> str:
        with open_lake(self.desk.settings, read_only=True) as lake:
            return str(lake.query("select status from documents")["status"][0])


MakeRoom = Callable[..., Room]


@pytest.fixture(scope="module")
def held(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with such a paper, and a closed home in which it is held; made once, copied."""
    folder = tmp_path_factory.mktemp("held")
    (folder / "History" / "2024").mkdir(parents=True)
    write(folder / "History" / "2024", "tides.txt", UNNUMBERED)
    (folder / "home").mkdir()
    restore_ledger(people, folder / "home" / "ledger.sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_HOME", str(folder / "home"))
        load_settings.cache_clear()
        ingest_documents([str(folder / "History")])
    load_settings.cache_clear()
    return folder


@pytest.fixture
def make_room(
    held: Path, make_desk: MakeDesk, one_lake: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeRoom]:
    def make(url: str, price: float = 1.0, budget: float | None = 5.0) -> Room:
        begun: list[str] = []
        copy_home(held / "home", Settings(home=tmp_path / "home"))
        shutil.copytree(held / "History", tmp_path / "History")
        desk = make_desk([], given={"budget_usd": budget}, begin_reading=begun.append)
        desk.settings.registry_path.write_text(REGISTRY.format(url=url, price=price), encoding="utf-8")
        monkeypatch.setenv("PROCTOR_HOME", str(desk.settings.home))
        if budget is not None:
            monkeypatch.setenv("PROCTOR_BUDGET_USD", str(budget))
        load_settings.cache_clear()
        with open_lake(desk.settings) as lake:
            document_id = str(lake.query("select document_id from documents")["document_id"][0])
        room = Room(desk, document_id, tmp_path / "History" / "2024" / "tides.txt")
        room.begun = begun
        return room

    yield make
    load_settings.cache_clear()


def test_a_held_paper_is_read_by_a_model_once_somebody_has_seen_what_it_costs(make_room: MakeRoom) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        page = room.cora.get(f"/papers/{room.document_id}", **ENGLISH).text
        assert "Have a model read this paper" in page
        assert 'value="writer"' in page and "sitter" not in page
        assert room.begin().status_code == 409, "before anybody has seen what it costs"
        found = room.estimate()
        # The same as `proctor ingest --assist writer --estimate` says.
        model = read_assist_model(room.desk.settings, "writer")
        parsed = parse_document(room.paper, IngestOptions(shows_lines=True))
        expected = Assistant(room.desk.ledger, room.desk.settings, model).estimate([parsed])
        assert expected.usd is not None and expected.documents == 1
        for words in (
            "writer of Lab, at 127.0.0.1",
            f"{expected.characters:,} characters, calls: 1.",
            f"at most {expected.usd:.4f} USD, with all that may be asked again {expected.most_usd:.4f} USD;",
            "5.00 of this month's 5.00 USD are left",
        ):
            assert words in found["message"]
        assert found["may"] and room.count_calls() == 0

        begun = room.begin()
        assert (begun.status_code, begun.json()["state"]) == (200, "waiting")
        again = room.begin()
        assert again.json()["message"] == (
            "cora asked for this paper to be read by writer. It has not begun yet."
        )
        assert room.begun == [room.document_id, room.document_id]
        assert read_requested_paper(room.document_id)["second_readings"] == {"taken": 1}
        assert read_requested_paper(room.document_id)["second_readings"] == {}
    assert room.count_calls() == 1
    assert room.state()["message"] == "writer has read this paper for cora: 2 questions, which go to review."
    assert room.list_entries() == [
        ("cora", "asked writer", room.document_id),
        ("cora", "taken writer", room.document_id),
    ]
    with open_lake(room.desk.settings, read_only=True) as lake:
        document = lake.query("select * from documents").to_dicts()[0]
        calls = lake.query("select model, purpose, status from llm_calls").rows()
        waiting = lake.read("unreviewed_questions")["document_name"].to_list()
    assert (document["status"], document["source_path"]) == ("parsed", "History/2024/tides.txt")
    assert document["discipline"] == "History"
    assert document["warnings"][-1] == "cora had the model writer read this paper again, on the web desk."
    assert calls == [("writer", "ingest", "done")]
    assert waiting == ["tides.txt", "tides.txt"]
    refused = room.begin()
    assert (refused.status_code, "not held any more" in refused.json()["message"]) == (409, True)


def test_who_does_not_coordinate_neither_sees_nor_does_it(make_room: MakeRoom) -> None:
    room = make_room("http://127.0.0.1:9/v1")
    for name, known in (("chen", 404), ("ann", 404), ("xu", 200)):
        person = room.desk.sign_in(name)
        assert person.get(room.path()).status_code == known, name
        assert person.post("/papers/estimate", json=room.choose()).status_code == known, name
    for name in ("chen", "ann"):
        reply = room.desk.sign_in(name).post("/papers/second-reading", json=room.choose())
        assert reply.status_code == 404
    for part in ("estimate", "second-reading"):
        assert room.cora.post(f"/papers/{part}", token="", json=room.choose()).status_code == 403
        assert room.cora.post(f"/papers/{part}", json={"model": "writer"}).status_code == 400
        other = {"model": "writer", "documents": [room.document_id, "none"]}
        assert room.cora.post(f"/papers/{part}", json=other).status_code == 404
    room.estimate()
    # A model that may read no papers is nobody's.
    assert room.begin("sitter").status_code == room.begin("nobody").status_code == 404
    assert (room.begun, room.list_entries(), room.count_calls()) == ([], [], 0)


def test_a_model_that_is_away_changes_nothing_and_is_asked_again_another_time(make_room: MakeRoom) -> None:
    with serve(lambda text: 401) as url:
        room = make_room(url)
        room.estimate()
        room.begin()
        assert read_requested_paper(room.document_id)["second_readings"] == {"away": 1}
    assert room.state()["message"] == "writer gave no reply. Nothing was changed; try again later."
    assert room.read_status() == "no_questions"
    with start_server(writer={"kind": "generator"}) as server:
        room.desk.settings.registry_path.write_text(REGISTRY.format(url=server.url, price=1.0))
        room.estimate()
        assert room.begin().status_code == 200
        assert read_requested_paper(room.document_id)["second_readings"] == {"taken": 1}
    assert room.list_codes() == ["asked", "away", "asked", "taken"]


@pytest.mark.parametrize(
    ("price", "budget", "words"),
    [
        (1.0, 0.0001, "That is more than is left"),
        (1.0, None, "only within a budget"),
        ("null", 5.0, "What it costs is not known"),
    ],
)
def test_what_the_budget_does_not_allow_is_not_asked(
    make_room: MakeRoom, price: float, budget: float | None, words: str
) -> None:
    room = make_room("http://127.0.0.1:9/v1", price, budget)
    found = room.estimate()
    assert not found["may"] and words in found["message"]
    refused = room.begin()
    assert (refused.status_code, words in refused.json()["message"]) == (409, True)
    assert (room.begun, room.list_entries()) == ([], [])


def test_a_worker_without_a_budget_sends_nothing_and_the_person_is_told(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = make_room("http://127.0.0.1:9/v1")
    room.estimate()
    room.begin()
    monkeypatch.delenv("PROCTOR_BUDGET_USD")
    load_settings.cache_clear()
    with as_deployment("reading-requested"):
        done = run_flow("second_reading", without_server=True, document_id=room.document_id)
    assert done["second_readings"] == {"no_budget": 1}
    assert "only within a budget, and none is set" in room.state()["message"]


def test_what_somebody_corrected_while_the_model_read_stays(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        room.estimate()
        room.begin()
        places = [str(UNNUMBERED.index(text)) for text in ("Which layer", "潮汐")]
        marks = "[" + ",".join(f'{{"place": {one}, "role": "number", "type": null}}' for one in places) + "]"
        help_with = Assistant.help_with

        def correct_first(assistant: Assistant, *given: Any) -> Any:
            kept = room.cora.post(
                room.path("correction"),
                json={"marks": marks, "seen": room.cora.get(f"/papers/{room.document_id}").text.split('data-seen="')[1].split('"')[0]},
            )  # fmt: skip
            assert kept.status_code == 200, kept.text
            return help_with(assistant, *given)

        monkeypatch.setattr(Assistant, "help_with", correct_first)
        assert read_requested_paper(room.document_id)["second_readings"] == {"changed": 1}
    with open_lake(room.desk.settings, read_only=True) as lake:
        notes = lake.query("select parse_notes from questions")["parse_notes"].to_list()
    assert notes and not any("assisted" in one for one in notes)
    assert "somebody corrected, released or removed" in room.state()["message"]


def test_a_model_whose_key_only_a_worker_has_is_not_asked_where_none_runs(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = make_room("http://127.0.0.1:9/v1")
    registry = room.desk.settings.registry_path
    registry.write_text(registry.read_text().replace("is_simulated: true", "key_variable: LAB_KEY"))
    monkeypatch.delenv("LAB_KEY", raising=False)
    assert "no worker runs" in room.estimate()["message"]
    monkeypatch.setenv("LAB_KEY", "k")
    assert room.estimate()["may"]


@pytest.mark.parametrize(
    ("content", "outcome", "words"),
    [
        ("I cannot do that.", "unread", "could not be used"),
        pytest.param(None, "kept", "the rules' reading keeps more", marks=pytest.mark.long),
    ],
)
def test_a_reply_that_helps_nothing_leaves_the_paper_as_it_was(
    make_room: MakeRoom, content: str | None, outcome: str, words: str
) -> None:
    with serve(lambda text: make_reply(content=content)) as url:
        room = make_room(url)
        room.estimate()
        room.begin()
        assert read_requested_paper(room.document_id)["second_readings"] == {outcome: 1}
    assert words in room.state()["message"]
    assert room.read_status() == "no_questions"


def test_a_reading_that_was_ended_before_it_landed_is_begun_again_and_paid_for_once(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        room.estimate()
        room.begin()
        with monkeypatch.context() as patched:
            patched.setattr(Lake, "land_together", end_here)
            with pytest.raises(KeyboardInterrupt):
                read_requested_paper(room.document_id)
        assert room.state()["state"] == "waiting"
        assert room.begin().json()["state"] == "waiting"
        assert read_requested_paper(room.document_id)["second_readings"] == {"taken": 1}
    assert room.count_calls() == 1
    assert room.list_codes() == ["asked", "taken"]


def end_here(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_a_paper_that_fails_is_told_so_and_keeps_no_other_waiting(
    make_room: MakeRoom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        documents = room.add_paper(tmp_path)
        for document in documents:
            assert room.request(document)
        help_with, helped = Assistant.help_with, list[Any]()

        def fail_first(*given: Any, **named: Any) -> Any:
            helped.append(given)
            if len(helped) == 1:
                raise KeyError("潮汐")
            return help_with(*given, **named)

        monkeypatch.setattr(Assistant, "help_with", fail_first)
        assert read_requested_paper("")["second_readings"] == {"failed": 1, "taken": 1}
        assert read_requested_paper("")["second_readings"] == {}
    assert (
        "潮汐" not in caplog.text and f"Document {documents[0]} was not read again: KeyError" in caplog.text
    )
    told = room.cora.get(f"/papers/{documents[0]}/second-reading", **ENGLISH).json()
    assert told["message"].startswith("Something went wrong when writer was to read this paper.")
    assert "Something went wrong" in room.cora.get("/papers", **ENGLISH).text


def test_a_reading_that_a_store_broke_off_is_tried_again(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_STORE_WAIT_S", "0")
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        assert room.request()
        for error in (StoreError("A data file is damaged."), StoreAway("lake catalog", "Away.")):
            with monkeypatch.context() as patched:
                patched.setattr(Assistant, "help_with", Mock(side_effect=error))
                with pytest.raises(type(error)):
                    read_requested_paper("")
            assert (room.state()["state"], room.list_codes()) == ("waiting", ["asked"])
        assert read_requested_paper("")["second_readings"] == {"taken": 1}
    assert room.list_codes() == ["asked", "taken"]


def test_a_paper_that_no_store_lets_be_read_keeps_no_other_waiting_for_good(
    make_room: MakeRoom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        documents = room.add_paper(tmp_path)
        for document in documents:
            assert room.request(document)
        help_with = Assistant.help_with

        def fail_for_first(assistant: Assistant, parsed: Any, *given: Any) -> Any:
            if parsed[0].document["document_id"] == documents[0]:
                raise StoreError("A data file is damaged.")
            return help_with(assistant, parsed, *given)

        monkeypatch.setattr(Assistant, "help_with", fail_for_first)
        with pytest.raises(StoreError):
            read_requested_paper("")
        assert read_requested_paper("")["second_readings"] == {"failed": 1, "taken": 1}


def test_papers_that_are_chosen_in_the_list_are_read_by_one_process_for_what_all_cost(
    make_room: MakeRoom, tmp_path: Path
) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        documents = room.add_paper(tmp_path)
        one = float(room.estimate()["message"].split("at most ")[1].split()[0])
        chosen = {"model": "writer", "documents": documents}
        page = room.cora.get("/papers", **ENGLISH).text
        assert all(f'name="paper" value="{document}"' in page for document in documents)
        deadline = time.monotonic() + 60
        while not (found := room.cora.post("/papers/estimate", json=chosen, headers=ENGLISH).json())["ready"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert found["message"].startswith("2 of the 2 papers that are chosen can be")
        assert "calls: 2." in found["message"]
        assert float(found["message"].split("at most ")[1].split()[0]) == pytest.approx(2 * one, abs=2e-4)
        assert room.cora.post("/papers/second-reading", json=chosen).status_code == 200
        assert room.begun == [""]
        assert "cora asked for this paper to be read" in room.cora.get("/papers", **ENGLISH).text
        assert read_requested_paper("")["second_readings"] == {"taken": 2}
    assert room.count_calls() == 2
    many = {"model": "writer", "documents": [room.document_id, *(f"{number}" for number in range(40))]}
    assert room.cora.post("/papers/second-reading", json=many).status_code == 404


def test_what_another_process_has_just_ended_is_not_read_again(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        assert room.request()

        def list_late(ledger: Ledger) -> dict[str, SecondReading]:
            """As long after the request was seen as another process takes to read the paper."""
            seen = list_under_way(ledger)
            assert read_requested_paper(room.document_id)["second_readings"] == {"taken": 1}
            return seen

        monkeypatch.setattr("tasks.ingest.requested_reading.list_under_way", list_late)
        assert read_requested_paper("")["second_readings"] == {}
    assert room.list_codes() == ["asked", "taken"]
    with room.desk.ledger.read() as connection:
        assert list_jobs(connection, "second reading") == []


def test_a_reading_that_was_ended_right_after_it_landed_is_told_as_what_it_is(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        assert room.request()
        with monkeypatch.context() as patched:
            patched.setattr("tasks.ingest.requested_reading.add_entry", end_here)
            with pytest.raises(KeyboardInterrupt):
                read_requested_paper(room.document_id)
        assert (room.read_status(), room.state()["state"]) == ("parsed", "waiting")
        assert read_requested_paper(room.document_id)["second_readings"] == {"taken": 1}
    assert room.state()["message"] == "writer has read this paper for cora: 2 questions, which go to review."
    assert room.count_calls() == 1


def test_of_a_model_that_was_taken_away_meanwhile_the_person_is_told_as_of_a_registry_that_cannot_be_read(
    make_room: MakeRoom,
) -> None:
    room = make_room("http://127.0.0.1:9/v1")
    registry = room.desk.settings.registry_path
    text = registry.read_text(encoding="utf-8")
    for changed in (("roles: [generator]", "roles: [judge]"), ("writer:", "other:")):
        registry.write_text(text, encoding="utf-8")
        assert room.request()
        registry.write_text(text.replace(*changed), encoding="utf-8")
        assert read_requested_paper(room.document_id)["second_readings"] == {"no_model": 1}
        words = "writer may read no papers any more. Nothing was sent."
        assert room.state()["message"] == words
        assert words in room.cora.get(f"/papers/{room.document_id}", **ENGLISH).text
        assert words in room.cora.get("/papers", **ENGLISH).text
    registry.write_text(text, encoding="utf-8")
    assert room.request()
    registry.write_text("models: [", encoding="utf-8")
    assert read_requested_paper(room.document_id)["second_readings"] == {"failed": 1}
    assert room.state()["state"] == "failed"


CHANGED_TERMS = (
    ("organisation: Lab", "organisation: Other"),
    ("input_price_usd: 1.0", "input_price_usd: 500.0"),
    ("roles: [generator]", "roles: [generator], sees_pictures: true"),
    ("//localhost", "//127.0.0.1"),
)


def test_what_was_agreed_to_is_what_is_sent_or_nothing_is(make_room: MakeRoom) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url.replace("127.0.0.1", "localhost"))
        registry = room.desk.settings.registry_path
        text = registry.read_text(encoding="utf-8")
        agreed = hash_terms(read_assist_model(room.desk.settings, "writer"))
        room.estimate()
        room.begin()
        for before, after in CHANGED_TERMS:
            assert before in text
            registry.write_text(text.replace(before, after, 1), encoding="utf-8")
            assert hash_terms(read_assist_model(room.desk.settings, "writer")) != agreed, after
        assert read_requested_paper(room.document_id)["second_readings"] == {"terms": 1}
        assert room.count_calls() == 0
        assert "Nothing was sent; see what it costs now and ask again." in room.state()["message"]
        assert not room.begin().json().get("is_under_way"), "before anybody has seen what it costs now"
        room.estimate()
        room.begin()
        assert read_requested_paper(room.document_id)["second_readings"] == {"taken": 1}


def test_an_estimate_that_fails_is_computed_once_and_told(
    make_room: MakeRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = make_room("http://127.0.0.1:9/v1")
    computed: list[Any] = []

    def fail(*given: Any) -> None:
        computed.append(given)
        raise KeyError("潮汐")

    monkeypatch.setattr(second_reading_routes, "estimate_reading", fail)
    found = [room.estimate(), room.estimate()]
    assert found == [{"ready": True, "may": False, "message": "This paper could not be read (KeyError)."}] * 2
    assert len(computed) == 1


def test_an_outcome_that_this_version_does_not_know_breaks_no_page(make_room: MakeRoom) -> None:
    room = make_room("http://127.0.0.1:9/v1")
    with room.desk.ledger.write() as connection:
        add_entry(
            connection, Entry("second_reading", user_id="cora", code="new writer", target=room.document_id)
        )
    for path in ("/papers", f"/papers/{room.document_id}"):
        reply = room.cora.get(path, **ENGLISH)
        assert (reply.status_code, "Something went wrong when writer" in reply.text) == (200, True)


def test_the_daily_sweep_has_a_paper_read_whose_process_ended_before_it_began(make_room: MakeRoom) -> None:
    with start_server(writer={"kind": "generator"}) as server:
        room = make_room(server.url)
        assert room.request()
        done = run_flow("sweep", without_server=True)
    assert done["second_readings"] == {"taken": 1}
    assert room.state()["message"].endswith("2 questions, which go to review.")
    assert "second_readings" in run_flow("sweep", without_server=True)
