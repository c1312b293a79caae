"""Of files with bad rows the good are taken, and the file comes back with the bad marked."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from pathlib import Path

import pytest
from openpyxl import load_workbook

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.review import land_row_faults
from tasks.review.assigning import assign_batch
from tasks.review.channels.workbook import layout
from tasks.review.channels.workbook.reading import read_workbooks
from tasks.review.channels.workbook.writing import export_workbook
from tasks.review.decisions import Decision
from tasks.review.desk import NewMessage, publish_guidelines, write_message
from tasks.review.recording import DeskReport, RefusedSubmission, RowFault, Submission, name_unit, record
from tests.fresh import open_new_lake
from tests.tasks.review.channels.workbook.conftest import (
    QUESTIONS,
    TWO,
    change,
    count_decisions,
    fill,
    find_column,
    import_workbook,
    make_text,
)
from tests.tasks.review.conftest import LATER, NOW, give, make_frame, make_question, make_submission
from tests.tasks.review.kit import record_submission
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.review import assigning
from warehouse.ledger.review.withdrawal import BatchedDocument, delete_work

AFTER = "2026-11-04T08:00:00.000000+00:00"
# A workbook that a test saves says by the computer's clock when.
AFTER_SAVING = "2999-01-01T00:00:00.000000+00:00"


def set_saved_at(path: Path, moment: str) -> None:
    """Let a workbook say when it was saved last, as a spreadsheet program does."""
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    core = parts["docProps/core.xml"]
    parts["docProps/core.xml"] = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + moment.encode(), core)
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts.items():
            package.writestr(name, content)


def read_decided(ledger: Ledger) -> dict[str, str]:
    with ledger.read() as connection:
        return {row["question_uuid"]: row["decision"] for row in assigning.read_decisions(connection, "b1")}


def test_good_rows_are_taken_and_the_bad_ones_come_back_marked_and_are_taken_once_corrected(
    ledger: Ledger, path: Path
) -> None:
    fill(path, decision={2: "OK", 3: "prhaps", 4: "√"})
    before = path.read_bytes()
    report = record(ledger, read_workbooks(ledger, [path]), LATER)
    copy = path.with_name("review-b1-chen.to-correct.xlsx")
    assert [(one.new_count, one.blank_count) for one in report.receipts] == [(2, 1)]
    assert read_decided(ledger) == {QUESTIONS[place]["question_uuid"]: "accept" for place in (0, 2)}
    (refusal,) = report.refusals
    assert "2 rows were good, 1 must be corrected and are marked in review-b1-chen.to-correct.xlsx" in (
        refusal.message
    )
    assert "row 3, column " in refusal.message
    assert "choose from the list (there is “prhaps”)" in refusal.message
    assert path.read_bytes() == before
    sheet = load_workbook(copy)[layout.SHEET]
    place = next(cell.column for cell in sheet[1] if cell.value == "TO CORRECT")
    assert not sheet.column_dimensions[layout.name_column(place)].hidden
    marks = [sheet.cell(row, place).value for row in (2, 3, 4)]
    assert marks[0] is None and marks[2] is None
    assert "the decision is not one of accept, edit, reject" in str(marks[1])
    assert sheet.cell(3, find_column(sheet, "decision")).fill.fgColor.rgb == "FFFFC7CE"
    assert sheet.protection.sheet

    fill(copy, decision={3: "reject"}, reject_reason={3: "重复"})
    report = record(ledger, read_workbooks(ledger, [copy]), AFTER)
    assert (report.refusals, report.receipts[0].new_count, report.receipts[0].unchanged_count) == ([], 1, 2)
    # Both files at once, as `workbooks/*.xlsx` names them: the corrected one counts, and nothing changes.
    report = record(ledger, read_workbooks(ledger, [copy, path]), AFTER)
    assert report.refusals == []
    assert {(one.new_count, one.changed_count) for one in report.receipts} == {(0, 0)}
    assert count_decisions(ledger) == 3


def test_a_copy_that_somebody_works_on_is_never_overwritten(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "prhaps"})
    read_workbooks(ledger, [path])
    read_workbooks(ledger, [path])
    copy = path.with_name("review-b1-chen.to-correct.xlsx")
    names = {one.name for one in path.parent.glob("*to-correct*")}
    assert names == {copy.name}
    fill(copy, comment={3: "half done"})
    worked_on = copy.read_bytes()
    read_workbooks(ledger, [path])
    assert copy.read_bytes() == worked_on
    assert path.with_name("review-b1-chen.to-correct-2.xlsx").exists()
    # A copy that still has faults does not overwrite itself either.
    (submission, refusal) = read_workbooks(ledger, [copy])
    assert isinstance(submission, Submission)
    assert isinstance(refusal, RefusedSubmission)
    assert copy.read_bytes() == worked_on


def test_all_or_nothing_refuses_the_file_whole_and_writes_no_copy(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "ok", 3: "prhaps"})
    (refusal,) = read_workbooks(ledger, [path], all_or_nothing=True)
    assert isinstance(refusal, RefusedSubmission)
    assert "nothing was imported. Correct what is listed (1)" in refusal.message
    assert list(path.parent.glob("*to-correct*")) == []


def test_a_missing_row_and_a_changed_card_cost_only_their_own_questions(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "ok", 3: "ok", 4: "ok"}, card={2: "Corrected here."})
    change(path, lambda book: book[layout.SHEET].delete_rows(3))
    report = record(ledger, read_workbooks(ledger, [path]), LATER)
    assert read_decided(ledger) == {QUESTIONS[2]["question_uuid"]: "accept"}
    (refusal,) = report.refusals
    assert "row 2, column B (QUESTION): this cell was changed" in refusal.message
    assert f"the row of question {QUESTIONS[1]['question_uuid']} is missing" in refusal.message
    assert "1 rows were good, 1 must be corrected and are marked" in refusal.message
    assert "1 are missing: restore them, or export the workbook again." in refusal.message


def test_of_rows_that_are_gone_alone_there_is_nothing_to_correct_in_a_copy(
    ledger: Ledger, path: Path
) -> None:
    fill(path, decision={2: "ok", 3: "ok", 4: "ok"})
    change(path, lambda book: book[layout.SHEET].delete_rows(3))
    (refusal,) = record(ledger, read_workbooks(ledger, [path]), LATER).refusals
    assert "2 rows were good. 1 are missing: restore them, or export the workbook again." in refusal.message
    assert "to-correct" not in refusal.message and list(path.parent.glob("*to-correct*")) == []


def test_a_question_that_was_taken_back_costs_only_its_own_row(ledger: Ledger, path: Path) -> None:
    taken_back, kept, _ = (one["question_uuid"] for one in QUESTIONS)
    fill(path, decision={2: "ok", 3: "ok"})
    with ledger.write() as connection:
        delete_work(connection, BatchedDocument("b1", (taken_back,), 0))
    with pytest.raises(UsageError, match="holds 1 decision that was not imported"):
        export_workbook(ledger, "b1", "chen", path)
    (refusal,) = record(ledger, read_workbooks(ledger, [path]), LATER).refusals
    assert "row 2, column C (DECISION): this question is not given to you any more" in refusal.message
    assert read_decided(ledger) == {kept: "accept"}
    shutil.copy(path, path.with_name("written over.xlsx"))
    export_workbook(ledger, "b1", "chen", path.with_name("written over.xlsx"))
    # An empty row of it is nothing, and neither is one that is gone.
    fill(path, decision={2: None})
    assert import_workbook(ledger, path, AFTER).unchanged_count == 1
    change(path, lambda book: book[layout.SHEET].delete_rows(2))
    assert import_workbook(ledger, path, AFTER).unchanged_count == 1


def test_rows_sorted_apart_from_their_questions_are_refused_whole(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "accept", 3: "reject", 4: "accept"}, reject_reason={3: "unclear"})

    def swap_cards(book: object) -> None:
        sheet = book[layout.SHEET]  # type: ignore[index]
        sheet["B2"].value, sheet["B3"].value = sheet["B3"].value, sheet["B2"].value

    change(path, swap_cards)
    (refusal,) = read_workbooks(ledger, [path])
    assert isinstance(refusal, RefusedSubmission)
    assert "the rows were sorted without all of their columns" in refusal.message
    assert list(path.parent.glob("*to-correct*")) == []


def test_a_decision_given_elsewhere_since_is_not_undone_by_an_older_workbook(
    ledger: Ledger, path: Path
) -> None:
    first, second = (QUESTIONS[place]["question_uuid"] for place in (0, 1))
    record_submission(ledger, make_submission("chen", give(first, "accept")), NOW)
    export_workbook(ledger, "b1", "chen", path)
    record_submission(ledger, make_submission("chen", give(first, "reject")), LATER)
    fill(path, decision={3: "accept"})
    summary = import_workbook(ledger, path, AFTER)
    assert (summary.new_count, summary.changed_count) == (1, 0)
    assert read_decided(ledger) == {first: "reject", second: "accept"}
    # What the annotator changes in the file is their last word.
    fill(path, decision={2: "edit"}, new_answer={2: "C"})
    import_workbook(ledger, path, AFTER)
    assert read_decided(ledger)[first] == "edit"


def test_a_file_imported_again_does_not_undo_what_was_decided_on_the_web_since(
    ledger: Ledger, path: Path
) -> None:
    first = QUESTIONS[0]["question_uuid"]
    fill(path, decision={2: "accept"})
    import_workbook(ledger, path, LATER)
    record_submission(ledger, make_submission("chen", give(first, "reject")), AFTER_SAVING)
    assert import_workbook(ledger, path, AFTER_SAVING).changed_count == 0
    assert read_decided(ledger) == {first: "reject"}


def test_a_row_that_was_read_is_nothing_new_in_the_copy_to_correct(ledger: Ledger, path: Path) -> None:
    first, second, _ = (one["question_uuid"] for one in QUESTIONS)
    fill(path, decision={2: "reject", 3: "what"}, reject_reason={2: "unclear"})
    record(ledger, read_workbooks(ledger, [path]), LATER)
    record_submission(ledger, make_submission("chen", give(first, "accept")), AFTER)
    copy = path.with_name("review-b1-chen.to-correct.xlsx")
    fill(copy, decision={3: "accept"})
    set_saved_at(copy, "2999-01-01T00:00:00Z")
    record(ledger, read_workbooks(ledger, [copy]), AFTER)
    assert read_decided(ledger) == {first: "accept", second: "accept"}


def test_a_row_that_says_nothing_new_undoes_nothing_that_was_decided_while_files_were_read(
    ledger: Ledger, path: Path
) -> None:
    first = QUESTIONS[0]["question_uuid"]
    record_submission(ledger, make_submission("chen", give(first, "accept")), LATER)
    export_workbook(ledger, "b1", "chen", path)
    read = read_workbooks(ledger, [path])
    record_submission(ledger, make_submission("chen", give(first, "reject")), AFTER)
    (receipt,) = record(ledger, read, AFTER).receipts
    assert (receipt.changed_count, receipt.unchanged_count) == (0, 1)
    assert read_decided(ledger) == {first: "reject"}


def test_what_stands_by_the_rules_of_its_time_stops_no_other_row(ledger: Ledger, path: Path) -> None:
    first, second, _ = (one["question_uuid"] for one in QUESTIONS)
    old = give(first, "edit", question_type="essay", answer=["because"])
    with ledger.write() as connection:
        assigning.replace_decisions(connection, [Decision(old, "chen", "web", AFTER_SAVING).as_row("b1")])
    fill(path, decision={2: "accept", 3: "accept"})
    assert import_workbook(ledger, path, LATER).new_count == 1
    assert read_decided(ledger) == {first: "edit", second: "accept"}


def test_of_two_versions_of_a_workbook_the_one_saved_later_counts(ledger: Ledger, path: Path) -> None:
    fill(path, decision={2: "reject"}, reject_reason={2: "unclear"})
    set_saved_at(path, "2026-11-03T08:00:00Z")
    # As a browser names what is there already: before the first one, by the alphabet.
    later = path.with_name("review-b1-chen (1).xlsx")
    shutil.copy(path, later)
    fill(later, decision={2: "accept"}, reject_reason={2: None})
    record(ledger, read_workbooks(ledger, [later, path]), LATER)
    assert read_decided(ledger) == {QUESTIONS[0]["question_uuid"]: "accept"}


def test_a_long_question_is_decided_in_its_first_row_and_may_be_sorted(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    rows = [make_question(1, material="很长的材料。" * 400), make_question(2)]
    assign_batch(ledger, "b1", make_frame(rows), TWO, settings, NOW)
    path = tmp_path / "w.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    book = load_workbook(path)
    sheet = book[layout.SHEET]
    table = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    assert len(table) > 3
    for number, values in enumerate(reversed(table), start=2):
        for place, value in enumerate(values, start=1):
            sheet.cell(number, place).value = value
    last = len(table) + 1
    sheet.cell(last, find_column(sheet, "decision")).value = "√"
    book.save(path)
    assert import_workbook(ledger, path, LATER).new_count == 1
    assert read_decided(ledger) == {rows[0]["question_uuid"]: "accept"}
    fill(path, decision={last - 1: "no"})
    (submission, refusal) = read_workbooks(ledger, [path])
    assert isinstance(refusal, RefusedSubmission)
    assert f"this row continues the question above; decide in its first row (row {last})" in refusal.message
    assert isinstance(submission, Submission)
    assert submission.decisions == []


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"decision": "随便"}, "第 2 行 C 列（结论）：结论无法识别；请从列表中选择“通过”“修改”或“退回”（填写的是“随便”）"),
        ({"decision": "拒绝", "reject_reason": "其它"}, "E 列（备注）：原因为“其他”时请在备注中说明"),
        ({"decision": "修改", "new_answer": "E"}, "M 列（更正答案）：答案不在选项字母之中"),
        ({"decision": "修改", "new_discipline": "炼金术"}, "学科不在下列之中：哲学、经济学"),
        ({"decision": "=1"}, "这是公式；请直接写文字"),
    ],
)  # fmt: skip
def test_messages_are_in_the_language_of_the_workbook(
    ledger: Ledger, path: Path, cells: dict[str, str], message: str
) -> None:
    export_workbook(ledger, "b1", "chen", path, language="zh")
    fill(path, **{name: {2: value} for name, value in cells.items()})
    refusal = read_workbooks(ledger, [path])[-1]
    assert isinstance(refusal, RefusedSubmission)
    assert message in refusal.message
    assert "已读取 0 行，1 行需要更正，已在 review-b1-chen.to-correct.xlsx 中标出" in refusal.message


@pytest.mark.parametrize("sign", ["=", *(pytest.param(sign, marks=pytest.mark.long) for sign in "+-@")])
def test_text_that_begins_like_a_formula_goes_out_and_comes_back_the_same(
    ledger: Ledger, path: Path, sign: str
) -> None:
    texts = {"stem": f"{sign}2{sign}2 is ( ).", "explanation": f"{sign}SUM(A1) says so", "answer": ["B"]}
    for name in ("new_stem", "new_explanation", "comment"):
        given = texts.get(name.removeprefix("new_"), f"{sign}cmd")
        fill(path, decision={2: "edit"}, **{name: {2: given}})
        make_text(path, name, 2)
    import_workbook(ledger, path, LATER)
    for _ in range(2):
        # What was decided goes out again, and comes back as the same decision.
        export_workbook(ledger, "b1", "chen", path)
        receipt = import_workbook(ledger, path, LATER)
        assert (receipt.new_count, receipt.changed_count, receipt.unchanged_count) == (0, 0, 1)
    with ledger.read() as connection:
        (decision,) = assigning.read_decisions(connection, "b1")
    assert decision["edited_fields"] == {name: texts[name] for name in ("stem", "explanation")}
    assert decision["comment"] == f"{sign}cmd"


def test_faults_of_one_kind_are_said_once_with_their_rows_and_every_row_is_kept(
    ledger: Ledger, settings: Settings, tmp_path: Path
) -> None:
    assign_batch(ledger, "many", make_frame([make_question(n) for n in range(1, 51)]), TWO, settings, NOW)
    path = tmp_path / "many.xlsx"
    export_workbook(ledger, "many", "chen", path, language="en")
    wrong = {row: ("perhaps", "maybe", "later", "never")[row % 4] for row in range(2, 42, 2)}
    fill(path, decision=wrong | {43: "reject", 44: "reject", 45: "reject", 46: "accept"})
    (submission, refusal) = read_workbooks(ledger, [path])
    assert isinstance(submission, Submission) and isinstance(refusal, RefusedSubmission)
    head, *lines = refusal.message.splitlines()
    assert "1 rows were good, 23 must be corrected" in head
    assert len(lines) == 2
    assert "20 rows (2, 4, 6, 8, 10, 12, 14, 16, and 12 more): the decision is not one of" in lines[0]
    assert lines[0].endswith("(there is “later”, “perhaps”)")
    assert "3 rows (43–45): a rejection needs a reason" in lines[1]
    assert sorted({fault.row for fault in refusal.faults if fault.row}) == [*range(2, 42, 2), 43, 44, 45]

    with open_new_lake(settings) as lake:
        assert land_row_faults(settings, record(ledger, [submission, refusal], LATER)) == 23
        kept = lake.query(
            "SELECT unit, rule, row_json FROM quarantine WHERE table_name = 'reviews' ORDER BY row_json"
        )
        assert set(kept["unit"]) == {"many/chen/reviewer"} and kept.height == 23
        assert json.loads(kept["row_json"][0]).keys() == {"row", "decision"}
        assert lake.run_named("landings_count_their_rows").is_empty()
        copy = path.with_name("many.to-correct.xlsx")
        fill(copy, decision=dict.fromkeys([*wrong, 43, 44, 45], "accept"))
        assert land_row_faults(settings, record(ledger, read_workbooks(ledger, [copy]), AFTER)) == 0
        assert lake.query("SELECT * FROM quarantine").is_empty()
    assert len(read_decided_of(ledger, "many")) == 24


def test_a_row_is_kept_under_the_name_of_its_annotator_whatever_it_holds(settings: Settings) -> None:
    fault = RowFault(2, "C", "DECISION", "is wrong", question_uuid="q")
    report = DeskReport(
        [], [RefusedSubmission("w", "…", [fault], name_unit("b1", "corp/chen", "reviewer"))], [], []
    )
    with open_new_lake(settings) as lake:
        assert land_row_faults(settings, report) == 1
        key = json.loads(lake.query("SELECT row_key FROM quarantine").item())
    assert (key["batch_id"], key["annotator"]) == ("b1", "corp/chen")


def read_decided_of(ledger: Ledger, batch_id: str) -> list[str]:
    with ledger.read() as connection:
        return [row["question_uuid"] for row in assigning.read_decisions(connection, batch_id)]


def test_the_guidelines_that_a_workbook_shows_are_named_on_its_decisions(
    ledger: Ledger, folder: Path
) -> None:
    publish_guidelines(ledger, "A missing figure is unclear.", NOW)
    path = folder / "shown.xlsx"
    export_workbook(ledger, "b1", "chen", path)
    guide = load_workbook(path)[layout.INSTRUCTIONS_SHEET]
    assert "A missing figure is unclear." in [str(row[0].value) for row in guide.iter_rows()]
    publish_guidelines(ledger, "What came later.", LATER)
    fill(path, decision={2: "accept"})
    import_workbook(ledger, path, LATER)
    with ledger.read() as connection:
        (row,) = assigning.read_decisions(connection, "b1")
    assert row["guideline_version"] == 1


def test_what_was_written_on_a_question_stands_on_the_card_of_who_may_read_it(
    ledger: Ledger, folder: Path
) -> None:
    uuid = QUESTIONS[0]["question_uuid"]
    write_message(ledger, "b1", uuid, NewMessage("chen", "Is the map part of it?"), NOW)
    write_message(ledger, "b1", uuid, NewMessage("cora", "Yes.", is_coordinator=True, to="chen"), LATER)
    cards = {}
    for name in ("chen", "dai"):
        path = folder / f"{name}.xlsx"
        export_workbook(ledger, "b1", name, path, language="en")
        sheet = load_workbook(path)[layout.SHEET]
        place = find_column(sheet, "card")
        cards[name] = "".join(str(sheet.cell(row, place).value) for row in range(2, 5))
    assert "Is the map part of it?" in cards["chen"] and "coordinator: Yes." in cards["chen"]
    assert "cora" not in cards["chen"]
    assert "map" not in cards["dai"]
    fill(folder / "chen.xlsx", decision={2: "accept"})
    assert import_workbook(ledger, folder / "chen.xlsx", LATER).new_count == 1
