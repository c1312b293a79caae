from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook

from schemas.errors import WorkbookError
from schemas.settings import Settings
from tasks.review.assigning import assign_batch
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.reading import read_workbooks
from tasks.review.channels.workbook.writing import export_batch, export_workbook, name_workbook
from tasks.review.recording import RefusedSubmission, Submission, SubmissionReceipt
from tests.tasks.review.channels.workbook.conftest import (
    QUESTIONS,
    TWO,
    change,
    count_decisions,
    expect,
    fill,
    find_column,
    import_workbook,
    refuse,
)
from tests.tasks.review.conftest import LATER, NOW, make_frame, make_question
from tests.tasks.review.kit import record_submission
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning


def test_decisions_come_back_and_the_same_file_again_changes_nothing(ledger: Ledger, path: Path) -> None:
    fill(
        path,
        decision={2: "accept 通过", 3: "通过", 4: "reject"},
        reject_reason={4: "表述不清"},
        comment={4: "which letter?"},
    )
    first = import_workbook(ledger, path, LATER)
    assert first == SubmissionReceipt(str(path), "b1", "chen", "reviewer", 3, 0, 0, 0)
    with ledger.read() as connection:
        before = assigning.read_decisions(connection, "b1")
    again = import_workbook(ledger, path, "2026-11-09T00:00:00.000000+00:00")
    assert (again.new_count, again.changed_count, again.unchanged_count) == (0, 0, 3)
    with ledger.read() as connection:
        assert assigning.read_decisions(connection, "b1") == before


def test_rows_left_empty_say_nothing_and_keep_what_was_decided(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept", 3: "accept"})
    import_workbook(ledger, path, LATER)
    fill(path, decision={2: None, 3: "reject"}, reject_reason={3: "duplicate"})
    summary = import_workbook(ledger, path, LATER)
    assert (summary.new_count, summary.changed_count, summary.blank_count) == (0, 1, 2)
    assert count_decisions(ledger) == 2


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
        rows = {row["question_uuid"]: row for row in assigning.read_decisions(connection, "b1")}
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
        assert assigning.read_decisions(connection, "b1")[0]["edited_fields"] == {"answer": ["2"]}


def test_all_faults_are_reported_at_once_with_sheet_row_and_column(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "perhaps", 3: "reject"}, comment={4: "fine"})
    message = refuse(ledger, path)
    assert "Correct what is listed (3)" in message
    assert expect(path, "row 2, {decision}: the decision is not one of accept, edit, reject") in message
    assert expect(path, "row 3, {reject_reason}: a rejection needs a reason") in message
    assert expect(path, "row 4, {decision}: the decision is missing, but comment is filled in") in message


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"decision": "edit", "new_answer": "E"}, "row 2, {new_answer}: the key is not among"),
        ({"decision": "edit", "new_options": "A. x\nC. y"}, "{new_options}: the option labels are"),
        ({"decision": "edit", "new_options": "x\ny"}, "does not begin with a label"),
        ({"decision": "edit"}, "the decision is edit, but nothing is corrected"),
        ({"decision": "edit", "new_answer": "B"}, "the corrections equal what is there"),
        ({"decision": "accept", "new_answer": "C"}, "there are corrections, but the decision is accept"),
        ({"decision": "accept", "reject_reason": "unclear"}, "a reason is given, but the decision is accept"),
        ({"decision": "reject", "reject_reason": "boring"}, "the reason is not one of"),
        ({"decision": "reject", "reject_reason": "other"}, "{comment}: the reason `other` needs"),
        ({"decision": "edit", "new_discipline": "Alchemy"}, "the discipline is not one of"),
        ({"decision": "edit", "new_stem": "(none)"}, "this field cannot be emptied"),
        ({"decision": '=IF(1,"accept","reject")'}, "this is a formula"),
        ({"comment": "=cmd|' /C calc'!A0", "decision": "accept"}, "{comment}: this is a formula"),
    ],
)
def test_a_faulty_row_is_refused_with_its_place(
    ledger: Ledger, path: Path, cells: dict[str, str], message: str
) -> None:
    fill(path, **{name: {2: value} for name, value in cells.items()})
    assert expect(path, message) in refuse(ledger, path)


