"""The original beside a question: for who has it, nobody else, with nothing that runs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from deployments.web.originals import Sights
from schemas.settings import Settings
from tests.deployments.web.conftest import BATCH, Desk, MakeDesk
from tests.fresh import open_new_lake
from tests.tasks.ingest.builders import make_pdf, make_xlsx
from tests.tasks.ingest.kit import land_documents

SCRIPT = "<script>alert(1)</script>"
PAPER = [
    [(50, 760, "1. Which planet is the largest?"), (50, 740, "A. Mars  B. Jupiter"), (50, 720, "Answer: B")]
]
SHEET = [["题干", "A", "B", "答案"], [f"最大的行星是 {SCRIPT}", "火星", "木星", "B"]]


@pytest.fixture
def papers(make_desk: MakeDesk, tmp_path: Path) -> Desk:
    """A desk over two papers: question 0 stands in a PDF, question 1 in a workbook."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(make_pdf(PAPER))
    (folder / "b.xlsx").write_bytes(make_xlsx({"题库": SHEET}))
    with open_new_lake(Settings(home=tmp_path / "home")) as lake:
        land_documents(lake, lake.settings, [folder], workers=1)
        rows = lake.query("SELECT * EXCLUDE (landing_unit) FROM questions ORDER BY document_name").to_dicts()
    return make_desk(rows)


def test_the_page_comes_with_its_place_marked_and_only_to_who_has_the_question(papers: Desk) -> None:
    chen, eva = papers.sign_in("chen"), papers.sign_in("eva")
    shown = chen.get(chen.path(0, "/original"))
    assert shown.status_code == 200
    address = f"/review/{BATCH}/question/{papers.refer('chen', 0)}/page/1.png"
    assert address in shown.text
    assert shown.text.count('<rect class="mark"') == 1
    picture = chen.get(address)
    assert (picture.headers["content-type"], picture.headers["cache-control"]) == (
        "image/png",
        "private, max-age=600",
    )
    assert picture.content.startswith(b"\x89PNG")
    for path in (chen.path(0, "/original"), address, eva.path(0, "/original"), eva.path(0, "/page/1.png")):
        assert eva.get(path).status_code == 404
        assert papers.client.get(path, follow_redirects=False).status_code == 303
    for page in ("0", "-1", "9", "1e1", "../1"):
        assert chen.get(chen.path(0, f"/page/{page}.png")).status_code == 404


def test_a_row_of_a_workbook_stands_under_its_headers_and_is_escaped(papers: Desk) -> None:
    chen = papers.sign_in("chen")
    shown = chen.get(chen.path(1, "/original")).text
    assert "row 2" in shown
    assert '<th scope="row">题干</th>' in shown
    assert SCRIPT not in shown
    assert "&lt;script&gt;" in shown


def test_without_a_lake_or_a_place_the_question_is_there_all_the_same(desk: Desk) -> None:
    chen = desk.sign_in("chen")
    assert chen.get(chen.path(0)).status_code == 200
    assert "not known" in chen.get(chen.path(0, "/original")).text


def test_while_many_papers_are_looked_up_others_are_asked_to_come_back(papers: Desk) -> None:
    chen, app = papers.sign_in("chen"), papers.client.app
    sights: Sights = app.state.sights  # type: ignore[attr-defined]
    with ExitStack() as stack:
        while sights._rooms.acquire(blocking=False):
            stack.callback(sights._rooms.release)
        assert chen.get(chen.path(0, "/original")).status_code == 503
    assert chen.get(chen.path(0, "/original")).status_code == 200
