"""Every question of the papers that the benchmark makes is read correctly.

Otherwise the benchmark's times would mean nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.ingest_lines import Line, join_lines, split_lines
from tests.benchmarks.ingest_papers import LAYOUTS, make_file, make_paper
from tests.benchmarks.ingest_speed import read_within
from tests.hunts import some

SIZES = ((2_000, LAYOUTS), (8_000, LAYOUTS), (10_000, [("en", "inline", "end")]), (40_000, some(LAYOUTS, 5)))


@pytest.mark.hunt
@pytest.mark.parametrize(
    ("size", "language", "options", "answers"),
    [(size, *layout) for size, layouts in SIZES for layout in layouts],
)
def test_every_question_of_a_made_paper_is_read_with_its_answer(
    size: int, language: str, options: str, answers: str
) -> None:
    paper = make_paper(size, 3, language, options, answers)
    lines = [Line(line) for line in paper.lines]
    split = split_lines(lines, join_lines(lines)[1])
    read = [
        (draft.question_type, tuple(text for _, text in draft.options), tuple(draft.answer))
        for draft in split.drafts
    ]
    assert read == [
        (question.question_type, question.options, question.answer) for question in paper.questions
    ]
    assert (split.language, split.warnings) == (language, [])
    assert 0.5 * size < len(paper.text.encode()) < 1.5 * size


@pytest.mark.parametrize("kind", ["txt", "docx", "xlsx", "pdf"])
def test_every_question_of_a_made_file_is_read_with_its_answer(kind: str, tmp_path: Path) -> None:
    for seed in range(len(LAYOUTS)):
        made = make_file(kind, seed)
        path = tmp_path / f"paper.{kind}"
        path.write_bytes(made.data)
        read = read_within(path)["questions"]
        assert [(question["question_type"], tuple(question["answer"])) for question in read] == [
            (question.question_type, question.answer) for question in made.paper.questions
        ]
