"""The page of the original beside a question.

Its place was kept at ingest, or is looked for. The page is drawn in a process of its own.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from schemas.settings import Settings
from tasks.ingest.landing import land_documents
from tasks.ingest.originals.excerpt import make_excerpt
from tasks.ingest.originals.original import (
    Original,
    Place,
    find_archived,
    find_place,
    merge_boxes,
    read_original,
)
from tasks.ingest.originals.pages import draw_page, find_pages, read_picture_size, trim_kept
from tasks.ingest.originals.search import PageText, find_lines, fold
from tasks.ingest.readers.pdf import read_pdf
from tests.tasks.ingest.builders import make_docx, make_pdf, make_xlsx
from warehouse.lake import Lake, open_lake

PAPER = [
    [
        (50, 760, "1. Which planet is the largest?"),
        (50, 740, "A. Mars  B. Jupiter"),
        (50, 700, "2. Which metal is liquid at room temperature?"),
        (50, 680, "A. Mercury  B. Iron"),
    ],
    [(50, 760, "3. Name the capital of France."), (50, 740, "A. Paris  B. Rome")],
]
WORD = [
    "1. Which planet is the largest?",
    "A. Mars",
    "B. Jupiter",
    "2. Which metal is liquid?",
    "A. Mercury",
    "B. Iron",
]
SHEET = [
    ["题干", "A", "B", "答案"],
    ["最大的行星是", "火星", "木星", "B"],
    ["液态的金属是", "汞", "铁\n钢", "A"],
]


class World:
    """A home with three papers.

    All of their questions are known by the beginning of their stems.
    """

    def __init__(self, lake: Lake, settings: Settings) -> None:
        self.lake = lake
        self.settings = settings

    def original(self, beginning: str) -> Original:
        rows = self.lake.query(
            "SELECT document_id, question_uuid, stem, document_name FROM questions"
        ).to_dicts()
        row = next(row for row in rows if f"{row['document_name']} {row['stem']}".startswith(beginning))
        original = read_original(self.lake, row["document_id"], row["question_uuid"])
        assert original is not None
        return original


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("originals")
    papers = folder / "papers"
    papers.mkdir()
    (papers / "paper.pdf").write_bytes(make_pdf(PAPER))
    (papers / "word.docx").write_bytes(make_docx(WORD))
    (papers / "bank.xlsx").write_bytes(make_xlsx({"说明": [["请勿修改"]], "题库": SHEET}))
    settings = Settings(home=folder / "home")
    with open_lake(settings) as lake:
        land_documents(lake, settings, [papers])
        yield World(lake, settings)


def holds_ink(picture: bytes, box: tuple[int, int, int, int]) -> bool:
    page = Image.open(io.BytesIO(picture)).convert("L")
    left, top, right, bottom = (
        round(value * side / 1000) for value, side in zip(box, page.size * 2, strict=True)
    )
    return min(page.crop((left, top, right, bottom)).tobytes()) < 100


def test_a_question_of_a_pdf_has_its_page_and_box_and_there_it_stands(world: World) -> None:
    view = find_pages(world.settings, world.original("paper.pdf Which metal"))
    assert (view.pages, view.problem) == ((1,), None)
    (box,) = view.boxes[1]
    # two lines of print, 700 and 680 points from the foot of a page of 842
    assert box[1] < 1000 * (842 - 700) / 842 < 1000 * (842 - 680) / 842 < box[3]
    assert box[1] > 1000 * (842 - 730) / 842, "the question above is not in it"
    picture = draw_page(world.settings, world.original("paper.pdf Which metal"), 1)
    assert holds_ink(picture, box)
    assert not holds_ink(picture, (0, box[3] + 5, 1000, 900))
    kept = world.settings.pages_dir / f"{world.original('paper.pdf Which metal').sha256}.1.png"
    assert kept.read_bytes() == picture
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert max(read_picture_size(picture)) == 1700


def test_a_page_that_is_turned_and_cut_is_marked_where_it_is_shown() -> None:
    import pypdfium2

    document = pypdfium2.PdfDocument(make_pdf(PAPER))
    document[0].set_rotation(90)
    document[0].set_cropbox(40, 600, 595, 842)
    stream = io.BytesIO()
    document.save(stream)
    extraction, _ = read_pdf(stream.getvalue())
    line = next(line for line in extraction.lines if "liquid" in line.text)
    page = pypdfium2.PdfDocument(stream.getvalue())[0]
    shown = page.render(scale=1000 / page.get_width()).to_pil().convert("L")
    left, top, right, bottom = (
        round(value * side / 1000) for value, side in zip(line.box, shown.size * 2, strict=True)
    )
    assert bottom - top > right - left, "a turned line is upright"
    blank = shown.copy()
    others = [one.box for one in extraction.lines if one.page == 1]
    for box in others:
        blank.paste(
            255, tuple(round(value * side / 1000) for value, side in zip(box, shown.size * 2, strict=True))
        )
    assert min(shown.crop((left, top, right, bottom)).tobytes()) < 100
    assert min(blank.tobytes()) > 200, "all print lies in the boxes of its lines"


def test_places_that_were_not_kept_are_looked_for_in_the_text_of_the_pages(world: World) -> None:
    known = world.original("paper.pdf Name the capital")
    unknown = replace(known, place=replace(known.place, boxes={}))
    kept, found = find_pages(world.settings, known), find_pages(world.settings, unknown)
    assert (kept.pages, found.pages) == ((2,), (2,))
    assert all(abs(one - other) <= 6 for one, other in zip(kept.boxes[2][0], found.boxes[2][0], strict=True))


@pytest.mark.service
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.long
def test_a_question_of_a_word_paper_is_marked_on_the_page_that_libreoffice_makes(world: World) -> None:
    original = world.original("word.docx Which metal")
    view = find_pages(world.settings, original)
    assert (view.pages, view.problem) == ((1,), None)
    (box,) = view.boxes[1]
    assert holds_ink(draw_page(world.settings, original, 1), box)
    upper = find_pages(world.settings, world.original("word.docx Which planet")).boxes[1][0]
    assert upper[3] <= box[1] + 8


def test_without_libreoffice_the_reason_is_said_and_the_text_is_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_SOFFICE", "")
    original = replace(world.original("word.docx Which metal"), start=58, end=70)
    for made in world.settings.pages_dir.glob(f"{original.sha256}*"):
        made.unlink()
    assert find_pages(world.settings, original).problem == "needs_libreoffice"
    excerpt = make_excerpt(world.original("word.docx Which metal"))
    assert [line.cells[0] for line in excerpt.lines if line.is_marked] == WORD[3:]


def test_a_question_of_a_workbook_is_shown_as_its_row_below_the_header(world: World) -> None:
    original = world.original("bank.xlsx 液态")
    assert find_pages(world.settings, original).pages == ()
    excerpt = make_excerpt(original)
    assert excerpt.sheet == "题库"
    assert [(line.number, line.is_marked, line.cells) for line in excerpt.lines] == [
        (number, number == 3, tuple(map(str, row))) for number, row in enumerate(SHEET, start=1)
    ]
    older = replace(original, page_offsets=(), place=replace(original.place, first_page=0, last_page=0))
    assert make_excerpt(older) == excerpt, "read before the places of sheets were kept"


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7 cut off",
        pytest.param(b"", marks=pytest.mark.long),
        pytest.param(b"\x89PNG\r\n\x1a\n" + b"\0" * 50, marks=pytest.mark.long),
    ],
)
def test_a_damaged_original_ends_in_a_word_not_in_a_fault(tmp_path: Path, data: bytes) -> None:
    settings = Settings(home=tmp_path)
    folder = settings.archive_dir / "ab"
    folder.mkdir(parents=True)
    (folder / "abc.pdf").write_bytes(data)
    original = Original("abc", "abc.pdf", "pdf", 1, "1. Which planet", (0,), 0, 15, Place(0, 0, 1, 1))
    assert find_pages(settings, original).problem in ("corrupt", "crashed")
    deleted = replace(original, sha256="def")
    assert find_pages(settings, deleted).problem == "deleted"


def test_of_what_is_kept_the_oldest_goes_first(tmp_path: Path) -> None:
    import os

    for age, name in enumerate(("new", "old", "oldest")):
        (tmp_path / name).write_bytes(b"x" * 100)
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    trim_kept(tmp_path, 150)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_an_original_in_the_archive_is_told_from_what_was_read_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "ab"
    folder.mkdir()
    for name in ("abc.txt", "abc.json"):
        (folder / name).write_text("read")
    assert find_archived(tmp_path, "abc") is None
    (folder / "abc.original.txt").write_text("the paper")
    assert find_archived(tmp_path, "abc") == folder / "abc.original.txt"


def test_lines_of_two_columns_become_two_blocks() -> None:
    left = [(100, top, 450, top + 20) for top in (800, 830, 860)]
    right = [(520, top, 900, top + 20) for top in (100, 130)]
    assert merge_boxes([*left, *right]) == [(96, 796, 454, 884), (516, 96, 904, 154)]


def test_the_place_of_a_stretch_names_its_lines_pages_and_boxes() -> None:
    text = "title\n1. first\nA. one\n2. second\nfoot"
    boxes: list[Any] = [*(0, 0, 0, 0), *(10, 10, 90, 20), *(10, 25, 90, 35), *(10, 10, 90, 20), *(0, 0, 0, 0)]
    place = find_place(text, [0, 22], boxes, 6, 31)
    assert (place.first_line, place.last_line, place.first_page, place.last_page) == (1, 3, 1, 2)
    assert place.boxes == {1: [(6, 6, 94, 39)], 2: [(6, 6, 94, 24)]}
    assert find_place(text, [0, 22], boxes[:-4], 6, 31).boxes == {}, "boxes out of step are none"


def test_of_several_places_the_one_at_the_share_of_the_paper_is_meant() -> None:
    pages = [
        PageText(*fold(text))
        for text in ("1．Which planet is large? Ａ. Mars", "9. Which planet is large? A. Pluto")
    ]
    lines = ["9. Which planet is large?", "A. Pluto"]
    assert list(find_lines(pages, lines, 0.9)) == [1]
    assert list(find_lines(pages, ["Which planet is large?", "A. Mars"], 0.1)) == [0]
    assert find_lines(pages, ["another question altogether"], 0.5) == {}
