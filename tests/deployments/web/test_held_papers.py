"""Held papers on the desk are for coordinators alone; a change carries its session's token."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from lxml import html

import deployments.web
from deployments.web import paper_routes
from deployments.web.lake import open_asked
from schemas.settings import Settings, load_settings
from tasks.ingest import ingest_documents
from tasks.questions.pictures import name_picture
from tests.deployments.web.conftest import Desk, MakeDesk, Reviewer
from tests.fresh import copy_home
from tests.tasks.ingest.builders import make_pdf
from tests.tasks.ingest.test_pictures import CHOICES, PICTURES, draw, save, say, show, write_word
from warehouse.lake import open_lake
from warehouse.ledger.engine.copies.files import restore_ledger

DOCUMENT = "aaaaaaaa-0000-4000-8000-000000000001"
DRAWN = [say("答案：见图。", show("drawn"))]
# Two questions that nothing announces.
UNNUMBERED = [say("Which lens is drawn here?", show("lens")), say("What is a quay built for?")]

PAGES = ("/papers", f"/papers/{DOCUMENT}", f"/papers/{DOCUMENT}/page/1")
CHANGES = tuple(f"/papers/{DOCUMENT}/{what}" for what in ("reading", "correction", "release"))


@pytest.fixture(scope="module")
def papers(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home with the papers of these tests, read at once; copied."""
    folder = tmp_path_factory.mktemp("held")
    given = folder / "papers"
    given.mkdir()
    (given / "ferry.pdf").write_bytes(
        make_pdf([[(72, 700, "1. What is a ferry?"), (72, 680, "2. What is a quay?")]])
    )
    write_word(given / "a.docx", CHOICES, PICTURES)
    write_word(given / "b.docx", [*CHOICES[:-1], *DRAWN], PICTURES | {"drawn": save(draw("a lens"))})
    write_word(given / "lens.docx", UNNUMBERED, {"lens": save(draw("another lens"))})
    (folder / "home").mkdir()
    restore_ledger(people, folder / "home" / "ledger.sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_HOME", str(folder / "home"))
        load_settings.cache_clear()
        ingest_documents([str(given)])
    load_settings.cache_clear()
    return folder / "home"


@pytest.fixture
def desk(papers: Path, make_desk: MakeDesk, one_lake: None, tmp_path: Path) -> Desk:
    copy_home(papers, Settings(home=tmp_path / "home"))
    return make_desk([])


def find(desk: Desk, name: str) -> str:
    """The id of a paper."""
    with open_lake(desk.settings) as lake:
        query = "SELECT document_id FROM documents WHERE document_name = $name"
        return str(lake.query(query, {"name": name}).item())


def test_who_does_not_coordinate_finds_no_held_papers_and_changes_none(desk: Desk) -> None:
    for name in ("chen", "ann"):
        assert [desk.sign_in(name).get(path).status_code for path in PAGES] == [404] * 3, name
    chen = desk.sign_in("chen")
    assert [chen.post(path, json={"marks": "[]"}).status_code for path in CHANGES] == [404] * 3


def test_a_paper_that_is_there_is_there_for_coordinators_alone(desk: Desk) -> None:
    document = find(desk, "ferry.pdf")
    found = {}
    for name in ("cora", "chen", "ann"):
        person = desk.sign_in(name)
        replies = [person.get(f"/papers/{document}"), person.get(f"/papers/{document}/page/1")]
        replies.append(person.post(f"/papers/{document}/reading", json={"marks": "[]"}))
        found[name] = [reply.status_code for reply in replies]
    assert found == {"cora": [200] * 3, "chen": [404] * 3, "ann": [404] * 3}


def test_a_paper_is_corrected_only_by_who_has_seen_how_it_stands(desk: Desk) -> None:
    """Of two coordinators, or two tabs, neither replaces unseen what the other has kept."""
    document = find(desk, "ferry.pdf")
    cora, xu = desk.sign_in("cora"), desk.sign_in("xu")
    shown = cora.get(f"/papers/{document}").text
    seen, places = re.search(r'data-seen="([^"]+)"', shown), re.findall(r'data-place="(\d+)"', shown)
    assert seen is not None
    marks = [json.dumps([{"place": int(place), "role": "number", "type": None}]) for place in places]

    def keep(person: Reviewer, marks: str, seen: str) -> Response:
        return person.post(f"/papers/{document}/correction", json={"marks": marks, "seen": seen})

    kept = keep(cora, marks[0], seen[1])
    assert kept.status_code == 200
    refused = [keep(xu, marks[1], seen[1]), keep(xu, marks[1], "")]
    assert [reply.status_code for reply in refused] == [409, 409]
    assert all("another tab" in reply.json()["message"] for reply in refused)
    # Whose answer was lost on its way keeps the same once more, and is told that it is kept.
    again = keep(cora, marks[0], seen[1])
    assert again.status_code == 200
    with open_lake(desk.settings, read_only=True) as lake:
        query = "SELECT corrected_by FROM layouts WHERE document_id = $id"
        assert lake.query(query, {"id": document})["corrected_by"].to_list() == ["cora"]
    assert keep(cora, marks[1], again.json()["seen"]).status_code == 200


