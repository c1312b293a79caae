"""One question of the bank: all that is known of it, and its retirement with a reason.

Known are where it comes from, who met it, how hard it is, and what it earned. Taking it out, or back in, makes a new
version at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from schemas.errors import UsageError
from schemas.settings import Settings
from schemas.tables import get_table
from tasks.bank.dedupe import land_bank
from tasks.running.approvals import Request, check_approved, finish
from warehouse.lake import Lake
from warehouse.ledger.engine.opening import open_ledger

# Part of the card → the query that reads it, and what it asks by.
_PARTS = {
    "entries": ("card_entries", "question_uuid"),
    "lineage": ("card_lineage", "lineage_uuid"),
    "reviews": ("card_reviews", "question_uuid"),
    "duplicates": ("card_duplicates", "question_uuid"),
    "exposure": ("card_exposure", "lineage_uuid"),
    "difficulty": ("card_difficulty", "question_uuid"),
    "results": ("card_results", "question_uuid"),
}


@dataclass(frozen=True)
class Retirement:
    """The question that left, the version that followed, and how many left and entered with it."""

    question_uuid: str
    is_whole_lineage: bool
    bank_version: int
    left_count: int
    entered_count: int


def find_question(lake: Lake, name: str) -> dict[str, object]:
    """The latest entry of the question with this start of a UUID; UsageError for none or many."""
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
    """Take a question out; an original takes its lineage with it.

    Doing it twice changes nothing. What was left out as its duplicate is compared again, and may come in.
    Raises UsageError for an unknown question, or without a reason, and ApprovalNeeded where a second person
    must agree first.
    """
    return _move_question(lake, settings, name, reason, is_retired=True)


def restore_question(lake: Lake, settings: Settings, name: str, reason: str) -> Retirement:
    """Take a retired question back in; an original brings its lineage.

    Doing it twice changes nothing. It is compared with the bank as an arrival: what came in for its sake
    meanwhile stays, and keeps it out. Raises UsageError for an unknown question, for one that was not retired
    itself, or without a reason.
    """
    return _move_question(lake, settings, name, reason, is_retired=False)


def _move_question(lake: Lake, settings: Settings, name: str, reason: str, *, is_retired: bool) -> Retirement:
    if not reason.strip():
        raise UsageError(
            f"Say why the question is {'retired' if is_retired else 'taken back'}: --reason TEXT. "
            "It is kept with the question."
        )
    entry = find_question(lake, name)
    question, lineage = str(entry["question_uuid"]), str(entry["lineage_uuid"])
    before = lake.read("retirements_of", {"question_uuid": question})
    if before.is_empty() and not is_retired:
        raise UsageError(
            f"{question} was not retired, so that it cannot be taken back. `proctor bank show {question[:8]}` says why it left, "
            "and `proctor review assign --question` has one that review rejected read again."
        )
    is_new = before.is_empty() or before["is_retired"][-1] is not is_retired
    # With how often it was retired or taken back before: an approval serves for one time.
    request = Request("retire", question, {"reason": reason.strip(), "times_before": before.height})
    if is_new and is_retired and "retire" in settings.two_persons:
        with open_ledger(settings.ledger_address) as ledger:
            check_approved(ledger, settings, request)
    if is_new:
        row = {
            "question_uuid": question,
            "lineage_uuid": lineage,
            "is_retired": is_retired,
            "reason": reason.strip(),
            "retired_at": datetime.now(UTC),
        }
        # What was said before stays: each time is a unit of its own.
        unit = f"{question}/{before.height + 1}" if before.height else question
        lake.land("bank_retirements", unit, get_table("bank_retirements").frame([row]))
    build = land_bank(lake, settings)
    if is_new and is_retired and "retire" in settings.two_persons:
        with open_ledger(settings.ledger_address) as ledger:
            finish(ledger, settings, request)
    assert build is not None, "a question of the bank can be retired only once there is a bank"
    return Retirement(question, question == lineage, build.version, build.exits.height, build.contents.height)


def count_moved(lake: Lake, question_uuid: str, *, is_retired: bool) -> tuple[int, int]:
    """The version in which a question was last retired, or came back, and how many; else 0."""
    entries = lake.read("card_entries", {"question_uuid": question_uuid}).to_dicts()
    retired = [row for row in entries if row["exit_reason"] == "retired"]
    if not retired:
        return 0, 0
    version, lineage = retired[-1]["until_version"], retired[-1]["lineage_uuid"]
    is_moved = pl.col("reason") == "retired"
    if not is_retired:
        # With the first entry since it came back; later ones are edits.
        version = next((row["from_version"] for row in entries if row["from_version"] > version), None)
        is_moved = (pl.col("change") == "entered") & (pl.col("lineage_uuid") == lineage)
    if version is None:
        return 0, 0
    changes = lake.read("bank_difference", {"before_version": version - 1, "after_version": version})
    return version, changes.filter(is_moved).height


def read_card(lake: Lake, name: str) -> dict[str, Any]:
    """The card of the question whose UUID begins with `name`.

    Raises UsageError for none, or for several questions. Beside the question: `entries` (since which version
    it is in the bank, until which), `lineage` (the original and its variants), `reviews`, `duplicates` (what
    was left out for its sake, or why it was left out), `exposure` (organisations that met the lineage),
    `difficulty` and `results` by edition. Every part is a list of rows, empty where nothing is known.
    """
    entry = find_question(lake, name)
    parts = {part: lake.read(read, {key: entry[key]}).to_dicts() for part, (read, key) in _PARTS.items()}
    return {**entry, **parts}
