"""A question's record, as other tools read it (LLMEval-Fair, figure 8).

There is one JSON object per line.

    {"category", "sub_category", "question_uuid", "dialog": [{"role", "content"}], "hint", "response",
     "judge": {"judge", "stars", "reason"}}

`response` and `judge` are null where there is none. Reference answers are never part of a record. Building, rendering
and parsing are pure; `export_records` and `import_records` alone touch a file.

The bare content of a question: all that may ever leave the exam.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from schemas.errors import ContractError, UsageError
from schemas.table import UUID_PATTERN
from tasks.questions.forms.prompt_styles import render_prompt
from tasks.questions.question import BareQuestion, QuestionContent
from warehouse.stores.whole_files import SHARED, writing_whole

KEYS = ("category", "sub_category", "question_uuid", "dialog", "hint", "response", "judge")
ROLES = ("system", "user", "assistant")
MOST_REPORTED = 50
_COLUMNS = ("question_uuid", "question_type", "language", "stem", "material", "options", "pictures")


@dataclass(frozen=True)
class JudgeRecord:
    """What a judge returned: the text, the stars read from it (null: unparsed), the reason."""

    judge: str | None
    stars: int | None
    reason: str | None


@dataclass(frozen=True)
class QuestionRecord:
    """One question as it was put, with one response and its judgement where there are such."""

    category: str | None
    sub_category: str | None
    question_uuid: str
    dialog: tuple[dict[str, str], ...]
    hint: bool = False
    response: str | None = None
    judge: JudgeRecord | None = None


class _Given(NamedTuple):
    """A response and where it was given; `place` null where it stands in for a missing one."""

    place: tuple[str, int] | None
    prompt_style: str
    response: str | None


def build_records(
    questions: pl.DataFrame, responses: pl.DataFrame | None = None, judgements: pl.DataFrame | None = None
) -> list[QuestionRecord]:
    """One record per response and judge.

    A question without a response has one record, put zero-shot, and a response without a judge has one.

    Args:
        questions: rows of `bank`, or any with a question's content.
        responses: rows of `responses`; those to other questions are left out.
        judgements: rows of `judgements`, joined by session and position.
    """
    given: dict[str, list[_Given]] = {}
    for row in _iterate(responses):
        response = _Given((row["session_id"], row["seq"]), row["prompt_style"], row["response"])
        given.setdefault(row["question_uuid"], []).append(response)
    judged: dict[tuple[str, int], list[JudgeRecord]] = {}
    for row in _iterate(judgements):
        mark = JudgeRecord(judge=row["raw"], stars=row["stars"], reason=row["reason"])
        judged.setdefault((row["session_id"], row["seq"]), []).append(mark)

    records = []
    for row in questions.iter_rows(named=True):
        question = QuestionContent.from_row(row)
        for one in given.get(row["question_uuid"]) or [_Given(None, "zero_shot", None)]:
            messages, _ = render_prompt(question.bare, one.prompt_style)
            marks: list[JudgeRecord | None] = [*judged.get(one.place, ())] if one.place else []
            records += [
                QuestionRecord(
                    category=question.discipline,
                    sub_category=question.sub_discipline,
                    question_uuid=row["question_uuid"],
                    dialog=tuple(messages),
                    response=one.response,
                    judge=mark,
                )
                for mark in marks or [None]
            ]
    return records


def render_record(record: QuestionRecord) -> str:
    """One line of a file of records, without its end."""
    return json.dumps(asdict(record), ensure_ascii=False)


def parse_records(text: str) -> tuple[list[QuestionRecord], list[str]]:
    """The records of a file, and what is wrong in each faulty line, without its text."""
    records: list[QuestionRecord] = []
    faults: list[str] = []
    # not splitlines(): JSON leaves U+2028 and its like unescaped inside texts
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(_parse_record(json.loads(line)))
        except json.JSONDecodeError as error:
            faults.append(f"line {number}: no JSON object (position {error.pos})")
        except RecursionError:
            faults.append(f"line {number}: no JSON object (nested too deeply)")
        except ValueError as error:
            faults.append(f"line {number}: {error}")
    return records, faults


def export_records(records: Iterable[QuestionRecord], path: Path) -> int:
    """Write records as JSON lines in UTF-8, whole or not at all; returns how many."""
    count = 0
    with writing_whole(path, SHARED) as draft, draft.open("w", encoding="utf-8", newline="\n") as file:
        for record in records:
            file.write(render_record(record) + "\n")
            count += 1
    return count


def import_records(path: Path) -> list[QuestionRecord]:
    """Read a file of records: all of them, or none.

    The keys of the published figure (`gpt4res`, `gpt4judge`, or another model's) are read as `response` and `judge`.
    Raises UsageError naming every faulty line and what is wrong with it, without its text.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path.name}: the file cannot be read as UTF-8 text ({type(error).__name__}). Nothing was imported."
        ) from None
    records, faults = parse_records(text)
    if faults:
        more = f"\n- and {len(faults) - MOST_REPORTED} more" if len(faults) > MOST_REPORTED else ""
        raise UsageError(
            f"{path.name}: nothing was imported. Correct what is listed ({len(faults)}) and import the file again.\n"
            + "\n".join(f"- {fault}" for fault in faults[:MOST_REPORTED])
            + more
        )
    return records


