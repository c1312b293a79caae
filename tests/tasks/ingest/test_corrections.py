"""A person marks lines of a paper; it, and later ones of its source, are read by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ConflictError, DocumentError, UsageError
from schemas.settings import Settings
from tasks.ingest import ParsedDocument, corrected
from tasks.ingest.corrected import keep_correction, list_held, open_paper, read_again
from tasks.ingest.landing import land_documents
from tasks.ingest.layout.corrections import parse_correction, shape_of, write_correction
from tests.tasks.ingest.builders import make_docx, write
from tests.tasks.ingest.finnish_paper import FACTS, KNOWN, mark_lines, write_paper
from warehouse.lake import Lake

ASKED = [(stem, list(options), [key]) for stem, options, key in FACTS]


def read_questions(lake: Lake, name: str) -> list[tuple[str, list[str], list[str]]]:
    rows = lake.query(
        f"select stem, options, answer from questions where document_name = '{name}' order by position"
    )
    return [(stem, [option["text"] for option in options], answer) for stem, options, answer in rows.rows()]


def land(lake: Lake, settings: Settings, folder: Path, *, again: bool = False) -> dict[str, object]:
    return land_documents(lake, settings, [folder], again=again, workers=1).as_counts()


@pytest.mark.parametrize("suffix", ["txt", pytest.param("docx", marks=pytest.mark.long)])
def test_a_held_paper_is_read_by_a_persons_marks_and_the_next_of_its_source_reads_alone(
    tmp_path: Path, lake: Lake, settings: Settings, suffix: str
) -> None:
    folder = tmp_path / "finland"
    folder.mkdir()

    def put(name: str, text: str) -> None:
        write(folder, f"{name}.{suffix}", make_docx(text.split("\n")) if suffix == "docx" else text.encode())

    put("syksy", write_paper())
    counts = land(lake, settings, folder)
    assert counts["documents"] == {"held": 1}
    (held,) = list_held(lake)
    assert "announces 7 questions" in held["reason"]
    paper = open_paper(lake, held["document_id"])
    assert paper is not None
    marks = mark_lines(paper.text)
    shown = read_again(lake, settings, paper, marks)
    assert [question["stem"] for question in shown.questions][len(KNOWN) :] == [stem for stem, _, _ in ASKED]
    assert read_questions(lake, f"syksy.{suffix}")[len(KNOWN) :] == []  # nothing was landed by that
    for _ in range(2):
        kept = keep_correction(lake, settings, paper, marks, "cora")
    assert kept.document["status"] == "parsed"
    assert read_questions(lake, f"syksy.{suffix}")[len(KNOWN) :] == ASKED
    assert lake.query("select source, corrected_by from layouts").rows() == [("finland", "cora")]
    assert list_held(lake) == []

    put("talvi", write_paper(FACTS[::-1][:4]))
    counts = land(lake, settings, folder)
    assert (counts["documents"], counts["skipped_documents"]) == ({"parsed": 1}, 1)
    assert read_questions(lake, f"talvi.{suffix}")[len(KNOWN) :] == ASKED[::-1][:4]
    # the same bytes again keep their own correction
    land(lake, settings, folder, again=True)
    assert read_questions(lake, f"syksy.{suffix}")[len(KNOWN) :] == ASKED
    assert list_held(lake) == []


def test_a_layout_of_one_source_is_not_tried_on_papers_of_another(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    for name, facts in (("finland", FACTS), ("elsewhere", FACTS[:4])):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "paper.txt", write_paper(facts))
    land(lake, settings, tmp_path / "finland")
    paper = open_paper(lake, list_held(lake)[0]["document_id"])
    assert paper is not None
    keep_correction(lake, settings, paper, mark_lines(paper.text), "cora")
    assert land(lake, settings, tmp_path / "elsewhere")["documents"] == {"held": 1}


def test_of_two_who_correct_a_paper_at_once_the_later_is_told_and_replaces_nothing(
    tmp_path: Path, lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read it again takes seconds, in which the other one's correction is landed."""
    (tmp_path / "finland").mkdir()
    write(tmp_path / "finland", "paper.txt", write_paper())
    land(lake, settings, tmp_path / "finland")
    paper = open_paper(lake, list_held(lake)[0]["document_id"])
    assert paper is not None
    marks = mark_lines(paper.text)
    fewer = json.dumps(json.loads(marks)[:-1])

    def read_meanwhile(*given: Any) -> ParsedDocument:
        monkeypatch.undo()
        keep_correction(lake, settings, paper, marks, "cora")
        return read_again(*given)

    monkeypatch.setattr(corrected, "read_again", read_meanwhile)
    with pytest.raises(ConflictError, match="since it was shown"):
        keep_correction(lake, settings, paper, fewer, "xu")
    assert lake.query("select corrected_by from layouts").rows() == [("cora",)]
    assert read_questions(lake, "paper.txt")[len(KNOWN) :] == ASKED


