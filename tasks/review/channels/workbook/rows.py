"""The decision of one row of a review workbook, or what is wrong with which of its cells.

The sentences of the desk and of the cells are English; messages.yaml has the Chinese for each, by pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

import yaml

from schemas import patterns as re
from schemas.reviews import REJECT_REASONS
from tasks.questions import QuestionContent
from tasks.questions.pictures import write_mark
from tasks.review.channels.workbook import cells, layout
from tasks.review.decisions import Edit, Fault, GivenDecision, Item, find_faults, find_shape_faults
from tasks.review.words import Language, list_words, parse_word

if TYPE_CHECKING:
    from openpyxl.cell import Cell, MergedCell

    # The cells of a row by column name.
    Row = Mapping[str, Cell | MergedCell]

INPUT_NAMES = tuple(column.name for column in layout.list_inputs())
# Fields whose value is a choice: a message may repeat it, it is no text of a question.
CHOICES = ("decision", "reject_reason", "new_question_type", "new_discipline")
MOST_REPEATED = 40
_PLAIN_FORMATS = ("General", "0", "@")
# Spreadsheet programs keep 15 digits.
_LEAST_INEXACT = 10**15
# How a file holds a control character.
_CONTROL = re.compile("_x00([01][0-9A-Fa-f])_")
# The character zero, and half of a pair that a program cut: no store takes them.
_UNKEPT = re.compile("[\0\ud800-\udfff]")
# Its work was moved, or its paper removed, after the file was handed out.
NOT_GIVEN = "this question is not given to you any more; empty what is filled in"


def parse_row(values: Row, item: Item) -> tuple[GivenDecision | None, list[Fault]]:
    """The decision of one row; null when it has none or is faulty."""
    texts: dict[str, str] = {}
    faults: list[Fault] = []
    for name in INPUT_NAMES:
        try:
            texts[name] = read_text(values[name])
        except ValueError as error:
            faults.append(Fault(name, str(error)))
    return (None, faults) if faults else parse_texts(texts, item)


def parse_texts(texts: Mapping[str, str], item: Item) -> tuple[GivenDecision | None, list[Fault]]:
    """The decision that the texts of a row's cells say; null when they have none or are faulty."""
    texts = {name: texts.get(name, "").strip() for name in INPUT_NAMES}
    filled = [name for name, text in texts.items() if text]
    if not filled:
        return None, []
    if unkept := [name for name in filled if _UNKEPT.search(texts[name])]:
        message = "it holds a character that cannot be kept; write it again"
        return None, [Fault(name, message) for name in unkept]
    if not texts["decision"]:
        return None, [Fault("decision", f"the decision is missing, but {', '.join(filled)} is filled in")]
    decision = parse_word(texts["decision"], "decisions")
    if decision is None:
        message = "the decision is not one of accept, edit, reject; choose from the list"
        return None, [Fault("decision", message)]
    reason = parse_word(texts["reject_reason"], "reasons")
    if texts["reject_reason"] and reason is None:
        message = f"the reason is not one of {', '.join(REJECT_REASONS)}; choose from the list"
        return None, [Fault("reject_reason", message)]
    edit, faults = _parse_edit(texts, item.content)
    if faults:
        return None, faults
    given = GivenDecision(item.question_uuid, decision, reason, texts["comment"] or None, edit)
    faults = find_faults(item.content, given, item.notes)
    if edit is not None and not faults:
        faults = _find_lost_pictures(item.content, edit)
    return (None, [_find_cell(fault) for fault in faults]) if faults else (given, [])


def _find_lost_pictures(content: QuestionContent, edit: Edit) -> list[Fault]:
    """Pictures that no corrected text names: who writes a text anew may forget a mark."""
    kept = {one.number for one in edit.apply(content).pictures}
    return [
        Fault(
            one.place,
            f"{write_mark(one.number)} is left out; write it where the picture belongs, or take the picture out on the web",
        )
        for one in Edit().apply(content).pictures
        if one.number not in kept
    ]


