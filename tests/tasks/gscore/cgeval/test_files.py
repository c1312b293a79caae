from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from schemas.errors import UsageError
from tasks.gscore.cgeval.files import QUESTION_HEADERS, export_cgeval_submission, read_cgeval_questions

ROWS = [
    ["人文与社会科学", "《理论知识》（心理咨询师考试)", "简答题", "0", "何谓共情？", "4", "以下是问题，\n请解答"],
    ["人文与社会科学", "《理论知识》（心理咨询师考试）", "名词解释", "0", "共情", "12", "以下是术语"],
    ["数学计算", "小学数学", "小学计算", "7", "123+298=", "3", "请计算"],
]  # fmt: skip


@pytest.fixture
def question_file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.csv"
    frame = pl.DataFrame(ROWS, schema=list(QUESTION_HEADERS), orient="row")
    path.write_bytes(b"\xef\xbb\xbf" + frame.write_csv().encode())
    return path


def test_questions_keep_their_prompts_and_get_one_spelling_of_their_subject(question_file: Path) -> None:
    questions = read_cgeval_questions(question_file)
    assert questions.select("cgeval_id", "category", "subject", "kind", "stem", "reference_length", "prompt").rows() == [
        ("《理论知识》（心理咨询师考试)|简答题|0", "人文与社会科学", "《理论知识》（心理咨询师考试）", "short_answer", "何谓共情？", 4, ROWS[0][6]),
        ("《理论知识》（心理咨询师考试）|名词解释|0", "人文与社会科学", "《理论知识》（心理咨询师考试）", "definition", "共情", 12, "以下是术语"),
        ("小学数学|小学计算|7", "数学计算", "小学数学", "arithmetic", "123+298=", 3, "请计算"),
    ]  # fmt: skip


def test_a_submission_is_the_question_file_with_one_more_column_and_reads_back(
    question_file: Path, tmp_path: Path
) -> None:
    questions = read_cgeval_questions(question_file)
    responses = pl.DataFrame(
        {"cgeval_id": questions["cgeval_id"][::-1], "response": ["421", "第一行\n“第二”,行", "设身处地"]}
    )
    count = export_cgeval_submission(questions, responses, tmp_path / "submission.csv")

    assert count == 3
    written = pl.read_csv(tmp_path / "submission.csv", infer_schema=False)
    assert written.columns == [*QUESTION_HEADERS, "回答"]
    assert [list(row[:7]) for row in written.rows()] == ROWS
    assert (tmp_path / "submission.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert written["回答"].to_list() == responses["response"].to_list()[::-1]


def test_a_submission_with_missing_foreign_or_repeated_responses_is_refused(
    question_file: Path, tmp_path: Path
) -> None:
    questions, out = read_cgeval_questions(question_file), tmp_path / "submission.csv"
    some = pl.DataFrame({"cgeval_id": questions["cgeval_id"][:1], "response": ["a"]})
    with pytest.raises(UsageError, match="2 of 3 questions have no response"):
        export_cgeval_submission(questions, some, out)
    with pytest.raises(
        UsageError, match="1 question has several responses and 0 responses belong to no question"
    ):
        export_cgeval_submission(questions, pl.concat([some, some]), out)
    foreign = pl.DataFrame({"cgeval_id": ["x|y|0"], "response": ["a"]})
    with pytest.raises(UsageError, match="1 response belongs to no question"):
        export_cgeval_submission(questions, foreign, out)
    assert not out.exists()
    assert export_cgeval_submission(questions, some, out, may_lack=True) == 1
    assert pl.read_csv(out, infer_schema=False)["回答"].fill_null("").to_list() == ["a", "", ""]


def test_files_that_are_not_cgeval_are_refused(question_file: Path, tmp_path: Path) -> None:
    text = question_file.read_text(encoding="utf-8-sig")
    for name, content, message in [
        ("a.csv", "a,b\n1,2\n", "lacks the columns 大科目类别"),
        ("b.csv", text.replace("小学计算", "画图"), "unknown types: 画图"),
        ("c.csv", text + text.splitlines()[-1] + "\n", "2 rows that share subject, type and number"),
        ("d.csv", text + "只有一格\n", "more or fewer cells"),
        (
            "f.csv",
            text.replace("小学计算", '"小学计算', 1),
            "cannot be read after line .* Close its quoted cells",
        ),
    ]:
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(UsageError, match=message):
            read_cgeval_questions(tmp_path / name)
    (tmp_path / "e.csv").write_bytes(text.encode("gbk"))
    with pytest.raises(UsageError, match="cannot be read as UTF-8"):
        read_cgeval_questions(tmp_path / "e.csv")


def test_the_published_file_has_11000_questions_in_55_subjects_and_6_categories(
    shared_data: Path, tmp_path: Path
) -> None:
    questions = read_cgeval_questions(shared_data / "bank" / "cgeval_questions.csv")
    assert len(questions) == 11_000
    assert (questions["subject"].n_unique(), questions["category"].n_unique()) == (55, 6)
    assert dict(questions.group_by("kind").len().iter_rows()) == {
        "definition": 5_100, "short_answer": 5_100, "arithmetic": 100, "word_problem": 100, "derivation": 600,
    }  # fmt: skip
    responses = questions.select("cgeval_id", response=pl.lit("答"))
    assert export_cgeval_submission(questions, responses, tmp_path / "all.csv") == 11_000
    written = pl.read_csv(tmp_path / "all.csv", infer_schema=False)
    published = pl.read_csv(shared_data / "bank" / "cgeval_questions.csv", infer_schema=False)
    assert written.drop("回答").equals(published)
