"""CG-Eval's questions under PROCTOR_HOME: checked once, kept as they were published.

CG-Eval's reference answers, which are supplied by those who have them.

They come in a file with one row per question and reference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.gscore.cgeval.files import QUESTION_HEADERS, read_cgeval_questions
from tasks.gscore.people import check_places
from tasks.texts import read_table
from warehouse.stores.whole_files import writing_whole

PUBLISHED_COUNT = 11_000
_PRINTED_ID = (QUESTION_HEADERS[1], QUESTION_HEADERS[2], QUESTION_HEADERS[3])
_NAMES = {"reference": ("reference", "参考答案"), "reference_answer": ("reference_answer", "最终答案")}


@dataclass(frozen=True)
class ImportedQuestions:
    """What was imported.

    `former_path` is where the file lies that this one replaced, null for none; `left_count` of its questions are not in this one.
    """

    path: Path
    question_count: int
    subject_count: int
    category_count: int
    content_hash: str
    is_unchanged: bool
    former_path: Path | None
    left_count: int


def import_questions(settings: Settings, path: Path) -> ImportedQuestions:
    """Check CG-Eval's question file and keep a copy, byte for byte.

    The same file again changes nothing. One that was there before is kept beside it: answers were paid for, and count again once it is imported
    again.

    A file with fewer questions than the published one is taken as it is. Raises UsageError when it is not CG-Eval's, or when a question
    that people may be scoring an answer to has another place in it.
    """
    questions = read_cgeval_questions(path)
    if questions.is_empty():
        raise UsageError(f"{path.name} holds no questions. Use CG-Eval's own file.")
    check_places(settings, questions)
    content = path.read_bytes()
    kept = get_questions_path(settings)
    is_unchanged = kept.exists() and kept.read_bytes() == content
    former_path, left_count = None, 0
    if kept.exists() and not is_unchanged:
        # A damaged one is replaced as well.
        with suppress(UsageError):
            left_count = read_cgeval_questions(kept).join(questions, on="cgeval_id", how="anti").height
        former_path = _keep_former(settings, kept.read_bytes())
    if not is_unchanged:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with writing_whole(kept) as draft:
            draft.write_bytes(content)
    return ImportedQuestions(
        path=kept,
        question_count=questions.height,
        subject_count=questions["subject"].n_unique(),
        category_count=questions["category"].n_unique(),
        content_hash=hashlib.sha256(content).hexdigest(),
        is_unchanged=is_unchanged,
        former_path=former_path,
        left_count=left_count,
    )


def _keep_former(settings: Settings, content: bytes) -> Path:
    path = settings.home / "cgeval" / "former" / f"{hashlib.sha256(content).hexdigest()[:12]}.csv"
    path.parent.mkdir(exist_ok=True)
    with writing_whole(path) as draft:
        draft.write_bytes(content)
    return path


def read_questions(settings: Settings) -> pl.DataFrame:
    """The imported questions as `read_cgeval_questions` gives them, with `seq`.

    `seq` is their place in the file, from 1.
    """
    kept = get_questions_path(settings)
    if not kept.exists():
        raise UsageError(
            "CG-Eval's questions are not imported yet: run `proctor cgeval import QUESTIONS.csv` first."
        )
    return (
        read_cgeval_questions(kept).with_row_index("seq", offset=1).with_columns(pl.col("seq").cast(pl.Int64))
    )


def get_questions_path(settings: Settings) -> Path:
    """Where the imported file lies."""
    return settings.home / "cgeval" / "questions.csv"


def read_references(path: Path, questions: pl.DataFrame) -> pl.DataFrame:
    """Read reference answers: one row per question that has any, in the questions' order.

    The file (CSV, TSV, JSONL or Parquet) names the question by `cgeval_id` or by CG-Eval's own columns for subject, type and
    number, and has `reference` (or 参考答案); it may have `reference_answer` (or 最终答案), the final answer of a
    calculation whose reference is a worked solution. Several rows with one question are several references.
    A blank reference is none. Columns: `cgeval_id`, `references`, `reference_answers` (of equal length; null where the
    answer is to be taken from the reference). Raises UsageError for a file that is none, or for unknown questions.
    """
    table = read_table(path, as_text=True)
    wanted = _find_column(table, _NAMES["reference"])
    if wanted is None:
        raise UsageError(
            f"{path.name} has no column `reference` (or 参考答案); it has {', '.join(table.columns) or 'none'}."
        )
    answer = _find_column(table, _NAMES["reference_answer"])
    rows = pl.DataFrame(
        {
            "cgeval_id": _read_ids(path, table),
            "reference": _blank_to_null(table[wanted]),
            "reference_answer": pl.Series([None] * table.height, dtype=pl.String)
            if answer is None
            else _blank_to_null(table[answer]),
        },
        schema={"cgeval_id": pl.String, "reference": pl.String, "reference_answer": pl.String},
    )
    unknown = rows.join(questions, on="cgeval_id", how="anti").height
    if unknown:
        raise UsageError(
            f"{path.name}: {unknown} of {rows.height} references belong to no imported question. Import the questions "
            "that they were written for, or correct the ids (`cgeval_id` is subject|type|number as printed)."
        )
    given = rows.filter(pl.col("reference").is_not_null() | pl.col("reference_answer").is_not_null())
    if given.is_empty():
        raise UsageError(f"{path.name} holds no reference answer: every one is blank.")
    grouped = given.group_by("cgeval_id", maintain_order=True).agg(
        references=pl.col("reference"), reference_answers=pl.col("reference_answer")
    )
    return questions.select("cgeval_id").join(grouped, on="cgeval_id", how="inner", maintain_order="left")


def _read_ids(path: Path, table: pl.DataFrame) -> list[str]:
    if "cgeval_id" in table.columns:
        return [str(value) for value in table["cgeval_id"]]
    if set(_PRINTED_ID) <= set(table.columns):
        return ["|".join(str(cell) for cell in cells) for cells in table.select(_PRINTED_ID).iter_rows()]
    raise UsageError(
        f"{path.name} does not say which question a reference belongs to: add a column `cgeval_id`, or CG-Eval's own "
        f"columns {', '.join(_PRINTED_ID)}."
    )


def _find_column(table: pl.DataFrame, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in table.columns), None)


def _blank_to_null(column: pl.Series) -> pl.Series:
    texts = column.cast(pl.String)
    return texts.to_frame("text").select(
        pl.when(pl.col("text").str.strip_chars() == "").then(None).otherwise(pl.col("text")).alias("text")
    )["text"]