def _iterate(frame: pl.DataFrame | None) -> Iterable[Mapping[str, Any]]:
    return () if frame is None else frame.iter_rows(named=True)


def _parse_record(value: object) -> QuestionRecord:
    """One record; raises ValueError with a sentence that names the key."""
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    row = {_rename(str(key)): part for key, part in value.items()}
    if unknown := sorted(set(row) - set(KEYS)):
        raise ValueError(f"unknown keys {', '.join(unknown)[:80]}; a record has {', '.join(KEYS)}")
    question_uuid = row.get("question_uuid")
    if not isinstance(question_uuid, str) or not re.match(UUID_PATTERN, question_uuid):
        raise ValueError("question_uuid is no UUID")
    hint = row.get("hint", False)
    if not isinstance(hint, bool):
        raise ValueError("hint is not true or false")
    return QuestionRecord(
        category=_parse_text(row, "category"),
        sub_category=_parse_text(row, "sub_category"),
        question_uuid=question_uuid,
        dialog=_parse_dialog(row.get("dialog")),
        hint=hint,
        response=_parse_text(row, "response"),
        judge=_parse_judge(row.get("judge")),
    )


def _rename(key: str) -> str:
    if re.fullmatch(r"\w+res", key):
        return "response"
    return "judge" if re.fullmatch(r"\w+judge", key) else key


def _parse_text(row: Mapping[str, object], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def _parse_dialog(value: object) -> tuple[dict[str, str], ...]:
    """A list of turns; the figure prints a single turn without its list."""
    turns = [value] if isinstance(value, dict) else value
    if not isinstance(turns, list) or not turns:
        raise ValueError("dialog is no list of turns")
    for turn in turns:
        if (
            not isinstance(turn, dict)
            or set(turn) != {"role", "content"}
            or turn["role"] not in ROLES
            or not isinstance(turn["content"], str)
        ):
            raise ValueError(
                f"a turn of dialog needs a role ({', '.join(ROLES)}) and content, and nothing else"
            )
    return tuple({"role": turn["role"], "content": turn["content"]} for turn in turns)


def _parse_judge(value: object) -> JudgeRecord | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) - {"judge", "stars", "reason"}:
        raise ValueError("judge is no object of judge, stars and reason")
    stars = value.get("stars")
    if stars is not None and (isinstance(stars, bool) or not isinstance(stars, int) or not 0 <= stars <= 3):
        raise ValueError("stars are not 0, 1, 2, 3 or null")
    return JudgeRecord(judge=_parse_text(value, "judge"), stars=stars, reason=_parse_text(value, "reason"))


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
