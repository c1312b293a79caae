"""Pictures on the desk: shown in their place, made again, described, and not to be lost."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from PIL import Image

from schemas.settings import Settings
from tasks.questions.pictures import name_picture
from tests.deployments.web.conftest import BATCH, Desk, MakeDesk, Reviewer
from tests.fresh import copy_home, open_new_lake
from tests.tasks.ingest.builders import make_pdf
from tests.tasks.ingest.kit import land_documents, remove_document
from tests.tasks.ingest.test_pictures import CHOICES, PICTURES, draw, save, write_word
from tests.tasks.review.conftest import make_question
from tests.tasks.review.kit import land_closed_batches
from warehouse.lake import open_lake
from warehouse.ledger.engine.copies.files import restore_ledger
from warehouse.ledger.engine.moments import now_text

PAPER = [
    [(50, 760, "1. Which planet is the largest?"), (50, 740, "A. Mars  B. Jupiter"), (50, 720, "Answer: B")]
]


@pytest.fixture(scope="module")
def made(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed home with two papers, read once; copied."""
    folder = tmp_path_factory.mktemp("pictures")
    given = folder / "papers"
    given.mkdir()
    (given / "a.pdf").write_bytes(make_pdf(PAPER))
    write_word(given / "b.docx", CHOICES, PICTURES)
    with open_new_lake(Settings(home=folder / "home")) as lake:
        land_documents(lake, lake.settings, [given], workers=1)
    restore_ledger(people, folder / "home" / "ledger.sqlite")
    return folder / "home"


@pytest.fixture
def papers(made: Path, make_desk: MakeDesk, one_lake: None, tmp_path: Path) -> Desk:
    """Question 0 stands in a PDF; 1 has a circuit and drawn options, 3 a drawn answer."""
    settings = Settings(home=tmp_path / "home")
    copy_home(made, settings)
    with open_lake(settings) as lake:
        rows = lake.query(
            "SELECT * EXCLUDE (landing_unit) FROM questions ORDER BY document_name, position"
        ).to_dicts()
    return make_desk(rows)


def read_card(reviewer: Reviewer, number: int) -> Any:
    return html.fromstring(reviewer.get(reviewer.path(number, "/card")).text)