def test_a_change_without_the_token_of_its_session_is_refused(desk: Desk) -> None:
    cora = desk.sign_in("cora")
    assert [cora.post(path, token="", json={"marks": "[]"}).status_code for path in CHANGES] == [403] * 3


def test_why_a_paper_is_held_stands_there_in_the_readers_language(desk: Desk) -> None:
    cora = desk.sign_in("cora")
    pages = {one: cora.get("/papers", **{"accept-language": one}).text for one in ("zh", "en")}
    assert ["No numbered question, option list" in page for page in pages.values()] == [False, True]
    assert "文本中未识别出带编号的题目" in pages["zh"]


def test_a_paper_that_was_released_is_not_said_to_be_held(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_held(request: Any, document_id: str) -> Any:
        paper = open_asked(request, document_id)
        held = {"status": "held", "error": "Held: It was not read."}
        return replace(paper, document=paper.document | held, is_released=True)

    monkeypatch.setattr(paper_routes, "open_asked", open_held)
    page = html.document_fromstring(desk.sign_in("cora").get(f"/papers/{find(desk, 'ferry.pdf')}").text)
    told = json.loads(str(page.xpath("string(//main/@data-reading)")))
    assert (told["status"], told["reason"]) == ("parsed", "Kept. Its questions go to review.")
    assert page.xpath("string(//p[@id='reason'][@class='good'])") == told["reason"]


def test_a_home_without_papers_holds_none(make_desk: MakeDesk) -> None:
    desk = make_desk([])
    cora = desk.sign_in("cora")
    assert "No paper is held." in cora.get("/papers", **{"accept-language": "en"}).text
    assert cora.get(f"/papers/{DOCUMENT}").status_code == 404


def test_no_page_names_a_door_twice() -> None:
    templates = Path(deployments.web.__file__).parent / "templates"
    doors = set(re.findall(r"\('(/[\w/]*)'", (templates / "doors.html").read_text("utf-8")))
    assert "/papers" in doors
    for template in templates.glob("*.html"):
        tools = re.findall(r"{% block tools %}(.*?){% endblock %}", template.read_text("utf-8"), re.DOTALL)
        assert not doors & set(re.findall(r'href="([^"]+)"', " ".join(tools))), template.name


def test_a_question_of_a_held_paper_has_its_pictures_for_coordinators_alone(desk: Desk) -> None:
    """They have addresses of their own, which name the paper."""
    ids = {name: find(desk, name) for name in ("a.docx", "b.docx")}
    cora, chen = desk.sign_in("cora"), desk.sign_in("chen")
    reading = read_reading(cora, ids["a.docx"])
    first, _, third = (one["pictures"] for one in reading["questions"])
    assert [(one["number"], one["alt_text"]) for one in first] == [
        (1, "three resistors"),
        *((n, None) for n in range(2, 6)),
    ]
    assert "[picture:1]" in reading["questions"][0]["stem"]
    assert len(third) == 1
    for one in (*first, *third):
        got = cora.get(one["source"])
        assert (got.status_code, got.headers["content-type"]) == (200, "image/png")
        assert hashlib.sha256(got.content).hexdigest() in one["source"]
    source = first[0]["source"]
    assert chen.get(source).status_code == 404
    # A picture of another paper is none of this one's.
    other = read_reading(cora, ids["b.docx"])["questions"][-1]["pictures"][0]["source"]
    assert cora.get(other).status_code == 200
    assert cora.get(other.replace(ids["b.docx"], ids["a.docx"])).status_code == 404
    name_picture(desk.settings.archive_dir, source.rsplit("/", 1)[1]).unlink()
    assert cora.get(source).status_code == 404


def read_reading(person: Reviewer, document: str) -> Any:
    page: Any = html.fromstring(person.get(f"/papers/{document}").text)
    (main,) = page.xpath("//*[@data-reading]")
    return json.loads(main.get("data-reading"))


def test_a_reading_that_nobody_has_kept_brings_its_pictures(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = find(desk, "lens.docx")
    with open_lake(desk.settings) as lake:
        query = "SELECT count(*) FROM pictures WHERE document_id = $id"
        assert lake.query(query, {"id": document}).item() == 0
    cora = desk.sign_in("cora")
    shown = cora.get(f"/papers/{document}").text
    seen, places = re.search(r'data-seen="([^"]+)"', shown), re.findall(r'data-place="(\d+)"', shown)
    assert seen is not None
    marks = json.dumps([{"place": int(place), "role": "number", "type": None} for place in places[:2]])

    def read_marked() -> Any:
        return cora.post(f"/papers/{document}/reading", json={"marks": marks}).json()["questions"][0]

    assert [one["source"][:22] for one in read_marked()["pictures"]] == ["data:image/png;base64,"]
    # Beyond so much of them the page shows their marks.
    monkeypatch.setattr("deployments.web.pictures._MOST_SENT", 10)
    assert read_marked()["pictures"] == []
    kept = cora.post(f"/papers/{document}/correction", json={"marks": marks, "seen": seen[1]}).json()
    (picture,) = kept["questions"][0]["pictures"]
    assert cora.get(picture["source"]).status_code == 200
    assert read_reading(cora, document)["questions"][0]["pictures"] == [picture]
