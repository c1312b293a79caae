from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.gscore.cgeval.files import QUESTION_HEADERS
from tasks.gscore.cgeval.question_set import read_references
from tests.tasks.gscore.world import write_question_file


@pytest.fixture
def questions(tmp_path: Path) -> pl.DataFrame:
    return write_question_file(tmp_path / "questions.csv", per_subject=1)


def test_several_rows_are_several_references_in_the_questions_order(
    questions: pl.DataFrame, tmp_path: Path
) -> None:
    one, other = questions["cgeval_id"][0], questions["cgeval_id"][3]
    table = pl.DataFrame(
        {
            "cgeval_id": [other, one, other, one],
            "reference": ["乙一", "甲", "乙二", "  "],
            "page": [1, 2, 3, 4],
        }
    )
    for suffix, write in (
        ("csv", table.write_csv),
        ("jsonl", table.write_ndjson),
        ("parquet", table.write_parquet),
    ):
        path = tmp_path / f"references.{suffix}"
        write(path)
        assert read_references(path, questions).rows() == [
            (one, ["甲"], [None]),
            (other, ["乙一", "乙二"], [None, None]),
        ]


def test_a_file_with_cgevals_own_columns_needs_no_ids(questions: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "references.csv"
    questions.select(*QUESTION_HEADERS, 参考答案=pl.lit("答"), 最终答案=pl.lit("7")).write_csv(path)
    found = read_references(path, questions)
    assert found["cgeval_id"].equals(questions["cgeval_id"])
    assert found.select("references", "reference_answers").unique().rows() == [(["答"], ["7"])]


def test_a_final_answer_alone_is_a_reference_for_calculations(
    questions: pl.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "references.csv"
    pl.DataFrame(
        {"cgeval_id": questions["cgeval_id"][:1], "reference": [""], "reference_answer": ["7"]}
    ).write_csv(path)
    assert read_references(path, questions).rows() == [(questions["cgeval_id"][0], [None], ["7"])]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", "cgeval_id,text\nx,y\n", "no column `reference`"),
        ("b.csv", "reference\nx\n", "cgeval_id"),
        ("c.csv", "cgeval_id,reference\nx|y|0,z\n", "1 of 1 references belong to no imported question"),
        ("d.txt", "x", "is none of .csv"),
        ("e.parquet", "x", "cannot be read"),
        ("f.csv", None, "cannot be read"),
    ],
)
def test_files_that_hold_no_references_are_refused(
    questions: pl.DataFrame, tmp_path: Path, name: str, content: str | None, says: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UsageError, match=says):
        read_references(tmp_path / name, questions)


def test_a_file_of_blanks_is_refused(questions: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    pl.DataFrame({"cgeval_id": questions["cgeval_id"], "reference": [""] * questions.height}).write_csv(path)
    with pytest.raises(UsageError, match="every one is blank"):
        read_references(path, questions)
