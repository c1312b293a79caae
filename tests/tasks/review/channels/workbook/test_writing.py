from __future__ import annotations

import zipfile
from pathlib import Path

from openpyxl import load_workbook

from schemas.settings import Settings
from tasks.review.adjudication import assign_adjudicators
from tasks.review.annotators import Annotator
from tasks.review.assignment import assign_batch
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.cells import CUT_MARK
from tasks.review.channels.workbook.writing import export_workbook, name_workbook
from tasks.review.progress import read_progress
from tests.tasks.review.channels.workbook.conftest import (
    LATER,
    TWO,
    fill,
    find_column,
    import_workbook,
)
from tests.tasks.review.conftest import NOW, make_frame, make_question
from warehouse.ledger.engine import Ledger


def test_every_annotator_gets_a_workbook_with_their_questions(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["review-b1-chen.xlsx", "review-b1-dai.xlsx"]
    sheet = load_workbook(folder / "review-b1-chen.xlsx")[layout.SHEET]
    stems = [sheet.cell(row, find_column(sheet, "stem")).value for row in (2, 3, 4)]
    assert stems == ["A shelf of 1 rows holds ( ) books.", "=1+1 equals ( ).", "@ is a letter."]
    assert sheet.freeze_panes == "C2"
    assert sheet.protection.sheet
    assert {str(validation.sqref) for validation in sheet.data_validations.dataValidation} == {
        "P2:P4",
        "Q2:Q4",
        "S2:S4",
        "T2:T4",
    }


def test_text_that_looks_like_a_formula_is_written_as_text(path: Path) -> None:
    sheet = load_workbook(path)[layout.SHEET]
    stem, mark = sheet.cell(3, find_column(sheet, "stem")), sheet.cell(4, find_column(sheet, "explanation"))
    assert (stem.data_type, stem.quotePrefix, stem.value) == ("s", True, "=1+1 equals ( ).")
    assert (mark.data_type, mark.quotePrefix) == ("s", True)
    with zipfile.ZipFile(path) as package:
        assert not any(b"<f>" in package.read(name) for name in package.namelist() if "worksheets" in name)


def test_identity_cells_are_locked_and_decision_cells_are_open(path: Path) -> None:
    sheet = load_workbook(path)[layout.SHEET]
    assert sheet.cell(2, find_column(sheet, "question_uuid")).protection.locked
    assert not sheet.cell(2, find_column(sheet, "decision")).protection.locked


def test_instructions_are_there_in_chinese_and_english(path: Path) -> None:
    sheet = load_workbook(path)[layout.INSTRUCTIONS_SHEET]
    text = "\n".join(str(cell.value or "") for (cell,) in sheet.iter_rows(max_col=1))
    assert "怎样填写" in text
    assert "How to fill this in" in text


def test_exporting_again_shows_the_decisions_given_so_far(ledger: Ledger, path: Path) -> None:
    fill(
        path,
        decision={2: "edit", 3: "reject"},
        reject_reason={3: "factual_error"},
        new_options={2: "A. ten\nB. eleven\nC. twelve"},
        new_answer={2: "AB"},
        new_sub_discipline={2: "Library science"},
    )
    import_workbook(ledger, path, LATER)
    fresh = path.with_name("fresh.xlsx")
    export_workbook(ledger, "b1", "chen", fresh)
    summary = import_workbook(ledger, fresh, LATER)
    assert (summary.changed_count, summary.unchanged_count, summary.blank_count) == (0, 2, 1)


def test_an_adjudicator_sees_the_decisions_without_names(ledger: Ledger, folder: Path) -> None:
    for name, word in (("chen", "accept"), ("dai", "reject")):
        path = folder / name_workbook("b1", name)
        fill(path, decision={2: word}, comment={2: "see page 3"})
        if word == "reject":
            fill(path, reject_reason={2: "unclear"})
        import_workbook(ledger, path, LATER)
    assign_adjudicators(ledger, "b1", LATER, [Annotator("eva")])
    path = folder / name_workbook("b1", "eva", "adjudicator")
    export_workbook(ledger, "b1", "eva", path, role="adjudicator")
    sheet = load_workbook(path)[layout.SHEET]
    assert sheet.cell(2, find_column(sheet, "decisions_so_far")).value == (
        "1. accept: see page 3\n2. reject (unclear): see page 3"
    )
    fill(path, decision={2: "accept"})
    import_workbook(ledger, path, LATER)
    assert read_progress(ledger, "b1", LATER).states == {"accepted": 1, "waiting": 2}


def test_control_characters_and_very_long_text_do_not_break_a_workbook(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    row = make_question(1, stem="a\x00b\x0b ( )", material="段" * 40_000)
    assign_batch(ledger, "b1", make_frame([row]), TWO, settings, NOW)
    path = tmp_path / "w.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    fill(path, decision={2: "accept"})
    assert import_workbook(ledger, path, LATER).new_count == 1
    sheet = load_workbook(path)[layout.SHEET]
    assert str(sheet.cell(2, find_column(sheet, "material")).value).endswith(CUT_MARK)


def test_file_names_are_safe_and_differ_between_annotators() -> None:
    names = {name_workbook("b1", user) for user in ("陈", "chen/../x", "chen x", "chen_x", "陈2", "")}
    assert len(names) == 6
    assert not any("/" in name or " " in name for name in names)
