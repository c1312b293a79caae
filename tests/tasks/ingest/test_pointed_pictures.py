"""Pictures of which a second reader says where they belong: what it says decides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image, ImageDraw, ImageFont

from tasks.ingest.documents import IngestOptions, ParsedDocument, parse_as_said, parse_document
from tasks.ingest.intake import open_spool
from tasks.ingest.second_reader import choose_reading, make_messages, make_window
from tasks.ingest.second_reader.areas import fit_area
from tasks.ingest.second_reader.requests import join_replies
from tests.tasks.ingest.test_pictures import draw, save, say, show, write_word

OPTIONS = IngestOptions().shown_to(sees_pictures=True)
# the mill floats behind its question, the seal closes the paper, the sketch is an answer
BLOCKS = [
    say("1. What turns the wheel?"),
    say("A. wind"),
    say("B. water"),
    say("", show("mill")),
    say("2. Which of these floats?"),
    say("A. ", show("iron")),
    say("B. ", show("cork")),
    say("3. Sketch a lock."),
    say("", show("seal")),
    say("Answers"),
    say("1. A  2. B"),
    say("3. The lock is"),
    say("", show("lock")),
]
ONE = {
    "number": "1",
    "type": "single_choice",
    "stem": ["0"],
    "options": {"A": "1", "B": "2"},
    "answer": "10:A",
    "key": "A",
}
TWO = {
    "number": "2",
    "type": "single_choice",
    "stem": ["4"],
    "options": {"A": "5", "B": "6"},
    "answer": "10:B",
    "key": "B",
}
THREE = {"number": "3", "type": "short_answer", "stem": ["7"], "answer": ["11-12"]}
LEFT_OUT = ["picture 4"]


@pytest.fixture
def paper(tmp_path: Path) -> ParsedDocument:
    names = ("mill", "iron", "cork", "seal", "lock")
    write_word(tmp_path / "paper.docx", BLOCKS, {name: save(draw(name)) for name in names})
    return parse_document(tmp_path / "paper.docx", OPTIONS)


def read(paper: ParsedDocument, *questions: dict[str, Any], **said: Any) -> ParsedDocument:
    found = parse_as_said(paper, json.dumps({"questions": list(questions), **said}), OPTIONS)
    assert found is not None
    return found


def list_places(parsed: ParsedDocument) -> list[list[str]]:
    return [[one["place"] for one in row["pictures"] or ()] for row in parsed.questions]


def test_pictures_are_numbered_and_shown_small_and_the_request_speaks_of_them_where_there_are_any(
    paper: ParsedDocument, tmp_path: Path
) -> None:
    assert paper.shown is not None
    window = make_window(paper.shown, 0, 10_000)
    assert [line for line in paper.shown.lines if "image" in line] == [
        "[image 1]",
        "A. [image 2]",
        "B. [image 3]",
        "[image 4]",
        "[image 5]",
    ]
    assert (window.pictures, sorted(paper.shown.pictures)) == ([1, 2, 3, 4, 5], ["1", "2", "3", "4", "5"])
    assert "left_out" in make_messages(window.text)[-1]["content"]
    (tmp_path / "plain.txt").write_text("1. What floats?\n2. What sinks?\n")
    plain = parse_document(tmp_path / "plain.txt", OPTIONS)
    assert plain.shown is not None
    request = make_messages(make_window(plain.shown, 0, 10_000).text)[-1]["content"]
    assert re.search("image|left_out", request) is None


def test_a_picture_is_where_it_is_named_and_furniture_nowhere(paper: ParsedDocument) -> None:
    found = read(
        paper,
        ONE,
        TWO | {"stem": ["picture 1", "4"], "options": {"A": "picture 2", "B": ["6", "picture 3"]}},
        THREE | {"stem": ["7-8"]},
        left_out=LEFT_OUT,
    )
    one, two, three = found.questions
    assert (one["pictures"], [option["text"] for option in one["options"]]) == (None, ["wind", "water"])
    assert two["stem"] == "Which of these floats?\n[picture:1]"
    assert [option["text"] for option in two["options"]] == ["[picture:2]", "[picture:3]"]
    assert (three["stem"], three["answer"]) == ("Sketch a lock.", ["The lock is\n[picture:1]"])
    assert [one["place"] for one in three["pictures"]] == ["answer"]


def test_without_a_word_on_pictures_the_rules_decide(paper: ParsedDocument) -> None:
    found = read(paper, ONE | {"options": {"A": "1", "B": "2-3"}}, TWO, THREE)
    assert list_places(found) == [["stem"], ["option", "option"], ["answer"]]
    # once it speaks of pictures no rule moves the one below the last option
    said = read(paper, ONE | {"options": {"A": "1", "B": ["2", "picture 1"]}}, TWO, THREE)
    assert list_places(said)[0] == ["option"]


def test_the_picture_of_an_answer_reaches_no_candidate(paper: ParsedDocument) -> None:
    found = read(
        paper,
        ONE | {"stem": ["0", "picture 5"]},
        TWO | {"material": ["12"]},
        THREE | {"answer": ["11", "picture 5"]},
    )
    one, two, three = found.questions
    assert (one["pictures"], two["material"], one["stem"]) == (None, None, "What turns the wheel?")
    assert "needs_figure" in one["parse_notes"]
    assert [one["place"] for one in three["pictures"]] == ["answer"]
    # nor by the rules' reading of a question that is nothing else
    alone = read(paper, {"number": "2", "stem": "picture 5"}, THREE | {"answer": ["11", "picture 5"]})
    assert (alone.refused, [row["number_label"] for row in alone.questions]) == ((), ["3"])


def test_an_option_that_is_named_as_the_answer_stays_an_option(paper: ParsedDocument) -> None:
    found = read(
        paper, TWO | {"options": {"A": "picture 2", "B": "picture 3"}, "answer": ["10:B", "picture 3"]}
    )
    assert list_places(found) == [["option", "option"]]
    assert found.questions[0]["answer"] == ["B"]


@pytest.mark.parametrize(
    "reference", ["picture 6", "picture 0", "page 1: 100 100 500 500", "5:[image 9]", "5:[image 5]"]
)
def test_a_picture_that_is_not_there_is_refused(paper: ParsedDocument, reference: str) -> None:
    found = read(paper, ONE, TWO | {"stem": ["4", reference]})
    assert (found.refused, [row["number_label"] for row in found.questions]) == (("2",), ["1"])


def test_a_picture_in_its_line_stays_there_and_may_be_quoted(tmp_path: Path) -> None:
    text = say("1. Turn ", show("left")).replace(
        "</w:p>", "<w:r><w:t> then stop at the mill.</w:t></w:r></w:p>"
    )
    write_word(tmp_path / "paper.docx", [text], {"left": save(draw("left"))})
    paper = parse_document(tmp_path / "paper.docx", OPTIONS)
    for stem in (["0", "picture 1"], ["0:Turn [image 1] then stop at the mill."]):
        (row,) = read(paper, {"number": "1", "type": "short_answer", "stem": stem}).questions
        assert row["stem"] == "Turn [picture:1] then stop at the mill."


def test_pictures_are_part_of_what_two_readers_read_alike(paper: ParsedDocument) -> None:
    alike = TWO | {"options": {"A": ["5", "picture 2"], "B": ["6", "picture 3"]}}
    other = alike | {"stem": ["4", "picture 1"]}
    sure = {}
    for name, two in (("alike", alike), ("other", other)):
        second = read(paper, ONE, two, THREE, left_out=LEFT_OUT)
        chosen, is_taken = choose_reading(paper, second, OPTIONS)
        assert is_taken
        sure[name] = chosen.questions[1]["parse_confidence"]
    assert sure == {"alike": 0.97, "other": 0.85}


def test_a_picture_that_answers_by_a_reading_that_is_not_taken_is_in_doubt(paper: ParsedDocument) -> None:
    shown = {
        one["sha256"]
        for row in paper.questions
        for one in row["pictures"] or ()
        if one["place"] in ("stem", "material", "option")
    }
    # so many that three questions are a scrap of them
    many = replace(paper, questions=[dict(row) for row in paper.questions for _ in range(6)])
    second = read(paper, ONE, TWO, THREE | {"answer": ["11-12", "picture 1"]}, left_out=LEFT_OUT)
    (mill,) = shown & {one["sha256"] for one in second.questions[2]["pictures"] or ()}
    chosen, is_taken = choose_reading(many, second, OPTIONS)
    assert not is_taken
    for before, row in zip(many.questions, chosen.questions, strict=True):
        is_shown = mill in [one["sha256"] for one in row["pictures"] or ()]
        assert ("key_shown" in row["parse_notes"]) == is_shown
        assert (row["status"] == "low_confidence") == is_shown
        assert is_shown or row["stem"] == before["stem"]


def test_what_is_left_out_of_any_window_is_left_out_of_the_paper() -> None:
    windows: list[dict[str, Any]] = [
        {"questions": [ONE], "left_out": ["picture 1"]},
        {"questions": [TWO], "left_out": "picture 4"},
        {"questions": []},
    ]
    assert join_replies(windows)["left_out"] == ["picture 1", "picture 4"]
    assert "left_out" not in join_replies([{"questions": [ONE]}])


def draw_page(path: Path) -> None:
    """A page with a figure that is taken for a table: no mark stands for it."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path), pagesize=(500, 1000))
    canvas.drawString(50, 900, "1. Which animal of the chain eats the mouse?")
    for low, word in ((800, "hawk"), (740, "mouse"), (680, "grass")):
        canvas.rect(100, low, 150, 40)
        canvas.drawString(150, low + 15, word)
        if word != "grass":
            canvas.line(175, low, 175, low - 20)
    canvas.drawString(50, 600, "2. Name a bird of the sea, and say where it nests.")
    canvas.drawString(50, 560, "Answers")
    canvas.drawString(50, 540, "1. The hawk  2. A gull")
    canvas.save()


