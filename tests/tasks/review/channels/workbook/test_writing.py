from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from openpyxl import load_workbook

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.review.assigning import assign_batch
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.writing import export_workbook, name_workbook
from tasks.review.recording import assign_adjudicators
from tasks.review.words import Language, parse_word
from tests.tasks.review.channels.workbook.conftest import TWO, fill, find_column, import_workbook, make_text
from tests.tasks.review.conftest import LATER, NOW, give, make_frame, make_question, make_submission
from tests.tasks.review.kit import read_progress, record_submission
from warehouse.ledger.engine.ledger import Ledger


def test_every_annotator_gets_a_workbook_with_their_questions(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["review-b1-chen.xlsx", "review-b1-dai.xlsx"]
    sheet = load_workbook(folder / "review-b1-chen.xlsx")[layout.SHEET]
    assert [sheet.cell(row, find_column(sheet, "card")).value for row in (2, 3, 4)] == [
        "Multiple choice · Engineering · paper.docx 1.\n"
        "【QUESTION】A shelf of 1 rows holds ( ) books.\n【OPTIONS】\nA. 10\nB. 11\nC. 12\n【ANSWER】B",
        "Multiple choice · Engineering · paper.docx 2.\n"
        "【QUESTION】=1+1 equals ( ).\n【OPTIONS】\nA. 20\nB. 21\nC. 22\n【ANSWER】B",
        "True or false · Engineering · paper.docx 3.\n"
        "【QUESTION】@ is a letter.\n【ANSWER】false\n【EXPLANATION】-1 mark for guessing",
    ]
    assert sheet.freeze_panes == "C2"
    assert sheet.protection.sheet
    assert {str(validation.sqref) for validation in sheet.data_validations.dataValidation} == {
        "C2:C4",
        "D2:D4",
        "G2:G4",
        "H2:H4",
    }


def test_number_card_and_decision_stand_together_on_a_small_screen_and_ids_are_hidden(path: Path) -> None:
    sheet = load_workbook(path)[layout.SHEET]
    widths = [sheet.column_dimensions[letter].width for letter in "ABCDE"]
    # A character is 7 pixels, a column has 5 more; row numbers and the scroll bar take about 60.
    assert sum(7 * width + 5 for width in widths) + 60 <= 1366
    assert [sheet.cell(1, place).value for place in (3, 4, 5)] == [
        "DECISION",
        "REASON (if rejected)",
        "COMMENT",
    ]
    hidden = {"question_uuid", "revision", "part", "faults"}
    for name in ("row_number", "card", *hidden):
        letter = layout.name_column(find_column(sheet, name))
        assert sheet.column_dimensions[letter].hidden == (name in hidden), name
    # Fitted to the width of a page, which is 1 where nothing is said, over as many pages as it takes.
    assert sheet.sheet_properties.pageSetUpPr is not None
    assert sheet.sheet_properties.pageSetUpPr.fitToPage
    assert (sheet.page_setup.fitToWidth or 1, sheet.page_setup.fitToHeight) == (1, 0)
    assert sheet.print_area == "'Review 审核'!$A$1:$E$4"


def test_headers_lists_and_words_are_in_the_language_of_the_annotator(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    row = make_question(1, language="zh", parse_notes=["key_not_among_options"])
    assign_batch(ledger, "b1", make_frame([row]), TWO, settings, NOW)
    path = tmp_path / "w.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    book = load_workbook(path)
    sheet, lists = book[layout.SHEET], book[layout.LISTS_SHEET]
    assert [cell.value for cell in sheet[1]][:5] == ["序号", "题目", "结论", "退回原因", "备注"]
    assert [cell.value for cell in lists["A"]][:3] == ["通过", "修改", "退回"]
    card = str(sheet["B2"].value)
    # What reading the paper doubted, in words and not as a code.
    assert "【请留意】答案字母不在本题选项之中。" in card
    assert "key_not_among_options" not in card
    export_workbook(ledger, "b1", "chen", path, language="en")
    assert load_workbook(path)[layout.SHEET]["C1"].value == "DECISION"


def test_text_that_looks_like_a_formula_is_written_as_text(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "edit"}, new_stem={2: "=2+2 equals ( )."})
    make_text(path, "new_stem", 2)
    import_workbook(ledger, path, LATER)
    export_workbook(ledger, "b1", "chen", path)
    sheet = load_workbook(path)[layout.SHEET]
    stem = sheet.cell(2, find_column(sheet, "new_stem"))
    assert (stem.data_type, stem.quotePrefix, stem.value) == ("s", True, "=2+2 equals ( ).")
    with zipfile.ZipFile(path) as package:
        assert not any(b"<f>" in package.read(name) for name in package.namelist() if "worksheets" in name)


def test_identity_cells_are_locked_and_decision_cells_are_open(path: Path) -> None:
    sheet = load_workbook(path)[layout.SHEET]
    assert sheet.cell(2, find_column(sheet, "question_uuid")).protection.locked
    assert not sheet.cell(2, find_column(sheet, "decision")).protection.locked


@pytest.mark.parametrize(("language", "title"), [("zh", "怎样填写"), ("en", "How to fill this in")])
def test_instructions_with_an_example_are_there_in_the_annotators_language(
    ledger: Ledger, path: Path, language: Language, title: str
) -> None:
    export_workbook(ledger, "b1", "chen", path, language=language)
    sheet = load_workbook(path)[layout.INSTRUCTIONS_SHEET]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert rows[1][0] == title
    example = {parse_word(str(row[1]), "decisions") for row in rows[-3:]}
    assert example == {"accept", "edit", "reject"}
    assert sheet.protection.sheet


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


def test_decisions_that_nobody_imported_are_not_written_over(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept", 3: "reject"}, reject_reason={3: "factual_error"})
    filled = path.read_bytes()
    with pytest.raises(UsageError, match=r"holds 2 decisions that were not imported.*proctor review import"):
        export_workbook(ledger, "b1", "chen", path)
    assert path.read_bytes() == filled
    import_workbook(ledger, path, LATER)
    export_workbook(ledger, "b1", "chen", path)
    summary = import_workbook(ledger, path, LATER)
    assert (summary.changed_count, summary.unchanged_count) == (0, 2)


def test_a_decision_that_cannot_be_read_is_not_written_over_either(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "prhaps"})
    with pytest.raises(UsageError, match="holds 1 decision that was not imported"):
        export_workbook(ledger, "b1", "chen", path)


def test_an_adjudicator_sees_the_decisions_without_names(ledger: Ledger, folder: Path) -> None:
    for name, word in (("chen", "accept"), ("dai", "reject")):
        path = folder / name_workbook("b1", name)
        fill(path, decision={2: word}, comment={2: "see page 3"})
        if word == "reject":
            fill(path, reject_reason={2: "unclear"})
        import_workbook(ledger, path, LATER)
    assign_adjudicators(ledger, "b1", LATER)
    path = folder / name_workbook("b1", "eva", "adjudicator")
    export_workbook(ledger, "b1", "eva", path, role="adjudicator")
    sheet = load_workbook(path)[layout.SHEET]
    card = str(sheet.cell(2, find_column(sheet, "card")).value)
    assert (
        "【DECISIONS SO FAR】\n1. Accept: see page 3\n2. Reject (Unclear): see page 3\n【QUESTION】" in card
    )
    assert "chen" not in card
    fill(path, decision={2: "accept"})
    import_workbook(ledger, path, LATER)
    assert read_progress(ledger, "b1", LATER).states == {"accepted": 1, "waiting": 2}


def test_control_characters_and_very_long_text_do_not_break_a_workbook(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    material = "".join(chr(0x4E00 + number % 5000) for number in range(40_000))
    row = make_question(1, stem="a\x00b\x0b _x0041_ ( )", material=material)
    assign_batch(ledger, "b1", make_frame([row]), TWO, settings, NOW)
    path = tmp_path / "w.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    sheet = load_workbook(path)[layout.SHEET]
    shown = "".join(str(sheet.cell(row, 2).value) for row in range(2, sheet.max_row + 1))
    # The whole text is there, in as many rows as it needs, and no row is higher than a row can be.
    assert material in shown
    heights = [sheet.row_dimensions[row].height for row in range(2, sheet.max_row + 1)]
    assert len(heights) > 30
    assert max(heights) <= 409
    fill(path, decision={2: "accept"})
    assert import_workbook(ledger, path, LATER).new_count == 1


def test_a_decision_that_the_cells_cannot_show_is_kept(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    row = make_question(1)
    assign_batch(ledger, "b1", make_frame([row]), TWO, settings, NOW)
    given = give(row["question_uuid"], "edit", material="长" * 40_000)
    record_submission(ledger, make_submission("chen", given), NOW)
    path = tmp_path / "w.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    sheet = load_workbook(path)[layout.SHEET]
    assert sheet.cell(2, find_column(sheet, "decision")).value is None
    assert "【YOUR DECISION】Edit is kept" in str(sheet["B2"].value)
    summary = import_workbook(ledger, path, LATER)
    assert (summary.new_count, summary.changed_count, summary.blank_count) == (0, 0, 1)


def test_file_names_are_safe_and_differ_between_annotators() -> None:
    names = {name_workbook("b1", user) for user in ("陈", "chen/../x", "chen x", "chen_x", "陈2", "")}
    assert len(names) == 6
    assert not any("/" in name or " " in name for name in names)
