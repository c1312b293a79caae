"""Layouts of papers.

Every case of layouts/*.yaml is a paper and the questions that it holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.ingest.content.drafts import Draft
from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.splitting import split_lines
from tests.hunts import some

FILES: dict[str, list[dict[str, Any]]] = {
    # The C loader: seven thousand lines take the other one a second of every collection.
    path.stem: yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    for path in sorted((Path(__file__).parent / "layouts").glob("*.yaml"))
}
CASES = [case for cases in FILES.values() for case in cases]


def read_questions(paper: str) -> str:
    """The questions of a paper as its case has them, each line below the first set in.

    The number, the type and the stem; `material`; options as `label|text`; each answer after `=`; what else there is by name.
    """
    lines = [Line(line) for line in paper.split("\n")]
    _, starts, _ = join_lines(lines)
    return "\n".join(_write(draft) for draft in split_lines(lines, starts).drafts)


def _write(draft: Draft) -> str:
    fields = {"explanation": draft.explanation, "marks": draft.marks, "notes": ", ".join(draft.notes)}
    parts = [
        f"{draft.number_label} {draft.question_type}: {draft.stem}".lstrip(),
        *([f"material: {draft.material}"] if draft.material else []),
        *(f"{label}|{text}" for label, text in draft.options),
        *(f"= {answer}" for answer in draft.answer),
        *(f"{name}: {value}" for name, value in fields.items() if value),
    ]
    return "\n".join(parts).replace("\n", "\n  ")


@pytest.mark.parametrize("name", FILES)
def test_a_paper_in_this_layout_gives_exactly_its_questions(name: str) -> None:
    # A file at a time: a test of its own for each of nine hundred papers took half as long again as to read them.
    found = {case["case"]: read_questions(case["paper"]) for case in FILES[name]}
    assert found == {case["case"]: case["questions"].rstrip("\n") for case in FILES[name]}


@pytest.mark.hunt
def test_every_question_points_to_its_place_in_the_text() -> None:
    for case in some(CASES, 60):
        check_places(case["paper"])


def check_places(paper: str) -> None:
    lines = [Line(line) for line in paper.split("\n")]
    text, starts, _ = join_lines(lines)
    for draft in split_lines(lines, starts).drafts:
        # a gap is asked by the sentence of its passage that has it
        place = "".join(f"{text[draft.start : draft.end]} {draft.material or ''}".split())
        # the letters of sentences to be put in order are written `A.`, whatever stands behind them
        place, beginning = (text.replace(".", "") for text in (place, "".join(draft.stem.split())[:6]))
        # what the heading asks is asked of every question below it, and these have their options there
        pieces = [beginning[:2]]
        if beginning[:2] not in place and draft.options and draft.stem in text[: draft.start]:
            pieces = ["".join(option.split()) for _, option in draft.options]
        assert all(one in place for one in pieces), (draft.number_label, text[draft.start : draft.end])
        assert draft.start < draft.end <= len(text)


def test_a_platform_prints_what_was_filled_in_above_what_is_right() -> None:
    # `(1) T 字` below a mark that every blank has looks like the first line of a key at the end.
    answers = ("灯塔", "风车", "T 字", "渡船", "水井")
    lines = ["一. 单选题（共 40 题，40 分）"]
    for number in range(1, 41):
        lines += [
            f"{number}. (单选题)第 {number} 处用来照明的是( )",
            "A. 灯塔",
            "B. 风车",
            "C. 渡船",
            "D. 水井",
            "我的答案: B正确答案: A",
            "0 分",
        ]
    lines.append("二. 填空题（共 5 题，10 分）")
    for number, answer in enumerate(answers, start=41):
        lines += [
            f"{number}. (填空题)第 {number} 处所建的是()。",
            "我的答案：",
            "0 分",
            "(1) 桥",
            "正确答案：",
            f"(1) {answer}",
        ]
    found = [Line(line) for line in lines]
    drafts = split_lines(found, join_lines(found)[1]).drafts
    assert [draft.number_label for draft in drafts] == [f"{number}." for number in range(1, 46)]
    assert [draft.answer for draft in drafts[40:]] == [[f"(1) {answer}"] for answer in answers]
    assert all("桥" not in draft.stem for draft in drafts)