def test_an_area_of_a_page_is_a_picture_without_a_mark_unless_it_shows_an_answer(tmp_path: Path) -> None:
    draw_page(tmp_path / "chain.pdf")
    paper = parse_document(tmp_path / "chain.pdf", OPTIONS)
    assert paper.shown is not None
    lines = {line: str(at) for at, line in enumerate(paper.shown.lines)}
    (first,) = (at for line, at in lines.items() if line.startswith("1. Which"))
    (second,) = (at for line, at in lines.items() if line.startswith("2. Name"))
    (key,) = (at for line, at in lines.items() if line.startswith("1. The hawk"))
    questions = [
        {"number": "1", "type": "short_answer", "stem": [first, "page 1: 210 165 490 315"],
         "answer": f"{key}:The hawk"},
        {"number": "2", "type": "short_answer", "stem": [second, "page 1: 80 380 600 470"],
         "answer": f"{key}:A gull"},
    ]  # fmt: skip
    chain, bird = read(paper, *questions).questions
    assert chain["stem"] == "Which animal of the chain eats the mouse?\n[picture:1]"
    assert (bird["stem"], bird["pictures"]) == ("Name a bird of the sea, and say where it nests.", None)
    assert "needs_figure" in bird["parse_notes"]
    (cut,) = read(paper, *questions).pictures
    # all of the chain, though the area that was told begins in it
    assert [round(edge, -1) for edge in cut["box"]] == [200, 160, 500, 320]
    assert "page 1: 120 340" in make_messages(make_window(paper.shown, 0, 10_000, True).text)[-1]["content"]


