"""The workbook in which people score responses from 0 to 1 in tenths.

It is written blind, and read back with every cell checked.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import polars as pl

from schemas.errors import ContractError, WorkbookError

_SHEET = "scores"
_HEADERS = ("key", "subject", "question", "reference", "response", "score", "comment")
_WIDTHS = (18, 18, 45, 45, 60, 8, 30)
_SCORE_COLUMN = "F"
_SCORE_INDEX = _HEADERS.index("score")
_CELL_LIMIT = 32_767
_CUT_MARK = " […]"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_INTRODUCTION = (
    "Score each response against the reference: 1 says all that the reference says, 0 nothing of it, in tenths (0.7).",
    "Only the score and the comment are read back. Leave the score empty where you cannot judge.",
    "请对照参考答案给每个回答打分：1 表示完全答对，0 表示完全不对，精确到 0.1；无法判断的留空。",
)


def compute_rating_key(question_uuid: str, model: str) -> str:
    """Return the key of a response in the workbook.

    It does not reveal to the rater whose response it is.
    """
    return hashlib.sha256(f"{question_uuid}\0{model}".encode()).hexdigest()[:16]


def export_rating_workbook(sample: pl.DataFrame, path: Path) -> None:
    """Write the responses to be scored, without models or Gscores.

    They are in an order that reveals nothing.

    `sample` has `question_uuid`, `model`, `subject`, `question`, `reference`, `response` (as drawn by `agreement.draw_human_sample`).
    """
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.datavalidation import DataValidation

    needed = ("question_uuid", "model", "subject", "question", "reference", "response")
    absent = [name for name in needed if name not in sample.columns]
    if absent:
        raise ContractError(f"The sample to be scored lacks the columns {', '.join(absent)}.")
    workbook = Workbook()
    introduction = workbook.create_sheet("how to")
    for line in _INTRODUCTION:
        introduction.append([line])
    sheet = workbook.create_sheet(_SHEET)
    sheet.append(_HEADERS)
    rows = sorted(
        (compute_rating_key(row["question_uuid"], row["model"]), row)
        for row in sample.select(needed).to_dicts()
    )
    for number, (key, row) in enumerate(rows, start=2):
        texts = [key, *(row[name] for name in ("subject", "question", "reference", "response"))]
        for column, text in enumerate(texts, start=1):
            cell = sheet.cell(number, column)
            cell.value = _fit_cell(text or "")
            # a response that begins with "=" is a text, not a formula
            cell.data_type = "s"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for index, width in enumerate(_WIDTHS):
        sheet.column_dimensions[chr(ord("A") + index)].width = width
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "B2"
    check = DataValidation(
        type="list", formula1='"' + ",".join(f"{tenth / 10:g}" for tenth in range(11)) + '"', allow_blank=True
    )
    sheet.add_data_validation(check)
    check.add(f"{_SCORE_COLUMN}2:{_SCORE_COLUMN}{max(2, len(rows) + 1)}")
    del workbook["Sheet"]
    workbook.active = 1
    draft = path.with_name(path.name + ".draft")
    workbook.save(draft)
    draft.replace(path)


def _fit_cell(text: str) -> str:
    """Return what a cell can hold of a text; a cut is marked."""
    clean = _FORBIDDEN.sub("\ufffd", text)
    return clean if len(clean) <= _CELL_LIMIT else clean[: _CELL_LIMIT - len(_CUT_MARK)] + _CUT_MARK


def import_rating_workbook(path: Path, sample: pl.DataFrame, rater: str) -> pl.DataFrame:
    """Read a workbook that was filled in.

    Columns: `question_uuid`, `model`, `rater`, `human_score` (0–1, null where left empty), `comment`.

    `sample` is what was exported. Raises WorkbookError when the file is damaged, is not a workbook of this sample, misses or repeats a row,
    or holds a score that is not 0–1 in tenths; the message names sheet, row and column.
    """
    rows = _read_rows(path)
    expected = {
        compute_rating_key(question, model): (question, model)
        for question, model in sample.select("question_uuid", "model").iter_rows()
    }
    seen: dict[str, int] = {}
    records: list[dict[str, Any]] = []
    for number, cells in rows:
        key = str(cells[0] or "")
        place = f"{path.name}, sheet {_SHEET!r}, row {number}"
        if key not in expected:
            raise WorkbookError(
                f"{place}, column A: the key is not one of this sample. Import the workbook with the sample it was made from."
            )
        if key in seen:
            raise WorkbookError(
                f"{place}, column A: the key stands in row {seen[key]} already. Remove one of the two rows."
            )
        seen[key] = number
        question, model = expected[key]
        comment = cells[_SCORE_INDEX + 1] if len(cells) > _SCORE_INDEX + 1 else None
        records.append(
            {
                "question_uuid": question,
                "model": model,
                "rater": rater,
                "human_score": _parse_score(
                    cells[_SCORE_INDEX] if len(cells) > _SCORE_INDEX else None, place
                ),
                "comment": None if comment is None else str(comment),
            }
        )
    if len(seen) < len(expected):
        raise WorkbookError(
            f"{path.name}, sheet {_SHEET!r}: {len(expected) - len(seen)} of {len(expected)} rows are missing. Restore them; a row that cannot be judged keeps an empty score."
        )
    schema = {
        "question_uuid": pl.String,
        "model": pl.String,
        "rater": pl.String,
        "human_score": pl.Float64,
        "comment": pl.String,
    }
    return pl.DataFrame(records, schema=schema)


def _read_rows(path: Path) -> list[tuple[int, tuple[Any, ...]]]:
    from openpyxl import load_workbook

    try:
        workbook = load_workbook(path, data_only=True)
    except Exception as error:  # openpyxl raises whatever zip, XML or its own code meets
        raise WorkbookError(
            f"{path.name} cannot be opened as an Excel workbook ({type(error).__name__}). Save it as .xlsx again."
        ) from error
    if _SHEET not in workbook.sheetnames:
        raise WorkbookError(
            f"{path.name} has no sheet {_SHEET!r}. It is not a workbook for Gscore's human scores."
        )
    sheet = workbook[_SHEET]
    header = tuple(str(cell.value or "").strip() for cell in sheet[1])
    if header[: len(_HEADERS)] != _HEADERS:
        raise WorkbookError(
            f"{path.name}, sheet {_SHEET!r}, row 1: the headers are not {', '.join(_HEADERS)}. Put them back."
        )
    return [
        (number, cells)
        for number, cells in enumerate(sheet.iter_rows(min_row=2, values_only=True), start=2)
        if any(cell is not None and str(cell).strip() for cell in cells)
    ]


def _parse_score(value: Any, place: str) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        score = float(str(value).strip().replace("．", ".").replace(",", "."))
    except ValueError:
        score = float("nan")
    tenths = round(score * 10) if 0 <= score <= 1 else -1
    if isinstance(value, bool) or tenths < 0 or abs(score * 10 - tenths) > 1e-6:
        raise WorkbookError(
            f"{place}, column {_SCORE_COLUMN}: the score is not one of 0, 0.1, … 1. Correct it, or leave the cell empty."
        )
    return tenths / 10