def test_no_marks_read_the_paper_as_it_was_read_at_first(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    (tmp_path / "finland").mkdir()
    write(tmp_path / "finland", "paper.txt", write_paper())
    land(lake, settings, tmp_path / "finland")
    paper = open_paper(lake, list_held(lake)[0]["document_id"])
    assert paper is not None
    again = read_again(lake, settings, paper, "[]")
    assert [row["question_uuid"] for row in again.questions] == [
        row["question_uuid"] for row in paper.questions
    ]
    assert again.document["source_path"] == paper.document["source_path"] == "finland/paper.txt"


def test_a_paper_whose_original_was_deleted_cannot_be_read_again(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    (tmp_path / "finland").mkdir()
    write(tmp_path / "finland", "paper.txt", write_paper())
    land(lake, settings, tmp_path / "finland")
    paper = open_paper(lake, list_held(lake)[0]["document_id"])
    assert paper is not None
    for path in settings.archive_dir.rglob("*"):
        if path.is_file():
            path.unlink()
    with pytest.raises(DocumentError, match="deleted from the archive"):
        read_again(lake, settings, paper, "[]")


def test_keys_of_an_answer_file_beside_the_paper_are_found_again(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    folder = tmp_path / "finland"
    folder.mkdir()
    text = write_paper()
    write(folder, "koe.txt", text[: text.index("\nOikeat")])
    keys = "\n".join(f"{number}. {key}" for number, (_, _, key) in enumerate(FACTS, start=1))
    write(folder, "koe答案.txt", f"参考答案\n一、单项选择题\n{keys}\n")
    land(lake, settings, folder)
    found = [one for one in list_held(lake) if one["document_name"] == "koe.txt"]
    paper = open_paper(lake, found[0]["document_id"])
    assert paper is not None
    marks = json.dumps([mark for mark in json.loads(mark_lines(text)) if mark["role"] != "key"])
    again = read_again(lake, settings, paper, marks)
    assert [row["answer"] for row in again.questions][-len(FACTS) :] == [[key] for _, _, key in FACTS]


UNMARKED = """Arithmetic
What is 7 times 8?
-5
-3
-2
-1
What is 12 plus 5?
1.5 kg
2.5 kg
3.5 kg
4.5 kg
Solve x^2 = 9 for x.
$x^2$
$y$
$z$
√2
Which is f(1) of these?
(0, 1)
(1, 0)
(2, 2)
(1, 1)
A ferry is what?
a boat
a bird
I see one
a bridge
Which of them costs least?
€5
€3
€9
€7
¿Dónde está el mar?
¿Aquí?
¿Allí?
¿Lejos?
¿Cerca?
"""


def test_what_a_person_marks_loses_no_word_that_only_looks_like_a_number_or_a_mark(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    write(tmp_path, "paper.txt", UNMARKED)
    land(lake, settings, tmp_path)
    paper = open_paper(lake, list_held(lake)[0]["document_id"])
    assert paper is not None
    lines = UNMARKED.splitlines()[1:]
    marks: list[dict[str, object]] = [
        {"place": UNMARKED.index(line), "role": "number" if line.endswith(("?", ".")) else "option"}
        for line in lines
    ]
    marks.append({"place": 0, "role": "heading", "type": "single_choice"})
    found = read_again(lake, settings, paper, json.dumps(marks)).questions
    read = [line for one in found for line in (one["stem"], *(each["text"] for each in one["options"]))]
    assert read == lines


def test_more_options_in_a_row_than_a_question_is_read_with_are_refused() -> None:
    lines = ["Which are prime?", *(f"number {number}\n" for number in range(11))]
    text = "\n".join(lines)
    marks = [{"place": text.index(line), "role": "option"} for line in lines[1:]]
    assert json.loads(write_correction(parse_correction(json.dumps(marks[:10])), text))
    with pytest.raises(UsageError, match=r"More than 10 lines .* clear the others"):
        write_correction(parse_correction(json.dumps(marks)), text)
    marks[5]["role"] = "number"
    assert json.loads(write_correction(parse_correction(json.dumps(marks)), text))


@pytest.mark.parametrize(
    ("text", "role", "shape"),
    [
        ("T/12/ Mitä?", "number", "t/0/"),
        ("第三小题 什么", "number", "第一"),
        ("(4) x", "number", "(0)"),
        ("» Turku", "option", "»"),
        ("B) Turku", "option", "a)"),
        ("Sivu 3 / 12", "nothing", "sivu/"),
        ("no mark at all", "number", ""),
    ],
)
def test_the_shape_of_a_line_is_what_lines_of_its_role_have_alike(text: str, role: str, shape: str) -> None:
    assert shape_of(text, role) == shape


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '[{"role": "title", "place": 1}]',
        '[{"role": "heading", "type": "riddle", "place": 1}]',
        "[1]",
        '[{"role": "number", "place": Infinity}]',
        "[" * 100_000,
    ],
)
def test_what_is_no_correction_is_one_clear_sentence(text: str) -> None:
    with pytest.raises(UsageError, match="no correction"):
        parse_correction(text)