def test_a_picture_over_which_a_page_prints_an_answer_reaches_no_candidate(tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "mill.pdf"), pagesize=(500, 1000))
    canvas.drawString(50, 900, "1. What turns the mill that is shown here?")
    canvas.drawImage(ImageReader(draw("mill", (300, 200))), 50, 650, 300, 200)
    canvas.drawString(120, 680, "The water of the river")
    canvas.drawString(50, 600, "2. Name a bird of the sea, and say where it nests.")
    canvas.save()
    paper = parse_document(tmp_path / "mill.pdf", OPTIONS)
    assert paper.shown is not None
    at = {line: str(place) for place, line in enumerate(paper.shown.lines)}
    (stem,) = (place for line, place in at.items() if line.startswith("1."))
    (answer,) = (place for line, place in at.items() if line.startswith("The water"))
    asked = {"number": "1", "type": "short_answer", "stem": [stem, "picture 1"]}
    shown, withheld = read(paper, asked), read(paper, asked | {"answer": answer})
    assert list_places(shown) == [["stem"]]
    assert (list_places(withheld), withheld.questions[0]["answer"]) == ([[]], ["The water of the river"])
    # nor where its line is pointed at in the place of its number
    (mark,) = (place for line, place in at.items() if "[image 1]" in line)
    by_line = read(paper, asked | {"stem": [stem, mark], "answer": answer})
    assert list_places(by_line) == [[]]
    assert "needs_figure" in by_line.questions[0]["parse_notes"]


