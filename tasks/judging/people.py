"""What no judge could be read of goes to a person: a workbook out, stars and reasons back.

A person's stars are judgements like any other, in the name `person:` and the user: new rows, nothing is overwritten.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.errors import UsageError, WorkbookError
from tasks.judging.judge import JudgementRow, PutResponse
from tasks.judging.landing import (
    Place,
    land_judgements,
    name_occasions,
    read_put_responses,
    read_unparsed,
)
from tasks.judging.prompts import render_reference
from tasks.questions.prompt_styles import render_question
from tasks.review.channels.workbook.opening import open_workbook
from warehouse.lake.store import Lake
from warehouse.ledger import users
from warehouse.ledger.engine import Ledger

PERSON = "person"
ROLES = ("annotator", "examiner", "admin")

_SHEET = "answers"
_HEADERS = ("key", "question", "reference", "response", "stars", "reason")
_WIDTHS = (18, 50, 50, 70, 8, 50)
_STARS, _REASON = _HEADERS.index("stars"), _HEADERS.index("reason")
_CELL_LIMIT = 32_767
_CUT_MARK = " […]"
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_INTRODUCTION = (
    "No judge's output could be read for these responses. Give each 0 to 3 stars against the reference, and say why.",
    "0: answer and explanation are wrong. 1: the answer is wrong, part of the explanation is reasonable.",
    "2: the answer is correct, only part of the explanation is reasonable. 3: both are right.",
    "Only stars and reason are read back. Leave the stars empty where you cannot judge.",
    "以下作答没有可读的评阅结果。请对照参考答案给出 0 到 3 星并写明理由；无法判断的留空。",
)


@dataclass(frozen=True)
class ImportedStars:
    """What came of a workbook.

    Attributes:
        judged: responses that have their stars from it now.
        left_empty: rows without stars.
        not_waiting: rows whose response waits for nobody: it was settled meanwhile, or is not of this home.
    """

    judged: int
    left_empty: int
    not_waiting: int


def export_unparsed(lake: Lake, path: Path, run_id: str | None = None) -> int:
    """Write the workbook of the responses that nobody could be read of, of a run or of all; returns how many there are.

    It names no candidate, and its order tells nothing. A text beyond what a cell holds is cut, and marked.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.datavalidation import DataValidation

    waiting = sorted(
        ((compute_key(place), put) for place, put in _read_waiting(lake, run_id).items()),
        key=lambda one: one[0],
    )
    workbook = Workbook()
    introduction = workbook.create_sheet("how to")
    for line in _INTRODUCTION:
        introduction.append([line])
    sheet = workbook.create_sheet(_SHEET)
    sheet.append(_HEADERS)
    for number, (key, put) in enumerate(waiting, start=2):
        texts = (key, render_question(put.question.bare), render_reference(put.question), put.response)
        for column, text in enumerate(texts, start=1):
            cell = sheet.cell(number, column)
            cell.value = _fit_cell(text)
            cell.data_type = "s"  # a response that begins with "=" is a text, not a formula
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for index, width in enumerate(_WIDTHS):
        sheet.column_dimensions[chr(ord("A") + index)].width = width
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "B2"
    check = DataValidation(type="list", formula1='"0,1,2,3"', allow_blank=True)
    sheet.add_data_validation(check)
    check.add(f"E2:E{max(2, len(waiting) + 1)}")
    del workbook["Sheet"]
    workbook.active = 1
    draft = path.with_name(path.name + ".draft")
    workbook.save(draft)
    draft.replace(path)
    return len(waiting)


def import_unparsed(
    ledger: Ledger, lake: Lake, path: Path, user_id: str, run_id: str | None = None
) -> ImportedStars:
    """Land the stars that a person gave. The same workbook again changes nothing: what has stars waits no longer.

    Raises UsageError for a user that is unknown, inactive or of another role, WorkbookError for a damaged workbook, a key that
    stands there twice, stars that are not 0 to 3, or stars without a reason; the message names sheet and row.
    """
    _check_person(ledger, user_id)
    rows = _read_rows(path)
    waiting = {compute_key(place): (place, put) for place, put in _read_waiting(lake, run_id).items()}
    given = [row for row in rows if row.stars is not None]
    counted = {waiting[row.key][0]: (row, waiting[row.key][1]) for row in given if row.key in waiting}
    judge = f"{PERSON}:{user_id}"
    units: list[list[JudgementRow]] = []
    for occasion, places in name_occasions(lake, list(counted), judge, PERSON).items():
        for session_id in sorted({name for name, _ in places}):
            units.append(
                [
                    _describe_judgement(judge, occasion, *counted[place])
                    for place in sorted(places)
                    if place[0] == session_id
                ]
            )
    if units:
        land_judgements(ledger, lake, units)
    return ImportedStars(len(counted), len(rows) - len(given), len(given) - len(counted))


