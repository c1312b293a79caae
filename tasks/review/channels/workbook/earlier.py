"""Layout 1: a column for each field of a question.

Such workbooks may still be with annotators, so they are still read.
"""

from __future__ import annotations

import hashlib
import json

from tasks.review.channels.workbook.cells import fit_cell, render_answer, render_options
from tasks.review.channels.workbook.layout import SheetColumn
from tasks.review.decisions import Item

SHOWN_COLUMNS = (
    SheetColumn("row_number", "No. 序号", 6),
    SheetColumn("question_uuid", "Question ID 题目编号", 16),
    SheetColumn("revision", "Revision 版本", 8),
    SheetColumn("document_name", "Document 来源试卷", 18),
    SheetColumn("number_label", "Number 题号", 8),
    SheetColumn("question_type", "Type 题型", 16),
    SheetColumn("discipline", "Discipline 学科", 14),
    SheetColumn("sub_discipline", "Sub-discipline 二级学科", 14),
    SheetColumn("language", "Language 语言", 8),
    SheetColumn("material", "Material 材料", 40),
    SheetColumn("stem", "Stem 题干", 50),
    SheetColumn("options", "Options 选项", 36),
    SheetColumn("answer", "Answer 答案", 20),
    SheetColumn("explanation", "Explanation 解析", 36),
    SheetColumn("notes", "Notes 提示", 20),
)
DECISIONS_SO_FAR = SheetColumn("decisions_so_far", "Decisions so far 已有意见", 36)
INPUT_COLUMNS = (
    SheetColumn("decision", "DECISION 结论", 16, is_input=True),
    SheetColumn("reject_reason", "REASON 退回原因", 24, is_input=True),
    SheetColumn("comment", "COMMENT 备注", 30, is_input=True),
    SheetColumn("new_question_type", "New type 更正题型", 16, is_input=True, is_edit=True),
    SheetColumn("new_discipline", "New discipline 更正学科", 14, is_input=True, is_edit=True),
    SheetColumn("new_sub_discipline", "New sub-discipline 更正二级学科", 14, is_input=True, is_edit=True),
    SheetColumn("new_material", "New material 更正材料", 36, is_input=True, is_edit=True),
    SheetColumn("new_stem", "New stem 更正题干", 36, is_input=True, is_edit=True),
    SheetColumn("new_options", "New options 更正选项", 30, is_input=True, is_edit=True),
    SheetColumn("new_answer", "New answer 更正答案", 20, is_input=True, is_edit=True),
    SheetColumn("new_explanation", "New explanation 更正解析", 36, is_input=True, is_edit=True),
)


def list_columns(role: str) -> tuple[SheetColumn, ...]:
    """The columns of a workbook for that role, in order.

    An adjudicator also sees what was decided.
    """
    extra = (DECISIONS_SO_FAR,) if role == "adjudicator" else ()
    return (*SHOWN_COLUMNS, *extra, *INPUT_COLUMNS)


def compute_digest(batch_id: str, item: Item) -> str:
    """A hash of what the row shows.

    It leaves out the row's number and the decisions of others, which may come later.
    """
    text = json.dumps([batch_id, render_shown_cells(0, item)], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def render_shown_cells(row_number: int, item: Item) -> dict[str, str | int]:
    """What the protected cells of a question show, by column name."""
    content, source = item.content, item.source
    notes = [source.status or "", *source.parse_notes] if source else []
    texts = {
        "notes": "\n".join(note for note in notes if note and note != "parsed"),
        "options": render_options(content.options),
        "answer": render_answer(content.answer, content.question_type),
        "document_name": source.document_name if source else None,
        "number_label": source.number_label if source else None,
        "question_type": content.question_type,
        "discipline": content.discipline,
        "sub_discipline": content.sub_discipline,
        "language": content.language,
        "material": content.material,
        "stem": content.stem,
        "explanation": content.explanation,
    }
    cells: dict[str, str | int] = {
        "row_number": row_number,
        "question_uuid": item.question_uuid,
        "revision": item.revision,
    }
    return cells | {name: fit_cell(text or "") for name, text in texts.items()}