def test_a_date_made_of_an_answer_by_the_spreadsheet_is_refused(ledger: Ledger, path: Path) -> None:
    from datetime import datetime

    fill(path, decision={2: "edit"}, new_answer={2: datetime(2026, 3, 1)})
    assert "made a date or time of this" in refuse(ledger, path)


def test_a_correction_that_forgets_a_picture_is_refused(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    picture = {"number": 1, "sha256": "a" * 64, "place": "stem", "alt_text": None}
    # The second one no text names as it is: nobody leaves it out.
    pictures = [picture, picture | {"number": 2}]
    row = make_question(1, stem="[picture:1] A shelf holds ( ) boks.", pictures=pictures)
    assign_batch(ledger, "b1", make_frame([row]), TWO, settings, NOW)
    path = tmp_path / "w.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    fill(path, decision={2: "edit"}, new_stem={2: "A shelf holds ( ) books."})
    assert expect(path, "row 2, {new_stem}: [picture:1] is left out") in refuse(ledger, path)
    fill(path, new_stem={2: "[picture:1] A shelf holds ( ) books."})
    assert import_workbook(ledger, path, LATER).new_count == 1


def test_options_that_another_type_has_not_are_taken_away_as_the_message_says(
    ledger: Ledger, path: Path
) -> None:
    fill(path, decision={2: "edit"}, new_question_type={2: "essay"}, new_answer={2: "Because."})
    assert expect(
        path, "{new_options}: only a choice has options; take them away, in a file with (none)"
    ) in (refuse(ledger, path))
    fill(path, new_options={2: "(none)"})
    assert import_workbook(ledger, path, LATER).new_count == 1


def test_a_line_end_pasted_from_a_slide_is_one_and_no_escape_is_left(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "edit"}, new_explanation={2: "one_x000B_two_x000D_\nthree_x0007__x000D_four"})
    import_workbook(ledger, path, LATER)
    with ledger.read() as connection:
        (row,) = assigning.read_decisions(connection, "b1")
    assert row["edited_fields"] == {"explanation": "one\ntwo\nthree\nfour"}


@pytest.mark.parametrize(("value", "form"), [(0.5, "0%"), (0.5, "# ?/?"), (1234567890123456, "General")])
def test_a_number_that_the_cell_shows_as_another_is_refused(
    ledger: Ledger, path: Path, value: float, form: str
) -> None:
    fill(path, decision={2: "edit"}, new_explanation={2: value})

    def set_format(book: Workbook) -> None:
        sheet = book[layout.SHEET]
        sheet.cell(2, find_column(sheet, "new_explanation")).number_format = form

    change(path, set_format)
    assert "made another number of this" in refuse(ledger, path)


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
    sheet = book[layout.SHEET]
    sheet.cell(2, find_column(sheet, "question_uuid")).value = "00000000-0000-5000-8000-000000000000"


def double_row(book: Workbook) -> None:
    book[layout.SHEET].append([cell.value for cell in book[layout.SHEET][2]])


def delete_row(book: Workbook) -> None:
    book[layout.SHEET].delete_rows(3)


def delete_column(book: Workbook) -> None:
    book[layout.SHEET].delete_cols(find_column(book[layout.SHEET], "decision"))


def add_column(book: Workbook) -> None:
    book[layout.SHEET].cell(1, 40).value = "My notes"


def merge_cells(book: Workbook) -> None:
    sheet = book[layout.SHEET]
    letter = layout.name_column(find_column(sheet, "comment"))
    sheet.merge_cells(f"{letter}2:{letter}3")


def change_stem(book: Workbook) -> None:
    sheet = book[layout.SHEET]
    sheet.cell(2, find_column(sheet, "card")).value = "Corrected here."


def delete_hidden_sheet(book: Workbook) -> None:
    del book[layout.HIDDEN_SHEET]


def rename_annotator(book: Workbook) -> None:
    book[layout.HIDDEN_SHEET]["A4"] = "dai"


