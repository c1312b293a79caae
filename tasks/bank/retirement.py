"""A question is taken out of the bank, with a reason: a new version without it follows at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.dedupe.landing import land_bank
from warehouse.lake.store import Lake


@dataclass(frozen=True)
class Retirement:
    """What came of it: the question, the version without it, and how many questions left with it."""

    question_uuid: str
    is_whole_lineage: bool
    bank_version: int
    left_count: int
    entered_count: int


def find_question(lake: Lake, name: str) -> dict[str, object]:
    """The latest entry of the question whose UUID begins so; raises UsageError for none, or for several questions."""
    found = lake.read("entries_named", {"name": name.lower()}).to_dicts() if len(name) >= 6 else []
    questions = {row["question_uuid"] for row in found}
    if not questions:
        raise UsageError(
            f"No question of the bank has a UUID that begins with {name!r}. Give six characters of it or more; "
            "`proctor bank export` lists them."
        )
    if len(questions) > 1:
        raise UsageError(f"{name!r} fits {len(questions)} questions. Give more of the UUID.")
    # One that is in the bank goes before one that left, the latest entry before earlier ones.
    return max(found, key=lambda row: (row["until_version"] is None, row["from_version"]))


def retire_question(lake: Lake, settings: Settings, name: str, reason: str) -> Retirement:
    """Take a question out; an original takes its lineage with it. Doing it twice changes nothing.

    What was left out as its duplicate is compared again, and may come in. Raises UsageError for an unknown question, or
    without a reason.
    """
    if not reason.strip():
        raise UsageError("Say why the question is retired: --reason TEXT. It is kept with the question.")
    entry = find_question(lake, name)
    question, lineage = str(entry["question_uuid"]), str(entry["lineage_uuid"])
    row = {
        "question_uuid": question,
        "lineage_uuid": lineage,
        "is_retired": True,
        "reason": reason.strip(),
        "retired_at": datetime.now(UTC),
    }
    lake.land("bank_retirements", question, get_table("bank_retirements").frame([row]))
    build = land_bank(lake, settings)
    assert build is not None, "a question of the bank can be retired only once there is a bank"
    return Retirement(question, question == lineage, build.version, build.exits.height, build.contents.height)
