"""What a review workbook looks like: columns, words and how content becomes cells and cells become content again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.reviews import REJECT_REASONS
from schemas.vocabulary import DISCIPLINES, QUESTION_TYPES

SHEET = "Review 审核"
INSTRUCTIONS_SHEET = "Instructions 说明"
HIDDEN_SHEET = "_proctor"
LISTS_SHEET = "_lists"
FORMAT_NAME = "proctor-review-workbook"
FORMAT_VERSION = 1

# A cell of a workbook holds no more; longer text is shown up to here, with a mark.
MOST_CELL_CHARACTERS = 32_767
CUT_MARK = "\n[… cut: the whole text is longer than a cell 文本过长，此处截断]"
CLEAR_WORDS = ("(none)", "（none）", "(无)", "（无）")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


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
TRUE_WORDS = frozenset({"true", "t", "yes", "对", "正确", "是", "√", "✓"})
FALSE_WORDS = frozenset({"false", "f", "no", "错", "错误", "否", "×", "✗", "x"})

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


def render_shown_cells(
    row_number: int, item: Mapping[str, Any], decisions_so_far: str | None = None
) -> dict[str, str | int]:
    """What the protected cells of a question show, by column name."""
    content = item["content"]
    notes = [content.get("status") or "", *(content.get("parse_notes") or [])]
    cells: dict[str, str | int] = {
        "row_number": row_number,
        "question_uuid": item["question_uuid"],
        "revision": item["revision"],
        "notes": "\n".join(note for note in notes if note and note != "parsed"),
        "options": render_options(content.get("options")),
        "answer": render_answer(content),
    }
    for name in (
        "document_name",
        "number_label",
        "question_type",
        "discipline",
        "sub_discipline",
        "language",
        "material",
        "stem",
        "explanation",
    ):
        cells[name] = content.get(name) or ""
    if decisions_so_far is not None:
        cells["decisions_so_far"] = decisions_so_far
    return {name: fit_cell(value) if isinstance(value, str) else value for name, value in cells.items()}


def render_input_cells(decision: Mapping[str, Any] | None, content: Mapping[str, Any]) -> dict[str, str]:
    """What the cells to fill in hold when a decision has been given already, by column name."""
    if decision is None:
        return {}
    cells = {
        "decision": DECISION_WORDS[decision["decision"]],
        "reject_reason": REASON_WORDS.get(decision["reject_reason"] or "", ""),
        "comment": decision["comment"] or "",
    }
    edited = decision["edited_fields"] or {}
    for name, value in edited.items():
        if name == "options":
            cells["new_options"] = render_options(value) or CLEAR_WORDS[0]
        elif name == "answer":
            cells["new_answer"] = render_answer({**content, **edited})
        else:
            cells[f"new_{name}"] = value or CLEAR_WORDS[0]
    return {name: fit_cell(value) for name, value in cells.items() if value}


def render_options(options: Sequence[Mapping[str, str]] | None) -> str:
    """One option per line, `A. text`."""
    return "\n".join(f"{option['label']}. {option['text']}" for option in options or [])


def render_answer(content: Mapping[str, Any]) -> str:
    """Keys joined (`AC`); other answers one per line."""
    answer = content.get("answer") or []
    return ("" if content.get("question_type") == "multiple_choice" else "\n").join(answer)


def fit_cell(text: str) -> str:
    """The text without characters that a workbook cannot hold, cut where it is longer than a cell."""
    text = CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    if len(text) <= MOST_CELL_CHARACTERS:
        return text
    return text[: MOST_CELL_CHARACTERS - len(CUT_MARK)] + CUT_MARK


def parse_word(text: str, words: Mapping[str, str]) -> str | None:
    """The stable word behind what was chosen or typed (`accept`, `通过`, `accept 通过`); null when it is none."""
    typed = " ".join(text.split()).casefold()
    for name, shown in words.items():
        parts = shown.casefold().split(maxsplit=1)
        if typed in (name.casefold(), shown.casefold(), *parts):
            return name
    return None


def parse_edit(name: str, text: str, question_type: str) -> Any:
    """The corrected value of a field from its cell; raises ValueError with a sentence when it cannot be read."""
    if text.strip().casefold() in CLEAR_WORDS:
        if name == "options":
            return []
        if name in ("sub_discipline", "material", "explanation"):
            return None
        raise ValueError("this field cannot be emptied")
    if name == "question_type":
        return _parse_choice(text, QUESTION_TYPES, "type")
    if name == "discipline":
        return _parse_choice(text, DISCIPLINES, "discipline")
    if name == "options":
        return parse_options(text)
    if name == "answer":
        return parse_answer(text, question_type)
    return text.strip()


def parse_options(text: str) -> list[dict[str, str]]:
    """Options from lines `A. text`; a line without a label continues the one above."""
    options: list[dict[str, str]] = []
    for line in text.strip().splitlines():
        match = re.match(r"\s*[(（]?([A-Za-zＡ-Ｚａ-ｚ])[)）]?\s*[.．、:：)）]\s*(.*)$", line)
        if match is None:
            if not options:
                raise ValueError("the first line does not begin with a label such as `A.`")
            options[-1]["text"] += "\n" + line
        else:
            label = unicodedata.normalize("NFKC", match.group(1)).upper()
            options.append({"label": label, "text": match.group(2)})
    return [{"label": option["label"], "text": option["text"].strip()} for option in options]


def parse_answer(text: str, question_type: str) -> list[str]:
    """Answers from a cell, by type: letters, true/false, one per line for blanks, else the whole text."""
    if question_type == "multiple_choice":
        letters = re.sub(r"[\s,;，；、/]+", "", unicodedata.normalize("NFKC", text)).upper()
        if not re.fullmatch(r"[A-Z]+", letters):
            raise ValueError("the key of a choice is written in letters only, such as AC")
        return sorted(set(letters))
    if question_type == "true_false":
        word = unicodedata.normalize("NFKC", text).strip().casefold()
        if word in TRUE_WORDS:
            return ["true"]
        if word in FALSE_WORDS:
            return ["false"]
        raise ValueError("the answer of a true/false question is true or false")
    if question_type == "fill_in_the_blank":
        return [line.strip() for line in text.splitlines() if line.strip()]
    return [text.strip()]


def _parse_choice(text: str, allowed: Sequence[str], what: str) -> str:
    typed = " ".join(text.split()).casefold()
    for word in allowed:
        if typed in (word.casefold(), word.replace("_", " ").casefold()):
            return word
    raise ValueError(f"the {what} is not one of {', '.join(allowed)}")
