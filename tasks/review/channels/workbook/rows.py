"""The decision of one row of a review workbook, or what is wrong with its cells; each fault names its column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tasks.questions.question import QuestionContent
from tasks.review.channels.workbook import cells, layout
from tasks.review.decision import GivenDecision
from tasks.review.edit import Edit
from tasks.review.faults import Fault, find_faults, find_shape_faults
from tasks.review.item import Item

if TYPE_CHECKING:
    from openpyxl.cell import Cell, MergedCell

    # The cells of a row by column name.
    Row = Mapping[str, Cell | MergedCell]


def parse_row(values: Row, item: Item) -> tuple[GivenDecision | None, list[Fault]]:
    """The decision of one row; null when it has none or is faulty."""
    texts: dict[str, str] = {}
    faults: list[Fault] = []
    for column in layout.INPUT_COLUMNS:
        try:
            texts[column.name] = _read_text(values[column.name])
        except ValueError as error:
            faults.append(Fault(column.name, str(error)))
    if faults:
        return None, faults
    filled = [name for name, text in texts.items() if text]
    if not filled:
        return None, []
    if not texts["decision"]:
        return None, [Fault("decision", f"the decision is missing, but {', '.join(filled)} is filled in")]
    decision = cells.parse_word(texts["decision"], layout.DECISION_WORDS)
    if decision is None:
        message = "the decision is not one of accept, edit, reject; choose from the list"
        return None, [Fault("decision", message)]
    reason = cells.parse_word(texts["reject_reason"], layout.REASON_WORDS)
    if texts["reject_reason"] and reason is None:
        message = f"the reason is not one of {', '.join(layout.REASON_WORDS)}; choose from the list"
        return None, [Fault("reject_reason", message)]
    edit, faults = _parse_edit(texts, item.content)
    if faults:
        return None, faults
    given = GivenDecision(item.question_uuid, decision, reason, texts["comment"] or None, edit)
    faults = [_find_cell(fault) for fault in find_faults(item.content, given)]
    return (None, faults) if faults else (given, [])


def _parse_edit(texts: Mapping[str, str], content: QuestionContent) -> tuple[Edit | None, list[Fault]]:
    """The corrections of one row; null when there are none. The new type decides how a new answer is read."""
    fields: dict[str, object] = {}
    question_type = content.question_type
    faults: list[Fault] = []
    for column in layout.INPUT_COLUMNS:
        if not column.is_edit or not texts[column.name]:
            continue
        name = column.name.removeprefix("new_")
        try:
            fields[name] = cells.parse_correction(name, texts[column.name], question_type)
        except ValueError as error:
            faults.append(Fault(column.name, str(error)))
            continue
        if name == "question_type":
            question_type = str(fields[name])
    faults += [_find_cell(fault) for fault in find_shape_faults(fields)]
    return (Edit.from_row(fields) if fields and not faults else None), faults


def _find_cell(fault: Fault) -> Fault:
    """The fault in the column to fill in: a fault of the content lies in its New… column."""
    names = [column.name for column in layout.INPUT_COLUMNS]
    name = next((one for one in (fault.field, f"new_{fault.field}") if one in names), "decision")
    return Fault(name, fault.message)


def _read_text(cell: Cell | MergedCell) -> str:
    """The text of a cell that was filled in; raises ValueError for a formula, an error or a date."""
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        raise ValueError("this is a formula; write the text itself")
    if cell.data_type == "e":
        raise ValueError("this cell holds a spreadsheet error; write the text again")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, str):
        return value.replace("_x000D_", "").replace("\r\n", "\n").strip()
    raise ValueError(
        "the spreadsheet made a date or time of this; format the cell as text and write it again"
    )
