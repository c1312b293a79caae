from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from schemas.errors import GateError, WorkbookError
from schemas.settings import Settings
from tasks.review.adjudication import assign_adjudicators
from tasks.review.annotators import Annotator
from tasks.review.assignment import assign_batch
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.cells import CUT_MARK
from tasks.review.channels.workbook.reading import read_workbook
from tasks.review.channels.workbook.writing import export_batch, export_workbook, name_workbook
from tasks.review.closing import close_batch
from tasks.review.desk import Receipt, record_submission
from tasks.review.progress import read_progress
from tests.tasks.review.conftest import NOW, make_frame, make_question
from warehouse.ledger import review
from warehouse.ledger.engine import Ledger

LATER = "2026-11-03T08:00:00.000000+00:00"
TWO = [Annotator("chen"), Annotator("dai")]
QUESTIONS = [
    make_question(1),
    make_question(2, stem="=1+1 equals ( )."),
    make_question(
        3,
        question_type="true_false",
        stem="@ is a letter.",
        options=[],
        answer=["false"],
        explanation="-1 mark for guessing",
    ),
]


@pytest.fixture
def folder(ledger: Ledger, settings: Settings, tmp_path: Path) -> Path:
    """The workbooks of a batch of three questions for chen and dai."""
    assign_batch(ledger, "b1", make_frame(QUESTIONS), TWO, settings, NOW)
    export_batch(ledger, "b1", tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / name_workbook("b1", "chen")


def find_column(sheet: Worksheet, name: str) -> int:
    header = next(column.header for column in layout.list_columns("adjudicator") if column.name == name)
    return next(cell.column for cell in sheet[1] if cell.value == header)


def fill(path: Path, **cells: dict[int, Any]) -> None:
    """Write values into columns by name and row, as a person would."""
    book = load_workbook(path)
    sheet = book[layout.SHEET]
    for name, values in cells.items():
        for row, value in values.items():
            sheet.cell(row, find_column(sheet, name)).value = value
    book.save(path)


def change(path: Path, edit: Callable[[Workbook], None]) -> None:
    book = load_workbook(path)
    edit(book)
    book.save(path)


def import_workbook(ledger: Ledger, path: Path, now: str, *, annotator: str | None = None) -> Receipt:
    """Read a file and record it as the desk does."""
    return record_submission(ledger, read_workbook(ledger, path, annotator=annotator), now)


def count_decisions(ledger: Ledger) -> int:
    with ledger.read() as connection:
        return len(review.read_decisions(connection, "b1"))


def refuse(ledger: Ledger, path: Path) -> str:
    """Import a file that must be refused; nothing of it may land."""
    before = count_decisions(ledger)
    with pytest.raises(WorkbookError) as refusal:
        import_workbook(ledger, path, LATER)
    assert count_decisions(ledger) == before
    return str(refusal.value)


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


def test_decisions_come_back_and_the_same_file_again_changes_nothing(ledger: Ledger, path: Path) -> None:
    fill(
        path,
        decision={2: "accept 通过", 3: "通过", 4: "reject"},
        reject_reason={4: "表述不清"},
        comment={4: "which letter?"},
    )
    first = import_workbook(ledger, path, LATER)
    assert first == Receipt(str(path), "b1", "chen", "reviewer", 3, 0, 0, 0)
    with ledger.read() as connection:
        before = review.read_decisions(connection, "b1")
    again = import_workbook(ledger, path, "2026-11-09T00:00:00.000000+00:00")
    assert (again.new_count, again.changed_count, again.unchanged_count) == (0, 0, 3)
    with ledger.read() as connection:
        assert review.read_decisions(connection, "b1") == before


def test_rows_left_empty_say_nothing_and_keep_what_was_decided(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept", 3: "accept"})
    import_workbook(ledger, path, LATER)
    fill(path, decision={2: None, 3: "reject"}, reject_reason={3: "duplicate"})
    summary = import_workbook(ledger, path, LATER)
    assert (summary.new_count, summary.changed_count, summary.blank_count) == (0, 1, 2)
    assert count_decisions(ledger) == 2


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


def test_an_edit_arrives_with_the_types_of_the_contract(ledger: Ledger, path: Path) -> None:
    fill(
        path,
        decision={2: "edit", 4: "edit"},
        new_options={2: "A. ten\n(B) eleven\nＣ、twelve\nor so"},
        new_answer={2: "c，a", 4: True},
        new_explanation={4: "(none)"},
    )
    import_workbook(ledger, path, LATER)
    with ledger.read() as connection:
        rows = {row["question_uuid"]: row for row in review.read_decisions(connection, "b1")}
    assert rows[QUESTIONS[0]["question_uuid"]]["edited_fields"] == {
        "options": [
            {"label": "A", "text": "ten"},
            {"label": "B", "text": "eleven"},
            {"label": "C", "text": "twelve\nor so"},
        ],
        "answer": ["A", "C"],
    }
    assert rows[QUESTIONS[2]["question_uuid"]]["edited_fields"] == {"answer": ["true"], "explanation": None}


def test_a_number_typed_as_an_answer_is_taken_as_text(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    row = make_question(9, question_type="fill_in_the_blank", stem="1+1 = ____.", options=[], answer=["3"])
    assign_batch(ledger, "b1", make_frame([row]), TWO, settings, NOW)
    export_workbook(ledger, "b1", "chen", tmp_path / "w.xlsx")
    fill(tmp_path / "w.xlsx", decision={2: "edit"}, new_answer={2: 2.0})
    import_workbook(ledger, tmp_path / "w.xlsx", LATER)
    with ledger.read() as connection:
        assert review.read_decisions(connection, "b1")[0]["edited_fields"] == {"answer": ["2"]}


def test_all_faults_are_reported_at_once_with_sheet_row_and_column(ledger: Ledger, path: Path) -> None:
    fill(
        path,
        decision={2: "perhaps", 3: "reject"},
        comment={4: "fine"},
    )
    message = refuse(ledger, path)
    assert "Correct what is listed (3)" in message
    assert "row 2, column P (DECISION 结论): the decision is not one of accept, edit, reject" in message
    assert "row 3, column Q (REASON 退回原因): a rejection needs a reason" in message
    assert "row 4, column P (DECISION 结论): the decision is missing, but comment is filled in" in message


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            {"decision": "edit", "new_answer": "E"},
            "row 2, column Y (New answer 更正答案): the key is not among",
        ),
        (
            {"decision": "edit", "new_options": "A. x\nC. y"},
            "column X (New options 更正选项): the option labels are",
        ),
        ({"decision": "edit", "new_options": "x\ny"}, "does not begin with a label"),
        ({"decision": "edit"}, "the decision is edit, but nothing is corrected"),
        ({"decision": "edit", "new_answer": "B"}, "the corrections equal what is there"),
        ({"decision": "accept", "new_answer": "C"}, "there are corrections, but the decision is accept"),
        ({"decision": "accept", "reject_reason": "unclear"}, "a reason is given, but the decision is accept"),
        ({"decision": "reject", "reject_reason": "boring"}, "the reason is not one of"),
        (
            {"decision": "reject", "reject_reason": "other"},
            "column R (COMMENT 备注): the reason `other` needs",
        ),
        ({"decision": "edit", "new_discipline": "Alchemy"}, "the discipline is not one of"),
        ({"decision": "edit", "new_stem": "(none)"}, "this field cannot be emptied"),
        ({"decision": '=IF(1,"accept","reject")'}, "this is a formula"),
        (
            {"comment": "=cmd|' /C calc'!A0", "decision": "accept"},
            "column R (COMMENT 备注): this is a formula",
        ),
    ],
)
def test_a_faulty_row_is_refused_with_its_place(
    ledger: Ledger, path: Path, cells: dict[str, str], message: str
) -> None:
    fill(path, **{name: {2: value} for name, value in cells.items()})
    assert message in refuse(ledger, path)


