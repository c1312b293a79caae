"""CG-Eval's files.

They are its 11,000 questions as published, and the CSV in which its site takes answers.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from schemas.counting import say_count
from schemas.errors import ContractError, UsageError
from tasks.texts import restore_text
from warehouse.stores.whole_files import SHARED, writing_whole

_CATEGORY, _SUBJECT, _TYPE, _NUMBER, _STEM, _LENGTH, _PROMPT = QUESTION_HEADERS = (
    "大科目类别",
    "子科目名称",
    "题目类型",
    "题目编号",
    "题目文本",
    "题目答案的汉字长度",
    "题目prompt",
)
RESPONSE_HEADER = "回答"

QuestionKind = Literal["definition", "short_answer", "arithmetic", "word_problem", "derivation"]

KIND_BY_CGEVAL_TYPE: dict[str, QuestionKind] = {
    "名词解释": "definition",
    "简答题": "short_answer",
    "小学计算": "arithmetic",
    "应用题": "word_problem",
    "计算求解": "derivation",
}


def read_cgeval_questions(path: Path) -> pl.DataFrame:
    """Read CG-Eval's question file as it is published.

    One row per question, in the file's order: `cgeval_id` (unique: subject, type and number as printed), `category` (6), `subject` (55:
    two subjects are spelled in two ways in the file and are joined here), `kind` (of `KIND_BY_CGEVAL_TYPE`), `stem`, `reference_length`,
    `prompt` (put as it is), and the file's own columns under its headers, untouched. Raises UsageError when the file is not one.
    """
    rows = _read_rows(path, QUESTION_HEADERS)
    unknown = sorted({row[_TYPE] for row in rows} - set(KIND_BY_CGEVAL_TYPE))
    if unknown:
        raise UsageError(
            f"{path.name} has questions of unknown types: {', '.join(unknown)}. Use CG-Eval's own file."
        )
    for line, row in enumerate(rows, start=2):
        if not row[_LENGTH].isdecimal():
            raise UsageError(f"{path.name}, row {line}: {_LENGTH} is not a number. Use CG-Eval's own file.")
    questions = pl.DataFrame(
        {
            "cgeval_id": [build_id(row) for row in rows],
            "category": [row[_CATEGORY] for row in rows],
            "subject": [parse_subject(row[_SUBJECT]) for row in rows],
            "kind": [KIND_BY_CGEVAL_TYPE[row[_TYPE]] for row in rows],
            "stem": [row[_STEM] for row in rows],
            "reference_length": [int(row[_LENGTH]) for row in rows],
            "prompt": [row[_PROMPT] for row in rows],
            **{header: [row[header] for row in rows] for header in QUESTION_HEADERS},
        },
        schema_overrides={"reference_length": pl.Int64},
    )
    repeated = questions.filter(pl.col("cgeval_id").is_duplicated())
    if len(repeated):
        raise UsageError(
            f"{path.name} has {len(repeated)} rows that share subject, type and number with another. Use CG-Eval's own file."
        )
    return questions


def export_cgeval_submission(
    questions: pl.DataFrame, responses: pl.DataFrame, path: Path, may_lack: bool = False
) -> int:
    """Write the CSV that CG-Eval's site takes; return the number of answers.

    It has the question file's columns as they were, and 回答. Every text is exact, as the site compares it: no apostrophe keeps a
    spreadsheet from running one.

    `questions` is what `read_cgeval_questions` returned; `responses` has `cgeval_id` and `response` of one candidate. Raises
    UsageError when a response is repeated, belongs to no question, or is missing (unless `may_lack`: it is then left blank).
    """
    for name in ("cgeval_id", "response"):
        if name not in responses.columns:
            raise ContractError(f"The responses have no column {name!r}; they have {responses.columns}.")
    repeated = responses.filter(pl.col("cgeval_id").is_duplicated())["cgeval_id"].n_unique()
    foreign = len(responses.join(questions, on="cgeval_id", how="anti"))
    if repeated or foreign:
        raise UsageError(
            f"{say_count(repeated, 'question has', 'questions have')} several responses and {say_count(foreign, 'response belongs', 'responses belong')} to no question. Give one candidate's responses, one each."
        )
    answered = questions.join(
        responses.select("cgeval_id", "response"), on="cgeval_id", how="left", maintain_order="left"
    )
    missing = answered["response"].null_count()
    if missing and not may_lack:
        raise UsageError(
            f"{missing} of {len(answered)} questions have no response. Finish the run, or allow blanks."
        )
    with writing_whole(path, SHARED) as draft, draft.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*QUESTION_HEADERS, RESPONSE_HEADER])
        writer.writerows(answered.select(*QUESTION_HEADERS, pl.col("response").fill_null("")).iter_rows())
    return len(answered) - missing


def parse_subject(printed: str) -> str:
    """Return a subject's one spelling: brackets of one width, no white space at the ends."""
    return printed.strip().replace("(", "（").replace(")", "）")


def build_id(row: Mapping[str, str]) -> str:
    """The `cgeval_id` of a row of the file: subject, type and number as printed."""
    # The number is unique within subject and type only.
    return f"{row[_SUBJECT]}|{row[_TYPE]}|{row[_NUMBER]}"


def _read_rows(path: Path, headers: tuple[str, ...]) -> list[dict[str, str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path.name} cannot be read as UTF-8 text ({type(error).__name__}). Check the file."
        ) from error
    csv.field_size_limit(sys.maxsize)
    # Strict: a quote that is never closed would make one cell of all the rows after it.
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        found = tuple(reader.fieldnames or ())
        rows = list(reader)
    except csv.Error as error:
        raise UsageError(
            f"{path.name} cannot be read after line {reader.line_num} ({error}). Close its quoted cells."
        ) from error
    if not set(headers) <= set(found):
        absent = [header for header in headers if header not in found]
        raise UsageError(
            f"{path.name} lacks the columns {', '.join(absent)}. Use a file with CG-Eval's headers."
        )
    for line, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise UsageError(
                f"{path.name}, record {line}: it has more or fewer cells than the header. Repair the file."
            )
    return [{name: restore_text(text) for name, text in row.items()} for row in rows]