def compute_key(place: Place) -> str:
    """The key of a response in the workbook: it does not tell whose response it is."""
    session_id, seq = place
    return hashlib.sha256(f"{session_id}\0{seq}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _Row:
    """A row as it was filled in; stars null means left empty."""

    key: str
    stars: int | None
    reason: str


def _read_waiting(lake: Lake, run_id: str | None) -> dict[Place, PutResponse]:
    waiting: dict[Place, PutResponse] = {}
    for is_simulated in (False, True):
        months = lake.read("months_of_runs", {"is_simulated": is_simulated, "run_id": run_id})[
            "month"
        ].to_list()
        places = read_unparsed(lake, months, run_id=run_id, is_simulated=is_simulated)
        if not places:
            continue
        names = sorted({session_id for session_id, _ in places})
        for row in read_put_responses(lake, names, months).iter_rows(named=True):
            place = (row["session_id"], row["seq"])
            if place in places:
                waiting[place] = PutResponse.from_row(row)
    return waiting


def _check_person(ledger: Ledger, user_id: str) -> None:
    with ledger.read() as connection:
        user = users.read_user(connection, user_id)
    if user is None or not user.is_active or user.role not in ROLES:
        raise UsageError(
            f"{user_id!r} is no active user with one of the roles {', '.join(ROLES)}. `proctor exam user list` shows the users; "
            "`proctor exam user add` adds one."
        )


def _describe_judgement(judge: str, occasion: str, row: _Row, put: PutResponse) -> JudgementRow:
    return {
        "run_id": put.run_id,
        "session_id": put.session_id,
        "seq": put.seq,
        "question_uuid": put.question_uuid,
        "model": put.model,
        "prompt_style": put.prompt_style,
        "month": put.month,
        "judge": judge,
        "stars": row.stars,
        "reason": row.reason,
        "raw": None,
        "parse_status": "parsed",
        "prompt_version": f"{PERSON}/{put.question.language}",
        "occasion": occasion,
        "judged_at": datetime.now(UTC),
        "cost_usd": 0.0,
        "attempt": 1,
        "is_simulated": put.is_simulated,
    }


def _read_rows(path: Path) -> list[_Row]:
    workbook = open_workbook(path)
    if _SHEET not in workbook.sheetnames:
        raise WorkbookError(
            f"{path.name} has no sheet {_SHEET!r}: it is not a workbook of `proctor unparsed export`. Export it again."
        )
    sheet = workbook[_SHEET]
    lines = list(sheet.iter_rows(values_only=True))
    header = tuple(str(cell or "").strip() for cell in lines[0]) if lines else ()
    if header[: len(_HEADERS)] != _HEADERS:
        raise WorkbookError(
            f"{path.name}, sheet {_SHEET!r}, row 1: the headers are not {', '.join(_HEADERS)}. Put them back."
        )
    rows: dict[str, _Row] = {}
    for number, cells in enumerate(lines[1:], start=2):
        if all(cell is None or not str(cell).strip() for cell in cells):
            continue
        place = f"{path.name}, sheet {_SHEET!r}, row {number}"
        row = _parse_row(cells, place)
        if row.key in rows:
            raise WorkbookError(
                f"{place}: its key stands in an earlier row already. Remove one of the two rows."
            )
        rows[row.key] = row
    return list(rows.values())


def _parse_row(cells: Sequence[Any], place: str) -> _Row:
    texts = ["" if cell is None else str(cell).strip() for cell in cells] + [""] * len(_HEADERS)
    stars, reason = texts[_STARS], texts[_REASON]
    if not stars:
        return _Row(texts[0], None, reason)
    if stars not in ("0", "1", "2", "3", "0.0", "1.0", "2.0", "3.0"):
        raise WorkbookError(
            f"{place}, column E: the stars are not 0, 1, 2 or 3. Correct them, or leave the cell empty."
        )
    if not reason:
        raise WorkbookError(
            f"{place}, column F: stars without a reason. Say why; it is kept beside the stars."
        )
    return _Row(texts[0], int(stars[0]), reason)


def _fit_cell(text: str) -> str:
    clean = _FORBIDDEN.sub("\ufffd", text)
    return clean if len(clean) <= _CELL_LIMIT else clean[: _CELL_LIMIT - len(_CUT_MARK)] + _CUT_MARK
