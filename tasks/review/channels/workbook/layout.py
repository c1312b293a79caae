"""What a review workbook looks like: its sheets, columns and words."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.reviews import REJECT_REASONS

SHEET = "Review 审核"
INSTRUCTIONS_SHEET = "Instructions 说明"
HIDDEN_SHEET = "_proctor"
LISTS_SHEET = "_lists"
FORMAT_NAME = "proctor-review-workbook"
FORMAT_VERSION = 1

FIRST_ROW = 2
HIDDEN_FIRST_ROW = 7
# What empties a field; the first is what an export writes.
CLEAR_WORDS = ("(none)", "（none）", "(无)", "（无）")


@dataclass(frozen=True)
class SheetColumn:
    """One column: its stable name, its printed header, its width in characters, and whether it is filled in."""

    name: str
    header: str
    width: int
    is_input: bool = False
    is_edit: bool = False


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

DECISION_WORDS = {"accept": "accept 通过", "edit": "edit 修改后通过", "reject": "reject 退回"}
REASON_WORDS = dict(
    zip(
        REJECT_REASONS,
        (
            "factual_error 事实错误",
            "irrelevant_answer 答非所问",
            "unclear 表述不清",
            "duplicate 重复",
            "misclassified 分类错误",
            "formatting 格式问题",
            "other 其他",
        ),
        strict=True,
    )
)

INSTRUCTIONS = (
    "怎样填写（中文）",
    "1. 每行一道题。阅读题干、选项、答案与解析，在“DECISION 结论”列选择：accept 通过 / edit 修改后通过 / reject 退回。",
    "2. 选择 reject 时必须在“REASON 退回原因”列选一个原因；原因为 other 时请在备注中说明。",
    "3. 选择 edit 时只在需要更正的 New… 列中填写更正后的完整内容，其余留空。要清空某项（如解析），填写 (none)。",
    "4. 更正选项时每行一个，例如“A. 第一项”，换行后“B. 第二项”；更正选择题答案只写字母，多选连写，例如 AC；判断题写 true 或 false。",
    "5. 填空题有多个空时，更正后的答案每空一行。",
    "6. 请勿删除、移动列或行中的题目编号，也不要直接改动灰色的原文列：更正请写在 New… 列。",
    "7. 可以分几次完成：未填结论的行视为尚未审核。保存为 .xlsx 后交回；截止前可再次交回，以最后一次为准。",
    "",
    "How to fill this in (English)",
    "1. One row is one question. Read stem, options, answer and explanation, then choose in column DECISION: accept, edit or reject.",
    "2. A rejection needs a REASON; with `other`, say more in COMMENT.",
    "3. With edit, write the whole corrected text into the New… columns that need it and leave the others empty. To empty a field (an explanation, say), write (none).",
    "4. Corrected options: one per line, such as `A. first`, then `B. second`. Corrected keys: letters only, such as AC. True/false: true or false.",
    "5. Several blanks: one corrected answer per line.",
    "6. Do not delete or move columns or question IDs, and leave the grey columns as they are: corrections belong in the New… columns.",
    "7. You may hand it in several times: a row without a decision counts as not reviewed yet, and until the batch closes the last file stands.",
)


def list_columns(role: str) -> tuple[SheetColumn, ...]:
    """The columns of a workbook for that role, in order; an adjudicator also sees what was decided."""
    extra = (DECISIONS_SO_FAR,) if role == "adjudicator" else ()
    return (*SHOWN_COLUMNS, *extra, *INPUT_COLUMNS)


def name_column(place: int) -> str:
    """The letter of a column, 1 → A."""
    from openpyxl.utils import get_column_letter

    return get_column_letter(place)
