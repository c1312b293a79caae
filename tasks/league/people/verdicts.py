"""People decide on questions and flagged answers: a workbook out, decisions back.

They say which questions of a league may stand, and which flagged answers are memorised. Decisions are new rows in a
person's name; nothing that was decided is overwritten. The workbook names no candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.errors import UsageError, WorkbookError
from schemas.tables import get_table
from tasks.review.marking import MarkSheet, compute_key, open_workbook, read_sheet, write_sheets
from warehouse.lake import Batch, Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import users

ROLES = ("annotator", "examiner", "admin")
YES = ("yes", "y", "是", "对")
NO = ("no", "n", "否", "不")

_VERDICT, _REASON = 5, 6
_QUESTIONS, _FLAGS = (
    MarkSheet(
        name, "proctor league validate export", headers, (18, 30, 60, 60, 30, 11, 50), _VERDICT, ("yes", "no")
    )
    for name, headers in (
        ("questions", ("key", "domain", "question", "reference", "standard", "valid", "reason")),
        ("memorised", ("key", "question", "reference", "response", "template", "memorised", "reason")),
    )
)
_INTRODUCTION = (
    "Sheet questions: may the question stand? yes when it is complete, has one right result, and the reference is right; else no.",
    "Sheet memorised: a judge took the answer for the solution of a known question that does not hold here; yes or no.",
    "A no on a question needs a reason. Only the verdict and the reason are read back. Leave the verdict empty where you cannot tell.",
    "questions 表：题目条件完备、结果唯一、参考答案正确的填 yes，否则填 no 并写明理由。",
    "memorised 表：评委认为该作答照搬了某道旧题的解法而在这里并不成立；同意填 yes，不同意填 no。无法判断的留空。",
)


@dataclass(frozen=True)
class ExportedWork:
    """What a workbook asks of a person: questions and flagged answers."""

    questions: int
    flagged_answers: int


@dataclass(frozen=True)
class ImportedDecisions:
    """What came of a workbook.

    Attributes:
        questions: questions on which the person's decision is new.
        flagged_answers: flagged answers on which it is.
        not_waiting: rows with a verdict that wait for nobody: they were settled meanwhile, or are not of this league.
    """

    questions: int
    flagged_answers: int
    left_empty: int
    not_waiting: int


@dataclass(frozen=True)
class PersonVerdict:
    """What a person says of a question or a flagged answer: it may stand, or is memorised."""

    key: str
    is_agreed: bool
    reason: str


@dataclass(frozen=True)
class _Row:
    """A row as it was filled in; verdict null means left empty."""

    key: str
    verdict: bool | None
    reason: str


def export_waiting(lake: Lake, league_id: str, path: Path, person: str) -> ExportedWork:
    """Write what waits for this person; long texts are cut. UsageError without such a league."""
    _check_league(lake, league_id)
    questions, flags = read_waiting(lake, league_id, person)
    asked = [
        (
            key,
            row["domain"],
            row["stem"],
            row["reference_answer"],
            row["scoring_standard"] or row["principle"],
        )
        for key, row in sorted(questions.items())
    ]
    flagged = [
        (key, row["stem"], row["reference_answer"], row["response"], "\n".join(row["templates"]))
        for key, row in sorted(flags.items())
    ]
    write_sheets(path, _INTRODUCTION, {_QUESTIONS: asked, _FLAGS: flagged})
    return ExportedWork(len(questions), len(flags))


def import_decisions(
    ledger: Ledger, lake: Lake, league_id: str, path: Path, person: str
) -> ImportedDecisions:
    """Land what a person decided.

    The same workbook again changes nothing, because what is decided no longer waits. Raises UsageError for an unknown league
    or a user that is unknown, inactive or of another role, WorkbookError for a damaged workbook, a key that stands there
    twice, a verdict that is neither yes nor no, or a refused question without a reason; the message names sheet and row.
    """
    _check_league(lake, league_id)
    _check_person(ledger, person)
    rows = _read_rows(path)
    given = [PersonVerdict(row.key, row.verdict, row.reason) for row in rows if row.verdict is not None]
    return replace(land_verdicts(lake, league_id, person, given), left_empty=len(rows) - len(given))


def land_verdicts(
    lake: Lake, league_id: str, person: str, given: Sequence[PersonVerdict]
) -> ImportedDecisions:
    """Land verdicts of one person, whatever the channel; those no longer waited for are counted."""
    questions, flags = read_waiting(lake, league_id, person)
    now = datetime.now(UTC)
    validations = [
        {
            "league_id": league_id,
            "league_question_id": questions[one.key]["league_question_id"],
            "person": person,
            "is_valid": one.is_agreed,
            "reason": one.reason or None,
            "decided_at": now,
        }
        for one in given
        if one.key in questions
    ]
    decisions = [
        {
            "league_id": league_id,
            "league_question_id": flags[one.key]["league_question_id"],
            "answerer": flags[one.key]["answerer"],
            "person": person,
            "is_memorised": one.is_agreed,
            "reason": one.reason or None,
            "decided_at": now,
        }
        for one in given
        if one.key in flags
    ]
    if validations or decisions:
        _land(lake, league_id, person, validations, decisions)
    return ImportedDecisions(
        len(validations), len(decisions), 0, len(given) - len(validations) - len(decisions)
    )


def _land(
    lake: Lake,
    league_id: str,
    person: str,
    validations: list[dict[str, Any]],
    decisions: list[dict[str, Any]],
) -> None:
    """A person's decisions are one unit: what was decided before is landed with them again."""
    common = {"league_id": league_id, "person": person}
    for row in lake.read("league_decisions_of", common).iter_rows(named=True):
        kept = {name: row[name] for name in ("league_question_id", "reason", "decided_at")} | common
        if row["answerer"] is None:
            validations.append(kept | {"is_valid": row["is_agreed"]})
        else:
            decisions.append(kept | {"answerer": row["answerer"], "is_memorised": row["is_agreed"]})
    unit = f"{league_id}/{person}"
    lake.land_together(
        [
            Batch(name, unit, get_table(name).frame(rows))
            for name, rows in (("league_validations", validations), ("league_flag_decisions", decisions))
            if rows
        ],
        stage="league",
    )


