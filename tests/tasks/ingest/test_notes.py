"""The codes that tell a person what may be wrong with a question, or with a document."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schemas.documents import DOCUMENT_STATUSES
from tasks.ingest.content import notes
from tasks.ingest.content.drafts import Draft
from tasks.ingest.content.notes import read_notes, read_statuses, render_problem_codes
from tasks.ingest.content.questions import make_questions
from tests.tasks.ingest.test_layouts import CASES

SOURCES = Path(notes.__file__).parents[1]
# How the readers write a note: into a list of notes, or as a constant.
_WRITTEN = re.compile(
    r'notes(?:\.append\(|\.extend\(\[|\s*=\s*\[)\s*"([a-z_]+)"|^NOTE = "([a-z_]+)"', re.MULTILINE
)
# Marks that one step leaves for the next and takes away again.
_PASSING = {"student"}


def test_every_note_that_the_code_writes_has_a_weight_and_a_meaning() -> None:
    written = {
        first or second
        for path in SOURCES.rglob("*.py")
        for first, second in _WRITTEN.findall(path.read_text(encoding="utf-8"))
    }
    assert len(written) > 20
    assert written - _PASSING - set(read_notes()) == set()


def test_every_note_of_the_known_layouts_has_a_meaning() -> None:
    expected = {
        note
        for case in CASES
        for line in case["questions"].split("\n")
        if line.startswith("  notes: ")
        for note in line.removeprefix("  notes: ").split(", ")
    }
    assert expected
    assert expected - set(read_notes()) == set()


def test_weights_are_shares_of_one() -> None:
    assert all(0 <= note.weight <= 0.5 for note in read_notes().values())


def test_every_status_of_a_document_has_a_meaning_and_the_page_shows_all_codes_in_both_languages() -> None:
    assert list(read_statuses()) == list(DOCUMENT_STATUSES)
    page = render_problem_codes()
    for code in (*DOCUMENT_STATUSES, *read_notes()):
        assert f"| `{code}` |" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert all(re.search("[\u4e00-\u9fff]", row) and re.search("[A-Za-z]{4}", row) for row in rows)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("波形为正弦的是（）\n[image]", "波形为正弦的是（）"),
        ("如图 [image] 所示电路", "如图所示电路"),
        ("Find the current in [image] the circuit.", "Find the current in the circuit."),
        ("[image]", "[image]"),
        ("[image] [image]", "[image] [image]"),
        ("no picture [1]", "no picture [1]"),
    ],
)
def test_signs_for_pictures_stay_out_of_what_is_asked_and_the_note_says_so(text: str, shown: str) -> None:
    document = dict.fromkeys(
        ("document_id", "document_name", "source_kind", "discipline", "sub_discipline"), "x"
    )
    (row,), _ = make_questions([Draft(stem=text, question_type="short_answer")], document, None)
    assert row["stem"] == shown
    assert ("needs_figure" in row["parse_notes"]) == ("[image]" in text)
