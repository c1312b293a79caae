"""Layouts of papers.

Every case of layouts/*.yaml is a paper and the questions that it holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.ingest.readers.extraction import Line, join_lines
from tasks.ingest.splitting import split_lines

CASES: list[dict[str, Any]] = [
    case
    for path in sorted((Path(__file__).parent / "layouts").glob("*.yaml"))
    # The C loader: seven thousand lines take the other one a second of every collection.
    for case in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
]


def read_questions(paper: str) -> list[dict[str, Any]]:
    lines = [Line(line) for line in paper.split("\n")]
    _, starts, _ = join_lines(lines)
    found: list[dict[str, Any]] = []
    for draft in split_lines(lines, starts).drafts:
        entry: dict[str, Any] = {
            "number": draft.number_label,
            "type": draft.question_type,
            "stem": draft.stem,
        }
        if draft.material:
            entry["material"] = draft.material
        if draft.options:
            entry["options"] = [f"{label}|{text}" for label, text in draft.options]
        entry["answer"] = draft.answer
        if draft.explanation:
            entry["explanation"] = draft.explanation
        if draft.marks:
            entry["marks"] = draft.marks
        if draft.notes:
            entry["notes"] = draft.notes
        found.append(entry)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_paper_in_this_layout_gives_exactly_its_questions(case: dict[str, Any]) -> None:
    expected = [
        {key: value.rstrip("\n") if isinstance(value, str) else value for key, value in question.items()}
        for question in case["questions"]
    ]
    assert read_questions(case["paper"]) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_every_question_points_to_its_place_in_the_text(case: dict[str, Any]) -> None:
    lines = [Line(line) for line in case["paper"].split("\n")]
    text, starts, _ = join_lines(lines)
    for draft in split_lines(lines, starts).drafts:
        place = "".join(text[draft.start : draft.end].split())
        beginning = "".join(draft.stem.split())[:6]
        assert beginning[:2] in place, (draft.number_label, text[draft.start : draft.end])
        assert draft.start < draft.end <= len(text)