def rename_batch(book: Workbook) -> None:
    book[layout.HIDDEN_SHEET]["A3"] = "b2"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (swap_uuid, "row 2, {question_uuid}: this question is not one of the workbook's"),
        (double_row, "row 5, {question_uuid}: the same question stands in row 2"),
        (delete_row, f"the row of question {QUESTIONS[1]['question_uuid']} is missing"),
        (delete_column, "row 1: the column 'DECISION"),
        (add_column, "row 1, column AN: this column is not one of the workbook's"),
        (merge_cells, ": they are merged"),
        (change_stem, "row 2, {card}: this cell was changed"),
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
    expected = expect(path, message)
    change(path, damage)
    assert expected in refuse(ledger, path)
    # Nothing of it is taken row by row either, but for a question whose row or card is damaged alone.
    if damage not in (delete_row, change_stem):
        assert [type(one) for one in read_workbooks(ledger, [path])] == [RefusedSubmission]


def test_a_foreign_workbook_is_refused(ledger: Ledger, path: Path) -> None:
    book = Workbook()
    book.save(path)
    assert "this is not a review workbook of Proctor (its sheets are 'Sheet')" in refuse(ledger, path)


def test_a_workbook_of_another_ledger_is_refused(
    ledger: Ledger, settings: Settings, path: Path, tmp_path: Path
) -> None:
    from tests.tasks.review.conftest import add_annotators
    from warehouse.ledger.engine.opening import open_ledger

    with open_ledger(f"sqlite:///{tmp_path / 'other.sqlite'}") as other:
        add_annotators(other, *TWO)
        with pytest.raises(WorkbookError, match="this ledger has no such work"):
            import_workbook(other, path, LATER)
        assign_batch(other, "b1", make_frame([make_question(7)]), TWO, settings, NOW)
        with pytest.raises(WorkbookError, match="3 of its 3 questions"):
            import_workbook(other, path, LATER)


def write_as_layout_1(path: Path) -> None:
    """Make the file what was written before the card: no language, one digest of a question."""
    book = load_workbook(path)
    rows = [[cell.value for cell in row] for row in book[layout.HIDDEN_SHEET].iter_rows()]
    del book[layout.HIDDEN_SHEET]
    hidden = book.create_sheet(layout.HIDDEN_SHEET)
    rows[1][0] = "1"
    for row in [*rows[:6], *(row[:3] for row in rows[7:])]:
        hidden.append(row)
    sheet = book[layout.SHEET]
    sheet.delete_cols(find_column(sheet, "card"))
    for place, header in enumerate(("Stem 题干", "Answer 答案", "DECISION 结论"), start=1):
        sheet.cell(1, place).value = header
    book.save(path)


def test_a_workbook_of_the_layout_before_is_refused_in_one_sentence_and_stops_no_other(
    ledger: Ledger, folder: Path
) -> None:
    earlier, good = folder / name_workbook("b1", "chen"), folder / name_workbook("b1", "dai")
    fill(good, decision={2: "accept", 3: "accept"})
    write_as_layout_1(earlier)
    refused, taken = read_workbooks(ledger, [earlier, good])
    assert isinstance(refused, RefusedSubmission) and isinstance(taken, Submission)
    assert refused.message == (
        f"{earlier.name}: it was written by another version of Proctor (format 1, this one reads 2). Export it again "
        "and copy the decisions into it. Nothing was imported."
    )
    assert record_submission(ledger, taken, LATER).new_count == 2
    assert sorted(path.name for path in folder.iterdir()) == sorted([earlier.name, good.name])
    # What is exported again in its place is taken.
    export_batch(ledger, "b1", folder / "again")
    fill(folder / "again" / earlier.name, decision={2: "accept"})
    assert import_workbook(ledger, folder / "again" / earlier.name, LATER).new_count == 1


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


@pytest.mark.timeout(20)
def test_a_space_in_the_last_row_of_a_sheet_is_nothing(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept", 1_048_576: " "})
    assert import_workbook(ledger, path, LATER).new_count == 1


def test_messages_hold_no_text_of_the_questions(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "edit", 3: "accept"}, new_options={2: "A. secret one\nA. secret two"})
    change(path, change_stem)
    message = refuse(ledger, path)
    assert "secret" not in message
    assert "shelf" not in message
    assert "Corrected here" not in message
