"""The bare content of a question: all that may ever leave the exam."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from schemas.errors import ContractError
from tasks.questions.question import BareQuestion

_COLUMNS = ("question_uuid", "question_type", "language", "stem", "material", "options", "pictures")


def strip_questions(bank: pl.DataFrame, question_uuids: Collection[str]) -> dict[str, BareQuestion]:
    """Bare questions by UUID: type, language, texts, and the pictures in these.

    A frame without pictures may leave their column out. Built from a closed list of columns, so that a column added to the bank (an answer, an explanation, a difficulty)
    never leaks by default. Raises ContractError when a question is not in the bank.
    """
    wanted = pl.DataFrame({"question_uuid": sorted(set(question_uuids))}, schema={"question_uuid": pl.String})
    rows = (
        bank.select(name for name in _COLUMNS if name in bank.columns)
        .join(wanted, on="question_uuid", how="semi")
        .unique("question_uuid")
    )
    if rows.height != wanted.height:
        raise ContractError(
            f"{wanted.height - rows.height} drawn questions are not in the bank frame that was given; pass one whole version."
        )
    return {row["question_uuid"]: BareQuestion.from_row(row) for row in rows.iter_rows(named=True)}
