"""A review workbook's sheets, and its columns with the headers of each language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tasks.review.decisions import Item
from tasks.review.words import Language

SHEET = "Review 审核"
INSTRUCTIONS_SHEET = "Instructions 说明"
FORMULAS_SHEET = "LaTeX"
HIDDEN_SHEET = "_proctor"
LISTS_SHEET = "_lists"
FORMAT_NAME = "proctor-review-workbook"
FORMAT_VERSION = 2

FIRST_ROW = 2
# What empties a field; the first is what an export writes.
CLEAR_WORDS = ("(none)", "（none）", "(无)", "（无）")


@dataclass(frozen=True)
class SheetColumn:
    """A column: its stable name, printed header, width in characters, and what it is for."""

    name: str
    header: str
    width: int
    is_input: bool = False
    is_edit: bool = False
    is_hidden: bool = False


# Number, card, decision, reason, comment: together under 1,366 pixels, so that nobody scrolls to decide.
_COLUMNS = (
    ("row_number", "No.", "序号", 5, ""),
    ("card", "QUESTION", "题目", 96, ""),
    ("decision", "DECISION", "结论", 11, "input"),
    ("reject_reason", "REASON (if rejected)", "退回原因", 14, "input"),
    ("comment", "COMMENT", "备注", 30, "input"),
    ("faults", "TO CORRECT", "待更正", 24, "hidden"),
    ("new_question_type", "New type", "更正题型", 14, "edit"),
    ("new_discipline", "New discipline", "更正学科", 14, "edit"),
    ("new_sub_discipline", "New sub-discipline", "更正二级学科", 16, "edit"),
    ("new_material", "New material", "更正材料", 36, "edit"),
    ("new_stem", "New stem", "更正题干", 40, "edit"),
    ("new_options", "New options", "更正选项", 32, "edit"),
    ("new_answer", "New answer", "更正答案", 18, "edit"),
    ("new_explanation", "New explanation", "更正解析", 40, "edit"),
    ("question_uuid", "Question ID", "题目编号", 16, "hidden"),
    ("revision", "Revision", "版本", 8, "hidden"),
    ("part", "Part", "分段", 7, "hidden"),
)


def list_columns(language: Language) -> tuple[SheetColumn, ...]:
    """The columns of a workbook in that language, in order."""
    return tuple(
        SheetColumn(
            name,
            zh if language == "zh" else en,
            width,
            is_input=kind in ("input", "edit"),
            is_edit=kind == "edit",
            is_hidden=kind == "hidden",
        )
        for name, en, zh, width, kind in _COLUMNS
    )


def list_inputs(language: Language = "en") -> tuple[SheetColumn, ...]:
    """The columns to fill in; their names are the same in every layout."""
    return tuple(column for column in list_columns(language) if column.is_input)


def choose_language(items: Iterable[Item]) -> Language:
    """The language that most of the questions are in: who reviews them reads it."""
    languages = [item.content.language or "" for item in items]
    chinese = sum(language.casefold().startswith(("zh", "chinese")) for language in languages)
    return "zh" if 2 * chinese > len(languages) else "en"


def name_column(place: int) -> str:
    """The letter of a column, 1 → A."""
    from openpyxl.utils import get_column_letter

    return get_column_letter(place)