def test_what_was_kept_of_a_paper_and_its_answer_file_holds_their_pictures_once_and_its_pages(
    tmp_path: Path,
) -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "mill.pdf"), pagesize=(500, 1000))
    canvas.drawString(50, 900, "1. What turns the mill that is shown here?")
    canvas.drawImage(ImageReader(draw("mill", (300, 200))), 50, 650, 300, 200)
    canvas.drawString(50, 600, "2. Name a bird of the sea, and say where it nests.")
    canvas.save()
    answers = tmp_path / "mill answers.docx"
    blocks = [say("1. The wheel, as here:"), say("", show("wheel")), say(f"2. A gull{' on its cliff' * 20}")]
    write_word(answers, blocks, {"wheel": save(draw("wheel"))})
    options = replace(OPTIONS, spool=open_spool(tmp_path / "archive"))
    plain, kept = (parse_document(tmp_path / "mill.pdf", one) for one in (OPTIONS, options))
    assert plain.shown is not None and kept.copy is not None and kept.shown == plain.shown
    assert sorted(plain.shown.pictures) == ["1", "2"]
    at = {line: str(place) for place, line in enumerate(plain.shown.lines)}
    places = {line[:2]: place for line, place in at.items() if line[1:2] == "."}
    stems = [
        next(place for line, place in at.items() if line.startswith(number))
        for number in ("1. What", "2. Name")
    ]
    said = {
        "questions": [
            {"number": "1", "type": "short_answer", "stem": [stems[0], "picture 1"], "answer": [places["1."], "picture 2"]},
            {"number": "2", "type": "short_answer", "stem": [stems[1], "page 1: 90 140 710 360"], "answer": places["2."]},
        ]
    }  # fmt: skip
    found = parse_as_said(plain, json.dumps(said), OPTIONS)
    # nothing but what was kept is read again
    answers.unlink()
    kept.copy.write_bytes(b"")
    again = parse_as_said(kept, json.dumps(said), options)
    assert found is not None and again is not None
    assert list_places(again) == [["stem", "answer"], ["stem"]]
    assert (again.questions, again.pictures) == (found.questions, found.pictures)


def test_an_area_is_fitted_to_what_it_shows_and_to_no_text() -> None:
    page = numpy.full((1000, 1000), 255, numpy.uint8)
    page[300:500, 200:400] = 60
    page[280:292, 200:700] = 0  # a line of text right above
    assert fit_area(page, (210, 290, 390, 480), [(190, 275, 710, 295)]) == (200, 300, 400, 500)
    assert fit_area(page, (600, 600, 800, 800), []) is None
    page[:, 390:395] = 0  # what crosses the whole page is not followed up and down
    assert fit_area(page, (210, 310, 380, 480), []) == (200, 302, 400, 488)


def test_no_rule_takes_a_picture_for_an_answer_that_is_named_as_part_of_the_question(tmp_path: Path) -> None:
    blocks = [
        say("1. Translate this text into French."),
        say("", show("text")),
        say("2. Name a bird of the sea."),
    ]
    page = Image.new("RGB", (600, 300), "white")
    pen = ImageDraw.Draw(page)
    for line in range(6):
        text = "The mill stands by the river and turns"
        pen.text((20, 20 + 40 * line), text, fill="black", font=ImageFont.load_default(24))
    write_word(tmp_path / "french.docx", blocks, {"text": save(page)})
    paper = parse_document(tmp_path / "french.docx", OPTIONS)
    assert list_places(paper)[0] == ["answer"], "else this shows nothing"
    asked = {"number": "1", "type": "short_answer", "stem": ["0", "picture 1"]}
    found = read(paper, asked, {"number": "2", "type": "short_answer", "stem": ["2"]})
    assert list_places(found) == [["stem"], []]
    both, is_taken = choose_reading(paper, found, OPTIONS)
    assert is_taken and "confirmed" not in both.questions[0]["parse_notes"]
