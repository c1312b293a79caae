"""A slice of the bank, as it may leave: without answers unless you may see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import polars as pl

from schemas.errors import UsageError
from schemas.vocabulary import DISCIPLINES, LANGUAGES, QUESTION_TYPES
from tasks.questions import draw_order
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust.users import read_user

# Roles that see answers: those who run the exam.
ANSWER_ROLES = ("admin", "examiner")
# What leaves without answers, as a closed list: a column that the bank gets later never leaks by default.
BARE_COLUMNS = (
    "question_uuid",
    "bank_version",
    "question_type",
    "discipline",
    "sub_discipline",
    "language",
    "stem",
    "material",
    "options",
)
ANSWER_COLUMNS = ("lineage_uuid", "parent_uuid", "revision", "method", "source_kind", "answer", "explanation")


@dataclass(frozen=True)
class Slice:
    """What is asked of the bank; an empty text means all.

    Attributes:
        discipline: one of the primary disciplines.
        question_type: one of the types.
        language: `zh` or `en`.
        size: at most so many questions, drawn by `seed`; 0 means all.
        seed: fixes the draw.
    """

    discipline: str = ""
    question_type: str = ""
    language: str = ""
    size: int = 0
    seed: str = "slice"

    def check(self) -> None:
        """Raise UsageError for a name that is none."""
        for name, value, known in (
            ("discipline", self.discipline, DISCIPLINES),
            ("type", self.question_type, QUESTION_TYPES),
            ("language", self.language, LANGUAGES),
        ):
            if value and value not in known:
                raise UsageError(f"There is no {name} {value!r}; there are {', '.join(known)}.")


def read_slice(lake: Lake, wanted: Slice, *, with_answers: bool = False) -> pl.DataFrame:
    """The questions of the latest bank version that the slice asks for, in order of question.

    Questions with pictures are left out: what leaves has no hole. Without answers only `BARE_COLUMNS`; the caller checks who may have more (`check_may_see_answers`). Raises UsageError where
    nothing is published or nothing matches.
    """
    wanted.check()
    parameters: Mapping[str, object] = {
        "discipline": wanted.discipline or None,
        "question_type": wanted.question_type or None,
        "language": wanted.language or None,
    }
    found = lake.read("bank_slice", parameters)
    if found.is_empty():
        raise UsageError("The bank has no such question. `proctor bank` shows what is published.")
    asked = found.height
    found = found.filter(pl.col("pictures").list.len().fill_null(0) == 0)
    if found.is_empty():
        raise UsageError(
            f"All {asked} such questions have pictures, which do not leave the bank yet: without them a question would be another. Ask "
            "for other questions."
        )
    if wanted.size:
        drawn = draw_order(found["question_uuid"], "export", wanted.seed)[: wanted.size]
        found = found.filter(pl.col("question_uuid").is_in(drawn))
    columns = (*BARE_COLUMNS, *(ANSWER_COLUMNS if with_answers else ()))
    return found.select(columns)


def check_may_see_answers(ledger: Ledger, user_id: str) -> None:
    """Pass when the user runs the exam; raises UsageError for anybody else, and for nobody."""
    _check_role(ledger, user_id, ANSWER_ROLES)


def _check_role(ledger: Ledger, user_id: str, roles: Collection[str]) -> None:
    if not user_id:
        raise UsageError(
            f"Answers leave for a named user only: give --as with a user who is {' or '.join(roles)} "
            "(`proctor exam user list`)."
        )
    with ledger.read() as connection:
        user = read_user(connection, user_id)
    if user is None or not user.is_active or user.role not in roles:
        what = "is not there" if user is None else f"is {user.role}" if user.is_active else "is shut out"
        raise UsageError(
            f"User {user_id!r} {what}: answers leave for {' and '.join(roles)} only. Export without them."
        )