def read_waiting(
    lake: Lake, league_id: str, person: str
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """The questions, and the answers taken for memorised, that wait for a person, by key."""
    questions = lake.read("league_questions_to_judge", {"league_id": league_id, "person": person})
    flags = lake.read("league_flags_to_decide", {"league_id": league_id})
    return (
        {compute_key(league_id, row["league_question_id"]): row for row in questions.to_dicts()},
        {compute_key(league_id, row["league_question_id"], row["answerer"]): row for row in flags.to_dicts()},
    )


def _check_league(lake: Lake, league_id: str) -> None:
    if lake.read("leagues_named", {"league_id": league_id}).is_empty():
        raise UsageError(f"There is no league {league_id!r}. `proctor league status` shows all.")


def _check_person(ledger: Ledger, user_id: str) -> None:
    with ledger.read() as connection:
        user = users.read_user(connection, user_id)
    if user is None or not user.is_active or user.role not in ROLES:
        raise UsageError(
            f"{user_id!r} is no active user with one of the roles {', '.join(ROLES)}. `proctor exam user list` shows the users; "
            "`proctor exam user add` adds one."
        )


def _read_rows(path: Path) -> list[_Row]:
    workbook = open_workbook(path)
    return [
        _parse_row(cells, place, needs_reason=sheet is _QUESTIONS)
        for sheet in (_QUESTIONS, _FLAGS)
        for place, cells in read_sheet(workbook, path.name, sheet)
    ]


def _parse_row(texts: Sequence[str], place: str, *, needs_reason: bool) -> _Row:
    verdict, reason = texts[_VERDICT].casefold(), texts[_REASON]
    if not verdict:
        return _Row(texts[0], None, reason)
    if verdict not in (*YES, *NO):
        raise WorkbookError(
            f"{place}, column F: the verdict is neither yes nor no. Correct it, or leave the cell empty."
        )
    if needs_reason and verdict in NO and not reason:
        raise WorkbookError(
            f"{place}, column G: a refused question without a reason. Say why it cannot stand."
        )
    return _Row(texts[0], verdict in YES, reason)
