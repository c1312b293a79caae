"""What no judge could be read of goes to a person: a workbook out, stars and reasons back.

A person's stars are judgements like any other, in the name `person:` and the user: new rows, nothing is overwritten. Whoever is
active with a role that sees references may give stars, labels and verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from schemas.errors import UsageError, WorkbookError
from tasks.judging.judge import JudgementRow, PutResponse
from tasks.judging.landing import Place, land_judgements, name_occasions, read_put_responses, read_unparsed
from tasks.judging.workbooks import Form, MarkedRow, read_workbook, write_workbook
from tasks.review.marking import compute_key
from warehouse.lake import Lake
from warehouse.ledger.engine.ledger import Ledger
from warehouse.ledger.trust import users

PERSON = "person"

_FORM = Form(
    command="proctor unparsed export",
    introduction=(
        "No judge's output could be read for these responses. Give each 0 to 3 stars against the reference, and say why.",
        "0: answer and explanation are wrong. 1: the answer is wrong, part of the explanation is reasonable.",
        "2: the answer is correct, only part of the explanation is reasonable. 3: both are right.",
        "Only stars and reason are read back. Leave the stars empty where you cannot judge.",
        "以下作答没有可读的评阅结果。请对照参考答案给出 0 到 3 星并写明理由；无法判断的留空。",
    ),
    mark="stars",
    marks=("0", "1", "2", "3"),
    note="reason",
)


@dataclass(frozen=True)
class ImportedStars:
    """What came of a workbook.

    Attributes:
        judged: responses that have their stars from it now.
        not_waiting: rows whose response waits for nobody: it was settled meanwhile, or is not of this home.
    """

    judged: int
    left_empty: int
    not_waiting: int


ROLES = ("annotator", "examiner", "admin")


def export_unparsed(lake: Lake, path: Path, run_id: str | None = None) -> int:
    """Write the blind workbook of a run's responses, or of all, that no judge could be read of."""
    waiting = {compute_key(*place): (put, "", "") for place, put in _read_waiting(lake, run_id).items()}
    write_workbook(path, _FORM, waiting)
    return len(waiting)


def import_unparsed(
    ledger: Ledger, lake: Lake, path: Path, user_id: str, run_id: str | None = None
) -> ImportedStars:
    """Land the stars that a person gave.

    The same workbook again changes nothing, because what has stars no longer waits. Raises UsageError for a
    user that is unknown, inactive or of another role, WorkbookError for a damaged workbook, a key that stands
    there twice, stars that are not 0 to 3, or stars without a reason; the message names sheet and row.
    """
    check_persons(ledger, [user_id])
    rows = read_workbook(path, _FORM)
    waiting = {compute_key(*place): (place, put) for place, put in _read_waiting(lake, run_id).items()}
    given = [row for row in rows if row.mark]
    for row in given:
        if not row.note:
            raise WorkbookError(
                f"{row.place}, column F: stars without a reason. Say why; it is kept beside the stars."
            )
    counted = {waiting[row.key][0]: (row, waiting[row.key][1]) for row in given if row.key in waiting}
    judge = f"{PERSON}:{user_id}"
    units: list[list[JudgementRow]] = []
    for occasion, places in name_occasions(lake, list(counted), judge, PERSON).items():
        for session_id in sorted({name for name, _ in places}):
            units.append(
                [
                    _describe_judgement(judge, occasion, *counted[place])
                    for place in sorted(places)
                    if place[0] == session_id
                ]
            )
    if units:
        land_judgements(ledger, lake, units)
    return ImportedStars(len(counted), len(rows) - len(given), len(given) - len(counted))


def _read_waiting(lake: Lake, run_id: str | None) -> dict[Place, PutResponse]:
    waiting: dict[Place, PutResponse] = {}
    for is_simulated in (False, True):
        months = lake.read("months_of_runs", {"is_simulated": is_simulated, "run_id": run_id})[
            "month"
        ].to_list()
        places = read_unparsed(lake, months, run_id=run_id, is_simulated=is_simulated)
        if not places:
            continue
        names = sorted({session_id for session_id, _ in places})
        for row in read_put_responses(lake, names, months).iter_rows(named=True):
            place = (row["session_id"], row["seq"])
            if place in places:
                waiting[place] = PutResponse.from_row(row)
    return waiting


def _describe_judgement(judge: str, occasion: str, row: MarkedRow, put: PutResponse) -> JudgementRow:
    return put.describe() | {
        "judge": judge,
        "stars": int(row.mark),
        "reason": row.note,
        "raw": None,
        "parse_status": "parsed",
        "prompt_version": f"{PERSON}/{put.question.language}",
        "occasion": occasion,
        "judged_at": datetime.now(UTC),
        "cost_usd": 0.0,
        "attempt": 1,
        "is_simulated": put.is_simulated,
    }


def may_mark(ledger: Ledger, user_id: str) -> bool:
    """Whether somebody may see what waits for marks; an annotator of no discipline may not."""
    return find_marker(ledger, user_id) is not None


def find_marker(ledger: Ledger, user_id: str) -> users.User | None:
    """Somebody who may mark, in the user's disciplines; None for anybody else."""
    with ledger.read() as connection:
        user = users.read_user(connection, user_id)
    is_marker = user is not None and user.is_active and user.role in ROLES and user.disciplines != []
    return user if is_marker else None


def check_persons(ledger: Ledger, user_ids: Sequence[str]) -> None:
    """Raise UsageError for somebody who may not mark."""
    for user_id in user_ids:
        need_marker(ledger, user_id)


def need_marker(ledger: Ledger, user_id: str) -> users.User:
    """Somebody who may mark; UsageError for anybody else."""
    if (user := find_marker(ledger, user_id)) is None:
        raise UsageError(
            f"{user_id!r} is no active user with one of the roles {', '.join(ROLES)}, or an annotator of no discipline. `proctor "
            "exam user list` shows the users; `proctor exam user add` adds one, `proctor exam user role` gives disciplines."
        )
    return user
