from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from openpyxl import load_workbook

from schemas.errors import WorkbookError
from tasks.gscore.people.rating_workbook import export_rating_workbook, import_rating_workbook
from tasks.review.marking import compute_key

SAMPLE = pl.DataFrame(
    {
        "question_uuid": ["q1", "q2", "q3"],
        "model": ["secret-model", "other-model", "secret-model"],
        "subject": ["法理学"] * 3,
        "question": ["何谓法？", "=1+1", "三"],
        "reference": ["规则", "2", "叁"],
        "response": ['=HYPERLINK("x")', "bad \x00 character", "长" * 40_000],
        "gscore": [0.1, 0.2, 0.3],
    }
)


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    export_rating_workbook(SAMPLE, tmp_path / "rate.xlsx")
    return tmp_path / "rate.xlsx"


def fill(path: Path, cells: dict[str, Any]) -> None:
    book = load_workbook(path)
    for cell, value in cells.items():
        book["scores"][cell] = value
    book.save(path)


def row_of(path: Path, question: str) -> int:
    model = SAMPLE.filter(question_uuid=question)["model"][0]
    key = compute_key(question, model)
    return next(
        row[0].row for row in load_workbook(path)["scores"].iter_rows(min_row=2) if row[0].value == key
    )


def test_scores_and_comments_come_back_to_their_responses(workbook: Path) -> None:
    one, two = row_of(workbook, "q1"), row_of(workbook, "q2")
    fill(workbook, {f"F{one}": 0.7, f"F{two}": "1", f"G{two}": "好"})
    book = load_workbook(workbook)
    book["scores"][f"F{one}"].number_format = "0%"
    book.save(workbook)
    ratings = import_rating_workbook(workbook, SAMPLE, "anna").sort("question_uuid")
    assert ratings.rows() == [
        ("q1", "secret-model", "anna", 0.7, None),
        ("q2", "other-model", "anna", 1.0, "好"),
        ("q3", "secret-model", "anna", None, None),
    ]


def test_raters_see_neither_models_nor_gscores_and_texts_are_never_formulas(workbook: Path) -> None:
    sheet = load_workbook(workbook)["scores"]
    assert [cell.value for cell in sheet[1]] == [
        "key",
        "subject",
        "question",
        "reference",
        "response",
        "score",
        "comment",
    ]
    values = [str(cell.value) for row in sheet.iter_rows(min_row=2) for cell in row if cell.value is not None]
    assert not any("model" in value or value in ("0.1", "0.2", "0.3") for value in values)
    assert {cell.data_type for row in sheet.iter_rows(min_row=2, max_col=5) for cell in row} == {"s"}
    assert sheet.cell(row_of(workbook, "q1"), 5).value == '=HYPERLINK("x")'
    assert sheet.cell(row_of(workbook, "q2"), 5).value == "bad \ufffd character"
    assert str(sheet.cell(row_of(workbook, "q3"), 5).value).endswith(" […]")


@pytest.mark.parametrize("score", [0.75, 1.1, -0.1, "good", 7, True, "75%", "%"])
def test_a_score_off_the_scale_is_refused_with_its_place(workbook: Path, score: Any) -> None:
    fill(workbook, {"F3": score})
    with pytest.raises(
        WorkbookError, match=r"rate\.xlsx, sheet 'scores', row 3, column F: the score is not one of"
    ):
        import_rating_workbook(workbook, SAMPLE, "anna")


def test_foreign_repeated_and_missing_rows_are_refused(workbook: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkbookError, match="row 2, column A: the key is not one of this sample"):
        import_rating_workbook(workbook, SAMPLE.with_columns(model=pl.lit("x")), "anna")
    book = load_workbook(workbook)
    book["scores"]["A3"] = book["scores"]["A2"].value
    book.save(tmp_path / "repeated.xlsx")
    with pytest.raises(WorkbookError, match="row 3, column A: the key stands in row 2 already"):
        import_rating_workbook(tmp_path / "repeated.xlsx", SAMPLE, "anna")
    book["scores"].delete_rows(3)
    book.save(tmp_path / "short.xlsx")
    with pytest.raises(WorkbookError, match="1 of 3 rows are missing"):
        import_rating_workbook(tmp_path / "short.xlsx", SAMPLE, "anna")


def test_damaged_and_foreign_files_are_refused(workbook: Path, tmp_path: Path) -> None:
    (tmp_path / "damaged.xlsx").write_bytes(workbook.read_bytes()[:500])
    with pytest.raises(WorkbookError, match=r"damaged\.xlsx: "):
        import_rating_workbook(tmp_path / "damaged.xlsx", SAMPLE, "anna")
    book = load_workbook(workbook)
    book["scores"]["F1"] = "mark"
    book.save(tmp_path / "headers.xlsx")
    with pytest.raises(WorkbookError, match="row 1: the headers are not"):
        import_rating_workbook(tmp_path / "headers.xlsx", SAMPLE, "anna")
    del book["scores"]
    book.save(tmp_path / "foreign.xlsx")
    with pytest.raises(WorkbookError, match="has no sheet 'scores'"):
        import_rating_workbook(tmp_path / "foreign.xlsx", SAMPLE, "anna")