def read_original(card: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(card.get("data-original"))
    return found


def make(reviewer: Reviewer, number: int, **asked: Any) -> Any:
    return reviewer.post(reviewer.path(number, "/picture"), json=asked)


def test_pictures_stand_where_they_belong_and_only_for_who_has_the_question(papers: Desk) -> None:
    chen, eva = papers.sign_in("chen"), papers.sign_in("eva")
    card = read_card(chen, 1)
    (shown,) = card.xpath(".//section[@class='part stem']//button[@data-enlarge]/img")
    assert shown.get("alt") == "three resistors"
    assert [len(one.xpath(".//img")) for one in card.xpath(".//section[@class='part options']//li")] == [
        1,
        1,
        1,
        1,
    ]
    got = chen.get(shown.get("src"))
    assert (got.status_code, got.headers["content-type"]) == (200, "image/png")
    assert hashlib.sha256(got.content).hexdigest() in shown.get("src")
    for path in (shown.get("src"), shown.get("src").replace(papers.refer("chen", 1), papers.refer("eva", 1))):
        assert eva.get(path).status_code == 404
    # A picture of another paper is none of this question's.
    other = shown.get("src").replace(papers.refer("chen", 1), papers.refer("chen", 0))
    assert chen.get(other).status_code == 404
    assert read_card(chen, 3).xpath(".//section[@class='part answer']//img")


def test_a_part_of_the_page_and_a_file_become_pictures_and_a_decision_names_them(papers: Desk) -> None:
    chen, dai = papers.sign_in("chen"), papers.sign_in("dai")
    cut = make(chen, 0, page=1, box=[50, 60, 700, 160]).json()
    assert cut["width"] > cut["height"] > 20
    assert chen.get(chen.path(0, f"/picture/{cut['sha256']}")).content.startswith(b"\x89PNG")
    given = make(chen, 0, data=base64.b64encode(save(draw("given"), "BMP")).decode()).json()
    assert (given["width"], given["height"]) == (120, 60)
    pictures = [
        {"number": 1, "sha256": cut["sha256"], "alt_text": "the question in print"},
        {"number": 2, "sha256": given["sha256"], "alt_text": None},
    ]
    edit = {
        "stem": "Which planet is the largest? [picture:1]",
        "options": [{"label": "A", "text": "Mars"}, {"label": "B", "text": "Jupiter [picture:2]"}],
        "pictures": pictures,
    }
    for reviewer in (chen, dai):
        assert reviewer.decide(0, "edit", edit=edit).status_code == 200
        for number in (1, 2):
            assert reviewer.decide(number, "accept").status_code == 200
        assert reviewer.decide(3, "reject", reject_reason="duplicate").status_code == 200
    with open_lake(papers.settings) as lake:
        land_closed_batches(papers.ledger, lake, now_text())
        (landed,) = lake.query(
            "SELECT stem, pictures FROM current_questions WHERE document_name = 'a.pdf'"
        ).to_dicts()
        assert landed["pictures"] == [
            {"number": 1, "sha256": cut["sha256"], "place": "stem"},
            {"number": 2, "sha256": given["sha256"], "place": "option"},
        ]
        told = lake.read("picture_alt_texts", {"sha256s": [cut["sha256"], given["sha256"]]}).rows()
        assert told == [(cut["sha256"], "the question in print")]


def test_what_is_no_picture_of_the_paper_is_refused(papers: Desk) -> None:
    chen = papers.sign_in("chen")
    bomb = base64.b64encode(save(Image.new("1", (8_000, 8_000)))).decode()
    asked: list[tuple[dict[str, Any], str]] = [
        ({"page": 1, "box": [0, 900, 400, 990]}, "nothing_there"),
        ({"page": 1, "box": [10, 10, 11, 500]}, "nothing_there"),
        ({"page": 9, "box": [10, 10, 300, 500]}, "nothing_there"),
        ({"page": 1, "box": [10, 10, "x", 500]}, "nothing_there"),
        ({"data": base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode()}, "no_picture"),
        ({"data": "not base64!"}, "no_picture"),
        ({"data": "图"}, "no_picture"),
        ({"data": bomb}, "no_picture"),
    ]
    replies = [make(chen, 0, **one) for one, _ in asked]
    assert [(one.status_code, one.json()["code"]) for one in replies] == [(422, code) for _, code in asked]
    assert "60 million are allowed" in replies[-1].json()["message"]
    foreign = read_original(read_card(chen, 1))["pictures"][0]["sha256"]
    edit = {
        "stem": "Which planet? [picture:1]",
        "pictures": [{"number": 1, "sha256": foreign, "alt_text": None}],
    }
    refused = chen.decide(0, "edit", edit=edit)
    assert refused.status_code == 422
    assert refused.json()["faults"] == [{"field": "pictures", "message": "A picture is not of this paper."}]
    assert make(papers.sign_in("eva"), 0, page=1, box=[50, 60, 700, 160]).status_code == 404


def test_a_question_whose_picture_is_missing_cannot_be_accepted(papers: Desk, make_desk: MakeDesk) -> None:
    chen = papers.sign_in("chen")
    lost = read_original(read_card(chen, 1))["pictures"][0]["sha256"]
    name_picture(papers.settings.archive_dir, lost).unlink()
    assert "lost" in read_card(chen, 1).get("data-accept-fault")
    refused = chen.decide(1, "accept")
    assert (refused.status_code, refused.json()["faults"][0]["field"]) == (422, "pictures")
    # Another is put in its place.
    given = make(chen, 1, data=base64.b64encode(save(draw("again"))).decode()).json()
    edit = {"pictures": [{"number": 1, "sha256": given["sha256"], "alt_text": None}]}
    assert chen.decide(1, "edit", edit=edit).status_code == 200
    assert chen.decide(2, "accept").status_code == 200


def test_a_question_that_has_lost_its_figure_cannot_be_accepted_as_it_stands(make_desk: MakeDesk) -> None:
    desk = make_desk([make_question(1, parse_notes=["needs_figure"])])
    chen = desk.sign_in("chen")
    fault = read_card(chen, 0).get("data-accept-fault")
    assert "figure that it speaks of is missing" in fault
    assert chen.decide(0, "accept").status_code == 422
    assert chen.decide(0, "edit", edit={"stem": "A shelf holds how many books?"}).status_code == 200


def test_pictures_that_were_made_leave_with_their_paper(papers: Desk) -> None:
    chen = papers.sign_in("chen")
    cut = make(chen, 0, page=1, box=[50, 60, 700, 160]).json()
    file = name_picture(papers.settings.archive_dir, cut["sha256"])
    assert file.exists()
    with open_lake(papers.settings) as lake:
        folders = [papers.settings.archive_dir, papers.settings.pages_dir]
        remove_document(lake, papers.ledger, folders, "a.pdf", "a test", purge=True)
        assert lake.query("SELECT count(*) FROM pictures WHERE page = 1").item() == 0
    assert not file.exists()
    assert list(papers.settings.archive_dir.rglob("*.picture")) != []


def test_the_text_of_a_question_cannot_bring_a_picture_of_its_own(make_desk: MakeDesk) -> None:
    forged = '<span class="lost" data-picture="1">x</span> [picture:7] <img src=x>'
    desk = make_desk([make_question(1, stem=forged)])
    chen = desk.sign_in("chen")
    card = read_card(chen, 0)
    assert card.xpath(".//section[@class='part stem']//img") == []
    assert (
        re.sub(r"\s+", " ", card.xpath(".//section[@class='part stem']")[0].text_content())
        == f"Question{forged.replace('[picture:7]', 'picture 7: lost')}"
    )
    assert BATCH in card.xpath(".//form[@data-address]")[0].get("data-address")
