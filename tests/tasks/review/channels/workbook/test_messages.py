"""Every sentence about a bad row has its Chinese."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tasks.review.decisions.faults
from tasks.review.channels.workbook import cells, parsing, rows
from tasks.review.channels.workbook.rows import translate


def list_sentences(module: object) -> list[str]:
    """What a module says of a row: messages of faults and ValueErrors, their parts as {}."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")  # type: ignore[attr-defined]
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            if node.func.id == "Fault" and len(node.args) == 2:
                found += _read(node.args[1])
            elif node.func.id == "ValueError":
                found += _read(node.args[0])
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("message", "said", "_CHANGED"):
            found += _read(node.value)
    return found


def _read(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values]
        # The one sentence whose subject is a part: of a type, or of a discipline.
        return ["".join(parts).replace("the 1 is", "the type is")]
    return []


@pytest.mark.parametrize("module", [tasks.review.decisions.faults, cells, rows], ids=lambda one: one.__name__)
def test_every_sentence_about_a_row_is_said_in_chinese(module: object) -> None:
    sentences = list_sentences(module)
    assert len(sentences) >= 4
    assert [sentence for sentence in sentences if translate(sentence, "zh") == sentence] == []


def test_sentences_of_the_sheet_are_said_in_chinese() -> None:
    sentences = [
        one
        for one in list_sentences(parsing)
        if not one.startswith(("the column", "this column", "the row of"))
    ]
    assert [sentence for sentence in sentences if translate(sentence, "zh") == sentence] == []


def test_parts_of_a_sentence_are_said_in_chinese_too() -> None:
    said = translate("it cannot be accepted as it stands: the answer is empty; edit or reject it", "zh")
    assert said == "不能直接通过：答案为空；请修改或退回"
    assert translate("something new", "zh") == "something new"
    assert translate("the stem is empty", "en") == "the stem is empty"
