"""What is said of a reading is there in Chinese, whatever contract says it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tasks.ingest.reasons import say_in_chinese
from tests.sources import ROOT

CONTRACTS = ROOT / "tasks" / "ingest" / "contracts"
# Of the words that a sentence puts in, those that another sentence of the same contract chooses.
CHOSEN = {
    "what": "without options below a heading of choice questions",
    "below": " and have no number",
    "held": "a second answer, a heading",
    "more": "",
    "_asking(reading.pieces)": " and 7 ask or leave a blank",
    "'One number is' if lost == 1 else f'{lost} numbers are'": "7 numbers are",
}


def list_sentences() -> Iterator[str]:
    """Every sentence with a place in it that stands in a contract, its places filled."""
    for path in sorted(CONTRACTS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else []
            said = "".join(_fill(part) for part in parts)
            if re.match(r"[A-Z0-9'].* .*[.:]\s?$", said, re.DOTALL):
                yield said if said.endswith(".") else f"{said}they are rather rules."


def _fill(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    source = ast.unparse(part.value)
    if source in CHOSEN:
        return CHOSEN[source]
    return "'甲.'" if part.conversion == ord("r") else "7." if "label" in source else "7"


@pytest.mark.parametrize("said", sorted(set(list_sentences())))
def test_a_sentence_of_a_contract_is_there_in_chinese(said: str) -> None:
    told = say_in_chinese(f"Not read: {said}")
    assert re.search(r"[A-Za-z]{2,}", told) is None, told


def test_the_reason_of_a_held_paper_is_said_sentence_by_sentence() -> None:
    reason = (
        "Held: What the paper says of itself does not hold for 95% of its questions. Section '一、选择' announces 40 questions "
        "(共 40 小题), 3 were found. Question 6. holds a second answer. Something new of 7. And 2 more. Correct how it is "
        "divided on the web desk, or release it as it is: `proctor documents release`."
    )
    assert say_in_chinese(reason) == (
        "已暂扣：95% 的题目与试卷自身的说明不符。'一、选择' 部分说明有 40 题（共 40 小题），识别出 3 题。第 6 题中含有：另一个答案。 "
        "Something new of 7.另有 2 处。请在审题台更正划分，或原样放行：`proctor documents release`。"
    )


@pytest.mark.parametrize(
    ("said", "chinese"),
    [
        ("One number is missing before question Problem 52.", "“Problem 52”一题之前缺一个题号。"),
        (
            "Section 'Part I. Multiple choice' was read as one question; it holds 3 numbered lines. And 2 more.",
            "'Part I. Multiple choice' 部分被识别为一道题，但其中有 3 行带编号。另有 2 处。",
        ),
        (
            'Question "It\'s so. The" holds a second answer, a heading (3 from character 29 of the text on).',
            '第 "It\'s so. The" 题中含有：另一个答案、标题（自文本第 29 个字符起共 3 处）。',
        ),
        (
            "The paper announces 40 questions (Part I. All count.), 3 were found. And 2 more.",
            "试卷说明有 40 题（Part I. All count），识别出 3 题。另有 2 处。",
        ),
        ("2 questions offer options and ask nothing (7., 8.).", "2 题有选项但没有提问（7, 8）。"),
        ("12 answers were taken from vol. II.docx.", "从 vol. II.docx 取得 12 个答案。"),
        ("A new sentence speaks of a heading.", "A new sentence speaks of a heading."),
    ],
)
def test_what_a_sentence_puts_in_may_have_dots_and_words_of_sentences(said: str, chinese: str) -> None:
    assert say_in_chinese(said) == chinese
