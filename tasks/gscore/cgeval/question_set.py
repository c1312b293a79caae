"""CG-Eval's questions under PROCTOR_HOME: checked once, kept as they were published."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.gscore.cgeval.files import read_cgeval_questions

PUBLISHED_COUNT = 11_000


@dataclass(frozen=True)
class ImportedQuestions:
    """What was imported."""

    path: Path
    question_count: int
    subject_count: int
    category_count: int
    content_hash: str
    is_unchanged: bool


def import_questions(settings: Settings, path: Path) -> ImportedQuestions:
    """Check CG-Eval's question file and keep a copy, byte for byte.

    The same file again changes nothing.

    A file with fewer questions than the published one is taken as it is. Raises UsageError when it is not CG-Eval's.
    """
    questions = read_cgeval_questions(path)
    if questions.is_empty():
        raise UsageError(f"{path.name} holds no questions. Use CG-Eval's own file.")
    content = path.read_bytes()
    kept = get_questions_path(settings)
    is_unchanged = kept.exists() and kept.read_bytes() == content
    if not is_unchanged:
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft = kept.with_name(f"{kept.name}.draft")
        draft.write_bytes(content)
        draft.replace(kept)
    return ImportedQuestions(
        path=kept,
        question_count=questions.height,
        subject_count=questions["subject"].n_unique(),
        category_count=questions["category"].n_unique(),
        content_hash=hashlib.sha256(content).hexdigest(),
        is_unchanged=is_unchanged,
    )


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
