"""Fill in a review workbook as the demo's annotators would: in Excel's own cells, from a list of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tasks.review.channels.workbook import cells, layout
from tasks.review.decision import GivenDecision
from tasks.review.edit import Edit


@dataclass(frozen=True)
class Verdict:
    """What an annotator decides about one question of one paper, other than to accept it."""

    document_name: str
    stem_start: str
    decision: str
    comment: str
    reject_reason: str | None = None
    edit: Edit | None = None


def read_verdicts(path: Path) -> list[Verdict]:
    """The verdicts of `review.yaml`; each names its paper by source file, and the question by its first words."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))

    def document_name(paper: str) -> str:
        source = yaml.safe_load((path.parent / f"{paper}.yaml").read_text(encoding="utf-8"))
        return Path(source["file"]).name

    rejections = [
        Verdict(
            document_name(row["paper"]), row["stem"], "reject", row["comment"], reject_reason=row["reason"]
        )
        for row in content["rejections"]
    ]
    edits = [
        Verdict(
            document_name(row["paper"]),
            row["stem"],
            "edit",
            row["comment"],
            edit=Edit.from_row(row["fields"]),
        )
        for row in content["edits"]
    ]
    return rejections + edits


def fill_workbook(path: Path, verdicts: Sequence[Verdict]) -> int:
    """Write a decision into every row that has none; returns how many were written.

    A question that no verdict is about is accepted when it has an answer.
    """
    from openpyxl import load_workbook

    book = load_workbook(path)
    sheet = book[layout.SHEET]
    places = {str(cell.value): cell.column for cell in sheet[1] if cell.value}
    columns = {
        column.name: places[column.header] for column in (*layout.SHOWN_COLUMNS, *layout.INPUT_COLUMNS)
    }
    filled = 0
    for row in range(layout.FIRST_ROW, sheet.max_row + 1):
        if sheet.cell(row, columns["question_uuid"]).value is None:
            continue
        if sheet.cell(row, columns["decision"]).value:
            continue
        document_name = str(sheet.cell(row, columns["document_name"]).value)
        stem = _squeeze(sheet.cell(row, columns["stem"]).value)
        verdict = next(
            (
                v
                for v in verdicts
                if v.document_name == document_name and stem.startswith(_squeeze(v.stem_start))
            ),
            _judge_by_sight(document_name, sheet.cell(row, columns["answer"]).value),
        )
        values = cells.render_input_cells(
            GivenDecision(
                question_uuid=str(sheet.cell(row, columns["question_uuid"]).value),
                decision=verdict.decision,
                reject_reason=verdict.reject_reason,
                comment=verdict.comment,
                edit=verdict.edit,
            ),
            str(sheet.cell(row, columns["question_type"]).value),
        )
        for name, value in values.items():
            sheet.cell(row, columns[name]).value = value
        filled += 1
    book.save(path)
    return filled


def _judge_by_sight(document_name: str, answer: object) -> Verdict:
    """What no verdict is about is accepted, unless it has no answer: nobody could be examined on it."""
    if answer is None or not str(answer).strip():
        return Verdict(
            document_name, "", "reject", "没有答案。 No answer was read.", reject_reason="formatting"
        )
    return Verdict(document_name, "", "accept", "")


def _squeeze(value: object) -> str:
    return "".join(str(value or "").split())