def test_a_date_made_of_an_answer_by_the_spreadsheet_is_refused(ledger: Ledger, path: Path) -> None:
    from datetime import datetime

    fill(path, decision={2: "edit"}, new_answer={2: datetime(2026, 3, 1)})
    assert "made a date or time of this" in refuse(ledger, path)


def test_a_question_without_an_answer_cannot_be_accepted_as_it_stands(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    row = make_question(1, answer=[], status="no_answer")
    assign_batch(ledger, "b1", make_frame([row]), TWO, settings, NOW)
    path = tmp_path / "w.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    fill(path, decision={2: "accept"})
    assert "it cannot be accepted as it stands: the answer is empty; edit or reject it" in refuse(
        ledger, path
    )
    fill(path, decision={2: "edit"}, new_answer={2: "A"})
    assert import_workbook(ledger, path, LATER).new_count == 1


def swap_uuid(book: Workbook) -> None:
    book[layout.SHEET]["B2"] = "00000000-0000-5000-8000-000000000000"


def double_row(book: Workbook) -> None:
    book[layout.SHEET].append([cell.value for cell in book[layout.SHEET][2]])


def delete_row(book: Workbook) -> None:
    book[layout.SHEET].delete_rows(3)


def delete_column(book: Workbook) -> None:
    book[layout.SHEET].delete_cols(16)


def add_column(book: Workbook) -> None:
    book[layout.SHEET].cell(1, 40).value = "My notes"


def merge_cells(book: Workbook) -> None:
    book[layout.SHEET].merge_cells("P2:P3")


def change_stem(book: Workbook) -> None:
    book[layout.SHEET].cell(2, find_column(book[layout.SHEET], "stem")).value = "Corrected here."


def delete_hidden_sheet(book: Workbook) -> None:
    del book[layout.HIDDEN_SHEET]


def rename_annotator(book: Workbook) -> None:
    book[layout.HIDDEN_SHEET]["A4"] = "dai"


def rename_batch(book: Workbook) -> None:
    book[layout.HIDDEN_SHEET]["A3"] = "b2"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (swap_uuid, "row 2, column B (Question ID 题目编号): this question is not one of the workbook's"),
        (double_row, "row 5, column B (Question ID 题目编号): the same question stands in row 2"),
        (delete_row, f"the row of question {QUESTIONS[1]['question_uuid']} is missing"),
        (delete_column, "row 1: the column 'DECISION 结论' is missing"),
        (add_column, "row 1, column AN: this column is not one of the workbook's"),
        (merge_cells, "cells P2:P3: they are merged"),
        (change_stem, "row 2, column K (Stem 题干): this cell was changed"),
        (delete_hidden_sheet, "this is not a review workbook of Proctor"),
        (rename_annotator, "sheet '_proctor' was altered"),
        (rename_batch, "sheet '_proctor' was altered"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_damaged_workbook_is_refused_whole(
    ledger: Ledger, path: Path, damage: Callable[[Workbook], None], message: str
) -> None:
    fill(path, decision={2: "accept", 3: "accept", 4: "accept"})
    change(path, damage)
    assert message in refuse(ledger, path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_workbook_is_refused(ledger: Ledger, path: Path, share: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert "review-b1-chen.xlsx: " in refuse(ledger, path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"plain text", b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_what_is_no_workbook_is_refused(ledger: Ledger, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "review-b1-chen.xlsx: " in refuse(ledger, path)


def test_a_foreign_workbook_is_refused(ledger: Ledger, path: Path) -> None:
    book = Workbook()
    book.save(path)
    assert "this is not a review workbook of Proctor (its sheets are 'Sheet')" in refuse(ledger, path)


def test_a_workbook_that_would_unpack_to_gigabytes_is_not_opened(ledger: Ledger, path: Path) -> None:
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/media/image1.xml", b"\0" * (48 * 1024 * 1024))
    assert "would unpack to" in refuse(ledger, path)


def test_a_part_with_an_entity_declaration_is_not_opened(ledger: Ledger, path: Path) -> None:
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("xl/extra.xml", '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    assert "declares a document type" in refuse(ledger, path)


def test_a_workbook_of_another_ledger_is_refused(
    ledger: Ledger, settings: Settings, path: Path, tmp_path: Path
) -> None:
    from tests.tasks.review.conftest import add_annotators
    from warehouse.ledger.engine import open_ledger

    with open_ledger(f"sqlite:///{tmp_path / 'other.sqlite'}") as other:
        add_annotators(other, *TWO)
        with pytest.raises(WorkbookError, match="this ledger has no such work"):
            import_workbook(other, path, LATER)
        assign_batch(other, "b1", make_frame([make_question(7)]), TWO, settings, NOW)
        with pytest.raises(WorkbookError, match="3 of its 3 questions"):
            import_workbook(other, path, LATER)


def test_a_workbook_of_another_annotator_is_refused(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept"})
    with pytest.raises(WorkbookError, match="this is the workbook of chen, not of dai"):
        import_workbook(ledger, path, LATER, annotator="dai")
    assert count_decisions(ledger) == 0
    assert import_workbook(ledger, path, LATER, annotator="chen").new_count == 1


def test_a_workbook_of_a_closed_batch_is_refused(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept"})
    close_batch(ledger, "b1", "2027-02-01T00:00:00.000000+00:00")
    with pytest.raises(GateError, match="was closed"):
        import_workbook(ledger, path, LATER)


def test_a_moved_column_and_sorted_rows_are_still_read(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept", 3: "reject", 4: "accept"}, reject_reason={3: "unclear"})
    book = load_workbook(path)
    sheet = book[layout.SHEET]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    for row_number, row in enumerate([rows[0], *reversed(rows[1:])], start=1):
        for place, value in enumerate([*row[1:], row[0]], start=1):
            cell = sheet.cell(row_number, place)
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"
    book.save(path)
    assert import_workbook(ledger, path, LATER).new_count == 3


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


def test_messages_hold_no_text_of_the_questions(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "edit", 3: "accept"}, new_options={2: "A. secret one\nA. secret two"})
    change(path, change_stem)
    message = refuse(ledger, path)
    assert "secret" not in message
    assert "shelf" not in message
    assert "Corrected here" not in message