def _parse_edit(texts: Mapping[str, str], content: QuestionContent) -> tuple[Edit | None, list[Fault]]:
    """A row's corrections, null for none; the new type decides how a new answer is read."""
    fields: dict[str, object] = {}
    question_type = content.question_type
    faults: list[Fault] = []
    for column_name in INPUT_NAMES:
        if not column_name.startswith("new_") or not texts[column_name]:
            continue
        name = column_name.removeprefix("new_")
        try:
            fields[name] = cells.parse_correction(name, texts[column_name], question_type)
        except ValueError as error:
            faults.append(Fault(column_name, str(error)))
            continue
        if name == "question_type":
            question_type = str(fields[name])
    faults += [_find_cell(fault) for fault in find_shape_faults(fields)]
    return (Edit.from_row(fields) if fields and not faults else None), faults


def _find_cell(fault: Fault) -> Fault:
    """The fault in the column to fill in: a fault of the content lies in its New… column."""
    name = next((one for one in (fault.field, f"new_{fault.field}") if one in INPUT_NAMES), "decision")
    return Fault(name, fault.message)


def read_text(cell: Cell | MergedCell) -> str:
    """The text of a cell; ValueError for a formula, an error, a date or a changed number."""
    from openpyxl.cell.rich_text import CellRichText

    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        raise ValueError("this is a formula; write the text itself")
    if cell.data_type == "e":
        raise ValueError("this cell holds a spreadsheet error; write the text again")
    if isinstance(value, bool):
        return "true" if value else "false"
    # A cell that shows 50% holds 0.5, one that shows 1/2 as well; of a long number the last digits are lost.
    if isinstance(value, int | float) and (
        cell.number_format not in _PLAIN_FORMATS or abs(value) >= _LEAST_INEXACT
    ):
        raise ValueError(
            "the spreadsheet made another number of this; format the cell as text and write it again"
        )
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    # A word in bold makes rich text of the cell, which is no `str`.
    if isinstance(value, CellRichText):
        value = str(value)
    if isinstance(value, str):
        return _CONTROL.sub(_read_control, value).replace("\r\n", "\n").replace("\r", "\n").strip()
    raise ValueError(
        "the spreadsheet made a date or time of this; format the cell as text and write it again"
    )


def _read_control(escaped: re.Match[str]) -> str:
    """What a control character is to a reader: a tab, a line's end (a slide's 0B), or nothing."""
    return {"09": "\t", "0A": "\n", "0B": "\n", "0C": "\n", "0D": "\r"}.get(escaped[1].upper(), "")


def translate(message: str, language: Language) -> str:
    """The sentence in that language; one that the table lacks stays as it is."""
    if language == "en":
        return message
    for pattern, chinese in _read_patterns():
        found = pattern.fullmatch(message)
        if found is not None:
            parts = {name: _translate_part(text) for name, text in found.groupdict().items()}
            return chinese.format(**parts)
    return message


def _translate_part(text: str) -> str:
    """A fault within a fault, or the codes in it as an annotator knows them."""
    inner = translate(text, "zh")
    if inner != text:
        return inner
    topics = [list_words(topic, "zh") for topic in ("decisions", "reasons", "question_types", "disciplines")]
    words = {code: word for topic in topics for code, word in topic.items()}
    return "、".join(words.get(part, part) for part in text.split(", "))


@lru_cache(maxsize=1)
def _read_patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    text = resources.files("tasks.review.channels.workbook").joinpath("messages.yaml").read_text("utf-8")
    return [(_compile(en), zh) for en, zh in yaml.safe_load(text).items()]


def _compile(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", sentence)
    return re.compile(
        r"\A"
        + "".join(
            re.escape(part) if place % 2 == 0 else f"(?P<{part}>.+?)" for place, part in enumerate(parts)
        ),
        re.DOTALL,
    )
