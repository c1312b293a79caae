"""A slice of the bank as it may leave, and a run's records of figure 8 to its questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from schemas.errors import UsageError, suggest
from schemas.vocabulary import DISCIPLINES, LANGUAGES, QUESTION_TYPES
from tasks.questions import SHOWN_PLACES, draw_order
from tasks.questions.forms import build_records, export_records
from tasks.questions.pictures import tell_pictures
from tasks.texts import refuse_erased
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust.users import check_may_take

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
                raise UsageError(
                    f"There is no {name} {value!r}.{suggest(value, known)} There are {', '.join(known)}."
                )


def read_slice(lake: Lake, wanted: Slice, *, with_answers: bool = False) -> pl.DataFrame:
    """The questions of the latest bank version that the slice asks for, in order of question.

    Without answers only `BARE_COLUMNS`, and the pictures that a candidate sees; the caller checks who may have more
    (`check_may_see_answers`). The column `pictures` is there where a question has any, with what they show in words. Raises
    UsageError where nothing is published or nothing matches.
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
    if wanted.size:
        drawn = draw_order(found["question_uuid"], "export", wanted.seed)[: wanted.size]
        found = found.filter(pl.col("question_uuid").is_in(drawn))
    columns = (*BARE_COLUMNS, *(ANSWER_COLUMNS if with_answers else ()))
    shown = [
        [one for one in some or () if with_answers or one["place"] in SHOWN_PLACES] or None
        for some in found["pictures"].to_list()
    ]
    pictures = tell_pictures(lake, shown)
    found = found.select(columns)
    return found if pictures is None else found.with_columns(pictures)


def check_may_see_answers(ledger: Ledger, user_id: str) -> None:
    """Pass when the user runs the exam; raises UsageError for anybody else, and for nobody."""
    with ledger.read() as connection:
        check_may_take(connection, user_id, "answers", ANSWER_ROLES)


def export_run_records(lake: Lake, questions: pl.DataFrame, run_id: str, path: Path) -> int:
    """One record per response and judge of a run to these questions; returns how many.

    A judge's text can quote the reference answer: the caller checks who may have it. Raises UsageError for a run without a
    response to them.
    """
    responses = lake.read("record_responses", {"run_id": run_id})
    if responses.is_empty():
        refuse_erased(lake, run_id=run_id)
    answered = questions.filter(pl.col("question_uuid").is_in(responses["question_uuid"].unique().to_list()))
    if answered.is_empty():
        raise UsageError(f"Run {run_id!r} has no response to these questions. See `proctor runs`.")
    judgements = lake.read("record_judgements", {"run_id": run_id})
    return export_records(build_records(answered, responses, judgements), path)
